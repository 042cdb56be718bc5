#include "rewrite/user_rules.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rewrite/testing.h"
#include "stablehlo/text_reader.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::NamedType;
using ::plimsoll::testing::Rewrite;
using ::plimsoll::testing::Rewritten;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A program of arguments %0, %1, ... of these types that returns one value.
struct Side {
  std::string ops;
  std::string result;
  std::string type;
};

// Both sides for arguments of certain shapes; nothing in the pattern if there is none.
struct Sides {
  Side pattern;
  Side result;
};
using Shapes = std::vector<std::vector<int64_t>>;
using MakeSides = std::function<Sides(const Shapes& shapes)>;

std::string TypeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "tensor<";
  for (const int64_t size : shape) text += StrCat(size, "x");
  return text + "f32>";
}

std::unique_ptr<Module> ModuleOf(const Side& side, const Shapes& shapes,
                                 std::shared_ptr<Context> context) {
  std::string types;
  std::string arguments;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string_view separator = i == 0 ? "" : ", ";
    types += StrCat(separator, TypeText(shapes[i]));
    arguments += StrCat(separator, "%", i, ": ", TypeText(shapes[i]));
  }
  StatusOr<std::unique_ptr<Module>> module =
      ReadText(StrCat("\"builtin.module\"() ({ \"func.func\"() <{function_type = (", types, ") -> ",
                      side.type, ", sym_name = \"main\"}> ({ ^bb0(", arguments, "):\n", side.ops,
                      "\n\"func.return\"(", side.result, ") : (", side.type,
                      ") -> () }) : () -> () }) : () -> ()"),
               "rule", std::move(context));
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return module.ok() ? *std::move(module) : nullptr;
}

StatusOr<std::shared_ptr<const UserRule>> MakeRule(const MakeSides& make,
                                                   const std::vector<Shapes>& samples,
                                                   const std::string& refusal = "") {
  std::vector<std::unique_ptr<Module>> modules;
  for (const Shapes& shapes : samples) {
    modules.push_back(ModuleOf(make(shapes).pattern, shapes, std::make_shared<Context>()));
  }
  return UserRule::Make(
      "mine", std::move(modules),
      [make, refusal](const Module& program, llvm::ArrayRef<Type> types) -> LoweredRule {
        Shapes shapes;
        for (const Type type : types) shapes.push_back(type.shape().vec());
        const Sides sides = make(shapes);
        if (sides.pattern.ops.empty()) return {};
        LoweredRule lowered = {.pattern = ModuleOf(sides.pattern, shapes, program.shared_context()),
                               .result = nullptr,
                               .refusal = refusal};
        if (refusal.empty()) {
          lowered.result = ModuleOf(sides.result, shapes, program.shared_context());
        }
        return lowered;
      });
}

Rewritten RewriteBy(const MakeSides& make, const std::vector<Shapes>& samples,
                    const std::vector<std::string_view>& arguments, std::string_view ops,
                    const std::vector<NamedType>& results, const std::string& refusal = "") {
  StatusOr<std::shared_ptr<const UserRule>> rule = MakeRule(make, samples, refusal);
  EXPECT_TRUE(rule.ok()) << rule.status().ToString();
  if (!rule.ok()) return {};
  return Rewrite({}, arguments, ops, results, {.user_rules = {*std::move(rule)}});
}

// a * log(exp(b)) is a * b, for arrays of the same shape.
Sides DropLogOfExp(const Shapes& shapes) {
  if (shapes[0] != shapes[1]) return {};
  const std::string t = TypeText(shapes[0]);
  return {
      .pattern = {.ops =
                      StrCat("%e = \"stablehlo.exponential\"(%1) : (", t, ") -> ", t,
                             "\n%l = \"stablehlo.log\"(%e) : (", t, ") -> ", t,
                             "\n%m = \"stablehlo.multiply\"(%0, %l) : (", t, ", ", t, ") -> ", t),
                  .result = "%m",
                  .type = t},
      .result = {.ops = StrCat("%m = \"stablehlo.multiply\"(%0, %1) : (", t, ", ", t, ") -> ", t),
                 .result = "%m",
                 .type = t}};
}
std::vector<Shapes> Vectors() { return {{{3}, {3}}}; }
std::vector<Shapes> Matrices() { return {{{3, 3}, {3, 3}}}; }

