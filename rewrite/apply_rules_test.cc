#include "rewrite/apply_rules.h"

#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::Rewrite;
using ::plimsoll::testing::Rewritten;

// -(-x) is x.
Builder::Values DropTwoNegations(RuleScope& scope) {
  const Op* inner = scope.op().Is(Opcode::kNegate) ? scope.op().operand(0)->defining_op() : nullptr;
  if (inner == nullptr || !inner->Is(Opcode::kNegate)) return {};
  return {inner->operand(0)};
}

// |x| is more work in two steps.
Builder::Values MakeWorse(RuleScope& scope) {
  if (!scope.op().Is(Opcode::kAbs)) return {};
  Value* x = scope.op().operand(0);
  return {scope.builder().Maximum(x, scope.builder().Negate(x))};
}

Builder::Values RefuseNegations(RuleScope& scope) {
  if (!scope.op().Is(Opcode::kNegate)) return {};
  return scope.Refuse("it is a test");
}

// All negations of one value become one subtraction, which pays only for several.
Builder::Values NegateOnce(RuleScope& scope) {
  if (!scope.op().Is(Opcode::kNegate)) return {};
  Value* x = scope.op().operand(0);
  Value* zero = scope.builder().Constant(x->type(), 0);
  Value* negated = scope.builder().Subtract(zero, x);
  for (Op* user : x->users()) {
    if (user != &scope.op() && user->Is(Opcode::kNegate)) {
      scope.AlsoReplace(user->result(0), negated);
    }
  }
  return {negated};
}

constexpr Rule kOnce = {.name = "once", .rewrite = NegateOnce};
// Something between two values is taken for the value.
Builder::Values DropClamp(RuleScope& scope) {
  if (!scope.op().Is(Opcode::kClamp)) return {};
  return {scope.op().operand(1)};
}

constexpr Rule kSame = {.name = "same", .rewrite = DropClamp};
constexpr Rule kDrop = {.name = "drop", .rewrite = DropTwoNegations};
constexpr Rule kRewriting = {
    .name = "drop", .numerics = Numerics::kRewrites, .rewrite = DropTwoNegations};
constexpr Rule kWorse = {.name = "worse", .rewrite = MakeWorse};
constexpr Rule kRefusing = {.name = "refusing", .rewrite = RefuseNegations};

constexpr std::string_view kFourTimes = R"(
  %a = "stablehlo.negate"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.negate"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = "stablehlo.negate"(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %d = "stablehlo.negate"(%c) : (tensor<8xf32>) -> tensor<8xf32>)";

TEST(ApplyRulesTest, AppliesUntilNothingIsLeft) {
  const Rewritten rewritten = Rewrite(kDrop, {"8xf32"}, kFourTimes, {{"%d", "8xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8xf32>):
  "func.return"(%arg0) : (tensor<8xf32>) -> ()
)");
  EXPECT_EQ(rewritten.fired(), (std::vector<std::string_view>{"drop", "drop"}));
}

TEST(ApplyRulesTest, LeavesWhatIsUsedElsewhere) {
  const Rewritten rewritten =
      Rewrite(kDrop, {"8xf32"}, kFourTimes, {{"%a", "8xf32"}, {"%b", "8xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8xf32>):
  %0 = "stablehlo.negate"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  "func.return"(%0, %arg0) : (tensor<8xf32>, tensor<8xf32>) -> ()
)");
}

// What goes and what takes its place have an operand in common.
TEST(ApplyRulesTest, WhatAReplacementUsesStays) {
  const Rewritten rewritten = Rewrite(kSame, {"8xf32"}, R"(
  %a = "stablehlo.abs"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.add"(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %c = "stablehlo.clamp"(%a, %b, %a) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>)",
                                      {{"%c", "8xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8xf32>):
  %0 = "stablehlo.abs"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "stablehlo.add"(%0, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  "func.return"(%1) : (tensor<8xf32>) -> ()
)");
}

TEST(ApplyRulesTest, WhatIsWorseIsTakenBackAndTold) {
  const Rewritten rewritten = Rewrite(kWorse, {"8xf32"},
                                      R"(
  %a = "stablehlo.abs"(%0) : (tensor<8xf32>) -> tensor<8xf32>)",
                                      {{"%a", "8xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8xf32>):
  %0 = "stablehlo.abs"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  "func.return"(%0) : (tensor<8xf32>) -> ()
)");
  EXPECT_EQ(rewritten.refused(),
            std::vector<std::string>{"worse: it would not take less time or memory"});
}

TEST(ApplyRulesTest, ARefusalIsToldOnceForALine) {
  const Rewritten rewritten = Rewrite(kRefusing, {"8xf32"}, kFourTimes, {{"%d", "8xf32"}});
  EXPECT_EQ(rewritten.refused(), std::vector<std::string>{"refusing: it is a test"});
}

TEST(ApplyRulesTest, SeveralOpsChangeAtOnce) {
  const Rewritten rewritten = Rewrite(kOnce, {"8xf32"},
                                      R"(
  %a = "stablehlo.negate"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.negate"(%0) : (tensor<8xf32>) -> tensor<8xf32>)",
                                      {{"%a", "8xf32"}, {"%b", "8xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<8xf32>}> : () -> tensor<8xf32>
  %1 = "stablehlo.subtract"(%0, %arg0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  "func.return"(%1, %1) : (tensor<8xf32>, tensor<8xf32>) -> ()
)");
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"once"});
}

TEST(ApplyRulesTest, RulesAreSwitchedOffByName) {
  const Rewritten rewritten =
      Rewrite(kDrop, {"8xf32"}, kFourTimes, {{"%d", "8xf32"}}, {.disabled = {"drop"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

TEST(ApplyRulesTest, StrictTakesNoOtherFormulas) {
  const RuleOptions strict = {.is_strict = true};
  EXPECT_TRUE(
      Rewrite(kRewriting, {"8xf32"}, kFourTimes, {{"%d", "8xf32"}}, strict).fired().empty());
  EXPECT_FALSE(Rewrite(kDrop, {"8xf32"}, kFourTimes, {{"%d", "8xf32"}}, strict).fired().empty());
}

}  // namespace
}  // namespace plimsoll
