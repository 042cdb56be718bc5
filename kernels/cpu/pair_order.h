// The order in which pairs of blocks are visited, so that no block is in two pairs at once.

#ifndef PLIMSOLL_KERNELS_CPU_PAIR_ORDER_H_
#define PLIMSOLL_KERNELS_CPU_PAIR_ORDER_H_

#include <algorithm>
#include <cstdint>

namespace plimsoll {

// Each block meets each other one once, as teams do in a tournament: in rounds, in each of which a
// block is in one pair at the most. At the end each block meets itself.
class PairOrder {
 public:
  struct Pair {
    int64_t first = 0;
    int64_t second = 0;  // Not less than the first.
    // Of the pairs that come before, how many each of the two is in.
    int64_t before_first = 0;
    int64_t before_second = 0;
  };

  explicit PairOrder(int64_t blocks) : blocks_(blocks), rounds_(blocks - 1 + blocks % 2) {}

  int64_t size() const { return blocks_ * (blocks_ + 1) / 2; }

  Pair operator[](int64_t number) const {
    const int64_t pairs = blocks_ / 2;
    if (pairs == 0 || number >= rounds_ * pairs) {
      const int64_t block = number - rounds_ * pairs;
      return {block, block, blocks_ - 1, blocks_ - 1};
    }
    const int64_t round = number / pairs;
    int64_t place = number % pairs;
    // With an odd number of blocks one has no other in each round: the one that would meet the
    // last block, which then is not there.
    const bool is_odd = blocks_ % 2 != 0;
    if (is_odd) ++place;
    int64_t first = (round + place) % rounds_;
    int64_t second = place == 0 ? blocks_ - 1 : (round - place + rounds_) % rounds_;
    if (first > second) std::swap(first, second);
    const auto before = [&](int64_t block) { return round - (is_odd && block < round ? 1 : 0); };
    return {first, second, before(first), before(second)};
  }

 private:
  int64_t blocks_;
  int64_t rounds_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_PAIR_ORDER_H_
