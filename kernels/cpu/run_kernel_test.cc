#include "kernels/cpu/run_kernel.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/testing.h"
#include "kernels/evaluate_tiles.h"

namespace plimsoll {
namespace {

using testing::Compile;
using testing::Evaluate;
using ::testing::HasSubstr;
using testing::NumberArray;
using testing::RoundTo;
using testing::RunOnNumbers;
using testing::ShapeOf;

constexpr std::string_view kGaussian = R"(axes r c s0=3
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
result f32[r] = add c %8
)";

// The gradient of a Gaussian kernel's product with respect to both sets of points and the vector:
// rows, columns and everything are summed in one pass.
constexpr std::string_view kGradient = R"(axes r c b0 s0=3
operand f32[b0, r, s0]
operand f32[s0, b0, c]
operand f32[b0, r]
operand f32[b0, c]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = fold add s0 %3
%5 = negate %4
%6 = exponential %5
%7 = load 2
%8 = multiply %6, %7
%9 = load 3
%10 = multiply %8, %9
%11 = multiply %10, %2
%12 = multiply %10, %4
result f32[b0, r, s0] = add c %11
result f32[s0, c, b0] = add r %11
result f32[b0, c] = add r %8
result f32[b0] = add r c %12
result f32[c, r, b0] = %6
)";

