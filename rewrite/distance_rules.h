// Rules on distances between all pairs of points.

#ifndef PLIMSOLL_REWRITE_DISTANCE_RULES_H_
#define PLIMSOLL_REWRITE_DISTANCE_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> DistanceRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_DISTANCE_RULES_H_
