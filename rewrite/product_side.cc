#include "rewrite/product_side.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace plimsoll {

llvm::SmallVector<int64_t> ProductSide::Free() const {
  llvm::SmallVector<int64_t> dimensions;
  for (const int64_t d : llvm::seq(static_cast<int64_t>(value->type().rank()))) {
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracted, d)) {
      dimensions.push_back(d);
    }
  }
  return dimensions;
}

ProductSide ProductSideOf(const Op& product, size_t operand) {
  const Attribute numbers = product.Get("dot_dimension_numbers");
  const bool is_left = operand == 0;
  return {
      .value = product.operand(operand),
      .batch =
          numbers.Find(is_left ? "lhs_batching_dimensions" : "rhs_batching_dimensions").integers(),
      .contracted =
          numbers.Find(is_left ? "lhs_contracting_dimensions" : "rhs_contracting_dimensions")
              .integers()};
}

bool IsMatrixSide(const ProductSide& side) {
  const auto rank = static_cast<int64_t>(side.value->type().rank());
  return rank >= 2 && side.contracted.size() == 1 && side.contracted[0] >= rank - 2 &&
         llvm::equal(side.batch, llvm::seq(rank - 2));
}

}  // namespace plimsoll
