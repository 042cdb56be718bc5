// What properties are called, what users say of values, and what loops and branches keep.

#include "analysis/properties.h"

#include <memory>
#include <optional>
#include <string>

#include "analysis/properties_testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

constexpr NamedType kResult = {"%r", "4x4xf32"};

TEST(PropertyNameTest, ThereAndBack) {
  EXPECT_EQ(PropertyName(Property::kPositiveDefinite), "positive definite");
  EXPECT_EQ(PropertyName(Property::kSorted), "sorted");
  EXPECT_EQ(PropertyFromName("lower triangular"), Property::kLowerTriangular);
  EXPECT_EQ(PropertyFromName("round"), std::nullopt);
}

TEST(ReasonTest, NamesTheLine) {
  const std::string ops =
      R"(%r = "stablehlo.dot_general"(%0, %0) <{dot_dimension_numbers = #stablehlo.dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> :
      (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32> loc("train.py":41:0))";
  EXPECT_EQ(WhyOf({"4x3xf32"}, ops, kResult, Property::kSymmetric),
            "a product with its own transpose (train.py:41)");
}

// A program that states something of its argument.
std::unique_ptr<Module> Stated(std::string_view name, std::string_view property) {
  const std::string text = StrCat(
      R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x4xf32>) -> tensor<4x4xf32>, sym_name = "main"}> ({
  ^bb0(%0: tensor<4x4xf32>):
    %e = "stablehlo.exponential"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = "stablehlo.composite"(%e) <{composite_attributes = {property = ")",
      property, R"("}, decomposition = @same, name = ")", name, R"("}> :
        (tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"(%r) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xf32>) -> tensor<4x4xf32>, sym_name = "same"}> ({
  ^bb0(%0: tensor<4x4xf32>):
    "func.return"(%0) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ())");
  StatusOr<std::unique_ptr<Module>> module = ReadText(text, "test");
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return module.ok() ? *std::move(module) : nullptr;
}

TEST(StatedPropertyTest, TheResultHasItAndWhatTheOperandHas) {
  const std::unique_ptr<Module> module = Stated("plimsoll.assume", "positive definite");
  ASSERT_NE(module, nullptr);
  const Value& value = ReturnedValue(*module);
  Properties properties;
  EXPECT_EQ(StatedProperty(*value.defining_op()), Property::kPositiveDefinite);
  EXPECT_EQ(properties.Why(value, Property::kPositiveDefinite), "stated by the user");
  EXPECT_EQ(properties.Why(value, Property::kSymmetric), "stated by the user");
  EXPECT_TRUE(properties.Has(value, Property::kPositive));
  EXPECT_FALSE(properties.Has(value, Property::kDiagonal));
  EXPECT_FALSE(properties.Has(*value.defining_op()->operand(0), Property::kSymmetric));
}

TEST(StatedPropertyTest, OtherCompositesSayNothing) {
  for (const auto& [name, property] :
       {NamedType{"other.assume", "symmetric"}, NamedType{"plimsoll.assume", "round"}}) {
    const std::unique_ptr<Module> module = Stated(name, property);
    ASSERT_NE(module, nullptr);
    Properties properties;
    EXPECT_FALSE(properties.Has(ReturnedValue(*module), Property::kSymmetric));
    EXPECT_EQ(StatedProperty(*ReturnedValue(*module).defining_op()), std::nullopt);
  }
}

// A loop that carries matrices, whose body makes %next0 and so on of %carried0 and so on.
std::string Loop(std::vector<std::string_view> initial, std::string_view body,
                 std::vector<std::string_view> next) {
  std::string values;
  std::string types;
  std::string returned;
  std::string condition;
  std::string arguments;
  for (size_t i = 0; i < initial.size(); ++i) {
    const std::string_view separator = i == 0 ? "" : ", ";
    values += StrCat(separator, initial[i]);
    types += StrCat(separator, "tensor<4x4xf32>");
    returned += StrCat(separator, next[i]);
    condition += StrCat(separator, "%unused", i, ": tensor<4x4xf32>");
    arguments += StrCat(separator, "%carried", i, ": tensor<4x4xf32>");
  }
  return StrCat("%loop:", initial.size(), " = \"stablehlo.while\"(", values, ") ({ ^bb0(",
                condition, "):\n", Constant("%more", "true", "i1"),
                "\"stablehlo.return\"(%more) : (tensor<i1>) -> () }, { ^bb0(", arguments, "):\n",
                body, "\"stablehlo.return\"(", returned, ") : (", types, ") -> () }) : (", types,
                ") -> (", types, ")\n");
}

constexpr NamedType kFirst = {"%loop#0", "4x4xf32"};
constexpr NamedType kSecond = {"%loop#1", "4x4xf32"};

TEST(LoopTest, WhatTheBodyKeeps) {
  const std::string body = Binary("%next", "add", "%carried0", "%carried0", "4x4xf32");
  const std::string from_symmetric = Transpose("%t", "%0", "4x4xf32", "1, 0", "4x4xf32") +
                                     Binary("%s", "add", "%0", "%t", "4x4xf32") +
                                     Loop({"%s"}, body, {"%next"});
  EXPECT_TRUE(Holds({"4x4xf32"}, from_symmetric, kFirst, Property::kSymmetric));
  EXPECT_FALSE(Holds({"4x4xf32"}, from_symmetric, kFirst, Property::kPositiveSemidefinite));
  EXPECT_FALSE(Holds({"4x4xf32"}, Loop({"%0"}, body, {"%next"}), kFirst, Property::kSymmetric));
}

TEST(LoopTest, WhatTheBodyLoses) {
  const std::string ops =
      Eye() + Loop({"%eye"}, Binary("%next", "add", "%carried0", "%0", "4x4xf32"), {"%next"});
  EXPECT_FALSE(Holds({"4x4xf32"}, ops, kFirst, Property::kSymmetric));
  EXPECT_FALSE(Holds({"4x4xf32"}, ops, kFirst, Property::kNonNegative));
}

TEST(LoopTest, HandedOnAsItIs) {
  const std::string ops =
      Eye() + Loop({"%eye", "%0"}, Binary("%next", "add", "%carried0", "%carried1", "4x4xf32"),
                   {"%carried0", "%next"});
  EXPECT_TRUE(Holds({"4x4xf32"}, ops, kFirst, Property::kIdentity));
  EXPECT_FALSE(Holds({"4x4xf32"}, ops, kSecond, Property::kDiagonal));
}

TEST(LoopTest, ValuesThatDependOnEachOther) {
  // They change places, and one is squared on the way.
  const std::string body = Dot("%next", {"%carried1", "4x4xf32"}, {"%carried1", "4x4xf32"},
                               kRowsTimesColumns, "4x4xf32");
  const std::string keeps = Eye() + Loop({"%eye", "%eye"}, body, {"%next", "%carried0"});
  EXPECT_TRUE(Holds({"4x4xf32"}, keeps, kFirst, Property::kSymmetric));
  EXPECT_TRUE(Holds({"4x4xf32"}, keeps, kSecond, Property::kSymmetric));
  const std::string loses = Eye() + Loop({"%eye", "%0"}, body, {"%next", "%carried0"});
  EXPECT_FALSE(Holds({"4x4xf32"}, loses, kFirst, Property::kSymmetric));
  EXPECT_FALSE(Holds({"4x4xf32"}, loses, kSecond, Property::kSymmetric));
}

TEST(LoopTest, WhatRestedOnAnAssumptionThatFailedIsForgotten) {
  // While the first is taken to be symmetric, so is %double; but the first is not.
  const std::string body = Binary("%double", "add", "%carried0", "%carried0", "4x4xf32") +
                           Binary("%next", "add", "%double", "%0", "4x4xf32");
  const std::unique_ptr<Module> module =
      Program({"4x4xf32"}, Eye() + Loop({"%eye"}, body, {"%next"}), {kFirst});
  ASSERT_NE(module, nullptr);
  const Op& loop = *ReturnedValue(*module).defining_op();
  const Value& doubled = *loop.region(1).front().first()->result(0);
  Properties properties;
  EXPECT_FALSE(properties.Has(*loop.result(0), Property::kSymmetric));
  EXPECT_FALSE(properties.Has(doubled, Property::kSymmetric));
}

TEST(LoopTest, AskedInsideTheBody) {
  const std::string body = Binary("%double", "add", "%carried0", "%carried0", "4x4xf32");
  const std::unique_ptr<Module> module =
      Program({"4x4xf32"}, Eye() + Loop({"%eye"}, body, {"%double"}), {kFirst});
  ASSERT_NE(module, nullptr);
  const Op& loop = *ReturnedValue(*module).defining_op();
  const Value& doubled = *loop.region(1).front().first()->result(0);
  Properties properties;
  EXPECT_TRUE(properties.Has(doubled, Property::kSymmetric));
  EXPECT_TRUE(properties.Has(*loop.result(0), Property::kDiagonal));
}

TEST(LoopTest, LoopsInLoops) {
  const std::string inner_body = Binary("%sum", "add", "%carried0", "%outer0", "4x4xf32");
  const auto nested = [&](std::string_view last) {
    const std::string inner = Loop({"%carried0"}, inner_body, {"%sum"});
    std::string outer = Loop({"%eye"}, "@", {last});
    // The outer loop's argument has another name than the inner one's.
    outer.replace(outer.find("%carried0: "), 9, "%outer0");
    std::string body = inner;
    body.replace(body.find("(%carried0)"), 11, "(%outer0)");
    body.replace(body.find("%loop:1"), 7, "%inner:1");
    outer.replace(outer.find('@'), 1, body);
    return Eye() + outer;
  };
  EXPECT_TRUE(Holds({"4x4xf32"}, nested("%inner#0"), kFirst, Property::kSymmetric));
  EXPECT_TRUE(Holds({"4x4xf32"}, nested("%inner#0"), kFirst, Property::kDiagonal));
  EXPECT_FALSE(Holds({"4x4xf32"}, nested("%0"), kFirst, Property::kSymmetric));
}

TEST(BranchTest, AllBranchesMustHaveIt) {
  const auto branches = [](std::string_view second) {
    return Eye() + Unary("%powers", "stablehlo.exponential", "%0", "4x4xf32") +
           StrCat(
               "%r = \"stablehlo.case\"(%1) ({ \"stablehlo.return\"(%eye) : (tensor<4x4xf32>) "
               "-> () }, { \"stablehlo.return\"(",
               second, ") : (tensor<4x4xf32>) -> () }) : (tensor<i32>) -> tensor<4x4xf32>\n");
  };
  EXPECT_TRUE(Holds({"4x4xf32", "i32"}, branches("%eye"), kResult, Property::kIdentity));
  EXPECT_TRUE(Holds({"4x4xf32", "i32"}, branches("%powers"), kResult, Property::kNonNegative));
  EXPECT_FALSE(Holds({"4x4xf32", "i32"}, branches("%powers"), kResult, Property::kIdentity));
}

TEST(SelectTest, WholeMatrices) {
  const auto select = [](std::string_view predicate, std::string_view type) {
    return Dot("%g", {"%0", "4x4xf32"}, {"%0", "4x4xf32"}, kRowsTimesRows, "4x4xf32") + Eye() +
           Select("%r", predicate, type, "%g", "%eye", "4x4xf32");
  };
  EXPECT_TRUE(
      Holds({"4x4xf32", "i1"}, select("%1", "i1"), kResult, Property::kPositiveSemidefinite));
  EXPECT_FALSE(Holds({"4x4xf32", "4x4xi1"}, select("%1", "4x4xi1"), kResult,
                     Property::kPositiveSemidefinite));
}

std::optional<LowRank> LowRankOf(const Module& module) {
  Properties properties;
  return properties.LowRankOf(ReturnedValue(module));
}

TEST(LowRankTest, ThinFactors) {
  const std::string ops =
      Dot("%r", {"%0", "4x2xf32"}, {"%1", "5x2xf32"}, kRowsTimesRows, "4x5xf32");
  const std::unique_ptr<Module> module = Program({"4x2xf32", "5x2xf32"}, ops, {{"%r", "4x5xf32"}});
  const std::optional<LowRank> factors = LowRankOf(*module);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->left, module->main()->entry_block()->argument(0));
  EXPECT_EQ(factors->right, module->main()->entry_block()->argument(1));
  EXPECT_EQ(factors->left_dimension, 1);
  EXPECT_EQ(factors->right_dimension, 1);
}

