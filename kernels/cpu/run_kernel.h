// A compiled kernel called on whole arrays, by several threads.

#ifndef PLIMSOLL_KERNELS_CPU_RUN_KERNEL_H_
#define PLIMSOLL_KERNELS_CPU_RUN_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "ir/status.h"
#include "kernels/cpu/compile_kernel.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {

// How much scratch a call wants for that number of threads. With less than that, and at least that
// for one, fewer threads take part.
int64_t ScratchBytes(const TileProgram& program, const KernelShape& shape,
                     llvm::ArrayRef<int64_t> lengths, int64_t threads);

// Runs tasks 0 to count - 1, each with the number of the worker that runs it, which is less than
// `workers`, and no two at once with the same. Returns when all are done.
using RunTask = llvm::function_ref<void(int64_t task, int64_t worker)>;
using RunTasks = llvm::function_ref<void(int64_t count, int64_t workers, RunTask task)>;

// The result does not depend on how many threads take part.
Status RunKernel(const CompiledKernel& kernel, llvm::ArrayRef<KernelArray> operands,
                 llvm::ArrayRef<KernelArray> results, llvm::MutableArrayRef<char> scratch,
                 int64_t threads, RunTasks run_tasks);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_RUN_KERNEL_H_
