#include "rewrite/integer_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::Rewrite;
using ::plimsoll::testing::Rewritten;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kType = "200x300xui32";

// 300 rows + columns, as positions are counted.
constexpr std::string_view kPositions = R"(
  %r = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<200x300xui64>
  %c = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<200x300xui64>
  %a = "stablehlo.constant"() <{value = dense<300> : tensor<200x300xui64>}> : () -> tensor<200x300xui64>
  %b = "stablehlo.constant"() <{value = dense<1> : tensor<200x300xui64>}> : () -> tensor<200x300xui64>
  %d = "stablehlo.multiply"(%a, %r) : (tensor<200x300xui64>, tensor<200x300xui64>) -> tensor<200x300xui64>
  %e = "stablehlo.multiply"(%b, %c) : (tensor<200x300xui64>, tensor<200x300xui64>) -> tensor<200x300xui64>
  %p = "stablehlo.add"(%d, %e) : (tensor<200x300xui64>, tensor<200x300xui64>) -> tensor<200x300xui64>
)";

TEST(NarrowIntegers, MakesPositionsWithFewerBits) {
  const Rewritten rewritten = Rewrite(
      IntegerRules(), {kType},
      StrCat(kPositions,
             R"(%n = "stablehlo.convert"(%p) : (tensor<200x300xui64>) -> tensor<200x300xui32>)"),
      {{"%n", kType}});
  EXPECT_THAT(rewritten.fired(), ElementsAre("narrow_integers"));
  EXPECT_THAT(rewritten.body, Not(HasSubstr("ui64")));
  EXPECT_THAT(rewritten.body, HasSubstr("dense<300> : tensor<200x300xui32>"));
  // Not times one.
  EXPECT_THAT(rewritten.body, Not(HasSubstr("dense<1>")));
}

TEST(NarrowIntegers, TakesTheLowerBitsOfConstants) {
  const Rewritten rewritten = Rewrite(IntegerRules(), {"200x300xi64"}, R"(
  %a = "stablehlo.constant"() <{value = dense<4294967299> : tensor<200x300xi64>}> : () -> tensor<200x300xi64>
  %b = "stablehlo.constant"() <{value = dense<-1> : tensor<200x300xi64>}> : () -> tensor<200x300xi64>
  %c = "stablehlo.multiply"(%0, %a) : (tensor<200x300xi64>, tensor<200x300xi64>) -> tensor<200x300xi64>
  %d = "stablehlo.add"(%c, %b) : (tensor<200x300xi64>, tensor<200x300xi64>) -> tensor<200x300xi64>
  %n = "stablehlo.convert"(%d) : (tensor<200x300xi64>) -> tensor<200x300xui32>)",
                                      {{"%n", kType}}, {.goal = RuleGoal::kSpace});
  EXPECT_THAT(rewritten.fired(), ElementsAre("narrow_integers"));
  EXPECT_THAT(rewritten.body, HasSubstr("dense<3> : tensor<200x300xui32>"));
  EXPECT_THAT(rewritten.body, HasSubstr("dense<4294967295> : tensor<200x300xui32>"));
}

TEST(NarrowIntegers, LeavesWhatOthersNeed) {
  const Rewritten rewritten = Rewrite(
      IntegerRules(), {kType},
      StrCat(kPositions,
             R"(%n = "stablehlo.convert"(%p) : (tensor<200x300xui64>) -> tensor<200x300xui32>)"),
      {{"%n", kType}, {"%p", "200x300xui64"}});
  EXPECT_THAT(rewritten.fired(), IsEmpty());
}

// A constant of more bits than a double has, and quotients, whose lower bits are their own.
TEST(NarrowIntegers, LeavesWhatIsNotOfLowerBits) {
  for (const std::string_view op : {"divide", "shift_right_logical"}) {
    const Rewritten rewritten = Rewrite(
        IntegerRules(), {"200x300xui64"},
        StrCat(R"(%c = "stablehlo.)", op,
               R"("(%0, %0) : (tensor<200x300xui64>, tensor<200x300xui64>) -> tensor<200x300xui64>
  %n = "stablehlo.convert"(%c) : (tensor<200x300xui64>) -> tensor<200x300xui32>)"),
        {{"%n", kType}});
    EXPECT_THAT(rewritten.fired(), IsEmpty());
  }
  const Rewritten rewritten = Rewrite(IntegerRules(), {kType}, R"(
  %a = "stablehlo.constant"() <{value = dense<9007199254740993> : tensor<200x300xui64>}> : () -> tensor<200x300xui64>
  %n = "stablehlo.convert"(%a) : (tensor<200x300xui64>) -> tensor<200x300xui32>)",
                                      {{"%n", kType}});
  EXPECT_THAT(rewritten.body, Not(HasSubstr("dense<0>")));
}

std::string Shifted(std::string_view distance) {
  return StrCat(kPositions, R"(%s = "stablehlo.constant"() <{value = dense<)", distance,
                R"(> : tensor<200x300xui64>}> : () -> tensor<200x300xui64>
  %n = "stablehlo.shift_right_logical"(%p, %s) : (tensor<200x300xui64>, tensor<200x300xui64>) -> tensor<200x300xui64>)");
}

TEST(ShiftToZero, FindsTheUpperHalfOfPositions) {
  const Rewritten rewritten =
      Rewrite(IntegerRules(), {kType}, Shifted("16"), {{"%n", "200x300xui64"}});
  EXPECT_THAT(rewritten.fired(), ElementsAre("shift_to_zero"));
  EXPECT_THAT(rewritten.body, HasSubstr("dense<0> : tensor<200x300xui64>"));
}

TEST(ShiftToZero, LeavesBitsThatMayBeThere) {
  // 59,999 is below 2^16 and not below 2^15.
  EXPECT_THAT(Rewrite(IntegerRules(), {kType}, Shifted("15"), {{"%n", "200x300xui64"}}).fired(),
              IsEmpty());
}

}  // namespace
}  // namespace plimsoll
