// Which ops a cut holds and in which passes, text in and text out.

#include "analysis/cut.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

std::string_view ShortName(const Op& op) { return op.name().substr(op.name().find('.') + 1); }

// A value by the op that makes it.
std::string_view Maker(const Value& value) {
  return value.is_argument() ? "argument" : ShortName(*value.defining_op());
}

std::string PassText(const CutPass& pass) {
  std::string text = "pass:";
  for (const Op* op : pass.ops) text += StrCat(" ", ShortName(*op));
  for (const Op* op : pass.accumulated) text += StrCat(", adds up ", ShortName(*op));
  for (const Value* value : pass.written) text += StrCat(", writes ", Maker(*value));
  return text + "\n";
}

// The passes, and before each the ops that run outside; or why there is no cut.
std::string CutText(const BlockView& view, const Value& seed, int dimension, const BigValues& big,
                    int64_t most_given_up) {
  Refusal refusal;
  const std::optional<Cut> cut = FindCut(view, seed, dimension, big, most_given_up, refusal);
  if (!cut) {
    std::string text = StrCat("refused for ", Maker(*refusal.value), ": ", refusal.reason, "\n");
    if (refusal.contested != nullptr) {
      text += StrCat(ShortName(*refusal.user), " wants ", Maker(*refusal.contested),
                     " along another axis\n");
    }
    return text;
  }
  std::string text = StrCat(cut->blocks, " blocks");
  for (const Value* value : cut->given_up) text += StrCat(", without ", Maker(*value));
  text += "\n";
  for (int level = 0; level <= static_cast<int>(cut->passes.size()); ++level) {
    std::string outside;
    for (const Op* op : view.ops()) {
      const auto found = cut->outside.find(op);
      if (op == view.ops().back() || found == cut->outside.end() || found->second != level)
        continue;
      outside += StrCat(outside.empty() ? "" : " ", ShortName(*op));
    }
    if (!outside.empty()) text += StrCat("outside: ", outside, "\n");
    if (level < static_cast<int>(cut->passes.size())) text += PassText(cut->passes[level]);
  }
  return text;
}

// The cut around the first value of a program that the op makes. Values of more than 100 bytes are
// big, unless they are arguments or results.
std::string CutAround(std::string_view maker, int dimension,
                      const std::vector<std::string_view>& arguments, std::string_view ops,
                      const std::vector<NamedType>& results, int64_t most_given_up = 0) {
  const std::unique_ptr<Module> module = Program(arguments, ops, results);
  if (module == nullptr) return "";
  const Block& block = *module->main()->entry_block();
  BigValues big = {.threshold = 100, .existing = {}};
  for (size_t i = 0; i < block.argument_count(); ++i) big.existing.insert(block.argument(i));
  for (const Value* value : block.last()->operands()) big.existing.insert(value);
  const BlockView view(block);
  for (const Op* op : view.ops()) {
    if (ShortName(*op) == maker) {
      return CutText(view, *op->result(0), dimension, big, most_given_up);
    }
  }
  return StrCat("there is no ", maker);
}

// The outer product %k of %0 with itself, 8 x 8 numbers (256 bytes).
constexpr std::string_view kOuter = R"(
  %a = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}>
      : (tensor<8xf32>) -> tensor<8x8xf32>
  %b = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 1>}>
      : (tensor<8xf32>) -> tensor<8x8xf32>
  %k = "stablehlo.multiply"(%a, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
)";

// The product of a matrix with the vector %1.
std::string Product(std::string_view name, std::string_view matrix) {
  return StrCat(name, " = \"stablehlo.dot_general\"(", matrix, R"(, %1)
      <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
        rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
)");
}

// A reduction of the matrix by one op.
std::string Reduce(std::string_view name, std::string_view value, std::string_view from,
                   std::string_view dimensions, std::string_view to, std::string_view op = "add") {
  return StrCat(name, "z = \"stablehlo.constant\"() <{value = dense<0.0> : tensor<f32>}>",
                " : () -> tensor<f32>\n", name, " = \"stablehlo.reduce\"(", value, ", ", name,
                "z) <{dimensions = array<i64: ", dimensions, R"(>}> ({
  ^bb1(%x: tensor<f32>, %y: tensor<f32>):
    %o = "stablehlo.)",
                op, R"("(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%o) : (tensor<f32>) -> ()
  }) : (tensor<)",
                from, ">, tensor<f32>) -> tensor<", to, ">\n");
}

TEST(FindCutTest, ChunksOfTheResultAreWritten) {
  EXPECT_EQ(CutAround("multiply", 0, {"8xf32", "8xf32"}, StrCat(kOuter, Product("%d", "%k")),
                      {{"%d", "8xf32"}}),
            R"(8 blocks
pass: broadcast_in_dim broadcast_in_dim multiply dot_general, writes dot_general
)");
}

