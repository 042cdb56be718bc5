#include "kernels/cpu/kernel_key.h"

#include <set>

#include "gtest/gtest.h"
#include "kernels/cpu/build_id.h"

namespace plimsoll {
namespace {

CpuMachine MachineHere() {
  return {.triple = "x86_64-linux-gnu", .name = "znver4", .features = "+avx2"};
}
constexpr KernelShape kShape = {.lanes = 8, .rows = 2, .vectors = 2, .block = 2048};

TEST(KernelKey, IsTheSameForTheSameKernel) {
  EXPECT_EQ(KernelKey("axes r c", MachineHere(), kShape, "build"),
            KernelKey("axes r c", MachineHere(), kShape, "build"));
}

TEST(KernelKey, DependsOnAllThatTheCodeDependsOn) {
  std::set<ObjectStore::Key> keys;
  keys.insert(KernelKey("axes r c", MachineHere(), kShape, "build"));
  keys.insert(KernelKey("axes r c ", MachineHere(), kShape, "build"));
  keys.insert(KernelKey("axes r c", MachineHere(), kShape, "another build"));
  keys.insert(KernelKey("", MachineHere(), kShape, "buildaxes r c"));
  CpuMachine machine = MachineHere();
  machine.triple = "aarch64-linux-gnu";
  keys.insert(KernelKey("axes r c", machine, kShape, "build"));
  machine = MachineHere();
  machine.name = "znver3";
  keys.insert(KernelKey("axes r c", machine, kShape, "build"));
  machine = MachineHere();
  machine.features = "+avx2,+avx512f";
  keys.insert(KernelKey("axes r c", machine, kShape, "build"));
  machine = MachineHere();
  machine.vector_bytes = 32;
  keys.insert(KernelKey("axes r c", machine, kShape, "build"));
  KernelShape shape = kShape;
  shape.rows = 4;
  keys.insert(KernelKey("axes r c", MachineHere(), shape, "build"));
  shape = kShape;
  shape.block = 1024;
  keys.insert(KernelKey("axes r c", MachineHere(), shape, "build"));
  keys.insert(KernelKey("loop", MachineHere(), LoopShape{.lanes = 8, .vectors = 2}, "build"));
  keys.insert(KernelKey("loop", MachineHere(), LoopShape{.lanes = 8, .vectors = 4}, "build"));
  EXPECT_EQ(keys.size(), 12);
}

TEST(BuildId, IsThere) { EXPECT_EQ(BuildId().size(), 20); }

}  // namespace
}  // namespace plimsoll
