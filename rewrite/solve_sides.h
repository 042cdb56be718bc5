// Right-hand sides of linear equations: from what a program has to what a solve wants, and back.

#ifndef PLIMSOLL_REWRITE_SOLVE_SIDES_H_
#define PLIMSOLL_REWRITE_SOLVE_SIDES_H_

#include <cstddef>
#include <cstdint>

#include "analysis/indexed_value.h"
#include "ir/builder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

class SolveSides {
 public:
  // `sizes` are those of all indices. Batches of one element may have no index.
  SolveSides(Builder& builder, llvm::ArrayRef<int> batches, llvm::ArrayRef<int64_t> sizes)
      : builder_(builder), batches_(batches), sizes_(sizes) {}

  // As matrices (batches..., rows, columns). The element has no other indices than those of
  // batches, of the row, and of `columns`.
  Value* ToMatrices(const IndexedValue& element, int row, llvm::ArrayRef<int> columns) const;

  // From such matrices to a value of the type `result`, whose dimensions have the indices 0, 1, 2,
  // ... Null if `matrices` is.
  Value* FromMatrices(Value* matrices, int row, llvm::ArrayRef<int> columns, Type result) const;

 private:
  llvm::SmallVector<int> Order(int row, llvm::ArrayRef<int> columns) const;
  llvm::SmallVector<int64_t> SizesOf(llvm::ArrayRef<int> order) const;

  Builder& builder_;
  llvm::ArrayRef<int> batches_;
  llvm::ArrayRef<int64_t> sizes_;
};

// The indices of an element that are those of columns: not of the row and not of batches.
llvm::SmallVector<int> ColumnsOf(const IndexedValue& element, int row, llvm::ArrayRef<int> batches);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SOLVE_SIDES_H_
