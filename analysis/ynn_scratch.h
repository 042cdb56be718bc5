// What YNNPACK allocates for the values inside one of XLA:CPU's YNNPACK fusions.
//
// YNNPACK runs a fusion as loop nests. A value is kept whole unless it can be computed inside the
// loops of all of its users; then only a slice for each thread is kept. This follows its scheduler:
// users first, a value's loops are matched with the loops that its users have in common, from the
// outermost inwards, and the first loop that does not match ends it.

#ifndef PLIMSOLL_ANALYSIS_YNN_SCRATCH_H_
#define PLIMSOLL_ANALYSIS_YNN_SCRATCH_H_

#include <cstdint>

#include "analysis/hlo_text.h"

namespace plimsoll {

int64_t YnnScratch(const HloComputation& fused, int64_t thread_count);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_YNN_SCRATCH_H_
