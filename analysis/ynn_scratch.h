// What YNNPACK allocates for the values inside one of XLA:CPU's YNNPACK fusions.
//
// YNNPACK runs a fusion as loop nests over tiles. A value is kept whole unless it can be computed
// inside the loops of all of its users; then only a tile for each thread is kept. This follows
// YNNPACK's scheduler (subgraph/runtime.cc there): users come first, and a value's loops are
// matched with the loops that its users have in common, from the outermost inwards; the first loop
// that does not match ends it.

#ifndef PLIMSOLL_ANALYSIS_YNN_SCRATCH_H_
#define PLIMSOLL_ANALYSIS_YNN_SCRATCH_H_

#include <cstdint>

#include "analysis/hlo_text.h"

namespace plimsoll {

// Which of YNNPACK's schedulers a jaxlib has.
enum class YnnScheduler {
  // jaxlib 0.10: dots take all batches at once, and fit into the loops of any user.
  kFirst,
  // jaxlib 0.12: dots go batch by batch, and keep their own order of loops.
  kSecond,
};

int64_t YnnScratch(const HloComputation& fused, int64_t thread_count, YnnScheduler scheduler);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_YNN_SCRATCH_H_
