// Loops on one chunk, text in and text out.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/axis_loops.h"
#include "gtest/gtest.h"
#include "split/testing.h"

namespace plimsoll::testing {
namespace {

// What the loop becomes for a chunk of two of eight blocks along dimension 0 of its state %x. To
// the arguments come the chunk's first block and chunks of the operands that are cut.
std::string LoopChunkOf(const std::vector<std::string_view>& arguments, std::string_view text) {
  const std::unique_ptr<Module> module = OneOp(arguments, text);
  if (module == nullptr) return "";
  Context& context = module->context();
  Block& block = *module->main()->entry_block();
  Op& loop = *block.last()->previous();
  std::string reason;
  const std::optional<LoopAxis> axis = FindLoopAxis(loop, {{1, 0}}, 8, reason);
  EXPECT_TRUE(axis.has_value()) << reason;
  if (!axis) return "";
  const Type index = context.TensorType({}, context.IntegerType(32));
  const Chunk chunk = {.blocks = 8, .size = 2, .first = block.AddArgument(index, loop.location())};
  Builder builder(context, loop);
  Builder::Values operands = loop.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    const int dimension = axis->factor.operands[i];
    if (dimension < 0) continue;
    const Type type = ChunkType(context, operands[i]->type(), dimension, chunk);
    operands[i] = block.AddArgument(type, loop.location());
  }
  const StatusOr<Builder::Values> results = EmitChunk(builder, loop, axis->factor, operands, chunk);
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  if (!results.ok()) return "";
  block.last()->set_operands(*results);
  loop.Erase();
  return BodyText(*module);
}

// A loop of three turns whose state is a counter %i and %x, %y, which start as %0, %1, %2. The body
// gives %next, %u and %v.
std::string Loop(std::string_view y, std::string_view body) {
  const std::string state = StrCat("%i: tensor<i32>, %x: tensor<8xf32>, %y: tensor<", y, ">");
  const std::string types = StrCat("tensor<i32>, tensor<8xf32>, tensor<", y, ">");
  return StrCat("%r:3 = \"stablehlo.while\"(%0, %1, %2) ({\n^bb1(", state, R"():
  %n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}>
      : (tensor<i32>, tensor<i32>) -> tensor<i1>
  "stablehlo.return"(%c) : (tensor<i1>) -> ()
}, {
^bb1()",
                state, R"():
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %next = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>)",
                body, "\n\"stablehlo.return\"(%next, %u, %v) : (", types, ") -> ()\n}) : (", types,
                ") -> (", types, ")");
}

constexpr std::string_view kSum = R"(
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %s = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb2(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>)";

