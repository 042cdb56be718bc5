#include "rewrite/product_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::NamedType;
using ::plimsoll::testing::Rewritten;

Rewritten Rewrite(const std::vector<std::string_view>& arguments, std::string_view ops,
                  const std::vector<NamedType>& results) {
  return testing::Rewrite(ProductRules(), arguments, ops, results);
}

// A matrix times a matrix or a vector.
std::string Dot(std::string_view result, std::string_view left, std::string_view left_type,
                std::string_view right, std::string_view right_type, std::string_view result_type) {
  return StrCat("  ", result, " = \"stablehlo.dot_general\"(", left, ", ", right,
                ") <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
                "rhs_contracting_dimensions = [0]>}> : (tensor<",
                left_type, ">, tensor<", right_type, ">) -> tensor<", result_type, ">\n");
}

std::string TwoMatricesAndVector(std::string_view element) {
  const std::string matrix = StrCat("64x64x", element);
  const std::string vector = StrCat("64x", element);
  return Dot("%a", "%0", matrix, "%1", matrix, matrix) +
         Dot("%b", "%a", matrix, "%2", vector, vector);
}

TEST(ReorderProductsTest, AVectorComesFirst) {
  const Rewritten rewritten = Rewrite({"64x64xf32", "64x64xf32", "64xf32"},
                                      TwoMatricesAndVector("f32"), {{"%b", "64xf32"}});
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"reorder_products"});
  EXPECT_EQ(rewritten.body,
            R"(^bb0(%arg0: tensor<64x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<64xf32>):
  %0 = "stablehlo.dot_general"(%arg1, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = "stablehlo.dot_general"(%arg0, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64xf32>
  "func.return"(%1) : (tensor<64xf32>) -> ()
)");
}

TEST(ReorderProductsTest, LeavesTheBestOrderAlone) {
  const Rewritten rewritten = Rewrite({"64x64xf32", "64x64xf32", "64xf32"},
                                      Dot("%a", "%1", "64x64xf32", "%2", "64xf32", "64xf32") +
                                          Dot("%b", "%0", "64x64xf32", "%a", "64xf32", "64xf32"),
                                      {{"%b", "64xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
  EXPECT_TRUE(rewritten.refused().empty());
}

TEST(ReorderProductsTest, UsesAProductThatIsThereAnyway) {
  const Rewritten rewritten =
      Rewrite({"64x64xf32", "64x64xf32", "64xf32"}, TwoMatricesAndVector("f32"),
              {{"%a", "64x64xf32"}, {"%b", "64xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

// Two vectors are multiplied with the same product of two matrices.
TEST(ReorderProductsTest, WhatSeveralUseIsNotMadeIfAllCanDoWithout) {
  const std::string ops =
      TwoMatricesAndVector("f32") + Dot("%c", "%a", "64x64xf32", "%3", "64xf32", "64xf32");
  const Rewritten rewritten = Rewrite({"64x64xf32", "64x64xf32", "64xf32", "64xf32"}, ops,
                                      {{"%b", "64xf32"}, {"%c", "64xf32"}});
  EXPECT_EQ(rewritten.fired(),
            (std::vector<std::string_view>{"reorder_products", "reorder_products"}));
  EXPECT_EQ(rewritten.body.find("-> tensor<64x64xf32>"), std::string::npos);
}

// The product is made once for many columns.
TEST(ReorderProductsTest, WhatSeveralUseStaysIfItPays) {
  const std::string ops = Dot("%a", "%0", "64x64xf32", "%1", "64x64xf32", "64x64xf32") +
                          Dot("%b", "%a", "64x64xf32", "%2", "64x64xf32", "64x64xf32") +
                          Dot("%c", "%a", "64x64xf32", "%3", "64x64xf32", "64x64xf32");
  const Rewritten rewritten = Rewrite({"64x64xf32", "64x64xf32", "64x64xf32", "64x64xf32"}, ops,
                                      {{"%b", "64x64xf32"}, {"%c", "64x64xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

// (c A) B v, with A B used elsewhere if `is_shared`.
Rewritten RewriteScaled(std::string_view number, bool is_shared) {
  const std::string ops =
      StrCat("  %s = \"stablehlo.constant\"() <{value = dense<", number,
             "> : tensor<64x64xf32>}> : () -> tensor<64x64xf32>\n",
             "  %c = \"stablehlo.multiply\"(%0, %s) : (tensor<64x64xf32>, tensor<64x64xf32>) -> ",
             "tensor<64x64xf32>\n", Dot("%a", "%c", "64x64xf32", "%1", "64x64xf32", "64x64xf32"),
             Dot("%b", "%a", "64x64xf32", "%2", "64xf32", "64xf32"));
  std::vector<NamedType> results = {{"%b", "64xf32"}};
  if (is_shared) results.emplace_back("%a", "64x64xf32");
  return Rewrite({"64x64xf32", "64x64xf32", "64xf32"}, ops, results);
}

TEST(ReorderProductsTest, NumbersAreTakenOutUnlessTheyKeepProductsFromOverflowing) {
  EXPECT_FALSE(RewriteScaled("1.0e-9", false).fired().empty());
  EXPECT_TRUE(RewriteScaled("1.0e-18", false).fired().empty());
  EXPECT_TRUE(RewriteScaled("1.0e+18", false).fired().empty());
}

TEST(ReorderProductsTest, WhatIsZeroIsNotScaledToWhatItWas) {
  EXPECT_EQ(RewriteScaled("0.0", true).body.find("0xFFC00000"), std::string::npos);
}

TEST(ReorderProductsTest, IntegersAndComplexNumbersToo) {
  for (const std::string_view element : {"i32", "f64", "complex<f32>"}) {
    const std::string matrix = StrCat("64x64x", element);
    const std::string vector = StrCat("64x", element);
    const Rewritten rewritten =
        Rewrite({matrix, matrix, vector}, TwoMatricesAndVector(element), {{"%b", vector}});
    EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"reorder_products"}) << element;
  }
}

TEST(ReorderProductsTest, HalvesAreLeftAlone) {
  const Rewritten rewritten = Rewrite({"64x64xbf16", "64x64xbf16", "64xbf16"},
                                      TwoMatricesAndVector("bf16"), {{"%b", "64xbf16"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

TEST(ReorderProductsTest, NothingIsDoneForNothing) {
  const Rewritten rewritten = Rewrite({"0x64xf32", "64x64xf32", "64xf32"},
                                      Dot("%a", "%0", "0x64xf32", "%1", "64x64xf32", "0x64xf32") +
                                          Dot("%b", "%a", "0x64xf32", "%2", "64xf32", "0xf32"),
                                      {{"%b", "0xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

TEST(ReorderProductsTest, OtherPrecisionsStayApart) {
  const Rewritten rewritten = Rewrite({"64x64xf32", "64x64xf32", "64xf32"}, R"(
  %a = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = "stablehlo.dot_general"(%a, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64xf32>)",
                                      {{"%b", "64xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

// The sum of all elements.
constexpr std::string_view kTotal = R"(
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %t = "stablehlo.reduce"(%s, %zero) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>)";

TEST(ReorderProductsTest, TheSumOfAProductNeedsNoProduct) {
  const Rewritten rewritten =
      Rewrite({"64x64xf32", "64x64xf32"},
              Dot("%s", "%0", "64x64xf32", "%1", "64x64xf32", "64x64xf32") + std::string(kTotal),
              {{"%t", "f32"}});
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"reorder_products"});
  EXPECT_EQ(rewritten.body.find("dot_general"), std::string::npos);
}

// What is there was broadcast along a dimension that its factors do not have, and is not summed
// over it.
TEST(ReorderProductsTest, WhatIsThereMayHaveBeenBroadcast) {
  const Rewritten rewritten = Rewrite(
      {"64x64xf32", "64xf32", "64x11xf32"},
      Dot("%a", "%0", "64x64xf32", "%1", "64xf32", "64xf32") +
          R"(  %b = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x11xf32>
  %c = "stablehlo.multiply"(%b, %2) : (tensor<64x11xf32>, tensor<64x11xf32>) -> tensor<64x11xf32>
)"
          R"(  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %d = "stablehlo.reduce"(%c, %zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) : (tensor<64x11xf32>, tensor<f32>) -> tensor<11xf32>)",
      {{"%b", "64x11xf32"}, {"%d", "11xf32"}});
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"reorder_products"});
  EXPECT_EQ(rewritten.body,
            R"(^bb0(%arg0: tensor<64x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64x11xf32>):
  %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x11xf32>
  %2 = "stablehlo.slice"(%1) <{limit_indices = array<i64: 64, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<64x11xf32>) -> tensor<64x1xf32>
  %3 = "stablehlo.reshape"(%2) : (tensor<64x1xf32>) -> tensor<64xf32>
  %4 = "stablehlo.dot_general"(%3, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<64xf32>, tensor<64x11xf32>) -> tensor<11xf32>
  "func.return"(%1, %4) : (tensor<64x11xf32>, tensor<11xf32>) -> ()
)");
}

// The mask of the diagonal.
constexpr std::string_view kEye = R"(
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64x64xi32>
  %j = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<64x64xi32>
  %eye = "stablehlo.compare"(%i, %j) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : tensor<64x64xf32>}> : () -> tensor<64x64xf32>
)";

TEST(DiagonalProductsTest, ADiagonalMatrixScales) {
  const Rewritten rewritten =
      Rewrite({"64xf32", "64x64xf32"},
              StrCat(kEye, R"(
  %b = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x64xf32>
  %d = "stablehlo.select"(%eye, %b, %zeros) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
)",
                     Dot("%r", "%d", "64x64xf32", "%1", "64x64xf32", "64x64xf32")),
              {{"%r", "64x64xf32"}});
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"diagonal_products"});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<64xf32>, %arg1: tensor<64x64xf32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x64xf32>
  %1 = "stablehlo.multiply"(%0, %arg1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  "func.return"(%1) : (tensor<64x64xf32>) -> ()
)");
}

TEST(DiagonalProductsTest, ATraceNeedsNoProduct) {
  const Rewritten rewritten =
      Rewrite({"64x64xf32", "64x64xf32"},
              StrCat(Dot("%p", "%0", "64x64xf32", "%1", "64x64xf32", "64x64xf32"), kEye, R"(
  %s = "stablehlo.select"(%eye, %p, %zeros) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
)",
                     kTotal),
              {{"%t", "f32"}});
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"diagonal_products"});
  EXPECT_EQ(rewritten.body.find("dot_general"), std::string::npos);
  EXPECT_EQ(rewritten.body.find("iota"), std::string::npos);
}

TEST(DiagonalProductsTest, ADiagonalThatIsTheResultStays) {
  const Rewritten rewritten = Rewrite({"64x64xf32", "64x64xf32"}, StrCat(kEye, R"(
  %d = "stablehlo.select"(%eye, %0, %zeros) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = "stablehlo.multiply"(%d, %1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>)"),
                                      {{"%m", "64x64xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

TEST(DiagonalProductsTest, AnotherMaskIsNoDiagonal) {
  const Rewritten rewritten =
      Rewrite({"64x64xf32", "64x64xf32"},
              StrCat(R"(
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64x64xi32>
  %j = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<64x64xi32>
  %lower = "stablehlo.compare"(%i, %j) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : tensor<64x64xf32>}> : () -> tensor<64x64xf32>
  %d = "stablehlo.select"(%lower, %0, %zeros) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
)",
                     Dot("%r", "%d", "64x64xf32", "%1", "64x64xf32", "64x64xf32")),
              {{"%r", "64x64xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

TEST(KroneckerProductsTest, ThePartsAreMultiplied) {
  const Rewritten rewritten =
      Rewrite({"30x31xf32", "20x23xf32", "713xf32"},
              StrCat(R"(
  %a = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<30x31xf32>) -> tensor<30x20x31x23xf32>
  %b = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 1, 3>}> : (tensor<20x23xf32>) -> tensor<30x20x31x23xf32>
  %m = "stablehlo.multiply"(%a, %b) : (tensor<30x20x31x23xf32>, tensor<30x20x31x23xf32>) -> tensor<30x20x31x23xf32>
  %k = "stablehlo.reshape"(%m) : (tensor<30x20x31x23xf32>) -> tensor<600x713xf32>
)",
                     Dot("%r", "%k", "600x713xf32", "%2", "713xf32", "600xf32")),
              {{"%r", "600xf32"}});
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"kronecker_products"});
  EXPECT_EQ(rewritten.body.find("600x713"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll
