#include "rewrite/reduction_rules.h"

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
using Names = std::vector<std::string_view>;

// %result = a reduction of %operand that starts at a constant.
std::string Reduce(std::string_view result, std::string_view operand, std::string_view op,
                   std::string_view initial, std::string_view dimensions, std::string_view from,
                   std::string_view to, std::string_view element) {
  const std::string scalar = StrCat("tensor<", element, ">");
  return StrCat("\n  %", result, "_i = \"stablehlo.constant\"() <{value = dense<", initial,
                "> : ", scalar, "}> : () -> ", scalar, "\n  %", result, " = \"stablehlo.reduce\"(%",
                operand, ", %", result, "_i) <{dimensions = array<i64: ", dimensions,
                ">}> ({\n  ^bb0(%x: ", scalar, ", %y: ", scalar, "):\n    %s = \"stablehlo.", op,
                "\"(%x, %y) : (", scalar, ", ", scalar, ") -> ", scalar,
                "\n    \"stablehlo.return\"(%s) : (", scalar, ") -> ()\n  }) : (tensor<", from,
                ">, ", scalar, ") -> tensor<", to, ">");
}

std::string Broadcast(std::string_view element) {
  return StrCat(
      R"(
  %a = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<7x)",
      element, ">) -> tensor<900x7x", element, ">");
}

