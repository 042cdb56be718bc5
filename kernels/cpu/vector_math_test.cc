#include "kernels/cpu/vector_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "ir/status.h"
#include "kernels/cpu/testing.h"

namespace plimsoll {
namespace {

using testing::Compile;
using testing::NumberArray;
using testing::RunOnNumbers;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Every so many-th f32 of all, from a different one each time, and the special ones.
std::vector<double> FloatsOfAllSizes() {
  std::vector<double> numbers = {0.0, -0.0, kInfinity, -kInfinity, std::nan("")};
  constexpr uint64_t kStep = 9973;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += kStep) {
    const auto number = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (!std::isnan(number)) numbers.push_back(number);
  }
  // Where most arguments are.
  for (int i = -100000; i <= 100000; ++i) numbers.push_back(static_cast<float>(i * 1e-3));
  return numbers;
}

std::vector<double> DoublesOfAllSizes() {
  std::vector<double> numbers = {0.0, -0.0, kInfinity, -kInfinity, std::nan("")};
  constexpr uint64_t kStep = 0x0003'1234'5678'9ABD;
  for (uint64_t i = 0; i < 20000; ++i) {
    const auto number = std::bit_cast<double>(i * kStep * 1000003);
    if (!std::isnan(number)) numbers.push_back(number);
  }
  for (int i = -100000; i <= 100000; ++i) numbers.push_back(i * 1e-3);
  return numbers;
}

// More digits than the results have. NOLINTBEGIN(google-runtime-float)

// The distance between neighbours at that number.
long double UnitInLastPlace(long double number, bool is_f64) {
  const int digits = is_f64 ? 53 : 24;
  const int least = is_f64 ? -1074 : -149;
  if (number == 0) return std::ldexp(1.0L, least);
  return std::ldexp(1.0L, std::max(std::ilogb(number) - digits + 1, least));
}

struct Worst {
  double error = 0;
  double at = 0;
};

// The largest error in units in the last place, where infinities and NaN must be right.
template <typename Function>
Worst WorstError(std::string_view op, bool is_f64, const std::vector<double>& arguments,
                 Function function) {
  const std::string_view type = is_f64 ? "f64" : "f32";
  const auto kernel = Compile(StrCat("axes r c\noperand ", type, "[r, c]\n%0 = load 0\n%1 = ", op,
                                     " %0\nresult ", type, "[r, c] = %1\n"));
  if (kernel == nullptr) return {.error = kInfinity};
  const auto count = static_cast<int64_t>(arguments.size());
  const NumberArray operand = {.shape = {1, count}, .numbers = arguments};
  const std::vector<NumberArray> results = RunOnNumbers(*kernel, {1, count}, {operand});
  Worst worst;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const long double exact = function(static_cast<long double>(arguments[i]));
    const double rounded = is_f64 ? static_cast<double>(exact) : static_cast<float>(exact);
    const double found = results[0].numbers[i];
    double error = 0;
    if (std::isnan(rounded) || std::isinf(rounded)) {
      const bool is_right = std::isnan(rounded) ? std::isnan(found) : found == rounded;
      error = is_right ? 0 : kInfinity;
    } else {
      error = std::isnan(found) || std::isinf(found)
                  ? kInfinity
                  : static_cast<double>(std::abs(found - exact) / UnitInLastPlace(exact, is_f64));
    }
    if (error > worst.error) worst = {.error = error, .at = arguments[i]};
  }
  return worst;
}

#define EXPECT_WITHIN(most, op, is_f64, function)                                              \
  do {                                                                                         \
    const Worst worst =                                                                        \
        WorstError(op, is_f64, (is_f64) ? DoublesOfAllSizes() : FloatsOfAllSizes(), function); \
    EXPECT_LE(worst.error, most) << op << " at " << worst.at;                                  \
    RecordProperty(op, std::to_string(worst.error));                                           \
  } while (false)

TEST(VectorMath, SinglePrecision) {
  EXPECT_WITHIN(1.1, "exponential", false, [](long double x) { return std::exp(x); });
  EXPECT_WITHIN(1.5, "log", false, [](long double x) { return std::log(x); });
  EXPECT_WITHIN(2.0, "exponential_minus_one", false, [](long double x) { return std::expm1(x); });
  EXPECT_WITHIN(2.0, "log_plus_one", false, [](long double x) { return std::log1p(x); });
  EXPECT_WITHIN(3.0, "tanh", false, [](long double x) { return std::tanh(x); });
  EXPECT_WITHIN(2.0, "sine", false, [](long double x) { return std::sin(x); });
  EXPECT_WITHIN(2.0, "cosine", false, [](long double x) { return std::cos(x); });
  EXPECT_WITHIN(4.0, "chlo.erf", false, [](long double x) { return std::erf(x); });
  EXPECT_WITHIN(0.5, "sqrt", false, [](long double x) { return std::sqrt(x); });
  EXPECT_WITHIN(1.5, "rsqrt", false, [](long double x) { return 1 / std::sqrt(x); });
  EXPECT_WITHIN(1.0, "cbrt", false, [](long double x) { return std::cbrt(x); });
  EXPECT_WITHIN(0.5, "floor", false, [](long double x) { return std::floor(x); });
}

