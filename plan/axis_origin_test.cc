#include "plan/axis_origin.h"

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "ir/graph.h"
#include "stablehlo/text_reader.h"

namespace plimsoll {
namespace {

// A function of x and y, which JAX names in their locations, and of one without a name.
std::unique_ptr<Module> Read(std::string_view ops) {
  const std::string text = StrCat(
      R"("builtin.module"() ({ "func.func"() <{function_type = (tensor<8x3xf32>, tensor<6xf32>, tensor<5x8xf32>, tensor<5xf32>, tensor<f32>) -> (), sym_name = "main"}> ({
  ^bb0(%x: tensor<8x3xf32> loc("x"), %y: tensor<6xf32> loc("y['a']"), %2: tensor<5x8xf32>, %small: tensor<5xf32>, %zero: tensor<f32>):
)",
      ops, R"(
  "func.return"() : () -> () }) : () -> () }) : () -> ())");
  StatusOr<std::unique_ptr<Module>> module = ReadText(text, "test");
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return module.ok() ? *std::move(module) : nullptr;
}

// Of the function's last value.
std::string OriginOfLast(std::string_view ops, int dimension) {
  const std::unique_ptr<Module> module = Read(ops);
  if (module == nullptr) return "unreadable";
  return AxisOrigin(*module->main()->entry_block()->last()->previous()->result(0), dimension);
}

TEST(AxisOriginTest, FollowsAnAxisThroughOps) {
  constexpr std::string_view kTransposed = R"(
    %a = "stablehlo.exponential"(%x) : (tensor<8x3xf32>) -> tensor<8x3xf32>
    %b = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<8x3xf32>) -> tensor<3x8xf32>)";
  EXPECT_EQ(OriginOfLast(kTransposed, 0), "axis 1 of x");
  EXPECT_EQ(OriginOfLast(kTransposed, 1), "axis 0 of x");
}

TEST(AxisOriginTest, NamesTheArgumentAsTheUserDoes) {
  constexpr std::string_view kOuter = R"(
    %a = "stablehlo.broadcast_in_dim"(%y) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<4x6xf32>)";
  EXPECT_EQ(OriginOfLast(kOuter, 1), "axis 0 of y['a']");
  EXPECT_EQ(OriginOfLast(kOuter, 0), "");
  EXPECT_EQ(
      OriginOfLast(R"(%a = "stablehlo.negate"(%2) : (tensor<5x8xf32>) -> tensor<5x8xf32>)", 0),
      "axis 0 of arg2");
}

TEST(AxisOriginTest, FollowsBothOperandsOfAProduct) {
  constexpr std::string_view kProduct = R"(
    %a = "stablehlo.dot_general"(%2, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<5x8xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>)";
  EXPECT_EQ(OriginOfLast(kProduct, 0), "axis 0 of arg2");
  EXPECT_EQ(OriginOfLast(kProduct, 1), "axis 1 of x");
}

TEST(AxisOriginTest, NamesTheLargestOfSeveralArguments) {
  EXPECT_EQ(OriginOfLast(R"(
    %a = "stablehlo.reduce"(%2, %zero) <{dimensions = array<i64: 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = "stablehlo.add"(%l, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<5x8xf32>, tensor<f32>) -> tensor<5xf32>
    %b = "stablehlo.add"(%small, %a) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>)",
                         0),
            "axis 0 of arg2");
}

TEST(AxisOriginTest, FollowsALoopsState) {
  constexpr std::string_view kLoop = R"(
    %a = "stablehlo.while"(%x) ({
    ^bb0(%s: tensor<8x3xf32>):
      %t = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
      "stablehlo.return"(%t) : (tensor<i1>) -> ()
    }, {
    ^bb0(%s: tensor<8x3xf32>):
      %n = "stablehlo.negate"(%s) : (tensor<8x3xf32>) -> tensor<8x3xf32>
      "stablehlo.return"(%n) : (tensor<8x3xf32>) -> ()
    }) : (tensor<8x3xf32>) -> tensor<8x3xf32>)";
  EXPECT_EQ(OriginOfLast(kLoop, 0), "axis 0 of x");
  const std::unique_ptr<Module> module = Read(kLoop);
  ASSERT_NE(module, nullptr);
  const Op& loop = *module->main()->entry_block()->first();
  EXPECT_EQ(AxisOrigin(*loop.region(1).front().first()->result(0), 1), "axis 1 of x");
}

TEST(AxisOriginTest, WhatIsMadeFromNothingHasNone) {
  EXPECT_EQ(OriginOfLast(
                R"(%a = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<7xi32>)", 0),
            "");
}

}  // namespace
}  // namespace plimsoll
