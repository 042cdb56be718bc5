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

TEST(LogdetOfFactorTest, RefusesAnyFactor) {
  const Rewritten rewritten = Rewrite(FactorRules(), {"f32", "f32"}, R"(
  %e = "stablehlo.exponential"(%0) : (tensor<f32>) -> tensor<f32>
  %m = "stablehlo.multiply"(%1, %e) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %l = "stablehlo.log"(%m) : (tensor<f32>) -> tensor<f32>)",
                                      {{"%l", "f32"}});
  EXPECT_EQ(rewritten.refused(),
            std::vector<std::string>{"logdet_of_factor: it is not known that the factor of the "
                                     "exponential is -1, 0 or 1"});
}

}  // namespace
}  // namespace plimsoll::testing
