#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "kernels/cpu/compile_kernel.h"
#include "kernels/cpu/compile_loop.h"
#include "kernels/cpu/machine.h"
#include "kernels/loop_text.h"
#include "kernels/tile_text.h"
#include "llvm/Support/TargetSelect.h"

namespace plimsoll {
namespace {

// All that code is made of: packed columns, short and long axes, sums along rows and columns,
// functions, the best columns, halves, integers and masks.
constexpr std::string_view kTiles[] = {
    R"(axes r c s0=5
operand f32[r, s0]
operand f32[c, s0]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = fold add s0 %3
%5 = negate %4
%6 = exponential %5
%7 = load 2
%8 = multiply %6, %7
%9 = sine %8
%10 = log %6
result f32[r] = add c %9
result f32[c] = maximum r %10
result f32[r, c] = %6
)",
    R"(axes r c l0 t0=3
operand f64[r, l0]
operand f64[c, l0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
%4 = tanh %3
%5 = iota i32 c
result f64[r, t0] = top c %4
result i32[r, t0] = with 0 c %5
)",
    R"(axes r c
operand bf16[r]
operand f16[c]
operand i8[c]
%0 = load 0
%1 = load 1
%2 = convert f32 %0
%3 = convert f32 %1
%4 = power %2, %3
%5 = load 2
%6 = convert i32 %5
result f32[r] = add c %4
result i32[] = add r c %6
)",
};

constexpr std::string_view kLoop = R"(loop
operand f32[b]
operand f32[t]
operand i32[]
%0 = load 0 0
%1 = load 2 0
%2 = constant i32 0
%3 = state f32[b] %0
%4 = state i32 %2
%5 = compare lt %4, %1
%6 = multiply %3, %3
%7 = load 1 0 at %4
%8 = add %6, %7
%9 = constant i32 1
%10 = add %4, %9
next %3 = %8
next %4 = %10
while %5
result f32[b] = %3
)";

struct Processor {
  const char* name;
  std::string_view vector_register;
};

class OtherProcessors : public ::testing::TestWithParam<Processor> {
 protected:
  void SetUp() override {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    const StatusOr<CpuMachine> machine = MachineNamed(GetParam().name);
    ASSERT_TRUE(machine.ok());
    machine_ = *machine;
  }

  CpuMachine machine_;
};

TEST_P(OtherProcessors, TilesAreCompiled) {
  for (const std::string_view text : kTiles) {
    const StatusOr<TileProgram> program = ReadTiles(text);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    const KernelShape shape = ChooseShape(*program, machine_);
    if (!ExpectMachine(*program, machine_).ok()) continue;
    const StatusOr<std::string> assembly = CompileToObject(*program, machine_, shape, true);
    ASSERT_TRUE(assembly.ok()) << assembly.status().ToString();
    EXPECT_NE(assembly->find(GetParam().vector_register), std::string::npos);
    const StatusOr<std::string> object = CompileToObject(*program, machine_, shape);
    ASSERT_TRUE(object.ok()) << object.status().ToString();
    EXPECT_EQ(object->substr(0, 4),
              "\x7f"
              "ELF");
  }
}

TEST_P(OtherProcessors, LoopsAreCompiled) {
  const StatusOr<LoopProgram> program = ReadLoop(kLoop);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  const StatusOr<std::string> assembly =
      CompileToObject(*program, machine_, ChooseLoopShape(*program, machine_), true);
  ASSERT_TRUE(assembly.ok()) << assembly.status().ToString();
  EXPECT_NE(assembly->find(GetParam().vector_register), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, OtherProcessors,
    ::testing::Values(Processor{.name = "x86-64-v2", .vector_register = "%xmm"},
                      Processor{.name = "x86-64-v3", .vector_register = "%ymm"},
                      Processor{.name = "x86-64-v4", .vector_register = "%zmm"},
                      Processor{.name = "aarch64", .vector_register = "\tv0."}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace plimsoll
