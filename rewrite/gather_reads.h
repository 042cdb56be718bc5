// Gathers whose indices are known before the program runs.

#ifndef PLIMSOLL_REWRITE_GATHER_READS_H_
#define PLIMSOLL_REWRITE_GATHER_READS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"

namespace plimsoll {

// Which elements of one dimension are read; all of the others.
struct GatherRead {
  size_t dimension = 0;
  std::vector<int64_t> indices;
};

std::optional<GatherRead> GatherReadOf(const Op& op);

// The gather's result from a value that has the operand's dimensions, and the elements that are
// read along the one.
Value* ArrangeAsGathered(Builder& builder, const Op& gather, const GatherRead& read, Value& value);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_GATHER_READS_H_
