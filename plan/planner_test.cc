#include "plan/planner.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "stablehlo/text_reader.h"
#include "stablehlo/text_writer.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The product of a matrix of 1000 x 1000 (4 MB), which is made of x, with another matrix.
std::unique_ptr<Module> OuterMaximum(std::string_view attributes) {
  const std::string text = StrCat(
      R"("builtin.module"() ({ "func.func"() <{function_type = (tensor<1000xf32>, tensor<1000x50xf32>) -> tensor<1000x50xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<1000xf32> loc("x"), %y: tensor<1000x50xf32>):
    %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000xf32>) -> tensor<1000x1000xf32>
    %b = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 1>}> : (tensor<1000xf32>) -> tensor<1000x1000xf32>
    %c = "stablehlo.maximum"(%a, %b) : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32> loc("train.py":41:1)
    %d = "stablehlo.dot_general"(%c, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1000x1000xf32>, tensor<1000x50xf32>) -> tensor<1000x50xf32>
    "func.return"(%d) : (tensor<1000x50xf32>) -> () }) : () -> () }) )",
      attributes, " : () -> ()");
  StatusOr<std::unique_ptr<Module>> module = ReadText(text, "test");
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return module.ok() ? *std::move(module) : nullptr;
}

PlannedModule FirstPlan(const Module& module, const PlannerOptions& options) {
  Planner planner(module, options);
  StatusOr<PlannedModule> planned = planner.Next();
  EXPECT_TRUE(planned.ok()) << planned.status().ToString();
  return planned.ok() ? *std::move(planned) : PlannedModule{};
}

// With so many cuts, the chunks of the last one shrink after a program that was over by a half, and
// by no more than it takes.
void ExpectLastShrinks(const Module& module, size_t cuts) {
  Planner planner(module, {.budget = 2'000'000});
  StatusOr<PlannedModule> planned = planner.Next();
  ASSERT_TRUE(planned.ok());
  ASSERT_THAT(planned->plan.made, SizeIs(cuts));
  const int64_t chunk = planned->plan.made.back().chunk;
  planner.Tell(3'000'000, 0);
  planned = planner.Next();
  ASSERT_TRUE(planned.ok());
  ASSERT_THAT(planned->plan.made, SizeIs(cuts));
  EXPECT_LT(planned->plan.made.back().chunk, chunk);
  EXPECT_GT(planned->plan.made.back().chunk, chunk / 4);
}

TEST(PlannerTest, SaysWhichAxisWasCutAndWhere) {
  const std::unique_ptr<Module> module = OuterMaximum("");
  const PlannedModule planned = FirstPlan(*module, {.budget = 1'000'000});
  ASSERT_THAT(planned.plan.made, SizeIs(1));
  const MadeCut& made = planned.plan.made[0];
  EXPECT_EQ(made.axis, "axis 0 of x");
  EXPECT_EQ(made.value.type, "tensor<1000x1000xf32>");
  EXPECT_EQ(made.value.source, "train.py:41");
  EXPECT_EQ(made.value.bytes, 4'000'000);
  EXPECT_THAT(made.sources, ::testing::ElementsAre("train.py:41"));
  EXPECT_THAT(planned.plan.recomputed, IsEmpty());
  EXPECT_LT(planned.peak_after, 1'000'000);
}

