#include "rewrite/symmetry_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::NamedType;
using ::plimsoll::testing::Rewritten;

using Names = std::vector<std::string_view>;

Rewritten Rewrite(const std::vector<std::string_view>& arguments, std::string_view ops,
                  const std::vector<NamedType>& results) {
  return testing::Rewrite(SymmetryRules(), arguments, ops, results);
}

// %a is x x', of the argument %0.
constexpr std::string_view kGram = R"(
  %a = "stablehlo.dot_general"(%0, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x64xf32>
)";

std::string Transpose(std::string_view operand) {
  return StrCat(
      "  %t = \"stablehlo.transpose\"(", operand,
      ") <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>\n");
}

std::string Product(std::string_view result, std::string_view matrix, int dimension) {
  return StrCat("  ", result, " = \"stablehlo.dot_general\"(", matrix,
                ", %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [",
                dimension,
                "], rhs_contracting_dimensions = [0]>}> : (tensor<64x64xf32>, tensor<64x3xf32>) -> "
                "tensor<64x3xf32>\n");
}

// %q is x' A, of three columns.
constexpr std::string_view kFromTheLeft = R"(
  %q = "stablehlo.dot_general"(%1, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<64x3xf32>, tensor<64x64xf32>) -> tensor<3x64xf32>
)";

TEST(SymmetricTransposeTest, IsTheMatrixItself) {
  const Rewritten rewritten =
      Rewrite({"64x8xf32"}, StrCat(kGram, Transpose("%a")), {{"%t", "64x64xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"symmetric_transpose"});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<64x8xf32>):
  %0 = "stablehlo.dot_general"(%arg0, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x64xf32>
  "func.return"(%0) : (tensor<64x64xf32>) -> ()
)");
}

TEST(SymmetricTransposeTest, LeavesMatricesOfWhichNothingIsKnown) {
  EXPECT_TRUE(Rewrite({"64x64xf32"}, Transpose("%0"), {{"%t", "64x64xf32"}}).fired().empty());
}

TEST(SymmetricTransposeTest, LeavesTransposesOfBatches) {
  const Rewritten rewritten = Rewrite({"64x8xf32"}, StrCat(kGram, R"(
  %b = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<64x64xf32>) -> tensor<2x64x64xf32>
  %t = "stablehlo.transpose"(%b) <{permutation = array<i64: 1, 0, 2>}> : (tensor<2x64x64xf32>) -> tensor<64x2x64xf32>
)"),
                                      {{"%t", "64x2x64xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

TEST(SymmetricProductTest, IsTheProductWithTheTranspose) {
  const Rewritten rewritten = Rewrite({"64x8xf32", "64x3xf32"},
                                      StrCat(kGram, Product("%p", "%a", 1), Product("%q", "%a", 0)),
                                      {{"%p", "64x3xf32"}, {"%q", "64x3xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"symmetric_product"});
  EXPECT_NE(rewritten.body.find("\"func.return\"(%1, %1)"), std::string::npos);
}

TEST(SymmetricProductTest, FromTheLeftItIsTransposed) {
  const Rewritten rewritten =
      Rewrite({"64x8xf32", "64x3xf32"}, StrCat(kGram, Product("%p", "%a", 1), kFromTheLeft),
              {{"%p", "64x3xf32"}, {"%q", "3x64xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"symmetric_product"});
  EXPECT_NE(rewritten.body.find("\"stablehlo.transpose\"(%1) <{permutation = array<i64: 1, 0>}>"),
            std::string::npos);
}

TEST(SymmetricProductTest, LeavesProductsWithOtherMatricesAndVectors) {
  EXPECT_TRUE(Rewrite({"64x64xf32", "64x3xf32"},
                      StrCat(Product("%p", "%0", 1), Product("%q", "%0", 0)),
                      {{"%p", "64x3xf32"}, {"%q", "64x3xf32"}})
                  .fired()
                  .empty());
  EXPECT_TRUE(
      Rewrite({"64x8xf32", "64x3xf32"}, StrCat(kGram, Product("%p", "%a", 1)), {{"%p", "64x3xf32"}})
          .fired()
          .empty());
}

}  // namespace
}  // namespace plimsoll