// What the second piece of the state is depends on no chunk; of the value from outside each chunk
// takes its part.
TEST(LoopChunkTest, StateAndValuesFromOutside) {
  EXPECT_EQ(
      LoopChunkOf({"i32", "8xf32", "f32", "8xf32"}, Loop("f32", R"(
  %u = "stablehlo.add"(%x, %3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)")),
      R"(^bb0(%arg0: tensor<i32>, %arg1: tensor<8xf32>, %arg2: tensor<f32>, %arg3: tensor<8xf32>, %arg4: tensor<i32>, %arg5: tensor<2xf32>):
  %0:3 = "stablehlo.while"(%arg0, %arg5, %arg2) ({
  ^bb0(%arg6: tensor<i32>, %arg7: tensor<2xf32>, %arg8: tensor<f32>):
    %1 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.compare"(%arg6, %1) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg9: tensor<i32>, %arg10: tensor<2xf32>, %arg11: tensor<f32>):
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.add"(%arg9, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %6 = "stablehlo.dynamic_slice"(%arg3, %arg4) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
    %7 = "stablehlo.add"(%arg10, %6) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %8 = "stablehlo.tanh"(%arg11) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%4, %7, %8) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> (tensor<i32>, tensor<2xf32>, tensor<f32>)
  "func.return"(%0#0, %0#1, %0#2) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> ()
)");
}

TEST(LoopChunkTest, ValuesOfTheBodyAreMadeInChunks) {
  EXPECT_EQ(
      LoopChunkOf({"i32", "8xf32", "f32"}, Loop("f32", R"(
  %k = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xf32>
  %u = "stablehlo.add"(%x, %k) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)")),
      R"(^bb0(%arg0: tensor<i32>, %arg1: tensor<8xf32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<2xf32>):
  %0:3 = "stablehlo.while"(%arg0, %arg4, %arg2) ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<2xf32>, %arg7: tensor<f32>):
    %1 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.compare"(%arg5, %1) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg8: tensor<i32>, %arg9: tensor<2xf32>, %arg10: tensor<f32>):
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.add"(%arg8, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xi32>
    %6 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2xi32>
    %7 = "stablehlo.add"(%5, %6) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %8 = "stablehlo.convert"(%7) : (tensor<2xi32>) -> tensor<2xf32>
    %9 = "stablehlo.add"(%arg9, %8) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %10 = "stablehlo.tanh"(%arg10) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%4, %9, %10) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> (tensor<i32>, tensor<2xf32>, tensor<f32>)
  "func.return"(%0#0, %0#1, %0#2) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> ()
)");
}

TEST(LoopChunkTest, PartsOfASum) {
  EXPECT_EQ(
      LoopChunkOf({"i32", "8xf32", "f32"}, Loop("f32", StrCat(kSum, R"(
  %u = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.add"(%y, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>)"))),
      R"(^bb0(%arg0: tensor<i32>, %arg1: tensor<8xf32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<2xf32>):
  %0:3 = "stablehlo.while"(%arg0, %arg4, %arg2) ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<2xf32>, %arg7: tensor<f32>):
    %1 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.compare"(%arg5, %1) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg8: tensor<i32>, %arg9: tensor<2xf32>, %arg10: tensor<f32>):
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.add"(%arg8, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.reduce"(%arg9, %6) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %8 = "stablehlo.add"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%8) : (tensor<f32>) -> ()
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %9 = "stablehlo.tanh"(%arg9) : (tensor<2xf32>) -> tensor<2xf32>
    %10 = "stablehlo.add"(%arg10, %7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%4, %9, %10) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> (tensor<i32>, tensor<2xf32>, tensor<f32>)
  "func.return"(%0#0, %0#1, %0#2) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> ()
)");
}

// The constant is no part of a sum over the chunks, so that it counts once.
TEST(LoopChunkTest, WhatIsAddedToAPartCountsInTheFirstChunkOnly) {
  EXPECT_EQ(
      LoopChunkOf({"i32", "8xf32", "f32"}, Loop("f32", StrCat(kSum, R"(
  %u = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %k = "stablehlo.constant"() <{value = dense<7.0> : tensor<f32>}> : () -> tensor<f32>
  %v = "stablehlo.add"(%s, %k) : (tensor<f32>, tensor<f32>) -> tensor<f32>)"))),
      R"(^bb0(%arg0: tensor<i32>, %arg1: tensor<8xf32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<2xf32>):
  %0:3 = "stablehlo.while"(%arg0, %arg4, %arg2) ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<2xf32>, %arg7: tensor<f32>):
    %1 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.compare"(%arg5, %1) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg8: tensor<i32>, %arg9: tensor<2xf32>, %arg10: tensor<f32>):
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.add"(%arg8, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.reduce"(%arg9, %6) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %8 = "stablehlo.add"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%8) : (tensor<f32>) -> ()
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %9 = "stablehlo.tanh"(%arg9) : (tensor<2xf32>) -> tensor<2xf32>
    %10 = "stablehlo.constant"() <{value = dense<7.0> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %12 = "stablehlo.compare"(%arg3, %11) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %13 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %15 = "stablehlo.select"(%12, %10, %14) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %16 = "stablehlo.add"(%7, %15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%4, %9, %16) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> (tensor<i32>, tensor<2xf32>, tensor<f32>)
  "func.return"(%0#0, %0#1, %0#2) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> ()
)");
}

// The inner loop reads %one and %g of the outer body, and slices %3 from outside of both.
TEST(LoopChunkTest, LoopsInsideOfLoops) {
  EXPECT_EQ(
      LoopChunkOf({"i32", "8xf32", "f32", "8xf32"}, Loop("f32", R"(
  %g = "stablehlo.tanh"(%3) : (tensor<8xf32>) -> tensor<8xf32>
  %w:2 = "stablehlo.while"(%i, %x) ({
  ^bb2(%j: tensor<i32>, %z: tensor<8xf32>):
    %c = "stablehlo.compare"(%j, %one) <{comparison_direction = #stablehlo<comparison_direction LT>}>
        : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb2(%j: tensor<i32>, %z: tensor<8xf32>):
    %k = "stablehlo.add"(%j, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = "stablehlo.multiply"(%z, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "stablehlo.return"(%k, %t) : (tensor<i32>, tensor<8xf32>) -> ()
  }) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
  %u = "stablehlo.add"(%w#1, %3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)")),
      R"(^bb0(%arg0: tensor<i32>, %arg1: tensor<8xf32>, %arg2: tensor<f32>, %arg3: tensor<8xf32>, %arg4: tensor<i32>, %arg5: tensor<2xf32>):
  %0:3 = "stablehlo.while"(%arg0, %arg5, %arg2) ({
  ^bb0(%arg6: tensor<i32>, %arg7: tensor<2xf32>, %arg8: tensor<f32>):
    %1 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.compare"(%arg6, %1) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg9: tensor<i32>, %arg10: tensor<2xf32>, %arg11: tensor<f32>):
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.add"(%arg9, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.tanh"(%arg3) : (tensor<8xf32>) -> tensor<8xf32>
    %6:2 = "stablehlo.while"(%arg9, %arg10) ({
    ^bb0(%arg12: tensor<i32>, %arg13: tensor<2xf32>):
      %7 = "stablehlo.compare"(%arg12, %3) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%7) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg14: tensor<i32>, %arg15: tensor<2xf32>):
      %8 = "stablehlo.add"(%arg14, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %10 = "stablehlo.dynamic_slice"(%5, %arg4) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
      %11 = "stablehlo.multiply"(%arg15, %10) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      "stablehlo.return"(%8, %11) : (tensor<i32>, tensor<2xf32>) -> ()
    }) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %13 = "stablehlo.dynamic_slice"(%arg3, %arg4) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
    %14 = "stablehlo.add"(%6#1, %13) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %15 = "stablehlo.tanh"(%arg11) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%4, %14, %15) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> (tensor<i32>, tensor<2xf32>, tensor<f32>)
  "func.return"(%0#0, %0#1, %0#2) : (tensor<i32>, tensor<2xf32>, tensor<f32>) -> ()
)");
}

}  // namespace
}  // namespace plimsoll::testing
