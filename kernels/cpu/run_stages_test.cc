#include "kernels/cpu/run_stages.h"

#include <cmath>
#include <cstdint>
#include <limits>
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
using testing::EvaluateStages;
using testing::GuardedBytes;
using testing::NumberArray;
using testing::RunOnThreads;
using testing::TypeOf;

// A stage that is a product of two matrices, of each element of the batch.
std::string Product(std::string_view places, std::string_view left, std::string_view right,
                    std::string_view result) {
  return StrCat("stage ", places, "\naxes r c b0 l0\noperand ", left, "\noperand ", right,
                "\n%0 = load 0\n%1 = load 1\n%2 = multiply %0, %1\n%3 = fold add l0 %2\nresult ",
                result, " = add %3\n");
}

// Softmax attention: scores and their maximum, exponentials and their sum, the product with values.
std::string AttentionText() {
  return StrCat(R"(stages
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
)",
                Product("r panel 1, argument 2 -> result 2", "f32[b0, r, l0]", "f32[b0, l0, c]",
                        "f32[b0, r, c]"),
                Product("l0 panel 1, argument 3 -> result 3", "f32[b0, l0, r]", "f32[b0, l0, c]",
                        "f32[b0, r, c]"));
}

// The same where rows see only some columns, and a gradient, which sums over rows as well.
// Each row sees the columns from a first one to a last one.
constexpr std::string_view kMaskedScores =
    R"(axes r c b0 l0
operand i32[b0, r]
operand i32[c]
operand i32[b0, r]
operand f32[b0, r, l0]
operand f32[b0, c, l0]
operand f32[]
%0 = load 0
%1 = load 1
%2 = compare le %0, %1
%3 = load 2
%4 = compare ge %3, %1
%5 = and %2, %4
%6 = load 3
%7 = load 4
%8 = multiply %6, %7
%9 = fold add l0 %8
%10 = load 5
%11 = select %5, %9, %10
)";
constexpr std::string_view kMaskedOperands =
    "argument 0, argument 1, argument 2, argument 3, argument 4, argument 5";

// Products with the weights in a panel, by rows and by columns.
std::string MaskedProduct() {
  return Product("r panel 1, argument 6 -> result 2", "f32[b0, r, l0]", "f32[b0, l0, c]",
                 "f32[b0, r, c]");
}

std::string MaskedProducts() {
  return StrCat(MaskedProduct(),
                Product("l0 panel 1, argument 7 -> result 3", "f32[b0, l0, r]", "f32[b0, l0, c]",
                        "f32[b0, r, c]"),
                Product("l0 argument 7, panel 1 -> result 4", "f32[b0, l0, r]", "f32[b0, l0, c]",
                        "f32[b0, r, c]"));
}

std::string MaskedWeights() {
  return StrCat("stages\nstage r ", kMaskedOperands, " -> result 0, panel 0\n", kMaskedScores,
                R"(result f32[b0, r] = maximum c %11
result f32[b0, r, c] = %11
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
)");
}

std::string MaskedText() { return MaskedWeights() + MaskedProducts(); }

// What is summed goes on with a larger maximum from slab to slab.
std::string OnlineText() { return MaskedWeights() + MaskedProduct(); }

// No stage waits for all columns.
std::string MaskedSlabsText() {
  return StrCat("stages\nstage r ", kMaskedOperands, " -> result 0, panel 0\n", kMaskedScores,
                R"(result f32[b0, r] = maximum c %11
result f32[b0, r, c] = %11
stage r panel 0 -> result 1, panel 1
axes r c b0
operand f32[b0, r, c]
%0 = load 0
%1 = logistic %0
result f32[b0, r] = add c %1
result f32[b0, r, c] = %1
)",
                MaskedProducts());
}

// One stage alone.
std::string MaskedMaximaText() {
  return StrCat("stages\nstage r ", kMaskedOperands, " -> result 0\n", kMaskedScores,
                "result f32[b0, r] = maximum c %11\n");
}

