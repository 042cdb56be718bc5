#include "kernels/cpu/run_stages.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/stage_layout.h"
#include "kernels/cpu/testing.h"
#include "kernels/evaluate_tiles.h"

namespace plimsoll {
namespace {

using testing::Decode;
using testing::Encode;
using testing::Evaluate;
using testing::GuardedBytes;
using testing::NumberArray;
using testing::RunOnThreads;

// Softmax attention: scores and their maximum, exponentials and their sum, the product with values.
constexpr std::string_view kAttention = R"(stages
stage r argument 0, argument 1 -> result 0, panel 0
axes r c b0 l0
operand f32[b0, r, l0]
operand f32[b0, c, l0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[b0, r] = maximum c %3
result f32[b0, r, c] = %3
stage r panel 0, result 0 -> result 1, panel 1
axes r c b0
operand f32[b0, r, c]
operand f32[b0, r]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = exponential %2
result f32[b0, r] = add c %3
result f32[b0, r, c] = %3
stage r panel 1, argument 2 -> result 2
axes r c b0 l0
operand f32[b0, r, l0]
operand f32[b0, l0, c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[b0, r, c] = add %3
stage l0 panel 1, argument 3 -> result 3
axes r c b0 l0
operand f32[b0, l0, r]
operand f32[b0, l0, c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[b0, r, c] = add %3
)";

// A product of a panel of halves, whose result has the columns first.
constexpr std::string_view kHalves = R"(stages
stage r argument 0, argument 1 -> panel 0
axes r c
operand bf16[r]
operand bf16[c]
%0 = load 0
%1 = load 1
%2 = add %0, %1
%3 = tanh %2
result bf16[r, c] = %3
stage r panel 0, argument 2 -> result 0
axes r c l0
operand bf16[r, l0]
operand bf16[c, l0]
%0 = load 0
%1 = convert f32 %0
%2 = load 1
%3 = convert f32 %2
%4 = multiply %1, %3
%5 = fold add l0 %4
result f32[c, r] = add %5
)";

NumberArray Numbers(std::vector<int64_t> shape, int seed) {
  NumberArray array = {.shape = std::move(shape), .numbers = {}};
  array.numbers.resize(static_cast<size_t>(ElementCount(array.shape)));
  for (size_t i = 0; i < array.numbers.size(); ++i) {
    array.numbers[i] = std::sin(static_cast<double>(i * 7 + static_cast<size_t>(seed)));
    array.numbers[i] = testing::RoundTo(ScalarType::kBF16, array.numbers[i]);
  }
  return array;
}

// Each stage as a whole, one after the other.
std::vector<NumberArray> EvaluateStages(const StagedProgram& program,
                                        const std::vector<NumberArray>& arguments) {
  std::vector<NumberArray> arrays[] = {arguments, {}, {}};
  for (const Stage& stage : program.stages) {
    std::vector<int64_t> lengths(stage.program.axes.size(), 1);
    std::vector<NumberArray> operands;
    for (size_t i = 0; i < stage.operands.size(); ++i) {
      const StagePlace& place = stage.operands[i];
      operands.push_back(
          arrays[static_cast<size_t>(place.kind)][static_cast<size_t>(place.number)]);
      for (size_t j = 0; j < operands.back().shape.size(); ++j) {
        const int axis = stage.program.operands[i].axes[j];
        lengths[static_cast<size_t>(axis)] = operands.back().shape[j];
      }
    }
    const std::vector<NumberArray> results = Evaluate(stage.program, lengths, operands);
    for (size_t i = 0; i < results.size(); ++i) {
      arrays[static_cast<size_t>(stage.results[i].kind)].push_back(results[i]);
    }
  }
  return arrays[static_cast<size_t>(StagePlaceKind::kResult)];
}

ScalarType TypeOf(const StagedProgram& program, StagePlaceKind kind, size_t number) {
  const StagePlace wanted = {.kind = kind, .number = static_cast<int>(number)};
  for (const Stage& stage : program.stages) {
    for (size_t i = 0; i < stage.operands.size(); ++i) {
      if (stage.operands[i] == wanted) return stage.program.operands[i].type;
    }
    for (size_t i = 0; i < stage.results.size(); ++i) {
      if (stage.results[i] == wanted) return stage.program.results[i].array.type;
    }
  }
  return ScalarType::kF32;
}

// In memory that is guarded behind each array, or before it.
std::vector<NumberArray> Run(const CompiledStages& stages,
                             const std::vector<NumberArray>& arguments,
                             std::vector<NumberArray> results, int64_t threads, bool guard_behind) {
  std::vector<std::unique_ptr<GuardedBytes>> memory;
  const auto place = [&](const NumberArray& array, ScalarType type) {
    const auto bytes = static_cast<size_t>(BytesOf(type));
    memory.push_back(std::make_unique<GuardedBytes>(array.numbers.size() * bytes, guard_behind));
    for (size_t i = 0; i < array.numbers.size(); ++i) {
      Encode(type, array.numbers[i], memory.back()->data() + i * bytes);
    }
    return KernelArray{.data = memory.back()->data(), .shape = array.shape};
  };
  std::vector<KernelArray> operand_arrays;
  std::vector<llvm::ArrayRef<int64_t>> operand_shapes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    operand_arrays.push_back(
        place(arguments[i], TypeOf(stages.program, StagePlaceKind::kArgument, i)));
    operand_shapes.push_back(operand_arrays.back().shape);
  }
  std::vector<KernelArray> result_arrays;
  std::vector<llvm::ArrayRef<int64_t>> result_shapes;
  for (size_t i = 0; i < results.size(); ++i) {
    result_arrays.push_back(place(results[i], TypeOf(stages.program, StagePlaceKind::kResult, i)));
    result_shapes.push_back(result_arrays.back().shape);
  }
  std::vector<KernelShape> shapes;
  for (const CompiledKernel* kernel : stages.kernels) shapes.push_back(kernel->shape);
  const StatusOr<StagesLayout> layout =
      LayOutStages(stages.program, shapes, operand_shapes, result_shapes, threads);
  EXPECT_TRUE(layout.ok()) << layout.status().ToString();
  if (!layout.ok()) return results;
  const GuardedBytes scratch(static_cast<size_t>(ScratchBytes(*layout, threads)), guard_behind);
  const Status status = RunStages(stages, operand_arrays, result_arrays,
                                  {scratch.data(), scratch.size()}, threads, RunOnThreads);
  EXPECT_TRUE(status.ok()) << status.ToString();
  for (size_t i = 0; i < results.size(); ++i) {
    const ScalarType type = TypeOf(stages.program, StagePlaceKind::kResult, i);
    for (size_t j = 0; j < results[i].numbers.size(); ++j) {
      results[i].numbers[j] = Decode(type, static_cast<const char*>(result_arrays[i].data) +
                                               j * static_cast<size_t>(BytesOf(type)));
    }
  }
  return results;
}

void Check(std::string_view text, const std::vector<NumberArray>& arguments, double tolerance) {
  const StatusOr<const CompiledStages*> stages = FindStages(text);
  ASSERT_TRUE(stages.ok()) << stages.status().ToString();
  const std::vector<NumberArray> expected = EvaluateStages((*stages)->program, arguments);
  std::vector<NumberArray> first;
  for (const int64_t threads : {1, 2, 3}) {
    const std::vector<NumberArray> found =
        Run(**stages, arguments, expected, threads, threads != 2);
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

struct Sizes {
  int64_t batch, rows, columns, inner, features;
};

class Attention : public ::testing::TestWithParam<Sizes> {};

TEST_P(Attention, IsWhatItsStagesGive) {
  const auto [batch, rows, columns, inner, features] = GetParam();
  Check(kAttention,
        {Numbers({batch, rows, inner}, 1), Numbers({batch, columns, inner}, 2),
         Numbers({batch, columns, features}, 3), Numbers({batch, rows, features}, 4)},
        2e-4);
}

INSTANTIATE_TEST_SUITE_P(OddSizes, Attention,
                         ::testing::Values(Sizes{1, 1, 1, 1, 1}, Sizes{1, 7, 5, 3, 2},
                                           Sizes{2, 13, 17, 20, 19}, Sizes{3, 33, 31, 16, 33},
                                           Sizes{1, 64, 400, 64, 17}, Sizes{2, 9, 769, 5, 65},
                                           Sizes{1, 700, 15, 9, 7}));

TEST(RunStages, KeepsHalvesInPanels) {
  for (const int64_t size : {1, 17, 67}) {
    Check(kHalves, {Numbers({size + 4}, 1), Numbers({size}, 2), Numbers({19, size}, 3)}, 2e-2);
  }
}

TEST(RunStages, HasNothingToDoForNoRows) {
  Check(
      kAttention,
      {Numbers({2, 0, 3}, 1), Numbers({2, 5, 3}, 2), Numbers({2, 5, 4}, 3), Numbers({2, 0, 4}, 4)},
      0);
}

TEST(RunStages, RefusesTooMuchScratch) {
  const StatusOr<StagedProgram> program = ReadStages(kAttention);
  ASSERT_TRUE(program.ok());
  std::vector<KernelShape> shapes;
  for (const Stage& stage : program->stages) {
    shapes.push_back(ChooseShape(stage.program, HostMachine()));
  }
  const int64_t many = 1 << 20;
  const std::vector<int64_t> queries = {1, 64, 8};
  const std::vector<int64_t> keys = {1, many, 8};
  const std::vector<int64_t> sums = {1, 64};
  const std::vector<int64_t> made = {1, 64, 8};
  const StatusOr<StagesLayout> layout =
      LayOutStages(*program, shapes, {queries, keys, keys, queries}, {sums, sums, made, keys}, 1);
  ASSERT_FALSE(layout.ok());
  EXPECT_NE(std::string(layout.status().message()).find("bytes of scratch"), std::string::npos);
}

TEST(RunStages, RefusesArraysThatDoNotFit) {
  const StatusOr<const CompiledStages*> stages = FindStages(kAttention);
  ASSERT_TRUE(stages.ok());
  const Status status = RunStages(**stages, {}, {}, {}, 1, RunOnThreads);
  EXPECT_FALSE(status.ok());
}

}  // namespace
}  // namespace plimsoll
