// Axes that run through a loop of the program from its operands to its results.

#ifndef PLIMSOLL_ANALYSIS_AXIS_LOOPS_H_
#define PLIMSOLL_ANALYSIS_AXIS_LOOPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "analysis/axis_rules.h"
#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace plimsoll {

// What becomes of an axis in a loop: each value of the body is the same in all chunks, a chunk
// along a dimension, or a part of a sum.
struct LoopAxis {
  // Of the loop as one op. Partial operands (kPartial) count in the first chunk only.
  Factor factor;
  // Values of the body: a dimension or kPartial; those that are not here are the same in all
  // chunks.
  llvm::DenseMap<const Value*, int> labels;
  // The ops that work on chunks, with what they do.
  llvm::DenseMap<const Op*, Factor> ops;
};

// A piece of the loop's state, and the dimension along which it is to be cut.
using StateRequest = std::pair<size_t, int>;

// The axis on which these pieces of the state lie, cut into `blocks`; nothing, and the reason, if
// the loop cannot be cut that way.
std::optional<LoopAxis> FindLoopAxis(const Op& loop, llvm::ArrayRef<StateRequest> requests,
                                     int64_t blocks, std::string& reason);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_AXIS_LOOPS_H_
