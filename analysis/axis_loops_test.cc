// Axes through loops, text in and text out.

#include "analysis/axis_loops.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

using Requests = std::vector<StateRequest>;

// What becomes of the axis: the loop as one op, then its body's values that are not the same in all
// chunks. Or why the loop is not cut.
std::string AxisText(const std::vector<std::string_view>& arguments, std::string_view text,
                     const Requests& requests, int64_t blocks) {
  const std::unique_ptr<Module> module = OneOp(arguments, text);
  if (module == nullptr) return "";
  const Op* loop = module->main()->entry_block()->first();
  while (!loop->Is(Opcode::kWhile)) loop = loop->next();
  std::string reason;
  const std::optional<LoopAxis> axis = FindLoopAxis(*loop, requests, blocks, reason);
  if (!axis) return reason;
  std::string lines = ToString(AxisRule{.factors = {axis->factor}, .otherwise = ""});
  for (const Op& op : loop->region(1).front()) {
    for (const Value* result : op.results()) {
      const auto label = axis->labels.find(result);
      if (label == axis->labels.end() || label->second == kSame) continue;
      lines +=
          StrCat(op.name(), label->second == kPartial ? " part" : StrCat(" ", label->second), "\n");
    }
  }
  return lines;
}

constexpr std::string_view kCount = R"(
      %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %next = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>)";

// A loop of three turns whose state is a counter %i and %x, %y, which start as %0, %1, %2. The body
// gives %next, %u and %v.
std::string Loop(std::string_view x, std::string_view y, std::string_view body) {
  const std::string state = StrCat("%i: tensor<i32>, %x: tensor<", x, ">, %y: tensor<", y, ">");
  const std::string types = StrCat("tensor<i32>, tensor<", x, ">, tensor<", y, ">");
  return StrCat("%r:3 = \"stablehlo.while\"(%0, %1, %2) ({\n^bb1(", state, R"():
  %n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}>
      : (tensor<i32>, tensor<i32>) -> tensor<i1>
  "stablehlo.return"(%c) : (tensor<i1>) -> ()
}, {
^bb1()",
                state, "):", kCount, body, "\n\"stablehlo.return\"(%next, %u, %v) : (", types,
                ") -> ()\n}) : (", types, ") -> (", types, ")");
}

// The sum of %x, which has 8 numbers, as %s.
std::string Sum(std::string_view element = "f32", std::string_view start = "0.0",
                std::string_view name = "add") {
  return StrCat("\n%zero = \"stablehlo.constant\"() <{value = dense<", start, "> : tensor<",
                element, ">}> : () -> tensor<", element, ">\n",
                "%s = \"stablehlo.reduce\"(%x, %zero) <{dimensions = array<i64: 0>}> ({\n",
                "^bb2(%a: tensor<", element, ">, %b: tensor<", element, ">):\n",
                "%c = \"stablehlo.", name, "\"(%a, %b) : (tensor<", element, ">, tensor<", element,
                ">) -> tensor<", element, ">\n\"stablehlo.return\"(%c) : (tensor<", element,
                ">) -> ()\n}) : (tensor<8x", element, ">, tensor<", element, ">) -> tensor<",
                element, ">");
}

constexpr std::string_view kKeepX = R"(
  %u = "stablehlo.negate"(%x) : (tensor<8xf32>) -> tensor<8xf32>)";

// A loop over 8 numbers %x that adds up something in the scalar %y.
std::string Summing(std::string_view body, std::string_view y = "f32") {
  return AxisText({"i32", "8xf32", y}, Loop("8xf32", y, StrCat(kKeepX, body)), {{1, 0}}, 8);
}

