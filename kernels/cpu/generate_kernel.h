// A tile program as vector code: rows by the handful, and for each handful the columns by vectors.
// Each pair's values live in registers.

#ifndef PLIMSOLL_KERNELS_CPU_GENERATE_KERNEL_H_
#define PLIMSOLL_KERNELS_CPU_GENERATE_KERNEL_H_

#include <memory>
#include <string_view>

#include "ir/status.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/cpu/machine.h"
#include "kernels/tile_program.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace plimsoll {

// The functions of the module (kernel_call.h): one packs a block of columns, the other computes the
// block for some rows.
inline constexpr std::string_view kPackName = "plimsoll_pack";
inline constexpr std::string_view kKernelName = "plimsoll_kernel";

// The program must be verified. Refuses what the machine cannot do.
StatusOr<std::unique_ptr<llvm::Module>> GenerateKernel(llvm::LLVMContext& context,
                                                       const TileProgram& program,
                                                       const CpuMachine& machine,
                                                       const KernelShape& shape);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_GENERATE_KERNEL_H_
