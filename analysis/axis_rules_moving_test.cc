// The axis rules of ops that move elements, text in and text out.

#include <string>
#include <string_view>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

std::string Reshape(std::string_view from, std::string_view to) {
  return RuleOf(
      {from}, StrCat("%r = \"stablehlo.reshape\"(%0) : (tensor<", from, ">) -> tensor<", to, ">"));
}

std::string Pad(std::string_view from, std::string_view to, std::string_view low,
                std::string_view high, std::string_view interior) {
  return RuleOf({from, "f32"},
                StrCat("%r = \"stablehlo.pad\"(%0, %1) <{edge_padding_low = array<i64: ", low,
                       ">, edge_padding_high = array<i64: ", high,
                       ">, interior_padding = array<i64: ", interior, ">}> : (tensor<", from,
                       ">, tensor<f32>) -> tensor<", to, ">"));
}

constexpr std::string_view kReshapeOtherwise =
    "otherwise: a reshape merges or splits this dimension and others run outside of it\n";
constexpr std::string_view kPadOtherwise =
    "otherwise: padding is put between the elements along this dimension\n";

TEST(BroadcastInDimRuleTest, NewDimensionsAreMadeFromTheWhole) {
  EXPECT_EQ(RuleOf({"5xf32"}, R"(%r = "stablehlo.broadcast_in_dim"(%0)
    <{broadcast_dimensions = array<i64: 1>}> : (tensor<5xf32>) -> tensor<3x5xf32>)"),
            R"(operands whole results 0 blocks 3
operands 0 results 1 blocks 5
)");
}

TEST(BroadcastInDimRuleTest, StretchedDimensionsAreMadeFromTheWhole) {
  EXPECT_EQ(RuleOf({"1x5xf32"}, R"(%r = "stablehlo.broadcast_in_dim"(%0)
    <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x5xf32>) -> tensor<3x5xf32>)"),
            R"(operands whole results 0 blocks 3
operands 1 results 1 blocks 5
)");
}

TEST(BroadcastInDimRuleTest, DimensionsInAnotherOrder) {
  EXPECT_EQ(RuleOf({"5x3xf32"}, R"(%r = "stablehlo.broadcast_in_dim"(%0)
    <{broadcast_dimensions = array<i64: 1, 0>}> : (tensor<5x3xf32>) -> tensor<3x5xf32>)"),
            R"(operands 1 results 0 blocks 3
operands 0 results 1 blocks 5
)");
}

TEST(ConcatenateRuleTest, JoinedDimensionIsMadeFromWholeOperands) {
  EXPECT_EQ(RuleOf({"5x3xf32", "5x4xf32"},
                   R"(%r = "stablehlo.concatenate"(%0, %1) <{dimension = 1 : i64}>
    : (tensor<5x3xf32>, tensor<5x4xf32>) -> tensor<5x7xf32>)"),
            R"(operands 0 0 results 0 blocks 5
operands whole whole results 1 blocks 7
otherwise: values are joined along this dimension
)");
}

TEST(DynamicSliceRuleTest, SlicedDimensionIsMadeFromTheWhole) {
  EXPECT_EQ(RuleOf({"5x8xf32", "i32", "i32"},
                   R"(%r = "stablehlo.dynamic_slice"(%0, %1, %2) <{slice_sizes = array<i64: 5, 3>}>
    : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x3xf32>)"),
            R"(operands 0 whole whole results 0 blocks 5
operands whole whole whole results 1 blocks 3
otherwise: a slice is taken along this dimension, at a place known only at run time
)");
}

TEST(DynamicUpdateSliceRuleTest, OnlyDimensionsThatAreWrittenAsAWhole) {
  EXPECT_EQ(RuleOf({"5x8xf32", "5x3xf32", "i32", "i32"},
                   R"(%r = "stablehlo.dynamic_update_slice"(%0, %1, %2, %3)
    : (tensor<5x8xf32>, tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>)"),
            R"(operands 0 0 whole whole results 0 blocks 5
otherwise: a part is written along this dimension, at a place known only at run time
)");
}

TEST(PadRuleTest, PaddedDimensionIsMadeFromTheWhole) {
  EXPECT_EQ(Pad("5x3xf32", "5x6xf32", "0, 1", "0, 2", "0, 0"),
            StrCat(R"(operands 0 whole results 0 blocks 5
operands whole whole results 1 blocks 6
)",
                   kPadOtherwise));
}