TEST(FindCutTest, PartsOfTheResultAreAddedUp) {
  EXPECT_EQ(CutAround("multiply", 1, {"8xf32", "8xf32"}, StrCat(kOuter, Product("%d", "%k")),
                      {{"%d", "8xf32"}}),
            R"(8 blocks
pass: broadcast_in_dim broadcast_in_dim multiply dot_general, adds up dot_general
)");
}

TEST(FindCutTest, AllUsersAreInOneLoop) {
  EXPECT_EQ(CutAround("multiply", 0, {"8xf32", "8xf32"},
                      StrCat(kOuter, Product("%d", "%k"),
                             Reduce("%s", "%k", "8x8xf32", "0, 1", "f32", "maximum")),
                      {{"%d", "8xf32"}, {"%s", "f32"}}),
            R"(8 blocks
outside: constant
pass: broadcast_in_dim broadcast_in_dim multiply dot_general reduce, adds up reduce, writes dot_general
)");
}

// Each column needs the sum of its own numbers, which are then computed again.
TEST(FindCutTest, NormalizationAlongTheAxisTakesTwoPasses) {
  EXPECT_EQ(CutAround("exponential", 1, {"8xf32", "8xf32"},
                      StrCat(kOuter, R"(
  %e = "stablehlo.exponential"(%k) : (tensor<8x8xf32>) -> tensor<8x8xf32>
)",
                             Reduce("%s", "%e", "8x8xf32", "1", "8xf32"), R"(
  %t = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64: 0>}>
      : (tensor<8xf32>) -> tensor<8x8xf32>
  %p = "stablehlo.divide"(%e, %t) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
)",
                             Product("%d", "%p")),
                      {{"%d", "8xf32"}}),
            R"(8 blocks
outside: constant
pass: broadcast_in_dim broadcast_in_dim multiply exponential reduce, adds up reduce
pass: broadcast_in_dim broadcast_in_dim multiply exponential broadcast_in_dim divide dot_general, adds up dot_general
)");
}

TEST(FindCutTest, NormalizationAcrossTheAxisTakesOnePass) {
  EXPECT_EQ(CutAround("exponential", 0, {"8xf32", "8xf32"},
                      StrCat(kOuter, R"(
  %e = "stablehlo.exponential"(%k) : (tensor<8x8xf32>) -> tensor<8x8xf32>
)",
                             Reduce("%s", "%e", "8x8xf32", "1", "8xf32"), R"(
  %t = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64: 0>}>
      : (tensor<8xf32>) -> tensor<8x8xf32>
  %p = "stablehlo.divide"(%e, %t) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
)",
                             Product("%d", "%p")),
                      {{"%d", "8xf32"}}),
            R"(8 blocks
outside: constant
pass: broadcast_in_dim broadcast_in_dim multiply exponential reduce broadcast_in_dim divide dot_general, writes dot_general
)");
}

// The sums of the rows are small, so they are kept for the pass that needs the sum of all.
TEST(FindCutTest, SmallValuesAreKeptForLaterPasses) {
  EXPECT_EQ(CutAround("multiply", 0, {"8xf32", "8xf32"},
                      StrCat(kOuter, Reduce("%r", "%k", "8x8xf32", "1", "8xf32"),
                             Reduce("%m", "%r", "8xf32", "0", "f32"), R"(
  %n = "stablehlo.broadcast_in_dim"(%m) <{broadcast_dimensions = array<i64>}>
      : (tensor<f32>) -> tensor<8x8xf32>
  %c = "stablehlo.subtract"(%k, %n) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = "stablehlo.dot_general"(%c, %r) <{dot_dimension_numbers = #stablehlo.dot<
      lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}>
      : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
)"),
                      {{"%d", "8xf32"}}),
            R"(8 blocks
outside: constant constant
pass: broadcast_in_dim broadcast_in_dim multiply reduce reduce, adds up reduce, writes reduce
pass: broadcast_in_dim broadcast_in_dim multiply broadcast_in_dim subtract dot_general, adds up dot_general
)");
}

TEST(FindCutTest, SmallOpsThatCanRunBetweenThePassesDoSo) {
  EXPECT_EQ(CutAround("multiply", 0, {"8xf32", "8xf32"},
                      StrCat(kOuter, Reduce("%r", "%k", "8x8xf32", "1", "8xf32"),
                             Reduce("%m", "%r", "8xf32", "0", "f32"), R"(
  %n = "stablehlo.broadcast_in_dim"(%m) <{broadcast_dimensions = array<i64>}>
      : (tensor<f32>) -> tensor<8xf32>
  %c = "stablehlo.subtract"(%r, %n) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
)"),
                      {{"%c", "8xf32"}}),
            R"(8 blocks
outside: constant constant
pass: broadcast_in_dim broadcast_in_dim multiply reduce reduce, adds up reduce, writes reduce
outside: broadcast_in_dim subtract
)");
}

