// Runs a kernel of several stages: for some rows at a time one stage after the other.

#ifndef PLIMSOLL_KERNELS_CPU_RUN_STAGES_H_
#define PLIMSOLL_KERNELS_CPU_RUN_STAGES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/status.h"
#include "kernels/cpu/compile_kernel.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/run_kernel.h"
#include "kernels/staged_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

struct CompiledStages {
  StagedProgram program;
  std::vector<const CompiledKernel*> kernels;  // One for each stage.
};

// The stages of a program in text, each from the store of this process, where they stay. Several
// threads may call this at once.
StatusOr<const CompiledStages*> FindStages(std::string_view program);

// The result does not depend on how many threads take part.
Status RunStages(const CompiledStages& stages, llvm::ArrayRef<KernelArray> operands,
                 llvm::ArrayRef<KernelArray> results, llvm::MutableArrayRef<char> scratch,
                 int64_t threads, RunTasks run_tasks);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_RUN_STAGES_H_