TEST(UserRulesTest, ReplacesThePatternInAnySize) {
  const Rewritten rewritten = RewriteBy(DropLogOfExp, Vectors(), {"8xf32", "8xf32"},
                                        R"(
  %a = "stablehlo.exponential"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.log"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = "stablehlo.multiply"(%0, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>)",
                                        {{"%c", "8xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>):
  %0 = "stablehlo.multiply"(%arg0, %arg1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  "func.return"(%0) : (tensor<8xf32>) -> ()
)");
  EXPECT_THAT(rewritten.fired(), ElementsAre("mine"));
}

TEST(UserRulesTest, OperandsMayBeExchangedAndOtherUsersStay) {
  const Rewritten rewritten = RewriteBy(DropLogOfExp, Vectors(), {"8xf32", "8xf32"},
                                        R"(
  %a = "stablehlo.exponential"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.log"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = "stablehlo.multiply"(%b, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>)",
                                        {{"%c", "8xf32"}, {"%a", "8xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>):
  %0 = "stablehlo.exponential"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "stablehlo.multiply"(%arg1, %arg0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  "func.return"(%1, %0) : (tensor<8xf32>, tensor<8xf32>) -> ()
)");
}

TEST(UserRulesTest, SeesThroughTransposes) {
  const Rewritten rewritten = RewriteBy(DropLogOfExp, Matrices(), {"8x4xf32", "4x8xf32"},
                                        R"(
  %a = "stablehlo.exponential"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %b = "stablehlo.log"(%t) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %c = "stablehlo.multiply"(%0, %b) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>)",
                                        {{"%c", "8x4xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8x4xf32>, %arg1: tensor<4x8xf32>):
  %0 = "stablehlo.transpose"(%arg1) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = "stablehlo.multiply"(%arg0, %0) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  "func.return"(%1) : (tensor<8x4xf32>) -> ()
)");
}

TEST(UserRulesTest, RepeatsWhatIsBroadcastIfThePatternNeedsIt) {
  const Rewritten rewritten = RewriteBy(DropLogOfExp, Matrices(), {"8x4xf32", "8xf32"},
                                        R"(
  %a = "stablehlo.exponential"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.log"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %s = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x4xf32>
  %c = "stablehlo.multiply"(%s, %0) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>)",
                                        {{"%c", "8x4xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8x4xf32>, %arg1: tensor<8xf32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x4xf32>
  %1 = "stablehlo.multiply"(%arg0, %0) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  "func.return"(%1) : (tensor<8x4xf32>) -> ()
)");
}

TEST(UserRulesTest, LeavesOtherOpsAndOtherRanksAlone) {
  const Rewritten other = RewriteBy(DropLogOfExp, Vectors(), {"8xf32", "8xf32"},
                                    R"(
  %a = "stablehlo.exponential_minus_one"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.log"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = "stablehlo.multiply"(%0, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>)",
                                    {{"%c", "8xf32"}});
  EXPECT_THAT(other.fired(), IsEmpty());
  const Rewritten rank = RewriteBy(DropLogOfExp, Matrices(), {"8xf32", "8xf32"},
                                   R"(
  %a = "stablehlo.exponential"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.log"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = "stablehlo.multiply"(%0, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>)",
                                   {{"%c", "8xf32"}});
  EXPECT_THAT(rank.fired(), IsEmpty());
}

constexpr std::string_view kLogOfExp = R"(
  %a = "stablehlo.exponential"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.log"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = "stablehlo.multiply"(%0, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>)";

TEST(UserRulesTest, TellsWhyItIsNotUsed) {
  const Rewritten rewritten = RewriteBy(DropLogOfExp, Vectors(), {"8xf32", "8xf32"}, kLogOfExp,
                                        {{"%c", "8xf32"}}, "it is too small");
  EXPECT_THAT(rewritten.fired(), IsEmpty());
  EXPECT_THAT(rewritten.refused(), ElementsAre("mine: it is too small"));
}

TEST(UserRulesTest, ResultsOfAnotherTypeAreRefused) {
  const MakeSides make = [](const Shapes& shapes) {
    Sides sides = DropLogOfExp(shapes);
    sides.result = {.ops =
                        "%c = \"stablehlo.constant\"() <{value = dense<1.0> : tensor<f32>}> : "
                        "() -> tensor<f32>",
                    .result = "%c",
                    .type = "tensor<f32>"};
    return sides;
  };
  const Rewritten rewritten =
      RewriteBy(make, Vectors(), {"8xf32", "8xf32"}, kLogOfExp, {{"%c", "8xf32"}});
  EXPECT_THAT(rewritten.refused(),
              ElementsAre("mine: its result is tensor<f32> where the pattern gives tensor<8xf32>"));
}

TEST(UserRulesTest, IsSwitchedOffByNameAndByStrictNumerics) {
  StatusOr<std::shared_ptr<const UserRule>> rule = MakeRule(DropLogOfExp, Vectors());
  ASSERT_TRUE(rule.ok());
  EXPECT_THAT(Rewrite({}, {"8xf32", "8xf32"}, kLogOfExp, {{"%c", "8xf32"}},
                      {.disabled = {"mine"}, .user_rules = {*rule}})
                  .fired(),
              IsEmpty());
  EXPECT_THAT(Rewrite({}, {"8xf32", "8xf32"}, kLogOfExp, {{"%c", "8xf32"}},
                      {.is_strict = true, .user_rules = {*rule}})
                  .fired(),
              IsEmpty());
}

// 2 * exp(a) + 3 * exp(b), where only the constants tell which is which.
Sides WeightedSum(const Shapes& shapes) {
  if (shapes[0] != shapes[1]) return {};
  const std::string t = TypeText(shapes[0]);
  const auto binary = [&](std::string_view to, std::string_view op, std::string_view a,
                          std::string_view b) {
    return StrCat("\n", to, " = \"stablehlo.", op, "\"(", a, ", ", b, ") : (", t, ", ", t, ") -> ",
                  t);
  };
  const auto exponential = [&](std::string_view to, std::string_view of) {
    return StrCat("\n", to, " = \"stablehlo.exponential\"(", of, ") : (", t, ") -> ", t);
  };
  const auto constant = [&](std::string_view to, std::string_view number) {
    return StrCat("\n", to, " = \"stablehlo.constant\"() <{value = dense<", number, "> : ", t,
                  "}> : () -> ", t);
  };
  return {.pattern = {.ops = StrCat(
                          constant("%2", "2.0"), constant("%3", "3.0"), exponential("%a", "%0"),
                          exponential("%b", "%1"), binary("%x", "multiply", "%2", "%a"),
                          binary("%y", "multiply", "%3", "%b"), binary("%z", "add", "%x", "%y")),
                      .result = "%z",
                      .type = t},
          .result = {.ops = binary("%z", "subtract", "%0", "%1"), .result = "%z", .type = t}};
}

std::string WeightedSumText(std::string_view first, std::string_view second) {
  return StrCat(R"(
  %2 = "stablehlo.constant"() <{value = dense<)",
                first, R"(> : tensor<f32>}> : () -> tensor<f32>
  %w = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
  %3 = "stablehlo.constant"() <{value = dense<)",
                second, R"(> : tensor<f32>}> : () -> tensor<f32>
  %v = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
  %a = "stablehlo.exponential"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.exponential"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %x = "stablehlo.multiply"(%a, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = "stablehlo.multiply"(%v, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %z = "stablehlo.add"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>)");
}

TEST(UserRulesTest, ConstantsTellArgumentsApart) {
  const Rewritten rewritten = RewriteBy(WeightedSum, Vectors(), {"8xf32", "8xf32"},
                                        WeightedSumText("3.0", "2.0"), {{"%z", "8xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>):
  %0 = "stablehlo.subtract"(%arg1, %arg0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  "func.return"(%0) : (tensor<8xf32>) -> ()
)");
}

TEST(UserRulesTest, OtherConstantsAreAnotherExpression) {
  const Rewritten rewritten = RewriteBy(WeightedSum, Vectors(), {"8xf32", "8xf32"},
                                        WeightedSumText("2.0", "4.0"), {{"%z", "8xf32"}});
  EXPECT_THAT(rewritten.fired(), IsEmpty());
  EXPECT_THAT(rewritten.refused(), IsEmpty());
}

// log(exp(a)) @ b is a @ b.
Sides DropLogOfExpInProduct(const Shapes& shapes) {
  if (shapes[0].size() != 2 || shapes[1].size() != 2 || shapes[0][1] != shapes[1][0]) return {};
  const std::string result = TypeText({shapes[0][0], shapes[1][1]});
  const auto dot = [&](std::string_view left) {
    return StrCat("\n%d = \"stablehlo.dot_general\"(", left,
                  ", %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],"
                  " rhs_contracting_dimensions = [0]>}> : (",
                  TypeText(shapes[0]), ", ", TypeText(shapes[1]), ") -> ", result);
  };
  return {
      .pattern = {.ops = StrCat("%e = \"stablehlo.exponential\"(%0) : (", TypeText(shapes[0]),
                                ") -> ", TypeText(shapes[0]), "\n%l = \"stablehlo.log\"(%e) : (",
                                TypeText(shapes[0]), ") -> ", TypeText(shapes[0]), dot("%l")),
                  .result = "%d",
                  .type = result},
      .result = {.ops = dot("%0"), .result = "%d", .type = result}};
}

TEST(UserRulesTest, ProductsMayBeOfTransposedArraysInEitherOrder) {
  // The transpose of the product, with b as its transpose.
  const Rewritten rewritten = RewriteBy(DropLogOfExpInProduct, Matrices(), {"8x4xf32", "6x4xf32"},
                                        R"(
  %e = "stablehlo.exponential"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %a = "stablehlo.log"(%e) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %d = "stablehlo.dot_general"(%1, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<6x4xf32>, tensor<8x4xf32>) -> tensor<6x8xf32>)",
                                        {{"%d", "6x8xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<8x4xf32>, %arg1: tensor<6x4xf32>):
  %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<8x6xf32>) -> tensor<6x8xf32>
  "func.return"(%1) : (tensor<6x8xf32>) -> ()
)");
}

TEST(UserRulesTest, ProductsOverOtherDimensionsAreFoundByTheirArguments) {
  const Rewritten rewritten = RewriteBy(DropLogOfExpInProduct, Matrices(), {"4x8xf32", "6x4xf32"},
                                        R"(
  %e = "stablehlo.exponential"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = "stablehlo.log"(%e) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = "stablehlo.dot_general"(%a, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>)",
                                        {{"%d", "8x6xf32"}});
  EXPECT_THAT(rewritten.body, HasSubstr("\"stablehlo.dot_general\"(%arg0, %arg1)"));
  EXPECT_THAT(rewritten.body, ::testing::Not(HasSubstr("exponential")));
}

TEST(UserRulesTest, PatternsThatComputeNothingAreRefused) {
  const MakeSides make = [](const Shapes& shapes) {
    Side same = {.ops = "", .result = "%0", .type = TypeText(shapes[0])};
    return Sides{.pattern = same, .result = same};
  };
  const StatusOr<std::shared_ptr<const UserRule>> rule = MakeRule(make, {{{3}}});
  ASSERT_FALSE(rule.ok());
  EXPECT_EQ(rule.status().message(),
            "the rule mine: its pattern cannot be looked for: it computes nothing");
}

TEST(UserRulesTest, PatternsThatIgnoreAnArgumentAreRefused) {
  const MakeSides make = [](const Shapes& shapes) {
    const std::string t = TypeText(shapes[0]);
    const Side first = {.ops = StrCat("%n = \"stablehlo.negate\"(%0) : (", t, ") -> ", t),
                        .result = "%n",
                        .type = t};
    return Sides{.pattern = first, .result = first};
  };
  const StatusOr<std::shared_ptr<const UserRule>> rule = MakeRule(make, Vectors());
  ASSERT_FALSE(rule.ok());
  EXPECT_THAT(rule.status().ToString(), HasSubstr("it does not use all its arguments"));
}

}  // namespace
}  // namespace plimsoll
