#include "rewrite/contraction_order.h"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

// Tries every pair of what is left, again and again.
class Search {
 public:
  explicit Search(const Contraction& contraction) : contraction_(contraction) {
    Try(contraction.factors, 0);
  }
  double least() const { return least_; }

 private:
  void Try(const std::vector<IndexSet>& left, double seconds) {
    if (seconds >= least_) return;
    if (left.size() == 1) {
      least_ = seconds;
      return;
    }
    for (size_t a = 0; a < left.size(); ++a) {
      for (size_t b = a + 1; b < left.size(); ++b) {
        IndexSet outside = contraction_.kept;
        std::vector<IndexSet> next;
        for (size_t i = 0; i < left.size(); ++i) {
          if (i == a || i == b) continue;
          outside |= left[i];
          next.push_back(left[i]);
        }
        const IndexSet made = (left[a] | left[b]) & outside;
        next.push_back(made);
        Try(next, seconds + SecondsOfStep(left[a], left[b], made, contraction_.sizes));
      }
    }
  }

  const Contraction& contraction_;
  double least_ = std::numeric_limits<double>::infinity();
};

// A chain of matrices, each as it is or transposed, with vectors at its ends and a batch for some:
// what a transpose is shows in the indices only.
Contraction RandomChain(std::mt19937& random) {
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  const int length = number(2, 8);
  const bool has_batch = number(0, 3) == 0;
  Contraction chain;
  for (int i = 0; i <= length; ++i) chain.sizes.push_back(number(2, 400));
  chain.sizes.push_back(number(2, 8));
  const IndexSet batch = IndexSet{1} << (length + 1);
  const bool starts_with_vector = number(0, 3) == 0;
  const bool ends_with_vector = number(0, 3) == 0;
  for (int i = 0; i < length; ++i) {
    IndexSet factor = IndexSet{3} << i;
    if (i == 0 && starts_with_vector) factor &= ~IndexSet{1};
    if (i == length - 1 && ends_with_vector) factor &= ~(IndexSet{1} << length);
    if (has_batch && number(0, 1) == 0) factor |= batch;
    chain.factors.push_back(factor);
  }
  if (!starts_with_vector) chain.kept |= 1;
  if (!ends_with_vector) chain.kept |= IndexSet{1} << length;
  if (has_batch) chain.kept |= batch;
  return chain;
}

double SecondsOfAll(const Contraction& contraction, const ContractionOrder& order) {
  std::vector<IndexSet> made = contraction.factors;
  double seconds = 0;
  for (const ContractionStep& step : order.steps) {
    seconds += SecondsOfStep(made[step.left], made[step.right], step.indices, contraction.sizes);
    made.push_back(step.indices);
  }
  return seconds;
}

TEST(ContractionOrderTest, IsTheBestOfAllForRandomChains) {
  constexpr int kChains = 1'000;
  constexpr uint32_t kSeed = 20261115;
  std::mt19937 random(kSeed);  // NOLINT(bugprone-random-generator-seed): the same chains each time.
  for (int i = 0; i < kChains; ++i) {
    const Contraction chain = RandomChain(random);
    const ContractionOrder order = OrderContraction(chain, ContractionGoal::kTime);
    EXPECT_EQ(order.steps.size(), chain.factors.size() - 1);
    EXPECT_NEAR(order.seconds, Search(chain).least(), order.seconds * 1e-9) << "chain " << i;
    EXPECT_NEAR(order.seconds, SecondsOfAll(chain, order), order.seconds * 1e-9) << "chain " << i;
  }
}

// Matrices a (i, j), b (j, k) and a vector (k).
Contraction TwoMatricesAndVector() {
  return {.factors = {0b0011, 0b0110, 0b0100}, .kept = 0b0001, .sizes = {100, 100, 100}};
}

TEST(ContractionOrderTest, AVectorIsMultipliedFirst) {
  const ContractionOrder order = OrderContraction(TwoMatricesAndVector(), ContractionGoal::kTime);
  ASSERT_EQ(order.steps.size(), 2);
  EXPECT_EQ(order.steps[0].left, 1);
  EXPECT_EQ(order.steps[0].right, 2);
  EXPECT_EQ(order.steps[0].indices, 0b0010);
  EXPECT_EQ(order.result, 4);
}

TEST(ContractionOrderTest, WhatIsGivenIsUsed) {
  Contraction contraction = TwoMatricesAndVector();
  contraction.given = {{.factors = 0b011, .indices = 0b0101}};
  const ContractionOrder order = OrderContraction(contraction, ContractionGoal::kTime);
  ASSERT_EQ(order.steps.size(), 1);
  EXPECT_EQ(order.steps[0].left, 3);
  EXPECT_EQ(order.steps[0].right, 2);
}

TEST(ContractionOrderTest, WhatNobodyElseNeedsIsSummedFirst) {
  // sum over i and k of a (i, j) b (j, k).
  const Contraction contraction = {
      .factors = {0b011, 0b110}, .kept = 0b000, .sizes = {100, 100, 100}};
  const ContractionOrder order = OrderContraction(contraction, ContractionGoal::kTime);
  ASSERT_EQ(order.steps.size(), 3);
  EXPECT_EQ(order.steps[0].right, ContractionStep::kNoFactor);
  EXPECT_EQ(order.steps[1].right, ContractionStep::kNoFactor);
  EXPECT_EQ(order.steps[2].indices, 0);
}

TEST(ContractionOrderTest, TheSmallestOnTheWayCountsMoreThanTime) {
  // (a b) c makes 2 x 300, a (b c) makes 300 x 3 and takes longer than its size says.
  const Contraction contraction = {
      .factors = {0b0011, 0b0110, 0b1100}, .kept = 0b1001, .sizes = {40, 2000, 300, 20}};
  const ContractionOrder order = OrderContraction(contraction, ContractionGoal::kSpace);
  EXPECT_EQ(order.largest, 12'000);
}

TEST(ContractionOrderTest, ManyFactorsGetAGoodOrder) {
  // A chain of square matrices that ends in a vector.
  Contraction chain;
  constexpr int kLength = 25;
  for (int i = 0; i < kLength; ++i) {
    chain.factors.push_back(i + 1 < kLength ? IndexSet{3} << i : IndexSet{1} << i);
  }
  chain.sizes.assign(kLength, 50);
  chain.kept = 1;
  const ContractionOrder order = OrderContraction(chain, ContractionGoal::kTime);
  EXPECT_EQ(order.largest, 50);
}

}  // namespace
}  // namespace plimsoll
