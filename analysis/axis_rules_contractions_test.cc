// The axis rules of products and reductions, text in and text out.

#include <string>
#include <string_view>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

// A reduction of 5x3 numbers along dimension 1 with one op as its body.
std::string Reduce(std::string_view name, std::string_view element) {
  return RuleOf({StrCat("5x3x", element), element},
                StrCat("%r = \"stablehlo.reduce\"(%0, %1) <{dimensions = array<i64: 1>}> ({\n",
                       "^bb1(%a: tensor<", element, ">, %b: tensor<", element, ">):\n",
                       "%c = \"stablehlo.", name, "\"(%a, %b) : (tensor<", element, ">, tensor<",
                       element, ">) -> tensor<", element, ">\n\"stablehlo.return\"(%c) : (tensor<",
                       element, ">) -> ()\n}) : (tensor<5x3x", element, ">, tensor<", element,
                       ">) -> tensor<5x", element, ">"));
}

std::string Along(std::string_view combination) {
  return StrCat("operands 0 whole results 0 blocks 5\noperands 1 whole results ", combination,
                " blocks 3\n");
}

TEST(DotGeneralRuleTest, BatchFreeAndContractedDimensions) {
  EXPECT_EQ(RuleOf({"2x3x4xf32", "2x5x4xf32"}, R"(%r = "stablehlo.dot_general"(%0, %1)
    <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0],
      rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2],
      rhs_contracting_dimensions = [2]>}>
    : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>)"),
            R"(operands 0 0 results 0 blocks 2
operands 1 whole results 1 blocks 3
operands whole 1 results 2 blocks 5
operands 2 2 results sum blocks 4
)");
}

TEST(DotGeneralRuleTest, SeveralContractedDimensionsInAnotherOrder) {
  EXPECT_EQ(RuleOf({"3x4x5xf32", "5x3x2xf32"}, R"(%r = "stablehlo.dot_general"(%0, %1)
    <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 2],
      rhs_contracting_dimensions = [1, 0]>}>
    : (tensor<3x4x5xf32>, tensor<5x3x2xf32>) -> tensor<4x2xf32>)"),
            R"(operands 1 whole results 0 blocks 4
operands whole 2 results 1 blocks 2
operands 0 1 results sum blocks 3
operands 2 0 results sum blocks 5
)");
}

TEST(DotGeneralRuleTest, ProductsOfBooleansAreOred) {
  EXPECT_EQ(RuleOf({"3xi1", "3xi1"}, R"(%r = "stablehlo.dot_general"(%0, %1)
    <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0],
      rhs_contracting_dimensions = [0]>}> : (tensor<3xi1>, tensor<3xi1>) -> tensor<i1>)"),
            "operands 0 0 results or blocks 3\n");
}

TEST(DotGeneralRuleTest, SizesOfOneAreOnNoAxis) {
  EXPECT_EQ(RuleOf({"1x3xf32", "3x1xf32"}, R"(%r = "stablehlo.dot_general"(%0, %1)
    <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]>}> : (tensor<1x3xf32>, tensor<3x1xf32>) -> tensor<1x1xf32>)"),
            "operands 1 0 results sum blocks 3\n");
}

TEST(ReduceRuleTest, BodiesOfOneOp) {
  EXPECT_EQ(Reduce("add", "f32"), Along("sum"));
  EXPECT_EQ(Reduce("multiply", "f32"), Along("product"));
  EXPECT_EQ(Reduce("maximum", "f32"), Along("maximum"));
  EXPECT_EQ(Reduce("minimum", "f32"), Along("minimum"));
  EXPECT_EQ(Reduce("and", "i1"), Along("and"));
  EXPECT_EQ(Reduce("or", "i1"), Along("or"));
}

TEST(ReduceRuleTest, OtherBodiesCombineThemselves) {
  EXPECT_EQ(Reduce("xor", "i32"), Along("body"));
}

TEST(ReduceRuleTest, WhatItStartsFromIsFree) {
  const std::unique_ptr<Module> module = OneOp({"5xf32"}, R"(
  %i = "stablehlo.constant"() <{value = dense<7.0> : tensor<f32>}> : () -> tensor<f32>
  %r = "stablehlo.reduce"(%0, %i) <{dimensions = array<i64: 0>}> ({
  ^bb1(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<f32>)");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(ToString(AxisRuleOf(*module->main()->entry_block()->first()->next())),
            "operands 0 whole results sum blocks 5\n");
}

TEST(ReduceRuleTest, SeveralDimensionsAtOnce) {
  EXPECT_EQ(RuleOf({"5x3x2xf32", "f32"}, R"(%r = "stablehlo.reduce"(%0, %1)
    <{dimensions = array<i64: 0, 2>}> ({
^bb1(%a: tensor<f32>, %b: tensor<f32>):
  %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%c) : (tensor<f32>) -> ()
}) : (tensor<5x3x2xf32>, tensor<f32>) -> tensor<3xf32>)"),
            R"(operands 0 whole results sum blocks 5
operands 1 whole results 0 blocks 3
operands 2 whole results sum blocks 2
)");
}

// The place of the greatest number; of equal ones the first.
TEST(ReduceRuleTest, Argmax) {
  EXPECT_EQ(RuleOf({"5x3xf32", "5x3xi32", "f32", "i32"},
                   R"(%r:2 = "stablehlo.reduce"(%0, %1, %2, %3) <{dimensions = array<i64: 1>}> ({
^bb1(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
  %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}>
      : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %d = "stablehlo.select"(%c, %a, %b) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %k = "stablehlo.select"(%c, %i, %j) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  "stablehlo.return"(%d, %k) : (tensor<f32>, tensor<i32>) -> ()
}) : (tensor<5x3xf32>, tensor<5x3xi32>, tensor<f32>, tensor<i32>)
    -> (tensor<5xf32>, tensor<5xi32>))"),
            R"(operands 0 0 whole whole results 0 0 blocks 5
operands 1 1 whole whole results body body blocks 3
)");
}

}  // namespace
}  // namespace plimsoll::testing