TEST(PadRuleTest, NegativePaddingTakesElementsAway) {
  EXPECT_EQ(Pad("5xf32", "3xf32", "-1", "-1", "0"),
            StrCat("operands whole whole results 0 blocks 3\n", kPadOtherwise));
}

TEST(PadRuleTest, PaddingBetweenElementsIsNotCut) {
  EXPECT_EQ(Pad("5x3xf32", "5x5xf32", "0, 0", "0, 0", "0, 1"),
            StrCat("operands 0 whole results 0 blocks 5\n", kPadOtherwise));
}

TEST(PadRuleTest, NothingIsReadFromAnEmptyOperand) {
  EXPECT_EQ(Pad("0xf32", "4xf32", "4", "0", "0"), kPadOtherwise);
}

TEST(ReshapeRuleTest, FirstOfMergedDimensions) {
  EXPECT_EQ(Reshape("5x3xf32", "15xf32"),
            StrCat("operands 0 results 0 blocks 5\n", kReshapeOtherwise));
}

TEST(ReshapeRuleTest, FirstOfSplitDimensions) {
  EXPECT_EQ(Reshape("15xf32", "5x3xf32"),
            StrCat("operands 0 results 0 blocks 5\n", kReshapeOtherwise));
}

TEST(ReshapeRuleTest, GroupsOfDimensionsAreApart) {
  EXPECT_EQ(Reshape("2x3x4x5xf32", "6x20xf32"), StrCat(R"(operands 0 results 0 blocks 2
operands 2 results 1 blocks 4
)",
                                                       kReshapeOtherwise));
}

TEST(ReshapeRuleTest, DimensionsThatDoNotDivideEachOtherShareBlocks) {
  EXPECT_EQ(Reshape("6x4xf32", "4x6xf32"),
            StrCat("operands 0 results 0 blocks 2\n", kReshapeOtherwise));
}

TEST(ReshapeRuleTest, NoCommonBlocks) {
  EXPECT_EQ(Reshape("3x4xf32", "4x3xf32"), kReshapeOtherwise);
}

TEST(ReshapeRuleTest, DimensionsOfSizeOneComeAndGo) {
  EXPECT_EQ(Reshape("1x5x1x3xf32", "5x3x1xf32"), StrCat(R"(operands 1 results 0 blocks 5
operands 3 results 1 blocks 3
)",
                                                        kReshapeOtherwise));
}

TEST(ReshapeRuleTest, EmptyValuesAreNotCut) {
  EXPECT_EQ(Reshape("5x0xf32", "0x3xf32"), "otherwise: it is empty\n");
}

TEST(ReverseRuleTest, ReversedDimensionIsMadeFromTheWhole) {
  EXPECT_EQ(RuleOf({"5x3xf32"}, R"(%r = "stablehlo.reverse"(%0) <{dimensions = array<i64: 1>}>
    : (tensor<5x3xf32>) -> tensor<5x3xf32>)"),
            R"(operands 0 results 0 blocks 5
operands whole results 1 blocks 3
)");
}

TEST(SliceRuleTest, SlicedDimensionIsMadeFromTheWhole) {
  EXPECT_EQ(RuleOf({"5x8xf32"}, R"(%r = "stablehlo.slice"(%0) <{start_indices = array<i64: 0, 1>,
    limit_indices = array<i64: 5, 8>, strides = array<i64: 1, 2>}>
    : (tensor<5x8xf32>) -> tensor<5x4xf32>)"),
            R"(operands 0 results 0 blocks 5
operands whole results 1 blocks 4
otherwise: a slice is taken along this dimension
)");
}

TEST(TransposeRuleTest, DimensionsMove) {
  EXPECT_EQ(RuleOf({"5x3x2xf32"},
                   R"(%r = "stablehlo.transpose"(%0) <{permutation = array<i64: 2, 0, 1>}>
    : (tensor<5x3x2xf32>) -> tensor<2x5x3xf32>)"),
            R"(operands 2 results 0 blocks 2
operands 0 results 1 blocks 5
operands 1 results 2 blocks 3
)");
}

}  // namespace
}  // namespace plimsoll::testing
