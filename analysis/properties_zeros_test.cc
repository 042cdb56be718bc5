// Which matrices are known to be diagonal, triangular, orthogonal or made of zeros and ones.

#include <string>

#include "analysis/properties.h"
#include "analysis/properties_testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

constexpr NamedType kResult = {"%r", "4x4xf32"};
constexpr NamedType kEye = {"%eye", "4x4xf32"};

TEST(IdentityTest, AsJaxMakesIt) {
  for (const Property property :
       {Property::kIdentity, Property::kDiagonal, Property::kSymmetric, Property::kLowerTriangular,
        Property::kUpperTriangular, Property::kPositiveDefinite, Property::kPositiveSemidefinite,
        Property::kOrthogonal, Property::kOneHot, Property::kPermutation, Property::kNonNegative,
        Property::kIntegerValued}) {
    EXPECT_TRUE(Holds({}, Eye(), kEye, property)) << PropertyName(property);
  }
  EXPECT_FALSE(Holds({}, Eye(), kEye, Property::kPositive));
}

TEST(IdentityTest, OnesBesideTheDiagonalAreNone) {
  const std::string ops = Mask("%mask", "EQ", "1") + Convert("%r", "%mask", "4x4xi1", "4x4xf32");
  EXPECT_FALSE(Holds({}, ops, kResult, Property::kIdentity));
  EXPECT_FALSE(Holds({}, ops, kResult, Property::kDiagonal));
  EXPECT_TRUE(Holds({}, ops, kResult, Property::kUpperTriangular));
  EXPECT_FALSE(Holds({}, ops, kResult, Property::kLowerTriangular));
  EXPECT_TRUE(Holds({}, ops, kResult, Property::kOneHot));
  EXPECT_FALSE(Holds({}, ops, kResult, Property::kPermutation));
}

TEST(IdentityTest, Scaled) {
  const auto scaled = [](std::string_view scale) {
    return Eye() + Constant("%s", scale, "4x4xf32") +
           Binary("%r", "multiply", "%eye", "%s", "4x4xf32");
  };
  EXPECT_TRUE(Holds({}, scaled("1.0"), kResult, Property::kIdentity));
  EXPECT_FALSE(Holds({}, scaled("2.0"), kResult, Property::kIdentity));
  EXPECT_TRUE(Holds({}, scaled("2.0"), kResult, Property::kPositiveDefinite));
  EXPECT_FALSE(Holds({}, scaled("2.0"), kResult, Property::kOrthogonal));
}

TEST(IdentityTest, ProductsAndConstants) {
  EXPECT_TRUE(Holds({}, Eye() + Dot("%r", kEye, kEye, kRowsTimesRows, "4x4xf32"), kResult,
                    Property::kIdentity));
  EXPECT_TRUE(Holds({}, Constant("%r", "[[1.0, 0.0], [0.0, 1.0]]", "2x2xf32"), {"%r", "2x2xf32"},
                    Property::kIdentity));
  EXPECT_FALSE(Holds({}, Constant("%r", "[[1.0, 0.0], [0.0, 2.0]]", "2x2xf32"), {"%r", "2x2xf32"},
                     Property::kIdentity));
}

// jnp.diag
std::string Diagonal(std::string_view name, std::string_view numbers) {
  return Constant("%zero", "0.0", "f32") + Broadcast("%zeros", "%zero", "f32", "", "4x4xf32") +
         Mask("%mask", "EQ") + Broadcast("%column", numbers, "4xf32", "0", "4x1xf32") +
         Broadcast("%full", "%column", "4x1xf32", "0, 1", "4x4xf32") +
         Select(name, "%mask", "4x4xi1", "%full", "%zeros", "4x4xf32");
}

TEST(DiagonalTest, AsJaxMakesIt) {
  const std::string ops = Diagonal("%r", "%0");
  EXPECT_EQ(WhyOf({"4xf32"}, ops, kResult, Property::kDiagonal), "zero outside the diagonal");
  EXPECT_TRUE(Holds({"4xf32"}, ops, kResult, Property::kSymmetric));
  EXPECT_FALSE(Holds({"4xf32"}, ops, kResult, Property::kIdentity));
  EXPECT_FALSE(Holds({"4xf32"}, ops, kResult, Property::kPositiveSemidefinite));
  EXPECT_FALSE(Holds({"4xf32"}, ops, kResult, Property::kOneHot));
}