TEST(LoopAxisTest, BatchesOfAScan) {
  EXPECT_EQ(AxisText({"i32", "8x4xf32", "4x4xf32"}, Loop("8x4xf32", "4x4xf32", R"(
  %d = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %u = "stablehlo.tanh"(%d) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %v = "stablehlo.negate"(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>)"),
                     {{1, 0}}, 8),
            R"(operands whole 0 whole results same 0 same blocks 8
stablehlo.dot_general 0
stablehlo.tanh 0
)");
}

TEST(LoopAxisTest, CoarserBlocks) {
  EXPECT_EQ(AxisText({"i32", "8xf32", "f32"}, Loop("8xf32", "f32", R"(
  %u = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)"),
                     {{1, 0}}, 4),
            R"(operands whole 0 whole results same 0 same blocks 4
stablehlo.tanh 0
)");
}

TEST(LoopAxisTest, StateThatMeetsAChunkIsCutToo) {
  EXPECT_EQ(AxisText({"i32", "8xf32", "8xf32"}, Loop("8xf32", "8xf32", R"(
  %u = "stablehlo.add"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.negate"(%y) : (tensor<8xf32>) -> tensor<8xf32>)"),
                     {{1, 0}}, 8),
            R"(operands whole 0 0 results same 0 0 blocks 8
stablehlo.add 0
stablehlo.negate 0
)");
}

TEST(LoopAxisTest, ValuesOfTheBodyAreMadeInChunks) {
  EXPECT_EQ(Summing(R"(
  %k = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xf32>
  %m = "stablehlo.add"(%k, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)"),
            R"(operands whole 0 whole results same 0 same blocks 8
stablehlo.negate 0
stablehlo.iota 0
stablehlo.add 0
)");
}

TEST(LoopAxisTest, ValuesFromOutsideAreSliced) {
  EXPECT_EQ(AxisText({"i32", "8xf32", "f32", "8xf32"}, Loop("8xf32", "f32", R"(
  %u = "stablehlo.add"(%x, %3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)"),
                     {{1, 0}}, 8),
            R"(operands whole 0 whole results same 0 same blocks 8
stablehlo.add 0
)");
}

TEST(LoopAxisTest, SumsAreParts) {
  EXPECT_EQ(Summing(StrCat(Sum(), R"(
  %v = "stablehlo.add"(%y, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>)")),
            R"(operands whole 0 sum results same 0 sum blocks 8
stablehlo.negate 0
stablehlo.reduce part
stablehlo.add part
)");
}

// Brings the 8 numbers %x into places of a vector of twos, and adds that up in %y.
std::string Scattering(std::string_view name) {
  return StrCat(R"(
  %k = "stablehlo.constant"() <{value = dense<1> : tensor<8x1xi32>}> : () -> tensor<8x1xi32>
  %w = "stablehlo.constant"() <{value = dense<2.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %s = "stablehlo.scatter"(%w, %k, %x) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb2(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.)",
                name, R"("(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<3xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<3xf32>
  %v = "stablehlo.add"(%y, %s) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>)");
}

TEST(LoopAxisTest, ScatteredSumsAreParts) {
  EXPECT_EQ(Summing(Scattering("add"), "3xf32"),
            R"(operands whole 0 sum results same 0 sum blocks 8
stablehlo.negate 0
stablehlo.constant 0
stablehlo.scatter part
stablehlo.add part
)");
}

TEST(LoopAxisTest, OtherScattersAreNotAddedUp) {
  EXPECT_EQ(Summing(Scattering("maximum"), "3xf32"),
            "inside a loop, stablehlo.scatter: only sums are added up across the chunks of a loop");
}

TEST(LoopAxisTest, PartsGoThroughLinearOps) {
  EXPECT_EQ(Summing(StrCat(Sum(), R"(
  %k = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
  %p = "stablehlo.multiply"(%s, %k) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %q = "stablehlo.divide"(%p, %k) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t = "stablehlo.negate"(%q) : (tensor<f32>) -> tensor<f32>
  %h = "stablehlo.convert"(%t) : (tensor<f32>) -> tensor<bf16>
  %f = "stablehlo.convert"(%h) : (tensor<bf16>) -> tensor<f32>
  %v = "stablehlo.subtract"(%y, %f) : (tensor<f32>, tensor<f32>) -> tensor<f32>)")),
            R"(operands whole 0 sum results same 0 sum blocks 8
stablehlo.negate 0
stablehlo.reduce part
stablehlo.multiply part
stablehlo.divide part
stablehlo.negate part
stablehlo.convert part
stablehlo.convert part
stablehlo.subtract part
)");
}

TEST(LoopAxisTest, PartsAreWrittenIntoAList) {
  EXPECT_EQ(Summing(StrCat(Sum(), R"(
  %p = "stablehlo.reshape"(%s) : (tensor<f32>) -> tensor<1xf32>
  %v = "stablehlo.dynamic_update_slice"(%y, %p, %i)
      : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>)"),
                    "3xf32"),
            R"(operands whole 0 sum results same 0 sum blocks 8
stablehlo.negate 0
stablehlo.reduce part
stablehlo.reshape part
stablehlo.dynamic_update_slice part
)");
}

TEST(LoopAxisTest, LoopsInsideOfLoops) {
  EXPECT_EQ(Summing(R"(
  %w:2 = "stablehlo.while"(%i, %x) ({
  ^bb2(%j: tensor<i32>, %z: tensor<8xf32>):
    %n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%j, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}>
        : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb2(%j: tensor<i32>, %z: tensor<8xf32>):
    %k = "stablehlo.add"(%j, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = "stablehlo.tanh"(%z) : (tensor<8xf32>) -> tensor<8xf32>
    "stablehlo.return"(%k, %t) : (tensor<i32>, tensor<8xf32>) -> ()
  }) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)"),
            R"(operands whole 0 whole results same 0 same blocks 8
stablehlo.negate 0
stablehlo.while 0
)");
}

TEST(LoopAxisTest, HowOftenItRunsMayNotDependOnAChunk) {
  EXPECT_EQ(AxisText({"8xf32"}, R"(%r = "stablehlo.while"(%0) ({
^bb1(%x: tensor<8xf32>):
  %e = "stablehlo.slice"(%x) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1>,
      strides = array<i64: 1>}> : (tensor<8xf32>) -> tensor<1xf32>
  %s = "stablehlo.reshape"(%e) : (tensor<1xf32>) -> tensor<f32>
  %c = "stablehlo.compare"(%s, %s) <{comparison_direction = #stablehlo<comparison_direction EQ>}>
      : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%c) : (tensor<i1>) -> ()
}, {
^bb1(%x: tensor<8xf32>):
  %u = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  "stablehlo.return"(%u) : (tensor<8xf32>) -> ()
}) : (tensor<8xf32>) -> tensor<8xf32>)",
                     {{0, 0}}, 8),
            "inside a loop, stablehlo.while: how often the loop runs depends on all of the axis");
}

constexpr std::string_view kNotLinear = ": it is not linear";

TEST(LoopAxisTest, PartsMayNotGoThroughOtherOps) {
  EXPECT_EQ(Summing(StrCat(Sum(), R"(
  %v = "stablehlo.tanh"(%s) : (tensor<f32>) -> tensor<f32>)")),
            StrCat("inside a loop, stablehlo.tanh", kNotLinear));
  EXPECT_EQ(Summing(StrCat(Sum(), R"(
  %v = "stablehlo.multiply"(%s, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>)")),
            StrCat("inside a loop, stablehlo.multiply", kNotLinear));
  EXPECT_EQ(Summing(StrCat(Sum(), R"(
  %v = "stablehlo.divide"(%y, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>)")),
            StrCat("inside a loop, stablehlo.divide", kNotLinear));
}

// Rounding the parts is not rounding the sum.
TEST(LoopAxisTest, PartsMayNotBeRounded) {
  EXPECT_EQ(Summing(StrCat(Sum(), R"(
  %v = "stablehlo.convert"(%s) : (tensor<f32>) -> tensor<i32>)"),
                    "i32"),
            StrCat("inside a loop, stablehlo.convert", kNotLinear));
  EXPECT_EQ(AxisText({"i32", "8xi32", "i32"}, Loop("8xi32", "i32", StrCat(Sum("i32", "0"), R"(
  %u = "stablehlo.negate"(%x) : (tensor<8xi32>) -> tensor<8xi32>
  %v = "stablehlo.divide"(%s, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>)")),
                     {{1, 0}}, 8),
            StrCat("inside a loop, stablehlo.divide", kNotLinear));
}

// A part of a sum of unsigned numbers may be less than zero.
TEST(LoopAxisTest, PartsMayNotBeWidened) {
  EXPECT_EQ(AxisText({"i32", "8xui8", "f32"}, Loop("8xui8", "f32", StrCat(Sum("ui8", "0"), R"(
  %u = "stablehlo.negate"(%x) : (tensor<8xui8>) -> tensor<8xui8>
  %v = "stablehlo.convert"(%s) : (tensor<ui8>) -> tensor<f32>)")),
                     {{1, 0}}, 8),
            StrCat("inside a loop, stablehlo.convert", kNotLinear));
}

TEST(LoopAxisTest, PartsMayNotBePlaces) {
  EXPECT_EQ(AxisText({"i32", "8xi32", "3xi32"}, Loop("8xi32", "3xi32", StrCat(Sum("i32", "0"), R"(
  %u = "stablehlo.negate"(%x) : (tensor<8xi32>) -> tensor<8xi32>
  %p = "stablehlo.reshape"(%i) : (tensor<i32>) -> tensor<1xi32>
  %v = "stablehlo.dynamic_update_slice"(%y, %p, %s)
      : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>)")),
                     {{1, 0}}, 8),
            StrCat("inside a loop, stablehlo.dynamic_update_slice", kNotLinear));
}

TEST(LoopAxisTest, ChunksAndPartsMayNotMeet) {
  EXPECT_EQ(Summing(StrCat(Sum(), R"(
  %b8 = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64>}>
      : (tensor<f32>) -> tensor<8xf32>
  %m = "stablehlo.subtract"(%x, %b8) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)")),
            "inside a loop, stablehlo.subtract: it puts a chunk and a part of a sum together");
}

TEST(LoopAxisTest, OnlySumsAreAddedUp) {
  EXPECT_EQ(Summing(StrCat(Sum("f32", "0.0", "maximum"), R"(
  %v = "stablehlo.add"(%y, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>)")),
            "inside a loop, stablehlo.reduce: only sums are added up across the chunks of a loop");
}

TEST(LoopAxisTest, SumsMayNotStartFromANumber) {
  EXPECT_EQ(Summing(StrCat(Sum("f32", "7.0"), R"(
  %v = "stablehlo.add"(%y, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>)")),
            "inside a loop, stablehlo.reduce: what it starts from would count in every chunk");
}

TEST(LoopAxisTest, OpsThatNeedTheWholeAxis) {
  EXPECT_EQ(Summing(R"(
  %p = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)"),
            "inside a loop, stablehlo.reverse: it needs the whole of a value");
}

TEST(LoopAxisTest, StateMayNotChangeItsAxis) {
  EXPECT_EQ(AxisText({"i32", "4x4xf32", "f32"}, Loop("4x4xf32", "f32", R"(
  %u = "stablehlo.transpose"(%x) <{permutation = array<i64: 1, 0>}>
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)"),
                     {{1, 0}}, 4),
            "inside a loop, stablehlo.return: a piece of its state changes its axis");
}

TEST(LoopAxisTest, ChunksMayNotBeUsedInsideOfRegions) {
  EXPECT_EQ(Summing(R"(
  %p = "stablehlo.case"(%i) ({
    "stablehlo.return"(%x) : (tensor<8xf32>) -> ()
  }) : (tensor<i32>) -> tensor<8xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)"),
            "inside a loop, stablehlo.case: it uses a chunk inside of a region");
}

TEST(LoopAxisTest, EffectsMayNotBeSeenTwice) {
  EXPECT_EQ(Summing(R"(
  "stablehlo.custom_call"(%i) <{call_target_name = "print", has_side_effect = true}>
      : (tensor<i32>) -> ()
  %v = "stablehlo.tanh"(%y) : (tensor<f32>) -> tensor<f32>)"),
            "inside a loop, stablehlo.while: it has effects, and would run more than once");
}

TEST(LoopAxisTest, DynamicShapesAreNotCut) {
  EXPECT_EQ(AxisText({"i32", "8xf32", "?xf32"}, Loop("8xf32", "?xf32", R"(
  %u = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %v = "stablehlo.tanh"(%y) : (tensor<?xf32>) -> tensor<?xf32>)"),
                     {{1, 0}}, 8),
            "inside a loop, stablehlo.while: its shape is not known");
}

}  // namespace
}  // namespace plimsoll::testing