TEST(LowRankTest, TransposedFactorsChangePlaces) {
  const std::string ops =
      Dot("%p", {"%0", "4x2xf32"}, {"%1", "2x5xf32"}, kRowsTimesColumns, "4x5xf32") +
      Transpose("%r", "%p", "4x5xf32", "1, 0", "5x4xf32");
  const std::unique_ptr<Module> module = Program({"4x2xf32", "2x5xf32"}, ops, {{"%r", "5x4xf32"}});
  const std::optional<LowRank> factors = LowRankOf(*module);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->left, module->main()->entry_block()->argument(1));
  EXPECT_EQ(factors->left_dimension, 0);
  EXPECT_EQ(factors->right_dimension, 1);
}

TEST(LowRankTest, ThickFactorsAreNone) {
  const std::string ops =
      Dot("%r", {"%0", "4x4xf32"}, {"%1", "4x5xf32"}, kRowsTimesColumns, "4x5xf32");
  EXPECT_FALSE(LowRankOf(*Program({"4x4xf32", "4x5xf32"}, ops, {{"%r", "4x5xf32"}})));
}

TEST(DepthTest, LongProgramsAreNoTrouble) {
  // Each op is needed twice by the next one.
  std::string ops = Transpose("%t", "%0", "4x4xf32", "1, 0", "4x4xf32") +
                    Binary("%s0", "add", "%0", "%t", "4x4xf32");
  constexpr int kCount = 3000;
  for (int i = 0; i < kCount; ++i) {
    ops += Binary(StrCat("%s", i + 1), i % 2 == 0 ? "maximum" : "minimum", StrCat("%s", i),
                  StrCat("%s", i), "4x4xf32");
  }
  const std::string last = StrCat("%s", kCount);
  const std::unique_ptr<Module> module = Program({"4x4xf32"}, ops, {{last, "4x4xf32"}});
  ASSERT_NE(module, nullptr);
  Properties properties;
  for (int property = 0; property <= static_cast<int>(Property::kSorted); ++property) {
    properties.Why(ReturnedValue(*module), static_cast<Property>(property));
  }
  // What is asked from the start on is found.
  Properties in_order;
  for (const Op& op : *module->main()->entry_block()) {
    if (op.result_count() == 1) in_order.Why(*op.result(0), Property::kSymmetric);
  }
  EXPECT_TRUE(in_order.Has(ReturnedValue(*module), Property::kSymmetric));
}

TEST(ForgetTest, AnswersAreMadeAnew) {
  const std::unique_ptr<Module> module = Program({}, Eye(), {{"%eye", "4x4xf32"}});
  Properties properties;
  EXPECT_TRUE(properties.Has(ReturnedValue(*module), Property::kIdentity));
  properties.Forget();
  EXPECT_TRUE(properties.Has(ReturnedValue(*module), Property::kIdentity));
}

}  // namespace
}  // namespace plimsoll::testing
