// Puts the branch that is always taken in the place of a conditional.

#ifndef PLIMSOLL_REWRITE_RESOLVE_CASES_H_
#define PLIMSOLL_REWRITE_RESOLVE_CASES_H_

#include "ir/graph.h"

namespace plimsoll {

// Of cases and ifs whose index or predicate is a constant, which frameworks make to choose code for
// a platform, the chosen branch stays.
void ResolveCases(Op& root);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_RESOLVE_CASES_H_
