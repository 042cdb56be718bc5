#include "rewrite/sum_rules.h"

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

// %k is a matrix without negative elements, of the argument %0.
constexpr std::string_view kKernel = R"(
  %k = "stablehlo.exponential"(%0) : (tensor<256x256xf32>) -> tensor<256x256xf32>
)";

// %d is the identity twice, or half of it.
constexpr std::string_view kTwice = R"(
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<256x256xi32>
  %j = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<256x256xi32>
  %e = "stablehlo.compare"(%i, %j) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi1>
  %c = "stablehlo.convert"(%e) : (tensor<256x256xi1>) -> tensor<256x256xf32>
  %n = "stablehlo.constant"() <{value = dense<2.0> : tensor<256x256xf32>}> : () -> tensor<256x256xf32>
  %d = "stablehlo.multiply"(%c, %n) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
)";

// %u is an outer product of thin matrices without negative elements, of the arguments %2 and %3.
constexpr std::string_view kThin = R"(
  %a = "stablehlo.exponential"(%2) : (tensor<256x4xf32>) -> tensor<256x4xf32>
  %b = "stablehlo.exponential"(%3) : (tensor<4x256xf32>) -> tensor<4x256xf32>
  %u = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<256x4xf32>, tensor<4x256xf32>) -> tensor<256x256xf32>
)";

std::string SumTimes(std::string_view a, std::string_view b, bool from_the_left = false) {
  const std::string_view matrix = "tensor<256x256xf32>";
  return StrCat("  %s = \"stablehlo.add\"(", a, ", ", b, ") : (", matrix, ", ", matrix, ") -> ",
                matrix, "\n  %p = \"stablehlo.dot_general\"(", from_the_left ? "%1, %s" : "%s, %1",
                ") <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [",
                from_the_left ? 0 : 1, "], rhs_contracting_dimensions = [0]>}> : (",
                from_the_left ? "tensor<256x3xf32>, tensor<256x256xf32>"
                              : "tensor<256x256xf32>, tensor<256x3xf32>",
                ") -> tensor<", from_the_left ? "3x256xf32" : "256x3xf32", ">\n");
}

std::vector<std::string_view> Arguments() {
  return {"256x256xf32", "256x3xf32", "256x4xf32", "4x256xf32"};
}

TEST(ProductOfSumTest, ADiagonalScalesTheRows) {
  const Rewritten rewritten =
      Rewrite(SumRules(), Arguments(), StrCat(kKernel, kTwice, SumTimes("%k", "%d")),
              {{"%p", "256x3xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"product_of_sum"});
  EXPECT_EQ(rewritten.body.find("stablehlo.add\"(%0"), std::string::npos) << rewritten.body;
}

TEST(ProductOfSumTest, ThinFactorsComeOneAfterTheOther) {
  for (const bool from_the_left : {false, true}) {
    const Rewritten rewritten = Rewrite(SumRules(), Arguments(),
                                        StrCat(kKernel, kThin, SumTimes("%u", "%k", from_the_left)),
                                        {{"%p", from_the_left ? "3x256xf32" : "256x3xf32"}});
    EXPECT_EQ(rewritten.fired(), Names{"product_of_sum"});
    EXPECT_EQ(rewritten.body.find("tensor<4x256xf32>) -> tensor<256x256xf32>"), std::string::npos);
  }
}

TEST(ProductOfSumTest, AnOuterProductIsNotMade) {
  const Rewritten rewritten = Rewrite(SumRules(), {"256x256xf32", "256x3xf32", "256xf32"},
                                      StrCat(kKernel, R"(
  %a = "stablehlo.exponential"(%2) : (tensor<256xf32>) -> tensor<256xf32>
  %b = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0>}> : (tensor<256xf32>) -> tensor<256x256xf32>
  %c = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 1>}> : (tensor<256xf32>) -> tensor<256x256xf32>
  %u = "stablehlo.multiply"(%c, %b) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
)",
                                             SumTimes("%u", "%k")),
                                      {{"%p", "256x3xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"product_of_sum"});
  EXPECT_EQ(rewritten.body.find("broadcast_in_dim"), std::string::npos);
}

TEST(ProductOfSumTest, RefusesMatricesThatMightCancel) {
  const Rewritten rewritten =
      Rewrite(SumRules(), Arguments(), StrCat(kThin, SumTimes("%u", "%0")), {{"%p", "256x3xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
  EXPECT_EQ(rewritten.refused(),
            std::vector<std::string>{"product_of_sum: the matrices that are added might cancel"});
}

TEST(ProductOfSumTest, LeavesSumsOfFullMatrices) {
  const Rewritten rewritten = Rewrite(SumRules(), Arguments(),
                                      StrCat(kKernel, SumTimes("%k", "%k")), {{"%p", "256x3xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
  EXPECT_TRUE(rewritten.refused().empty());
}

}  // namespace
}  // namespace plimsoll