constexpr std::string_view kSorted = R"(
  %t = "stablehlo.tanh"(%k) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %o = "stablehlo.sort"(%t) <{dimension = 0 : i64}> ({
  ^bb1(%x: tensor<f32>, %y: tensor<f32>):
    %c = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}>
        : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
)";

TEST(FindCutTest, ValuesInTheWayAreGivenUp) {
  EXPECT_EQ(
      CutAround("multiply", 0, {"8xf32", "8xf32"}, StrCat(kOuter, kSorted, Product("%d", "%k")),
                {{"%d", "8xf32"}, {"%o", "8x8xf32"}}, 256),
      R"(8 blocks, without tanh
pass: broadcast_in_dim broadcast_in_dim multiply tanh dot_general, writes tanh, writes dot_general
outside: sort
)");
}

TEST(FindCutTest, OnlySoMuchIsGivenUp) {
  EXPECT_EQ(
      CutAround("multiply", 0, {"8xf32", "8xf32"}, StrCat(kOuter, kSorted, Product("%d", "%k")),
                {{"%d", "8xf32"}, {"%o", "8x8xf32"}}, 255),
      R"(refused for tanh: stablehlo.sort: sort needs all of dimension 0
)");
}

TEST(FindCutTest, TheSeedIsNotGivenUp) {
  EXPECT_EQ(CutAround("tanh", 0, {"8xf32", "8xf32"}, StrCat(kOuter, kSorted, Product("%d", "%k")),
                      {{"%d", "8xf32"}, {"%o", "8x8xf32"}}, 10'000),
            R"(refused for tanh: stablehlo.sort: sort needs all of dimension 0
)");
}

// 12 x 8 and 8 x 12 numbers have 4 blocks in common.
constexpr std::string_view kReshaped = R"(
  %a = "stablehlo.tanh"(%0) : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %b = "stablehlo.reshape"(%a) : (tensor<12x8xf32>) -> tensor<8x12xf32>
  %c = "stablehlo.negate"(%b) : (tensor<8x12xf32>) -> tensor<8x12xf32>
)";

TEST(FindCutTest, CoarserBlocksForAReshape) {
  EXPECT_EQ(
      CutAround("tanh", 0, {"12x8xf32"},
                StrCat(kReshaped, Reduce("%s", "%c", "8x12xf32", "1", "8xf32")), {{"%s", "8xf32"}}),
      R"(4 blocks
outside: constant
pass: tanh reshape negate reduce, writes reduce
)");
}

// The reshape is of a small value, which can be had whole.
TEST(FindCutTest, BlocksStayAsFineAsTheyCanBe) {
  EXPECT_EQ(CutAround("multiply", 0, {"8xf32", "8xf32"},
                      StrCat(kOuter, kSorted, Reduce("%r", "%k", "8x8xf32", "1", "8xf32"), R"(
  %f = "stablehlo.reshape"(%r) : (tensor<8xf32>) -> tensor<2x4xf32>
)"),
                      {{"%f", "2x4xf32"}, {"%o", "8x8xf32"}}, 256),
            R"(8 blocks, without tanh
outside: constant
pass: broadcast_in_dim broadcast_in_dim multiply tanh reduce, writes tanh, writes reduce
outside: sort reshape
)");
}

TEST(FindCutTest, AValueThatIsWantedAlongTwoAxes) {
  EXPECT_EQ(CutAround("multiply", 0, {"8xf32", "8xf32"},
                      StrCat(kOuter, R"(
  %t = "stablehlo.transpose"(%k) <{permutation = array<i64: 1, 0>}>
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = "stablehlo.subtract"(%k, %t) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
)",
                             Product("%d", "%s")),
                      {{"%d", "8xf32"}}),
            R"(refused for transpose: stablehlo.subtract needs all of it
subtract wants transpose along another axis
)");
}

TEST(FindCutTest, EffectsKeepTheirOrder) {
  EXPECT_EQ(CutAround("multiply", 0, {"8xf32", "8xf32"}, StrCat(kOuter, Product("%d", "%k"), R"(
  "stablehlo.custom_call"(%d) <{call_target_name = "f", has_side_effect = true}>
      : (tensor<8xf32>) -> ()
  "stablehlo.custom_call"(%0) <{call_target_name = "g", has_side_effect = true}>
      : (tensor<8xf32>) -> ()
  %n = "stablehlo.negate"(%0) : (tensor<8xf32>) -> tensor<8xf32>
)"),
                      {{"%d", "8xf32"}, {"%n", "8xf32"}}),
            R"(8 blocks
outside: negate
pass: broadcast_in_dim broadcast_in_dim multiply dot_general, writes dot_general
outside: custom_call custom_call
)");
}

