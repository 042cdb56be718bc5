// Loops of a few turns over large integers, such as the rounds of random bits, as ops that kernels
// can take in.

#ifndef PLIMSOLL_KERNELS_UNROLL_ROUNDS_H_
#define PLIMSOLL_KERNELS_UNROLL_ROUNDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/context.h"
#include "ir/graph.h"

namespace plimsoll {

// Turns of a loop, one after the other in its place. XLA may take minutes to compile such a chain,
// because it makes each number anew for whoever reads it: what no kernel takes in is to be a loop
// again.
class UnrolledRounds {
 public:
  explicit UnrolledRounds(Context& context) : context_(context) {}
  UnrolledRounds(const UnrolledRounds&) = delete;
  UnrolledRounds& operator=(const UnrolledRounds&) = delete;

  // True for a loop that is known to end after a few turns, which change each integer by itself.
  // One of its results has so many bytes or more.
  static bool CanUnroll(const Op& loop, int64_t least_bytes);

  // False, and all is as it was, if it is not known when the loop ends.
  bool Unroll(Op& loop);

  // Gives the loops that are there again. Ops may have been erased and moved in the meantime.
  std::vector<Op*> RollUp();

 private:
  struct Loop {
    Block* block = nullptr;
    // Not in the block, so that nothing of the program seems to use its operands.
    std::unique_ptr<Op> op;
    std::vector<Op*> copies;
  };
  // What one of the copies is.
  struct Mark {
    size_t loop = 0;
    std::vector<size_t> results;  // Those of the loop that it gives.
  };

  Attribute NewMark(Mark mark);
  const Mark* MarkOf(const Op& op) const;
  void GiveBackUsers(Block& block);

  Context& context_;
  std::vector<Loop> loops_;
  std::vector<Mark> marks_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_UNROLL_ROUNDS_H_
