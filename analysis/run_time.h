// How long a program takes to run, about.

#ifndef PLIMSOLL_ANALYSIS_RUN_TIME_H_
#define PLIMSOLL_ANALYSIS_RUN_TIME_H_

#include "ir/graph.h"

namespace plimsoll {

// What each op takes even if it has next to nothing to do.
inline constexpr double kSecondsPerOp = 1e-6;

// Of the op alone, or of the whole loop. The rates are those of a processor core or two; only
// ratios matter.
double SecondsOf(const Op& op);
// How many numbers the op adds, multiplies or else computes.
double FlopsOf(const Op& op);
// Of all ops of the block, with what each takes even if it has next to nothing to do.
double SecondsOf(const Block& block);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_RUN_TIME_H_
