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

TEST(CutCostTest, ChunksFitTheBudget) {
  EXPECT_EQ(Cost({.budget = 64'000, .best_bytes = 400'000}).chunk, 10);
}

TEST(CutCostTest, NoValueOfAChunkIsLargerThanItMayBe) {
  EXPECT_EQ(Cost({.budget = 1'000'000'000, .best_bytes = 400'000, .most_bytes = 80'000}).chunk, 20);
}

// What lives beside is held against the cut, but never more than half of the budget.
TEST(CutCostTest, OtherValuesTakeRoom) {
  EXPECT_EQ(Cost({.budget = 64'000, .best_bytes = 400'000}, 1000, 1, 12'000).chunk, 8);
  EXPECT_EQ(Cost({.budget = 64'000, .best_bytes = 400'000}, 1000, 1, 60'000).chunk, 5);
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
  EXPECT_EQ(cost.excess, 5'000);
}

TEST(CutCostTest, SmallChunksTakeLonger) {
  EXPECT_GT(Cost({.budget = 1'000'000'000, .best_bytes = 4'000}).seconds,
            Cost({.budget = 1'000'000'000, .best_bytes = 400'000}).seconds);
}

}  // namespace
}  // namespace plimsoll::testing
