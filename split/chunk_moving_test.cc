// Ops that move elements on one chunk, text in and text out.

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "split/testing.h"

namespace plimsoll::testing {
namespace {

constexpr std::string_view kConcatenate =
    R"(%r = "stablehlo.concatenate"(%0, %1) <{dimension = 1 : i64}>
    : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>)";

constexpr std::string_view kSlice =
    R"(%r = "stablehlo.slice"(%0) <{start_indices = array<i64: 0, 1>,
      limit_indices = array<i64: 4, 9>, strides = array<i64: 1, 2>}>
    : (tensor<4x9xf32>) -> tensor<4x4xf32>)";

constexpr std::string_view kPad =
    R"(%r = "stablehlo.pad"(%0, %1) <{edge_padding_low = array<i64: 0, 1>,
      edge_padding_high = array<i64: 0, 2>, interior_padding = array<i64: 0, 0>}>
    : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x8xf32>)";

constexpr std::string_view kReverse =
    R"(%r = "stablehlo.reverse"(%0) <{dimensions = array<i64: 1>}>
    : (tensor<4x6xf32>) -> tensor<4x6xf32>)";

std::string DynamicSlice(std::string_view index) {
  return StrCat(R"(%r = "stablehlo.dynamic_slice"(%0, %1, %2) <{slice_sizes = array<i64: 4, 600>}>
    : (tensor<4x900xf32>, tensor<)",
                index, ">, tensor<", index, ">) -> tensor<4x600xf32>");
}

TEST(BroadcastInDimChunkTest, OldAndNewDimensions) {
  const std::string_view broadcast =
      R"(%r = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 1>}>
    : (tensor<6xf32>) -> tensor<4x6xf32>)";
  EXPECT_EQ(ChunkOf({"6xf32"}, broadcast, 0, 2), R"(^bb0(%arg0: tensor<6xf32>, %arg1: tensor<i32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<2x6xf32>
  "func.return"(%0) : (tensor<2x6xf32>) -> ()
)");
  EXPECT_EQ(ChunkOf({"6xf32"}, broadcast, 1, 2),
            R"(^bb0(%arg0: tensor<6xf32>, %arg1: tensor<i32>, %arg2: tensor<2xf32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<4x2xf32>
  "func.return"(%0) : (tensor<4x2xf32>) -> ()
)");
}

TEST(ConcatenateChunkTest, OtherDimension) {
  EXPECT_EQ(
      ChunkOf({"4x3xf32", "4x5xf32"}, kConcatenate, 0, 2),
      R"(^bb0(%arg0: tensor<4x3xf32>, %arg1: tensor<4x5xf32>, %arg2: tensor<i32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x5xf32>):
  %0 = "stablehlo.concatenate"(%arg3, %arg4) <{dimension = 1 : i64}> : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  "func.return"(%0) : (tensor<2x8xf32>) -> ()
)");
}

