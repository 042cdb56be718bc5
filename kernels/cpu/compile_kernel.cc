#include "kernels/cpu/compile_kernel.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/cpu/insert_best.h"
#include "kernels/cpu/transpose_columns.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/Shared/ExecutorAddress.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Pass.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace plimsoll {
namespace {

// More than this costs more time than it saves.
constexpr llvm::StringLiteral kPasses =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,loop-mssa(licm))";

Status ToStatus(llvm::Error error) {
  return Status(ErrorCode::kInternal, llvm::toString(std::move(error)));
}

Status Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, kPasses)) {
    return ToStatus(std::move(error));
  }
  passes.run(module, modules);
  return OkStatus();
}

// LLVM's passes that make code, without those that are not worth their time.
class CodePasses : public llvm::legacy::PassManager {
 public:
  explicit CodePasses(Effort effort) : effort_(effort) {}

  void add(llvm::Pass* pass) override {
    if (effort_ == Effort::kProducts && pass->getPassID() == &llvm::PostRASchedulerID) {
      delete pass;
      return;
    }
    llvm::legacy::PassManager::add(pass);
  }

 private:
  Effort effort_;
};

// The one loader of the process, and what generated code may call.
class Loader {
 public:
  static StatusOr<Loader*> Get() {
    // Never destroyed: XLA's threads may outlive what the process destroys at its end.
    static auto* loader = new Loader();
    if (loader->jit_ == nullptr) return loader->status_;
    return loader;
  }

  Status Load(const std::string& object, llvm::ArrayRef<NamedFunction> functions) {
    const std::string name = StrCat("kernel", count_.fetch_add(1));
    llvm::Expected<llvm::orc::JITDylib&> library = jit_->createJITDylib(name);
    if (!library) return ToStatus(library.takeError());
    if (llvm::Error error = library->define(llvm::orc::absoluteSymbols(functions_))) {
      return ToStatus(std::move(error));
    }
    if (llvm::Error error =
            jit_->addObjectFile(*library, llvm::MemoryBuffer::getMemBufferCopy(object, name))) {
      return ToStatus(std::move(error));
    }
    for (const auto& [symbol, function] : functions) {
      auto address = jit_->lookup(*library, llvm::StringRef(symbol));
      if (!address) return ToStatus(address.takeError());
      *function = address->toPtr<KernelFunction>();
    }
    return OkStatus();
  }

 private:
  Loader() {
    HostMachine();
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) {
      status_ = ToStatus(jit.takeError());
      return;
    }
    jit_ = std::move(*jit);
    const auto add = [&](const char* name, auto* function) {
      functions_[jit_->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                                 llvm::JITSymbolFlags::Exported};
    };
#define PLIMSOLL_FUNCTION(name)                         \
  add(#name, static_cast<double (*)(double)>(&::name)); \
  add(#name "f", static_cast<float (*)(float)>(&::name##f));
    PLIMSOLL_FUNCTION(acos)
    PLIMSOLL_FUNCTION(acosh)
    PLIMSOLL_FUNCTION(asin)
    PLIMSOLL_FUNCTION(asinh)
    PLIMSOLL_FUNCTION(atan)
    PLIMSOLL_FUNCTION(atanh)
    PLIMSOLL_FUNCTION(cbrt)
    PLIMSOLL_FUNCTION(cos)
    PLIMSOLL_FUNCTION(cosh)
    PLIMSOLL_FUNCTION(erf)
    PLIMSOLL_FUNCTION(erfc)
    PLIMSOLL_FUNCTION(lgamma)
    PLIMSOLL_FUNCTION(sin)
    PLIMSOLL_FUNCTION(sinh)
    PLIMSOLL_FUNCTION(tan)
    // What instructions become that the processor does not have.
    PLIMSOLL_FUNCTION(ceil)
    PLIMSOLL_FUNCTION(floor)
    PLIMSOLL_FUNCTION(round)
    PLIMSOLL_FUNCTION(roundeven)
#undef PLIMSOLL_FUNCTION
    add("atan2", static_cast<double (*)(double, double)>(&::atan2));
    add("atan2f", static_cast<float (*)(float, float)>(&::atan2f));
    add("fmod", static_cast<double (*)(double, double)>(&::fmod));
    add("fmodf", static_cast<float (*)(float, float)>(&::fmodf));
    add("pow", static_cast<double (*)(double, double)>(&::pow));
    add(kInsertBestF32, static_cast<void (*)(const BestCall<float>*)>(&InsertBest));
    add(kInsertBestF64, static_cast<void (*)(const BestCall<double>*)>(&InsertBest));
    for (const int bytes : {1, 2, 4, 8}) {
      add(NameOfTranspose(bytes), TransposeFor(bytes, HostMachine()));
    }
    add("memcpy", &::memcpy);
    add("memset", &::memset);
  }

  Status status_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  llvm::orc::SymbolMap functions_;
  std::atomic<int> count_ = 0;
};

}  // namespace

StatusOr<std::string> EmitObject(std::unique_ptr<llvm::Module> module, const CpuMachine& machine,
                                 Effort effort, bool assembly) {
  ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> target, TargetMachineFor(machine));
  module->setTargetTriple(target->getTargetTriple());
  module->setDataLayout(target->createDataLayout());
  std::string problem;
  llvm::raw_string_ostream problem_stream(problem);
  if (llvm::verifyModule(*module, &problem_stream)) {
    return Status(ErrorCode::kInternal, StrCat("a kernel is not valid: ", problem));
  }
  RETURN_IF_ERROR(Optimize(*module, *target));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  CodePasses passes(effort);
  const auto type =
      assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (target->addPassesToEmitFile(passes, stream, nullptr, type)) {
    return Status(ErrorCode::kInternal, "LLVM writes no object files for this machine");
  }
  passes.run(*module);
  return std::string(bytes.data(), bytes.size());
}

Status LoadFunctions(const std::string& object, llvm::ArrayRef<NamedFunction> functions) {
  ASSIGN_OR_RETURN(Loader * loader, Loader::Get());
  return loader->Load(object, functions);
}

StatusOr<std::string> CompileToObject(const TileProgram& program, const CpuMachine& machine,
                                      const KernelShape& shape, bool assembly) {
  llvm::LLVMContext context;
  ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                   GenerateKernel(context, program, machine, shape));
  const bool has_products = program.AxesOfKind(TileAxisKind::kLong) != 0;
  return EmitObject(std::move(module), machine, has_products ? Effort::kProducts : Effort::kAll,
                    assembly);
}

StatusOr<std::unique_ptr<CompiledKernel>> LoadKernel(const TileProgram& program,
                                                     const KernelShape& shape,
                                                     const std::string& object) {
  auto kernel = std::make_unique<CompiledKernel>(
      CompiledKernel{.program = program, .shape = shape, .pack = nullptr, .run = nullptr});
  RETURN_IF_ERROR(LoadFunctions(object, {{kPackName, &kernel->pack}, {kKernelName, &kernel->run}}));
  return kernel;
}

StatusOr<std::unique_ptr<CompiledKernel>> CompileKernel(const TileProgram& program) {
  const CpuMachine& machine = HostMachine();
  const KernelShape shape = ChooseShape(program, machine);
  ASSIGN_OR_RETURN(const std::string object, CompileToObject(program, machine, shape));
  return LoadKernel(program, shape, object);
}

}  // namespace plimsoll
