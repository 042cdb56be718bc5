#include "rewrite/monotone_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::Rewrite;
using ::plimsoll::testing::Rewritten;
using Lines = std::vector<std::string>;

// The maximum along the rows of %r, which these ops make from %0.
std::string Maximum(std::string_view ops, std::string_view initial = "0xFF800000",
                    std::string_view element = "f32") {
  const std::string scalar = StrCat("tensor<", element, ">");
  return StrCat(
      ops, "\n  %i = \"stablehlo.constant\"() <{value = dense<", initial, "> : ", scalar,
      "}> : () -> ", scalar,
      "\n  %m = \"stablehlo.reduce\"(%r, %i) <{dimensions = array<i64: 1>}> ({\n  ^bb0(%x: ",
      scalar, ", %y: ", scalar, "):\n    %s = \"stablehlo.maximum\"(%x, %y) : (", scalar, ", ",
      scalar, ") -> ", scalar, "\n    \"stablehlo.return\"(%s) : (", scalar,
      ") -> ()\n  }) : (tensor<90x70x", element, ">, ", scalar, ") -> tensor<90x", element, ">");
}

TEST(MaxOfMonotoneTest, WhatRisesAndWhatFalls) {
  const Rewritten rewritten = Rewrite(MonotoneRules(), {"90x70xf32"}, Maximum(R"(
  %a = "stablehlo.exponential"(%0) : (tensor<90x70xf32>) -> tensor<90x70xf32>
  %c = "stablehlo.constant"() <{value = dense<1.0> : tensor<90x70xf32>}> : () -> tensor<90x70xf32>
  %r = "stablehlo.subtract"(%c, %a) : (tensor<90x70xf32>, tensor<90x70xf32>) -> tensor<90x70xf32>)"),
                                      {{"%m", "90xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<90x70xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %2 = "stablehlo.minimum"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<90x70xf32>, tensor<f32>) -> tensor<90xf32>
  %3 = "stablehlo.exponential"(%1) : (tensor<90xf32>) -> tensor<90xf32>
  %4 = "stablehlo.constant"() <{value = dense<1.0> : tensor<90xf32>}> : () -> tensor<90xf32>
  %5 = "stablehlo.subtract"(%4, %3) : (tensor<90xf32>, tensor<90xf32>) -> tensor<90xf32>
  "func.return"(%5) : (tensor<90xf32>) -> ()
)");
}

TEST(MaxOfMonotoneTest, IntegersAreConverted) {
  const Rewritten rewritten = Rewrite(MonotoneRules(), {"90x70xi16"}, Maximum(R"(
  %r = "stablehlo.convert"(%0) : (tensor<90x70xi16>) -> tensor<90x70xf32>)"),
                                      {{"%m", "90xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<90x70xi16>):
  %0 = "stablehlo.constant"() <{value = dense<-32768> : tensor<i16>}> : () -> tensor<i16>
  %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg1: tensor<i16>, %arg2: tensor<i16>):
    %2 = "stablehlo.maximum"(%arg1, %arg2) : (tensor<i16>, tensor<i16>) -> tensor<i16>
    "stablehlo.return"(%2) : (tensor<i16>) -> ()
  }) : (tensor<90x70xi16>, tensor<i16>) -> tensor<90xi16>
  %3 = "stablehlo.convert"(%1) : (tensor<90xi16>) -> tensor<90xf32>
  "func.return"(%3) : (tensor<90xf32>) -> ()
)");
}

TEST(MaxOfMonotoneTest, RefusesRootsOfAnyNumber) {
  const Rewritten rewritten = Rewrite(MonotoneRules(), {"90x70xf32"}, Maximum(R"(
  %r = "stablehlo.sqrt"(%0) : (tensor<90x70xf32>) -> tensor<90x70xf32>)"),
                                      {{"%m", "90xf32"}});
  EXPECT_EQ(rewritten.refused(),
            Lines{"max_of_monotone: its operand is not known to be non-negative"});
}

TEST(MaxOfMonotoneTest, LeavesSumsThatMayBeNoNumbers) {
  // inf - inf
  EXPECT_TRUE(Rewrite(MonotoneRules(), {"90x70xf32", "90xf32"}, Maximum(R"(
  %a = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<90xf32>) -> tensor<90x70xf32>
  %r = "stablehlo.add"(%0, %a) : (tensor<90x70xf32>, tensor<90x70xf32>) -> tensor<90x70xf32>)"),
                      {{"%m", "90xf32"}})
                  .fired()
                  .empty());
}

TEST(MaxOfMonotoneTest, LeavesIntegersThatWrapAround) {
  EXPECT_TRUE(Rewrite(MonotoneRules(), {"90x70xi8"},
                      Maximum(R"(
  %c = "stablehlo.constant"() <{value = dense<1> : tensor<90x70xi8>}> : () -> tensor<90x70xi8>
  %r = "stablehlo.add"(%0, %c) : (tensor<90x70xi8>, tensor<90x70xi8>) -> tensor<90x70xi8>)",
                              "-128", "i8"),
                      {{"%m", "90xi8"}})
                  .fired()
                  .empty());
}

TEST(MaxOfMonotoneTest, LeavesMaximaThatStartElsewhere) {
  EXPECT_TRUE(Rewrite(MonotoneRules(), {"90x70xf32"},
                      Maximum(R"(
  %r = "stablehlo.exponential"(%0) : (tensor<90x70xf32>) -> tensor<90x70xf32>)",
                              "0.0"),
                      {{"%m", "90xf32"}})
                  .fired()
                  .empty());
}

}  // namespace
}  // namespace plimsoll
