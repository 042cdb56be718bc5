// Slices of values that are made by moving others.

#ifndef PLIMSOLL_REWRITE_SLICE_RULES_H_
#define PLIMSOLL_REWRITE_SLICE_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> SliceRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SLICE_RULES_H_
