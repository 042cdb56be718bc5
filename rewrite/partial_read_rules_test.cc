#include "rewrite/partial_read_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::Rewrite;
using ::plimsoll::testing::Rewritten;

using Names = std::vector<std::string_view>;

constexpr std::string_view kProduct = R"(
  %p = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<400x300xf32>, tensor<300x200xf32>) -> tensor<400x200xf32>)";

constexpr std::string_view kRows = R"(
  %g = "stablehlo.gather"(%p, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 200>}> : (tensor<400x200xf32>, tensor<10x1xi32>) -> tensor<10x200xf32>)";

// One element of each row.
constexpr std::string_view kElements = R"(
  %g = "stablehlo.gather"(%p, %2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<400x200xf32>, tensor<400x1x1xi32>) -> tensor<400x1xf32>)";

TEST(GatherOfProductTest, Rows) {
  const Rewritten rewritten =
      Rewrite(PartialReadRules(), {"400x300xf32", "300x200xf32", "10x1xi32"},
              StrCat(kProduct, kRows), {{"%g", "10x200xf32"}});
  EXPECT_EQ(
      rewritten.body,
      R"(^bb0(%arg0: tensor<400x300xf32>, %arg1: tensor<300x200xf32>, %arg2: tensor<10x1xi32>):
  %0 = "stablehlo.gather"(%arg0, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 300>}> : (tensor<400x300xf32>, tensor<10x1xi32>) -> tensor<10x300xf32>
  %1 = "stablehlo.dot_general"(%0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<10x300xf32>, tensor<300x200xf32>) -> tensor<10x200xf32>
  "func.return"(%1) : (tensor<10x200xf32>) -> ()
)");
}

TEST(GatherOfProductTest, OneElementOfEachRow) {
  const Rewritten rewritten =
      Rewrite(PartialReadRules(), {"400x300xf32", "300x200xf32", "400x1x1xi32"},
              StrCat(kProduct, kElements), {{"%g", "400x1xf32"}});
  EXPECT_EQ(
      rewritten.body,
      R"(^bb0(%arg0: tensor<400x300xf32>, %arg1: tensor<300x200xf32>, %arg2: tensor<400x1x1xi32>):
  %0 = "stablehlo.gather"(%arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 300, 1>}> : (tensor<300x200xf32>, tensor<400x1x1xi32>) -> tensor<400x1x300xf32>
  %1 = "stablehlo.reshape"(%0) : (tensor<400x1x300xf32>) -> tensor<400x300xf32>
  %2 = "stablehlo.multiply"(%arg0, %1) : (tensor<400x300xf32>, tensor<400x300xf32>) -> tensor<400x300xf32>
  %3 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %4 = "stablehlo.reduce"(%2, %3) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %5 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%5) : (tensor<f32>) -> ()
  }) : (tensor<400x300xf32>, tensor<f32>) -> tensor<400xf32>
  %6 = "stablehlo.reshape"(%4) : (tensor<400xf32>) -> tensor<400x1xf32>
  "func.return"(%6) : (tensor<400x1xf32>) -> ()
)");
}

