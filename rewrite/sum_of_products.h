// A value as a sum of products: products of matrices, multiplications, sums, diagonals and traces
// in one form, in which their order is free.

#ifndef PLIMSOLL_REWRITE_SUM_OF_PRODUCTS_H_
#define PLIMSOLL_REWRITE_SUM_OF_PRODUCTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// A value whose dimensions are read at indices. A dimension may have several indices, of which the
// last moves fastest: it was made of as many by a reshape. It has none if it is of one element. Two
// dimensions with the same index are a diagonal.
struct ProductFactor {
  Value* value = nullptr;
  llvm::SmallVector<llvm::SmallVector<int, 2>, 4> indices;

  bool Has(int index) const {
    return llvm::any_of(
        indices, [&](const auto& dimension) { return llvm::is_contained(dimension, index); });
  }
};

// A value on the way that others use as well: it is there anyway.
struct GivenProduct {
  ProductFactor factor;
  // The factors that it is the product of: so many from the first on.
  size_t first = 0;
  size_t count = 0;
  double scale = 1;
  // Those of its indices that none of these factors has: it was broadcast along them.
  llvm::SmallVector<int, 2> repeated;
};

// result[kept indices] = scale * sum over the other indices of the product of all factors.
struct SumOfProducts {
  std::vector<ProductFactor> factors;
  double scale = 1;
  // By index.
  std::vector<int64_t> sizes;
  // Of the result's dimensions. Of its value, only the elements' type matters.
  ProductFactor result;
  std::vector<GivenProduct> given;
  // The ops that were taken apart, the result's own first.
  std::vector<Op*> ops;
  // What products say of their precision; null if none says anything.
  Attribute precision;
};

// Which ops are taken apart.
struct ProductViews {
  // Products with the identity, diagonals and traces.
  bool diagonals = true;
  // Reshapes that take dimensions apart or put them together, as Kronecker products do.
  bool reshapes = true;
  // What is 0 but where an index is equal to a number (one_hot.h). The condition is a factor of
  // booleans then.
  bool selections = false;
  // Products and sums that others use as well.
  bool shared = true;
  // Floats that lose too much if they are rounded in between.
  bool narrow_floats = false;
};

// Takes the op's result apart, down to values that are not products or sums of one: at most a
// dozen factors. Nothing if it is not such an op.
std::optional<SumOfProducts> CollectProducts(Op& op, const ProductViews& views);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SUM_OF_PRODUCTS_H_
