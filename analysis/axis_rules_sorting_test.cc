// The axis rules of sort and top_k, text in and text out.

#include <string>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

TEST(SortRuleTest, AllButTheSortedDimension) {
  EXPECT_EQ(RuleOf({"5x8x3xf32"}, R"(%r = "stablehlo.sort"(%0) <{dimension = 1 : i64}> ({
^bb1(%a0: tensor<f32>, %b0: tensor<f32>):
  %c = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}>
      : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%c) : (tensor<i1>) -> ()
}) : (tensor<5x8x3xf32>) -> tensor<5x8x3xf32>)"),
            R"(operands 0 results 0 blocks 5
operands 2 results 2 blocks 3
otherwise: sort needs all of dimension 1
)");
}

TEST(SortRuleTest, SeveralOperandsAlongTheLast) {
  EXPECT_EQ(RuleOf({"5x8x3xf32", "5x8x3xi32"}, R"(%r:2 = "stablehlo.sort"(%0, %1) ({
^bb1(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
  %c = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}>
      : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%c) : (tensor<i1>) -> ()
}) : (tensor<5x8x3xf32>, tensor<5x8x3xi32>) -> (tensor<5x8x3xf32>, tensor<5x8x3xi32>))"),
            R"(operands 0 0 results 0 0 blocks 5
operands 1 1 results 1 1 blocks 8
otherwise: sort needs all of dimension 2
)");
}

TEST(TopKRuleTest, ListsAreMerged) {
  EXPECT_EQ(RuleOf({"5x8xf32"}, R"(%r:2 = "chlo.top_k"(%0) <{k = 3 : i64}>
    : (tensor<5x8xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>))"),
            R"(operands 0 results 0 0 blocks 5
operands 1 results top-k top-k blocks 8
)");
}

TEST(TopKRuleTest, NothingIsTaken) {
  EXPECT_EQ(RuleOf({"5x8xf32"}, R"(%r:2 = "chlo.top_k"(%0) <{k = 0 : i64}>
    : (tensor<5x8xf32>) -> (tensor<5x0xf32>, tensor<5x0xi32>))"),
            R"(operands 0 results 0 0 blocks 5
otherwise: top_k takes nothing
)");
}

}  // namespace
}  // namespace plimsoll::testing
