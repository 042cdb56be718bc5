// What a compare of StableHLO asks.

#ifndef PLIMSOLL_KERNELS_COMPARISON_H_
#define PLIMSOLL_KERNELS_COMPARISON_H_

#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/status.h"

namespace plimsoll {

// Refuses what kernels do not compute: an order of NaN.
StatusOr<Comparison> ComparisonOf(const Op& op);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_COMPARISON_H_
