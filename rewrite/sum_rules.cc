#include "rewrite/sum_rules.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/indexed_value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/make_solve.h"
#include "rewrite/pieces.h"
#include "rewrite/product_side.h"

namespace plimsoll {
namespace {

// Two matrices of which the sum is no smaller than either: products with them cannot cancel more
// than the product with their sum.
bool CannotCancel(Properties& properties, const Value& a, const Value& b) {
  return llvm::any_of(llvm::ArrayRef{Property::kPositiveSemidefinite, Property::kNonNegative},
                      [&](Property property) {
                        return properties.Has(a, property) && properties.Has(b, property);
                      });
}

// A product with a matrix, of which `matrix` is the place among the operands.
struct MatrixProduct {
  const Op& op;
  size_t matrix;
  ProductSide rows;
  ProductSide sides;
};

// The sides with rows scaled by the diagonals of matrices, laid out as the product is.
Value* TimesDiagonals(Builder& builder, const MatrixProduct& product, Value* matrices) {
  const ProductSide& sides = product.sides;
  llvm::SmallVector<int64_t> places(sides.batch);
  places.push_back(sides.contracted[0]);
  Value* scales =
      builder.BroadcastInDim(Diagonals(builder, matrices), sides.value->type().shape(), places);
  Value* scaled = builder.Multiply(sides.value, scales);
  llvm::SmallVector<int64_t> permutation(sides.batch);
  if (product.matrix == 0) permutation.push_back(sides.contracted[0]);
  llvm::append_range(permutation, sides.Free());
  if (product.matrix == 1) permutation.push_back(sides.contracted[0]);
  if (llvm::equal(permutation, llvm::seq(static_cast<int64_t>(permutation.size())))) return scaled;
  return builder.Transpose(scaled, permutation);
}

// The same for a matrix that is a product of thin ones, without batches.
Value* TimesFactors(Builder& builder, const MatrixProduct& product, const LowRank& factors) {
  const ProductSide& sides = product.sides;
  const Attribute precision = product.op.Get("precision_config");
  const bool sums_columns = product.rows.contracted[0] == 1;
  Value* near = sums_columns ? factors.right : factors.left;
  Value* far = sums_columns ? factors.left : factors.right;
  const auto near_rank =
      static_cast<int64_t>(sums_columns ? factors.right_dimension : factors.left_dimension);
  const auto far_rank =
      static_cast<int64_t>(sums_columns ? factors.left_dimension : factors.right_dimension);
  if (product.matrix == 0) {
    Value* thin = builder.DotGeneral(
        near, sides.value,
        {.left_contracted = {1 - near_rank}, .right_contracted = {sides.contracted[0]}}, {},
        precision);
    return builder.DotGeneral(far, thin, {.left_contracted = {far_rank}, .right_contracted = {0}},
                              {}, precision);
  }
  Value* thin = builder.DotGeneral(
      sides.value, near,
      {.left_contracted = {sides.contracted[0]}, .right_contracted = {1 - near_rank}}, {},
      precision);
  if (thin == nullptr) return nullptr;
  const auto last = static_cast<int64_t>(thin->type().rank()) - 1;
  return builder.DotGeneral(thin, far, {.left_contracted = {last}, .right_contracted = {far_rank}},
                            {}, precision);
}

// What depends on one of two indices alone, as a vector; null if it does not.
Value* VectorAlong(Builder& builder, Value& operand, int index) {
  const IndexedValue element = SeeThrough(AllIndices(operand));
  const bool is_vector =
      llvm::all_of(element.indices, [&](int i) { return i == kNoIndex || i == index; });
  if (!is_vector) return nullptr;
  return Arrange(builder, element, {index}, {operand.type().shape()[index]});
}

// An outer product of two vectors, as a matrix of one column times one of one row.
std::optional<LowRank> OuterProductOf(Builder& builder, const Value& matrix) {
  const Op* product = matrix.defining_op();
  if (product == nullptr || !product->Is(Opcode::kMultiply)) return std::nullopt;
  for (const size_t i : {0, 1}) {
    Value* column = VectorAlong(builder, *product->operand(i), 0);
    Value* row = VectorAlong(builder, *product->operand(1 - i), 1);
    if (column == nullptr || row == nullptr) continue;
    const llvm::ArrayRef<int64_t> shape = matrix.type().shape();
    return LowRank{.left = builder.Reshape(column, {shape[0], 1}),
                   .right = builder.Reshape(row, {1, shape[1]}),
                   .left_dimension = 1,
                   .right_dimension = 0};
  }
  return std::nullopt;
}

std::optional<LowRank> FactorsOf(RuleScope& scope, const Value& matrix) {
  if (matrix.type().rank() != 2) return std::nullopt;
  const std::optional<LowRank> factors = scope.properties().LowRankOf(matrix);
  return factors ? factors : OuterProductOf(scope.builder(), matrix);
}

// (A + B) x as A x + B x, where B x is cheap without B.
Builder::Values ProductOfSum(RuleScope& scope) {
  const Op& op = scope.op();
  if (!op.Is(Opcode::kDotGeneral) || !op.result(0)->type().has_static_shape()) return {};
  Properties& properties = scope.properties();
  Builder& builder = scope.builder();
  const Type element = op.result(0)->type().element_type();
  for (const size_t i : {0, 1}) {
    const MatrixProduct product = {
        .op = op, .matrix = i, .rows = ProductSideOf(op, i), .sides = ProductSideOf(op, 1 - i)};
    const Op* sum = op.operand(i)->defining_op();
    if (sum == nullptr || !sum->Is(Opcode::kAdd) || !IsMatrixSide(product.rows) ||
        op.operand(0)->type().element_type() != element ||
        op.operand(1)->type().element_type() != element) {
      continue;
    }
    for (const size_t part : {0, 1}) {
      Value& special = *sum->operand(part);
      Value& other = *sum->operand(1 - part);
      const std::optional<LowRank> factors = FactorsOf(scope, special);
      if (!factors && !properties.Has(special, Property::kDiagonal)) continue;
      if (!CannotCancel(properties, special, other)) {
        return scope.Refuse("the matrices that are added might cancel");
      }
      Value* extra = factors ? TimesFactors(builder, product, *factors)
                             : TimesDiagonals(builder, product, &special);
      Value* operands[2] = {op.operand(0), op.operand(1)};
      operands[i] = &other;
      Value* rest = CloneElementwise(builder, op, operands, op.result(0)->type().shape());
      if (extra == nullptr || rest == nullptr) return {};
      return {builder.Add(rest, extra)};
    }
  }
  return {};
}

constexpr Rule kRules[] = {
    {.name = "product_of_sum",
     .pattern = "(A + diag(d)) x, (A + s I) x, (A + U V') x",
     .result = "A x + d x, A x + s x, A x + U (V' x)",
     .guard = "both matrices are positive semidefinite, or have no negative elements: they cannot "
              "cancel",
     .numerics = Numerics::kRewrites,
     .rewrite = ProductOfSum},
};

}  // namespace

llvm::ArrayRef<Rule> SumRules() { return kRules; }

}  // namespace plimsoll