// Products with a kernel matrix from both sides, and its sums: no stage waits for all columns.
std::string KernelMatrixText() {
  return StrCat(
      R"(stages
stage r argument 0, argument 1 -> result 0, result 1, panel 0
axes r c b0 l0
operand f32[b0, r, l0]
operand f32[b0, c, l0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
%4 = tanh %3
%5 = iota f32 c
%6 = add %4, %5
result f32[b0, r] = add c %4
result f32[b0, r] = maximum c %6
result f32[b0, r, c] = %4
)",
      Product("r panel 0, argument 2 -> result 2", "f32[b0, r, l0]", "f32[b0, l0, c]",
              "f32[b0, r, c]"),
      Product("r panel 0, argument 3 -> result 3", "f32[b0, r, l0]", "f32[c, l0]", "f32[b0, c, r]"),
      Product("l0 panel 0, argument 4 -> result 4", "f32[b0, l0, r]", "f32[b0, l0, c]",
              "f32[b0, r, c]"),
      Product("l0 argument 4, panel 0 -> result 5", "f32[b0, l0, r]", "f32[b0, l0, c]",
              "f32[b0, r, c]"));
}

// Scores are cheap to make anew, so nothing but a result is handed on.
constexpr std::string_view kWithoutPanels = R"(stages
stage r argument 0, argument 1 -> result 0
axes r c
operand f32[r]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
result f32[r] = maximum c %2
stage r argument 0, argument 1, result 0 -> result 1
axes r c
operand f32[r]
operand f32[c]
operand f32[r]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = load 2
%4 = subtract %2, %3
%5 = exponential %4
result f32[r] = add c %5
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
        if (!std::isfinite(expected[i].numbers[j])) {
          const bool are_nan =
              std::isnan(found[i].numbers[j]) && std::isnan(expected[i].numbers[j]);
          ASSERT_TRUE(are_nan || found[i].numbers[j] == expected[i].numbers[j])
              << "result " << i << " element " << j;
          continue;
        }
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
  Check(AttentionText(),
        {Numbers({batch, rows, inner}, 1), Numbers({batch, columns, inner}, 2),
         Numbers({batch, columns, features}, 3), Numbers({batch, rows, features}, 4)},
        2e-4);
}

INSTANTIATE_TEST_SUITE_P(OddSizes, Attention,
                         ::testing::Values(Sizes{1, 1, 1, 1, 1}, Sizes{1, 7, 5, 3, 2},
                                           Sizes{2, 13, 17, 20, 19}, Sizes{3, 33, 31, 16, 33},
                                           Sizes{1, 64, 400, 64, 17}, Sizes{2, 9, 769, 5, 65},
                                           Sizes{1, 700, 15, 9, 7}));

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Masked : public ::testing::TestWithParam<Sizes> {
 protected:
  static constexpr int64_t kAll = 1000000;

  // Each row sees the columns up to its position, which is its number and `later`, and from so many
  // before it on.
  static std::vector<NumberArray> Arguments(int64_t later, int64_t width, double hidden) {
    const auto [batch, rows, columns, inner, features] = GetParam();
    NumberArray last = Numbers({batch, rows}, 0);
    NumberArray first = last;
    for (int64_t i = 0; i < batch * rows; ++i) {
      last.numbers[static_cast<size_t>(i)] = static_cast<double>(i % rows + later);
      first.numbers[static_cast<size_t>(i)] = static_cast<double>(i % rows + later - width);
    }
    NumberArray column_positions = Numbers({columns}, 0);
    for (int64_t i = 0; i < columns; ++i) {
      column_positions.numbers[static_cast<size_t>(i)] = static_cast<double>(i);
    }
    return {first,
            column_positions,
            last,
            Numbers({batch, rows, inner}, 1),
            Numbers({batch, columns, inner}, 2),
            {.shape = {}, .numbers = {hidden}},
            Numbers({batch, columns, features}, 3),
            Numbers({batch, rows, features}, 4)};
  }

  static void CheckAll(const std::vector<NumberArray>& arguments) {
    Check(MaskedText(), arguments, 2e-4);
    Check(MaskedSlabsText(), arguments, 1e-3);
    Check(MaskedMaximaText(), {arguments.begin(), arguments.begin() + 6}, 2e-4);
  }
};