// A loop of which %1 is the counter and the matrix the state.
std::string Loop(std::string_view body) {
  return StrCat(R"(
  %r:2 = "stablehlo.while"(%2, %k) ({
  ^bb1(%i: tensor<i32>, %x: tensor<8x8xf32>):
    %n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}>
        : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb1(%i: tensor<i32>, %x: tensor<8x8xf32>):
    %n = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i32>)",
                body, R"(
    "stablehlo.return"(%j, %u) : (tensor<i32>, tensor<8x8xf32>) -> ()
  }) : (tensor<i32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<8x8xf32>)
)");
}

TEST(FindCutTest, LoopsAlongAnotherAxis) {
  EXPECT_EQ(CutAround("multiply", 0, {"8xf32", "8xf32", "i32"},
                      StrCat(kOuter, Loop(R"(
    %u = "stablehlo.tanh"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>)"),
                             Product("%d", "%r#1")),
                      {{"%d", "8xf32"}}),
            R"(8 blocks
pass: broadcast_in_dim broadcast_in_dim multiply while dot_general, writes dot_general
)");
}

TEST(FindCutTest, LoopsThatNeedAllOfTheAxis) {
  EXPECT_EQ(CutAround("multiply", 0, {"8xf32", "8xf32", "i32"},
                      StrCat(kOuter, Loop(R"(
    %u = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0>}>
        : (tensor<8x8xf32>) -> tensor<8x8xf32>)"),
                             Product("%d", "%r#1")),
                      {{"%d", "8xf32"}}),
            R"(refused for multiply: inside a loop, stablehlo.reverse: it needs the whole of a value
)");
}

TEST(FindCutTest, ABigValueThatALoopReadsFromInside) {
  EXPECT_EQ(CutAround("tanh", 0, {"8xf32", "8xf32", "i32"},
                      StrCat(kOuter, R"(
  %t = "stablehlo.tanh"(%k) : (tensor<8x8xf32>) -> tensor<8x8xf32>)",
                             Loop(R"(
    %u = "stablehlo.add"(%x, %t) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>)"),
                             Product("%d", "%r#1")),
                      {{"%d", "8xf32"}}),
            R"(refused for tanh: stablehlo.while needs all of it
)");
}

// The branch reads a big value of the program as if it were an argument.
TEST(FindCutTest, ValuesFromOutsideOfTheBlockAreThereAnyway) {
  const std::unique_ptr<Module> module = Program({"8x8xf32", "8xf32", "i32"},
                                                 StrCat(R"(
  %k = "stablehlo.tanh"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = "stablehlo.case"(%2) ({
    %e = "stablehlo.exponential"(%k) : (tensor<8x8xf32>) -> tensor<8x8xf32>)",
                                                        Product("%d", "%e"), R"(
    "stablehlo.return"(%d) : (tensor<8xf32>) -> ()
  }) : (tensor<i32>) -> tensor<8xf32>)"),
                                                 {{"%r", "8xf32"}});
  ASSERT_NE(module, nullptr);
  const Block& branch = module->main()->entry_block()->last()->previous()->region(0).front();
  BigValues big = {.threshold = 100, .existing = {}};
  EXPECT_EQ(CutText(BlockView(branch), *branch.first()->result(0), 0, big, 0), R"(8 blocks
pass: exponential dot_general, writes dot_general
)");
}

// What a scatter puts together is there as a whole after its pass, although it is big: a later op
// takes chunks of the whole, and the scatter does not run again.
TEST(CutTest, AccumulatedValueIsSlicedAgain) {
  EXPECT_EQ(CutAround("negate", 0, {"60xi32"}, R"(
  %x = "stablehlo.negate"(%0) : (tensor<60xi32>) -> tensor<60xi32>
  %i = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0>}>
      : (tensor<60xi32>) -> tensor<60x1xi32>
  %s = "stablehlo.scatter"(%0, %i, %x) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb1(%p: tensor<i32>, %q: tensor<i32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%t) : (tensor<i32>) -> ()
  }) : (tensor<60xi32>, tensor<60x1xi32>, tensor<60xi32>) -> tensor<60xi32>
  %r = "stablehlo.subtract"(%s, %x) : (tensor<60xi32>, tensor<60xi32>) -> tensor<60xi32>)",
                      {{"%r", "60xi32"}}),
            "60 blocks\n"
            "pass: negate broadcast_in_dim scatter, adds up scatter\n"
            "pass: negate subtract, writes subtract\n");
}

}  // namespace
}  // namespace plimsoll::testing