// What algebra takes away needs no cut.
TEST(PlannerTest, AlgebraComesFirst) {
  const std::unique_ptr<Module> module =
      plimsoll::testing::Program({"1000x5xf32", "1000x5xf32", "1000xf32"}, R"(
  %p = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<1000x5xf32>, tensor<1000x5xf32>) -> tensor<1000x1000xf32>
  %q = "stablehlo.dot_general"(%p, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1000x1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>)",
                                 {{"%q", "1000xf32"}});
  ASSERT_NE(module, nullptr);
  const PlannedModule planned = FirstPlan(*module, {.budget = 100'000});
  EXPECT_FALSE(planned.plan.has_changes());
  ASSERT_THAT(planned.fired_rules, SizeIs(1));
  EXPECT_EQ(planned.fired_rules[0].rule, "reorder_products");
  EXPECT_LT(planned.peak_after, 100'000);
}

// Kernels whose threads want more scratch than there is room for are run by fewer.
TEST(PlannerTest, MakesRoomForKernels) {
  const std::unique_ptr<Module> module =
      plimsoll::testing::Program({"1000x3xf32", "2000x3xf32", "2000xf32"}, R"(
  %p = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<1000x3xf32>, tensor<2000x3xf32>) -> tensor<1000x2000xf32>
  %e = "stablehlo.exponential"(%p) : (tensor<1000x2000xf32>) -> tensor<1000x2000xf32>
  %q = "stablehlo.dot_general"(%e, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1000x2000xf32>, tensor<2000xf32>) -> tensor<1000xf32>)",
                                 {{"%q", "1000xf32"}});
  ASSERT_NE(module, nullptr);
  constexpr int64_t kScratchOfThread = 100'000;
  const auto cost = [](const TileProgram&, llvm::ArrayRef<int64_t>, int64_t most_scratch) {
    const int64_t threads = std::clamp<int64_t>(most_scratch / kScratchOfThread, 1, 16);
    return KernelCost{.scratch_bytes = threads * kScratchOfThread,
                      .seconds = 1e-4 / static_cast<double>(threads)};
  };
  const auto planned_within = [&](int64_t budget) {
    return FirstPlan(*module, {.budget = budget, .kernel_costs = {.tiles = cost}});
  };
  const PlannedModule roomy = planned_within(3'000'000);
  ASSERT_THAT(roomy.kernels.inserted, SizeIs(1));
  EXPECT_EQ(roomy.kernels.inserted[0].scratch_bytes, 16 * kScratchOfThread);
  const PlannedModule tight = planned_within(510'000);
  ASSERT_THAT(tight.kernels.inserted, SizeIs(1));
  EXPECT_EQ(tight.kernels.inserted[0].scratch_bytes, 5 * kScratchOfThread);
  EXPECT_LE(tight.peak_after, 510'000);
}

// A planner is asked about programs that are over their limit, or have values over a bound.
TEST(PlannerTest, LeavesAloneWhatFits) {
  const std::unique_ptr<Module> module = OuterMaximum("");
  EXPECT_FALSE(FirstPlan(*module, {.budget = 100'000'000, .most_value_bytes = 4'000'000})
                   .plan.has_changes());
}

TEST(PlannerTest, CutsAValueThatIsLargerThanAnyMayBe) {
  const std::unique_ptr<Module> module = OuterMaximum("");
  const PlannerOptions options = {.budget = 100'000'000, .most_value_bytes = 1'000'000};
  const PlannedModule planned = FirstPlan(*module, options);
  ASSERT_THAT(planned.plan.made, SizeIs(1));
  EXPECT_LE(planned.plan.made[0].chunk * 4000, 1'000'000);
  EXPECT_FALSE(FirstPlan(*module, {.budget = 100'000'000, .most_value_bytes = 4'000'000})
                   .plan.has_changes());
}

TEST(PlannerTest, ChunksAreNoLargerThanTheyMayBe) {
  const std::unique_ptr<Module> module = OuterMaximum("");
  const PlannerOptions options = {.budget = 3'000'000, .most_chunk_bytes = 40'000};
  const PlannedModule planned = FirstPlan(*module, options);
  ASSERT_THAT(planned.plan.made, SizeIs(1));
  EXPECT_LE(planned.plan.made[0].chunk, 10);
}

// The chunks were most of what was thought to be needed, so they are made smaller, and by no more
// than it takes.
TEST(PlannerTest, ChunksShrinkByWhatWasTooMuch) {
  const std::unique_ptr<Module> module = OuterMaximum("");
  ExpectLastShrinks(*module, 1);
}

// The same for two loops over different axes: it is the larger chunks that shrink.
TEST(PlannerTest, ChunksOfSeveralLoopsShrinkByWhatWasTooMuch) {
  const std::unique_ptr<Module> module =
      plimsoll::testing::Program({"1000xf32", "1000x2xf32", "900xf32", "900x2xf32"}, R"(
  %a = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %b = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %c = "stablehlo.maximum"(%a, %b) : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %d = "stablehlo.dot_general"(%c, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1000x1000xf32>, tensor<1000x2xf32>) -> tensor<1000x2xf32>
  %e = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0>}> : (tensor<900xf32>) -> tensor<900x900xf32>
  %f = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 1>}> : (tensor<900xf32>) -> tensor<900x900xf32>
  %g = "stablehlo.minimum"(%e, %f) : (tensor<900x900xf32>, tensor<900x900xf32>) -> tensor<900x900xf32>
  %h = "stablehlo.dot_general"(%g, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<900x900xf32>, tensor<900x2xf32>) -> tensor<900x2xf32>)",
                                 {{"%d", "1000x2xf32"}, {"%h", "900x2xf32"}});
  ASSERT_NE(module, nullptr);
  ExpectLastShrinks(*module, 2);
}

