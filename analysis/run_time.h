// How long a program takes to run, about.

#ifndef PLIMSOLL_ANALYSIS_RUN_TIME_H_
#define PLIMSOLL_ANALYSIS_RUN_TIME_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/graph.h"
#include "llvm/ADT/DenseSet.h"

namespace plimsoll {

// Rates are those of two cores, whatever the machine has: programs are compared with each other.
inline constexpr double kModelCores = 2;
// What each op takes even if it has next to nothing to do:
inline constexpr double kSecondsPerOp = 1e-6;
inline constexpr double kProductsPerSecond = 5e10;
// Of one op by one, each of which reads and writes memory or the cache.
inline constexpr double kElementsPerSecond = 1e9;
// Read or written by a library that computes more with them.
inline constexpr double kMovedPerSecond = 2.5e9;

// The option of a call that says how long it takes: kernels are not known here.
inline constexpr std::string_view kKernelSeconds = "plimsoll_seconds";

// How often a loop runs; nothing if that depends on what it computes.
std::optional<double> KnownTurnsOf(const Op& loop);
// The same, or a guess.
double TurnsOf(const Op& loop);
// Of the op alone, or of the whole loop.
double SecondsOf(const Op& op);
// How many numbers the op adds, multiplies or else computes.
double FlopsOf(const Op& op);
// Of all ops of the block, and of its loops' bodies as often as they run.
double FlopsOf(const Block& block);
// Of all ops of the block, with what each takes even if it has next to nothing to do.
double SecondsOf(const Block& block);
// The same with what XLA fuses, what turns of loops take, and so many bytes of temporaries: to
// compare whole programs that compute the same in other ways, not single ops.
double SecondsOfProgram(const Block& block, int64_t temporary_bytes);
// Of these ops of a block alone, as a part of such a program.
double SecondsOfPart(const Block& block, const llvm::DenseSet<const Op*>& part);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_RUN_TIME_H_