TEST(DiagonalTest, SignsOfItsNumbers) {
  const std::string squares =
      Binary("%squares", "multiply", "%0", "%0", "4xf32") + Diagonal("%r", "%squares");
  EXPECT_TRUE(Holds({"4xf32"}, squares, kResult, Property::kPositiveSemidefinite));
  EXPECT_FALSE(Holds({"4xf32"}, squares, kResult, Property::kPositiveDefinite));
  const std::string powers =
      Unary("%powers", "stablehlo.exponential", "%0", "4xf32") + Diagonal("%r", "%powers");
  EXPECT_TRUE(Holds({"4xf32"}, powers, kResult, Property::kPositiveDefinite));
  // They may round to zero.
  const std::string narrow = powers + Convert("%n", "%r", "4x4xf32", "4x4xf16");
  EXPECT_FALSE(Holds({"4xf32"}, narrow, {"%n", "4x4xf16"}, Property::kPositiveDefinite));
  EXPECT_TRUE(Holds({"4xf32"}, narrow, {"%n", "4x4xf16"}, Property::kPositiveSemidefinite));
}

TEST(DiagonalTest, SumsAndProducts) {
  const auto holds = [&](std::string_view op, Property property) {
    return Holds({"4xf32", "4x4xf32"}, Diagonal("%d", "%0") + std::string(op), kResult, property);
  };
  EXPECT_TRUE(holds(Binary("%r", "add", "%d", "%d", "4x4xf32"), Property::kDiagonal));
  EXPECT_FALSE(holds(Binary("%r", "add", "%d", "%1", "4x4xf32"), Property::kDiagonal));
  EXPECT_TRUE(holds(Binary("%r", "multiply", "%d", "%1", "4x4xf32"), Property::kDiagonal));
  EXPECT_FALSE(holds(Binary("%r", "divide", "%1", "%d", "4x4xf32"), Property::kDiagonal));
  EXPECT_TRUE(holds(Unary("%r", "stablehlo.tanh", "%d", "4x4xf32"), Property::kDiagonal));
  EXPECT_FALSE(holds(Unary("%r", "stablehlo.exponential", "%d", "4x4xf32"), Property::kDiagonal));
  EXPECT_TRUE(holds(Dot("%r", {"%d", "4x4xf32"}, {"%d", "4x4xf32"}, kRowsTimesColumns, "4x4xf32"),
                    Property::kDiagonal));
  EXPECT_FALSE(holds(Dot("%r", {"%d", "4x4xf32"}, {"%1", "4x4xf32"}, kRowsTimesColumns, "4x4xf32"),
                     Property::kDiagonal));
  EXPECT_TRUE(holds(Transpose("%r", "%d", "4x4xf32", "1, 0", "4x4xf32"), Property::kDiagonal));
}

TEST(DiagonalTest, LowerAndUpper) {
  const std::string ops = Constant("%zeros", "0.0", "4x4xf32") + Mask("%lower", "GE") +
                          Select("%l", "%lower", "4x4xi1", "%0", "%zeros", "4x4xf32") +
                          Compare("%upper", "LE", "%rows", "%columns", "4x4xi32", "4x4xi1") +
                          Select("%r", "%upper", "4x4xi1", "%l", "%zeros", "4x4xf32");
  EXPECT_TRUE(Holds({"4x4xf32"}, ops, kResult, Property::kDiagonal));
}

// jnp.tril and jnp.triu
std::string Triangle(std::string_view direction, std::string_view offset, bool keeps_rest = false) {
  return Mask("%mask", direction, offset) + Constant("%zeros", "0.0", "4x4xf32") +
         (keeps_rest ? Select("%r", "%mask", "4x4xi1", "%zeros", "%0", "4x4xf32")
                     : Select("%r", "%mask", "4x4xi1", "%0", "%zeros", "4x4xf32"));
}

TEST(TriangularTest, Masks) {
  const auto is_lower = [](std::string_view ops) {
    return Holds({"4x4xf32"}, ops, kResult, Property::kLowerTriangular);
  };
  const auto is_upper = [](std::string_view ops) {
    return Holds({"4x4xf32"}, ops, kResult, Property::kUpperTriangular);
  };
  EXPECT_EQ(WhyOf({"4x4xf32"}, Triangle("GE", "0"), kResult, Property::kLowerTriangular),
            "zero above the diagonal");
  EXPECT_FALSE(is_upper(Triangle("GE", "0")));
  EXPECT_TRUE(is_lower(Triangle("GE", "-1")));
  EXPECT_FALSE(is_lower(Triangle("GE", "1")));
  EXPECT_TRUE(is_lower(Triangle("GT", "1")));
  EXPECT_TRUE(is_upper(Triangle("LE", "0")));
  EXPECT_FALSE(is_upper(Triangle("LE", "-1")));
  // triu: nothing is kept below.
  EXPECT_TRUE(is_upper(Triangle("GE", "-1", /*keeps_rest=*/true)));
  EXPECT_FALSE(is_upper(Triangle("GE", "-2", /*keeps_rest=*/true)));
}

