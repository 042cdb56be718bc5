#include "kernels/running_maxima.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::IsEmpty;
using ::testing::Optional;

// Scores with their maximum, a stage that is given the scores as %0 and the maximum as %1, the sum
// of what it ends in, and a product of that with values.
std::string Text(std::string_view body, int last, std::string_view reducer = "maximum") {
  return StrCat(R"(stages
stage r argument 0, argument 1 -> result 0, panel 0
axes r c l0
operand f32[r, l0]
operand f32[c, l0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[r] = )",
                reducer, R"( c %3
result f32[r, c] = %3
stage r panel 0, result 0, argument 2 -> result 1, panel 1
axes r c
operand f32[r, c]
operand f32[r]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = load 2
)",
                body, "result f32[r] = add c %", last, "\nresult f32[r, c] = %", last, R"(
stage r panel 1, argument 3 -> result 2
axes r c l0
operand f32[r, l0]
operand f32[l0, c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[r, c] = add %3
)");
}

std::optional<std::vector<RunningMaximum>> Find(const std::string& text) {
  const StatusOr<StagedProgram> program = ReadStages(text);
  EXPECT_TRUE(program.ok()) << program.status().ToString() << text;
  if (!program.ok()) return std::nullopt;
  return FindRunningMaxima(*program);
}

// Both sums are in proportion to exp(-power * maximum).
std::vector<RunningMaximum> WithPower(double power) {
  return {{.stage = 0,
           .result = 0,
           .sums = {{.stage = 1, .result = 0, .power = power},
                    {.stage = 2, .result = 0, .power = power}}}};
}

TEST(FindRunningMaxima, FindsThatOfASoftmax) {
  EXPECT_THAT(Find(Text("%3 = subtract %0, %1\n%4 = exponential %3\n", 4)), Optional(WithPower(1)));
}

TEST(FindRunningMaxima, KnowsAMaximumThatBeginsWithNothing) {
  const std::string body = "%3 = constant f32 4286578688\n%4 = maximum %3, %1\n";
  EXPECT_THAT(Find(Text(body + "%5 = subtract %0, %4\n%6 = exponential %5\n", 6)),
              Optional(WithPower(1)));
  // Zero may be larger than the maximum.
  const std::string zero = "%3 = constant f32 0\n%4 = maximum %3, %1\n";
  EXPECT_EQ(Find(Text(zero + "%5 = subtract %0, %4\n%6 = exponential %5\n", 6)), std::nullopt);
}

TEST(FindRunningMaxima, CountsFactors) {
  EXPECT_THAT(Find(Text("%3 = subtract %1, %0\n%4 = constant f32 3221225472\n"
                        "%5 = multiply %4, %3\n%6 = exponential %5\n%7 = multiply %6, %6\n",
                        7)),
              Optional(WithPower(4)));
}

TEST(FindRunningMaxima, LeavesWhatItIsTimes) {
  EXPECT_THAT(Find(Text("%3 = subtract %0, %1\n%4 = exponential %3\n%5 = multiply %4, %2\n"
                        "%6 = divide %5, %2\n%7 = negate %6\n%8 = add %6, %7\n",
                        8)),
              Optional(WithPower(1)));
}

TEST(FindRunningMaxima, KnowsTheGuardOfALogarithm) {
  EXPECT_THAT(Find(Text("%3 = is_finite %1\n%4 = constant f32 0\n%5 = select %3, %1, %4\n"
                        "%6 = subtract %0, %5\n%7 = exponential %6\n",
                        7)),
              Optional(WithPower(1)));
}

TEST(FindRunningMaxima, TakesNothingForAnyProportion) {
  EXPECT_THAT(Find(Text("%3 = compare ge %2, %2\n%4 = constant f32 4286578688\n"
                        "%5 = subtract %0, %1\n%6 = select %3, %5, %4\n%7 = exponential %6\n"
                        "%8 = constant f32 0\n%9 = select %3, %8, %7\n",
                        9)),
              Optional(WithPower(1)));
}

TEST(FindRunningMaxima, NeedsNoneWhereNoResultIsRead) {
  std::string text = Text("%3 = multiply %0, %2\n", 3);
  for (const std::string_view part : {", result 0", "operand f32[r]\noperand f32[c]\n"}) {
    text.erase(text.find(part), part.starts_with(',') ? part.size() : 15);
  }
  text.replace(text.find("%1 = load 1\n%2 = load 2\n%3 = multiply %0, %2"), 44,
               "%1 = load 1\n%2 = multiply %0, %1");
  text.replace(text.find("add c %3"), 8, "add c %2");
  text.replace(text.rfind("result f32[r, c] = %3"), 21, "result f32[r, c] = %2");
  EXPECT_THAT(Find(text), Optional(IsEmpty()));
}

TEST(FindRunningMaxima, RefusesWhatIsNoExponentialOfADistanceBelowIt) {
  // The distance itself, its square root, and one that grows.
  EXPECT_EQ(Find(Text("%3 = subtract %0, %1\n", 3)), std::nullopt);
  EXPECT_EQ(Find(Text("%3 = subtract %1, %0\n%4 = sqrt %3\n", 4)), std::nullopt);
  EXPECT_EQ(Find(Text("%3 = subtract %1, %0\n%4 = exponential %3\n", 4)), std::nullopt);
  // Other numbers may be far above the maximum as it is so far.
  EXPECT_EQ(Find(Text("%3 = subtract %2, %1\n%4 = exponential %3\n", 4)), std::nullopt);
  EXPECT_EQ(Find(Text("%3 = subtract %0, %1\n%4 = add %3, %2\n%5 = exponential %4\n", 5)),
            std::nullopt);
  // Of several proportions.
  EXPECT_EQ(Find(Text("%3 = subtract %0, %1\n%4 = exponential %3\n%5 = add %4, %2\n", 5)),
            std::nullopt);
  EXPECT_EQ(Find(Text("%3 = subtract %0, %1\n%4 = exponential %3\n%5 = divide %2, %4\n", 5)),
            std::nullopt);
}

TEST(FindRunningMaxima, RefusesOtherResults) {
  const std::string_view body = "%3 = subtract %0, %1\n%4 = exponential %3\n";
  EXPECT_EQ(Find(Text(body, 4, "minimum")), std::nullopt);
  EXPECT_EQ(Find(Text(body, 4, "add")), std::nullopt);
}

TEST(FindRunningMaxima, RefusesWhatIsNoSumOfColumns) {
  const std::string text = Text("%3 = subtract %0, %1\n%4 = exponential %3\n", 4);
  std::string largest = text;
  largest.replace(largest.find("add c %4"), 8, "maximum c %4");
  EXPECT_EQ(Find(largest), std::nullopt);
  std::string of_rows = text;
  of_rows.replace(of_rows.find("stage r panel 1"), 15, "stage l0 panel 1");
  of_rows.replace(of_rows.rfind("f32[r, l0]"), 10, "f32[l0, r]");
  EXPECT_EQ(Find(of_rows), std::nullopt);
}

}  // namespace
}  // namespace plimsoll
