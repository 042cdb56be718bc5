#include "rewrite/slice_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::Rewrite;
using ::plimsoll::testing::Rewritten;

// Elements of 10 that are padded by 3 in front and 7 behind.
std::string SliceOfPad(std::string_view start, std::string_view limit, std::string_view stride,
                       std::string_view size) {
  return StrCat(R"(
  %p = "stablehlo.pad"(%0, %1) <{edge_padding_high = array<i64: 7>, edge_padding_low = array<i64: 3>, interior_padding = array<i64: 0>}> : (tensor<10xf32>, tensor<f32>) -> tensor<20xf32>
  %s = "stablehlo.slice"(%p) <{limit_indices = array<i64: )",
                limit, ">, start_indices = array<i64: ", start, ">, strides = array<i64: ", stride,
                ">}> : (tensor<20xf32>) -> tensor<", size, "xf32>");
}

TEST(SliceOfPadTest, Inside) {
  const Rewritten rewritten =
      Rewrite(SliceRules(), {"10xf32", "f32"}, SliceOfPad("4", "13", "2", "5"), {{"%s", "5xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<10xf32>, %arg1: tensor<f32>):
  %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 10>, start_indices = array<i64: 1>, strides = array<i64: 2>}> : (tensor<10xf32>) -> tensor<5xf32>
  "func.return"(%0) : (tensor<5xf32>) -> ()
)");
}

TEST(SliceOfPadTest, AllOfIt) {
  const Rewritten rewritten = Rewrite(SliceRules(), {"10xf32", "f32"},
                                      SliceOfPad("3", "13", "1", "10"), {{"%s", "10xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<10xf32>, %arg1: tensor<f32>):
  "func.return"(%arg0) : (tensor<10xf32>) -> ()
)");
}

TEST(SliceOfPadTest, OnlyPadding) {
  // From in front to behind in one step.
  const Rewritten rewritten =
      Rewrite(SliceRules(), {"10xf32", "f32"}, SliceOfPad("2", "20", "11", "2"), {{"%s", "2xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<10xf32>, %arg1: tensor<f32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
  "func.return"(%0) : (tensor<2xf32>) -> ()
)");
}

TEST(SliceOfPadTest, LeavesBoth) {
  EXPECT_TRUE(
      Rewrite(SliceRules(), {"10xf32", "f32"}, SliceOfPad("2", "6", "1", "4"), {{"%s", "4xf32"}})
          .fired()
          .empty());
}

TEST(SliceOfPadTest, PadsByNothing) {
  const Rewritten rewritten = Rewrite(SliceRules(), {"10xf32", "f32"},
                                      R"(
  %p = "stablehlo.pad"(%0, %1) <{edge_padding_high = array<i64: 0>, edge_padding_low = array<i64: 0>, interior_padding = array<i64: 0>}> : (tensor<10xf32>, tensor<f32>) -> tensor<10xf32>)",
                                      {{"%p", "10xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<10xf32>, %arg1: tensor<f32>):
  "func.return"(%arg0) : (tensor<10xf32>) -> ()
)");
}

TEST(SliceOfSliceTest, BecomesOne) {
  const Rewritten rewritten = Rewrite(SliceRules(), {"100xi8"},
                                      R"(
  %a = "stablehlo.slice"(%0) <{limit_indices = array<i64: 98>, start_indices = array<i64: 2>, strides = array<i64: 5>}> : (tensor<100xi8>) -> tensor<20xi8>
  %b = "stablehlo.slice"(%a) <{limit_indices = array<i64: 19>, start_indices = array<i64: 1>, strides = array<i64: 3>}> : (tensor<20xi8>) -> tensor<6xi8>)",
                                      {{"%b", "6xi8"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<100xi8>):
  %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 83>, start_indices = array<i64: 7>, strides = array<i64: 15>}> : (tensor<100xi8>) -> tensor<6xi8>
  "func.return"(%0) : (tensor<6xi8>) -> ()
)");
}

TEST(SliceOfViewTest, OnlyWhatIsReadIsMoved) {
  const Rewritten rewritten = Rewrite(SliceRules(), {"30x50xf32"},
                                      R"(
  %a = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<30x50xf32>) -> tensor<50x30xf32>
  %b = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<50x30xf32>) -> tensor<50x9x30xf32>
  %c = "stablehlo.slice"(%b) <{limit_indices = array<i64: 7, 3, 30>, start_indices = array<i64: 1, 1, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<50x9x30xf32>) -> tensor<6x2x30xf32>)",
                                      {{"%c", "6x2x30xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<30x50xf32>):
  %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 30, 7>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<30x50xf32>) -> tensor<30x6xf32>
  %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<30x6xf32>) -> tensor<6x30xf32>
  %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<6x30xf32>) -> tensor<6x2x30xf32>
  "func.return"(%2) : (tensor<6x2x30xf32>) -> ()
)");
}

// With indices that are computed from constants, as frameworks do.
std::string Gather(std::string_view indices) {
  return StrCat(R"(
  %a = "stablehlo.constant"() <{value = dense<)",
                indices, R"(> : tensor<3xi32>}> : () -> tensor<3xi32>
  %b = "stablehlo.constant"() <{value = dense<1> : tensor<3xi32>}> : () -> tensor<3xi32>
  %c = "stablehlo.add"(%a, %b) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %d = "stablehlo.reshape"(%c) : (tensor<3xi32>) -> tensor<3x1xi32>
  %e = "stablehlo.gather"(%0, %d) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 5, 1>}> : (tensor<5x9xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>)");
}

TEST(GatherOfConstantTest, ATransposeDoesNotPay) {
  const Rewritten rewritten =
      Rewrite(SliceRules(), {"5x9xf32"}, Gather("[1, 3, 5]"), {{"%e", "3x5xf32"}});
  EXPECT_EQ(rewritten.refused(),
            std::vector<std::string>{"gather_of_constant: it would not take less time or memory"});
}

constexpr std::string_view kBackwards = R"(
  %a = "stablehlo.constant"() <{value = dense<[5, 3, 1]> : tensor<3xi32>}> : () -> tensor<3xi32>
  %b = "stablehlo.constant"() <{value = dense<0> : tensor<3xi32>}> : () -> tensor<3xi32>
  %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %d = "stablehlo.add"(%a, %a) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %e = "stablehlo.select"(%c, %d, %a) : (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %f = "stablehlo.reshape"(%e) : (tensor<3xi32>) -> tensor<3x1xi32>
  %g = "stablehlo.gather"(%0, %f) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<9x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>)";

TEST(GatherOfConstantTest, Backwards) {
  const Rewritten rewritten = Rewrite(SliceRules(), {"9x5xf32"}, kBackwards, {{"%g", "3x5xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<9x5xf32>):
  %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 6, 5>, start_indices = array<i64: 1, 0>, strides = array<i64: 2, 1>}> : (tensor<9x5xf32>) -> tensor<3x5xf32>
  %1 = "stablehlo.reverse"(%0) <{dimensions = array<i64: 0>}> : (tensor<3x5xf32>) -> tensor<3x5xf32>
  "func.return"(%1) : (tensor<3x5xf32>) -> ()
)");
}

TEST(GatherOfConstantTest, LeavesOtherIndices) {
  EXPECT_TRUE(Rewrite(SliceRules(), {"5x9xf32"}, Gather("[1, 3, 4]"), {{"%e", "3x5xf32"}})
                  .refused()
                  .empty());
}

}  // namespace
}  // namespace plimsoll
