// Rules on inverses and on solves of linear equations.

#ifndef PLIMSOLL_REWRITE_SOLVE_RULES_H_
#define PLIMSOLL_REWRITE_SOLVE_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

// inverse_times, triangular_inverse_times, quadratic_form
llvm::ArrayRef<Rule> SolveRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SOLVE_RULES_H_
