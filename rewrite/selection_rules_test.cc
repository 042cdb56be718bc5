#include "rewrite/selection_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::NamedType;
using ::plimsoll::testing::Rewrite;
using ::plimsoll::testing::Rewritten;

using Names = std::vector<std::string_view>;

// %h is 1 where the column is the row's label, %0.
std::string OneHot(std::string_view label = "i32", std::string_view number = "f32") {
  const std::string labels = StrCat("tensor<1000x100x", label, ">");
  return StrCat(R"(
  %b = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000x)",
                label, ">) -> ", labels, R"(
  %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> )",
                labels, R"(
  %c = "stablehlo.compare"(%b, %i) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : ()",
                labels, ", ", labels, R"() -> tensor<1000x100xi1>
  %h = "stablehlo.convert"(%c) : (tensor<1000x100xi1>) -> tensor<1000x100x)",
                number, ">");
}

std::string Dot(std::string_view left, std::string_view right, std::string_view contracted,
                std::string_view types) {
  return StrCat("\n  %d = \"stablehlo.dot_general\"(", left, ", ", right,
                ") <{dot_dimension_numbers = #stablehlo.dot<", contracted, ">}> : ", types);
}

constexpr std::string_view kColumnsByRows =
    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]";
constexpr std::string_view kRowsByRows =
    "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]";

// One-hot times a matrix of 16 columns.
std::string Product(std::string_view left = "%h", std::string_view number = "f32") {
  return Dot(left, "%1", kColumnsByRows,
             StrCat("(tensor<1000x100x", number, ">, tensor<100x16x", number,
                    ">) -> tensor<1000x16x", number, ">"));
}

std::string Sum(std::string_view operand, std::string_view type, std::string_view dimension,
                std::string_view result, std::string_view number = "f32") {
  return StrCat("\n  %z = \"stablehlo.constant\"() <{value = dense<0", number == "f32" ? ".0" : "",
                "> : tensor<", number, ">}> : () -> tensor<", number,
                ">\n  %s = \"stablehlo.reduce\"(", operand,
                ", %z) <{dimensions = array<i64: ", dimension, ">}> ({\n  ^bb1(%x: tensor<", number,
                ">, %y: tensor<", number, ">):\n    %a = \"stablehlo.add\"(%x, %y) : (tensor<",
                number, ">, tensor<", number, ">) -> tensor<", number,
                ">\n    \"stablehlo.return\"(%a) : (tensor<", number, ">) -> ()\n  }) : (tensor<",
                type, ">, tensor<", number, ">) -> tensor<", result, ">");
}

