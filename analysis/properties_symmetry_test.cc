// Which matrices are known to be symmetric or positive definite.

#include <string>

#include "analysis/properties.h"
#include "analysis/properties_testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

constexpr NamedType kResult = {"%r", "4x4xf32"};

bool IsSymmetric(const std::vector<std::string_view>& arguments, std::string_view ops) {
  return Holds(arguments, ops, kResult, Property::kSymmetric);
}

bool IsSemidefinite(const std::vector<std::string_view>& arguments, std::string_view ops) {
  return Holds(arguments, ops, kResult, Property::kPositiveSemidefinite);
}

bool IsDefinite(const std::vector<std::string_view>& arguments, std::string_view ops) {
  return Holds(arguments, ops, kResult, Property::kPositiveDefinite);
}

TEST(SymmetricTest, ProductWithItsOwnTranspose) {
  const std::string ops =
      Dot("%r", {"%0", "4x3xf32"}, {"%0", "4x3xf32"}, kRowsTimesRows, "4x4xf32");
  EXPECT_EQ(WhyOf({"4x3xf32"}, ops, kResult, Property::kSymmetric),
            "a product with its own transpose");
  EXPECT_TRUE(IsSemidefinite({"4x3xf32"}, ops));
  EXPECT_FALSE(IsDefinite({"4x3xf32"}, ops));
}

TEST(SymmetricTest, ProductWithItsOwnTransposeAsWritten) {
  const std::string ops =
      Transpose("%t", "%0", "4x3xf32", "1, 0", "3x4xf32") +
      Dot("%r", {"%0", "4x3xf32"}, {"%t", "3x4xf32"}, kRowsTimesColumns, "4x4xf32");
  EXPECT_TRUE(IsSymmetric({"4x3xf32"}, ops));
  EXPECT_TRUE(IsSemidefinite({"4x3xf32"}, ops));
}

TEST(SymmetricTest, TransposeFirst) {
  EXPECT_TRUE(IsSemidefinite({"3x4xf32"}, Dot("%r", {"%0", "3x4xf32"}, {"%0", "3x4xf32"},
                                              kColumnsTimesColumns, "4x4xf32")));
}

TEST(SymmetricTest, ProductsOfOthersAreNot) {
  EXPECT_FALSE(IsSymmetric({"4x3xf32", "4x3xf32"}, Dot("%r", {"%0", "4x3xf32"}, {"%1", "4x3xf32"},
                                                       kRowsTimesRows, "4x4xf32")));
  // A square, not a product with the transpose.
  EXPECT_FALSE(IsSymmetric(
      {"4x4xf32"}, Dot("%r", {"%0", "4x4xf32"}, {"%0", "4x4xf32"}, kRowsTimesColumns, "4x4xf32")));
}

TEST(SymmetricTest, BatchesOfProducts) {
  const std::string_view batched =
      "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
      "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]";
  const std::string ops = Dot("%r", {"%0", "5x4x3xf32"}, {"%0", "5x4x3xf32"}, batched, "5x4x4xf32");
  EXPECT_TRUE(Holds({"5x4x3xf32"}, ops, {"%r", "5x4x4xf32"}, Property::kPositiveSemidefinite));
  // Rows of one batch with rows of another.
  const std::string crossed =
      Dot("%r", {"%0", "4x4x3xf32"}, {"%0", "4x4x3xf32"},
          "lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], "
          "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]",
          "4x4x4xf32");
  EXPECT_FALSE(Holds({"4x4x3xf32"}, crossed, {"%r", "4x4x4xf32"}, Property::kSymmetric));
}

TEST(SymmetricTest, ProductAroundASymmetricMatrix) {
  const std::string middle = Transpose("%t", "%1", "3x3xf32", "1, 0", "3x3xf32") +
                             Binary("%s", "add", "%1", "%t", "3x3xf32");
  const auto around = [](std::string_view matrix) {
    return Dot("%left", {"%0", "4x3xf32"}, {matrix, "3x3xf32"}, kRowsTimesColumns, "4x3xf32") +
           Dot("%r", {"%left", "4x3xf32"}, {"%0", "4x3xf32"}, kRowsTimesRows, "4x4xf32");
  };
  EXPECT_TRUE(IsSymmetric({"4x3xf32", "3x3xf32"}, middle + around("%s")));
  EXPECT_FALSE(IsSymmetric({"4x3xf32", "3x3xf32"}, around("%1")));
  // Symmetric is not enough for more.
  EXPECT_FALSE(IsSemidefinite({"4x3xf32", "3x3xf32"}, middle + around("%s")));
  const std::string gram =
      Dot("%g", {"%1", "3x3xf32"}, {"%1", "3x3xf32"}, kRowsTimesRows, "3x3xf32");
  EXPECT_TRUE(IsSemidefinite({"4x3xf32", "3x3xf32"}, gram + around("%g")));
}

