// Plans of whole blocks.

#include "plan/plan_block.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/peak.h"
#include "analysis/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "stablehlo/text_writer.h"

namespace plimsoll::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

struct Planned {
  std::unique_ptr<Module> module;
  BlockPlan plan;
  int64_t peak = 0;
};

Planned PlanOf(const std::vector<std::string_view>& arguments, std::string_view ops,
               const std::vector<NamedType>& results, const ChunkOptions& options) {
  Planned planned;
  planned.module = Program(arguments, ops, results);
  if (planned.module == nullptr) return planned;
  Block& block = *planned.module->main()->entry_block();
  StatusOr<BlockPlan> plan = PlanBlock(planned.module->context(), block, options);
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  if (!plan.ok()) return planned;
  EXPECT_TRUE(Verify(*planned.module).ok()) << Verify(*planned.module).ToString();
  planned.plan = *std::move(plan);
  planned.peak = PeakOf(block).bytes;
  return planned;
}

// How many loops are inside of each other at most.
int LoopDepth(const Op& op) {
  int depth = 0;
  for (size_t r = 0; r < op.region_count(); ++r) {
    for (const Op& inner : op.region(r).front()) depth = std::max(depth, LoopDepth(inner));
  }
  return depth + (op.Is(Opcode::kWhile) ? 1 : 0);
}

// The outer product %k of a vector of 1000 numbers with itself, 4 MB.
std::string Outer(std::string_view vector) {
  return StrCat(
      "%a = \"stablehlo.broadcast_in_dim\"(", vector,
      R"() <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %b = "stablehlo.broadcast_in_dim"()",
      vector,
      R"() <{broadcast_dimensions = array<i64: 1>}> : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %k = "stablehlo.multiply"(%a, %b) : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
)");
}

// The product of a matrix with the 1000x50 numbers %1.
std::string Product(std::string_view name, std::string_view matrix) {
  return StrCat(name, " = \"stablehlo.dot_general\"(", matrix, R"(, %1)
      <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
      : (tensor<1000x1000xf32>, tensor<1000x50xf32>) -> tensor<1000x50xf32>
)");
}

TEST(PlanBlockTest, LeavesAloneWhatFits) {
  const std::string ops = StrCat(Outer("%0"), Product("%d", "%k"));
  const Planned planned =
      PlanOf({"1000xf32", "1000x50xf32"}, ops, {{"%d", "1000x50xf32"}}, {.budget = 10'000'000});
  EXPECT_FALSE(planned.plan.has_changes());
  EXPECT_EQ(WriteText(*planned.module),
            WriteText(*Program({"1000xf32", "1000x50xf32"}, ops, {{"%d", "1000x50xf32"}})));
}

TEST(PlanBlockTest, OneCut) {
  const Planned planned =
      PlanOf({"1000xf32", "1000x50xf32"}, StrCat(Outer("%0"), Product("%d", "%k")),
             {{"%d", "1000x50xf32"}}, {.budget = 1'000'000});
  ASSERT_THAT(planned.plan.made, SizeIs(1));
  EXPECT_EQ(planned.plan.made[0].loops, 1);
  EXPECT_EQ(planned.plan.made[0].repeated, 0);
  EXPECT_LE(planned.peak, 1'000'000);
}

// One slice of the 64 MB along any axis is over the budget.
TEST(PlanBlockTest, ALoopInsideOfALoop) {
  const Planned planned = PlanOf({"256xf32", "256xf32"}, R"(
  %a = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<256xf32>) -> tensor<256x256x256xf32>
  %b = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<256xf32>) -> tensor<256x256x256xf32>
  %m = "stablehlo.multiply"(%a, %b) : (tensor<256x256x256xf32>, tensor<256x256x256xf32>) -> tensor<256x256x256xf32>
  %c = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 2>}> : (tensor<256xf32>) -> tensor<256x256x256xf32>
  %k = "stablehlo.add"(%m, %c) : (tensor<256x256x256xf32>, tensor<256x256x256xf32>) -> tensor<256x256x256xf32>
  %s = "stablehlo.sort"(%k) <{dimension = 2 : i64}> ({
  ^bb1(%x: tensor<f32>, %y: tensor<f32>):
    %l = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%l) : (tensor<i1>) -> ()
  }) : (tensor<256x256x256xf32>) -> tensor<256x256x256xf32>
  %d = "stablehlo.dot_general"(%s, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}>
      : (tensor<256x256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
  %e = "stablehlo.dot_general"(%d, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
      : (tensor<256x256xf32>, tensor<256xf32>) -> tensor<256xf32>
)",
                                 {{"%e", "256xf32"}}, {.budget = 100'000});
  EXPECT_THAT(planned.plan.made, SizeIs(2));
  EXPECT_EQ(LoopDepth(planned.module->op()), 2);
  EXPECT_LE(planned.peak, 100'000);
}

// A loop of three turns over a vector %x, which starts as %0; the body gives %u.
std::string Loop(std::string_view body) {
  return StrCat(
      R"(%zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %r:2 = "stablehlo.while"(%zero, %0) ({
  ^bb1(%i: tensor<i32>, %x: tensor<1000xf32>):
    %n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb1(%i: tensor<i32>, %x: tensor<1000xf32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
)",
      body, R"(
    "stablehlo.return"(%j, %u) : (tensor<i32>, tensor<1000xf32>) -> ()
  }) : (tensor<i32>, tensor<1000xf32>) -> (tensor<i32>, tensor<1000xf32>)
)");
}