TEST(ConstantTest, LargeOnes) {
  constexpr std::string_view type = "2000x2000xf32";
  const auto has = [&](std::string_view number, Property property) {
    return Holds({}, Constant("%r", number, type), {"%r", type}, property);
  };
  EXPECT_TRUE(has("0.0", Property::kDiagonal));
  EXPECT_FALSE(has("1.0", Property::kDiagonal));
  EXPECT_TRUE(has("1.0", Property::kSymmetric));
  EXPECT_TRUE(has("1.0", Property::kPositiveSemidefinite));
  EXPECT_FALSE(has("-1.0", Property::kPositiveSemidefinite));
  EXPECT_TRUE(has("1.0", Property::kPositive));
  EXPECT_TRUE(has("1.0", Property::kIntegerValued));
  EXPECT_FALSE(has("1.5", Property::kIntegerValued));
  EXPECT_TRUE(has("1.5", Property::kSorted));
}

TEST(TriangularTest, CholeskyWithTheOtherTriangleMasked) {
  const std::string factor =
      R"(%c:2 = "stablehlo.custom_call"(%0) <{call_target_name = "lapack_spotrf_ffi"}> :
      (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  )";
  // What stands in the other triangle is not said.
  EXPECT_FALSE(Holds({"4x4xf32"}, factor, {"%c#0", "4x4xf32"}, Property::kLowerTriangular));
  EXPECT_FALSE(Holds({"4x4xf32"},
                     R"(%r = "stablehlo.cholesky"(%0) <{lower = true}> :
                     (tensor<4x4xf32>) -> tensor<4x4xf32>)",
                     kResult, Property::kLowerTriangular));
  const std::string checked =
      factor + Constant("%none", "0", "i32") + Compare("%ok", "EQ", "%c#1", "%none", "i32", "i1") +
      Broadcast("%all_ok", "%ok", "i1", "", "4x4xi1") + Constant("%nan", "0x7FC00000", "4x4xf32") +
      Select("%checked", "%all_ok", "4x4xi1", "%c#0", "%nan", "4x4xf32") + Mask("%mask", "GE") +
      Constant("%zeros", "0.0", "4x4xf32") +
      Select("%l", "%mask", "4x4xi1", "%checked", "%zeros", "4x4xf32");
  EXPECT_TRUE(Holds({"4x4xf32"}, checked, {"%l", "4x4xf32"}, Property::kLowerTriangular));
  EXPECT_TRUE(Holds({"4x4xf32"}, checked + Transpose("%r", "%l", "4x4xf32", "1, 0", "4x4xf32"),
                    kResult, Property::kUpperTriangular));
  EXPECT_TRUE(
      Holds({"4x4xf32"},
            checked + Dot("%r", {"%l", "4x4xf32"}, {"%l", "4x4xf32"}, kRowsTimesRows, "4x4xf32"),
            kResult, Property::kPositiveSemidefinite));
}

TEST(TriangularTest, Products) {
  const auto product = [](std::string_view dimensions) {
    return Mask("%mask", "GE") + Constant("%zeros", "0.0", "4x4xf32") +
           Select("%l", "%mask", "4x4xi1", "%0", "%zeros", "4x4xf32") +
           Dot("%r", {"%l", "4x4xf32"}, {"%l", "4x4xf32"}, dimensions, "4x4xf32");
  };
  EXPECT_TRUE(Holds({"4x4xf32"}, product(kRowsTimesColumns), kResult, Property::kLowerTriangular));
  EXPECT_FALSE(Holds({"4x4xf32"}, product(kRowsTimesRows), kResult, Property::kLowerTriangular));
  EXPECT_FALSE(Holds({"4x4xf32"}, product(kRowsTimesColumns), kResult, Property::kUpperTriangular));
}

TEST(TriangularTest, Solves) {
  const auto solve = [](bool lower, std::string_view transpose) {
    return Mask("%mask", "GE") + Constant("%zeros", "0.0", "4x4xf32") +
           Select("%l", "%mask", "4x4xi1", "%0", "%zeros", "4x4xf32") +
           StrCat("%r = \"stablehlo.triangular_solve\"(%1, %l) <{left_side = true, lower = ",
                  lower ? "true" : "false", ", transpose_a = #stablehlo<transpose ", transpose,
                  ">, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
                  "tensor<4x4xf32>\n");
  };
  const auto is_lower = [](std::string_view ops) {
    return Holds({"4x4xf32", "4x4xf32"}, ops, kResult, Property::kLowerTriangular);
  };
  EXPECT_TRUE(is_lower(solve(true, "NO_TRANSPOSE")));
  EXPECT_FALSE(is_lower(solve(true, "TRANSPOSE")));
  EXPECT_FALSE(is_lower(solve(false, "NO_TRANSPOSE")));
  EXPECT_TRUE(is_lower(solve(false, "TRANSPOSE")));
}