TEST(SymmetricTest, ProductWithColumnsWeighted) {
  const auto weighted = [](std::string_view weights) {
    return Unary("%positive", "stablehlo.exponential", "%1", "3xf32") +
           Broadcast("%w", weights, "3xf32", "1", "4x3xf32") +
           Binary("%left", "multiply", "%0", "%w", "4x3xf32") +
           Dot("%r", {"%left", "4x3xf32"}, {"%0", "4x3xf32"}, kRowsTimesRows, "4x4xf32");
  };
  EXPECT_TRUE(IsSymmetric({"4x3xf32", "3xf32"}, weighted("%1")));
  EXPECT_FALSE(IsSemidefinite({"4x3xf32", "3xf32"}, weighted("%1")));
  EXPECT_TRUE(IsSemidefinite({"4x3xf32", "3xf32"}, weighted("%positive")));
}

TEST(SymmetricTest, MatrixPlusItsTranspose) {
  const std::string transpose = Transpose("%t", "%0", "4x4xf32", "1, 0", "4x4xf32");
  EXPECT_TRUE(IsSymmetric({"4x4xf32"}, transpose + Binary("%r", "add", "%0", "%t", "4x4xf32")));
  EXPECT_TRUE(IsSymmetric({"4x4xf32"}, transpose + Binary("%r", "maximum", "%t", "%0", "4x4xf32")));
  EXPECT_FALSE(
      IsSymmetric({"4x4xf32"}, transpose + Binary("%r", "subtract", "%0", "%t", "4x4xf32")));
}

TEST(SymmetricTest, FunctionsOfDifferences) {
  const std::string difference = Transpose("%t", "%0", "4x4xf32", "1, 0", "4x4xf32") +
                                 Binary("%d", "subtract", "%0", "%t", "4x4xf32");
  EXPECT_TRUE(IsSymmetric({"4x4xf32"}, difference + Unary("%r", "stablehlo.abs", "%d", "4x4xf32")));
  EXPECT_TRUE(
      IsSymmetric({"4x4xf32"}, difference + Unary("%r", "stablehlo.cosine", "%d", "4x4xf32")));
  EXPECT_FALSE(
      IsSymmetric({"4x4xf32"}, difference + Unary("%r", "stablehlo.sine", "%d", "4x4xf32")));
  EXPECT_TRUE(IsSymmetric({"4x4xf32"}, difference + Unary("%s", "stablehlo.sine", "%d", "4x4xf32") +
                                           Binary("%r", "multiply", "%d", "%s", "4x4xf32")));
  const auto power = [&](std::string_view exponent) {
    return difference + Constant("%e", exponent, "4x4xf32") +
           Binary("%r", "power", "%d", "%e", "4x4xf32");
  };
  EXPECT_TRUE(IsSymmetric({"4x4xf32"}, power("4.0")));
  EXPECT_FALSE(IsSymmetric({"4x4xf32"}, power("3.0")));
}

TEST(SymmetricTest, SumsOfThree) {
  // n[i] + (n[j] - p[i, j]), as expanded distances are written.
  const std::string ops =
      Dot("%p", {"%0", "4x3xf32"}, {"%0", "4x3xf32"}, kRowsTimesRows, "4x4xf32") +
      Broadcast("%row", "%1", "4xf32", "0", "4x4xf32") +
      Broadcast("%column", "%1", "4xf32", "1", "4x4xf32") +
      Binary("%rest", "subtract", "%column", "%p", "4x4xf32") +
      Binary("%r", "add", "%row", "%rest", "4x4xf32");
  EXPECT_TRUE(IsSymmetric({"4x3xf32", "4xf32"}, ops));
  // Its negative's exponential: the rows' and columns' terms only scale it.
  EXPECT_TRUE(Holds({"4x3xf32", "4xf32"},
                    ops + Unary("%n", "stablehlo.negate", "%r", "4x4xf32") +
                        Unary("%k", "stablehlo.exponential", "%n", "4x4xf32"),
                    {"%k", "4x4xf32"}, Property::kPositiveSemidefinite));
  EXPECT_FALSE(Holds({"4x3xf32", "4xf32"}, ops + Unary("%k", "stablehlo.sine", "%r", "4x4xf32"),
                     {"%k", "4x4xf32"}, Property::kPositiveSemidefinite));
}

