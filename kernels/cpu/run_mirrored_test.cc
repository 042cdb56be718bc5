#include "kernels/cpu/run_mirrored.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/kernel_store.h"
#include "kernels/cpu/testing.h"
#include "kernels/evaluate_tiles.h"
#include "kernels/mirror_program.h"
#include "kernels/tile_text.h"

namespace plimsoll {
namespace {

using testing::GuardedBytes;
using testing::GuardedCall;
using testing::NumberArray;
using testing::RunOnThreads;

constexpr std::string_view kForces = R"(axes r c b0 s0=2
operand f32[b0, r, s0]
operand f32[b0, c, s0]
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
%9 = multiply %8, %2
result f32[b0, r] = add c %8
result f32[r, b0, s0] = add c %9
result f32[b0, r] = maximum c %8
)";

constexpr std::string_view kWide = R"(axes r c
operand f64[r]
operand f64[c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = sine %2
result f64[r] = add c %3
)";

constexpr std::string_view kIntegers = R"(axes r c
operand i32[r]
operand i32[c]
%0 = load 0
%1 = load 1
%2 = xor %0, %1
%3 = iota i32 c
%4 = multiply %2, %3
result i32[r] = add c %4
)";

// A kernel matrix times some vectors.
constexpr std::string_view kProduct = R"(stages
stage r argument 0, argument 1 -> result 0, panel 0
axes r c l0
operand f32[r, l0]
operand f32[c, l0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
%4 = tanh %3
result f32[r] = add c %4
result f32[r, c] = %4
stage r panel 0, argument 2 -> result 1
axes r c l0
operand f32[r, l0]
operand f32[l0, c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[r, c] = add %3
)";

// The same with what is its own negative, and with vectors that lie the other way round.
constexpr std::string_view kOddProduct = R"(stages
stage r argument 0, argument 1 -> panel 0
axes r c
operand f32[r]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = multiply %3, %2
result f32[r, c] = %4
stage r argument 2, panel 0 -> result 0
axes r c l0
operand f32[c, l0]
operand f32[r, l0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[c, r] = add %3
)";

NumberArray Numbers(ScalarType type, std::vector<int64_t> shape, int seed) {
  NumberArray array = testing::Zeros(std::move(shape));
  for (size_t i = 0; i < array.numbers.size(); ++i) {
    const double number = std::sin(static_cast<double>(i * 7 + static_cast<size_t>(seed)));
    array.numbers[i] = IsFloat(type) ? testing::RoundTo(type, number) : std::round(9 * number);
  }
  return array;
}

StagedProgram Read(std::string_view text) {
  if (IsStagesText(text)) {
    StatusOr<StagedProgram> program = ReadStages(text);
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return *std::move(program);
  }
  StatusOr<TileProgram> program = ReadTiles(text);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return AsStages(*std::move(program));
}

// Runs the program with one of each two pairs, and compares with all pairs in double precision.
void Check(std::string_view text, const std::vector<NumberArray>& arguments, double tolerance) {
  const StagedProgram program = Read(text);
  const std::optional<StagedProgram> mirrored = MirrorProgram(program, {{0, 1}});
  ASSERT_TRUE(mirrored);
  const std::vector<NumberArray> expected = testing::EvaluateStages(program, arguments);
  const StatusOr<std::vector<const CompiledKernel*>> kernels = StoreOfProcess().FindAll(*mirrored);
  ASSERT_TRUE(kernels.ok()) << kernels.status().ToString();
  const CompiledStages compiled = {.program = *mirrored, .kernels = *kernels};
  std::vector<KernelShape> shapes;
  for (const CompiledKernel* kernel : *kernels) shapes.push_back(kernel->shape);
  std::vector<NumberArray> first;
  for (const int64_t threads : {1, 2, 3}) {
    GuardedCall call;
    for (size_t i = 0; i < arguments.size(); ++i) {
      call.AddOperand(testing::TypeOf(program, StagePlaceKind::kArgument, i), arguments[i],
                      threads != 2);
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      call.AddResult(testing::TypeOf(program, StagePlaceKind::kResult, i), expected[i].shape,
                     threads != 2);
    }
    std::vector<llvm::ArrayRef<int64_t>> operand_shapes;
    for (const KernelArray& operand : call.operands) operand_shapes.push_back(operand.shape);
    std::vector<llvm::ArrayRef<int64_t>> result_shapes;
    for (const KernelArray& result : call.results) result_shapes.push_back(result.shape);
    const StatusOr<MirroredLayout> layout =
        LayOutMirrored(*mirrored, shapes, operand_shapes, result_shapes);
    ASSERT_TRUE(layout.ok()) << layout.status().ToString();
    const GuardedBytes scratch(static_cast<size_t>(ScratchBytes(*layout, threads)), threads != 2);
    const Status status = RunMirrored(compiled, *layout, call.operands, call.results,
                                      {scratch.data(), scratch.size()}, threads, RunOnThreads);
    ASSERT_TRUE(status.ok()) << status.ToString();
    const std::vector<NumberArray> found = call.Results();
    for (size_t i = 0; i < expected.size(); ++i) {
      for (size_t j = 0; j < expected[i].numbers.size(); ++j) {
        ASSERT_NEAR(found[i].numbers[j], expected[i].numbers[j],
                    tolerance * (1 + std::abs(expected[i].numbers[j])))
            << "result " << i << " element " << j;
        if (!first.empty()) {
          ASSERT_EQ(found[i].numbers[j], first[i].numbers[j]);
        }
      }
    }
    first = found;
  }
}

class Mirrored : public ::testing::TestWithParam<int64_t> {};

TEST_P(Mirrored, TilesGiveWhatAllPairsGive) {
  const int64_t n = GetParam();
  const NumberArray points = Numbers(ScalarType::kF32, {2, n, 2}, 1);
  Check(kForces, {points, points, Numbers(ScalarType::kF32, {n}, 2)}, 1e-4);
}

TEST_P(Mirrored, StagesGiveWhatAllPairsGive) {
  const int64_t n = GetParam();
  const NumberArray points = Numbers(ScalarType::kF32, {n, 5}, 1);
  Check(kProduct, {points, points, Numbers(ScalarType::kF32, {n, 17}, 2)}, 1e-4);
  const NumberArray numbers = Numbers(ScalarType::kF32, {n}, 3);
  Check(kOddProduct, {numbers, numbers, Numbers(ScalarType::kF32, {3, n}, 4)}, 1e-3);
}

// Three blocks, the last of which is not whole.
INSTANTIATE_TEST_SUITE_P(Sizes, Mirrored, ::testing::Values(1543));

TEST(RunMirrored, TakesOtherTypes) {
  const NumberArray wide = Numbers(ScalarType::kF64, {1025}, 1);
  Check(kWide, {wide, wide}, 1e-12);
  const NumberArray integers = Numbers(ScalarType::kI32, {1025}, 1);
  Check(kIntegers, {integers, integers}, 0);
}

TEST(RunMirrored, RefusesOtherSizes) {
  const std::optional<StagedProgram> mirrored = MirrorProgram(Read(kWide), {{0, 1}});
  ASSERT_TRUE(mirrored);
  const KernelShape shape = ChooseShape(mirrored->stages[0].program, HostMachine());
  const auto lay_out = [&](int64_t rows, int64_t columns) {
    const std::vector<int64_t> row_shape = {rows};
    const std::vector<int64_t> column_shape = {columns};
    return LayOutMirrored(*mirrored, {shape}, {row_shape, column_shape}, {row_shape});
  };
  EXPECT_TRUE(lay_out(5000, 5000).ok());
  EXPECT_FALSE(lay_out(5000, 5001).ok());
  EXPECT_FALSE(lay_out(100, 100).ok());
}

}  // namespace
}  // namespace plimsoll