TEST(GatherOfProductTest, ElementsByRowAndColumn) {
  const Rewritten rewritten =
      Rewrite(PartialReadRules(), {"400x300xf32", "300x200xf32", "10x2xi32"}, StrCat(kProduct, R"(
  %g = "stablehlo.gather"(%p, %2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<400x200xf32>, tensor<10x2xi32>) -> tensor<10xf32>)"),
              {{"%g", "10xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"gather_of_product"});
  EXPECT_EQ(rewritten.body.find("dot_general"), std::string::npos);
}

TEST(GatherOfProductTest, LeavesWhatOthersNeed) {
  EXPECT_EQ(Rewrite(PartialReadRules(), {"400x300xf32", "300x200xf32", "10x1xi32"},
                    StrCat(kProduct, kRows), {{"%g", "10x200xf32"}, {"%p", "400x200xf32"}})
                .fired(),
            Names{});
}

TEST(GatherOfProductTest, LeavesWindows) {
  EXPECT_EQ(
      Rewrite(PartialReadRules(), {"400x300xf32", "300x200xf32", "10x1xi32"}, StrCat(kProduct, R"(
  %g = "stablehlo.gather"(%p, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 200>}> : (tensor<400x200xf32>, tensor<10x1xi32>) -> tensor<10x2x200xf32>)"),
              {{"%g", "10x2x200xf32"}})
          .fired(),
      Names{});
}

TEST(GatherOfProductTest, RefusesMoreRowsThanThereAre) {
  const Rewritten rewritten =
      Rewrite(PartialReadRules(), {"400x300xf32", "300x200xf32", "5000x1xi32"}, StrCat(kProduct, R"(
  %g = "stablehlo.gather"(%p, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 200>}> : (tensor<400x200xf32>, tensor<5000x1xi32>) -> tensor<5000x200xf32>)"),
              {{"%g", "5000x200xf32"}});
  EXPECT_EQ(rewritten.refused(),
            std::vector<std::string>{"gather_of_product: it would not take less time or memory"});
}

TEST(SliceOfProductTest, Rows) {
  const Rewritten rewritten =
      Rewrite(PartialReadRules(), {"400x300xf32", "300x200xf32"}, StrCat(kProduct, R"(
  %s = "stablehlo.slice"(%p) <{limit_indices = array<i64: 400, 200>, start_indices = array<i64: 399, 0>, strides = array<i64: 1, 1>}> : (tensor<400x200xf32>) -> tensor<1x200xf32>)"),
              {{"%s", "1x200xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<400x300xf32>, %arg1: tensor<300x200xf32>):
  %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 400, 300>, start_indices = array<i64: 399, 0>, strides = array<i64: 1, 1>}> : (tensor<400x300xf32>) -> tensor<1x300xf32>
  %1 = "stablehlo.reshape"(%0) : (tensor<1x300xf32>) -> tensor<300xf32>
  %2 = "stablehlo.dot_general"(%1, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<300xf32>, tensor<300x200xf32>) -> tensor<200xf32>
  %3 = "stablehlo.reshape"(%2) : (tensor<200xf32>) -> tensor<1x200xf32>
  "func.return"(%3) : (tensor<1x200xf32>) -> ()
)");
}

TEST(SliceOfProductTest, FromAStartThatIsComputed) {
  const Rewritten rewritten =
      Rewrite(PartialReadRules(), {"400x300xf32", "300x200xf32", "i32", "i32"}, StrCat(kProduct, R"(
  %s = "stablehlo.dynamic_slice"(%p, %2, %3) <{slice_sizes = array<i64: 400, 20>}> : (tensor<400x200xf32>, tensor<i32>, tensor<i32>) -> tensor<400x20xf32>)"),
              {{"%s", "400x20xf32"}});
  EXPECT_EQ(
      rewritten.body,
      R"(^bb0(%arg0: tensor<400x300xf32>, %arg1: tensor<300x200xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.dynamic_slice"(%arg1, %0, %arg3) <{slice_sizes = array<i64: 300, 20>}> : (tensor<300x200xf32>, tensor<i32>, tensor<i32>) -> tensor<300x20xf32>
  %2 = "stablehlo.dot_general"(%arg0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<400x300xf32>, tensor<300x20xf32>) -> tensor<400x20xf32>
  "func.return"(%2) : (tensor<400x20xf32>) -> ()
)");
}

// x - broadcast(y) - broadcast(z), as log_softmax ends.
constexpr std::string_view kDifference = R"(
  %b = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<400xf32>) -> tensor<400x200xf32>
  %q = "stablehlo.subtract"(%0, %b) : (tensor<400x200xf32>, tensor<400x200xf32>) -> tensor<400x200xf32>
  %e = "stablehlo.exponential"(%q) : (tensor<400x200xf32>) -> tensor<400x200xf32>
  %p = "stablehlo.negate"(%q) : (tensor<400x200xf32>) -> tensor<400x200xf32>)";

TEST(GatherOfElementwiseTest, ThroughBroadcastsAndWhatIsComputedAgainAnyway) {
  const Rewritten rewritten =
      Rewrite(PartialReadRules(), {"400x200xf32", "400xf32", "400x1x1xi32"},
              StrCat(kDifference, kElements), {{"%g", "400x1xf32"}, {"%e", "400x200xf32"}});
  EXPECT_EQ(rewritten.body,
            R"(^bb0(%arg0: tensor<400x200xf32>, %arg1: tensor<400xf32>, %arg2: tensor<400x1x1xi32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<400xf32>) -> tensor<400x200xf32>
  %1 = "stablehlo.subtract"(%arg0, %0) : (tensor<400x200xf32>, tensor<400x200xf32>) -> tensor<400x200xf32>
  %2 = "stablehlo.exponential"(%1) : (tensor<400x200xf32>) -> tensor<400x200xf32>
  %3 = "stablehlo.gather"(%arg0, %arg2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<400x200xf32>, tensor<400x1x1xi32>) -> tensor<400x1xf32>
  %4 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<400xf32>) -> tensor<400x1xf32>
  %5 = "stablehlo.subtract"(%3, %4) : (tensor<400x1xf32>, tensor<400x1xf32>) -> tensor<400x1xf32>
  %6 = "stablehlo.negate"(%5) : (tensor<400x1xf32>) -> tensor<400x1xf32>
  "func.return"(%6, %2) : (tensor<400x1xf32>, tensor<400x200xf32>) -> ()
)");
}

TEST(GatherOfElementwiseTest, RowsAndCounts) {
  const Rewritten rewritten =
      Rewrite(PartialReadRules(), {"400x200xi32", "200xi32", "10x1xi32"}, R"(
  %b = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<200xi32>) -> tensor<400x200xi32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<400x200xi32>
  %n = "stablehlo.constant"() <{value = dense<3> : tensor<400x200xi32>}> : () -> tensor<400x200xi32>
  %m = "stablehlo.multiply"(%b, %n) : (tensor<400x200xi32>, tensor<400x200xi32>) -> tensor<400x200xi32>
  %a = "stablehlo.add"(%m, %i) : (tensor<400x200xi32>, tensor<400x200xi32>) -> tensor<400x200xi32>
  %p = "stablehlo.add"(%a, %0) : (tensor<400x200xi32>, tensor<400x200xi32>) -> tensor<400x200xi32>
  %g = "stablehlo.gather"(%p, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 200>}> : (tensor<400x200xi32>, tensor<10x1xi32>) -> tensor<10x200xi32>)",
              {{"%g", "10x200xi32"}});
  EXPECT_EQ(rewritten.body,
            R"(^bb0(%arg0: tensor<400x200xi32>, %arg1: tensor<200xi32>, %arg2: tensor<10x1xi32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<200xi32>) -> tensor<10x200xi32>
  %1 = "stablehlo.constant"() <{value = dense<3> : tensor<10x200xi32>}> : () -> tensor<10x200xi32>
  %2 = "stablehlo.multiply"(%0, %1) : (tensor<10x200xi32>, tensor<10x200xi32>) -> tensor<10x200xi32>
  %3 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<400xi32>
  %4 = "stablehlo.gather"(%3, %arg2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<400xi32>, tensor<10x1xi32>) -> tensor<10xi32>
  %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0>}> : (tensor<10xi32>) -> tensor<10x200xi32>
  %6 = "stablehlo.add"(%2, %5) : (tensor<10x200xi32>, tensor<10x200xi32>) -> tensor<10x200xi32>
  %7 = "stablehlo.gather"(%arg0, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 200>}> : (tensor<400x200xi32>, tensor<10x1xi32>) -> tensor<10x200xi32>
  %8 = "stablehlo.add"(%6, %7) : (tensor<10x200xi32>, tensor<10x200xi32>) -> tensor<10x200xi32>
  "func.return"(%8) : (tensor<10x200xi32>) -> ()
)");
}