TEST_P(Masked, IsWhatItsStagesGive) {
  for (const double hidden : {-kInfinity, -1e30}) {
    for (const int64_t later : {0, 3, 1500, -1000}) CheckAll(Arguments(later, kAll, hidden));
    for (const int64_t width : {0, 20, 150}) CheckAll(Arguments(width / 2, width, hidden));
    CheckAll(Arguments(1600, 70, hidden));
  }
}

TEST_P(Masked, CountsColumnsThatAreNotReallyHidden) {
  CheckAll(Arguments(0, kAll, -2));
  CheckAll(Arguments(200, 90, -2));
}

TEST_P(Masked, GivesNaNWhereHiddenColumnsHaveNaN) {
  for (const double number : {std::numeric_limits<double>::quiet_NaN(), kInfinity}) {
    std::vector<NumberArray> arguments = Arguments(0, 100, -kInfinity);
    arguments[6].numbers.back() = number;
    Check(MaskedText(), arguments, 2e-4);
  }
}

// The last two have several slabs.
INSTANTIATE_TEST_SUITE_P(OddSizes, Masked,
                         ::testing::Values(Sizes{1, 1, 1, 1, 1}, Sizes{2, 65, 65, 3, 5},
                                           Sizes{2, 33, 200, 20, 19}, Sizes{1, 129, 400, 16, 17},
                                           Sizes{1, 400, 129, 9, 7}, Sizes{1, 67, 1601, 3, 5},
                                           Sizes{2, 41, 3301, 2, 3}));

// Sums that are brought to larger and larger maxima.
class Online : public Masked {
 protected:
  // Scores that grow with the columns, or that do not.
  static std::vector<NumberArray> OnlineArguments(int64_t later, int64_t width, double hidden,
                                                  double growth) {
    std::vector<NumberArray> arguments = Arguments(later, width, hidden);
    const int64_t inner = GetParam().inner;
    for (int64_t i = 0; i < ElementCount(arguments[4].shape); ++i) {
      double& number = arguments[4].numbers[static_cast<size_t>(i)];
      const auto column = static_cast<double>(i / inner % GetParam().columns);
      number = testing::RoundTo(ScalarType::kBF16, number * (1 + growth * column));
    }
    arguments.pop_back();
    return arguments;
  }
};

TEST_P(Online, IsWhatItsStagesGive) {
  const int64_t columns = GetParam().columns;
  for (const double growth : {0.0, 0.002}) {
    for (const double hidden : {-kInfinity, -1e30, -2.0}) {
      for (const int64_t later : {int64_t{0}, columns / 2, columns, -columns, int64_t{-5}}) {
        Check(OnlineText(), OnlineArguments(later, kAll, hidden, growth), 1e-3);
      }
      Check(OnlineText(), OnlineArguments(columns - 20, 1000, hidden, growth), 1e-3);
    }
  }
}

