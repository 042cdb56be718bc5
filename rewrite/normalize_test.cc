// The passes that make the normal form, text in and text out.

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "ir/verify.h"
#include "rewrite/inline_calls.h"
#include "rewrite/merge_equal_ops.h"
#include "rewrite/remove_dead_ops.h"
#include "rewrite/resolve_cases.h"
#include "rewrite/split_barriers.h"
#include "stablehlo/text_reader.h"
#include "stablehlo/text_writer.h"

namespace plimsoll {
namespace {

using Pass = void (*)(Module&);

void MergeEqual(Module& module) { MergeEqualOps(module.op()); }
void RemoveDead(Module& module) { RemoveDeadOps(module.op()); }
void Resolve(Module& module) { ResolveCases(module.op()); }
void Split(Module& module) { SplitBarriers(module.op()); }

// What `pass` makes of a program, as text without locations.
std::string Apply(std::string_view text, Pass pass) {
  StatusOr<std::unique_ptr<Module>> module = ReadText(text, "test");
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  if (!module.ok()) return "";
  pass(**module);
  EXPECT_TRUE(Verify(**module).ok()) << Verify(**module).ToString();
  return WriteText(**module, Locations::kOmit);
}

// A program whose main takes a scalar and two numbers, and returns two numbers.
std::string Main(std::string_view ops, std::string_view others = "") {
  return StrCat(R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<i32>, tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<2xf32>):
)",
                ops, "  }) : () -> ()\n", others, "}) : () -> ()\n");
}

constexpr std::string_view kCalls = R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "func.call"(%arg0) <{callee = @twice}> : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "func.call"(%0) <{callee = @twice}> : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "twice", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "func.call"(%arg0) <{callee = @once}> : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "func.call"(%0) <{callee = @once}> : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "once", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
)";

TEST(InlineCallsTest, WhatHasNoLineGetsThatOfTheCall) {
  constexpr std::string_view kText = R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "func.call"(%arg0) <{callee = @twice}> : (tensor<2xf32>) -> tensor<2xf32> loc("train.py":41:1)
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "twice", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<2xf32>) -> tensor<2xf32> loc(unknown)
    %1 = "stablehlo.negate"(%0) : (tensor<2xf32>) -> tensor<2xf32> loc("package.py":7:1)
    "func.return"(%1) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
)";
  StatusOr<std::unique_ptr<Module>> module = ReadText(kText, "test");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  InlineCalls(**module);
  const Op& first = *(*module)->main()->entry_block()->first();
  EXPECT_EQ(SourceLine(first.location()), "train.py:41");
  EXPECT_EQ(SourceLine(first.next()->location()), "package.py:7");
}

// A private function with these properties that gives its argument back.
std::string Callee(std::string_view properties = "") {
  return StrCat("  \"func.func\"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, ",
                properties, R"(sym_name = "same", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "func.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
)");
}

TEST(InlineCallsTest, PutsBodiesInThePlaceOfCalls) {
  EXPECT_EQ(Apply(kCalls, InlineCalls), R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.negate"(%0) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.negate"(%1) : (tensor<2xf32>) -> tensor<2xf32>
    %3 = "stablehlo.negate"(%2) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%3) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
)");
}

TEST(InlineCallsTest, ResultsThatAreArgumentsBecomeTheCallsOperands) {
  EXPECT_EQ(
      Apply(
          Main(R"(    %0 = "func.call"(%arg1) <{callee = @same}> : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
)",
               Callee()),
          InlineCalls),
      Main("    \"func.return\"(%arg1) : (tensor<2xf32>) -> ()\n"));
}

TEST(InlineCallsTest, CallsInsideOfLoops) {
  const std::string_view loop = R"(    %0:2 = "stablehlo.while"(%arg0, %arg1) ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<2xf32>):
      %1 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
      "stablehlo.return"(%1) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg4: tensor<i32>, %arg5: tensor<2xf32>):
)";
  EXPECT_EQ(
      Apply(Main(StrCat(loop, R"(
      %1 = "func.call"(%arg5) <{callee = @same}> : (tensor<2xf32>) -> tensor<2xf32>
      "stablehlo.return"(%arg4, %1) : (tensor<i32>, tensor<2xf32>) -> ()
    }) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    "func.return"(%0#1) : (tensor<2xf32>) -> ()
)"),
                 Callee()),
            InlineCalls),
      Main(StrCat(loop,
                  R"(      "stablehlo.return"(%arg4, %arg5) : (tensor<i32>, tensor<2xf32>) -> ()
    }) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    "func.return"(%0#1) : (tensor<2xf32>) -> ()
)")));
}

