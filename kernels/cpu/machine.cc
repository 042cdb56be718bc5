#include "kernels/cpu/machine.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "llvm/ADT/StringMap.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

namespace plimsoll {
namespace {

void SetVectors(CpuMachine& machine, bool has_avx512, bool has_avx2, bool has_half) {
  machine.vector_bytes = has_avx512 ? 64 : has_avx2 ? 32 : 16;
  machine.vector_registers = has_avx512 ? 32 : 16;
  machine.has_half = has_half;
}

// This copy of LLVM is the kernels' alone: nobody else sees its options.
void SetOptions() {
  // Kernels' addresses are what LLVM would make of them anyway, which takes it a fifth of its time.
  const char* const arguments[] = {"plimsoll", "-disable-lsr"};
  llvm::cl::ParseCommandLineOptions(static_cast<int>(std::size(arguments)), arguments);
}

CpuMachine FindHost() {
  SetOptions();
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  CpuMachine machine;
  machine.triple = llvm::sys::getProcessTriple();
  machine.name = llvm::sys::getHostCPUName().str();
  const llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
  llvm::SubtargetFeatures features;
  for (const auto& feature : found) features.AddFeature(feature.first(), feature.second);
  machine.features = features.getString();
  if (llvm::Triple(machine.triple).isX86()) {
    const bool has_avx2 = found.lookup("avx2") && found.lookup("fma");
    const bool has_avx512 = has_avx2 && found.lookup("avx512f") && found.lookup("avx512vl") &&
                            found.lookup("avx512bw") && found.lookup("avx512dq");
    SetVectors(machine, has_avx512, has_avx2, found.lookup("f16c"));
  } else {
    machine.vector_registers = 32;
    machine.has_half = true;
  }
  return machine;
}

}  // namespace

const CpuMachine& HostMachine() {
  static const CpuMachine machine = FindHost();
  return machine;
}

int64_t SecondCacheBytes() {
  // Not known everywhere, and on some machines that of several cores.
  constexpr int64_t kLeast = 1 << 20;
  constexpr int64_t kMost = 2 << 20;
  static const int64_t bytes = std::clamp<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), kLeast, kMost);
  return bytes;
}

StatusOr<CpuMachine> MachineNamed(const std::string& name) {
  CpuMachine machine;
  if (name == "aarch64") {
    machine.triple = "aarch64-linux-gnu";
    machine.name = "generic";
    machine.vector_registers = 32;
    machine.has_half = true;
    return machine;
  }
  machine.triple = "x86_64-linux-gnu";
  machine.name = name;
  const bool is_v4 = name == "x86-64-v4";
  const bool is_v3 = is_v4 || name == "x86-64-v3";
  if (!is_v3 && name != "x86-64-v2") {
    return Status(ErrorCode::kBadArgument, StrCat("there is no processor called `", name, "`"));
  }
  SetVectors(machine, is_v4, is_v3, is_v3);
  return machine;
}

StatusOr<std::unique_ptr<llvm::TargetMachine>> TargetMachineFor(const CpuMachine& machine) {
  HostMachine();  // Makes LLVM know its targets.
  const llvm::Triple triple(machine.triple);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return Status(ErrorCode::kInternal, error);
  // Products and sums may be fused; nothing else may change results.
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::string features = machine.features;
  if (machine.vector_bytes == 64) {
    // Some processors are taken to like 256 bits better; kernels are made of whole registers.
    features += features.empty() ? "-prefer-256-bit" : ",-prefer-256-bit";
  }
  // Small: a kernel and its constants are loaded next to each other.
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, machine.name, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default, /*JIT=*/true));
}

}  // namespace plimsoll
