#include "kernels/cpu/long_sums.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ir/status.h"
#include "kernels/cpu/testing.h"

namespace plimsoll {
namespace {

using testing::Compile;
using testing::NumberArray;
using testing::RoundTo;
using testing::RunOnNumbers;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Number>
constexpr ScalarType kType = sizeof(Number) == sizeof(float) ? ScalarType::kF32 : ScalarType::kF64;

// The sums of a product of a row's number and a column's: over columns, over rows, and over all.
std::vector<NumberArray> SumsOf(ScalarType type, const std::vector<double>& rows,
                                const std::vector<double>& columns, int64_t threads = 1) {
  const std::string name = type == ScalarType::kF32 ? "f32" : "f64";
  const auto kernel = Compile(
      StrCat("axes r c\noperand ", name, "[r]\noperand ", name, "[c]\n%0 = load 0\n%1 = load 1\n",
             "%2 = multiply %0, %1\nresult ", name, "[r] = add c %2\nresult ", name,
             "[c] = add r %2\nresult ", name, "[] = add r c %2\n"));
  if (kernel == nullptr) return {};
  const auto row_count = static_cast<int64_t>(rows.size());
  const auto column_count = static_cast<int64_t>(columns.size());
  return RunOnNumbers(
      *kernel, {row_count, column_count},
      {{.shape = {row_count}, .numbers = rows}, {.shape = {column_count}, .numbers = columns}},
      threads);
}

template <typename Number>
class LongSumsTest : public ::testing::Test {};

using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LongSumsTest, Numbers);

// Each sum is rounded to the same side, which no order of single sums makes good.
TYPED_TEST(LongSumsTest, OfEqualNumbersKeepTheirDigits) {
  constexpr double kMostRoundings = 4;
  const double epsilon = std::numeric_limits<TypeParam>::epsilon();
  for (const auto& [rows, columns] : std::vector<std::pair<size_t, size_t>>{
           {7, 100003}, {100003, 7}, {2003, 4099}, {1, 20011}, {20011, 1}, {1, 1}}) {
    for (const double number : {0.7123457, 0.5123459, 0.9000001, 0.6180339}) {
      const double rounded = RoundTo(kType<TypeParam>, number);
      const std::vector<NumberArray> sums = SumsOf(
          kType<TypeParam>, std::vector<double>(rows, rounded), std::vector<double>(columns, 1));
      ASSERT_EQ(sums.size(), 3U);
      const double counts[] = {static_cast<double>(columns), static_cast<double>(rows),
                               static_cast<double>(rows * columns)};
      for (size_t i = 0; i < sums.size(); ++i) {
        const double right = rounded * counts[i];
        for (const double found : sums[i].numbers) {
          ASSERT_LE(std::abs(found - right), kMostRoundings * epsilon * right)
              << rows << " x " << columns << ", " << number << ", sum " << i << ": "
              << std::abs(found - right) / (epsilon * right);
        }
      }
    }
  }
}

// Where the best are wanted as well, columns are visited in a scattered order.
TYPED_TEST(LongSumsTest, BesideTheBestColumns) {
  const std::string name = kType<TypeParam> == ScalarType::kF32 ? "f32" : "f64";
  const auto kernel = Compile(StrCat("axes r c t0=2\noperand ", name, "[r]\noperand ", name,
                                     "[c]\n%0 = load 0\n%1 = load 1\n",
                                     "%2 = multiply %0, %1\n%3 = iota i32 c\nresult ", name,
                                     "[r, t0] = top c %2\nresult i32[r, t0]",
                                     " = with 0 c %3\nresult ", name, "[r] = add c %2\n"));
  ASSERT_NE(kernel, nullptr);
  for (const int64_t columns : {1, 31, 512, 2048, 5003, 20011}) {
    constexpr int64_t kRows = 7;
    const double number = RoundTo(kType<TypeParam>, 0.7123457);
    const std::vector<NumberArray> results = RunOnNumbers(
        *kernel, {kRows, columns, 2},
        {{.shape = {kRows}, .numbers = std::vector<double>(kRows, number)},
         {.shape = {columns}, .numbers = std::vector<double>(static_cast<size_t>(columns), 1)}});
    const double right = number * static_cast<double>(columns);
    for (const double found : results[2].numbers) {
      EXPECT_NEAR(found, right, 4 * std::numeric_limits<TypeParam>::epsilon() * right) << columns;
    }
  }
}

TYPED_TEST(LongSumsTest, AreTheSameForEveryNumberOfThreads) {
  std::vector<double> rows;
  for (int i = 0; i < 5003; ++i) rows.push_back(std::sin(i));
  std::vector<double> columns;
  for (int i = 0; i < 6007; ++i) columns.push_back(std::cos(i));
  const auto one = SumsOf(kType<TypeParam>, rows, columns);
  const auto three = SumsOf(kType<TypeParam>, rows, columns, 3);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].numbers, three[i].numbers);
}

TYPED_TEST(LongSumsTest, OfInfinitiesAreInfinite) {
  const double largest = std::numeric_limits<TypeParam>::max();
  std::vector<double> columns(10007, 1);
  for (const auto& [first, last, right] :
       std::vector<std::tuple<double, double, double>>{{kInfinity, 1, kInfinity},
                                                       {1, kInfinity, kInfinity},
                                                       {-kInfinity, -kInfinity, -kInfinity},
                                                       {largest, largest, kInfinity},
                                                       {-largest, -largest, -kInfinity}}) {
    columns.front() = first;
    columns.back() = last;
    const std::vector<NumberArray> sums = SumsOf(kType<TypeParam>, {1}, columns);
    EXPECT_EQ(sums[0].numbers[0], right) << first << " and " << last;
    EXPECT_EQ(sums[2].numbers[0], right) << first << " and " << last;
    // And over rows.
    const std::vector<NumberArray> turned = SumsOf(kType<TypeParam>, columns, {1});
    EXPECT_EQ(turned[1].numbers[0], right) << first << " and " << last;
    EXPECT_EQ(turned[2].numbers[0], right) << first << " and " << last;
  }
}

TYPED_TEST(LongSumsTest, OfWhatIsNoNumberAreNone) {
  std::vector<double> columns(10007, 1);
  columns.back() = -kInfinity;
  for (const double first : {kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    columns.front() = first;
    const std::vector<NumberArray> sums = SumsOf(kType<TypeParam>, {1, 1}, columns);
    EXPECT_TRUE(std::isnan(sums[0].numbers[1]));
    EXPECT_TRUE(std::isnan(sums[2].numbers[0]));
  }
}

TYPED_TEST(LongSumsTest, GoOnFromWhatIsInMemory) {
  constexpr int64_t kCount = 1'000'003;
  const auto number = static_cast<TypeParam>(0.1);
  TypeParam sums[] = {0, -1, 0};
  TypeParam compensations[] = {0, 0};
  const TypeParam numbers[] = {number, -number};
  for (int64_t i = 0; i < kCount; ++i) {
    AddCompensated(kType<TypeParam>, sums, 2, compensations, 1, numbers, 2);
  }
  const auto right = static_cast<TypeParam>(static_cast<double>(number) * kCount);
  EXPECT_EQ(sums[0], right);
  EXPECT_EQ(sums[1], -1);
  EXPECT_EQ(sums[2], -right);
}

}  // namespace
}  // namespace plimsoll
