#include "rewrite/factor_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rewrite/testing.h"
#include "rewrite/testing_solve.h"

namespace plimsoll::testing {
namespace {

constexpr std::string_view kTransposed = R"(
  %t = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}>
    : (tensor<400x400xf32>) -> tensor<400x400xf32>)";

TEST(SharedFactorTest, TheTransposeIsNotFactoredAgain) {
  const Rewritten rewritten = Rewrite(
      FactorRules(), {"400x400xf32", "400x3xf32"},
      StrCat(Lu("a", "%0"), LuSolve("%x", "a", "%1", 3), kTransposed, Lu("b", "%t"),
             LuSolve("%y", "b", "%1", 3)),
      {{"%x", "400x3xf32"}, {"%y", "400x3xf32"}}, {.disabled = {"positive_definite_solve"}});
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"shared_factor"});
  EXPECT_EQ(Count(rewritten.body, "lapack_sgetrf_ffi"), 1U);
  EXPECT_EQ(Count(rewritten.body, "stablehlo.while"), 1U);
  EXPECT_EQ(Count(rewritten.body, "trans_x = 84"), 2U);
}

TEST(SharedFactorTest, LeavesOtherMatrices) {
  const Rewritten rewritten = Rewrite(
      FactorRules(), {"400x400xf32", "400x3xf32", "400x400xf32"},
      StrCat(Lu("a", "%2"), LuSolve("%x", "a", "%1", 3), kTransposed, Lu("b", "%t"),
             LuSolve("%y", "b", "%1", 3)),
      {{"%x", "400x3xf32"}, {"%y", "400x3xf32"}}, {.disabled = {"positive_definite_solve"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

TEST(PositiveDefiniteSolveTest, RefusesWhatMayBeAnything) {
  const Rewritten rewritten =
      Rewrite(FactorRules(), {"400x400xf32", "400x3xf32"},
              StrCat(Lu("a", "%0"), LuSolve("%x", "a", "%1", 3)), {{"%x", "400x3xf32"}});
  EXPECT_EQ(rewritten.refused(),
            std::vector<std::string>{
                "positive_definite_solve: it is not known that the matrix is positive definite"});
}

// %k = %0 %0' + 1
constexpr std::string_view kPositive = R"(
  %k_p = "stablehlo.dot_general"(%0, %0) <{dot_dimension_numbers = #stablehlo.dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}>
    : (tensor<400x400xf32>, tensor<400x400xf32>) -> tensor<400x400xf32>
  %k = "stablehlo.add"(%k_p, %eye)
    : (tensor<400x400xf32>, tensor<400x400xf32>) -> tensor<400x400xf32>)";

TEST(PositiveDefiniteSolveTest, OneSolveIsDoneWithTheCholeskyFactor) {
  const Rewritten rewritten =
      Rewrite(FactorRules(), {"400x400xf32", "400x3xf32"},
              StrCat(kIdentity, kPositive, Lu("a", "%k"), LuSolve("%x", "a", "%1", 3)),
              {{"%x", "400x3xf32"}});
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"positive_definite_solve"});
  // What the program says is done only if there is no such factor.
  const std::string_view body = rewritten.body;
  const size_t choice = body.find("stablehlo.if");
  EXPECT_LT(body.find("lapack_spotrf_ffi"), choice);
  EXPECT_LT(choice, body.find("lapack_sgetrf_ffi"));
  EXPECT_EQ(Count(body.substr(choice, body.find("lapack_sgetrf_ffi") - choice), "lapack_strsm_ffi"),
            2U);
}

TEST(PositiveDefiniteSolveTest, SeveralSolvesShareTheFactor) {
  const Rewritten rewritten =
      Rewrite(FactorRules(), {"400x400xf32", "400x3xf32", "400x3xf32"},
              StrCat(kIdentity, kPositive, Lu("a", "%k"), LuSolve("%x", "a", "%1", 3),
                     LuSolve("%y", "a", "%2", 3)),
              {{"%x", "400x3xf32"}, {"%y", "400x3xf32"}});
  // Once for the factors and once for the order of rows.
  EXPECT_EQ(rewritten.fired(),
            (std::vector<std::string_view>{"positive_definite_solve", "positive_definite_solve"}));
  EXPECT_EQ(Count(rewritten.body, "lapack_spotrf_ffi"), 1U);
  EXPECT_EQ(Count(rewritten.body, "lapack_sgetrf_ffi"), 1U);
  EXPECT_EQ(Count(rewritten.body, "stablehlo.if"), 2U);
}

TEST(LogdetOfFactorTest, ASignIsAdded) {
  const Rewritten rewritten = Rewrite(FactorRules(), {"f32", "i1"}, R"(
  %s = "stablehlo.convert"(%1) : (tensor<i1>) -> tensor<f32>
  %e = "stablehlo.exponential"(%0) : (tensor<f32>) -> tensor<f32>
  %m = "stablehlo.multiply"(%s, %e) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %l = "stablehlo.log"(%m) : (tensor<f32>) -> tensor<f32>)",
                                      {{"%l", "f32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<f32>, %arg1: tensor<i1>):
  %0 = "stablehlo.convert"(%arg1) : (tensor<i1>) -> tensor<f32>
  %1 = "stablehlo.log"(%0) : (tensor<f32>) -> tensor<f32>
  %2 = "stablehlo.add"(%1, %arg0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "func.return"(%2) : (tensor<f32>) -> ()
)");
}

TEST(LogdetOfFactorTest, RefusesAnyFactor) {
  const Rewritten rewritten = Rewrite(FactorRules(), {"f32", "f32"}, R"(
  %e = "stablehlo.exponential"(%0) : (tensor<f32>) -> tensor<f32>
  %m = "stablehlo.multiply"(%1, %e) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %l = "stablehlo.log"(%m) : (tensor<f32>) -> tensor<f32>)",
                                      {{"%l", "f32"}});
  EXPECT_EQ(rewritten.refused(),
            std::vector<std::string>{"logdet_of_factor: it is not known that the factor of the "
                                     "exponential is a small integer"});
}

}  // namespace
}  // namespace plimsoll::testing
