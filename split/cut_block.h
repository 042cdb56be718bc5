// Makes loops out of a part of a block that was chosen to be computed chunk by chunk.

#ifndef PLIMSOLL_SPLIT_CUT_BLOCK_H_
#define PLIMSOLL_SPLIT_CUT_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/cut.h"
#include "ir/context.h"
#include "ir/graph.h"
#include "ir/status.h"

namespace plimsoll {

// Sums of floats that take more turns than this carry along what rounding took away from them, or
// they would be less exact than XLA's own, which adds up in a tree.
inline constexpr int64_t kManyTurns = 32;
bool IsSumOfFloats(const Op& op, const Factor& factor, size_t result);

// Each pass of the cut becomes one loop (stablehlo.while) over chunks of `chunk` blocks, and one
// more chunk for what remains. Other ops of the block are moved between the loops, and keep their
// order. Gives the loops. Afterwards the cut's pointers into the block are not valid any more.
StatusOr<std::vector<Op*>> CutBlock(Context& context, Block& block, const Cut& cut, int64_t chunk);

}  // namespace plimsoll

#endif  // PLIMSOLL_SPLIT_CUT_BLOCK_H_
