#include "kernels/cpu/emit_quotient.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/testing.h"

namespace plimsoll {
namespace {

using testing::Compile;
using testing::NumberArray;
using testing::RunOnNumbers;

// All numbers, divided by all divisors.
template <typename Number>
std::vector<Number> Quotients(const std::vector<double>& numbers,
                              const std::vector<double>& divisors) {
  const std::string_view type = sizeof(Number) == sizeof(float) ? "f32" : "f64";
  const auto kernel = Compile(StrCat("axes r c\noperand ", type, "[r]\noperand ", type,
                                     "[c]\n%0 = load 0\n%1 = load 1\n%2 = divide %1, %0\nresult ",
                                     type, "[r, c] = %2\n"));
  if (kernel == nullptr) return {};
  const auto rows = static_cast<int64_t>(divisors.size());
  const auto columns = static_cast<int64_t>(numbers.size());
  const std::vector<NumberArray> results = RunOnNumbers(
      *kernel, {rows, columns},
      {{.shape = {rows}, .numbers = divisors}, {.shape = {columns}, .numbers = numbers}});
  return {results[0].numbers.begin(), results[0].numbers.end()};
}

template <typename Number>
void ExpectNear(Number found, double number, double divisor) {
  const Number right = static_cast<Number>(number) / static_cast<Number>(divisor);
  if (std::isnan(right)) {
    EXPECT_TRUE(std::isnan(found)) << number << " / " << divisor;
  } else if (std::isinf(right) || right == 0) {
    EXPECT_EQ(found, right) << number << " / " << divisor;
    EXPECT_EQ(std::signbit(found), std::signbit(right)) << number << " / " << divisor;
  } else {
    const Number above = std::nextafter(right, std::numeric_limits<Number>::infinity());
    const Number below = std::nextafter(right, -std::numeric_limits<Number>::infinity());
    EXPECT_TRUE(found == right || found == above || found == below)
        << number << " / " << divisor << " is " << right << ", found " << found;
  }
}

template <typename Number>
class QuotientTest : public ::testing::Test {};

using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(QuotientTest, Numbers);

TYPED_TEST(QuotientTest, ZerosInfinitiesAndTheLargestAndSmallest) {
  using Limits = std::numeric_limits<TypeParam>;
  std::vector<double> numbers = {0,
                                 1,
                                 3,
                                 1e-30,
                                 1e30,
                                 0x1p64,
                                 0x1p-64,
                                 Limits::max(),
                                 Limits::min(),
                                 Limits::min() / 3,
                                 Limits::denorm_min(),
                                 Limits::infinity(),
                                 Limits::quiet_NaN()};
  const size_t count = numbers.size();
  for (size_t i = 0; i < count; ++i) numbers.push_back(-numbers[i]);
  const std::vector<TypeParam> found = Quotients<TypeParam>(numbers, numbers);
  ASSERT_EQ(found.size(), numbers.size() * numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (size_t j = 0; j < numbers.size(); ++j) {
      ExpectNear(found[i * numbers.size() + j], numbers[j], numbers[i]);
    }
  }
}

TYPED_TEST(QuotientTest, MostAreAsDivisionHasThem) {
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same numbers each time.
  std::uniform_real_distribution<double> significand(1, 2);
  std::uniform_int_distribution<int> exponent(-60, 60);
  const auto draw = [&](size_t count) {
    std::vector<double> numbers(count);
    for (double& number : numbers) {
      number = static_cast<TypeParam>(std::ldexp(significand(random), exponent(random)));
    }
    return numbers;
  };
  const std::vector<double> numbers = draw(1000);
  const std::vector<double> divisors = draw(101);
  const std::vector<TypeParam> found = Quotients<TypeParam>(numbers, divisors);
  ASSERT_EQ(found.size(), numbers.size() * divisors.size());
  size_t same = 0;
  for (size_t i = 0; i < divisors.size(); ++i) {
    for (size_t j = 0; j < numbers.size(); ++j) {
      const TypeParam one = found[i * numbers.size() + j];
      ExpectNear(one, numbers[j], divisors[i]);
      if (one == static_cast<TypeParam>(numbers[j]) / static_cast<TypeParam>(divisors[i])) ++same;
    }
  }
  EXPECT_GT(static_cast<double>(same), 0.99 * static_cast<double>(found.size()));
}

}  // namespace
}  // namespace plimsoll
