// Convolutions on one chunk, text in and text out.

#include "gtest/gtest.h"
#include "split/testing.h"

namespace plimsoll::testing {
namespace {

TEST(ConvolutionChunkTest, UsualDimensionsStay) {
  EXPECT_EQ(
      ChunkOf({"4x9x8x3xf32", "3x3x3x5xf32"}, R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}>
    : (tensor<4x9x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<4x7x6x5xf32>)",
              0, 2),
      R"(^bb0(%arg0: tensor<4x9x8x3xf32>, %arg1: tensor<3x3x3x5xf32>, %arg2: tensor<i32>, %arg3: tensor<2x9x8x3xf32>):
  %0 = "stablehlo.convolution"(%arg3, %arg1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<2x9x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x7x6x5xf32>
  "func.return"(%0) : (tensor<2x7x6x5xf32>) -> ()
)");
}

TEST(ConvolutionChunkTest, GradientOfWeightsGetsTheUsualDimensions) {
  EXPECT_EQ(
      ChunkOf({"4x9x8x3xf32", "4x7x6x5xf32"}, R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>}>
    : (tensor<4x9x8x3xf32>, tensor<4x7x6x5xf32>) -> tensor<3x3x3x5xf32>)",
              1, 2),
      R"(^bb0(%arg0: tensor<4x9x8x3xf32>, %arg1: tensor<4x7x6x5xf32>, %arg2: tensor<i32>, %arg3: tensor<2x9x8x3xf32>, %arg4: tensor<2x7x6x5xf32>):
  %0 = "stablehlo.transpose"(%arg3) <{permutation = array<i64: 3, 1, 2, 0>}> : (tensor<2x9x8x3xf32>) -> tensor<3x9x8x2xf32>
  %1 = "stablehlo.transpose"(%arg4) <{permutation = array<i64: 1, 2, 0, 3>}> : (tensor<2x7x6x5xf32>) -> tensor<7x6x2x5xf32>
  %2 = "stablehlo.convolution"(%0, %1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<3x9x8x2xf32>, tensor<7x6x2x5xf32>) -> tensor<3x3x3x5xf32>
  %3 = "stablehlo.transpose"(%2) <{permutation = array<i64: 1, 2, 0, 3>}> : (tensor<3x3x3x5xf32>) -> tensor<3x3x3x5xf32>
  "func.return"(%3) : (tensor<3x3x3x5xf32>) -> ()
)");
}

TEST(ConvolutionChunkTest, WholeBlocks) {
  EXPECT_EQ(
      ChunkOf({"4x9x8x3xf32", "3x2x3x5xf32"}, R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    window_strides = array<i64: 3, 2>}>
    : (tensor<4x9x8x3xf32>, tensor<3x2x3x5xf32>) -> tensor<4x3x4x5xf32>)",
              3, 2),
      R"(^bb0(%arg0: tensor<4x9x8x3xf32>, %arg1: tensor<3x2x3x5xf32>, %arg2: tensor<i32>, %arg3: tensor<4x6x8x3xf32>):
  %0 = "stablehlo.convolution"(%arg3, %arg1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 3, 2>}> : (tensor<4x6x8x3xf32>, tensor<3x2x3x5xf32>) -> tensor<4x2x4x5xf32>
  "func.return"(%0) : (tensor<4x2x4x5xf32>) -> ()
)");
}

TEST(ConvolutionChunkTest, GroupsOfFeatures) {
  EXPECT_EQ(
      ChunkOf({"4x9x8x6xf32", "3x3x2x12xf32"}, R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 3 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}>
    : (tensor<4x9x8x6xf32>, tensor<3x3x2x12xf32>) -> tensor<4x7x6x12xf32>)",
              1, 2),
      R"(^bb0(%arg0: tensor<4x9x8x6xf32>, %arg1: tensor<3x3x2x12xf32>, %arg2: tensor<i32>, %arg3: tensor<4x9x8x4xf32>, %arg4: tensor<3x3x2x8xf32>):
  %0 = "stablehlo.convolution"(%arg3, %arg4) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64}> : (tensor<4x9x8x4xf32>, tensor<3x3x2x8xf32>) -> tensor<4x7x6x8xf32>
  "func.return"(%0) : (tensor<4x7x6x8xf32>) -> ()
)");
}

TEST(ConvolutionChunkTest, GroupsOfBatchesInCoarserBlocks) {
  EXPECT_EQ(
      ChunkOf({"8x9x8x3xf32", "3x3x3x12xf32"}, R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 4 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}>
    : (tensor<8x9x8x3xf32>, tensor<3x3x3x12xf32>) -> tensor<2x7x6x12xf32>)",
              0, 1, 2),
      R"(^bb0(%arg0: tensor<8x9x8x3xf32>, %arg1: tensor<3x3x3x12xf32>, %arg2: tensor<i32>, %arg3: tensor<4x9x8x3xf32>, %arg4: tensor<3x3x3x6xf32>):
  %0 = "stablehlo.convolution"(%arg3, %arg4) <{batch_group_count = 2 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<4x9x8x3xf32>, tensor<3x3x3x6xf32>) -> tensor<2x7x6x6xf32>
  "func.return"(%0) : (tensor<2x7x6x6xf32>) -> ()
)");
}

TEST(ConvolutionChunkTest, ShortFloatsAreAddedUpAsLongerOnes) {
  EXPECT_EQ(
      ChunkOf({"4x9x3xbf16", "3x3x5xbf16"}, R"(%r = "stablehlo.convolution"(%0, %1)
    <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
    : (tensor<4x9x3xbf16>, tensor<3x3x5xbf16>) -> tensor<4x7x5xbf16>)",
              1, 2),
      R"(^bb0(%arg0: tensor<4x9x3xbf16>, %arg1: tensor<3x3x5xbf16>, %arg2: tensor<i32>, %arg3: tensor<4x9x2xbf16>, %arg4: tensor<3x2x5xbf16>):
  %0 = "stablehlo.convolution"(%arg3, %arg4) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<4x9x2xbf16>, tensor<3x2x5xbf16>) -> tensor<4x7x5xf32>
  "func.return"(%0) : (tensor<4x7x5xf32>) -> ()
)");
}

}  // namespace
}  // namespace plimsoll::testing
