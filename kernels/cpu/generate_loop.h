// A loop program as vector code: a few vectors of the batch at a time, and for them all turns of
// the loop, with their state in registers.

#ifndef PLIMSOLL_KERNELS_CPU_GENERATE_LOOP_H_
#define PLIMSOLL_KERNELS_CPU_GENERATE_LOOP_H_

#include <memory>
#include <string_view>

#include "ir/status.h"
#include "kernels/cpu/loop_shape.h"
#include "kernels/cpu/machine.h"
#include "kernels/loop_program.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace plimsoll {

// The functions of the module (kernel_call.h): one makes the results that have the batch, for the
// elements from row_begin to row_end, and one all others. Strides are those of the dimensions of
// each operand, then of each result; lengths are their numbers of steps.
inline constexpr std::string_view kBatchName = "plimsoll_batch";
inline constexpr std::string_view kSingleName = "plimsoll_single";

// The program must be verified.
StatusOr<std::unique_ptr<llvm::Module>> GenerateLoop(llvm::LLVMContext& context,
                                                     const LoopProgram& program,
                                                     const CpuMachine& machine,
                                                     const LoopShape& shape);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_GENERATE_LOOP_H_
