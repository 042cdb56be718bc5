// Machine code for a loop program.

#ifndef PLIMSOLL_KERNELS_CPU_COMPILE_LOOP_H_
#define PLIMSOLL_KERNELS_CPU_COMPILE_LOOP_H_

#include <memory>
#include <string>

#include "ir/status.h"
#include "kernels/cpu/generate_loop.h"
#include "kernels/cpu/kernel_call.h"
#include "kernels/cpu/machine.h"
#include "kernels/loop_program.h"

namespace plimsoll {

// An object file for that machine. With `assembly` the text of its instructions instead.
StatusOr<std::string> CompileToObject(const LoopProgram& program, const CpuMachine& machine,
                                      const LoopShape& shape, bool assembly = false);

struct CompiledLoop {
  LoopProgram program;
  LoopShape shape;
  // Makes the results that have the batch, for some elements; the other one makes all others.
  KernelFunction batch = nullptr;
  KernelFunction single = nullptr;
};

// Loads the code into this process, where it stays.
StatusOr<std::unique_ptr<CompiledLoop>> LoadLoop(const LoopProgram& program, const LoopShape& shape,
                                                 const std::string& object);

// For the processor of this process.
StatusOr<std::unique_ptr<CompiledLoop>> CompileLoop(const LoopProgram& program);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_COMPILE_LOOP_H_
