#include "rewrite/loop_state_rules.h"

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

// A loop of 200 turns whose state %s is next %n after these ops.
std::string Loop(std::string_view type, std::string_view ops) {
  return StrCat(R"(
  %z = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %l:2 = "stablehlo.while"(%z, %0) ({
  ^bb0(%i: tensor<i32>, %s: tensor<)",
                type, R"(>):
    %m = "stablehlo.constant"() <{value = dense<200> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%i, %m) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<)",
                type, ">):", ops, R"(
    %o = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %o) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%j, %n) : (tensor<i32>, tensor<)",
                type, R"(>) -> ()
  }) : (tensor<i32>, tensor<)",
                type, ">) -> (tensor<i32>, tensor<", type, ">)");
}

// As jnp.array([theta + omega, sin(theta)]) of `theta, omega = state`.
TEST(ConcatenatedLoopStateTest, StacksAreCarriedAsNumbers) {
  const Rewritten rewritten = Rewrite(LoopStateRules(), {"2xf32"}, Loop("2xf32", R"(
    %a = "stablehlo.slice"(%s) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1xf32>
    %b = "stablehlo.reshape"(%a) : (tensor<1xf32>) -> tensor<f32>
    %d = "stablehlo.slice"(%s) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1xf32>
    %e = "stablehlo.reshape"(%d) : (tensor<1xf32>) -> tensor<f32>
    %f = "stablehlo.add"(%b, %e) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %g = "stablehlo.sine"(%b) : (tensor<f32>) -> tensor<f32>
    %h = "stablehlo.broadcast_in_dim"(%f) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %k = "stablehlo.broadcast_in_dim"(%g) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %n = "stablehlo.concatenate"(%h, %k) <{dimension = 0 : i64}> : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>)"),
                                      {{"%l#1", "2xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<2xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1xf32>
  %2 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1xf32>
  %3 = "stablehlo.reshape"(%1) : (tensor<1xf32>) -> tensor<f32>
  %4 = "stablehlo.reshape"(%2) : (tensor<1xf32>) -> tensor<f32>
  %5:3 = "stablehlo.while"(%0, %3, %4) ({
  ^bb0(%arg1: tensor<i32>, %arg2: tensor<f32>, %arg3: tensor<f32>):
    %6 = "stablehlo.constant"() <{value = dense<200> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.compare"(%arg1, %6) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%7) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg4: tensor<i32>, %arg5: tensor<f32>, %arg6: tensor<f32>):
    %8 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %9 = "stablehlo.sine"(%arg5) : (tensor<f32>) -> tensor<f32>
    %10 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.add"(%arg4, %10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%11, %8, %9) : (tensor<i32>, tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<i32>, tensor<f32>, tensor<f32>)
  %12 = "stablehlo.reshape"(%5#1) : (tensor<f32>) -> tensor<1xf32>
  %13 = "stablehlo.reshape"(%5#2) : (tensor<f32>) -> tensor<1xf32>
  %14 = "stablehlo.concatenate"(%12, %13) <{dimension = 0 : i64}> : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  "func.return"(%14) : (tensor<2xf32>) -> ()
)");
}

// As state + concatenate([omega, sin(theta)]): the state is read whole too, but element by element.
TEST(ConcatenatedLoopStateTest, SumsAreDoneOnPieces) {
  const Rewritten rewritten = Rewrite(LoopStateRules(), {"900x5xf32"}, Loop("900x5xf32", R"(
    %a = "stablehlo.slice"(%s) <{limit_indices = array<i64: 900, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<900x5xf32>) -> tensor<900x2xf32>
    %d = "stablehlo.slice"(%s) <{limit_indices = array<i64: 900, 5>, start_indices = array<i64: 0, 2>, strides = array<i64: 1, 1>}> : (tensor<900x5xf32>) -> tensor<900x3xf32>
    %g = "stablehlo.sine"(%a) : (tensor<900x2xf32>) -> tensor<900x2xf32>
    %h = "stablehlo.negate"(%d) : (tensor<900x3xf32>) -> tensor<900x3xf32>
    %k = "stablehlo.concatenate"(%g, %h) <{dimension = 1 : i64}> : (tensor<900x2xf32>, tensor<900x3xf32>) -> tensor<900x5xf32>
    %n = "stablehlo.add"(%s, %k) : (tensor<900x5xf32>, tensor<900x5xf32>) -> tensor<900x5xf32>)"),
                                      {{"%l#0", "i32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<900x5xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 900, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<900x5xf32>) -> tensor<900x2xf32>
  %2 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 900, 5>, start_indices = array<i64: 0, 2>, strides = array<i64: 1, 1>}> : (tensor<900x5xf32>) -> tensor<900x3xf32>
  %3:3 = "stablehlo.while"(%0, %1, %2) ({
  ^bb0(%arg1: tensor<i32>, %arg2: tensor<900x2xf32>, %arg3: tensor<900x3xf32>):
    %4 = "stablehlo.constant"() <{value = dense<200> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.compare"(%arg1, %4) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%5) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg4: tensor<i32>, %arg5: tensor<900x2xf32>, %arg6: tensor<900x3xf32>):
    %6 = "stablehlo.sine"(%arg5) : (tensor<900x2xf32>) -> tensor<900x2xf32>
    %7 = "stablehlo.negate"(%arg6) : (tensor<900x3xf32>) -> tensor<900x3xf32>
    %8 = "stablehlo.add"(%arg5, %6) : (tensor<900x2xf32>, tensor<900x2xf32>) -> tensor<900x2xf32>
    %9 = "stablehlo.add"(%arg6, %7) : (tensor<900x3xf32>, tensor<900x3xf32>) -> tensor<900x3xf32>
    %10 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.add"(%arg4, %10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%11, %8, %9) : (tensor<i32>, tensor<900x2xf32>, tensor<900x3xf32>) -> ()
  }) : (tensor<i32>, tensor<900x2xf32>, tensor<900x3xf32>) -> (tensor<i32>, tensor<900x2xf32>, tensor<900x3xf32>)
  "func.return"(%3#0) : (tensor<i32>) -> ()
)");
}

TEST(ConcatenatedLoopStateTest, LeavesStatesThatAreReadWhole) {
  const Rewritten rewritten = Rewrite(LoopStateRules(), {"900x5xf32"}, Loop("900x5xf32", R"(
    %e = "stablehlo.reverse"(%s) <{dimensions = array<i64: 1>}> : (tensor<900x5xf32>) -> tensor<900x5xf32>
    %a = "stablehlo.slice"(%e) <{limit_indices = array<i64: 900, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<900x5xf32>) -> tensor<900x2xf32>
    %d = "stablehlo.slice"(%e) <{limit_indices = array<i64: 900, 5>, start_indices = array<i64: 0, 2>, strides = array<i64: 1, 1>}> : (tensor<900x5xf32>) -> tensor<900x3xf32>
    %n = "stablehlo.concatenate"(%a, %d) <{dimension = 1 : i64}> : (tensor<900x2xf32>, tensor<900x3xf32>) -> tensor<900x5xf32>)"),
                                      {{"%l#1", "900x5xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
  EXPECT_TRUE(rewritten.refused().empty());
}

// Of two steps in one turn the second computes the first again: a sine that XLA takes for cheap.
TEST(ConcatenatedLoopStateTest, RefusesWhatWouldBeComputedAgain) {
  const Rewritten rewritten = Rewrite(LoopStateRules(), {"9000x2xf32"}, Loop("9000x2xf32", R"(
    %a = "stablehlo.slice"(%s) <{limit_indices = array<i64: 9000, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<9000x2xf32>) -> tensor<9000x1xf32>
    %d = "stablehlo.slice"(%s) <{limit_indices = array<i64: 9000, 2>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<9000x2xf32>) -> tensor<9000x1xf32>
    %b = "stablehlo.cosine"(%a) : (tensor<9000x1xf32>) -> tensor<9000x1xf32>
    %c = "stablehlo.sine"(%d) : (tensor<9000x1xf32>) -> tensor<9000x1xf32>
    %e = "stablehlo.sine"(%b) : (tensor<9000x1xf32>) -> tensor<9000x1xf32>
    %f = "stablehlo.concatenate"(%c, %e) <{dimension = 1 : i64}> : (tensor<9000x1xf32>, tensor<9000x1xf32>) -> tensor<9000x2xf32>
    %g = "stablehlo.add"(%s, %f) : (tensor<9000x2xf32>, tensor<9000x2xf32>) -> tensor<9000x2xf32>
    %h = "stablehlo.slice"(%g) <{limit_indices = array<i64: 9000, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<9000x2xf32>) -> tensor<9000x1xf32>
    %k = "stablehlo.slice"(%g) <{limit_indices = array<i64: 9000, 2>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<9000x2xf32>) -> tensor<9000x1xf32>
    %p = "stablehlo.sine"(%h) : (tensor<9000x1xf32>) -> tensor<9000x1xf32>
    %q = "stablehlo.multiply"(%k, %p) : (tensor<9000x1xf32>, tensor<9000x1xf32>) -> tensor<9000x1xf32>
    %r = "stablehlo.sine"(%q) : (tensor<9000x1xf32>) -> tensor<9000x1xf32>
    %t = "stablehlo.add"(%k, %p) : (tensor<9000x1xf32>, tensor<9000x1xf32>) -> tensor<9000x1xf32>
    %u = "stablehlo.concatenate"(%r, %t) <{dimension = 1 : i64}> : (tensor<9000x1xf32>, tensor<9000x1xf32>) -> tensor<9000x2xf32>
    %v = "stablehlo.add"(%f, %u) : (tensor<9000x2xf32>, tensor<9000x2xf32>) -> tensor<9000x2xf32>
    %n = "stablehlo.add"(%s, %v) : (tensor<9000x2xf32>, tensor<9000x2xf32>) -> tensor<9000x2xf32>)"),
                                      {{"%l#1", "9000x2xf32"}});
  EXPECT_EQ(rewritten.refused(),
            Lines{"concatenated_loop_state: without the concatenate, parts would be computed again "
                  "by each reader"});
}

// The parts that are read are not those that are put together.
TEST(ConcatenatedLoopStateTest, OtherPartsDoNotPay) {
  const Rewritten rewritten = Rewrite(LoopStateRules(), {"9xf32"}, Loop("9xf32", R"(
    %a = "stablehlo.slice"(%s) <{limit_indices = array<i64: 9>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<9xf32>) -> tensor<8xf32>
    %d = "stablehlo.slice"(%s) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<9xf32>) -> tensor<1xf32>
    %n = "stablehlo.concatenate"(%a, %d) <{dimension = 0 : i64}> : (tensor<8xf32>, tensor<1xf32>) -> tensor<9xf32>)"),
                                      {{"%l#1", "9xf32"}});
  EXPECT_EQ(rewritten.refused(),
            Lines{"concatenated_loop_state: it would not take less time or memory"});
}

}  // namespace
}  // namespace plimsoll
