// An array inside of a loop over a batch, as the ops that make its numbers: one for each position
// along short dimensions, and none for positions along the batch.

#ifndef PLIMSOLL_KERNELS_NUMBERS_H_
#define PLIMSOLL_KERNELS_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {

// How the positions along a dimension are covered: by a number each, by the same number, or, from 0
// on, by that dimension of the batch.
inline constexpr int kEach = -1;
inline constexpr int kSame = -2;

struct Numbers {
  std::vector<int64_t> shape;
  std::vector<int> cover;  // One for each dimension; kSame where the length is 1.
  std::vector<int> ops;    // In row-major order of the dimensions covered by kEach.

  // The op at a position. Only dimensions covered by kEach count.
  int At(llvm::ArrayRef<int64_t> position) const;
};

using Position = std::vector<int64_t>;

// Asks for the op at each position; dimensions that are not covered by kEach stay at 0. Fails where
// there are too many.
StatusOr<Numbers> MakeNumbers(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> cover,
                              llvm::function_ref<StatusOr<int>(const Position&)> make);

// A cover with which both agree, of the same shape.
StatusOr<std::vector<int>> MergeCovers(llvm::ArrayRef<int> a, llvm::ArrayRef<int> b);

// The same numbers with that cover; fails if they do not fit.
StatusOr<Numbers> WithCover(const Numbers& numbers, llvm::ArrayRef<int> cover);

StatusOr<Numbers> Reshaped(const Numbers& numbers, llvm::ArrayRef<int64_t> shape);
StatusOr<Numbers> Transposed(const Numbers& numbers, llvm::ArrayRef<int64_t> permutation);
StatusOr<Numbers> Broadcast(const Numbers& numbers, llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<int64_t> dimensions);
StatusOr<Numbers> Sliced(const Numbers& numbers, llvm::ArrayRef<int64_t> starts,
                         llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> shape);
StatusOr<Numbers> Updated(const Numbers& numbers, const Numbers& update,
                          llvm::ArrayRef<int64_t> starts);
StatusOr<Numbers> Reversed(const Numbers& numbers, llvm::ArrayRef<int64_t> dimensions);
StatusOr<Numbers> Concatenated(llvm::ArrayRef<Numbers> pieces, size_t dimension);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_NUMBERS_H_