TEST(InlineCallsTest, CallsThatSayHowTheyAreRunStay) {
  const std::string annotated = Main(
      R"(    %0 = "func.call"(%arg1) <{callee = @same}> {inlineable = "false"} : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
)",
      Callee());
  EXPECT_EQ(Apply(annotated, InlineCalls), annotated);
  const std::string forbidden = Main(
      R"(    %0 = "func.call"(%arg1) <{callee = @same, no_inline}> : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
)",
      Callee());
  EXPECT_EQ(Apply(forbidden, InlineCalls), forbidden);
}

TEST(InlineCallsTest, FunctionsThatMustNotBeInlinedStay) {
  const std::string text =
      Main(R"(    %0 = "func.call"(%arg1) <{callee = @same}> : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
)",
           Callee("no_inline, "));
  EXPECT_EQ(Apply(text, InlineCalls), text);
}

TEST(InlineCallsTest, FunctionsThatOtherOpsNameStay) {
  const std::string text = Main(
      R"(    %0 = "stablehlo.composite"(%arg1) <{decomposition = @same, name = "my.op"}> : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
)",
      Callee());
  EXPECT_EQ(Apply(text, InlineCalls), text);
}

TEST(MergeEqualOpsTest, TheFirstStays) {
  EXPECT_EQ(Apply(Main(R"(    %0 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%2) : (tensor<2xf32>) -> ()
)"),
                  MergeEqual),
            Main(R"(    %0 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.add"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
)"));
}

TEST(MergeEqualOpsTest, OpsThatBecomeEqual) {
  EXPECT_EQ(Apply(Main(R"(    %0 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.tanh"(%0) : (tensor<2xf32>) -> tensor<2xf32>
    %3 = "stablehlo.tanh"(%1) : (tensor<2xf32>) -> tensor<2xf32>
    %4 = "stablehlo.add"(%2, %3) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%4) : (tensor<2xf32>) -> ()
)"),
                  MergeEqual),
            Main(R"(    %0 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.tanh"(%0) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.add"(%1, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%2) : (tensor<2xf32>) -> ()
)"));
}

// Two sums whose bodies are these ops.
std::string TwoSums(std::string_view first, std::string_view second) {
  const auto sum = [](std::string_view name, std::string_view body) {
    return StrCat("    ", name,
                  R"( = "stablehlo.reduce"(%arg1, %0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %9 = "stablehlo.)",
                  body,
                  R"("(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%9) : (tensor<f32>) -> ()
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
)");
  };
  return Main(
      StrCat("    %0 = \"stablehlo.constant\"() <{value = dense<0.0> : tensor<f32>}> : () -> "
             "tensor<f32>\n",
             sum("%1", first), sum("%2", second),
             R"(    %3 = "stablehlo.add"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    "func.return"(%4) : (tensor<2xf32>) -> ()
)"));
}

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(MergeEqualOpsTest, EqualBodies) {
  EXPECT_EQ(Count(Apply(TwoSums("add", "add"), MergeEqual), "stablehlo.reduce"), 1);
}

TEST(MergeEqualOpsTest, OpsWithOtherBodiesStay) {
  EXPECT_EQ(Count(Apply(TwoSums("add", "maximum"), MergeEqual), "stablehlo.reduce"), 2);
}

TEST(MergeEqualOpsTest, OpsWithOtherPropertiesOrTypesStay) {
  const std::string text =
      Main(R"(    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = "stablehlo.convert"(%2) : (tensor<i32>) -> tensor<f32>
    %4 = "stablehlo.convert"(%2) : (tensor<i32>) -> tensor<bf16>
    %5 = "stablehlo.custom_call"(%3, %4) <{call_target_name = "f"}> : (tensor<f32>, tensor<bf16>) -> tensor<2xf32>
    "func.return"(%5) : (tensor<2xf32>) -> ()
)");
  EXPECT_EQ(Apply(text, MergeEqual), text);
}

TEST(MergeEqualOpsTest, OpsWithEffectsStay) {
  const std::string text = Main(
      R"(    %0 = "stablehlo.custom_call"(%arg1) <{call_target_name = "f", has_side_effect = true}> : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.custom_call"(%arg1) <{call_target_name = "f", has_side_effect = true}> : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%2) : (tensor<2xf32>) -> ()
)");
  EXPECT_EQ(Apply(text, MergeEqual), text);
}

