#include <limits>

#include "ir/testing.h"

namespace plimsoll {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

class InferWindowsTest : public testing::TypesTest {
 protected:
  // Images as batch, height, width, features; kernels as height, width, input, output features.
  Attribute ImageNumbers() {
    return context_.Struct("stablehlo.conv", {{"input_batch_dimension", context_.I64(0)},
                                              {"input_feature_dimension", context_.I64(3)},
                                              {"input_spatial_dimensions", Ints({1, 2})},
                                              {"kernel_input_feature_dimension", context_.I64(2)},
                                              {"kernel_output_feature_dimension", context_.I64(3)},
                                              {"kernel_spatial_dimensions", Ints({0, 1})},
                                              {"output_batch_dimension", context_.I64(0)},
                                              {"output_feature_dimension", context_.I64(3)},
                                              {"output_spatial_dimensions", Ints({1, 2})}});
  }

  Attribute Padding(const std::vector<int64_t>& numbers, int64_t pairs) {
    const Type type = context_.TensorType({pairs, 2}, context_.IntegerType(64));
    return context_.DenseElements(
        type, {reinterpret_cast<const char*>(numbers.data()), 8 * numbers.size()});
  }

  // With `more` in place of what is usual.
  Properties Image(const Properties& more = {}, int64_t feature_groups = 1,
                   int64_t batch_groups = 1) {
    Properties properties = {{"dimension_numbers", ImageNumbers()},
                             {"feature_group_count", context_.I64(feature_groups)},
                             {"batch_group_count", context_.I64(batch_groups)}};
    properties.insert(properties.end(), more.begin(), more.end());
    return properties;
  }