TEST(SumOfBroadcastTest, TimesTheCount) {
  const Rewritten rewritten =
      Rewrite(ReductionRules(), {"7xf32"},
              Broadcast("f32") + Reduce("b", "a", "add", "0.0", "0, 1", "900x7xf32", "f32", "f32"),
              {{"%b", "f32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<7xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %2 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.constant"() <{value = dense<900.0> : tensor<f32>}> : () -> tensor<f32>
  %4 = "stablehlo.multiply"(%1, %3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "func.return"(%4) : (tensor<f32>) -> ()
)");
}

TEST(SumOfBroadcastTest, IntegersWrapAround) {
  // 900 is -124 in eight bits.
  const Rewritten rewritten =
      Rewrite(ReductionRules(), {"7xi8"},
              Broadcast("i8") + Reduce("b", "a", "add", "0", "0", "900x7xi8", "7xi8", "i8"),
              {{"%b", "7xi8"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<7xi8>):
  %0 = "stablehlo.constant"() <{value = dense<-124> : tensor<7xi8>}> : () -> tensor<7xi8>
  %1 = "stablehlo.multiply"(%arg0, %0) : (tensor<7xi8>, tensor<7xi8>) -> tensor<7xi8>
  "func.return"(%1) : (tensor<7xi8>) -> ()
)");
}

TEST(SumOfBroadcastTest, MaximaAreTheValueItself) {
  // Also of what is computed element by element.
  const Rewritten rewritten =
      Rewrite(ReductionRules(), {"7xf32"},
              StrCat(Broadcast("f32"), R"(
  %c = "stablehlo.multiply"(%a, %a) : (tensor<900x7xf32>, tensor<900x7xf32>) -> tensor<900x7xf32>)",
                     Reduce("b", "c", "maximum", "0xFF800000", "0", "900x7xf32", "7xf32", "f32")),
              {{"%b", "7xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<7xf32>):
  %0 = "stablehlo.multiply"(%arg0, %arg0) : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  "func.return"(%0) : (tensor<7xf32>) -> ()
)");
}

TEST(SumOfBroadcastTest, AMaximumMayStartElsewhere) {
  const Rewritten rewritten = Rewrite(
      ReductionRules(), {"7xf32"},
      Broadcast("f32") + Reduce("b", "a", "maximum", "0.0", "0", "900x7xf32", "7xf32", "f32"),
      {{"%b", "7xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<7xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7xf32>
  %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  "func.return"(%2) : (tensor<7xf32>) -> ()
)");
}

TEST(SumOfBroadcastTest, ProductsArePowers) {
  const Rewritten rewritten =
      Rewrite(ReductionRules(), {"700xi32"},
              StrCat(
                  R"(
  %a = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<700xi32>) -> tensor<700x13xi32>)",
                  Reduce("b", "a", "multiply", "1", "1", "700x13xi32", "700xi32", "i32")),
              {{"%b", "700xi32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<700xi32>):
  %0 = "stablehlo.multiply"(%arg0, %arg0) : (tensor<700xi32>, tensor<700xi32>) -> tensor<700xi32>
  %1 = "stablehlo.multiply"(%0, %0) : (tensor<700xi32>, tensor<700xi32>) -> tensor<700xi32>
  %2 = "stablehlo.multiply"(%arg0, %1) : (tensor<700xi32>, tensor<700xi32>) -> tensor<700xi32>
  %3 = "stablehlo.multiply"(%1, %1) : (tensor<700xi32>, tensor<700xi32>) -> tensor<700xi32>
  %4 = "stablehlo.multiply"(%2, %3) : (tensor<700xi32>, tensor<700xi32>) -> tensor<700xi32>
  "func.return"(%4) : (tensor<700xi32>) -> ()
)");
}

TEST(SumOfBroadcastTest, RefusesCountsThatTheTypeDoesNotHold) {
  const Rewritten rewritten =
      Rewrite(ReductionRules(), {"7xbf16"},
              StrCat(
                  R"(
  %a = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<7xbf16>) -> tensor<901x7xbf16>)",
                  Reduce("b", "a", "add", "0.0", "0", "901x7xbf16", "7xbf16", "bf16")),
              {{"%b", "7xbf16"}});
  EXPECT_EQ(rewritten.refused(),
            Lines{"sum_of_broadcast: numbers of this type do not count that far"});
}

TEST(SumOfBroadcastTest, LeavesSumsOfNothingAndOtherStarts) {
  EXPECT_TRUE(
      Rewrite(ReductionRules(), {"7xf32"},
              Broadcast("f32") + Reduce("b", "a", "add", "2.0", "0", "900x7xf32", "7xf32", "f32"),
              {{"%b", "7xf32"}})
          .fired()
          .empty());
  EXPECT_TRUE(Rewrite(ReductionRules(), {"7xf32"},
                      StrCat(
                          R"(
  %a = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<7xf32>) -> tensor<0x7xf32>)",
                          Reduce("b", "a", "add", "0.0", "0", "0x7xf32", "7xf32", "f32")),
                      {{"%b", "7xf32"}})
                  .fired()
                  .empty());
}

std::string Product(std::string_view element, std::string_view op) {
  return StrCat(
      R"(
  %a = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<90x)",
      element, ">) -> tensor<90x70x", element, ">\n  %b = \"stablehlo.", op,
      "\"(%0, %a) : (tensor<90x70x", element, ">, tensor<90x70x", element, ">) -> tensor<90x70x",
      element, ">");
}

TEST(SumThroughProductTest, FactorsMoveOut) {
  const Rewritten rewritten =
      Rewrite(ReductionRules(), {"90x70xf32", "90xf32"},
              StrCat(Product("f32", "divide"), R"(
  %n = "stablehlo.negate"(%b) : (tensor<90x70xf32>) -> tensor<90x70xf32>
  %t = "stablehlo.constant"() <{value = dense<2.0> : tensor<90x70xf32>}> : () -> tensor<90x70xf32>
  %m = "stablehlo.multiply"(%t, %n) : (tensor<90x70xf32>, tensor<90x70xf32>) -> tensor<90x70xf32>)",
                     Reduce("c", "m", "add", "0.0", "1", "90x70xf32", "90xf32", "f32")),
              {{"%c", "90xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<90x70xf32>, %arg1: tensor<90xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %2 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<90x70xf32>, tensor<f32>) -> tensor<90xf32>
  %3 = "stablehlo.constant"() <{value = dense<2.0> : tensor<90xf32>}> : () -> tensor<90xf32>
  %4 = "stablehlo.multiply"(%1, %3) : (tensor<90xf32>, tensor<90xf32>) -> tensor<90xf32>
  %5 = "stablehlo.divide"(%4, %arg1) : (tensor<90xf32>, tensor<90xf32>) -> tensor<90xf32>
  %6 = "stablehlo.negate"(%5) : (tensor<90xf32>) -> tensor<90xf32>
  "func.return"(%6) : (tensor<90xf32>) -> ()
)");
}

TEST(SumThroughProductTest, LeavesQuotientsOfIntegers) {
  EXPECT_TRUE(Rewrite(ReductionRules(), {"90x70xi32", "90xi32"},
                      Product("i32", "divide") +
                          Reduce("c", "b", "add", "0", "1", "90x70xi32", "90xi32", "i32"),
                      {{"%c", "90xi32"}})
                  .fired()
                  .empty());
  EXPECT_EQ(Rewrite(ReductionRules(), {"90x70xi32", "90xi32"},
                    Product("i32", "multiply") +
                        Reduce("c", "b", "add", "0", "1", "90x70xi32", "90xi32", "i32"),
                    {{"%c", "90xi32"}})
                .fired(),
            Names{"sum_through_product"});
}

TEST(SumThroughProductTest, LeavesFactorsThatChangeAlongTheSum) {
  EXPECT_TRUE(Rewrite(ReductionRules(), {"90x70xf32", "90xf32"},
                      Product("f32", "multiply") +
                          Reduce("c", "b", "add", "0.0", "0", "90x70xf32", "70xf32", "f32"),
                      {{"%c", "70xf32"}})
                  .fired()
                  .empty());
}

TEST(SumThroughProductTest, RefusesFloatsOfSmallRange) {
  EXPECT_EQ(
      Rewrite(ReductionRules(), {"90x70xf16", "90xf16"},
              Product("f16", "multiply") +
                  Reduce("c", "b", "add", "0.0", "1", "90x70xf16", "90xf16", "f16"),
              {{"%c", "90xf16"}})
          .refused(),
      Lines{
          "sum_through_product: a sum may be too large for these floats before it is multiplied"});
}

TEST(SumOfSumTest, ThroughTransposesAndReshapes) {
  const Rewritten rewritten = Rewrite(
      ReductionRules(), {"20x30x40x50xf32"},
      StrCat(Reduce("a", "0", "add", "0.0", "1", "20x30x40x50xf32", "20x40x50xf32", "f32"), R"(
  %t = "stablehlo.transpose"(%a) <{permutation = array<i64: 2, 1, 0>}> : (tensor<20x40x50xf32>) -> tensor<50x40x20xf32>
  %r = "stablehlo.reshape"(%t) : (tensor<50x40x20xf32>) -> tensor<50x1x40x2x10xf32>)",
             Reduce("b", "r", "add", "0.0", "3, 4", "50x1x40x2x10xf32", "50x1x40xf32", "f32")),
      {{"%b", "50x1x40xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<20x30x40x50xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %2 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<20x30x40x50xf32>, tensor<f32>) -> tensor<40x50xf32>
  %3 = "stablehlo.transpose"(%1) <{permutation = array<i64: 1, 0>}> : (tensor<40x50xf32>) -> tensor<50x40xf32>
  %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<50x40xf32>) -> tensor<50x1x40xf32>
  "func.return"(%4) : (tensor<50x1x40xf32>) -> ()
)");
}

TEST(SumOfSumTest, LeavesOtherReducersAndMixedDimensions) {
  EXPECT_TRUE(
      Rewrite(ReductionRules(), {"20x30x40xf32"},
              Reduce("a", "0", "maximum", "0xFF800000", "1", "20x30x40xf32", "20x40xf32", "f32") +
                  Reduce("b", "a", "add", "0.0", "1", "20x40xf32", "20xf32", "f32"),
              {{"%b", "20xf32"}})
          .fired()
          .empty());
  EXPECT_TRUE(
      Rewrite(ReductionRules(), {"20x30x40xf32"},
              StrCat(Reduce("a", "0", "add", "0.0", "1", "20x30x40xf32", "20x40xf32", "f32"), R"(
  %r = "stablehlo.reshape"(%a) : (tensor<20x40xf32>) -> tensor<100x8xf32>)",
                     Reduce("b", "r", "add", "0.0", "1", "100x8xf32", "100xf32", "f32")),
              {{"%b", "100xf32"}})
          .fired()
          .empty());
}

std::string Pad(std::string_view value, std::string_view low) {
  return StrCat(
      R"(
  %p = "stablehlo.constant"() <{value = dense<)",
      value, R"(> : tensor<f32>}> : () -> tensor<f32>
  %a = "stablehlo.pad"(%0, %p) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: )",
      low,
      R"(>, interior_padding = array<i64: 1, 0>}> : (tensor<40x7xf32>, tensor<f32>) -> tensor<81x7xf32>)");
}

TEST(ReduceOfPadTest, PaddingThatChangesNothing) {
  const Rewritten rewritten =
      Rewrite(ReductionRules(), {"40x7xf32"},
              Pad("0.0", "2, 0") + Reduce("b", "a", "add", "0.0", "0", "81x7xf32", "7xf32", "f32"),
              {{"%b", "7xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<40x7xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %2 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<40x7xf32>, tensor<f32>) -> tensor<7xf32>
  "func.return"(%1) : (tensor<7xf32>) -> ()
)");
}

TEST(ReduceOfPadTest, LeavesOtherPaddingAndOtherDimensions) {
  EXPECT_TRUE(
      Rewrite(ReductionRules(), {"40x7xf32"},
              Pad("1.0", "2, 0") + Reduce("b", "a", "add", "0.0", "0", "81x7xf32", "7xf32", "f32"),
              {{"%b", "7xf32"}})
          .fired()
          .empty());
  EXPECT_TRUE(
      Rewrite(ReductionRules(), {"40x7xf32"},
              Pad("0.0", "2, 0") + Reduce("b", "a", "add", "0.0", "1", "81x7xf32", "81xf32", "f32"),
              {{"%b", "81xf32"}})
          .fired()
          .empty());
}

}  // namespace
}  // namespace plimsoll