std::vector<NumberArray> RandomOperands(const TileProgram& program, llvm::ArrayRef<int64_t> lengths,
                                        uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<NumberArray> operands;
  for (const TileArray& array : program.operands) {
    NumberArray operand = {.shape = ShapeOf(array, lengths), .numbers = {}};
    size_t count = 1;
    for (const int64_t size : operand.shape) count *= static_cast<size_t>(size);
    for (size_t i = 0; i < count; ++i) {
      const double number = std::uniform_real_distribution<>(-1, 1)(random);
      operand.numbers.push_back(IsFloat(array.type) ? RoundTo(array.type, number)
                                                    : std::round(5 * number));
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

void ExpectRight(const CompiledKernel& kernel, llvm::ArrayRef<int64_t> lengths, double tolerance,
                 int64_t threads = 1) {
  const std::vector<NumberArray> operands = RandomOperands(kernel.program, lengths, 7);
  const std::vector<NumberArray> expected = Evaluate(kernel.program, lengths, operands);
  for (const bool guard_behind : {true, false}) {
    const std::vector<NumberArray> found =
        RunOnNumbers(kernel, lengths, operands, threads, guard_behind);
    for (size_t i = 0; i < expected.size(); ++i) {
      for (size_t j = 0; j < expected[i].numbers.size(); ++j) {
        if (found[i].numbers[j] == expected[i].numbers[j]) continue;  // Infinities, too.
        ASSERT_NEAR(found[i].numbers[j], expected[i].numbers[j],
                    tolerance * (1 + std::abs(expected[i].numbers[j])))
            << "result " << i << " element " << j << " rows " << lengths[0] << " columns "
            << lengths[1];
      }
    }
  }
}

TEST(RunKernel, GaussianProductsOfAllSizes) {
  const auto kernel = Compile(kGaussian);
  ASSERT_NE(kernel, nullptr);
  for (const int64_t rows : {0, 1, 2, 3, 5, 67}) {
    for (const int64_t columns : {0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 64, 131, 2047, 2048, 4099}) {
      ExpectRight(*kernel, {rows, columns, 3}, 1e-5);
    }
  }
}

// Rows summed by their labels, and their least and largest distances, beside the whole matrix.
constexpr std::string_view kSegments = R"(axes r c b0 s0=3 g0 g1
operand f32[b0, r, s0]
operand f32[c, s0]
operand i32[r, 1]
operand i64[b0, r]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = fold add s0 %3
%5 = negate %4
%6 = exponential %5
%7 = load 2
%8 = load 3
%9 = constant i64 2
%10 = add %8, %9
result f32[b0, g0, c] = add r by %7 %6
result f32[g1, s0, b0, c] = minimum r by %10 %2
result f32[b0, 1, g1, c] = maximum r by %10 %4
result f32[c, b0, r] = %6
)";

// Labels are from -5 to 5: some are of no segment.
TEST(RunKernel, RowsAreReducedInSegments) {
  const auto kernel = Compile(kSegments);
  ASSERT_NE(kernel, nullptr);
  for (const int64_t rows : {0, 1, 3, 67, 1031}) {
    for (const int64_t columns : {0, 1, 16, 37, 300}) {
      for (const int64_t segments : {0, 1, 4, 9}) {
        ExpectRight(*kernel, {rows, columns, 2, 3, segments, 5 - segments / 2}, 1e-4,
                    /*threads=*/1 + rows % 3);
      }
    }
  }
}

TEST(RunKernel, SegmentsAreTheSameForEveryNumberOfThreads) {
  const auto kernel = Compile(kSegments);
  ASSERT_NE(kernel, nullptr);
  const std::vector<int64_t> lengths = {501, 1009, 1, 3, 4, 3};
  const std::vector<NumberArray> operands = RandomOperands(kernel->program, lengths, 3);
  const std::vector<NumberArray> alone = RunOnNumbers(*kernel, lengths, operands, /*threads=*/1);
  for (const int64_t threads : {2, 3, 7}) {
    const std::vector<NumberArray> found = RunOnNumbers(*kernel, lengths, operands, threads);
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(found[i].numbers, alone[i].numbers);
  }
}

// More segments than there is room for in a cache: many pieces of few columns.
TEST(RunKernel, SegmentsMayBeMoreThanRows) {
  const auto kernel = Compile(R"(axes r c g0
operand f64[r]
operand f64[c]
operand i32[r]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = load 2
result f64[g0, c] = multiply r by %3 %2
)");
  ASSERT_NE(kernel, nullptr);
  ExpectRight(*kernel, {41, 517, 2003}, 1e-12, /*threads=*/2);
}

TEST(RunKernel, RowsAndColumnsAndAllAreReducedAtOnce) {
  const auto kernel = Compile(kGradient);
  ASSERT_NE(kernel, nullptr);
  for (const int64_t rows : {0, 1, 4, 37}) {
    for (const int64_t columns : {0, 1, 16, 53}) {
      for (const int64_t batch : {0, 1, 3}) ExpectRight(*kernel, {rows, columns, batch, 3}, 1e-5);
    }
  }
}

TEST(RunKernel, IsTheSameForEveryNumberOfThreads) {
  const auto kernel = Compile(kGradient);
  ASSERT_NE(kernel, nullptr);
  const std::vector<int64_t> lengths = {1031, 257, 2, 3};
  const std::vector<NumberArray> operands = RandomOperands(kernel->program, lengths, 3);
  const std::vector<NumberArray> alone = RunOnNumbers(*kernel, lengths, operands, 1);
  for (const int64_t threads : {2, 3, 8}) {
    const std::vector<NumberArray> together = RunOnNumbers(*kernel, lengths, operands, threads);
    for (size_t i = 0; i < alone.size(); ++i) {
      ASSERT_EQ(alone[i].numbers, together[i].numbers) << threads << " threads, result " << i;
    }
  }
}

constexpr std::string_view kLongGaussian = R"(axes r c l0
operand f32[r, l0]
operand f32[c, l0]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = fold add l0 %3
%5 = negate %4
%6 = exponential %5
%7 = load 2
%8 = multiply %6, %7
result f32[r] = add c %8
result f32[r, c] = %4
)";

TEST(RunKernel, LongAxesAreFoldedInALoop) {
  const auto kernel = Compile(kLongGaussian);
  ASSERT_NE(kernel, nullptr);
  for (const int64_t rows : {0, 1, 7, 9, 50}) {
    for (const int64_t columns : {0, 1, 16, 33, 385, 500}) {
      for (const int64_t length : {0, 1, 3, 4, 5, 64}) {
        ExpectRight(*kernel, {rows, columns, length}, 1e-5);
      }
    }
  }
}

TEST(RunKernel, ReducesByAllReducers) {
  for (const std::string_view type : {"f32", "f64", "i32", "ui8", "i64"}) {
    for (const std::string_view reducer : {"add", "multiply", "maximum", "minimum"}) {
      const auto kernel =
          Compile(StrCat("axes r c\noperand ", type, "[r, c]\n%0 = load 0\n%1 = multiply %0, %0\n",
                         "result ", type, "[r] = ", reducer, " c %1\nresult ", type,
                         "[c] = ", reducer, " r %1\nresult ", type, "[] = ", reducer, " r c %1\n"));
      ASSERT_NE(kernel, nullptr);
      if (reducer == "multiply" && type != "f32" && type != "f64") {
        ExpectRight(*kernel, {3, 2}, type == "ui8" ? 1e9 : 1e-6);  // May wrap around.
      } else {
        ExpectRight(*kernel, {5, 19}, type == "ui8" && reducer == "add" ? 1e9 : 1e-6);
      }
    }
  }
  for (const std::string_view reducer : {"and", "or"}) {
    const auto kernel = Compile(StrCat(
        "axes r c\noperand i32[c, r]\n%0 = load 0\n%1 = constant i32 0\n%2 = compare gt %0, %1\n",
        "result i1[r] = ", reducer, " c %2\nresult i1[c] = ", reducer,
        " r %2\nresult i1[] = ", reducer, " r c %2\n"));
    ASSERT_NE(kernel, nullptr);
    ExpectRight(*kernel, {4, 21}, 0);
    ExpectRight(*kernel, {0, 21}, 0);
  }
}

TEST(RunKernel, MaximaKeepNaN) {
  const auto kernel = Compile(
      "axes r c\noperand f32[r, c]\n%0 = load 0\nresult f32[r] = maximum c %0\n"
      "result f32[c] = minimum r %0\n");
  ASSERT_NE(kernel, nullptr);
  NumberArray operand = {.shape = {5, 40}, .numbers = std::vector<double>(200, 1.0)};
  operand.numbers[40 + 33] = std::nan("");
  const std::vector<NumberArray> results = RunOnNumbers(*kernel, {5, 40}, {operand});
  for (size_t row = 0; row < 5; ++row) {
    EXPECT_EQ(std::isnan(results[0].numbers[row]), row == 1) << row;
  }
  for (size_t column = 0; column < 40; ++column) {
    EXPECT_EQ(std::isnan(results[1].numbers[column]), column == 33) << column;
  }
}

TEST(RunKernel, PositionsOfTheBestColumns) {
  for (const std::string_view reducer : {"minimum", "maximum"}) {
    for (const std::string_view type : {"f32", "f64", "i32", "i8"}) {
      const auto kernel = Compile(StrCat(
          "axes r c s0=2\noperand ", type, "[r, c, s0]\noperand f32[c]\n%0 = load 0\n%1 = iota ",
          "i32 c\n%2 = load 1\nresult ", type, "[r, s0] = ", reducer, " c %0\n",
          "result i32[r, s0] = with 0 c %1\nresult f32[r, s0] = with 0 c %2\n"));
      ASSERT_NE(kernel, nullptr);
      // Of integers many are equal.
      for (const int64_t columns : {0, 1, 15, 40, 2049, 5000}) {
        ExpectRight(*kernel, {5, columns, 2}, 0);
      }
    }
  }
}

TEST(RunKernel, TheBestColumnsInOrder) {
  for (const std::string_view type : {"f32", "f64"}) {
    const auto kernel = Compile(
        StrCat("axes r c s0=2 t0=7\noperand ", type, "[c, r, s0]\n%0 = load 0\n%1 = iota i32 c\n",
               "result ", type, "[r, t0, s0] = top c %0\nresult i32[r, t0, s0] = with 0 c %1\n"));
    ASSERT_NE(kernel, nullptr);
    for (const int64_t rows : {1, 9}) {
      for (const int64_t columns : {7, 8, 33, 2049, 5000}) {
        ExpectRight(*kernel, {rows, columns, 2, 7}, 0);
      }
    }
  }
}

TEST(RunKernel, OfEqualValuesTheFirstIsBest) {
  const auto kernel = Compile(
      "axes r c t0=4\noperand f32[r, c]\n%0 = load 0\n%1 = iota i32 c\nresult f32[r, t0] = top c "
      "%0\nresult i32[r, t0] = with 0 c %1\n");
  ASSERT_NE(kernel, nullptr);
  const double least = -std::numeric_limits<double>::infinity();
  NumberArray operand = {.shape = {2, 70}, .numbers = std::vector<double>(140, least)};
  operand.numbers[70 + 33] = 2;
  operand.numbers[70 + 50] = std::nan("");
  operand.numbers[70 + 60] = 2;
  const std::vector<NumberArray> results = RunOnNumbers(*kernel, {2, 70, 4}, {operand});
  EXPECT_EQ(results[1].numbers, (std::vector<double>{0, 1, 2, 3, 50, 33, 60, 0}));
  EXPECT_TRUE(std::isnan(results[0].numbers[4]));
}

// Columns are not visited in order, and of equal values the first is best all the same.
TEST(RunKernel, TheBestColumnsOfSortedAndOfEqualValues) {
  const auto kernel = Compile(
      "axes r c t0=5\noperand f32[r, c]\n%0 = load 0\n%1 = iota i32 c\nresult f32[r, t0] = top c "
      "%0\nresult i32[r, t0] = with 0 c %1\n");
  ASSERT_NE(kernel, nullptr);
  constexpr int64_t kColumns = 9001;
  const std::vector<std::function<double(int64_t)>> orders = {
      [](int64_t column) { return static_cast<double>(column); },
      [](int64_t column) { return -static_cast<double>(column); },
      [](int64_t) { return 0.0; },
      [](int64_t column) { return column % 2 == 0 ? -0.0 : 0.0; },
      [](int64_t column) { return static_cast<double>(column % 3); },
      [](int64_t column) { return std::floor(static_cast<double>(column) / 1000); },
      [](int64_t column) { return column < 9000 ? -std::numeric_limits<double>::infinity() : 1; },
      [](int64_t column) { return column % 1000 == 7 ? std::nan("") : -1e-38; },
  };
  NumberArray operand = {.shape = {static_cast<int64_t>(orders.size()), kColumns}, .numbers = {}};
  for (const auto& order : orders) {
    for (int64_t column = 0; column < kColumns; ++column) operand.numbers.push_back(order(column));
  }
  const std::vector<NumberArray> results =
      RunOnNumbers(*kernel, {static_cast<int64_t>(orders.size()), kColumns, 5}, {operand});
  EXPECT_EQ(results[1].numbers, (std::vector<double>{9000, 8999, 8998, 8997, 8996,  //
                                                     0,    1,    2,    3,    4,     //
                                                     0,    1,    2,    3,    4,     //
                                                     1,    3,    5,    7,    9,     //
                                                     2,    5,    8,    11,   14,    //
                                                     9000, 8000, 8001, 8002, 8003,  //
                                                     9000, 0,    1,    2,    3,     //
                                                     7,    1007, 2007, 3007, 4007}));
}

// Added one after the other they would lose two digits more.
TEST(RunKernel, LongSumsOverRowsKeepTheirDigits) {
  const auto kernel = Compile(
      "axes r c\noperand f32[r]\noperand f32[c]\n%0 = load 0\n%1 = load 1\n"
      "%2 = multiply %0, %1\nresult f32[c] = add r %2\nresult f32[] = add r c %2\n");
  ASSERT_NE(kernel, nullptr);
  constexpr int64_t kRows = 1'000'003;
  const double tenth = 0.1F;
  const std::vector<NumberArray> operands = {
      {.shape = {kRows}, .numbers = std::vector<double>(kRows, tenth)},
      {.shape = {3}, .numbers = {1, 1, 1}}};
  const std::vector<NumberArray> results = RunOnNumbers(*kernel, {kRows, 3}, operands);
  for (const double sum : results[0].numbers) EXPECT_NEAR(sum / (kRows * tenth), 1, 4e-6);
  EXPECT_NEAR(results[1].numbers[0] / (3 * kRows * tenth), 1, 4e-6);
}

TEST(RunKernel, HalvesAreAddedInSinglePrecision) {
  for (const std::string_view type : {"bf16", "f16"}) {
    if (type == "f16" && !HostMachine().has_half) continue;
    const auto kernel = Compile(
        StrCat("axes r c\noperand ", type, "[r]\noperand ", type,
               "[c]\n%0 = load 0\n%1 = load 1\n%2 = multiply %0, %1\nresult f32[r] = add c %2\n",
               "result ", type, "[r, c] = %1\n"));
    ASSERT_NE(kernel, nullptr);
    const std::vector<NumberArray> operands = {
        {.shape = {1}, .numbers = {1}},
        {.shape = {3000}, .numbers = std::vector<double>(3000, 1.0)}};
    EXPECT_EQ(RunOnNumbers(*kernel, {1, 3000}, operands)[0].numbers[0], 3000);
    ExpectRight(*kernel, {7, 100}, 1e-5);
  }
}

TEST(RunKernel, ConstantsDivideAsXlaDoes) {
  // By 3, by 0 and by infinity.
  const auto kernel = Compile(R"(axes r c
operand f32[r, c]
%0 = load 0
%1 = constant f32 1077936128
%2 = divide %0, %1
%3 = constant f32 0
%4 = divide %0, %3
%5 = constant f32 2139095040
%6 = divide %0, %5
result f32[r, c] = %2
result f32[r, c] = %4
result f32[r, c] = %6
)");
  ASSERT_NE(kernel, nullptr);
  const std::vector<float> numbers = {1, -2, 0.1F, 5e-39F, 1e38F};
  const auto count = static_cast<int64_t>(numbers.size());
  const std::vector<NumberArray> results = RunOnNumbers(
      *kernel, {1, count}, {{.shape = {1, count}, .numbers = {numbers.begin(), numbers.end()}}});
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(static_cast<float>(results[0].numbers[i]), numbers[i] * (1 / 3.0F));
    EXPECT_EQ(results[1].numbers[i], numbers[i] / 0.0);
    EXPECT_EQ(results[2].numbers[i], 0);
  }
}

