// Sums and other reductions that are done on less, or at once.

#ifndef PLIMSOLL_REWRITE_REDUCTION_RULES_H_
#define PLIMSOLL_REWRITE_REDUCTION_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> ReductionRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_REDUCTION_RULES_H_
