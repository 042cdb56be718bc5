// Machine code for a tile program.

#ifndef PLIMSOLL_KERNELS_CPU_COMPILE_KERNEL_H_
#define PLIMSOLL_KERNELS_CPU_COMPILE_KERNEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ir/status.h"
#include "kernels/cpu/generate_kernel.h"
#include "kernels/cpu/kernel_call.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/cpu/machine.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"

namespace plimsoll {

// How much is done for code to be fast. Products of matrices are the longest code, and processors
// run them as fast without LLVM's last ordering of instructions.
enum class Effort : uint8_t { kProducts, kAll };

// An object file of a module for that machine, or the text of its instructions.
StatusOr<std::string> EmitObject(std::unique_ptr<llvm::Module> module, const CpuMachine& machine,
                                 Effort effort, bool assembly = false);

// Loads the code into this process, where it stays, and finds functions in it.
using NamedFunction = std::pair<std::string_view, KernelFunction*>;
Status LoadFunctions(const std::string& object, llvm::ArrayRef<NamedFunction> functions);

// An object file for that machine. With `assembly` the text of its instructions instead.
StatusOr<std::string> CompileToObject(const TileProgram& program, const CpuMachine& machine,
                                      const KernelShape& shape, bool assembly = false);

struct CompiledKernel {
  TileProgram program;
  KernelShape shape;
  // Packs the columns of a block; the other one wants them packed.
  KernelFunction pack = nullptr;
  KernelFunction run = nullptr;
};

// Loads the code into this process, where it stays.
StatusOr<std::unique_ptr<CompiledKernel>> LoadKernel(const TileProgram& program,
                                                     const KernelShape& shape,
                                                     const std::string& object);

// For the processor of this process.
StatusOr<std::unique_ptr<CompiledKernel>> CompileKernel(const TileProgram& program);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_COMPILE_KERNEL_H_