TEST(TriangularTest, SolvesByLapack) {
  const auto solve = [](char triangle) {
    return Mask("%mask", "GE") + Constant("%zeros", "0.0", "4x4xf32") +
           Select("%l", "%mask", "4x4xi1", "%0", "%zeros", "4x4xf32") +
           StrCat(
               "%r = \"stablehlo.custom_call\"(%1, %l) <{call_target_name = "
               "\"lapack_strsm_ffi\"}> {mhlo.backend_config = {diag = 78 : ui8, side = 76 : "
               "ui8, trans_x = 78 : ui8, uplo = ",
               static_cast<int>(triangle),
               " : ui8}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>\n");
  };
  EXPECT_TRUE(Holds({"4x4xf32", "4x4xf32"}, solve('L'), kResult, Property::kLowerTriangular));
  EXPECT_FALSE(Holds({"4x4xf32", "4x4xf32"}, solve('U'), kResult, Property::kLowerTriangular));
}

TEST(OrthogonalTest, FromLapack) {
  const auto call = [](std::string_view target, int mode) {
    return StrCat("%c:2 = \"stablehlo.custom_call\"(%0) <{call_target_name = \"", target,
                  "\"}> {mhlo.backend_config = {mode = ", mode,
                  " : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)\n");
  };
  constexpr NamedType vectors = {"%c#0", "4x4xf32"};
  EXPECT_EQ(WhyOf({"4x4xf32"}, call("lapack_ssyevd_ffi", 'V'), vectors, Property::kOrthogonal),
            "eigenvectors of a symmetric matrix");
  EXPECT_FALSE(Holds({"4x4xf32"}, call("lapack_ssyevd_ffi", 'N'), vectors, Property::kOrthogonal));
  EXPECT_FALSE(Holds({"4x4xf32"}, call("lapack_cheevd_ffi", 'V'), vectors, Property::kOrthogonal));
  EXPECT_TRUE(
      Holds({"4x4xf32"}, call("lapack_ssyevd_ffi", 'V'), {"%c#1", "4xf32"}, Property::kSorted));
}

// %q, 4x3 with orthonormal columns.
std::string Q() {
  return R"(%q = "stablehlo.custom_call"(%0, %1) <{call_target_name = "lapack_sorgqr_ffi"}> :
      (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  )";
}

TEST(OrthogonalTest, ColumnsOnly) {
  const std::vector<std::string_view> arguments = {"4x3xf32", "3xf32"};
  EXPECT_EQ(WhyOf(arguments, Q(), {"%q", "4x3xf32"}, Property::kOrthogonal),
            "the Q of a QR factorization");
  // The rows of a tall matrix are not orthonormal.
  EXPECT_FALSE(Holds(arguments, Q() + Transpose("%r", "%q", "4x3xf32", "1, 0", "3x4xf32"),
                     {"%r", "3x4xf32"}, Property::kOrthogonal));
  EXPECT_FALSE(Holds(
      arguments, Q() + Dot("%r", {"%q", "4x3xf32"}, {"%q", "4x3xf32"}, kRowsTimesRows, "4x4xf32"),
      kResult, Property::kOrthogonal));
}

TEST(OrthogonalTest, ProductsAndTransposes) {
  const std::string vectors =
      R"(%v = "stablehlo.custom_call"(%2) <{call_target_name = "lapack_sorgqr_ffi"}> :
      (tensor<4x4xf32>) -> tensor<4x4xf32>
  )";
  const std::vector<std::string_view> arguments = {"4x3xf32", "3xf32", "4x4xf32"};
  EXPECT_TRUE(Holds(arguments, vectors + Transpose("%r", "%v", "4x4xf32", "1, 0", "4x4xf32"),
                    kResult, Property::kOrthogonal));
  const std::string product =
      vectors + Q() +
      Dot("%r", {"%v", "4x4xf32"}, {"%q", "4x3xf32"}, kColumnsTimesColumns, "4x3xf32");
  EXPECT_TRUE(Holds(arguments, product, {"%r", "4x3xf32"}, Property::kOrthogonal));
  EXPECT_FALSE(Holds(arguments, vectors + Binary("%r", "add", "%v", "%v", "4x4xf32"), kResult,
                     Property::kOrthogonal));
}

