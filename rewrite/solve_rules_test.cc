#include "rewrite/solve_rules.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rewrite/testing.h"
#include "rewrite/testing_solve.h"

namespace plimsoll::testing {
namespace {

std::string Dot(std::string_view left, std::string_view right, int summed_left, int summed_right,
                std::string_view types) {
  return StrCat("\n  %d = \"stablehlo.dot_general\"(", left, ", ", right,
                ") <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [",
                summed_left, "], rhs_contracting_dimensions = [", summed_right, "]>}> : ", types);
}

using Names = std::vector<std::string_view>;

TEST(InverseTimesTest, SolvesForTheOtherOperand) {
  const Rewritten rewritten = Rewrite(
      SolveRules(), {"400x400xf32", "400x3xf32"},
      StrCat(
          Lu("a", "%0"), kIdentity, LuSolve("%x", "a", "%eye", 400),
          Dot("%x", "%1", 1, 0, "(tensor<400x400xf32>, tensor<400x3xf32>) -> tensor<400x3xf32>")),
      {{"%d", "400x3xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"inverse_times"});
  EXPECT_EQ(Count(rewritten.body, "stablehlo.dot_general"), 0U);
  // The same program as for a solve.
  const Rewritten solved =
      Rewrite(SolveRules(), {"400x400xf32", "400x3xf32"},
              StrCat(Lu("a", "%0"), LuSolve("%x", "a", "%1", 3)), {{"%x", "400x3xf32"}});
  EXPECT_EQ(rewritten.body, solved.body);
}

TEST(InverseTimesTest, SolvesWithTheTransposeFromTheOtherSide) {
  const Rewritten rewritten = Rewrite(
      SolveRules(), {"400x400xf32", "400xf32"},
      StrCat(Lu("a", "%0"), kIdentity, LuSolve("%x", "a", "%eye", 400),
             Dot("%1", "%x", 0, 0, "(tensor<400xf32>, tensor<400x400xf32>) -> tensor<400xf32>")),
      {{"%d", "400xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"inverse_times"});
  // U first, then L, both transposed, then the rows back to where they were.
  const std::string_view body = rewritten.body;
  const size_t upper = body.find("diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85");
  const size_t lower = body.find("diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76");
  const size_t sort = body.find("stablehlo.sort");
  const size_t gather = body.find("stablehlo.gather");
  EXPECT_LT(upper, lower);
  EXPECT_LT(lower, sort);
  EXPECT_LT(sort, gather);
  EXPECT_NE(gather, std::string_view::npos);
}

TEST(InverseTimesTest, LeavesAnInverseThatIsNeeded) {
  const Rewritten rewritten =
      Rewrite(SolveRules(), {"400x400xf32", "400x400xf32"},
              StrCat(Lu("a", "%0"), kIdentity, LuSolve("%x", "a", "%eye", 400),
                     Dot("%x", "%1", 1, 0,
                         "(tensor<400x400xf32>, tensor<400x400xf32>) -> tensor<400x400xf32>")),
              {{"%d", "400x400xf32"}, {"%x", "400x400xf32"}});
  EXPECT_EQ(rewritten.refused(),
            std::vector<std::string>{"inverse_times: it would not take less time or memory"});
}

TEST(InverseTimesTest, LeavesASolveForSomethingElse) {
  const Rewritten rewritten = Rewrite(
      SolveRules(), {"400x400xf32", "400x3xf32", "400x400xf32"},
      StrCat(
          Lu("a", "%0"), LuSolve("%x", "a", "%2", 400),
          Dot("%x", "%1", 1, 0, "(tensor<400x400xf32>, tensor<400x3xf32>) -> tensor<400x3xf32>")),
      {{"%d", "400x3xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{});
}

TEST(TriangularInverseTimesTest, IsOneSolve) {
  const Rewritten rewritten = Rewrite(
      SolveRules(), {"400x400xf32", "400x3xf32"},
      StrCat(
          kIdentity, Solve("%x", "%0", "%eye", 400, {}),
          Dot("%x", "%1", 1, 0, "(tensor<400x400xf32>, tensor<400x3xf32>) -> tensor<400x3xf32>")),
      {{"%d", "400x3xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"triangular_inverse_times"});
  const Rewritten solved = Rewrite(SolveRules(), {"400x400xf32", "400x3xf32"},
                                   Solve("%x", "%0", "%1", 3, {}), {{"%x", "400x3xf32"}});
  EXPECT_EQ(rewritten.body, solved.body);
}

TEST(TriangularInverseTimesTest, KnowsStableHloToo) {
  const Rewritten rewritten = Rewrite(SolveRules(), {"5x40x40xf64", "5x40x2xf64"}, R"(
  %r = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<5x40x40xi32>
  %c = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<5x40x40xi32>
  %b = "stablehlo.compare"(%r, %c) <{compare_type = #stablehlo<comparison_type SIGNED>,
    comparison_direction = #stablehlo<comparison_direction EQ>}>
    : (tensor<5x40x40xi32>, tensor<5x40x40xi32>) -> tensor<5x40x40xi1>
  %eye = "stablehlo.convert"(%b) : (tensor<5x40x40xi1>) -> tensor<5x40x40xf64>
  %x = "stablehlo.triangular_solve"(%0, %eye) <{left_side = true, lower = false,
    transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}>
    : (tensor<5x40x40xf64>, tensor<5x40x40xf64>) -> tensor<5x40x40xf64>
  %d = "stablehlo.dot_general"(%x, %1) <{dot_dimension_numbers = #stablehlo.dot<
    lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}>
    : (tensor<5x40x40xf64>, tensor<5x40x2xf64>) -> tensor<5x40x2xf64>)",
                                      {{"%d", "5x40x2xf64"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<5x40x40xf64>, %arg1: tensor<5x40x2xf64>):
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<5x40x40xf64>, tensor<5x40x2xf64>) -> tensor<5x40x2xf64>
  "func.return"(%0) : (tensor<5x40x2xf64>) -> ()
)");
}

// %m: what of %0 is in the triangle that `comparison` of rows with columns says.
std::string Triangle(std::string_view comparison) {
  return StrCat(R"(
  %m_r = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<400x400xi32>
  %m_c = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<400x400xi32>
  %m_b = "stablehlo.compare"(%m_r, %m_c) <{compare_type = #stablehlo<comparison_type SIGNED>,
    comparison_direction = #stablehlo<comparison_direction )",
                comparison, R"(>}>
    : (tensor<400x400xi32>, tensor<400x400xi32>) -> tensor<400x400xi1>
  %m_z = "stablehlo.constant"() <{value = dense<0.0> : tensor<400x400xf32>}>
    : () -> tensor<400x400xf32>
  %m = "stablehlo.select"(%m_b, %0, %m_z)
    : (tensor<400x400xi1>, tensor<400x400xf32>, tensor<400x400xf32>) -> tensor<400x400xf32>)");
}

Rewritten SolveWithTriangle(std::string_view comparison) {
  return Rewrite(SolveRules(), {"400x400xf32", "400x3xf32"},
                 StrCat(Triangle(comparison), Lu("a", "%m"), LuSolve("%x", "a", "%1", 3)),
                 {{"%x", "400x3xf32"}});
}

TEST(TriangularInverseTimesTest, TrianglesNeedNoFactors) {
  for (const auto& [comparison, letter] : {std::pair("GE", 'L'), std::pair("LE", 'U')}) {
    const Rewritten rewritten = SolveWithTriangle(comparison);
    EXPECT_EQ(rewritten.fired(), Names{"triangular_inverse_times"});
    const Rewritten solved =
        Rewrite(SolveRules(), {"400x400xf32", "400x3xf32"},
                StrCat(Triangle(comparison), Solve("%x", "%m", "%1", 3, {.triangle = letter})),
                {{"%x", "400x3xf32"}});
    EXPECT_EQ(rewritten.body, solved.body);
  }
}

TEST(TriangularInverseTimesTest, ADiagonalIsDividedBy) {
  const Rewritten rewritten = SolveWithTriangle("EQ");
  EXPECT_EQ(rewritten.fired(), Names{"triangular_inverse_times"});
  EXPECT_EQ(Count(rewritten.body, "custom_call"), 0U);
  EXPECT_EQ(Count(rewritten.body, "stablehlo.divide"), 1U);
}

TEST(TriangularInverseTimesTest, RowsInAnotherOrderAreNoSolve) {
  const std::string program = StrCat(Triangle("GE"), Lu("a", "%m"), LuSolve("%x", "a", "%1", 3));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = program;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos);
    changed.replace(at, from.size(), to);
    return Rewrite(SolveRules(), {"400x400xf32", "400x3xf32", "400x1xi32"}, changed,
                   {{"%x", "400x3xf32"}})
        .fired();
  };
  EXPECT_EQ(with("%x", "%x"), Names{"triangular_inverse_times"});
  // Any rows, pivots that count from 0 already, a row less, the same element twice, and no swap.
  EXPECT_EQ(with("(%1, %a_o)", "(%1, %2)"), Names{});
  EXPECT_EQ(with("(%a_p, %a_zero, %a_i)", "(%a#1, %a_zero, %a_i)"), Names{});
  EXPECT_EQ(with("dense<400> : tensor<i32>", "dense<399> : tensor<i32>"), Names{});
  EXPECT_EQ(with("(%o, %x) <{slice_sizes", "(%o, %i) <{slice_sizes"), Names{});
  EXPECT_EQ(with("(%first, %a, %y)", "(%first, %a, %z)"), Names{});
}

TEST(TriangularInverseTimesTest, AnyOtherMatrixIsFactored) {
  EXPECT_EQ(SolveWithTriangle("NE").fired(), Names{});
}

TEST(QuadraticFormTest, ProductsAreThoseOfTheHalf) {
  const Rewritten rewritten = Rewrite(
      SolveRules(), {"400x400xf32", "400x3xf32"},
      StrCat(Solve("%h", "%0", "%1", 3, {}), Solve("%x", "%0", "%h", 3, {.transposed = 'T'}),
             Dot("%1", "%x", 0, 0, "(tensor<400x3xf32>, tensor<400x3xf32>) -> tensor<3x3xf32>")),
      {{"%d", "3x3xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"quadratic_form"});
  EXPECT_EQ(Count(rewritten.body, "lapack_strsm_ffi"), 1U);
}

TEST(QuadraticFormTest, SumsToo) {
  const Rewritten rewritten =
      Rewrite(SolveRules(), {"400x400xf32", "400x3xf32"},
              StrCat(Solve("%h", "%0", "%1", 3, {.transposed = 'T', .triangle = 'U'}),
                     Solve("%x", "%0", "%h", 3, {.triangle = 'U'}), R"(
  %m = "stablehlo.multiply"(%1, %x) : (tensor<400x3xf32>, tensor<400x3xf32>) -> tensor<400x3xf32>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %d = "stablehlo.reduce"(%m, %z) <{dimensions = array<i64: 0>}> ({
  ^bb1(%s: tensor<f32>, %t: tensor<f32>):
    %u = "stablehlo.add"(%s, %t) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%u) : (tensor<f32>) -> ()
  }) : (tensor<400x3xf32>, tensor<f32>) -> tensor<3xf32>)"),
              {{"%d", "3xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"quadratic_form"});
  EXPECT_EQ(Count(rewritten.body, "lapack_strsm_ffi"), 1U);
}

TEST(QuadraticFormTest, LeavesOtherForms) {
  constexpr std::string_view kTypes = "(tensor<400x3xf32>, tensor<400x3xf32>) -> tensor<3x3xf32>";
  // Other right-hand sides.
  EXPECT_EQ(Rewrite(SolveRules(), {"400x400xf32", "400x3xf32", "400x3xf32"},
                    StrCat(Solve("%h", "%0", "%1", 3, {}),
                           Solve("%x", "%0", "%h", 3, {.transposed = 'T'}),
                           Dot("%2", "%x", 0, 0, kTypes)),
                    {{"%d", "3x3xf32"}})
                .fired(),
            Names{});
  // L L is not symmetric.
  EXPECT_EQ(Rewrite(SolveRules(), {"400x400xf32", "400x3xf32"},
                    StrCat(Solve("%h", "%0", "%1", 3, {}), Solve("%x", "%0", "%h", 3, {}),
                           Dot("%1", "%x", 0, 0, kTypes)),
                    {{"%d", "3x3xf32"}})
                .fired(),
            Names{});
}

}  // namespace
}  // namespace plimsoll::testing