TEST(RunKernel, IntegersAreDividedAsXlaDoes) {
  const auto kernel = Compile(
      "axes r c\noperand i32[r]\noperand i32[c]\n%0 = load 0\n%1 = load 1\n%2 = divide %0, %1\n"
      "%3 = remainder %0, %1\nresult i32[r, c] = %2\nresult i32[r, c] = %3\n");
  ASSERT_NE(kernel, nullptr);
  constexpr double kLeast = -2147483648.0;
  const std::vector<NumberArray> results = RunOnNumbers(
      *kernel, {3, 4},
      {{.shape = {3}, .numbers = {7, -7, kLeast}}, {.shape = {4}, .numbers = {0, -1, 2, -3}}});
  EXPECT_EQ(results[0].numbers,
            (std::vector<double>{-1, -7, 3, -2, -1, 7, -3, 2, -1, kLeast, kLeast / 2, 715827882}));
  EXPECT_EQ(results[1].numbers, (std::vector<double>{7, 0, 1, 1, -7, 0, -1, -1, kLeast, 0, 0, -2}));
}

TEST(RunKernel, RefusesArraysThatDoNotFit) {
  const auto kernel = Compile(kGaussian);
  ASSERT_NE(kernel, nullptr);
  const int64_t rows[] = {4, 3};
  const int64_t columns[] = {5, 2};
  const int64_t vector[] = {5};
  const int64_t result[] = {4};
  EXPECT_THAT(
      std::string(
          AxisLengths(kernel->program, {rows, columns, vector}, {result}).status().message()),
      HasSubstr("an operand's shape"));
}

}  // namespace
}  // namespace plimsoll