  std::string Convolve(std::string_view input, std::string_view kernel,
                       const Properties& properties) {
    return Infer(Opcode::kConvolution, {input, kernel}, properties);
  }
};

TEST_F(InferWindowsTest, ConvolutionOfImages) {
  EXPECT_EQ(Convolve("8x16x16x3xf32", "5x3x3x7xf32", Image()), "tensor<8x12x14x7xf32>");
}

TEST_F(InferWindowsTest, ConvolutionWithStridesDilationsAndPadding) {
  EXPECT_EQ(Convolve("8x16x16x3xf32", "3x3x3x7xf32",
                     Image({{"window_strides", Ints({2, 1})},
                            {"lhs_dilation", Ints({1, 2})},
                            {"rhs_dilation", Ints({2, 1})},
                            {"padding", Padding({1, 1, 0, -1}, 2)}})),
            "tensor<8x7x28x7xf32>");
}

TEST_F(InferWindowsTest, PaddingMayRepeatOneNumber) {
  EXPECT_EQ(Convolve("8x16x16x3xf32", "3x3x3x7xf32", Image({{"padding", Padding({1}, 2)}})),
            "tensor<8x16x16x7xf32>");
}

TEST_F(InferWindowsTest, ConvolutionInGroups) {
  EXPECT_EQ(Convolve("8x16x16x6xf32", "3x3x3x4xf32", Image({}, 2)), "tensor<8x14x14x4xf32>");
  EXPECT_EQ(Convolve("8x16x16x3xf32", "3x3x3x4xf32", Image({}, 1, 4)), "tensor<2x14x14x4xf32>");
}

TEST_F(InferWindowsTest, ConvolutionOfUnknownSizes) {
  EXPECT_EQ(Convolve("?x?x<=16x3xf32", "3x3x3x7xf32", Image()),
            "tensor<?x?x?x7xf32, #stablehlo.bounds<?, ?, 14, ?>>");
}

TEST_F(InferWindowsTest, WindowLargerThanInputHasNoPlace) {
  EXPECT_EQ(Convolve("8x2x2x3xf32", "3x3x3x7xf32", Image()), "tensor<8x0x0x7xf32>");
  EXPECT_EQ(Convolve("8x2x2x3xf32", "1x1x3x7xf32", Image({{"padding", Padding({-9}, 2)}})),
            "tensor<8x0x0x7xf32>");
}

TEST_F(InferWindowsTest, DynamicConvolutionDoesNotKnowItsPadding) {
  EXPECT_EQ(Infer(Opcode::kDynamicConv, {"8x16x16x3xf32", "3x3x3x7xf32", "2x2xi32"}, Image()),
            "tensor<8x?x?x7xf32>");
}

TEST_F(InferWindowsTest, ConvolutionRefusesFeaturesThatDiffer) {
  EXPECT_EQ(Convolve("8x16x16x3xf32", "3x3x4x7xf32", Image()),
            "stablehlo.convolution: the input's features of size 3 cannot be 1 groups of 4");
  EXPECT_EQ(Convolve("8x16x16x4xf32", "3x3x2x7xf32", Image({}, 2)),
            "stablehlo.convolution: the output's features of size 7 cannot be 2 groups");
  EXPECT_EQ(Convolve("7x16x16x3xf32", "3x3x3x4xf32", Image({}, 1, 2)),
            "stablehlo.convolution: the input's batch of size 7 cannot be 2 groups");
  EXPECT_EQ(Convolve("8x16x16x3xf32", "3x3x3x4xf32", Image({}, 0)),
            "stablehlo.convolution: feature_group_count and batch_group_count must be positive and "
            "one of them 1, found 0 and 1");
}

TEST_F(InferWindowsTest, ConvolutionRefusesNumbersThatDoNotFit) {
  EXPECT_EQ(Convolve("8x16x3xf32", "3x3x3x7xf32", Image()),
            "stablehlo.convolution: operands must have as many dimensions, at least 2, found "
            "tensor<8x16x3xf32> and tensor<3x3x3x7xf32>");
  EXPECT_EQ(Convolve("8x16x3xf32", "3x3x7xf32", Image()),
            "stablehlo.convolution: the list of input_batch_dimension, input_feature_dimension and "
            "input_spatial_dimensions names dimension 3 of a tensor with 3 dimensions");
  EXPECT_EQ(Convolve("8x16x16x2x3xf32", "3x3x2x3x7xf32", Image()),
            "stablehlo.convolution: input_spatial_dimensions must name 3 dimensions, found [1, 2]");
}

TEST_F(InferWindowsTest, ConvolutionRefusesWindowsThatDoNotFit) {
  const auto with = [&](std::string_view name, Attribute value) {
    return Convolve("8x16x16x3xf32", "3x3x3x7xf32", Image({{name, value}}));
  };
  EXPECT_EQ(with("window_strides", Ints({1})),
            "stablehlo.convolution: window_strides must have 2 numbers, found [1]");
  EXPECT_EQ(with("window_strides", Ints({1, 0})),
            "stablehlo.convolution: window_strides must be positive, found [1, 0]");
  EXPECT_EQ(with("padding", Padding({1, 1, 1, 1, 1, 1}, 3)),
            "stablehlo.convolution: padding must be 2 pairs, found tensor<3x2xi64>");
  EXPECT_EQ(with("padding", Padding({1, 1, 1}, 2)),
            "stablehlo.convolution: padding must be 2 pairs, found tensor<2x2xi64>");
  EXPECT_EQ(with("padding", Ints({1, 1, 1, 1})),
            "stablehlo.convolution: padding must be pairs of i64, found no constant");
  EXPECT_EQ(with("lhs_dilation", Ints({kLargest, 1})),
            "stablehlo.convolution: the window's places are too many to count");
  EXPECT_EQ(with("padding", Padding({kLargest}, 2)),
            "stablehlo.convolution: the window's places are too many to count");
}

TEST_F(InferWindowsTest, ConvolutionRefusesEmptyKernel) {
  EXPECT_EQ(Convolve("8x16x16x3xf32", "0x3x3x7xf32", Image()),
            "stablehlo.convolution: the window must have positive sizes, found [0, 3]");
}

TEST_F(InferWindowsTest, ReduceWindowHasOneElementForEachPlace) {
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(Infer(Opcode::kReduceWindow, {"4x10xf32", "f32"},
                  {{"window_dimensions", Ints({1, 3})}, {"window_strides", Ints({1, 3})}}),
            "tensor<4x3xf32>");
}

TEST_F(InferWindowsTest, ReduceWindowOfSeveral) {
  AddBody({"f32", "i64", "f32", "i64"}, {"f32", "i64"});
  EXPECT_EQ(Infer(Opcode::kReduceWindow, {"10xf32", "10xi32", "f32", "i32"},
                  {{"window_dimensions", Ints({2})}, {"window_dilations", Ints({3})}}),
            "tensor<7xf32>, tensor<7xi64>");
}

TEST_F(InferWindowsTest, ReduceWindowRefuses) {
  const Properties window = {{"window_dimensions", Ints({2})}};
  EXPECT_EQ(Infer(Opcode::kReduceWindow, {"10xf32"}, window),
            "stablehlo.reduce_window: expected as many initial values as inputs, found 1 operands");
  EXPECT_EQ(Infer(Opcode::kReduceWindow, {"10xf32", "9xf32", "f32", "f32"}, window),
            "stablehlo.reduce_window: operands 0 and 1 must have the same shape, found "
            "tensor<10xf32> and tensor<9xf32>");
  EXPECT_EQ(Infer(Opcode::kReduceWindow, {"10x2xf32", "f32"}, window),
            "stablehlo.reduce_window: window_dimensions must have 2 numbers, one for each "
            "dimension, found [2]");
}

TEST_F(InferWindowsTest, SelectAndScatterHasItsOperandsType) {
  AddBody({"f32", "f32"}, {"i1"});
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(Infer(Opcode::kSelectAndScatter, {"10xf32", "5xf32", "f32"},
                  {{"window_dimensions", Ints({2})}, {"window_strides", Ints({2})}}),
            "tensor<10xf32>");
}

TEST_F(InferWindowsTest, SelectAndScatterRefusesSourceOfOtherShape) {
  EXPECT_EQ(Infer(Opcode::kSelectAndScatter, {"10xf32", "6xf32", "f32"},
                  {{"window_dimensions", Ints({2})}, {"window_strides", Ints({2})}}),
            "stablehlo.select_and_scatter: operand 1 must have one element for each place of the "
            "window, tensor<5xf32>, found tensor<6xf32>");
  EXPECT_EQ(Infer(Opcode::kSelectAndScatter, {"10xf32", "5xf32", "f32"}),
            "stablehlo.select_and_scatter: window_dimensions must have 1 numbers, found []");
}

}  // namespace
}  // namespace plimsoll