TEST(GatherOfElementwiseTest, LeavesWhatOthersNeed) {
  EXPECT_EQ(Rewrite(PartialReadRules(), {"400x200xf32", "400xf32", "400x1x1xi32"},
                    StrCat(kDifference, kElements), {{"%g", "400x1xf32"}, {"%p", "400x200xf32"}})
                .fired(),
            Names{});
}

TEST(SliceOfElementwiseTest, FirstRows) {
  const Rewritten rewritten =
      Rewrite(PartialReadRules(), {"400x200xf32", "400xf32"}, StrCat(kDifference, R"(
  %s = "stablehlo.slice"(%p) <{limit_indices = array<i64: 9, 200>, start_indices = array<i64: 1, 0>, strides = array<i64: 2, 1>}> : (tensor<400x200xf32>) -> tensor<4x200xf32>)"),
              {{"%s", "4x200xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<400x200xf32>, %arg1: tensor<400xf32>):
  %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 8, 200>, start_indices = array<i64: 1, 0>, strides = array<i64: 2, 1>}> : (tensor<400x200xf32>) -> tensor<4x200xf32>
  %1 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 8>, start_indices = array<i64: 1>, strides = array<i64: 2>}> : (tensor<400xf32>) -> tensor<4xf32>
  %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x200xf32>
  %3 = "stablehlo.subtract"(%0, %2) : (tensor<4x200xf32>, tensor<4x200xf32>) -> tensor<4x200xf32>
  %4 = "stablehlo.negate"(%3) : (tensor<4x200xf32>) -> tensor<4x200xf32>
  "func.return"(%4) : (tensor<4x200xf32>) -> ()
)");
}

TEST(SliceOfElementwiseTest, WithoutElementsIsLeftAlone) {
  EXPECT_EQ(Rewrite(PartialReadRules(), {"400x200xf32", "400xf32"}, StrCat(kDifference, R"(
  %s = "stablehlo.slice"(%p) <{limit_indices = array<i64: 1, 200>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<400x200xf32>) -> tensor<0x200xf32>)"),
                    {{"%s", "0x200xf32"}})
                .fired(),
            Names{});
}

}  // namespace
}  // namespace plimsoll
