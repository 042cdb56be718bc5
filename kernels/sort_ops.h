// Puts each op of a block behind those whose results it uses.

#ifndef PLIMSOLL_KERNELS_SORT_OPS_H_
#define PLIMSOLL_KERNELS_SORT_OPS_H_

#include "ir/graph.h"

namespace plimsoll {

// Ops move forward only as far as they must. Those with effects keep their order.
void SortOps(Block& block);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_SORT_OPS_H_