TEST(SymmetricTest, SelectsElementByElement) {
  const std::string matrix = Transpose("%t", "%0", "4x4xf32", "1, 0", "4x4xf32") +
                             Binary("%s", "add", "%0", "%t", "4x4xf32") +
                             Constant("%zero", "0.0", "4x4xf32");
  const auto select = [&](std::string_view direction) {
    return matrix + Mask("%m", direction) + Select("%r", "%m", "4x4xi1", "%s", "%zero", "4x4xf32");
  };
  EXPECT_TRUE(IsSymmetric({"4x4xf32"}, select("NE")));
  EXPECT_FALSE(IsSymmetric({"4x4xf32"}, select("GE")));
}

TEST(SymmetricTest, Constants) {
  EXPECT_TRUE(IsSymmetric({}, Constant("%r", "2.5", "4x4xf32")));
  EXPECT_TRUE(Holds({}, Constant("%r", "[[1.0, 2.0], [2.0, 5.0]]", "2x2xf32"), {"%r", "2x2xf32"},
                    Property::kSymmetric));
  EXPECT_FALSE(Holds({}, Constant("%r", "[[1.0, 2.0], [3.0, 5.0]]", "2x2xf32"), {"%r", "2x2xf32"},
                     Property::kSymmetric));
  EXPECT_FALSE(
      Holds({}, Constant("%r", "2.5", "4x3xf32"), {"%r", "4x3xf32"}, Property::kSymmetric));
}

TEST(SymmetricTest, SeenThroughMoves) {
  const std::string gram =
      Dot("%g", {"%0", "4x3xf32"}, {"%0", "4x3xf32"}, kRowsTimesRows, "4x4xf32");
  EXPECT_TRUE(
      IsSemidefinite({"4x3xf32"}, gram + Transpose("%r", "%g", "4x4xf32", "1, 0", "4x4xf32")));
  EXPECT_TRUE(Holds({"4x3xf32"}, gram + Broadcast("%r", "%g", "4x4xf32", "1, 2", "5x4x4xf32"),
                    {"%r", "5x4x4xf32"}, Property::kPositiveSemidefinite));
  // The last two dimensions are not the matrix's.
  EXPECT_FALSE(Holds({"4x3xf32"}, gram + Broadcast("%r", "%g", "4x4xf32", "0, 1", "4x4x4xf32"),
                     {"%r", "4x4x4xf32"}, Property::kSymmetric));
  EXPECT_TRUE(Holds({"4x3xf32"}, gram + Convert("%r", "%g", "4x4xf32", "1x4x4xf32", "reshape"),
                    {"%r", "1x4x4xf32"}, Property::kPositiveSemidefinite));
  EXPECT_TRUE(IsSemidefinite(
      {"4x3xf32"}, gram + Unary("%r", "stablehlo.optimization_barrier", "%g", "4x4xf32")));
  EXPECT_TRUE(Holds({"4x3xf32"},
                    gram + "%r = \"stablehlo.slice\"(%g) <{start_indices = array<i64: 1, 1>, "
                           "limit_indices = array<i64: 3, 3>, strides = array<i64: 1, 1>}> : "
                           "(tensor<4x4xf32>) -> tensor<2x2xf32>\n",
                    {"%r", "2x2xf32"}, Property::kPositiveSemidefinite));
  EXPECT_FALSE(Holds({"4x3xf32"},
                     gram + "%r = \"stablehlo.slice\"(%g) <{start_indices = array<i64: 0, 1>, "
                            "limit_indices = array<i64: 2, 3>, strides = array<i64: 1, 1>}> : "
                            "(tensor<4x4xf32>) -> tensor<2x2xf32>\n",
                     {"%r", "2x2xf32"}, Property::kSymmetric));
}

