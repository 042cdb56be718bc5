// Symmetric matrices: a transpose, or a product with one, that is there already.

#ifndef PLIMSOLL_REWRITE_SYMMETRY_RULES_H_
#define PLIMSOLL_REWRITE_SYMMETRY_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> SymmetryRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SYMMETRY_RULES_H_