// A window of each operand, with zeros where it has no elements, and of each place the one that it
// belongs to.
TEST(ConcatenateChunkTest, JoinedDimension) {
  EXPECT_EQ(ChunkOf({"4x3xf32", "4x5xf32"}, kConcatenate, 1, 2),
            R"(^bb0(%arg0: tensor<4x3xf32>, %arg1: tensor<4x5xf32>, %arg2: tensor<i32>):
  %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x2xi32>
  %1 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4x2xi32>
  %2 = "stablehlo.add"(%0, %1) : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi32>
  %3 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %5 = "stablehlo.subtract"(%arg2, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %6 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %7 = "stablehlo.maximum"(%5, %6) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %8 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %9 = "stablehlo.minimum"(%7, %8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %11 = "stablehlo.dynamic_slice"(%arg0, %10, %9) <{slice_sizes = array<i64: 4, 2>}> : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %12 = "stablehlo.pad"(%11, %3) <{edge_padding_high = array<i64: 0, 2>, edge_padding_low = array<i64: 0, 2>, interior_padding = array<i64: 0, 0>}> : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x6xf32>
  %13 = "stablehlo.subtract"(%5, %9) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %14 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %15 = "stablehlo.add"(%13, %14) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %17 = "stablehlo.maximum"(%15, %16) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %18 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
  %19 = "stablehlo.minimum"(%17, %18) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %20 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %21 = "stablehlo.dynamic_slice"(%12, %20, %19) <{slice_sizes = array<i64: 4, 2>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %22 = "stablehlo.constant"() <{value = dense<0> : tensor<4x2xi32>}> : () -> tensor<4x2xi32>
  %23 = "stablehlo.compare"(%2, %22) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
  %24 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %25 = "stablehlo.subtract"(%arg2, %24) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %26 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %27 = "stablehlo.maximum"(%25, %26) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %28 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %29 = "stablehlo.minimum"(%27, %28) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %30 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %31 = "stablehlo.dynamic_slice"(%arg1, %30, %29) <{slice_sizes = array<i64: 4, 2>}> : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %32 = "stablehlo.pad"(%31, %3) <{edge_padding_high = array<i64: 0, 2>, edge_padding_low = array<i64: 0, 2>, interior_padding = array<i64: 0, 0>}> : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x6xf32>
  %33 = "stablehlo.subtract"(%25, %29) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %34 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %35 = "stablehlo.add"(%33, %34) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %36 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %37 = "stablehlo.maximum"(%35, %36) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %38 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
  %39 = "stablehlo.minimum"(%37, %38) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %40 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %41 = "stablehlo.dynamic_slice"(%32, %40, %39) <{slice_sizes = array<i64: 4, 2>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %42 = "stablehlo.constant"() <{value = dense<3> : tensor<4x2xi32>}> : () -> tensor<4x2xi32>
  %43 = "stablehlo.compare"(%2, %42) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
  %44 = "stablehlo.select"(%43, %21, %41) : (tensor<4x2xi1>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  "func.return"(%44) : (tensor<4x2xf32>) -> ()
)");
}

TEST(DynamicSliceChunkTest, WholeDimension) {
  EXPECT_EQ(
      ChunkOf({"4x900xf32", "i32", "i32"}, DynamicSlice("i32"), 0, 2),
      R"(^bb0(%arg0: tensor<4x900xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<2x900xf32>):
  %0 = "stablehlo.dynamic_slice"(%arg4, %arg1, %arg2) <{slice_sizes = array<i64: 2, 600>}> : (tensor<2x900xf32>, tensor<i32>, tensor<i32>) -> tensor<2x600xf32>
  "func.return"(%0) : (tensor<2x600xf32>) -> ()
)");
}

// The place is brought into the operand as that of the whole slice would be.
TEST(DynamicSliceChunkTest, SlicedDimension) {
  EXPECT_EQ(
      ChunkOf({"4x900xf32", "i64", "i64"}, DynamicSlice("i64"), 1, 200),
      R"(^bb0(%arg0: tensor<4x900xf32>, %arg1: tensor<i64>, %arg2: tensor<i64>, %arg3: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %1 = "stablehlo.maximum"(%arg2, %0) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %2 = "stablehlo.constant"() <{value = dense<300> : tensor<i64>}> : () -> tensor<i64>
  %3 = "stablehlo.minimum"(%1, %2) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %4 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<i64>
  %5 = "stablehlo.add"(%3, %4) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %6 = "stablehlo.dynamic_slice"(%arg0, %arg1, %5) <{slice_sizes = array<i64: 4, 200>}> : (tensor<4x900xf32>, tensor<i64>, tensor<i64>) -> tensor<4x200xf32>
  "func.return"(%6) : (tensor<4x200xf32>) -> ()
)");
}

TEST(DynamicSliceChunkTest, NarrowIndicesAreWidened) {
  EXPECT_EQ(
      ChunkOf({"4x900xf32", "ui8", "ui8"}, DynamicSlice("ui8"), 1, 200),
      R"(^bb0(%arg0: tensor<4x900xf32>, %arg1: tensor<ui8>, %arg2: tensor<ui8>, %arg3: tensor<i32>):
  %0 = "stablehlo.convert"(%arg1) : (tensor<ui8>) -> tensor<i32>
  %1 = "stablehlo.convert"(%arg2) : (tensor<ui8>) -> tensor<i32>
  %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %3 = "stablehlo.maximum"(%1, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %4 = "stablehlo.constant"() <{value = dense<300> : tensor<i32>}> : () -> tensor<i32>
  %5 = "stablehlo.minimum"(%3, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %6 = "stablehlo.add"(%5, %arg3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %7 = "stablehlo.dynamic_slice"(%arg0, %0, %6) <{slice_sizes = array<i64: 4, 200>}> : (tensor<4x900xf32>, tensor<i32>, tensor<i32>) -> tensor<4x200xf32>
  "func.return"(%7) : (tensor<4x200xf32>) -> ()
)");
}

TEST(DynamicUpdateSliceChunkTest, WholeDimension) {
  EXPECT_EQ(
      ChunkOf({"4x9xf32", "4x6xf32", "i32", "i32"},
              R"(%r = "stablehlo.dynamic_update_slice"(%0, %1, %2, %3)
    : (tensor<4x9xf32>, tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x9xf32>)",
              0, 2),
      R"(^bb0(%arg0: tensor<4x9xf32>, %arg1: tensor<4x6xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<2x9xf32>, %arg6: tensor<2x6xf32>):
  %0 = "stablehlo.dynamic_update_slice"(%arg5, %arg6, %arg2, %arg3) : (tensor<2x9xf32>, tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x9xf32>
  "func.return"(%0) : (tensor<2x9xf32>) -> ()
)");
}

TEST(PadChunkTest, OtherDimension) {
  EXPECT_EQ(
      ChunkOf({"4x5xf32", "f32"}, kPad, 0, 2),
      R"(^bb0(%arg0: tensor<4x5xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<2x5xf32>):
  %0 = "stablehlo.pad"(%arg3, %arg1) <{edge_padding_high = array<i64: 0, 2>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 0>}> : (tensor<2x5xf32>, tensor<f32>) -> tensor<2x8xf32>
  "func.return"(%0) : (tensor<2x8xf32>) -> ()
)");
}

TEST(PadChunkTest, PaddedDimension) {
  EXPECT_EQ(ChunkOf({"4x5xf32", "f32"}, kPad, 1, 2),
            R"(^bb0(%arg0: tensor<4x5xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.subtract"(%arg2, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %3 = "stablehlo.maximum"(%1, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %4 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %5 = "stablehlo.minimum"(%3, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %6 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %7 = "stablehlo.dynamic_slice"(%arg0, %6, %5) <{slice_sizes = array<i64: 4, 2>}> : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %8 = "stablehlo.pad"(%7, %arg1) <{edge_padding_high = array<i64: 0, 2>, edge_padding_low = array<i64: 0, 2>, interior_padding = array<i64: 0, 0>}> : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x6xf32>
  %9 = "stablehlo.subtract"(%1, %5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %10 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %11 = "stablehlo.add"(%9, %10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %13 = "stablehlo.maximum"(%11, %12) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %14 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
  %15 = "stablehlo.minimum"(%13, %14) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %17 = "stablehlo.dynamic_slice"(%8, %16, %15) <{slice_sizes = array<i64: 4, 2>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %18 = "stablehlo.pad"(%17, %arg1) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  "func.return"(%18) : (tensor<4x2xf32>) -> ()
)");
}

TEST(ReshapeChunkTest, CommonBlocks) {
  EXPECT_EQ(
      ChunkOf({"12x8xf32"},
              R"(%r = "stablehlo.reshape"(%0) : (tensor<12x8xf32>) -> tensor<8x12xf32>)", 0, 2),
      R"(^bb0(%arg0: tensor<12x8xf32>, %arg1: tensor<i32>, %arg2: tensor<6x8xf32>):
  %0 = "stablehlo.reshape"(%arg2) : (tensor<6x8xf32>) -> tensor<4x12xf32>
  "func.return"(%0) : (tensor<4x12xf32>) -> ()
)");
}

TEST(ReverseChunkTest, OtherDimension) {
  EXPECT_EQ(ChunkOf({"4x6xf32"}, kReverse, 0, 2),
            R"(^bb0(%arg0: tensor<4x6xf32>, %arg1: tensor<i32>, %arg2: tensor<2x6xf32>):
  %0 = "stablehlo.reverse"(%arg2) <{dimensions = array<i64: 1>}> : (tensor<2x6xf32>) -> tensor<2x6xf32>
  "func.return"(%0) : (tensor<2x6xf32>) -> ()
)");
}

TEST(ReverseChunkTest, ReversedDimension) {
  EXPECT_EQ(ChunkOf({"4x6xf32"}, kReverse, 1, 2),
            R"(^bb0(%arg0: tensor<4x6xf32>, %arg1: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.subtract"(%0, %arg1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %3 = "stablehlo.dynamic_slice"(%arg0, %2, %1) <{slice_sizes = array<i64: 4, 2>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %4 = "stablehlo.reverse"(%3) <{dimensions = array<i64: 1>}> : (tensor<4x2xf32>) -> tensor<4x2xf32>
  "func.return"(%4) : (tensor<4x2xf32>) -> ()
)");
}

TEST(SliceChunkTest, WholeDimension) {
  EXPECT_EQ(ChunkOf({"4x9xf32"}, kSlice, 0, 2),
            R"(^bb0(%arg0: tensor<4x9xf32>, %arg1: tensor<i32>, %arg2: tensor<2x9xf32>):
  %0 = "stablehlo.slice"(%arg2) <{limit_indices = array<i64: 2, 9>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<2x9xf32>) -> tensor<2x4xf32>
  "func.return"(%0) : (tensor<2x4xf32>) -> ()
)");
}

TEST(SliceChunkTest, SlicedDimensionWithStrides) {
  EXPECT_EQ(ChunkOf({"4x9xf32"}, kSlice, 1, 2), R"(^bb0(%arg0: tensor<4x9xf32>, %arg1: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.multiply"(%arg1, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %3 = "stablehlo.add"(%1, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %5 = "stablehlo.dynamic_slice"(%arg0, %4, %3) <{slice_sizes = array<i64: 4, 3>}> : (tensor<4x9xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  %6 = "stablehlo.slice"(%5) <{limit_indices = array<i64: 4, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 2>}> : (tensor<4x3xf32>) -> tensor<4x2xf32>
  "func.return"(%6) : (tensor<4x2xf32>) -> ()
)");
}

TEST(TransposeChunkTest, DimensionsMove) {
  EXPECT_EQ(
      ChunkOf({"4x6xf32"}, R"(%r = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}>
    : (tensor<4x6xf32>) -> tensor<6x4xf32>)",
              0, 2),
      R"(^bb0(%arg0: tensor<4x6xf32>, %arg1: tensor<i32>, %arg2: tensor<4x2xf32>):
  %0 = "stablehlo.transpose"(%arg2) <{permutation = array<i64: 1, 0>}> : (tensor<4x2xf32>) -> tensor<2x4xf32>
  "func.return"(%0) : (tensor<2x4xf32>) -> ()
)");
}

}  // namespace
}  // namespace plimsoll::testing
