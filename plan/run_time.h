// How long a program takes to run, about.

#ifndef PLIMSOLL_PLAN_RUN_TIME_H_
#define PLIMSOLL_PLAN_RUN_TIME_H_

#include <cstdint>

#include "ir/graph.h"

namespace plimsoll {

// What each op takes even if it has next to nothing to do.
inline constexpr double kSecondsPerOp = 1e-6;

// Of the op alone, or of the whole loop. The rates are those of a processor core or two; only
// ratios matter.
double SecondsOf(const Op& op);
// Of all ops of the block, with what each takes even if it has next to nothing to do.
double SecondsOf(const Block& block);
// What it takes beyond that to write and read values which do not stay in a cache of that size.
double SecondsInMemory(const Block& block, int64_t cache_bytes);

}  // namespace plimsoll

#endif  // PLIMSOLL_PLAN_RUN_TIME_H_
