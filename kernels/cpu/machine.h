// The processor that kernels are made for.

#ifndef PLIMSOLL_KERNELS_CPU_MACHINE_H_
#define PLIMSOLL_KERNELS_CPU_MACHINE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "ir/status.h"
#include "llvm/Target/TargetMachine.h"

namespace plimsoll {

struct CpuMachine {
  std::string triple;
  std::string name;      // As LLVM names it: "znver4".
  std::string features;  // "+avx2,-avx512f,..."
  int vector_bytes = 16;
  int vector_registers = 16;
  bool has_half = false;  // Conversions between f16 and f32.

  // True if a product and a sum are one instruction, as on all machines with wide vectors.
  bool HasMultiplyAdd() const { return vector_bytes >= 32; }

  bool operator==(const CpuMachine&) const = default;
};

// The one that this process runs on.
const CpuMachine& HostMachine();
// What one of its cores has for itself beyond its first cache.
int64_t SecondCacheBytes();
// Another one of the same or another kind, to see what code for it looks like: "x86-64-v3",
// "x86-64-v4", "aarch64". The latter only where LLVM was linked for it.
StatusOr<CpuMachine> MachineNamed(const std::string& name);

StatusOr<std::unique_ptr<llvm::TargetMachine>> TargetMachineFor(const CpuMachine& machine);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_MACHINE_H_
