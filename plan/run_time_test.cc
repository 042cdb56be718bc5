#include "plan/run_time.h"

#include <memory>
#include <string>
#include <string_view>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

double Seconds(const std::unique_ptr<Module>& module) {
  return module == nullptr ? 0 : SecondsOf(*module->main()->entry_block());
}

TEST(RunTimeTest, AProductTakesAsLongAsItsSums) {
  const auto product = [](std::string_view left, std::string_view right) {
    return Seconds(
        OneOp({left, right}, StrCat(R"(%p = "stablehlo.dot_general"(%0, %1) <{
        dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
        rhs_contracting_dimensions = [0]>}> : (tensor<)",
                                    left, ">, tensor<", right, ">) -> tensor<1000x2000xf32>")));
  };
  EXPECT_NEAR(product("1000x3000xf32", "3000x2000xf32"),
              10 * product("1000x300xf32", "300x2000xf32"), 1e-4);
}

// A loop that adds a vector of a million numbers to itself until `condition` says %c.
std::unique_ptr<Module> Loop(std::string_view start, std::string_view condition) {
  return Program({"1000000xf32", "i32"},
                 StrCat("%start = \"stablehlo.constant\"() <{value = dense<", start,
                        R"(> : tensor<i32>}> : () -> tensor<i32>
  %loop:2 = "stablehlo.while"(%start, %0) ({
  ^bb1(%i: tensor<i32>, %s: tensor<1000000xf32>):
    %n = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}> : () -> tensor<i32>
    %c = )",
                        condition, R"(
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb2(%i: tensor<i32>, %s: tensor<1000000xf32>):
    %step = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %step) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = "stablehlo.add"(%s, %s) : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<1000000xf32>
    "stablehlo.return"(%j, %t) : (tensor<i32>, tensor<1000000xf32>) -> ()
  }) : (tensor<i32>, tensor<1000000xf32>) -> (tensor<i32>, tensor<1000000xf32>))"),
                 {{"%loop#1", "1000000xf32"}});
}

std::string LessThan(std::string_view end) {
  return StrCat("\"stablehlo.compare\"(%i, ", end,
                ") <{comparison_direction = #stablehlo<comparison_direction LT>}> : "
                "(tensor<i32>, tensor<i32>) -> tensor<i1>");
}

TEST(RunTimeTest, ALoopTakesAllOfItsTurns) {
  const double turn = Seconds(Loop("98", LessThan("%n")));
  EXPECT_GT(turn, 0);
  EXPECT_NEAR(Seconds(Loop("0", LessThan("%n"))), 50 * turn, turn);
  EXPECT_NEAR(Seconds(Loop("60", LessThan("%n"))), 20 * turn, turn);
  EXPECT_LT(Seconds(Loop("100", LessThan("%n"))), turn / 10);
}

TEST(RunTimeTest, ALoopThatDoesNotSayHowOftenItRunsIsNotForNothing) {
  const double turn = Seconds(Loop("98", LessThan("%n")));
  EXPECT_NEAR(Seconds(Loop("0", LessThan("%1"))), 10 * turn, turn);
}

// A product by way of a matrix of 4 MB that XLA has to make.
constexpr std::string_view kProduct = R"(%p = "stablehlo.dot_general"(%0, %1) <{
  dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
  rhs_contracting_dimensions = [0]>}> : (tensor<1000x10xf32>, tensor<10x1000xf32>) ->
  tensor<1000x1000xf32>
  %q = "stablehlo.dot_general"(%p, %0) <{
  dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
  rhs_contracting_dimensions = [0]>}> : (tensor<1000x1000xf32>, tensor<1000x10xf32>) ->
  tensor<1000x10xf32>)";

TEST(SecondsInMemoryTest, WhatDoesNotFitTheCacheIsWrittenAndRead) {
  const std::unique_ptr<Module> module =
      Program({"1000x10xf32", "10x1000xf32"}, kProduct, {{"%q", "1000x10xf32"}});
  ASSERT_NE(module, nullptr);
  const Block& body = *module->main()->entry_block();
  EXPECT_EQ(SecondsInMemory(body, 4'000'000), 0);
  EXPECT_NEAR(SecondsInMemory(body, 3'999'999), 2e-3, 1e-9);
}

}  // namespace
}  // namespace plimsoll::testing
