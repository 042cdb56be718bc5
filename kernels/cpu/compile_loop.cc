#include "kernels/cpu/compile_loop.h"

#include <utility>

#include "kernels/cpu/compile_kernel.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace plimsoll {

StatusOr<std::string> CompileToObject(const LoopProgram& program, const CpuMachine& machine,
                                      const LoopShape& shape, bool assembly) {
  llvm::LLVMContext context;
  ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                   GenerateLoop(context, program, machine, shape));
  return EmitObject(std::move(module), machine, Effort::kAll, assembly);
}

StatusOr<std::unique_ptr<CompiledLoop>> LoadLoop(const LoopProgram& program, const LoopShape& shape,
                                                 const std::string& object) {
  auto loop = std::make_unique<CompiledLoop>(
      CompiledLoop{.program = program, .shape = shape, .batch = nullptr, .single = nullptr});
  RETURN_IF_ERROR(
      LoadFunctions(object, {{kBatchName, &loop->batch}, {kSingleName, &loop->single}}));
  return loop;
}

StatusOr<std::unique_ptr<CompiledLoop>> CompileLoop(const LoopProgram& program) {
  const CpuMachine& machine = HostMachine();
  const LoopShape shape = ChooseLoopShape(program, machine);
  ASSIGN_OR_RETURN(const std::string object, CompileToObject(program, machine, shape));
  return LoadLoop(program, shape, object);
}

}  // namespace plimsoll