// Twelve matrices of 4 MB live at once, and each is less than an eighth of the budget.
TEST(PlannerTest, ManySmallValuesAreCutAsWell) {
  std::vector<std::string_view> arguments(12, "1000xf32");
  arguments.emplace_back("1000x5xf32");
  constexpr std::string_view kDot =
      R"( <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1000x1000xf32>, tensor<1000x5xf32>) -> tensor<1000x5xf32>)";
  constexpr std::string_view kAdd =
      " : (tensor<1000x5xf32>, tensor<1000x5xf32>) -> tensor<1000x5xf32>\n";
  std::string first;
  std::string second;
  for (int i = 0; i < 12; ++i) {
    for (const int d : {0, 1}) {
      first += StrCat("%b", i, "_", d, " = \"stablehlo.broadcast_in_dim\"(%", i,
                      ") <{broadcast_dimensions = array<i64: ", d,
                      ">}> : (tensor<1000xf32>) -> tensor<1000x1000xf32>\n");
    }
    first += StrCat("%k", i, " = \"stablehlo.maximum\"(%b", i, "_0, %b", i,
                    "_1) : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> "
                    "tensor<1000x1000xf32>\n%d",
                    i, " = \"stablehlo.dot_general\"(%k", i, ", %12)", kDot, "\n");
    // The second products read the sum of all first ones.
    second += StrCat("%e", i, " = \"stablehlo.dot_general\"(%k", i, ", %s11)", kDot, "\n");
    const std::string before = StrCat(i - 1);
    first += StrCat("%s", i, " = \"stablehlo.add\"(", i == 0 ? "%12" : StrCat("%s", before), ", %d",
                    i, ")", kAdd);
    second += StrCat("%t", i, " = \"stablehlo.add\"(", i == 0 ? "%12" : StrCat("%t", before),
                     ", %e", i, ")", kAdd);
  }
  const std::unique_ptr<Module> module =
      plimsoll::testing::Program(arguments, first + second, {{"%t11", "1000x5xf32"}});
  ASSERT_NE(module, nullptr);
  const PlannedModule planned = FirstPlan(*module, {.budget = 40'000'000});
  EXPECT_GT(planned.peak_before, 40'000'000);
  EXPECT_THAT(planned.plan.made, ::testing::Not(IsEmpty()));
  EXPECT_LE(planned.peak_after, 40'000'000);
}

TEST(PlannerTest, TheLastProgramIsTheSameUnderEveryLimit) {
  const std::unique_ptr<Module> module = OuterMaximum("");
  std::string texts[2];
  const int64_t budgets[] = {50'000, 2'000'000};
  for (int i = 0; i < 2; ++i) {
    Planner planner(*module, {.budget = budgets[i]});
    while (true) {
      StatusOr<PlannedModule> planned = planner.Next();
      ASSERT_TRUE(planned.ok());
      if (planned->module == nullptr) break;
      texts[i] = WriteText(*planned->module);
      planner.Tell(3'000'000, 0);
    }
  }
  EXPECT_EQ(texts[0], texts[1]);
}

// The product of few rows with all points, whose greatest is wanted: the points are copied for each
// chunk of rows.
TEST(PlannerTest, WhereScratchIsTooMuchTheLargeOperandIsCut) {
  const std::unique_ptr<Module> module =
      plimsoll::testing::Program({"3000x32xf32", "100000x32xf32"}, R"(
  %i = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %p = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<3000x32xf32>, tensor<100000x32xf32>) -> tensor<3000x100000xf32>
  %m = "stablehlo.reduce"(%p, %i) <{dimensions = array<i64: 1>}> ({
  ^bb1(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<3000x100000xf32>, tensor<f32>) -> tensor<3000xf32>)",
                                 {{"%m", "3000xf32"}});
  ASSERT_NE(module, nullptr);
  Planner planner(*module, {.budget = 12'000'000});
  StatusOr<PlannedModule> planned = planner.Next();
  ASSERT_TRUE(planned.ok());
  ASSERT_THAT(planned->plan.made, SizeIs(1));
  EXPECT_EQ(planned->plan.made[0].dimension, 0);
  planner.Tell(17'600'000, 13'200'000);
  planned = planner.Next();
  ASSERT_TRUE(planned.ok());
  ASSERT_THAT(planned->plan.made, SizeIs(1));
  EXPECT_EQ(planned->plan.made[0].dimension, 1);
}

TEST(PlannerTest, ProgramsForSeveralDevicesAreLeftAlone) {
  for (const std::string_view name : {"mhlo.num_partitions", "mhlo.num_replicas"}) {
    const std::unique_ptr<Module> module = OuterMaximum(StrCat("{", name, " = 2 : i32}"));
    Planner planner(*module, {.budget = 1'000'000});
    StatusOr<PlannedModule> planned = planner.Next();
    ASSERT_TRUE(planned.ok());
    EXPECT_THAT(planned->reason, HasSubstr("several devices"));
    EXPECT_FALSE(planned->plan.has_changes());
    EXPECT_EQ(WriteText(*planned->module), WriteText(*module));
    planned = planner.Next();
    ASSERT_TRUE(planned.ok());
    EXPECT_EQ(planned->module, nullptr);
  }
}

}  // namespace
}  // namespace plimsoll
