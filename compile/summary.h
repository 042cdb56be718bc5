// What a person wants to know of a program at a glance.

#ifndef PLIMSOLL_COMPILE_SUMMARY_H_
#define PLIMSOLL_COMPILE_SUMMARY_H_

#include <cstddef>
#include <string>

#include "ir/graph.h"

namespace plimsoll {

// JSON: the main function's arguments and results, the number of ops by kind, the `largest` biggest
// values with the user's source lines, and totals. Sizes that are not known before the program runs
// are null.
std::string SummarizeAsJson(const Module& module, size_t largest);

// JSON: an estimate of the main function's temporaries before XLA compiles it (analysis/peak.h),
// the user's line that runs when they are most, and the values that live then, largest first.
std::string DescribePeakAsJson(const Module& module);

}  // namespace plimsoll

#endif  // PLIMSOLL_COMPILE_SUMMARY_H_
