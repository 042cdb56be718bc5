// Products with one-hot values, which select: gathers and scatters.

#ifndef PLIMSOLL_REWRITE_SELECTION_RULES_H_
#define PLIMSOLL_REWRITE_SELECTION_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> SelectionRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SELECTION_RULES_H_
