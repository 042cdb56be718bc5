#include "kernels/cpu/pair_order.h"

#include <map>
#include <set>
#include <utility>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(PairOrder, HasEachPairOnceAndKnowsWhatCameBefore) {
  for (int64_t blocks = 0; blocks <= 13; ++blocks) {
    const PairOrder order(blocks);
    std::set<std::pair<int64_t, int64_t>> seen;
    std::map<int64_t, int64_t> count;
    for (int64_t i = 0; i < order.size(); ++i) {
      const PairOrder::Pair pair = order[i];
      ASSERT_GE(pair.first, 0);
      ASSERT_LE(pair.first, pair.second);
      ASSERT_LT(pair.second, blocks);
      ASSERT_TRUE(seen.insert({pair.first, pair.second}).second);
      ASSERT_EQ(pair.before_first, count[pair.first]) << blocks << " blocks, pair " << i;
      ASSERT_EQ(pair.before_second, count[pair.second]) << blocks << " blocks, pair " << i;
      ++count[pair.first];
      if (pair.second != pair.first) ++count[pair.second];
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), blocks * (blocks + 1) / 2);
  }
}

TEST(PairOrder, LetsHalfOfTheBlocksWorkAtOnce) {
  constexpr int64_t kBlocks = 12;
  const PairOrder order(kBlocks);
  for (int64_t round = 0; round < kBlocks - 1; ++round) {
    std::set<int64_t> busy;
    for (int64_t i = 0; i < kBlocks / 2; ++i) {
      const PairOrder::Pair pair = order[round * (kBlocks / 2) + i];
      EXPECT_TRUE(busy.insert(pair.first).second);
      EXPECT_TRUE(busy.insert(pair.second).second);
    }
  }
}

}  // namespace
}  // namespace plimsoll