TEST(RemoveDeadOpsTest, WhatOnlyDeadOpsUsed) {
  EXPECT_EQ(Apply(Main(R"(    %0 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.tanh"(%0) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%arg1) : (tensor<2xf32>) -> ()
)"),
                  RemoveDead),
            Main("    \"func.return\"(%arg1) : (tensor<2xf32>) -> ()\n"));
}

TEST(RemoveDeadOpsTest, OpsWithEffectsStay) {
  const std::string text = Main(
      R"(    "stablehlo.custom_call"(%arg1) <{call_target_name = "f", has_side_effect = true}> : (tensor<2xf32>) -> ()
    %0 = "other.op"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%arg1) : (tensor<2xf32>) -> ()
)");
  EXPECT_EQ(Apply(text, RemoveDead), text);
}

// A choice between -x and tanh(x), by the value %0.
std::string Choice(std::string_view index, std::string_view name, std::string_view type) {
  return Main(StrCat(index, "    %1 = \"stablehlo.", name, R"("(%0) ({
      %2 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
      "stablehlo.return"(%2) : (tensor<2xf32>) -> ()
    }, {
      %3 = "stablehlo.tanh"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
      "stablehlo.return"(%3) : (tensor<2xf32>) -> ()
    }) : (tensor<)",
                     type, R"(>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
)"));
}

// What is left of a choice by a constant.
std::string Chosen(std::string_view number, std::string_view name, std::string_view type) {
  const std::string index = StrCat("    %0 = \"stablehlo.constant\"() <{value = dense<", number,
                                   "> : tensor<", type, ">}> : () -> tensor<", type, ">\n");
  const std::string text = Apply(Choice(index, name, type), Resolve);
  if (Count(text, StrCat("stablehlo.", name)) > 0) return "both";
  return StrCat(Count(text, "negate") > 0 ? "first" : "", Count(text, "tanh") > 0 ? "second" : "");
}

TEST(ResolveCasesTest, TheChosenBranchStays) {
  EXPECT_EQ(Chosen("0", "case", "i32"), "first");
  EXPECT_EQ(Chosen("1", "case", "i32"), "second");
  EXPECT_EQ(Chosen("true", "if", "i1"), "first");
  EXPECT_EQ(Chosen("false", "if", "i1"), "second");
}

TEST(ResolveCasesTest, IndicesOutOfRangeMeanTheLastBranch) {
  EXPECT_EQ(Chosen("-1", "case", "i32"), "second");
  EXPECT_EQ(Chosen("7", "case", "i32"), "second");
}

TEST(ResolveCasesTest, ChoicesOfTheRunningProgramStay) {
  const std::string text = Choice(
      "    %0 = \"stablehlo.negate\"(%arg0) : (tensor<i32>) -> tensor<i32>\n", "case", "i32");
  EXPECT_EQ(Apply(text, Resolve), text);
}

TEST(ResolveCasesTest, ChoicesInsideOfChoices) {
  EXPECT_EQ(
      Apply(
          Main(
              R"(    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %2 = "stablehlo.case"(%0) ({
        %3 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
        "stablehlo.return"(%3) : (tensor<2xf32>) -> ()
      }) : (tensor<i32>) -> tensor<2xf32>
      "stablehlo.return"(%2) : (tensor<2xf32>) -> ()
    }, {
      "stablehlo.return"(%arg1) : (tensor<2xf32>) -> ()
    }) : (tensor<i32>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
)"),
          Resolve),
      Main(R"(    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
)"));
}

TEST(SplitBarriersTest, EachValueHasItsOwn) {
  EXPECT_EQ(
      Apply(
          Main(
              R"(    %0:2 = "stablehlo.optimization_barrier"(%arg0, %arg1) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    "func.return"(%0#1) : (tensor<2xf32>) -> ()
)"),
          Split),
      Main(R"(    %0 = "stablehlo.optimization_barrier"(%arg0) : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.optimization_barrier"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
)"));
}

TEST(SplitBarriersTest, BarriersOfOneValueStay) {
  const std::string text =
      Main(R"(    %0 = "stablehlo.optimization_barrier"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
)");
  EXPECT_EQ(Apply(text, Split), text);
}

}  // namespace
}  // namespace plimsoll
