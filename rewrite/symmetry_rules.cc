#include "rewrite/symmetry_rules.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analysis/linear_algebra.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/product_side.h"

namespace plimsoll {
namespace {

Builder::Values SymmetricTranspose(RuleScope& scope) {
  const Op& op = scope.op();
  if (!SwapsLastTwo(op) || !scope.properties().Has(*op.operand(0), Property::kSymmetric)) return {};
  return {op.operand(0)};
}

// Where the symmetric matrices are among the operands of `other`, if it gives the elements that
// `product` gives.
std::optional<size_t> SameElements(const Op& product, size_t symmetric, const Op& other) {
  if (!other.Is(Opcode::kDotGeneral) ||
      other.Get("precision_config") != product.Get("precision_config") ||
      other.result(0)->type().element_type() != product.result(0)->type().element_type()) {
    return std::nullopt;
  }
  const ProductSide sides = ProductSideOf(product, 1 - symmetric);
  for (const size_t i : {symmetric, 1 - symmetric}) {
    const ProductSide matrix = ProductSideOf(other, i);
    const ProductSide other_sides = ProductSideOf(other, 1 - i);
    if (matrix.value == product.operand(symmetric) && IsMatrixSide(matrix) &&
        other_sides.value == sides.value && other_sides.batch == sides.batch &&
        other_sides.contracted == sides.contracted) {
      return i;
    }
  }
  return std::nullopt;
}

// The result of a product whose operands are the other way round: batches, then what the left one
// has left, then what the right one has.
Value* WithOperandsSwapped(Builder& builder, const Op& product) {
  const auto rank = static_cast<int64_t>(product.result(0)->type().rank());
  const ProductSide left = ProductSideOf(product, 0);
  const auto batches = static_cast<int64_t>(left.batch.size());
  const auto of_left = static_cast<int64_t>(left.value->type().rank()) - batches -
                       static_cast<int64_t>(left.contracted.size());
  llvm::SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq(batches));
  llvm::append_range(permutation, llvm::seq(batches + of_left, rank));
  llvm::append_range(permutation, llvm::seq(batches, batches + of_left));
  if (llvm::equal(permutation, llvm::seq(rank))) return product.result(0);
  return builder.Transpose(product.result(0), permutation);
}

// A' x where A x is there already.
Builder::Values SymmetricProduct(RuleScope& scope) {
  const Op& op = scope.op();
  if (!op.Is(Opcode::kDotGeneral)) return {};
  for (const size_t i : {0, 1}) {
    Value& matrix = *op.operand(i);
    if (!IsMatrixSide(ProductSideOf(op, i)) || matrix.has_one_use()) continue;
    for (const Op* other : matrix.users()) {
      if (other == &op || other->block() != op.block()) continue;
      const std::optional<size_t> place = SameElements(op, i, *other);
      if (!place || !other->IsBefore(op) || !scope.properties().Has(matrix, Property::kSymmetric)) {
        continue;
      }
      return {*place == i ? other->result(0) : WithOperandsSwapped(scope.builder(), *other)};
    }
  }
  return {};
}

constexpr Rule kRules[] = {
    {.name = "symmetric_transpose",
     .pattern = "A' of a symmetric A",
     .result = "A",
     .guard = "A is known to be symmetric",
     .numerics = Numerics::kRewrites,
     .rewrite = SymmetricTranspose},
    {.name = "symmetric_product",
     .pattern = "A' x or x' A of a symmetric A where A x is computed as well, as in gradients",
     .result = "A x",
     .guard = "A is known to be symmetric",
     .numerics = Numerics::kRewrites,
     .rewrite = SymmetricProduct},
};

}  // namespace

llvm::ArrayRef<Rule> SymmetryRules() { return kRules; }

}  // namespace plimsoll
