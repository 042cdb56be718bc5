// The axis rules of gather and scatter, text in and text out.

#include <string>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

TEST(GatherRuleTest, RowsByIndex) {
  EXPECT_EQ(RuleOf({"7x6xf32", "5x1xi32"},
                   R"(%r = "stablehlo.gather"(%0, %1)
    <{dimension_numbers = #stablehlo.gather<
    offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}>
    : (tensor<7x6xf32>, tensor<5x1xi32>) -> tensor<5x6xf32>)"),
            R"(operands whole 0 results 0 blocks 5
operands 0 whole results sum blocks 7
operands 1 whole results 1 blocks 6
otherwise: dimension 1 of the indices holds the numbers of one index
)");
}

TEST(GatherRuleTest, PairsOfIndices) {
  EXPECT_EQ(RuleOf({"7x6xi1", "5x4x2xi32"},
                   R"(%r = "stablehlo.gather"(%0, %1)
    <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}>
    : (tensor<7x6xi1>, tensor<5x4x2xi32>) -> tensor<5x4xi1>)"),
            R"(operands whole 0 results 0 blocks 5
operands whole 1 results 1 blocks 4
operands 0 whole results or blocks 7
operands 1 whole results or blocks 6
otherwise: dimension 2 of the indices holds the numbers of one index
)");
}

TEST(GatherRuleTest, IndicesWithoutDimensionOfTheirOwn) {
  EXPECT_EQ(RuleOf({"7x6xf32", "5xui8"},
                   R"(%r = "stablehlo.gather"(%0, %1)
    <{dimension_numbers = #stablehlo.gather<
    offset_dims = [0], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}>
    : (tensor<7x6xf32>, tensor<5xui8>) -> tensor<6x5xf32>)"),
            R"(operands whole 0 results 1 blocks 5
operands 0 whole results sum blocks 7
operands 1 whole results 0 blocks 6
)");
}

TEST(GatherRuleTest, Batches) {
  EXPECT_EQ(RuleOf({"4x7x6xf32", "5x4x1xi32"},
                   R"(%r = "stablehlo.gather"(%0, %1)
    <{dimension_numbers = #stablehlo.gather<
    offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0],
    start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 6>}>
    : (tensor<4x7x6xf32>, tensor<5x4x1xi32>) -> tensor<5x4x6xf32>)"),
            R"(operands whole 0 results 0 blocks 5
operands 0 1 results 1 blocks 4
operands 1 whole results sum blocks 7
operands 2 whole results 2 blocks 6
otherwise: dimension 2 of the indices holds the numbers of one index
)");
}

TEST(GatherRuleTest, WindowsAnywhere) {
  EXPECT_EQ(RuleOf({"7x6xf32", "5x1xi32"},
                   R"(%r = "stablehlo.gather"(%0, %1)
    <{dimension_numbers = #stablehlo.gather<
    offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 3, 6>}>
    : (tensor<7x6xf32>, tensor<5x1xi32>) -> tensor<5x3x6xf32>)"),
            R"(operands whole 0 results 0 blocks 5
operands whole whole results 1 blocks 3
operands 1 whole results 2 blocks 6
otherwise: gather's windows lie anywhere along dimension 0 of the operand
)");
}

TEST(GatherRuleTest, BeginningsOfRows) {
  EXPECT_EQ(RuleOf({"7x6xf32", "5x1xi32"},
                   R"(%r = "stablehlo.gather"(%0, %1)
    <{dimension_numbers = #stablehlo.gather<
    offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}>
    : (tensor<7x6xf32>, tensor<5x1xi32>) -> tensor<5x2xf32>)"),
            R"(operands whole 0 results 0 blocks 5
operands 0 whole results sum blocks 7
otherwise: gather takes only the beginning of dimension 1 of the operand
)");
}

TEST(GatherRuleTest, DimensionsOfOneAreOnNoAxis) {
  EXPECT_EQ(RuleOf({"1x1xf32", "5x1xi32"},
                   R"(%r = "stablehlo.gather"(%0, %1)
    <{dimension_numbers = #stablehlo.gather<
    offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
    : (tensor<1x1xf32>, tensor<5x1xi32>) -> tensor<5x1xf32>)"),
            R"(operands whole 0 results 0 blocks 5
otherwise: dimension 1 of the indices holds the numbers of one index
)");
}

TEST(ScatterRuleTest, RowsByIndex) {
  EXPECT_EQ(
      RuleOf(
          {"7x6xf32", "5x1xi32", "5x6xf32"},
          R"(%r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [1], inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
^bb1(%a0: tensor<f32>, %a1: tensor<f32>):
  %s0 = "stablehlo.add"(%a0, %a1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s0) : (tensor<f32>) -> ()
}) : (tensor<7x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>) -> tensor<7x6xf32>)"),
      R"(operands whole 0 0 results fold blocks 5
operands 0 whole whole results 0 blocks 7
operands 1 whole 1 results 1 blocks 6
otherwise: dimension 1 of the indices holds the numbers of one index
)");
}

