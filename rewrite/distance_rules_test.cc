#include "rewrite/distance_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::Rewritten;

// Squared distances of %x (100 points) and %y (200 points) in 32 dimensions.
std::string Distances(std::string_view element) {
  std::string text = R"(
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<100x32xE>) -> tensor<100x200x32xE>
  %b = "stablehlo.broadcast_in_dim"(%y) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<200x32xE>) -> tensor<100x200x32xE>
  %d = "stablehlo.subtract"(%a, %b) : (tensor<100x200x32xE>, tensor<100x200x32xE>) -> tensor<100x200x32xE>
  %s = "stablehlo.multiply"(%d, %d) : (tensor<100x200x32xE>, tensor<100x200x32xE>) -> tensor<100x200x32xE>
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<E>}> : () -> tensor<E>
  %r = "stablehlo.reduce"(%s, %zero) <{dimensions = array<i64: 2>}> ({
    ^bb0(%p: tensor<E>, %q: tensor<E>):
      %t = "stablehlo.add"(%p, %q) : (tensor<E>, tensor<E>) -> tensor<E>
      "stablehlo.return"(%t) : (tensor<E>) -> ()
  }) : (tensor<100x200x32xE>, tensor<E>) -> tensor<100x200xE>)";
  if (element.front() == 'f') text.replace(text.find("dense<0>"), 8, "dense<0.0>");
  for (size_t at = text.find('E'); at != std::string::npos; at = text.find('E', at)) {
    text.replace(at, 1, element);
  }
  return text;
}

TEST(DistanceExpandTest, IntegersAreExact) {
  const std::string ops = R"(
  %x = "stablehlo.abs"(%0) : (tensor<100x32xi32>) -> tensor<100x32xi32>
  %y = "stablehlo.abs"(%1) : (tensor<200x32xi32>) -> tensor<200x32xi32>)";
  const Rewritten rewritten = testing::Rewrite(DistanceRules(), {"100x32xi32", "200x32xi32"},
                                               ops + Distances("i32"), {{"%r", "100x200xi32"}});
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"distance_expand"});
  EXPECT_EQ(rewritten.body.find("100x200x32"), std::string::npos);
  EXPECT_NE(rewritten.body.find("dot_general"), std::string::npos);
}

TEST(DistanceExpandTest, BytesAreExactInFloats) {
  const std::string ops = R"(
  %x = "stablehlo.convert"(%0) : (tensor<100x32xui8>) -> tensor<100x32xf32>
  %y = "stablehlo.convert"(%1) : (tensor<200x32xui8>) -> tensor<200x32xf32>)";
  const Rewritten rewritten = testing::Rewrite(DistanceRules(), {"100x32xui8", "200x32xui8"},
                                               ops + Distances("f32"), {{"%r", "100x200xf32"}});
  EXPECT_EQ(rewritten.fired(), std::vector<std::string_view>{"distance_expand"});
}

TEST(DistanceExpandTest, OtherFloatsKeepTheirDigits) {
  const std::string ops = R"(
  %x = "stablehlo.abs"(%0) : (tensor<100x32xf32>) -> tensor<100x32xf32>
  %y = "stablehlo.abs"(%1) : (tensor<200x32xf32>) -> tensor<200x32xf32>)";
  const Rewritten rewritten = testing::Rewrite(DistanceRules(), {"100x32xf32", "200x32xf32"},
                                               ops + Distances("f32"), {{"%r", "100x200xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
  ASSERT_EQ(rewritten.refused().size(), 1);
  EXPECT_NE(rewritten.refused()[0].find("would lose digits"), std::string::npos);
}

TEST(DistanceExpandTest, WhatIsNoPairIsLeftAlone) {
  const Rewritten rewritten = testing::Rewrite(DistanceRules(), {"100x32xi32", "100x32xi32"}, R"(
  %d = "stablehlo.subtract"(%0, %1) : (tensor<100x32xi32>, tensor<100x32xi32>) -> tensor<100x32xi32>
  %s = "stablehlo.multiply"(%d, %d) : (tensor<100x32xi32>, tensor<100x32xi32>) -> tensor<100x32xi32>
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %r = "stablehlo.reduce"(%s, %zero) <{dimensions = array<i64: 1>}> ({
    ^bb0(%p: tensor<i32>, %q: tensor<i32>):
      %t = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%t) : (tensor<i32>) -> ()
  }) : (tensor<100x32xi32>, tensor<i32>) -> tensor<100xi32>)",
                                               {{"%r", "100xi32"}});
  EXPECT_TRUE(rewritten.fired().empty());
  EXPECT_TRUE(rewritten.refused().empty());
}

}  // namespace
}  // namespace plimsoll