TEST(SymmetricTest, Conversions) {
  const std::string gram =
      Dot("%g", {"%0", "4x3xf32"}, {"%0", "4x3xf32"}, kRowsTimesRows, "4x4xf32");
  const std::string wide = gram + Convert("%r", "%g", "4x4xf32", "4x4xf64");
  const std::string narrow = gram + Convert("%r", "%g", "4x4xf32", "4x4xbf16");
  EXPECT_TRUE(Holds({"4x3xf32"}, wide, {"%r", "4x4xf64"}, Property::kPositiveSemidefinite));
  EXPECT_TRUE(Holds({"4x3xf32"}, narrow, {"%r", "4x4xbf16"}, Property::kSymmetric));
  EXPECT_FALSE(Holds({"4x3xf32"}, narrow, {"%r", "4x4xbf16"}, Property::kPositiveSemidefinite));
}

TEST(SymmetricTest, ComplexNumbers) {
  const NamedType result = {"%r", "4x4xcomplex<f32>"};
  const std::string ops = Dot("%r", {"%0", "4x3xcomplex<f32>"}, {"%0", "4x3xcomplex<f32>"},
                              kRowsTimesRows, "4x4xcomplex<f32>");
  EXPECT_TRUE(Holds({"4x3xcomplex<f32>"}, ops, result, Property::kSymmetric));
  EXPECT_FALSE(Holds({"4x3xcomplex<f32>"}, ops, result, Property::kPositiveSemidefinite));
}

TEST(SymmetricTest, SquaredDistances) {
  EXPECT_TRUE(Holds({"4x3xf32"}, SquaredDistances(), {"%d", "4x4xf32"}, Property::kSymmetric));
  EXPECT_FALSE(
      Holds({"4x3xf32"}, SquaredDistances(), {"%d", "4x4xf32"}, Property::kPositiveSemidefinite));
  EXPECT_FALSE(Holds({"4x3xf32", "4x3xf32"}, SquaredDistances("%1"), {"%d", "4x4xf32"},
                     Property::kSymmetric));
}

std::string Kernel(std::string_view scale, std::string_view second_points = "%0") {
  return SquaredDistances(second_points) + Constant("%scale", scale, "4x4xf32") +
         Binary("%scaled", "multiply", "%scale", "%d", "4x4xf32") +
         Unary("%k", "stablehlo.exponential", "%scaled", "4x4xf32");
}

TEST(PositiveSemidefiniteTest, GaussianKernel) {
  constexpr NamedType kernel = {"%k", "4x4xf32"};
  EXPECT_EQ(WhyOf({"4x3xf32"}, Kernel("-0.5"), kernel, Property::kPositiveSemidefinite),
            "a kernel of a value with itself");
  EXPECT_FALSE(Holds({"4x3xf32"}, Kernel("0.5"), kernel, Property::kPositiveSemidefinite));
  EXPECT_FALSE(
      Holds({"4x3xf32", "4x3xf32"}, Kernel("-0.5", "%1"), kernel, Property::kPositiveSemidefinite));
}

TEST(PositiveSemidefiniteTest, KernelOfDistancesThatAreNotSquared) {
  const std::string ops = SquaredDistances() + Unary("%root", "stablehlo.sqrt", "%d", "4x4xf32") +
                          Unary("%n", "stablehlo.negate", "%root", "4x4xf32") +
                          Unary("%r", "stablehlo.exponential", "%n", "4x4xf32");
  EXPECT_TRUE(IsSemidefinite({"4x3xf32"}, ops));
}

TEST(PositiveSemidefiniteTest, SumsAndProducts) {
  const std::string two =
      Dot("%g", {"%0", "4x3xf32"}, {"%0", "4x3xf32"}, kRowsTimesRows, "4x4xf32") +
      Dot("%h", {"%1", "4x3xf32"}, {"%1", "4x3xf32"}, kRowsTimesRows, "4x4xf32");
  EXPECT_TRUE(
      IsSemidefinite({"4x3xf32", "4x3xf32"}, two + Binary("%r", "add", "%g", "%h", "4x4xf32")));
  EXPECT_TRUE(IsSemidefinite({"4x3xf32", "4x3xf32"},
                             two + Binary("%r", "multiply", "%g", "%h", "4x4xf32")));
  const std::string difference = two + Binary("%r", "subtract", "%g", "%h", "4x4xf32");
  EXPECT_TRUE(IsSymmetric({"4x3xf32", "4x3xf32"}, difference));
  EXPECT_FALSE(IsSemidefinite({"4x3xf32", "4x3xf32"}, difference));
}