TEST_P(Online, GivesNaNWhereThereIsNaN) {
  for (const double number : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
    for (const size_t argument : {3, 4, 6}) {
      std::vector<NumberArray> arguments =
          OnlineArguments(GetParam().columns / 2, 1000, -kInfinity, 0);
      arguments[argument].numbers[arguments[argument].numbers.size() / 2] = number;
      Check(OnlineText(), arguments, 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OddSizes, Online,
                         ::testing::Values(Sizes{1, 33, 1537, 3, 5}, Sizes{2, 41, 3301, 2, 3},
                                           Sizes{1, 7, 4999, 1, 17}));

class Slabs : public ::testing::TestWithParam<Sizes> {};

TEST_P(Slabs, AreWhatTheStagesGive) {
  const auto [batch, rows, columns, inner, features] = GetParam();
  Check(KernelMatrixText(),
        {Numbers({batch, rows, inner}, 1), Numbers({batch, columns, inner}, 2),
         Numbers({batch, columns, features}, 3), Numbers({features, columns}, 4),
         Numbers({batch, rows, features}, 5)},
        1e-3);
}

// Some with one slab, others with several, the last of which may be a single column.
INSTANTIATE_TEST_SUITE_P(OddSizes, Slabs,
                         ::testing::Values(Sizes{1, 1, 1, 1, 1}, Sizes{2, 13, 17, 20, 19},
                                           Sizes{1, 67, 1537, 3, 5}, Sizes{2, 40, 3072, 2, 3},
                                           Sizes{1, 33, 3301, 17, 2}));

TEST(RunStages, TakesSlabsOfColumnsWhereThereIsNoRoomForAll) {
  const StatusOr<StagedProgram> program = ReadStages(KernelMatrixText());
  ASSERT_TRUE(program.ok());
  std::vector<KernelShape> shapes;
  for (const Stage& stage : program->stages) {
    shapes.push_back(ChooseShape(stage.program, HostMachine()));
  }
  const int64_t many = 1 << 20;
  const std::vector<int64_t> points = {1, 640, 64};
  const std::vector<int64_t> others = {1, many, 64};
  const std::vector<int64_t> vectors = {1, many, 8};
  const std::vector<int64_t> turned = {8, many};
  const std::vector<int64_t> weights = {1, 640, 8};
  const std::vector<int64_t> sums = {1, 640};
  const std::vector<int64_t> made = {1, 640, 8};
  const std::vector<int64_t> made_turned = {1, 8, 640};
  const std::vector<int64_t> from_rows = {1, 8, many};
  const StatusOr<StagesLayout> layout =
      LayOutStages(*program, shapes, {points, others, vectors, turned, weights},
                   {sums, sums, made, made_turned, vectors, from_rows}, 1);
  ASSERT_TRUE(layout.ok()) << layout.status().ToString();
  EXPECT_LT(layout->columns_at_once, many);
  EXPECT_GE(layout->rows_of_piece, 32);
  EXPECT_LE(layout->worker_bytes, 4 << 20);
}

TEST(RunStages, GoesOnWithLargerMaximaFromSlabToSlab) {
  const StatusOr<StagedProgram> program = ReadStages(OnlineText());
  ASSERT_TRUE(program.ok());
  const int64_t many = 1 << 20;
  const std::vector<int64_t> of_rows = {1, 640};
  const std::vector<int64_t> of_columns = {many};
  const std::vector<int64_t> queries = {1, 640, 64};
  const std::vector<int64_t> keys = {1, many, 64};
  const std::vector<int64_t> one = {};
  const StatusOr<StagesLayout> layout = LayOutStages(
      *program, ChooseShapes(*program, HostMachine()),
      {of_rows, of_columns, of_rows, queries, keys, one, keys}, {of_rows, of_rows, queries}, 1);
  ASSERT_TRUE(layout.ok()) << layout.status().ToString();
  EXPECT_LT(layout->columns_at_once, many);
  EXPECT_GE(layout->rows_of_piece, 32);
  EXPECT_EQ(layout->maxima.size(), 1);
}

TEST(RunStages, MayHandOnNothingButResults) {
  for (const int64_t size : {1, 17, 1601}) {
    Check(kWithoutPanels, {Numbers({size + 4}, 1), Numbers({size}, 2)}, 2e-4);
  }
}

TEST(RunStages, KeepsHalvesInPanels) {
  for (const int64_t size : {1, 17, 67}) {
    Check(kHalves, {Numbers({size + 4}, 1), Numbers({size}, 2), Numbers({19, size}, 3)}, 2e-2);
  }
}

TEST(RunStages, HasNothingToDoForNoRows) {
  Check(
      AttentionText(),
      {Numbers({2, 0, 3}, 1), Numbers({2, 5, 3}, 2), Numbers({2, 5, 4}, 3), Numbers({2, 0, 4}, 4)},
      0);
}

TEST(RunStages, RefusesTooMuchScratch) {
  const StatusOr<StagedProgram> program = ReadStages(AttentionText());
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
  const StatusOr<const CompiledStages*> stages = FindStages(AttentionText());
  ASSERT_TRUE(stages.ok());
  const Status status = RunStages(**stages, {}, {}, {}, 1, RunOnThreads);
  EXPECT_FALSE(status.ok());
}

}  // namespace
}  // namespace plimsoll
