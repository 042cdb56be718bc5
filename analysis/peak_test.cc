#include "analysis/peak.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "ir/status.h"
#include "stablehlo/read.h"

namespace plimsoll {
namespace {

// A function of that signature around the ops, which return by themselves.
std::string Program(std::string_view arguments, std::string_view type, std::string_view ops,
                    std::string_view argument_attributes = "") {
  return StrCat("\"builtin.module\"() ({\n\"func.func\"() <{", argument_attributes,
                "function_type = ", type, ", sym_name = \"main\"}> ({\n^bb0(", arguments, "):\n",
                ops, "\n}) : () -> ()\n}) : () -> ()\n");
}

std::string_view Maker(const Value& value) {
  return value.is_argument() ? "argument" : value.defining_op()->name();
}

// "120 at stablehlo.dot_general: 80 stablehlo.exponential, 40 stablehlo.add"
std::string PeakText(std::string_view program) {
  const StatusOr<std::unique_ptr<Module>> module = ReadModule(program, "test");
  if (!module.ok()) return std::string(module.status().message());
  const Peak peak = PeakOf(*(*module)->main()->entry_block());
  if (peak.at == nullptr) return StrCat(peak.bytes);
  std::string text = StrCat(peak.bytes, " at ", peak.at->name(), ":");
  for (const LiveValue& live : peak.alive) {
    text += StrCat(&live == &peak.alive.front() ? " " : ", ", live.bytes, " ", Maker(*live.value));
  }
  return text;
}

// The ops of main's body whose results are in memory.
std::string MaterializedText(std::string_view program) {
  const StatusOr<std::unique_ptr<Module>> module = ReadModule(program, "test");
  if (!module.ok()) return std::string(module.status().message());
  std::string text;
  for (const Op& op : *(*module)->main()->entry_block()) {
    if (op.result_count() == 0 || !IsMaterialized(*op.result(0))) continue;
    text += StrCat(text.empty() ? "" : ", ", op.name());
  }
  return text;
}

TEST(PeakTest, CountsWhatIsBetweenArgumentsAndResults) {
  EXPECT_EQ(PeakText(Program("%x: tensor<10x10xf32>", "(tensor<10x10xf32>) -> tensor<f32>", R"(
    %k = "stablehlo.exponential"(%x) : (tensor<10x10xf32>) -> tensor<10x10xf32>
    %s = "stablehlo.sort"(%k) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }) : (tensor<10x10xf32>) -> tensor<10x10xf32>
    %i = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %r = "stablehlo.reduce"(%s, %i) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
    }) : (tensor<10x10xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%r) : (tensor<f32>) -> ())")),
            "400 at stablehlo.exponential: 400 stablehlo.sort");
}