TEST(ScatterRuleTest, SeveralOperands) {
  EXPECT_EQ(
      RuleOf(
          {"7x6xf32", "7x6xi32", "5x1xi32", "5x6xf32", "5x6xi32"},
          R"(%r:2 = "stablehlo.scatter"(%0, %1, %2, %3, %4) <{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [1], inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
^bb1(%a0: tensor<f32>, %a1: tensor<i32>, %a2: tensor<f32>, %a3: tensor<i32>):
  %s0 = "stablehlo.add"(%a0, %a2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s1 = "stablehlo.add"(%a1, %a3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  "stablehlo.return"(%s0, %s1) : (tensor<f32>, tensor<i32>) -> ()
}) : (tensor<7x6xf32>, tensor<7x6xi32>, tensor<5x1xi32>, tensor<5x6xf32>, tensor<5x6xi32>)
    -> (tensor<7x6xf32>, tensor<7x6xi32>))"),
      R"(operands whole whole 0 0 0 results fold fold blocks 5
operands 0 0 whole whole whole results 0 0 blocks 7
operands 1 1 whole 1 1 results 1 1 blocks 6
otherwise: dimension 1 of the indices holds the numbers of one index
)");
}

TEST(ScatterRuleTest, PairsOfIndices) {
  EXPECT_EQ(
      RuleOf(
          {"7x6xf32", "5x2xi32", "5xf32"},
          R"(%r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<
    inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0],
    index_vector_dim = 1>}> ({
^bb1(%a0: tensor<f32>, %a1: tensor<f32>):
  %s0 = "stablehlo.add"(%a0, %a1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s0) : (tensor<f32>) -> ()
}) : (tensor<7x6xf32>, tensor<5x2xi32>, tensor<5xf32>) -> tensor<7x6xf32>)"),
      R"(operands whole 0 0 results fold blocks 5
operands 0 whole whole results 0 blocks 7
operands 1 whole whole results 1 blocks 6
otherwise: dimension 1 of the indices holds the numbers of one index
)");
}

TEST(ScatterRuleTest, Batches) {
  EXPECT_EQ(
      RuleOf(
          {"4x7x6xf32", "5x4x1xi32", "5x4x6xf32"},
          R"(%r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0],
    scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
^bb1(%a0: tensor<f32>, %a1: tensor<f32>):
  %s0 = "stablehlo.add"(%a0, %a1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s0) : (tensor<f32>) -> ()
}) : (tensor<4x7x6xf32>, tensor<5x4x1xi32>, tensor<5x4x6xf32>) -> tensor<4x7x6xf32>)"),
      R"(operands whole 0 0 results fold blocks 5
operands 0 1 1 results 0 blocks 4
operands 1 whole whole results 1 blocks 7
operands 2 whole 2 results 2 blocks 6
otherwise: dimension 2 of the indices holds the numbers of one index
)");
}

TEST(ScatterRuleTest, WindowsAnywhere) {
  EXPECT_EQ(
      RuleOf(
          {"7x6xf32", "5x1xi32", "5x3x6xf32"},
          R"(%r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
^bb1(%a0: tensor<f32>, %a1: tensor<f32>):
  %s0 = "stablehlo.add"(%a0, %a1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s0) : (tensor<f32>) -> ()
}) : (tensor<7x6xf32>, tensor<5x1xi32>, tensor<5x3x6xf32>) -> tensor<7x6xf32>)"),
      R"(operands whole 0 0 results fold blocks 5
operands 1 whole 2 results 1 blocks 6
otherwise: scatter's windows lie anywhere along dimension 0 of the operand
)");
}

TEST(ScatterRuleTest, BeginningsOfRows) {
  EXPECT_EQ(
      RuleOf(
          {"7x6xf32", "5x1xi32", "5x2xf32"},
          R"(%r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [1], inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
^bb1(%a0: tensor<f32>, %a1: tensor<f32>):
  %s0 = "stablehlo.add"(%a0, %a1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s0) : (tensor<f32>) -> ()
}) : (tensor<7x6xf32>, tensor<5x1xi32>, tensor<5x2xf32>) -> tensor<7x6xf32>)"),
      R"(operands whole 0 0 results fold blocks 5
operands 0 whole whole results 0 blocks 7
otherwise: scatter writes only to the beginning of dimension 1 of the operand
)");
}

}  // namespace
}  // namespace plimsoll::testing
