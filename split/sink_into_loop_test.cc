// Values that are made anew inside of the loops that read them, text in and text out.

#include "split/sink_into_loop.h"

#include <memory>
#include <string>
#include <string_view>

#include "analysis/block_view.h"
#include "gtest/gtest.h"
#include "split/testing.h"

namespace plimsoll::testing {
namespace {

bool IsBig(const Value& value) { return BytesOf(value) > 100; }

constexpr std::string_view kBig = R"(
  %k = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}>
      : (tensor<8xf32>) -> tensor<8x8xf32>
  %t = "stablehlo.tanh"(%k) : (tensor<8x8xf32>) -> tensor<8x8xf32>)";

// The program after %t, the result of the op before the loop, was sunk into the loop, its last op.
std::string Sunk(std::string_view making, std::string_view loop) {
  const std::unique_ptr<Module> module =
      Program({"8xf32", "i32"}, StrCat(making, loop), {{"%r#0", "8xf32"}});
  if (module == nullptr) return "";
  Op& op = *module->main()->entry_block()->last()->previous();
  if (SinkIntoLoop(module->context(), op, *op.previous()->result(0), IsBig) == nullptr) {
    return "refused";
  }
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module).ToString();
  return BodyText(*module);
}

// A loop over a vector %x and a counter %i, which reads %t of its own state or from outside.
std::string Loop(std::string_view body, bool has_state) {
  const std::string_view state = has_state ? ", %t" : "";
  const std::string_view argument = has_state ? ", %s: tensor<8x8xf32>" : "";
  const std::string_view type = has_state ? ", tensor<8x8xf32>" : "";
  return StrCat("\n%r:", has_state ? "3" : "2", " = \"stablehlo.while\"(%0, %1", state,
                ") ({\n^bb1(%x: tensor<8xf32>, %i: tensor<i32>", argument, R"():
  %n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}>
      : (tensor<i32>, tensor<i32>) -> tensor<i1>
  "stablehlo.return"(%c) : (tensor<i1>) -> ()
}, {
^bb1(%x: tensor<8xf32>, %i: tensor<i32>)",
                argument, R"():
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>)",
                body, type, ") -> ()\n}) : (tensor<8xf32>, tensor<i32>", type,
                ") -> (tensor<8xf32>, tensor<i32>", type, ")");
}

// The product of %x with a matrix as %u.
std::string Product(std::string_view matrix) {
  return StrCat("\n%u = \"stablehlo.dot_general\"(", matrix, R"(, %x)
      <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
        rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
)");
}

TEST(SinkIntoLoopTest, AValueThatTheBodyReadsFromOutside) {
  EXPECT_EQ(Sunk(kBig, Loop(StrCat(Product("%t"),
                                   "\"stablehlo.return\"(%u, %j) : (tensor<8xf32>, tensor<i32>"),
                            false)),
            R"(^bb0(%arg0: tensor<8xf32>, %arg1: tensor<i32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x8xf32>
  %1 = "stablehlo.tanh"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2:2 = "stablehlo.while"(%arg0, %arg1) ({
  ^bb0(%arg2: tensor<8xf32>, %arg3: tensor<i32>):
    %3 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.compare"(%arg3, %3) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%4) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg4: tensor<8xf32>, %arg5: tensor<i32>):
    %5:2 = "stablehlo.optimization_barrier"(%arg0, %arg5) : (tensor<8xf32>, tensor<i32>) -> (tensor<8xf32>, tensor<i32>)
    %6 = "stablehlo.broadcast_in_dim"(%5#0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x8xf32>
    %7 = "stablehlo.tanh"(%6) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %8 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.add"(%arg5, %8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %10 = "stablehlo.dot_general"(%7, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "stablehlo.return"(%10, %9) : (tensor<8xf32>, tensor<i32>) -> ()
  }) : (tensor<8xf32>, tensor<i32>) -> (tensor<8xf32>, tensor<i32>)
  "func.return"(%2#0) : (tensor<8xf32>) -> ()
)");
}

TEST(SinkIntoLoopTest, AValueThatIsStateAndStaysTheSame) {
  EXPECT_EQ(
      Sunk(kBig, Loop(StrCat(Product("%s"),
                             "\"stablehlo.return\"(%u, %j, %s) : (tensor<8xf32>, tensor<i32>"),
                      true)),
      R"(^bb0(%arg0: tensor<8xf32>, %arg1: tensor<i32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x8xf32>
  %1 = "stablehlo.tanh"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2:2 = "stablehlo.while"(%arg0, %arg1) ({
  ^bb0(%arg2: tensor<8xf32>, %arg3: tensor<i32>):
    %3 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.compare"(%arg3, %3) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%4) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg4: tensor<8xf32>, %arg5: tensor<i32>):
    %5:2 = "stablehlo.optimization_barrier"(%arg0, %arg5) : (tensor<8xf32>, tensor<i32>) -> (tensor<8xf32>, tensor<i32>)
    %6 = "stablehlo.broadcast_in_dim"(%5#0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x8xf32>
    %7 = "stablehlo.tanh"(%6) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %8 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.add"(%arg5, %8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %10 = "stablehlo.dot_general"(%7, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "stablehlo.return"(%10, %9) : (tensor<8xf32>, tensor<i32>) -> ()
  }) : (tensor<8xf32>, tensor<i32>) -> (tensor<8xf32>, tensor<i32>)
  "func.return"(%2#0) : (tensor<8xf32>) -> ()
)");
}

TEST(SinkIntoLoopTest, StateThatChangesStays) {
  EXPECT_EQ(Sunk(kBig, Loop(StrCat(Product("%s"), R"(
  %w = "stablehlo.negate"(%s) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  "stablehlo.return"(%u, %j, %w) : (tensor<8xf32>, tensor<i32>)"),
                            true)),
            "refused");
}

TEST(SinkIntoLoopTest, EffectsAreNotSeenInEveryTurn) {
  EXPECT_EQ(
      Sunk(R"(
  %t = "stablehlo.custom_call"(%0) <{call_target_name = "f", has_side_effect = true}>
      : (tensor<8xf32>) -> tensor<8x8xf32>)",
           Loop(StrCat(Product("%t"), "\"stablehlo.return\"(%u, %j) : (tensor<8xf32>, tensor<i32>"),
                false)),
      "refused");
}

TEST(SinkIntoLoopTest, ALoopThatDoesNotReadTheValueStays) {
  EXPECT_EQ(Sunk(kBig, Loop("\n\"stablehlo.return\"(%x, %j) : (tensor<8xf32>, tensor<i32>", false)),
            "refused");
}

}  // namespace
}  // namespace plimsoll::testing
