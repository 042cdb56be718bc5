// Values that are computed once more for one user, text in and text out.

#include "split/recompute_value.h"

#include <memory>
#include <string>
#include <string_view>

#include "analysis/block_view.h"
#include "gtest/gtest.h"
#include "split/testing.h"

namespace plimsoll::testing {
namespace {

bool IsBig(const Value& value) { return BytesOf(value) > 100; }

// The program after the last op of its body has got a copy of its own of its first operand.
std::string Recomputed(std::string_view ops, std::string_view result) {
  const std::unique_ptr<Module> module = Program({"8xf32", "8x8xf32"}, ops, {{result, "8x8xf32"}});
  if (module == nullptr) return "";
  Op& user = *module->main()->entry_block()->last()->previous();
  if (!RecomputeFor(user, *user.operand(0), IsBig)) return "refused";
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module).ToString();
  return BodyText(*module);
}

// %s is small, so that it need not be made twice.
TEST(RecomputeForTest, DownToValuesThatAreNotBig) {
  EXPECT_EQ(Recomputed(R"(
  %s = "stablehlo.sine"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64: 0>}>
      : (tensor<8xf32>) -> tensor<8x8xf32>
  %t = "stablehlo.tanh"(%b) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = "stablehlo.add"(%t, %1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = "stablehlo.multiply"(%t, %a) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>)",
                       "%m"),
            R"(^bb0(%arg0: tensor<8xf32>, %arg1: tensor<8x8xf32>):
  %0 = "stablehlo.sine"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x8xf32>
  %2 = "stablehlo.tanh"(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "stablehlo.add"(%2, %arg1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x8xf32>
  %5 = "stablehlo.tanh"(%4) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = "stablehlo.multiply"(%5, %3) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  "func.return"(%6) : (tensor<8x8xf32>) -> ()
)");
}

TEST(RecomputeForTest, ArgumentsAreNotMadeTwice) {
  EXPECT_EQ(Recomputed(R"(
  %t = "stablehlo.tanh"(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = "stablehlo.multiply"(%t, %t) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>)",
                       "%m"),
            R"(^bb0(%arg0: tensor<8xf32>, %arg1: tensor<8x8xf32>):
  %0 = "stablehlo.tanh"(%arg1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "stablehlo.tanh"(%arg1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "stablehlo.multiply"(%1, %1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  "func.return"(%2) : (tensor<8x8xf32>) -> ()
)");
}

TEST(RecomputeForTest, EffectsAreNotSeenTwice) {
  EXPECT_EQ(Recomputed(R"(
  %t = "stablehlo.custom_call"(%1) <{call_target_name = "f", has_side_effect = true}>
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = "stablehlo.tanh"(%t) : (tensor<8x8xf32>) -> tensor<8x8xf32>)",
                       "%m"),
            "refused");
}

TEST(RecomputeForTest, LoopsDoNotRunTwice) {
  EXPECT_EQ(Recomputed(R"(
  %t = "stablehlo.while"(%1) ({
  ^bb1(%x: tensor<8x8xf32>):
    %c = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb1(%x: tensor<8x8xf32>):
    "stablehlo.return"(%x) : (tensor<8x8xf32>) -> ()
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = "stablehlo.tanh"(%t) : (tensor<8x8xf32>) -> tensor<8x8xf32>)",
                       "%m"),
            "refused");
}

}  // namespace
}  // namespace plimsoll::testing
