// The axis rules of ops with windows, text in and text out.

#include <string>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

TEST(ConvolutionRuleTest, WindowsOverlap) {
  EXPECT_EQ(RuleOf({"4x9x8x3xf32", "3x3x3x5xf32"},
                   R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}>
    : (tensor<4x9x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<4x7x6x5xf32>)"),
            R"(operands 0 whole results 0 blocks 4
operands 3 2 results sum blocks 3
operands whole 3 results 3 blocks 5
otherwise: a window needs its neighbours along dimension 1
)");
}

TEST(ConvolutionRuleTest, GradientOfWeights) {
  EXPECT_EQ(RuleOf({"4x9x8x3xf32", "4x7x6x5xf32"},
                   R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>}>
    : (tensor<4x9x8x3xf32>, tensor<4x7x6x5xf32>) -> tensor<3x3x3x5xf32>)"),
            R"(operands 3 whole results 2 blocks 3
operands 0 0 results sum blocks 4
operands whole 3 results 3 blocks 5
otherwise: a window needs its neighbours along dimension 1
)");
}

TEST(ConvolutionRuleTest, WindowsOfOneElement) {
  EXPECT_EQ(RuleOf({"4x9x8x3xf32", "1x1x3x5xf32"},
                   R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}>
    : (tensor<4x9x8x3xf32>, tensor<1x1x3x5xf32>) -> tensor<4x9x8x5xf32>)"),
            R"(operands 0 whole results 0 blocks 4
operands 3 2 results sum blocks 3
operands whole 3 results 3 blocks 5
operands 1 whole results 1 blocks 9
operands 2 whole results 2 blocks 8
)");
}

TEST(ConvolutionRuleTest, WindowsSideBySide) {
  EXPECT_EQ(RuleOf({"4x9x8x3xf32", "3x2x3x5xf32"},
                   R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    window_strides = array<i64: 3, 2>}>
    : (tensor<4x9x8x3xf32>, tensor<3x2x3x5xf32>) -> tensor<4x3x4x5xf32>)"),
            R"(operands 0 whole results 0 blocks 4
operands 3 2 results sum blocks 3
operands whole 3 results 3 blocks 5
operands 1 whole results 1 blocks 3
operands 2 whole results 2 blocks 4
)");
}

TEST(ConvolutionRuleTest, WindowsWithGaps) {
  EXPECT_EQ(RuleOf({"4x9x8x3xf32", "1x1x3x5xf32"}, R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    window_strides = array<i64: 2, 2>}>
    : (tensor<4x9x8x3xf32>, tensor<1x1x3x5xf32>) -> tensor<4x5x4x5xf32>)"),
            R"(operands 0 whole results 0 blocks 4
operands 3 2 results sum blocks 3
operands whole 3 results 3 blocks 5
operands 2 whole results 2 blocks 4
otherwise: the windows along dimension 1 leave a rest
)");
}

TEST(ConvolutionRuleTest, OneWindowOverAll) {
  EXPECT_EQ(RuleOf({"4x9x8x3xf32", "9x3x3x5xf32"},
                   R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}>
    : (tensor<4x9x8x3xf32>, tensor<9x3x3x5xf32>) -> tensor<4x1x6x5xf32>)"),
            R"(operands 0 whole results 0 blocks 4
operands 3 2 results sum blocks 3
operands whole 3 results 3 blocks 5
operands 1 0 results sum blocks 9
otherwise: a window needs its neighbours along dimension 2
)");
}

TEST(ConvolutionRuleTest, OneReversedWindowOverAll) {
  EXPECT_EQ(RuleOf({"4x9x3xf32", "9x3x5xf32"},
                   R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    window_reversal = array<i1: true>}>
    : (tensor<4x9x3xf32>, tensor<9x3x5xf32>) -> tensor<4x1x5xf32>)"),
            R"(operands 0 whole results 0 blocks 4
operands 2 1 results sum blocks 3
operands whole 2 results 2 blocks 5
otherwise: a window needs its neighbours along dimension 1
)");
}

TEST(ConvolutionRuleTest, PaddingNeedsNeighbours) {
  EXPECT_EQ(RuleOf({"4x9x3xf32", "1x3x5xf32"},
                   R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    padding = dense<1> : tensor<1x2xi64>}>
    : (tensor<4x9x3xf32>, tensor<1x3x5xf32>) -> tensor<4x11x5xf32>)"),
            R"(operands 0 whole results 0 blocks 4
operands 2 1 results sum blocks 3
operands whole 2 results 2 blocks 5
otherwise: a window needs its neighbours along dimension 1
)");
}

TEST(ConvolutionRuleTest, GroupsOfFeatures) {
  EXPECT_EQ(RuleOf({"4x9x8x6xf32", "3x3x2x12xf32"},
                   R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 3 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}>
    : (tensor<4x9x8x6xf32>, tensor<3x3x2x12xf32>) -> tensor<4x7x6x12xf32>)"),
            R"(operands 0 whole results 0 blocks 4
operands 3 3 results 3 blocks 3
otherwise: a chunk must hold whole groups of dimension 3
)");
}

