// Recognises the loop that JAX makes of the swaps of rows that an LU factorisation asks for.

#ifndef PLIMSOLL_REWRITE_MATCH_PIVOTS_H_
#define PLIMSOLL_REWRITE_MATCH_PIVOTS_H_

#include <cstdint>
#include <optional>

#include "ir/graph.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// Row numbers that come from an LU factorisation.
struct RowOrder {
  Op* factorization = nullptr;
  // Element i is the row that is row i after all swaps.
  Value* order = nullptr;
  // What was asked about is the inverse of `order`: where each row went.
  bool is_inverse = false;
};

// Of indices of rows, as a gather has them: of shape (batches..., rows), or with one dimension more
// of one element.
std::optional<RowOrder> RowOrderOf(Value& indices);

// A loop that brings row numbers into order by swaps, and does nothing else.
struct SwapLoop {
  enum class Role : uint8_t { kUnchanged, kCounter };

  Value* pivots = nullptr;  // From 1.
  int64_t rows = 0;
  // What each result is if no rows are swapped: what it was at first, or the number of rows.
  llvm::SmallVector<Role> without_swaps;
};
std::optional<SwapLoop> SwapLoopOf(const Op& loop);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_MATCH_PIVOTS_H_
