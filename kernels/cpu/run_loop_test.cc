#include "kernels/cpu/run_loop.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/loop_cost.h"
#include "kernels/cpu/testing.h"

namespace plimsoll {
namespace {

using testing::CompileLoopText;
using ::testing::ElementsAre;
using testing::Evaluate;
using ::testing::HasSubstr;
using testing::NumberArray;
using testing::RunOnNumbers;

// x becomes x * x + the step's number, n times, and each turn's value is written.
constexpr std::string_view kSquares = R"(loop
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
%11 = constant f32 3212836864
next %3 = %8
next %4 = %10
while %5
result f32[b] = %3
result f32[b, t, 2] at %4 fill %11 = %6, %8
result i32[] = %4
)";

NumberArray Scalar(double number) { return {.shape = {}, .numbers = {number}}; }

TEST(RunLoop, TurnsAsOftenAsItsConditionSays) {
  const auto loop = CompileLoopText(kSquares);
  ASSERT_NE(loop, nullptr);
  const NumberArray x = {.shape = {3}, .numbers = {1, 2, 0}};
  const NumberArray steps = {.shape = {2}, .numbers = {10, 20}};
  const std::vector<NumberArray> two = RunOnNumbers(*loop, 3, 2, {x, steps, Scalar(2)});
  EXPECT_THAT(two[0].numbers, ElementsAre(141, 216, 120));
  EXPECT_THAT(two[1].numbers, ElementsAre(1, 11, 121, 141, 4, 14, 196, 216, 0, 10, 100, 120));
  EXPECT_THAT(two[2].numbers, ElementsAre(2));
  const std::vector<NumberArray> none = RunOnNumbers(*loop, 3, 2, {x, steps, Scalar(0)});
  EXPECT_THAT(none[0].numbers, ElementsAre(1, 2, 0));
  EXPECT_THAT(none[1].numbers, ::testing::Each(-1));
  EXPECT_THAT(none[2].numbers, ElementsAre(0));
}

TEST(RunLoop, StepsBehindTheLastAreTheLast) {
  const auto loop = CompileLoopText(kSquares);
  ASSERT_NE(loop, nullptr);
  const NumberArray x = {.shape = {1}, .numbers = {1}};
  const NumberArray steps = {.shape = {1}, .numbers = {1}};
  const std::vector<NumberArray> results = RunOnNumbers(*loop, 1, 1, {x, steps, Scalar(3)});
  EXPECT_THAT(results[0].numbers, ElementsAre(26));
  EXPECT_THAT(results[1].numbers, ElementsAre(25, 26));
}

TEST(RunLoop, WhatDoesNotVaryIsMadeWithoutABatch) {
  const auto loop = CompileLoopText(kSquares);
  ASSERT_NE(loop, nullptr);
  const NumberArray x = {.shape = {0}, .numbers = {}};
  const NumberArray steps = {.shape = {2}, .numbers = {1, 2}};
  EXPECT_THAT(RunOnNumbers(*loop, 0, 2, {x, steps, Scalar(9)})[2].numbers, ElementsAre(9));
}

// How often a number can be halved before it is at most 1.
constexpr std::string_view kHalvings = R"(loop
operand f32[b]
operand i32[]
%0 = load 0 0
%1 = constant i32 0
%2 = state f32[b] %0
%3 = state i32[b] %1
%4 = constant f32 1065353216
%5 = compare gt %2, %4
%6 = constant f32 1056964608
%7 = multiply %2, %6
%8 = select %5, %7, %2
%9 = constant i32 1
%10 = add %3, %9
%11 = select %5, %10, %3
%12 = load 1 0
next %2 = %8
next %3 = %11
while %5
result i32[b] = %3
result i32[] = %12
)";

TEST(RunLoop, ElementsHaveEndsOfTheirOwn) {
  const auto loop = CompileLoopText(kHalvings);
  ASSERT_NE(loop, nullptr);
  NumberArray x = {.shape = {203}, .numbers = {}};
  for (int i = 0; i < 203; ++i) x.numbers.push_back(std::ldexp(1.0, i % 31));
  const std::vector<NumberArray> results = RunOnNumbers(*loop, 203, 1, {x, Scalar(9)}, 2);
  for (size_t i = 0; i < 203; ++i) EXPECT_EQ(results[0].numbers[i], static_cast<int>(i) % 31);
  EXPECT_THAT(results[1].numbers, ElementsAre(9));
  EXPECT_EQ(results[0].numbers, Evaluate(loop->program, 203, 1, {x, Scalar(9)})[0].numbers);
}

// x becomes the tanh of the tanh of ... of x.
std::string ManyFunctions(int count) {
  std::string text =
      "loop\noperand f32[b]\noperand i32[]\n%0 = load 0 0\n%1 = load 1 0\n"
      "%2 = constant i32 0\n%3 = state f32[b] %0\n%4 = state i32 %2\n"
      "%5 = compare lt %4, %1\n%6 = constant i32 1\n%7 = add %4, %6\n";
  for (int i = 0; i < count; ++i) {
    text += StrCat("%", i + 8, " = tanh %", i == 0 ? 3 : i + 7, "\n");
  }
  return text + StrCat("next %3 = %", count + 7, "\nnext %4 = %7\nwhile %5\nresult f32[b] = %3\n");
}

TEST(RunLoop, RefusesWhatLlvmWouldTakeSecondsFor) {
  for (const int count : {50, 300}) {
    const StatusOr<LoopProgram> program = ReadLoop(ManyFunctions(count));
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    const StatusOr<KernelCost> cost = LoopCostOnCpu(*program, 1000, 100);
    EXPECT_EQ(cost.ok(), count == 50);
    if (!cost.ok()) EXPECT_EQ(cost.status().code(), ErrorCode::kNotUnderstood);
  }
}

TEST(RunLoop, RefusesArraysThatDoNotFit) {
  const auto loop = CompileLoopText(kSquares);
  ASSERT_NE(loop, nullptr);
  const auto run = [](int64_t, int64_t, RunTask) { FAIL(); };
  EXPECT_THAT(std::string(RunLoop(*loop, {}, {}, 1, run).message()), HasSubstr("their number"));
  float number = 0;
  const std::vector<int64_t> wrong = {2, 3};
  const KernelArray array = {.data = &number, .shape = wrong};
  EXPECT_THAT(
      std::string(RunLoop(*loop, {array, array, array}, {array, array, array}, 1, run).message()),
      HasSubstr("an array's shape"));
}

}  // namespace
}  // namespace plimsoll
