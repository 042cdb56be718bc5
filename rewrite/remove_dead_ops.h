// Removes what nobody uses.

#ifndef PLIMSOLL_REWRITE_REMOVE_DEAD_OPS_H_
#define PLIMSOLL_REWRITE_REMOVE_DEAD_OPS_H_

#include "ir/graph.h"

namespace plimsoll {

// Removes ops without effects whose results are not used, inside regions as well.
void RemoveDeadOps(Op& root);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_REMOVE_DEAD_OPS_H_
