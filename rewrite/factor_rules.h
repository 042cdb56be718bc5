// Rules on factorisations of matrices: which one is made, and how often.

#ifndef PLIMSOLL_REWRITE_FACTOR_RULES_H_
#define PLIMSOLL_REWRITE_FACTOR_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

// positive_definite_solve, shared_factor, logdet_of_factor
llvm::ArrayRef<Rule> FactorRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_FACTOR_RULES_H_