TEST(PeakTest, ElementwiseChainsAreNotInMemory) {
  EXPECT_EQ(MaterializedText(Program("%x: tensor<8xf32>", "(tensor<8xf32>) -> tensor<8xf32>", R"(
    %a = "stablehlo.exponential"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %b = "stablehlo.negate"(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %c = "stablehlo.add"(%b, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%c) : (tensor<8xf32>) -> ())")),
            "stablehlo.add");
}

TEST(PeakTest, ExpensiveOpsAreNotComputedTwice) {
  // The exponential is needed by two results; the negation is not worth keeping.
  constexpr std::string_view kType = "(tensor<8xf32>) -> (tensor<8xf32>, tensor<2x8xf32>)";
  EXPECT_EQ(MaterializedText(Program("%x: tensor<8xf32>", kType, R"(
    %a = "stablehlo.exponential"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %b = "stablehlo.negate"(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %c = "stablehlo.floor"(%b) : (tensor<8xf32>) -> tensor<8xf32>
    %d = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<2x8xf32>
    "func.return"(%c, %d) : (tensor<8xf32>, tensor<2x8xf32>) -> ())")),
            "stablehlo.exponential, stablehlo.floor, stablehlo.broadcast_in_dim");
}

// A loop that adds 100 numbers to its state three times, from what `extra` computes of it.
std::string Loop(std::string_view extra, std::string_view added) {
  return Program("%x: tensor<100xf32>", "(tensor<100xf32>) -> tensor<100xf32>",
                 StrCat(R"(
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %loop:3 = "stablehlo.while"(%zero, %x, %x) ({
    ^bb0(%i: tensor<i32>, %s: tensor<100xf32>, %same: tensor<100xf32>):
      %n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %s: tensor<100xf32>, %same: tensor<100xf32>):
      %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
)",
                        extra, R"(
      %t = "stablehlo.add"(%s, )",
                        added, R"() : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32>
      "stablehlo.return"(%j, %t, %same) : (tensor<i32>, tensor<100xf32>, tensor<100xf32>) -> ()
    }) : (tensor<i32>, tensor<100xf32>, tensor<100xf32>) -> (tensor<i32>, tensor<100xf32>, tensor<100xf32>)
    "func.return"(%loop#1) : (tensor<100xf32>) -> ())"));
}

TEST(PeakTest, LoopsChangeTheirStateInPlace) {
  // What is left is the counter.
  EXPECT_EQ(PeakText(Loop("", "%same")), "4 at stablehlo.while: 4 stablehlo.while");
}

// Ops that sort 100 copies of `from` and take the first.
std::string Sorted(std::string_view from) {
  return StrCat(
      R"(
      %spread = "stablehlo.broadcast_in_dim"()",
      from, R"() <{broadcast_dimensions = array<i64: 1>}> : (tensor<100xf32>) -> tensor<100x100xf32>
      %sorted = "stablehlo.sort"(%spread) <{dimension = 1 : i64}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
        "stablehlo.return"(%c) : (tensor<i1>) -> ()
      }) : (tensor<100x100xf32>) -> tensor<100x100xf32>
      %first = "stablehlo.slice"(%sorted) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1, 100>, strides = array<i64: 1, 1>}> : (tensor<100x100xf32>) -> tensor<1x100xf32>
      %flat = "stablehlo.reshape"(%first) : (tensor<1x100xf32>) -> tensor<100xf32>)");
}

TEST(PeakTest, ALoopsBodyCountsOnTopOfItsState) {
  EXPECT_EQ(PeakText(Loop(Sorted("%s"), "%flat")),
            "40004 at stablehlo.while: 40000 stablehlo.sort, 4 stablehlo.while");
}

TEST(PeakTest, WhatIsTheSameInEveryIterationIsMadeBeforeTheLoop) {
  // All sorted numbers live only before the loop, of which the first are kept.
  const std::string ops = StrCat(Sorted("%same"), R"(
      %negated = "stablehlo.negate"(%flat) : (tensor<100xf32>) -> tensor<100xf32>)");
  EXPECT_EQ(PeakText(Loop(ops, "%negated")),
            "40400 at stablehlo.negate: 40000 stablehlo.sort, 400 stablehlo.negate");
}

TEST(PeakTest, ALoopThatReadsItsStateTwiceWorksOnACopy) {
  // Both new values are made of both old ones, in an order that is not known.
  EXPECT_EQ(PeakText(Program(
                "%x: tensor<1000xf32>, %y: tensor<1000xf32>",
                "(tensor<1000xf32>, tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>)",
                R"(
    %loop:2 = "stablehlo.while"(%x, %y) ({
    ^bb0(%a: tensor<1000xf32>, %b: tensor<1000xf32>):
      %c = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%a: tensor<1000xf32>, %b: tensor<1000xf32>):
      %s = "stablehlo.add"(%a, %b) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
      %d = "stablehlo.subtract"(%a, %b) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
      "stablehlo.return"(%s, %d) : (tensor<1000xf32>, tensor<1000xf32>) -> ()
    }) : (tensor<1000xf32>, tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>)
    "func.return"(%loop#0, %loop#1) : (tensor<1000xf32>, tensor<1000xf32>) -> ())")),
            "8000 at stablehlo.while: 4000 argument, 4000 argument");
}

TEST(PeakTest, StateThatNobodyNeedsIsNotThere) {
  EXPECT_EQ(PeakText(Program("%x: tensor<100xf32>", "(tensor<100xf32>) -> tensor<i32>", R"(
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %loop:2 = "stablehlo.while"(%zero, %x) ({
    ^bb0(%i: tensor<i32>, %s: tensor<100xf32>):
      %n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %s: tensor<100xf32>):
      %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %t = "stablehlo.sine"(%s) : (tensor<100xf32>) -> tensor<100xf32>
      "stablehlo.return"(%j, %t) : (tensor<i32>, tensor<100xf32>) -> ()
    }) : (tensor<i32>, tensor<100xf32>) -> (tensor<i32>, tensor<100xf32>)
    "func.return"(%loop#0) : (tensor<i32>) -> ())")),
            "0");
}

TEST(PeakTest, WhatIsBehindABarrierStaysInTheLoop) {
  // The barrier holds the counter too, so the sorted numbers are made anew in every iteration.
  const std::string ops = StrCat(R"(
      %held:2 = "stablehlo.optimization_barrier"(%same, %i) : (tensor<100xf32>, tensor<i32>) -> (tensor<100xf32>, tensor<i32>))",
                                 Sorted("%held#0"), R"(
      %negated = "stablehlo.negate"(%flat) : (tensor<100xf32>) -> tensor<100xf32>)");
  EXPECT_EQ(PeakText(Loop(ops, "%negated")),
            "40004 at stablehlo.while: 40000 stablehlo.sort, 4 stablehlo.while");
}

// The product of a matrix with itself, `ops` on it, and the result.
std::string Product(std::string_view ops, std::string_view attributes = "") {
  return Program("%x: tensor<8x8xf32>", "(tensor<8x8xf32>) -> tensor<8x8xf32>",
                 StrCat(R"(
    %p = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
)",
                        ops),
                 attributes);
}

TEST(PeakTest, ResultsAreUsedForWhatComesBeforeThem) {
  EXPECT_EQ(PeakText(Product(R"(
    %t = "stablehlo.tanh"(%p) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    "func.return"(%t) : (tensor<8x8xf32>) -> ())")),
            "0");
}

TEST(PeakTest, ABranchThatIsKnownIsTheOnlyOne) {
  constexpr std::string_view kBranches = R"(
    %two = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %case = "stablehlo.case"(%two) ({
      %q = "stablehlo.dot_general"(%p, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      "stablehlo.return"(%q) : (tensor<8x8xf32>) -> ()
    }, {
      %t = "stablehlo.tanh"(%p) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      "stablehlo.return"(%t) : (tensor<8x8xf32>) -> ()
    }) : (tensor<i32>) -> tensor<8x8xf32>
    "func.return"(%case) : (tensor<8x8xf32>) -> ())";
  EXPECT_EQ(PeakText(Product(kBranches)), "0");
}

TEST(PeakTest, ADonatedArgumentIsUsedOnceItIsNotNeeded) {
  constexpr std::string_view kTwoProducts = R"(
    %q = "stablehlo.dot_general"(%p, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    "func.return"(%q) : (tensor<8x8xf32>) -> ())";
  EXPECT_EQ(PeakText(Product(kTwoProducts, "arg_attrs = [{tf.aliasing_output = 0 : i32}], ")),
            "256 at stablehlo.dot_general: 256 stablehlo.dot_general");
}

TEST(PeakTest, TransposedMatricesAreReadAsTheyAre) {
  EXPECT_EQ(MaterializedText(Product(R"(
    %t = "stablehlo.transpose"(%p) <{permutation = array<i64: 1, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %q = "stablehlo.dot_general"(%t, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    "func.return"(%q) : (tensor<8x8xf32>) -> ())")),
            "stablehlo.dot_general, stablehlo.dot_general");
}

// A sum over the rows of a matrix with that many columns.
std::string RowSum(std::string_view columns) {
  return Program(StrCat("%x: tensor<2x", columns, "xf32>"),
                 StrCat("(tensor<2x", columns, "xf32>) -> tensor<2xf32>"),
                 StrCat(R"(
    %e = "stablehlo.exponential"(%x) : (tensor<2x)",
                        columns, R"(xf32>) -> tensor<2x)", columns, R"(xf32>
    %i = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %r = "stablehlo.reduce"(%e, %i) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2x)",
                        columns, R"(xf32>, tensor<f32>) -> tensor<2xf32>
    "func.return"(%r) : (tensor<2xf32>) -> ())"));
}

TEST(PeakTest, ShortSumsAreFusedAndLongOnesReadMemory) {
  EXPECT_EQ(PeakText(RowSum("32")), "0");
  EXPECT_EQ(PeakText(RowSum("64")),
            "528 at stablehlo.reduce: 512 stablehlo.exponential, 16 stablehlo.reduce");
}

TEST(PeakTest, CallsAreInlined) {
  EXPECT_EQ(MaterializedText(R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<8xf32>):
    %a = "stablehlo.exponential"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %b = "func.call"(%a) <{callee = @f}> : (tensor<8xf32>) -> tensor<8xf32>
    %c = "stablehlo.negate"(%b) : (tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%c) : (tensor<8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "f"}> ({
  ^bb0(%x: tensor<8xf32>):
    %a = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%a) : (tensor<8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
)"),
            "stablehlo.negate");
}

}  // namespace
}  // namespace plimsoll
