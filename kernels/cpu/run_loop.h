// A compiled loop called on whole arrays, by several threads.

#ifndef PLIMSOLL_KERNELS_CPU_RUN_LOOP_H_
#define PLIMSOLL_KERNELS_CPU_RUN_LOOP_H_

#include <cstdint>

#include "ir/status.h"
#include "kernels/cpu/compile_loop.h"
#include "kernels/cpu/run_kernel.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// The result does not depend on how many threads take part.
Status RunLoop(const CompiledLoop& loop, llvm::ArrayRef<KernelArray> operands,
               llvm::ArrayRef<KernelArray> results, int64_t threads, RunTasks run_tasks);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_RUN_LOOP_H_
