// What a kernel with a whole loop inside is thought to take.

#ifndef PLIMSOLL_KERNELS_CPU_LOOP_COST_H_
#define PLIMSOLL_KERNELS_CPU_LOOP_COST_H_

#include <cstdint>

#include "ir/status.h"
#include "kernels/insert_kernels.h"
#include "kernels/loop_program.h"

namespace plimsoll {

// On two cores of this machine (kModelCores). An error if it cannot be run here.
StatusOr<KernelCost> LoopCostOnCpu(const LoopProgram& program, int64_t batch, int64_t turns);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_LOOP_COST_H_
