// What a cut costs in memory and time, before it is made.

#ifndef PLIMSOLL_PLAN_CUT_COST_H_
#define PLIMSOLL_PLAN_CUT_COST_H_

#include <cstdint>

#include "analysis/cut.h"
#include "llvm/ADT/DenseSet.h"

namespace plimsoll {

// How much memory chunks may take, and how large they are best.
struct ChunkOptions {
  // What a loop may take in all.
  int64_t budget = 0;
  // Chunks of about this size run fastest.
  int64_t best_bytes = 4 << 20;
  // No value of a chunk may be larger.
  int64_t most_bytes = INT64_MAX;
  // Nor any value that is made whole, even if all fits the budget.
  int64_t most_whole_bytes = INT64_MAX;
  // Whether a library that computes products copies an operand that stays whole.
  bool copies_operands = false;
  // Values smaller than this part of the budget are left alone.
  int64_t big_share = 8;
  // Values that are this much smaller than the one that is cut may be kept for it; 0: none.
  int64_t kept_share = 0;
  // Whether chunks may be too large at first, because they are cut again along another axis.
  bool cuts_again = false;
};

struct CutCost {
  // What stays whole while the loops run: accumulators, values written, values given up.
  int64_t whole_bytes = 0;
  // What lives at once in a chunk of one block, in the worst pass.
  int64_t block_bytes = 0;
  // The largest value of one block.
  int64_t largest_bytes = 0;
  // Blocks in a chunk.
  int64_t chunk = 0;
  // How far a chunk of a single block is over the budget.
  int64_t excess = 0;
  // What the program takes longer.
  double seconds = 0;
};

// `materialized` are the block's values that XLA makes in memory (peak.h), `existing` those that
// are there in any case, such as results, and `remaining` the bytes that live beside the cut.
CutCost CostOf(const Cut& cut, const ChunkOptions& options,
               const llvm::DenseSet<const Value*>& materialized,
               const llvm::DenseSet<const Value*>& existing, int64_t remaining);

}  // namespace plimsoll

#endif  // PLIMSOLL_PLAN_CUT_COST_H_
