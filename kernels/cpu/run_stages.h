// Runs a kernel of several stages: for some rows at a time one stage after the other.

#ifndef PLIMSOLL_KERNELS_CPU_RUN_STAGES_H_
#define PLIMSOLL_KERNELS_CPU_RUN_STAGES_H_

#include <cstdint>

#include "ir/status.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/kernel_store.h"
#include "kernels/cpu/run_kernel.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// The result does not depend on how many threads take part.
Status RunStages(const CompiledStages& stages, llvm::ArrayRef<KernelArray> operands,
                 llvm::ArrayRef<KernelArray> results, llvm::MutableArrayRef<char> scratch,
                 int64_t threads, RunTasks run_tasks);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_RUN_STAGES_H_
