#include "rewrite/softmax_rules.h"

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

// %q is %0 divided by %1, which is spread along that dimension's other one.
std::string Quotient(std::string_view dimension, std::string_view number = "f32") {
  const std::string matrix = StrCat("tensor<400x400x", number, ">");
  return StrCat("\n  %b = \"stablehlo.broadcast_in_dim\"(%1) <{broadcast_dimensions = array<i64: ",
                dimension, ">}> : (tensor<400x", number, ">) -> ", matrix,
                "\n  %q = \"stablehlo.divide\"(%0, %b) : (", matrix, ", ", matrix, ") -> ", matrix);
}

std::string Product(std::string_view operand, std::string_view number = "f32") {
  return StrCat("\n  %p = \"stablehlo.dot_general\"(", operand,
                ", %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
                "rhs_contracting_dimensions = [0]>}> : (tensor<400x400x",
                number, ">, tensor<400x16x", number, ">) -> tensor<400x16x", number, ">");
}

TEST(SoftmaxProductTest, DividesAfterTheProduct) {
  const Rewritten rewritten = Rewrite(SoftmaxRules(), {"400x400xf32", "400xf32", "400x16xf32"},
                                      StrCat(Quotient("0"), Product("%q")), {{"%p", "400x16xf32"}});
  EXPECT_EQ(rewritten.body,
            R"(^bb0(%arg0: tensor<400x400xf32>, %arg1: tensor<400xf32>, %arg2: tensor<400x16xf32>):
  %0 = "stablehlo.dot_general"(%arg0, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<400x400xf32>, tensor<400x16xf32>) -> tensor<400x16xf32>
  %1 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<400xf32>) -> tensor<400x16xf32>
  %2 = "stablehlo.divide"(%0, %1) : (tensor<400x16xf32>, tensor<400x16xf32>) -> tensor<400x16xf32>
  "func.return"(%2) : (tensor<400x16xf32>) -> ()
)");
}

TEST(SoftmaxProductTest, FromTheRightInBatches) {
  const Rewritten rewritten =
      Rewrite(SoftmaxRules(), {"3x400x400xf32", "3x400xf32", "3x16x400xf32"}, R"(
  %b = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x400xf32>) -> tensor<3x400x400xf32>
  %q = "stablehlo.divide"(%0, %b) : (tensor<3x400x400xf32>, tensor<3x400x400xf32>) -> tensor<3x400x400xf32>
  %p = "stablehlo.dot_general"(%2, %q) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<3x16x400xf32>, tensor<3x400x400xf32>) -> tensor<3x16x400xf32>)",
              {{"%p", "3x16x400xf32"}});
  EXPECT_EQ(
      rewritten.body,
      R"(^bb0(%arg0: tensor<3x400x400xf32>, %arg1: tensor<3x400xf32>, %arg2: tensor<3x16x400xf32>):
  %0 = "stablehlo.dot_general"(%arg2, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<3x16x400xf32>, tensor<3x400x400xf32>) -> tensor<3x16x400xf32>
  %1 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<3x400xf32>) -> tensor<3x16x400xf32>
  %2 = "stablehlo.divide"(%0, %1) : (tensor<3x16x400xf32>, tensor<3x16x400xf32>) -> tensor<3x16x400xf32>
  "func.return"(%2) : (tensor<3x16x400xf32>) -> ()
)");
}

TEST(SoftmaxProductTest, ThroughWhatIsScaled) {
  const Rewritten rewritten =
      Rewrite(SoftmaxRules(), {"400x400xf32", "400xf32", "400x16xf32", "400x400xf32"},
              StrCat(Quotient("0"), R"(
  %m = "stablehlo.multiply"(%3, %q) : (tensor<400x400xf32>, tensor<400x400xf32>) -> tensor<400x400xf32>)",
                     Product("%m")),
              {{"%p", "400x16xf32"}});
  EXPECT_EQ(
      rewritten.body,
      R"(^bb0(%arg0: tensor<400x400xf32>, %arg1: tensor<400xf32>, %arg2: tensor<400x16xf32>, %arg3: tensor<400x400xf32>):
  %0 = "stablehlo.multiply"(%arg3, %arg0) : (tensor<400x400xf32>, tensor<400x400xf32>) -> tensor<400x400xf32>
  %1 = "stablehlo.dot_general"(%0, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<400x400xf32>, tensor<400x16xf32>) -> tensor<400x16xf32>
  %2 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<400xf32>) -> tensor<400x16xf32>
  %3 = "stablehlo.divide"(%1, %2) : (tensor<400x16xf32>, tensor<400x16xf32>) -> tensor<400x16xf32>
  "func.return"(%3) : (tensor<400x16xf32>) -> ()
)");
}

TEST(SoftmaxProductTest, LeavesDivisorsThatDifferAlongTheSum) {
  EXPECT_EQ(Rewrite(SoftmaxRules(), {"400x400xf32", "400xf32", "400x16xf32"},
                    StrCat(Quotient("1"), Product("%q")), {{"%p", "400x16xf32"}})
                .fired(),
            Names{});
}

// The select may be there because the divisor is 0.
TEST(SoftmaxProductTest, LeavesWhatIsSelected) {
  EXPECT_EQ(Rewrite(SoftmaxRules(), {"400x400xf32", "400xf32", "400x16xf32", "400x400xi1"},
                    StrCat(Quotient("0"), R"(
  %n = "stablehlo.constant"() <{value = dense<0.0> : tensor<400x400xf32>}> : () -> tensor<400x400xf32>
  %m = "stablehlo.select"(%3, %q, %n) : (tensor<400x400xi1>, tensor<400x400xf32>, tensor<400x400xf32>) -> tensor<400x400xf32>)",
                           Product("%m")),
                    {{"%p", "400x16xf32"}})
                .fired(),
            Names{});
}

TEST(SoftmaxProductTest, LeavesWhatOthersNeed) {
  EXPECT_EQ(
      Rewrite(SoftmaxRules(), {"400x400xf32", "400xf32", "400x16xf32"},
              StrCat(Quotient("0"), Product("%q")), {{"%p", "400x16xf32"}, {"%q", "400x400xf32"}})
          .fired(),
      Names{});
}

TEST(SoftmaxProductTest, LeavesNarrowFloats) {
  EXPECT_EQ(Rewrite(SoftmaxRules(), {"400x400xf16", "400xf16", "400x16xf16"},
                    StrCat(Quotient("0", "f16"), Product("%q", "f16")), {{"%p", "400x16xf16"}})
                .fired(),
            Names{});
}

}  // namespace
}  // namespace plimsoll