// jax.nn.one_hot
std::string OneHot(std::string_view rows) {
  return Broadcast("%column", rows, "4xi32", "0", "4x1xi32") + Iota("%classes", 1, "1x4xi32") +
         Broadcast("%a", "%column", "4x1xi32", "0, 1", "4x4xi32") +
         Broadcast("%b", "%classes", "1x4xi32", "0, 1", "4x4xi32") +
         Compare("%hot", "EQ", "%a", "%b", "4x4xi32", "4x4xi1") +
         Convert("%r", "%hot", "4x4xi1", "4x4xf32");
}

TEST(OneHotTest, AsJaxMakesIt) {
  EXPECT_EQ(WhyOf({"4xi32"}, OneHot("%0"), kResult, Property::kOneHot),
            "a comparison of positions with one number for each row");
  EXPECT_TRUE(Holds({"4xi32"}, OneHot("%0"), kResult, Property::kNonNegative));
  EXPECT_FALSE(Holds({"4xi32"}, OneHot("%0"), kResult, Property::kPermutation));
  EXPECT_FALSE(Holds({"4xi32"}, OneHot("%0"), kResult, Property::kOrthogonal));
  // Columns of one hot rows may have many ones.
  EXPECT_FALSE(Holds({"4xi32"}, OneHot("%0") + Transpose("%t", "%r", "4x4xf32", "1, 0", "4x4xf32"),
                     {"%t", "4x4xf32"}, Property::kOneHot));
  EXPECT_FALSE(Holds({"4x4xi32"},
                     Iota("%i", 1, "4x4xi32") +
                         Compare("%hot", "EQ", "%0", "%i", "4x4xi32", "4x4xi1") +
                         Convert("%r", "%hot", "4x4xi1", "4x4xf32"),
                     kResult, Property::kOneHot));
}

TEST(PermutationTest, OfSortedPositions) {
  const auto argsort = [](std::string_view positions) {
    return Iota("%positions", 0, "4xi32") +
           StrCat("%sorted:2 = \"stablehlo.sort\"(%0, ", positions,
                  ") <{dimension = 0 : i64}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: "
                  "tensor<i32>, %d: tensor<i32>):\n",
                  Compare("%s", "LT", "%a", "%b", "f32", "i1"),
                  "\"stablehlo.return\"(%s) : (tensor<i1>) -> () }) : (tensor<4xf32>, "
                  "tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)\n") +
           OneHot("%sorted#1");
  };
  EXPECT_EQ(WhyOf({"4xf32", "4xi32"}, argsort("%positions"), kResult, Property::kPermutation),
            "a comparison of positions with a permutation");
  EXPECT_TRUE(Holds({"4xf32", "4xi32"}, argsort("%positions"), kResult, Property::kOrthogonal));
  EXPECT_FALSE(Holds({"4xf32", "4xi32"}, argsort("%1"), kResult, Property::kPermutation));
}

TEST(PermutationTest, ReversedConstantsAndProducts) {
  const std::string reversed =
      Eye() +
      "%r = \"stablehlo.reverse\"(%eye) <{dimensions = array<i64: 0>}> : (tensor<4x4xf32>) -> "
      "tensor<4x4xf32>\n";
  EXPECT_TRUE(Holds({}, reversed, kResult, Property::kPermutation));
  EXPECT_FALSE(Holds({}, reversed, kResult, Property::kDiagonal));
  EXPECT_TRUE(Holds({}, reversed + Dot("%p", kResult, kResult, kRowsTimesRows, "4x4xf32"),
                    {"%p", "4x4xf32"}, Property::kPermutation));
  EXPECT_TRUE(Holds({}, Constant("%r", "[[0.0, 1.0], [1.0, 0.0]]", "2x2xf32"), {"%r", "2x2xf32"},
                    Property::kPermutation));
  EXPECT_FALSE(Holds({}, Constant("%r", "[[0.0, 1.0], [0.0, 1.0]]", "2x2xf32"), {"%r", "2x2xf32"},
                     Property::kPermutation));
  EXPECT_TRUE(Holds({}, Constant("%i", "[2, 0, 3, 1]", "4xi32") + OneHot("%i"), kResult,
                    Property::kPermutation));
  EXPECT_FALSE(Holds({}, Constant("%i", "[2, 0, 2, 1]", "4xi32") + OneHot("%i"), kResult,
                     Property::kPermutation));
}

}  // namespace
}  // namespace plimsoll::testing
