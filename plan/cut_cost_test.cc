#include "plan/cut_cost.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

// What it costs to cut the outer product of a vector with itself (rows x rows numbers, of which one
// in every row makes a block) along its columns. The result is its product with a matrix of so many
// columns, added up over the blocks. Of its values only the outer product itself is in memory.
CutCost Cost(const ChunkOptions& options, int64_t rows = 1000, int64_t columns = 1,
             int64_t remaining = 0) {
  const std::string vector = StrCat(rows, "xf32");
  const std::string square = StrCat(rows, "x", rows, "xf32");
  const std::string matrix = StrCat(rows, "x", columns, "xf32");
  const auto broadcast = [&](std::string_view name, int dimension) {
    return StrCat(name,
                  " = \"stablehlo.broadcast_in_dim\"(%0) <{broadcast_dimensions = array<i64: ",
                  dimension, ">}> : (tensor<", vector, ">) -> tensor<", square, ">\n");
  };
  const std::unique_ptr<Module> module =
      Program({vector, matrix},
              StrCat(broadcast("%a", 0), broadcast("%b", 1),
                     "%k = \"stablehlo.multiply\"(%a, %b) : (tensor<", square, ">, tensor<", square,
                     ">) -> tensor<", square, R"(>
  %d = "stablehlo.dot_general"(%k, %1) <{dot_dimension_numbers = #stablehlo.dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<)",
                     square, ">, tensor<", matrix, ">) -> tensor<", matrix, ">"),
              {{"%d", matrix}});
  if (module == nullptr) return {};
  const Block& block = *module->main()->entry_block();
  BigValues big = {.threshold = 1, .existing = {}};
  for (size_t i = 0; i < block.argument_count(); ++i) big.existing.insert(block.argument(i));
  for (const Value* value : block.last()->operands()) big.existing.insert(value);
  const Value& seed = *block.first()->next()->next()->result(0);
  Refusal refusal;
  const std::optional<Cut> cut = FindCut(BlockView(block), seed, 1, big, 0, refusal);
  EXPECT_TRUE(cut.has_value()) << refusal.reason;
  return cut ? CostOf(*cut, options, {&seed}, {}, remaining) : CutCost{};
}

// A column takes 4000 bytes; what is fused counts a quarter, twice; the result is a column as well.
TEST(CutCostTest, WhatABlockTakes) {
  const CutCost cost = Cost({.budget = 1'000'000'000});
  EXPECT_EQ(cost.block_bytes, 6000);
  EXPECT_EQ(cost.whole_bytes, 4000);
  EXPECT_EQ(cost.excess, 0);
}

TEST(CutCostTest, ChunksFitTheCache) {
  EXPECT_EQ(Cost({.budget = 1'000'000'000, .best_bytes = 400'000}).chunk, 100);
}

// The result takes 4000 bytes, and in more than a few turns its rounding error as many.
TEST(CutCostTest, ChunksFitTheBudget) {
  EXPECT_EQ(Cost({.budget = 64'000, .best_bytes = 400'000}).chunk, 8);
  EXPECT_EQ(Cost({.budget = 304'000, .best_bytes = 400'000}).chunk, 50);
}

TEST(CutCostTest, NoValueOfAChunkIsLargerThanItMayBe) {
  EXPECT_EQ(Cost({.budget = 1'000'000'000, .best_bytes = 400'000, .most_bytes = 80'000}).chunk, 20);
}

// What lives beside is held against the cut, but never more than half of the budget.
TEST(CutCostTest, OtherValuesTakeRoom) {
  EXPECT_EQ(Cost({.budget = 64'000, .best_bytes = 400'000}, 1000, 1, 12'000).chunk, 5);
  EXPECT_EQ(Cost({.budget = 64'000, .best_bytes = 400'000}, 1000, 1, 60'000).chunk, 4);
}

// An accumulator is read and written with every chunk, so that larger chunks save time.
TEST(CutCostTest, LargeAccumulatorsWantLargeChunks) {
  EXPECT_EQ(Cost({.budget = 1'000'000'000, .best_bytes = 400'000}, 1000, 50).chunk, 200);
}

TEST(CutCostTest, ChunksThatDivideTheAxisAreBetter) {
  EXPECT_EQ(Cost({.budget = 1'000'000'000, .best_bytes = 1'332'000}).chunk, 250);
  EXPECT_EQ(Cost({.budget = 1'000'000'000, .best_bytes = 1'328'004}, 997).chunk, 333);
}

// All of the budget lives beside the cut, and half of it would be left if that were cut as well.
TEST(CutCostTest, WithoutRoomChunksAreSmallButNotSingleBlocks) {
  EXPECT_EQ(Cost({.budget = 160'000}, 1000, 1, 160'000).chunk, 10);
  EXPECT_EQ(Cost({.budget = 16'000}, 1000, 4, 16'000).chunk, 1);
  EXPECT_EQ(Cost({.budget = 1'600'000}, 1000, 400, 1'600'000).chunk, 10);
}

TEST(CutCostTest, AtLeastTwoChunks) {
  EXPECT_EQ(Cost({.budget = 1'000'000'000}).chunk, 500);
  EXPECT_EQ(Cost({.budget = 1'000'000'000}, 5).chunk, 2);
}

TEST(CutCostTest, OneBlockIfNothingFits) {
  const CutCost cost = Cost({.budget = 5'000});
  EXPECT_EQ(cost.chunk, 1);
  EXPECT_EQ(cost.excess, 9'000);
}

TEST(CutCostTest, SmallChunksTakeLonger) {
  EXPECT_GT(Cost({.budget = 1'000'000'000, .best_bytes = 4'000}).seconds,
            Cost({.budget = 1'000'000'000, .best_bytes = 400'000}).seconds);
}

// Each turn of the loop reads a row of the argument and writes one of its result, 100 rows in all.
TEST(CutCostTest, WhatALoopReadsAndWritesByTheSliceNeedNotStayInTheCache) {
  const std::unique_ptr<Module> module = Program({"100x1000xf32"}, R"(
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %none = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %rows = "stablehlo.broadcast_in_dim"(%none) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<100x1000xf32>
  %loop:3 = "stablehlo.while"(%zero, %0, %rows) ({
  ^bb1(%i: tensor<i32>, %x: tensor<100x1000xf32>, %y: tensor<100x1000xf32>):
    %n = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb2(%i: tensor<i32>, %x: tensor<100x1000xf32>, %y: tensor<100x1000xf32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %first = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %row = "stablehlo.dynamic_slice"(%x, %i, %first) <{slice_sizes = array<i64: 1, 1000>}> : (tensor<100x1000xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1000xf32>
    %sine = "stablehlo.sine"(%row) : (tensor<1x1000xf32>) -> tensor<1x1000xf32>
    %z = "stablehlo.dynamic_update_slice"(%y, %sine, %i, %first) : (tensor<100x1000xf32>, tensor<1x1000xf32>, tensor<i32>, tensor<i32>) -> tensor<100x1000xf32>
    "stablehlo.return"(%j, %x, %z) : (tensor<i32>, tensor<100x1000xf32>, tensor<100x1000xf32>) -> ()
  }) : (tensor<i32>, tensor<100x1000xf32>, tensor<100x1000xf32>) -> (tensor<i32>, tensor<100x1000xf32>, tensor<100x1000xf32>)
  %sum = "stablehlo.reduce"(%loop#2, %none) <{dimensions = array<i64: 0>}> ({
  ^bb3(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<100x1000xf32>, tensor<f32>) -> tensor<1000xf32>)",
                                                 {{"%sum", "1000xf32"}});
  ASSERT_NE(module, nullptr);
  const Block& block = *module->main()->entry_block();
  const Op& loop = *block.last()->previous()->previous();
  ASSERT_TRUE(loop.Is(Opcode::kWhile));
  const BigValues big = {.threshold = 1000, .existing = {block.argument(0)}};
  Refusal refusal;
  const std::optional<Cut> cut = FindCut(BlockView(block), *loop.result(2), 1, big, 0, refusal);
  ASSERT_TRUE(cut.has_value()) << refusal.reason;
  const auto cost_with = [&](int64_t budget) {
    return CostOf(*cut, {.budget = budget, .best_bytes = 4000}, {loop.result(2)}, {}, 0);
  };
  // A block has a column of 400 bytes, but a turn reads and writes one number of it.
  EXPECT_LT(cost_with(1'000'000).largest_bytes, 8);
  EXPECT_EQ(cost_with(1'000'000).chunk, 500);
  // The result takes the place of what the loop starts from. The argument is not written, and
  // counts a quarter.
  EXPECT_EQ(cost_with(1'000'000).block_bytes, 501);
  EXPECT_EQ(cost_with(50'000).chunk, 50);
}

}  // namespace
}  // namespace plimsoll::testing