// The product of %k with a vector as %u.
std::string VectorProduct(std::string_view vector) {
  return StrCat("%u = \"stablehlo.dot_general\"(%k, ", vector, R"()
      <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
      : (tensor<1000x1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
)");
}

TEST(PlanBlockTest, InsideOfALoopOfTheProgram) {
  const Planned planned = PlanOf({"1000xf32"}, Loop(StrCat(Outer("%x"), VectorProduct("%x"))),
                                 {{"%r#1", "1000xf32"}}, {.budget = 1'000'000});
  EXPECT_THAT(planned.plan.made, SizeIs(1));
  EXPECT_EQ(LoopDepth(planned.module->op()), 2);
  EXPECT_LE(planned.peak, 1'000'000);
}

TEST(PlanBlockTest, InsideOfABranch) {
  const Planned planned = PlanOf({"1000xf32", "i32"},
                                 StrCat(R"(%r = "stablehlo.case"(%1) ({
)",
                                        Outer("%0"), VectorProduct("%0"), R"(
    "stablehlo.return"(%u) : (tensor<1000xf32>) -> ()
  }, {
    "stablehlo.return"(%0) : (tensor<1000xf32>) -> ()
  }) : (tensor<i32>) -> tensor<1000xf32>
)"),
                                 {{"%r", "1000xf32"}}, {.budget = 1'000'000});
  EXPECT_THAT(planned.plan.made, SizeIs(1));
  EXPECT_EQ(LoopDepth(planned.module->op()), 1);
  EXPECT_LE(planned.peak, 1'000'000);
}

// The branch reads a big argument as if it were its own.
TEST(PlanBlockTest, InsideOfABranchThatReadsBigValues) {
  const Planned planned = PlanOf({"1000x1000xf32", "1000xf32", "i32"},
                                 StrCat(R"(%r = "stablehlo.case"(%2) ({
    %k = "stablehlo.sort"(%0) <{dimension = 1 : i64}> ({
    ^bb1(%x: tensor<f32>, %y: tensor<f32>):
      %l = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%l) : (tensor<i1>) -> ()
    }) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
)",
                                        VectorProduct("%1"), R"(
    "stablehlo.return"(%u) : (tensor<1000xf32>) -> ()
  }) : (tensor<i32>) -> tensor<1000xf32>
)"),
                                 {{"%r", "1000xf32"}}, {.budget = 1'000'000});
  EXPECT_THAT(planned.plan.made, SizeIs(1));
  EXPECT_LE(planned.peak, 1'000'000);
}

// The loop reads all of the matrix in each turn, so that it is made anew there, and cut.
TEST(PlanBlockTest, AValueThatALoopReadsIsMadeInsideOfIt) {
  const Planned planned = PlanOf({"1000xf32"}, StrCat(Outer("%0"), Loop(VectorProduct("%x"))),
                                 {{"%r#1", "1000xf32"}}, {.budget = 1'000'000});
  ASSERT_THAT(planned.plan.recomputed, SizeIs(1));
  EXPECT_EQ(planned.plan.recomputed[0].loops, 1);
  EXPECT_EQ(planned.plan.recomputed[0].value.type, "tensor<1000x1000xf32>");
  EXPECT_THAT(planned.plan.made, SizeIs(1));
  EXPECT_EQ(LoopDepth(planned.module->op()), 2);
  EXPECT_LE(planned.peak, 1'000'000);
}

// k - k^T needs rows and columns of k at once.
TEST(PlanBlockTest, AValueThatIsWantedAlongTwoAxesIsMadeTwice) {
  const Planned planned = PlanOf({"1000xf32", "1000x50xf32"},
                                 StrCat(Outer("%0"), R"(
  %e = "stablehlo.exponential"(%k) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %t = "stablehlo.transpose"(%e) <{permutation = array<i64: 1, 0>}> : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %s = "stablehlo.subtract"(%e, %t) : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
)",
                                        Product("%d", "%s")),
                                 {{"%d", "1000x50xf32"}}, {.budget = 1'000'000});
  ASSERT_THAT(planned.plan.recomputed, SizeIs(1));
  EXPECT_EQ(planned.plan.recomputed[0].loops, 0);
  EXPECT_THAT(planned.plan.made, SizeIs(1));
  EXPECT_LE(planned.peak, 1'000'000);
}

TEST(PlanBlockTest, SaysWhyAValueIsNotCut) {
  const Planned planned = PlanOf({"1000000xf32"}, R"(
  %e = "stablehlo.exponential"(%0) : (tensor<1000000xf32>) -> tensor<1000000xf32>
  %s = "stablehlo.sort"(%e) <{dimension = 0 : i64}> ({
  ^bb1(%x: tensor<f32>, %y: tensor<f32>):
    %l = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%l) : (tensor<i1>) -> ()
  }) : (tensor<1000000xf32>) -> tensor<1000000xf32>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %r = "stablehlo.reduce"(%s, %z) <{dimensions = array<i64: 0>}> ({
  ^bb1(%x: tensor<f32>, %y: tensor<f32>):
    %l = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%l) : (tensor<f32>) -> ()
  }) : (tensor<1000000xf32>, tensor<f32>) -> tensor<f32>
)",
                                 {{"%r", "f32"}}, {.budget = 1'000'000});
  EXPECT_FALSE(planned.plan.has_changes());
  ASSERT_THAT(planned.plan.refused, SizeIs(1));
  EXPECT_THAT(planned.plan.refused[0].reason, HasSubstr("sort needs all of dimension 0"));
}

}  // namespace
}  // namespace plimsoll::testing
