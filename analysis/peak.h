// What the temporaries of a program will be, before XLA:CPU compiles it: an estimate that decides
// which values are worth cutting. Whether a program fits is for XLA's own numbers to say.
//
// The model follows XLA:CPU: ops are fused into kernels (fusion.h), a kernel runs once all that it
// reads is there, and a buffer lives from its first write to its last read. Results take the memory
// of operands that die where XLA writes in place; a loop's state has one buffer for all iterations.
// docs/memory.md says how far off it is.

#ifndef PLIMSOLL_ANALYSIS_PEAK_H_
#define PLIMSOLL_ANALYSIS_PEAK_H_

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "llvm/ADT/DenseSet.h"

namespace plimsoll {

// What lives at once.
struct LiveValue {
  const Value* value;
  int64_t bytes;
};

struct Peak {
  // Temporaries at the worst moment, without the block's arguments and without what its terminator
  // returns where that is the function's result buffer.
  int64_t bytes = 0;
  // The op that runs at that moment (in this block; for a loop or branch the op itself).
  const Op* at = nullptr;
  // What lives then, largest first, with what lives inside of a loop's body at its own worst
  // moment.
  std::vector<LiveValue> alive;
};

// The peak of a block: a function's body (its arguments and results are buffers of the caller;
// donated arguments may be reused) or a loop's body.
Peak PeakOf(const Block& block);

// The values of a block that XLA makes in memory; the others are fused into their users or are
// another view of an operand. Arguments are not among them.
llvm::DenseSet<const Value*> MaterializedValues(const Block& block);

// The same for one value. It looks at the whole block: ask MaterializedValues for many.
bool IsMaterialized(const Value& value);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_PEAK_H_