TEST(ConvolutionRuleTest, GroupsOfBatches) {
  EXPECT_EQ(RuleOf({"8x9x8x3xf32", "3x3x3x12xf32"},
                   R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 4 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}>
    : (tensor<8x9x8x3xf32>, tensor<3x3x3x12xf32>) -> tensor<2x7x6x12xf32>)"),
            R"(operands 0 3 results 3 blocks 4
operands 3 2 results sum blocks 3
otherwise: a chunk must hold whole groups of dimension 0
)");
}

TEST(ReduceWindowRuleTest, WindowsSideBySide) {
  EXPECT_EQ(
      RuleOf(
          {"5x8x9xf32", "f32"},
          R"(%r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 1, 2, 3>, window_strides = array<i64: 1, 2, 3>}> ({
^bb1(%a0: tensor<f32>, %a1: tensor<f32>):
  %s0 = "stablehlo.maximum"(%a0, %a1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s0) : (tensor<f32>) -> ()
}) : (tensor<5x8x9xf32>, tensor<f32>) -> tensor<5x4x3xf32>)"),
      R"(operands 0 whole results 0 blocks 5
operands 1 whole results 1 blocks 4
operands 2 whole results 2 blocks 3
)");
}

TEST(ReduceWindowRuleTest, WindowsThatLeaveARest) {
  EXPECT_EQ(
      RuleOf(
          {"5x9xf32", "f32"},
          R"(%r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
^bb1(%a0: tensor<f32>, %a1: tensor<f32>):
  %s0 = "stablehlo.maximum"(%a0, %a1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s0) : (tensor<f32>) -> ()
}) : (tensor<5x9xf32>, tensor<f32>) -> tensor<5x4xf32>)"),
      R"(operands 0 whole results 0 blocks 5
otherwise: the windows along dimension 1 leave a rest
)");
}

TEST(ReduceWindowRuleTest, CumulativeMaximum) {
  EXPECT_EQ(RuleOf({"5x9xf32", "f32"},
                   R"(%r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 1, 9>,
    padding = dense<[[0, 0], [8, 0]]> : tensor<2x2xi64>}> ({
^bb1(%a0: tensor<f32>, %a1: tensor<f32>):
  %s0 = "stablehlo.maximum"(%a0, %a1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s0) : (tensor<f32>) -> ()
}) : (tensor<5x9xf32>, tensor<f32>) -> tensor<5x9xf32>)"),
            R"(operands 0 whole results 0 blocks 5
otherwise: a window needs its neighbours along dimension 1
)");
}

TEST(ReduceWindowRuleTest, SeveralOperands) {
  EXPECT_EQ(
      RuleOf(
          {"5x9xf32", "5x9xi32", "f32", "i32"},
          R"(%r:2 = "stablehlo.reduce_window"(%0, %1, %2, %3) <{window_dimensions = array<i64: 1, 3>}> ({
^bb1(%a0: tensor<f32>, %a1: tensor<i32>, %a2: tensor<f32>, %a3: tensor<i32>):
  %s0 = "stablehlo.maximum"(%a0, %a2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s1 = "stablehlo.maximum"(%a1, %a3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  "stablehlo.return"(%s0, %s1) : (tensor<f32>, tensor<i32>) -> ()
}) : (tensor<5x9xf32>, tensor<5x9xi32>, tensor<f32>, tensor<i32>)
    -> (tensor<5x7xf32>, tensor<5x7xi32>))"),
      R"(operands 0 0 whole whole results 0 0 blocks 5
otherwise: a window needs its neighbours along dimension 1
)");
}

TEST(SelectAndScatterRuleTest, WindowsSideBySide) {
  EXPECT_EQ(
      RuleOf(
          {"5x8xf32", "5x4xf32", "f32"},
          R"(%r = "stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 1, 2>,
    window_strides = array<i64: 1, 2>}> ({
^bb1(%a: tensor<f32>, %b: tensor<f32>):
  %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}>
      : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%c) : (tensor<i1>) -> ()
}, {
^bb1(%a: tensor<f32>, %b: tensor<f32>):
  %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s) : (tensor<f32>) -> ()
}) : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<f32>) -> tensor<5x8xf32>)"),
      R"(operands 0 0 whole results 0 blocks 5
operands 1 1 whole results 1 blocks 4
)");
}

TEST(SelectAndScatterRuleTest, WindowsOverlap) {
  EXPECT_EQ(
      RuleOf(
          {"5x8xf32", "5x7xf32", "f32"},
          R"(%r = "stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 1, 2>,
    window_strides = array<i64: 1, 1>}> ({
^bb1(%a: tensor<f32>, %b: tensor<f32>):
  %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}>
      : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%c) : (tensor<i1>) -> ()
}, {
^bb1(%a: tensor<f32>, %b: tensor<f32>):
  %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s) : (tensor<f32>) -> ()
}) : (tensor<5x8xf32>, tensor<5x7xf32>, tensor<f32>) -> tensor<5x8xf32>)"),
      R"(operands 0 0 whole results 0 blocks 5
otherwise: a window needs its neighbours along dimension 1
)");
}

}  // namespace
}  // namespace plimsoll::testing
