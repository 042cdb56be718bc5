#include <limits>

#include "ir/testing.h"

namespace plimsoll {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

class InferShapesTest : public testing::TypesTest {
 protected:
  std::string Slice(std::string_view operand, std::initializer_list<int64_t> starts,
                    std::initializer_list<int64_t> limits, std::initializer_list<int64_t> strides) {
    return Infer(Opcode::kSlice, {operand},
                 {{"start_indices", Ints(starts)},
                  {"limit_indices", Ints(limits)},
                  {"strides", Ints(strides)}});
  }

  std::string Pad(std::string_view operand, std::string_view value,
                  std::initializer_list<int64_t> low, std::initializer_list<int64_t> high,
                  std::initializer_list<int64_t> interior) {
    return Infer(Opcode::kPad, {operand, value},
                 {{"edge_padding_low", Ints(low)},
                  {"edge_padding_high", Ints(high)},
                  {"interior_padding", Ints(interior)}});
  }
};

TEST_F(InferShapesTest, BroadcastPutsSizesInFront) {
  EXPECT_EQ(Infer(Opcode::kBroadcast, {"<=3xf32"}, {{"broadcast_sizes", Ints({2, 4})}}),
            "tensor<2x4x?xf32, #stablehlo.bounds<?, ?, 3>>");
}

TEST_F(InferShapesTest, BroadcastRefusesNegativeSizes) {
  EXPECT_EQ(Infer(Opcode::kBroadcast, {"3xf32"}, {{"broadcast_sizes", Ints({kSmallest})}}),
            "stablehlo.broadcast: broadcast_sizes must not be negative, found [?]");
}

TEST_F(InferShapesTest, ConcatenateAddsSizes) {
  EXPECT_EQ(Infer(Opcode::kConcatenate, {"2x3xf32", "4x3xf32", "0x3xf32"},
                  {{"dimension", context_.I64(0)}}),
            "tensor<6x3xf32>");
}

TEST_F(InferShapesTest, ConcatenateAddsBounds) {
  const Properties along_0 = {{"dimension", context_.I64(0)}};
  EXPECT_EQ(Infer(Opcode::kConcatenate, {"2x3xf32", "<=4x?xf32"}, along_0),
            "tensor<?x3xf32, #stablehlo.bounds<6, ?>>");
  EXPECT_EQ(Infer(Opcode::kConcatenate, {"2x3xf32", "?x3xf32"}, along_0), "tensor<?x3xf32>");
}

TEST_F(InferShapesTest, ConcatenateRefuses) {
  const Properties along_0 = {{"dimension", context_.I64(0)}};
  EXPECT_EQ(Infer(Opcode::kConcatenate, {}, along_0),
            "stablehlo.concatenate: expected at least 1 operand, found 0");
  EXPECT_EQ(Infer(Opcode::kConcatenate, {"f32"}, along_0),
            "stablehlo.concatenate: dimension names dimension 0 of a tensor with 0 dimensions");
  EXPECT_EQ(Infer(Opcode::kConcatenate, {"2xf32"}, {{"dimension", context_.I64(-1)}}),
            "stablehlo.concatenate: dimension names dimension -1 of a tensor with 1 dimension");
  EXPECT_EQ(Infer(Opcode::kConcatenate, {"2x3xf32", "2x4xf32"}, along_0),
            "stablehlo.concatenate: operands 0 and 1 differ in dimension 1, which is not the one "
            "that is joined (0): found tensor<2x3xf32> and tensor<2x4xf32>");
  EXPECT_EQ(Infer(Opcode::kConcatenate, {"2xf32", "2x4xf32"}, along_0),
            "stablehlo.concatenate: operands 0 and 1 must have as many dimensions, found "
            "tensor<2xf32> and tensor<2x4xf32>");
  EXPECT_EQ(Infer(Opcode::kConcatenate, {"2xf32", "2xi32"}, along_0),
            "stablehlo.concatenate: operands 0 and 1 must have the same element type, found "
            "tensor<2xf32> and tensor<2xi32>");
}

TEST_F(InferShapesTest, ConcatenateRefusesTooLargeSums) {
  const std::string large = std::to_string(kLargest) + "xi8";
  EXPECT_EQ(Infer(Opcode::kConcatenate, {large, "1xi8"}, {{"dimension", context_.I64(0)}}),
            "stablehlo.concatenate: dimension 0 of the result is too large");
}

TEST_F(InferShapesTest, SliceCountsSteps) {
  EXPECT_EQ(Slice("10x7xf32", {1, 0}, {8, 7}, {3, 1}), "tensor<3x7xf32>");
  EXPECT_EQ(Slice("10xf32", {4}, {4}, {1}), "tensor<0xf32>");
  EXPECT_EQ(Slice("?xf32", {0}, {4}, {1}), "tensor<4xf32>");
  EXPECT_EQ(Slice("10xf32", {0}, {10}, {kLargest}), "tensor<1xf32>");
}

TEST_F(InferShapesTest, SliceRefuses) {
  EXPECT_EQ(Slice("10xf32", {-1}, {4}, {1}),
            "stablehlo.slice: slice -1:4 is not within dimension 0 of tensor<10xf32>");
  EXPECT_EQ(Slice("10xf32", {0}, {11}, {1}),
            "stablehlo.slice: slice 0:11 is not within dimension 0 of tensor<10xf32>");
  EXPECT_EQ(Slice("10xf32", {5}, {4}, {1}),
            "stablehlo.slice: slice 5:4 is not within dimension 0 of tensor<10xf32>");
  EXPECT_EQ(Slice("<=3xf32", {0}, {4}, {1}),
            "stablehlo.slice: slice 0:4 is not within dimension 0 of tensor<?xf32, "
            "#stablehlo.bounds<3>>");
  EXPECT_EQ(Slice("10xf32", {0}, {4}, {0}), "stablehlo.slice: strides must be positive, found [0]");
  EXPECT_EQ(Slice("10xf32", {0, 0}, {4}, {1}),
            "stablehlo.slice: start_indices must have 1 number, one for each dimension, found [0, "
            "0]");
}

TEST_F(InferShapesTest, DynamicSliceHasItsSizes) {
  EXPECT_EQ(
      Infer(Opcode::kDynamicSlice, {"10x?xf32", "i32", "i32"}, {{"slice_sizes", Ints({2, 3})}}),
      "tensor<2x3xf32>");
}

TEST_F(InferShapesTest, DynamicSliceRefuses) {
  const Properties sizes = {{"slice_sizes", Ints({2, 3})}};
  EXPECT_EQ(Infer(Opcode::kDynamicSlice, {"10x5xf32", "i32"}, sizes),
            "stablehlo.dynamic_slice: expected 3 operands, found 2");
  EXPECT_EQ(Infer(Opcode::kDynamicSlice, {"10x5xf32", "i32", "i64"}, sizes),
            "stablehlo.dynamic_slice: operands 1 and 2 must have the same element type, found "
            "tensor<i32> and tensor<i64>");
  EXPECT_EQ(Infer(Opcode::kDynamicSlice, {"10x5xf32", "i32", "1xi32"}, sizes),
            "stablehlo.dynamic_slice: operand 2 must be a scalar integer, found tensor<1xi32>");
  EXPECT_EQ(Infer(Opcode::kDynamicSlice, {"10x2xf32", "i32", "i32"}, sizes),
            "stablehlo.dynamic_slice: slice_sizes wants 3 of dimension 1 of operand 0, "
            "tensor<10x2xf32>");
  EXPECT_EQ(Infer(Opcode::kDynamicSlice, {"10xf32", "i32"}, {{"slice_sizes", Ints({-1})}}),
            "stablehlo.dynamic_slice: slice_sizes wants -1 of dimension 0 of operand 0, "
            "tensor<10xf32>");
}

TEST_F(InferShapesTest, DynamicUpdateSliceHasItsOperandsType) {
  EXPECT_EQ(Infer(Opcode::kDynamicUpdateSlice, {"10x5xf32", "2x?xf32", "i32", "i32"}),
            "tensor<10x5xf32>");
}

TEST_F(InferShapesTest, DynamicUpdateSliceRefuses) {
  EXPECT_EQ(Infer(Opcode::kDynamicUpdateSlice, {"10xf32", "11xf32", "i32"}),
            "stablehlo.dynamic_update_slice: operand 1, tensor<11xf32>, does not fit into operand "
            "0, tensor<10xf32>");
  EXPECT_EQ(Infer(Opcode::kDynamicUpdateSlice, {"10xf32", "2xf64", "i32"}),
            "stablehlo.dynamic_update_slice: operands 0 and 1 must have the same element type, "
            "found tensor<10xf32> and tensor<2xf64>");
  EXPECT_EQ(Infer(Opcode::kDynamicUpdateSlice, {"10xf32", "2x1xf32", "i32"}),
            "stablehlo.dynamic_update_slice: operand 1, tensor<2x1xf32>, does not fit into operand "
            "0, tensor<10xf32>");
}

TEST_F(InferShapesTest, DimensionSizeIsOneNumber) {
  EXPECT_EQ(Infer(Opcode::kGetDimensionSize, {"?xf32"}, {{"dimension", context_.I64(0)}}),
            "tensor<i32>");
  EXPECT_EQ(Infer(Opcode::kGetDimensionSize, {"?xf32"}, {{"dimension", context_.I64(1)}}),
            "stablehlo.get_dimension_size: dimension names dimension 1 of a tensor with 1 "
            "dimension");
}

TEST_F(InferShapesTest, SetDimensionSizeTurnsSizeIntoBound) {
  const Properties dimension_0 = {{"dimension", context_.I64(0)}};
  EXPECT_EQ(Infer(Opcode::kSetDimensionSize, {"4x2xf32", "i32"}, dimension_0),
            "tensor<?x2xf32, #stablehlo.bounds<4, ?>>");
  EXPECT_EQ(Infer(Opcode::kSetDimensionSize, {"4xf32", "1xi32"}, dimension_0),
            "stablehlo.set_dimension_size: operand 1 must be a scalar integer, found "
            "tensor<1xi32>");
}

TEST_F(InferShapesTest, PadAddsEdgesAndHoles) {
  EXPECT_EQ(Pad("4x3xf32", "f32", {1, 0}, {2, -1}, {0, 2}), "tensor<7x6xf32>");
  EXPECT_EQ(Pad("0xf32", "f32", {1}, {1}, {5}), "tensor<2xf32>");
  EXPECT_EQ(Pad("<=4x?xf32", "f32", {1, 1}, {0, 0}, {0, 0}),
            "tensor<?x?xf32, #stablehlo.bounds<5, ?>>");
}

TEST_F(InferShapesTest, PadRefuses) {
  EXPECT_EQ(Pad("4xf32", "1xf32", {1}, {1}, {0}),
            "stablehlo.pad: operand 1 must be a scalar, found tensor<1xf32>");
  EXPECT_EQ(Pad("4xf32", "i32", {1}, {1}, {0}),
            "stablehlo.pad: operands 0 and 1 must have the same element type, found tensor<4xf32> "
            "and tensor<i32>");
  EXPECT_EQ(Pad("4xf32", "f32", {1}, {1}, {-1}),
            "stablehlo.pad: interior_padding must not be negative, found [-1]");
  EXPECT_EQ(Pad("4xf32", "f32", {-3}, {-2}, {0}),
            "stablehlo.pad: padding of -3, -2 and 0 between elements does not fit dimension 0 of "
            "tensor<4xf32>");
  EXPECT_EQ(
      Pad("4xf32", "f32", {1}, {1, 2}, {0}),
      "stablehlo.pad: edge_padding_high must have 1 number, one for each dimension, found [1, "
      "2]");
}

TEST_F(InferShapesTest, PadRefusesTooLargeSizes) {
  EXPECT_EQ(Pad("4xf32", "f32", {kLargest}, {kLargest}, {0}).substr(0, 33),
            "stablehlo.pad: padding of 9223372");
  EXPECT_EQ(Pad("4xf32", "f32", {0}, {0}, {kLargest}).substr(0, 26), "stablehlo.pad: padding of ");
}

TEST_F(InferShapesTest, ReverseKeepsType) {
  EXPECT_EQ(Infer(Opcode::kReverse, {"2x3xf32"}, {{"dimensions", Ints({1})}}), "tensor<2x3xf32>");
  EXPECT_EQ(Infer(Opcode::kReverse, {"2x3xf32"}, {{"dimensions", Ints({1, 1})}}),
            "stablehlo.reverse: dimensions names dimension 1 twice");
  EXPECT_EQ(Infer(Opcode::kReverse, {"2x3xf32"}, {{"dimensions", Ints({2})}}),
            "stablehlo.reverse: dimensions names dimension 2 of a tensor with 2 dimensions");
}

TEST_F(InferShapesTest, TransposePermutesSizesAndBounds) {
  EXPECT_EQ(Infer(Opcode::kTranspose, {"2x<=3x4xf32"}, {{"permutation", Ints({1, 2, 0})}}),
            "tensor<?x4x2xf32, #stablehlo.bounds<3, ?, ?>>");
  EXPECT_EQ(Infer(Opcode::kTranspose, {"f32"}, {{"permutation", Ints({})}}), "tensor<f32>");
}

TEST_F(InferShapesTest, TransposeMovesScalesWithTheirDimension) {
  EXPECT_EQ(Infer(Opcode::kTranspose, {"4x2xq8:1"}, {{"permutation", Ints({1, 0})}}),
            "tensor<2x4x!quant.uniform<i8:f32:0, {0.5, 0.25}>>");
}

TEST_F(InferShapesTest, TransposeRefuses) {
  EXPECT_EQ(Infer(Opcode::kTranspose, {"2x3xf32"}, {{"permutation", Ints({0, 0})}}),
            "stablehlo.transpose: permutation names dimension 0 twice");
  EXPECT_EQ(
      Infer(Opcode::kTranspose, {"2x3xf32"}, {{"permutation", Ints({0})}}),
      "stablehlo.transpose: permutation must have 2 numbers, one for each dimension, found [0]");
  EXPECT_EQ(Infer(Opcode::kTranspose, {"2x3xf32"}, {{"permutation", context_.String("x")}}),
            "stablehlo.transpose: attribute permutation must be a list of i64, found a string");
}

}  // namespace
}  // namespace plimsoll
