// Runs a kernel whose rows and columns are the same points for one of each two pairs: a pair of
// blocks of points is computed once, and gives to the rows of both.

#ifndef PLIMSOLL_KERNELS_CPU_RUN_MIRRORED_H_
#define PLIMSOLL_KERNELS_CPU_RUN_MIRRORED_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/status.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/cpu/kernel_store.h"
#include "kernels/cpu/run_kernel.h"
#include "kernels/cpu/stage_layout.h"
#include "kernels/staged_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

struct MirroredLayout {
  // Of one block of rows and one of columns at a time.
  StagesLayout stages;
  int64_t block = 0;
  // What turned pairs give, for the columns of a block: shape and place of each such result.
  std::vector<std::vector<int64_t>> part_shapes;
  std::vector<int64_t> part_offsets;
  int64_t worker_bytes = 0;
};

// For a program of MirrorProgram, and the operands and results of the kernel that it was made of.
// Fails if rows and columns are not as many, too few to be worth it, or need too much scratch.
StatusOr<MirroredLayout> LayOutMirrored(const StagedProgram& program,
                                        llvm::ArrayRef<KernelShape> shapes,
                                        llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                                        llvm::ArrayRef<llvm::ArrayRef<int64_t>> results);

// What a call wants for that number of threads. With less, fewer of them take part.
int64_t ScratchBytes(const MirroredLayout& layout, int64_t threads);

// Operands and results are those of the kernel. The result does not depend on how many threads take
// part.
Status RunMirrored(const CompiledStages& mirrored, const MirroredLayout& layout,
                   llvm::ArrayRef<KernelArray> operands, llvm::ArrayRef<KernelArray> results,
                   llvm::MutableArrayRef<char> scratch, int64_t threads, RunTasks run_tasks);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_RUN_MIRRORED_H_
