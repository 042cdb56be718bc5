// How often loop programs turn, where their counters do not depend on operands.

#ifndef PLIMSOLL_KERNELS_COUNT_TURNS_H_
#define PLIMSOLL_KERNELS_COUNT_TURNS_H_

#include <cstdint>
#include <optional>

#include "kernels/loop_program.h"

namespace plimsoll {

// Nothing where it is not known, or more often than is worth counting.
std::optional<int64_t> CountTurns(const LoopProgram& program);

// True if the op is known to be each of the numbers 0 to length - 1 in some turn.
bool WritesAllSteps(const LoopProgram& program, int step, int64_t length);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_COUNT_TURNS_H_
