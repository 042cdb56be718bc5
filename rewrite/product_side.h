// What a product of two operands does to the dimensions of each of them.

#ifndef PLIMSOLL_REWRITE_PRODUCT_SIDE_H_
#define PLIMSOLL_REWRITE_PRODUCT_SIDE_H_

#include <cstddef>
#include <cstdint>

#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// One operand of a stablehlo.dot_general.
struct ProductSide {
  Value* value = nullptr;
  llvm::ArrayRef<int64_t> batch;
  llvm::ArrayRef<int64_t> contracted;

  // The dimensions that are neither, which the result has.
  llvm::SmallVector<int64_t> Free() const;
};

ProductSide ProductSideOf(const Op& product, size_t operand);

// Matrices of which one dimension is summed over, and all before are batches.
bool IsMatrixSide(const ProductSide& side);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_PRODUCT_SIDE_H_