TEST(OneHotProductTest, ReadsRows) {
  const Rewritten rewritten = Rewrite(SelectionRules(), {"1000xi32", "100x16xf32"},
                                      StrCat(OneHot(), Product()), {{"%d", "1000x16xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<1000xi32>, %arg1: tensor<100x16xf32>):
  %0 = "stablehlo.reshape"(%arg0) : (tensor<1000xi32>) -> tensor<1000x1xi32>
  %1 = "stablehlo.constant"() <{value = dense<0> : tensor<1000xi32>}> : () -> tensor<1000xi32>
  %2 = "stablehlo.compare"(%arg0, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi1>
  %3 = "stablehlo.constant"() <{value = dense<100> : tensor<1000xi32>}> : () -> tensor<1000xi32>
  %4 = "stablehlo.compare"(%arg0, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi1>
  %5 = "stablehlo.and"(%2, %4) : (tensor<1000xi1>, tensor<1000xi1>) -> tensor<1000xi1>
  %6 = "stablehlo.gather"(%arg1, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<100x16xf32>, tensor<1000x1xi32>) -> tensor<1000x16xf32>
  %7 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000xi1>) -> tensor<1000x16xi1>
  %8 = "stablehlo.constant"() <{value = dense<0.0> : tensor<1000x16xf32>}> : () -> tensor<1000x16xf32>
  %9 = "stablehlo.select"(%7, %6, %8) : (tensor<1000x16xi1>, tensor<1000x16xf32>, tensor<1000x16xf32>) -> tensor<1000x16xf32>
  "func.return"(%9) : (tensor<1000x16xf32>) -> ()
)");
}

TEST(OneHotProductTest, FromTheRight) {
  EXPECT_EQ(
      Rewrite(SelectionRules(), {"1000xi32", "16x100xf32"},
              StrCat(OneHot(),
                     Dot("%1", "%h",
                         "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]",
                         "(tensor<16x100xf32>, tensor<1000x100xf32>) -> tensor<16x1000xf32>")),
              {{"%d", "16x1000xf32"}})
          .fired(),
      Names{"one_hot_product"});
}

TEST(OneHotProductTest, RowsWithWeights) {
  const Rewritten rewritten = Rewrite(SelectionRules(), {"1000xi32", "100x16xf32", "1000xf32"},
                                      StrCat(OneHot(), R"(
  %w = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000xf32>) -> tensor<1000x100xf32>
  %m = "stablehlo.multiply"(%h, %w) : (tensor<1000x100xf32>, tensor<1000x100xf32>) -> tensor<1000x100xf32>)",
                                             Product("%m")),
                                      {{"%d", "1000x16xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"one_hot_product"});
  EXPECT_EQ(rewritten.body.find("dot_general"), std::string::npos);
}

TEST(OneHotProductTest, InBatches) {
  const Rewritten rewritten = Rewrite(SelectionRules(), {"3x500xi32", "3x100x16xf32"}, R"(
  %b = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x500xi32>) -> tensor<3x500x100xi32>
  %i = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<3x500x100xi32>
  %c = "stablehlo.compare"(%i, %b) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3x500x100xi32>, tensor<3x500x100xi32>) -> tensor<3x500x100xi1>
  %h = "stablehlo.convert"(%c) : (tensor<3x500x100xi1>) -> tensor<3x500x100xf32>
  %d = "stablehlo.dot_general"(%h, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<3x500x100xf32>, tensor<3x100x16xf32>) -> tensor<3x500x16xf32>)",
                                      {{"%d", "3x500x16xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<3x500xi32>, %arg1: tensor<3x100x16xf32>):
  %0 = "stablehlo.reshape"(%arg0) : (tensor<3x500xi32>) -> tensor<3x500x1xi32>
  %1 = "stablehlo.constant"() <{value = dense<0> : tensor<3x500xi32>}> : () -> tensor<3x500xi32>
  %2 = "stablehlo.compare"(%arg0, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<3x500xi32>, tensor<3x500xi32>) -> tensor<3x500xi1>
  %3 = "stablehlo.constant"() <{value = dense<100> : tensor<3x500xi32>}> : () -> tensor<3x500xi32>
  %4 = "stablehlo.compare"(%arg0, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3x500xi32>, tensor<3x500xi32>) -> tensor<3x500xi1>
  %5 = "stablehlo.and"(%2, %4) : (tensor<3x500xi1>, tensor<3x500xi1>) -> tensor<3x500xi1>
  %6 = "stablehlo.gather"(%arg1, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 16>}> : (tensor<3x100x16xf32>, tensor<3x500x1xi32>) -> tensor<3x500x16xf32>
  %7 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x500xi1>) -> tensor<3x500x16xi1>
  %8 = "stablehlo.constant"() <{value = dense<0.0> : tensor<3x500x16xf32>}> : () -> tensor<3x500x16xf32>
  %9 = "stablehlo.select"(%7, %6, %8) : (tensor<3x500x16xi1>, tensor<3x500x16xf32>, tensor<3x500x16xf32>) -> tensor<3x500x16xf32>
  "func.return"(%9) : (tensor<3x500x16xf32>) -> ()
)");
}

TEST(OneHotProductTest, LabelsThatAreInRange) {
  const Rewritten rewritten = Rewrite(SelectionRules(), {"1000xi32", "100x16xf32", "1000xi32"}, R"(
  %first = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %last = "stablehlo.constant"() <{value = dense<99> : tensor<i32>}> : () -> tensor<i32>
  %l = "stablehlo.clamp"(%first, %0, %last) : (tensor<i32>, tensor<1000xi32>, tensor<i32>) -> tensor<1000xi32>
  %b = "stablehlo.broadcast_in_dim"(%l) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000xi32>) -> tensor<1000x100xi32>
  %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1000x100xi32>
  %c = "stablehlo.compare"(%b, %i) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<1000x100xi32>, tensor<1000x100xi32>) -> tensor<1000x100xi1>
  %h = "stablehlo.convert"(%c) : (tensor<1000x100xi1>) -> tensor<1000x100xf32>
  %d = "stablehlo.dot_general"(%h, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1000x100xf32>, tensor<100x16xf32>) -> tensor<1000x16xf32>)",
                                      {{"%d", "1000x16xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"one_hot_product"});
  EXPECT_EQ(rewritten.body.find("select"), std::string::npos);
}

TEST(OneHotProductTest, NarrowLabelsAreWidened) {
  const Rewritten rewritten = Rewrite(SelectionRules(), {"1000xui8", "100x16xf32"},
                                      StrCat(OneHot("ui8"), Product()), {{"%d", "1000x16xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"one_hot_product"});
  EXPECT_NE(rewritten.body.find("(tensor<1000xui8>) -> tensor<1000xi32>"), std::string::npos);
}

// Rows of the identity at labels of that type.
std::string RowsOfIdentity(std::string_view label) {
  return StrCat(R"(
  %r = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<100x100xi32>
  %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<100x100xi32>
  %c = "stablehlo.compare"(%r, %i) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<100x100xi32>, tensor<100x100xi32>) -> tensor<100x100xi1>
  %e = "stablehlo.convert"(%c) : (tensor<100x100xi1>) -> tensor<100x100xf32>
  %h = "stablehlo.gather"(%e, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 100>}> : (tensor<100x100xf32>, tensor<1000x1x)",
                label, ">) -> tensor<1000x100xf32>");
}

TEST(OneHotProductTest, RowsOfTheIdentity) {
  const Rewritten rewritten =
      Rewrite(SelectionRules(), {"1000x1xi32", "100x16xf32"},
              StrCat(RowsOfIdentity("i32"), Product()), {{"%d", "1000x16xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"one_hot_product"});
  // Labels out of range are the nearest ones.
  EXPECT_NE(rewritten.body.find("stablehlo.minimum"), std::string::npos);
  EXPECT_EQ(rewritten.body.find("select"), std::string::npos);
}

TEST(OneHotProductTest, LeavesRowsOfTheIdentityAtLabelsThatMayBeTooLarge) {
  EXPECT_EQ(Rewrite(SelectionRules(), {"1000x1xui32", "100x16xf32"},
                    StrCat(RowsOfIdentity("ui32"), Product()), {{"%d", "1000x16xf32"}})
                .fired(),
            Names{});
}

TEST(OneHotProductTest, NarrowFloatsWithoutWeights) {
  EXPECT_EQ(Rewrite(SelectionRules(), {"1000xi32", "100x16xbf16"},
                    StrCat(OneHot("i32", "bf16"), Product("%h", "bf16")), {{"%d", "1000x16xbf16"}})
                .fired(),
            Names{"one_hot_product"});
  EXPECT_EQ(Rewrite(SelectionRules(), {"1000xi32", "100x16xbf16", "1000x100xbf16"},
                    StrCat(OneHot("i32", "bf16"), R"(
  %m = "stablehlo.multiply"(%h, %2) : (tensor<1000x100xbf16>, tensor<1000x100xbf16>) -> tensor<1000x100xbf16>)",
                           Product("%m", "bf16")),
                    {{"%d", "1000x16xbf16"}})
                .fired(),
            Names{});
}

TEST(OneHotProductTest, LeavesLabelsThatAreNotIntegers) {
  EXPECT_EQ(Rewrite(SelectionRules(), {"1000xf32", "100x16xf32"}, StrCat(OneHot("f32"), Product()),
                    {{"%d", "1000x16xf32"}})
                .fired(),
            Names{});
}

TEST(OneHotProductTest, LeavesNumbersThatWrapAround) {
  EXPECT_EQ(Rewrite(SelectionRules(), {"1000xi4", "100x16xf32"}, StrCat(OneHot("i4"), Product()),
                    {{"%d", "1000x16xf32"}})
                .fired(),
            Names{});
}

TEST(OneHotProductTest, LeavesWhatIsSmall) {
  const Rewritten rewritten = Rewrite(SelectionRules(), {"2xi32", "2x2xf32"}, R"(
  %b = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xi32>) -> tensor<2x2xi32>
  %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x2xi32>
  %c = "stablehlo.compare"(%b, %i) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
  %h = "stablehlo.convert"(%c) : (tensor<2x2xi1>) -> tensor<2x2xf32>
  %d = "stablehlo.dot_general"(%h, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>)",
                                      {{"%d", "2x2xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{});
  EXPECT_EQ(rewritten.refused(),
            std::vector<std::string>{"one_hot_product: it would not take less time or memory"});
}

TEST(OneHotSumTest, ReadsElements) {
  const Rewritten rewritten = Rewrite(SelectionRules(), {"1000xi32", "1000x100xf32"},
                                      StrCat(OneHot(), R"(
  %m = "stablehlo.multiply"(%h, %1) : (tensor<1000x100xf32>, tensor<1000x100xf32>) -> tensor<1000x100xf32>)",
                                             Sum("%m", "1000x100xf32", "1", "1000xf32")),
                                      {{"%s", "1000xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<1000xi32>, %arg1: tensor<1000x100xf32>):
  %0 = "stablehlo.reshape"(%arg0) : (tensor<1000xi32>) -> tensor<1000x1xi32>
  %1 = "stablehlo.constant"() <{value = dense<0> : tensor<1000xi32>}> : () -> tensor<1000xi32>
  %2 = "stablehlo.compare"(%arg0, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi1>
  %3 = "stablehlo.constant"() <{value = dense<100> : tensor<1000xi32>}> : () -> tensor<1000xi32>
  %4 = "stablehlo.compare"(%arg0, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi1>
  %5 = "stablehlo.and"(%2, %4) : (tensor<1000xi1>, tensor<1000xi1>) -> tensor<1000xi1>
  %6 = "stablehlo.gather"(%arg1, %0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<1000x100xf32>, tensor<1000x1xi32>) -> tensor<1000xf32>
  %7 = "stablehlo.constant"() <{value = dense<0.0> : tensor<1000xf32>}> : () -> tensor<1000xf32>
  %8 = "stablehlo.select"(%5, %6, %7) : (tensor<1000xi1>, tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  "func.return"(%8) : (tensor<1000xf32>) -> ()
)");
}

TEST(OneHotSumTest, OfWhatIsSelected) {
  const Rewritten rewritten = Rewrite(SelectionRules(), {"1000xi32", "1000x100xf32"},
                                      StrCat(OneHot(), R"(
  %n = "stablehlo.constant"() <{value = dense<0.0> : tensor<1000x100xf32>}> : () -> tensor<1000x100xf32>
  %m = "stablehlo.select"(%c, %1, %n) : (tensor<1000x100xi1>, tensor<1000x100xf32>, tensor<1000x100xf32>) -> tensor<1000x100xf32>)",
                                             Sum("%m", "1000x100xf32", "1", "1000xf32")),
                                      {{"%s", "1000xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"one_hot_sum"});
  EXPECT_NE(rewritten.body.find("gather"), std::string::npos);
}

// There is one for each row then, and no factor left to be summed over them.
TEST(OneHotSumTest, LeavesAloneRowsOfLabelsThatAreInRange) {
  const std::string sum = Sum("%h", "1000x100xf32", "0, 1", "f32");
  std::string ops = StrCat(OneHot(), sum);
  const size_t labels = ops.find("(%0)");
  ops.replace(labels, 4, "(%l)");
  const std::string in_range = R"(
  %l = "stablehlo.constant"() <{value = dense<63> : tensor<1000xi32>}> : () -> tensor<1000xi32>)";
  const Rewritten rewritten =
      Rewrite(SelectionRules(), {"1000xi32"}, StrCat(in_range, ops), {{"%s", "f32"}});
  EXPECT_EQ(rewritten.fired(), Names{});
}

TEST(OneHotSumTest, OfAllIsWhetherTheLabelIsInRange) {
  const Rewritten rewritten =
      Rewrite(SelectionRules(), {"1000xi32"},
              StrCat(OneHot(), Sum("%h", "1000x100xf32", "1", "1000xf32")), {{"%s", "1000xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<1000xi32>):
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<1000xi32>}> : () -> tensor<1000xi32>
  %1 = "stablehlo.compare"(%arg0, %0) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi1>
  %2 = "stablehlo.constant"() <{value = dense<100> : tensor<1000xi32>}> : () -> tensor<1000xi32>
  %3 = "stablehlo.compare"(%arg0, %2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi1>
  %4 = "stablehlo.and"(%1, %3) : (tensor<1000xi1>, tensor<1000xi1>) -> tensor<1000xi1>
  %5 = "stablehlo.convert"(%4) : (tensor<1000xi1>) -> tensor<1000xf32>
  "func.return"(%5) : (tensor<1000xf32>) -> ()
)");
}

TEST(OneHotTransposedProductTest, AddsRows) {
  const Rewritten rewritten = Rewrite(
      SelectionRules(), {"1000xi32", "1000x16xf32"},
      StrCat(OneHot(), Dot("%h", "%1", kRowsByRows,
                           "(tensor<1000x100xf32>, tensor<1000x16xf32>) -> tensor<100x16xf32>")),
      {{"%d", "100x16xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<1000xi32>, %arg1: tensor<1000x16xf32>):
  %0 = "stablehlo.reshape"(%arg0) : (tensor<1000xi32>) -> tensor<1000x1xi32>
  %1 = "stablehlo.constant"() <{value = dense<0.0> : tensor<100x16xf32>}> : () -> tensor<100x16xf32>
  %2 = "stablehlo.scatter"(%1, %0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %3 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%3) : (tensor<f32>) -> ()
  }) : (tensor<100x16xf32>, tensor<1000x1xi32>, tensor<1000x16xf32>) -> tensor<100x16xf32>
  "func.return"(%2) : (tensor<100x16xf32>) -> ()
)");
}

TEST(OneHotTransposedProductTest, InBatches) {
  const Rewritten rewritten = Rewrite(SelectionRules(), {"3x500xi32", "500x16x3xf32"}, R"(
  %b = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x500xi32>) -> tensor<3x500x100xi32>
  %i = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<3x500x100xi32>
  %c = "stablehlo.compare"(%i, %b) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3x500x100xi32>, tensor<3x500x100xi32>) -> tensor<3x500x100xi1>
  %h = "stablehlo.convert"(%c) : (tensor<3x500x100xi1>) -> tensor<3x500x100xf32>
  %d = "stablehlo.dot_general"(%h, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [2], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<3x500x100xf32>, tensor<500x16x3xf32>) -> tensor<3x100x16xf32>)",
                                      {{"%d", "3x100x16xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<3x500xi32>, %arg1: tensor<500x16x3xf32>):
  %0 = "stablehlo.reshape"(%arg0) : (tensor<3x500xi32>) -> tensor<3x500x1xi32>
  %1 = "stablehlo.transpose"(%arg1) <{permutation = array<i64: 2, 0, 1>}> : (tensor<500x16x3xf32>) -> tensor<3x500x16xf32>
  %2 = "stablehlo.constant"() <{value = dense<0.0> : tensor<3x100x16xf32>}> : () -> tensor<3x100x16xf32>
  %3 = "stablehlo.scatter"(%2, %0, %1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %4 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%4) : (tensor<f32>) -> ()
  }) : (tensor<3x100x16xf32>, tensor<3x500x1xi32>, tensor<3x500x16xf32>) -> tensor<3x100x16xf32>
  "func.return"(%3) : (tensor<3x100x16xf32>) -> ()
)");
}

TEST(OneHotTransposedProductTest, CountsLabels) {
  const Rewritten rewritten =
      Rewrite(SelectionRules(), {"1000xi32"},
              StrCat(OneHot("i32", "i32"), Sum("%h", "1000x100xi32", "0", "100xi32", "i32")),
              {{"%s", "100xi32"}});
  EXPECT_EQ(rewritten.fired(), Names{"one_hot_transposed_product"});
}

TEST(OneHotTransposedProductTest, RefusesManyRowsForEachLabel) {
  const Rewritten rewritten = Rewrite(SelectionRules(), {"9000xi32", "9000x16xf32"}, R"(
  %b = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<9000xi32>) -> tensor<9000x8xi32>
  %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<9000x8xi32>
  %c = "stablehlo.compare"(%b, %i) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<9000x8xi32>, tensor<9000x8xi32>) -> tensor<9000x8xi1>
  %h = "stablehlo.convert"(%c) : (tensor<9000x8xi1>) -> tensor<9000x8xf32>
  %d = "stablehlo.dot_general"(%h, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<9000x8xf32>, tensor<9000x16xf32>) -> tensor<8x16xf32>)",
                                      {{"%d", "8x16xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{});
  EXPECT_EQ(rewritten.refused(),
            std::vector<std::string>{"one_hot_transposed_product: too many rows for each label "
                                     "would be added one by one"});
}

// The gradient of what reads rows adds rows.
TEST(OneHotTransposedProductTest, BothWays) {
  const Rewritten rewritten =
      Rewrite(SelectionRules(), {"1000xi32", "100x16xf32"}, StrCat(OneHot(), Product(), R"(
  %t = "stablehlo.dot_general"(%d, %h) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<1000x16xf32>, tensor<1000x100xf32>) -> tensor<16x100xf32>)"),
              {{"%d", "1000x16xf32"}, {"%t", "16x100xf32"}});
  EXPECT_EQ(rewritten.fired(), (Names{"one_hot_product", "one_hot_transposed_product"}));
  EXPECT_EQ(rewritten.body.find("stablehlo.convert"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll
