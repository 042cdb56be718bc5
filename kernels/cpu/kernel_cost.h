// What a kernel takes in time and memory, before there is one.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_COST_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_COST_H_

#include <cstdint>

#include "ir/status.h"
#include "kernels/insert_kernels.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

inline constexpr double kCyclesPerSecond = 3.6e9;
// To start a kernel and to share it out.
inline constexpr double kSecondsPerCall = 1e-5;

// On the machine that costs were fitted to, a vector of this machine's with so many lanes has as
// many. How much slower shorter vectors are is part of the speed of a machine (machine_speed.h).
int FittedLanes(int lanes);

// Of one vector of so many lanes, for an op of the kind kCompute.
double CyclesOf(const TileOp& op, int lanes);
// The same in instructions, about, and those of an element that is moved on its own: its address,
// and itself.
double InstructionsOf(const TileOp& op, int lanes);
inline constexpr double kInstructionsApart = 2;
// LLVM takes far longer for more of them in one block, seconds and hundreds of megabytes.
inline constexpr double kMostInstructions = 2400;

// What a kernel takes once it has started, for axes of these lengths, in seconds of two cores.
double SecondsOnCpu(const TileProgram& program, llvm::ArrayRef<int64_t> lengths);

// For the processor of this process: the time of two cores (kModelCores), and the scratch of that
// number of threads, or of fewer if it would be more than `most_scratch`. Fails if this processor
// has no such kernel.
StatusOr<KernelCost> CostOnCpu(const TileProgram& program, llvm::ArrayRef<int64_t> lengths,
                               int64_t threads, int64_t most_scratch);

// The same for a kernel of stages.
StatusOr<KernelCost> CostOfStagesOnCpu(const StagedProgram& program,
                                       llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                                       llvm::ArrayRef<llvm::ArrayRef<int64_t>> results,
                                       int64_t threads, int64_t most_scratch);

// Of all kinds, for that number of threads.
KernelCosts CostsOnCpu(int64_t threads);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_COST_H_
