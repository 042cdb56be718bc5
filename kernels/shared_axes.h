// Which dimensions of an op's operands and results are one and the same axis.

#ifndef PLIMSOLL_KERNELS_SHARED_AXES_H_
#define PLIMSOLL_KERNELS_SHARED_AXES_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {

// The dimensions of a reshape's operand and result that are longer than 1, if they are the same.
std::optional<std::vector<std::pair<size_t, size_t>>> MatchReshape(const Op& op);

struct OpDimension {
  bool is_result = false;  // Otherwise of an operand.
  size_t number = 0;
  size_t dimension = 0;
};

// Calls `join` for pairs of dimensions of an op that is tileable, or a sink of a region
// (tile_region.h).
void ForEachSharedAxis(const Op& op,
                       llvm::function_ref<void(const OpDimension& a, const OpDimension& b)> join);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_SHARED_AXES_H_
