// Scatters that reduce what belongs to one segment, as the sum of rows by their labels.

#ifndef PLIMSOLL_KERNELS_GROUPED_REDUCTION_H_
#define PLIMSOLL_KERNELS_GROUPED_REDUCTION_H_

#include <cstddef>

#include "ir/graph.h"
#include "ir/opcode.h"
#include "ir/status.h"

namespace plimsoll {

struct GroupedReduction {
  Opcode reducer = Opcode::kAdd;
  size_t grouped = 0;  // The dimension of the updates that has a segment at each position.
  size_t segment = 0;  // The dimension of the result along which the segments lie.
};

// Fails, and says why, if the scatter does anything else. Its operands must have static shapes.
StatusOr<GroupedReduction> GroupedReductionOf(const Op& scatter);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_GROUPED_REDUCTION_H_
