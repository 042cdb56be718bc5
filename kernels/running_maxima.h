// Maxima of rows that grow from one slab of columns to the next: what stages sum with the one that
// is known so far can be brought to a larger one afterwards, as in the online form of a softmax.

#ifndef PLIMSOLL_KERNELS_RUNNING_MAXIMA_H_
#define PLIMSOLL_KERNELS_RUNNING_MAXIMA_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/staged_program.h"

namespace plimsoll {

// A sum over columns that is in proportion to exp(-power * maximum).
struct RescaledSum {
  size_t stage = 0;
  size_t result = 0;  // Of the stage.
  double power = 0;

  bool operator==(const RescaledSum&) const = default;
};

// All that later stages need of it is how far the values that it is the largest of are below it,
// and exponentials of that.
struct RunningMaximum {
  size_t stage = 0;
  size_t result = 0;  // Of the stage.
  std::vector<RescaledSum> sums;

  bool operator==(const RunningMaximum&) const = default;
};

// Of all results that stages read; nothing if one has to be there for all columns before a later
// stage can begin.
std::optional<std::vector<RunningMaximum>> FindRunningMaxima(const StagedProgram& program);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_RUNNING_MAXIMA_H_