TEST(VectorMath, DoublePrecision) {
  EXPECT_WITHIN(1.5, "exponential", true, [](long double x) { return std::exp(x); });
  EXPECT_WITHIN(1.5, "log", true, [](long double x) { return std::log(x); });
  EXPECT_WITHIN(2.0, "exponential_minus_one", true, [](long double x) { return std::expm1(x); });
  EXPECT_WITHIN(2.0, "log_plus_one", true, [](long double x) { return std::log1p(x); });
  EXPECT_WITHIN(3.0, "tanh", true, [](long double x) { return std::tanh(x); });
  EXPECT_WITHIN(2.0, "sine", true, [](long double x) { return std::sin(x); });
  EXPECT_WITHIN(2.0, "cosine", true, [](long double x) { return std::cos(x); });
  EXPECT_WITHIN(1.0, "chlo.erf", true, [](long double x) { return std::erf(x); });
}

TEST(VectorMath, LogisticFunction) {
  // Where it is subnormal the exponential overflows, and 0 is as near as XLA comes.
  std::vector<double> arguments;
  for (int i = -87000; i <= 100000; ++i) arguments.push_back(static_cast<float>(i * 1e-3));
  const Worst worst = WorstError("logistic", false, arguments,
                                 [](long double x) { return 1 / (1 + std::exp(-x)); });
  EXPECT_LE(worst.error, 3.0) << worst.at;
}

// By Newton's method, from XLA's kind of approximation on.
long double InverseErrorFunction(long double x) {
  if (std::abs(x) == 1) return x * std::numeric_limits<long double>::infinity();
  if (std::abs(x) > 1) return std::numeric_limits<long double>::quiet_NaN();
  // erfc keeps digits where erf is close to 1.
  const long double a = std::abs(x);
  long double y = std::sqrt(-std::log((1 - a) * (1 + a)));
  for (int i = 0; i < 60; ++i) {
    const long double rest = a < 0.5L ? a - std::erf(y) : std::erfc(y) - (1 - a);
    y += rest / (std::numbers::inv_sqrtpi_v<long double> * 2 * std::exp(-y * y));
  }
  return std::copysign(y, x);
}

TEST(VectorMath, InverseErrorFunction) {
  std::vector<double> arguments = {0.0, -0.0, 1, -1, 1.5, -kInfinity, std::nan("")};
  for (int i = -20000; i <= 20000; ++i) arguments.push_back(static_cast<float>(i / 20001.0));
  for (int i = 1; i < 24; ++i) {
    for (const double factor : {1.0, 1.3, 1.9}) {
      arguments.push_back(static_cast<float>(1 - factor * std::ldexp(1.0, -i - 1)));
      arguments.push_back(static_cast<float>(std::ldexp(factor, -i)));
    }
  }
  const Worst single = WorstError("chlo.erf_inv", false, arguments, InverseErrorFunction);
  EXPECT_LE(single.error, 6.0) << single.at;
  RecordProperty("chlo.erf_inv", std::to_string(single.error));
  for (int i = 24; i < 53; ++i) arguments.push_back(1 - std::ldexp(1.0, -i));
  const Worst twice = WorstError("chlo.erf_inv", true, arguments, InverseErrorFunction);
  EXPECT_LE(twice.error, 6.0) << twice.at;
  RecordProperty("chlo.erf_inv of f64", std::to_string(twice.error));
}

TEST(VectorMath, Power) {
  const auto kernel = Compile(
      "axes r c\noperand f32[r]\noperand f32[c]\n%0 = load 0\n%1 = load 1\n%2 = power %0, %1\n"
      "result f32[r, c] = %2\n");
  ASSERT_NE(kernel, nullptr);
  std::vector<double> numbers = {0.0,  -0.0,  1,         -1,         0.5,         -0.5,  2,
                                 -2,   3,     -3,        7.25,       -7.25,       1e-30, -1e-30,
                                 1e30, -1e30, kInfinity, -kInfinity, std::nan("")};
  for (double& number : numbers) number = static_cast<float>(number);
  const auto count = static_cast<int64_t>(numbers.size());
  const NumberArray operand = {.shape = {count}, .numbers = numbers};
  const std::vector<NumberArray> results =
      RunOnNumbers(*kernel, {count, count}, {operand, operand});
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (size_t j = 0; j < numbers.size(); ++j) {
      const double exact = std::pow(numbers[i], numbers[j]);
      const double found = results[0].numbers[i * numbers.size() + j];
      const auto rounded = static_cast<float>(exact);
      if (std::isnan(rounded)) {
        EXPECT_TRUE(std::isnan(found)) << numbers[i] << " ^ " << numbers[j] << " = " << found;
      } else if (std::isinf(rounded)) {
        EXPECT_EQ(found, rounded) << numbers[i] << " ^ " << numbers[j];
      } else {
        EXPECT_LE(std::abs(found - exact), UnitInLastPlace(exact, false))
            << numbers[i] << " ^ " << numbers[j] << " = " << found;
      }
    }
  }
}

// NOLINTEND(google-runtime-float)

}  // namespace
}  // namespace plimsoll