TEST(PositiveSemidefiniteTest, ScalarMultiples) {
  const auto scaled = [](std::string_view by) {
    return Dot("%g", {"%0", "4x3xf32"}, {"%0", "4x3xf32"}, kRowsTimesRows, "4x4xf32") +
           Unary("%positive", "stablehlo.exponential", "%1", "f32") +
           Broadcast("%s", by, "f32", "", "4x4xf32") +
           Binary("%r", "multiply", "%s", "%g", "4x4xf32");
  };
  EXPECT_TRUE(IsSemidefinite({"4x3xf32", "f32"}, scaled("%positive")));
  EXPECT_FALSE(IsSemidefinite({"4x3xf32", "f32"}, scaled("%1")));
  EXPECT_TRUE(IsSymmetric({"4x3xf32", "f32"}, scaled("%1")));
}

TEST(PositiveSemidefiniteTest, OuterProductWithItself) {
  const auto outer = [](std::string_view second) {
    return Broadcast("%a", "%0", "4xf32", "0", "4x4xf32") +
           Broadcast("%b", second, "4xf32", "1", "4x4xf32") +
           Binary("%r", "multiply", "%a", "%b", "4x4xf32");
  };
  EXPECT_TRUE(IsSemidefinite({"4xf32", "4xf32"}, outer("%0")));
  EXPECT_FALSE(IsSemidefinite({"4xf32", "4xf32"}, outer("%1")));
}

TEST(PositiveSemidefiniteTest, SumsOverBatches) {
  const std::string ops = Dot("%g", {"%0", "5x4x3xf32"}, {"%0", "5x4x3xf32"},
                              "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
                              "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]",
                              "5x4x4xf32") +
                          Unary("%e", "stablehlo.exponential", "%g", "5x4x4xf32") +
                          Constant("%zero", "0.0", "f32") +
                          Reduce("%r", "add", {"%e", "5x4x4xf32"}, "%zero", "0", "4x4xf32");
  EXPECT_TRUE(IsSemidefinite({"5x4x3xf32"}, ops));
  EXPECT_FALSE(IsSymmetric({"4x5x4xf32"},
                           Constant("%zero", "0.0", "f32") +
                               Reduce("%r", "add", {"%0", "4x5x4xf32"}, "%zero", "1", "4x4xf32")));
}

TEST(PositiveDefiniteTest, SemidefinitePlusAPositiveDiagonal) {
  const auto plus = [](std::string_view scale) {
    return Dot("%g", {"%0", "4x3xf32"}, {"%0", "4x3xf32"}, kRowsTimesRows, "4x4xf32") + Eye() +
           Constant("%c", scale, "4x4xf32") + Binary("%d", "multiply", "%c", "%eye", "4x4xf32") +
           Binary("%r", "add", "%g", "%d", "4x4xf32");
  };
  EXPECT_EQ(WhyOf({"4x3xf32"}, plus("0.001"), kResult, Property::kPositiveDefinite),
            "a positive semidefinite matrix plus a positive definite one");
  EXPECT_FALSE(IsDefinite({"4x3xf32"}, plus("0.0")));
  EXPECT_TRUE(IsSemidefinite({"4x3xf32"}, plus("0.0")));
  EXPECT_FALSE(IsSemidefinite({"4x3xf32"}, plus("-0.001")));
}

TEST(PositiveDefiniteTest, ScaledByAPositiveNumber) {
  EXPECT_TRUE(IsDefinite({}, Eye() + Constant("%two", "2.0", "4x4xf32") +
                                 Binary("%r", "divide", "%eye", "%two", "4x4xf32")));
  EXPECT_FALSE(IsDefinite({}, Eye() + Constant("%two", "-2.0", "4x4xf32") +
                                  Binary("%r", "divide", "%eye", "%two", "4x4xf32")));
}

}  // namespace
}  // namespace plimsoll::testing
