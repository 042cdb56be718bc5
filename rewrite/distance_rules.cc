#include "rewrite/distance_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

// The points x and y of sum over k of (x_ik - y_jk)^2, read at the indices of what is summed.
struct Pairs {
  IndexedValue x;
  IndexedValue y;
  llvm::SmallVector<int> summed;
  // In the order of the result.
  llvm::SmallVector<int> kept;
};

// What is squared; null if the op does not square.
Value* SquaredBy(const Op& op) {
  if (op.Is(Opcode::kChloSquare)) return op.operand(0);
  if (op.Is(Opcode::kMultiply) && op.operand(0) == op.operand(1)) return op.operand(0);
  if (op.Is(Opcode::kPower) && ConstantNumber(*op.operand(1)) == 2) return op.operand(0);
  return nullptr;
}

std::optional<Pairs> FindPairs(const Op& sum) {
  const bool is_sum = sum.Is(Opcode::kReduce) && sum.result_count() == 1 &&
                      BodyOf(sum) == Opcode::kAdd && IsZero(sum.operand(1));
  if (!is_sum || !sum.result(0)->type().has_static_shape()) return std::nullopt;
  IndexedValue element = AllIndices(*sum.operand(0));
  Pairs pairs;
  for (const auto [d, index] : llvm::enumerate(element.indices)) {
    if (index == kNoIndex) continue;
    const bool is_summed =
        llvm::is_contained(sum.Get("dimensions").integers(), static_cast<int64_t>(d));
    (is_summed ? pairs.summed : pairs.kept).push_back(index);
  }
  element = SeeThrough(element);
  const Op* square = element.value->defining_op();
  if (square == nullptr) return std::nullopt;
  element.value = SquaredBy(*square);
  if (element.value == nullptr) return std::nullopt;
  element = SeeThrough(element);
  const Op* difference = element.value->defining_op();
  if (difference == nullptr || !difference->Is(Opcode::kSubtract)) return std::nullopt;
  pairs.x = SeeThrough({.value = difference->operand(0), .indices = element.indices});
  pairs.y = SeeThrough({.value = difference->operand(1), .indices = element.indices});
  const auto has_own = [&](const IndexedValue& point, const IndexedValue& other) {
    return llvm::any_of(pairs.kept, [&](int k) { return point.Has(k) && !other.Has(k); });
  };
  const bool has_sums = llvm::all_of(
      pairs.summed, [&](int index) { return pairs.x.Has(index) && pairs.y.Has(index); });
  if (pairs.summed.empty() || !has_sums || !has_own(pairs.x, pairs.y) ||
      !has_own(pairs.y, pairs.x)) {
    return std::nullopt;
  }
  return pairs;
}

// Whether the squares, products and their sums are exact, so that what is left of their difference
// is exact as well.
bool IsExact(RuleScope& scope, const Pairs& pairs) {
  const Type element = pairs.x.value->type().element_type();
  // Integers wrap around in both forms.
  if (element.Is(TypeKind::kInteger)) return true;
  if (!element.Is(TypeKind::kFloat)) return false;
  double most = 0;
  for (const Value* points : {pairs.x.value, pairs.y.value}) {
    if (!scope.properties().Has(*points, Property::kIntegerValued)) return false;
    const std::optional<Bounds> bounds = scope.properties().BoundsOf(*points);
    if (!bounds) return false;
    most = std::max({most, std::abs(bounds->least), std::abs(bounds->most)});
  }
  double length = 1;
  const Type type = pairs.x.value->type();
  for (const auto [d, index] : llvm::enumerate(pairs.x.indices)) {
    if (llvm::is_contained(pairs.summed, index)) length *= static_cast<double>(type.shape()[d]);
  }
  const int digits =
      static_cast<int>(llvm::APFloat::semanticsPrecision(FloatSemantics(element.float_kind())));
  // The sum of both squares and twice the product.
  return 4 * most * most * length <= std::ldexp(1.0, digits);
}

// Sums of squares, at the indices that are not summed over.
IndexedValue SquaredNorms(Builder& builder, const IndexedValue& points, const Pairs& pairs) {
  llvm::SmallVector<int64_t> dimensions;
  IndexedValue norms;
  for (const auto [d, index] : llvm::enumerate(points.indices)) {
    if (llvm::is_contained(pairs.summed, index)) {
      dimensions.push_back(static_cast<int64_t>(d));
    } else {
      norms.indices.push_back(index);
    }
  }
  const Type scalar = builder.context().TensorType({}, points.value->type().element_type());
  norms.value = builder.Reduce(builder.Multiply(points.value, points.value),
                               builder.Constant(scalar, 0), dimensions, Opcode::kAdd);
  return norms;
}

IndexedValue Products(Builder& builder, const Pairs& pairs) {
  DotDimensions dimensions;
  IndexedValue products;
  llvm::SmallVector<int> free;
  for (const auto [d, index] : llvm::enumerate(pairs.x.indices)) {
    const auto* place =
        index == kNoIndex ? pairs.y.indices.end() : llvm::find(pairs.y.indices, index);
    if (place == pairs.y.indices.end()) {
      free.push_back(index);
      continue;
    }
    const bool is_summed = llvm::is_contained(pairs.summed, index);
    (is_summed ? dimensions.left_contracted : dimensions.left_batch)
        .push_back(static_cast<int64_t>(d));
    (is_summed ? dimensions.right_contracted : dimensions.right_batch)
        .push_back(place - pairs.y.indices.begin());
    if (!is_summed) products.indices.push_back(index);
  }
  products.indices.append(free);
  for (const int index : pairs.y.indices) {
    if (index == kNoIndex || !pairs.x.Has(index)) products.indices.push_back(index);
  }
  products.value = builder.DotGeneral(pairs.x.value, pairs.y.value, dimensions);
  return products;
}

Builder::Values ExpandDistance(RuleScope& scope) {
  Op& op = scope.op();
  const std::optional<Pairs> pairs = FindPairs(op);
  if (!pairs) return {};
  if (!IsExact(scope, *pairs)) {
    return scope.Refuse(
        "points may be far from the origin and close to each other, and the difference of large "
        "squares would lose digits");
  }
  Builder& builder = scope.builder();
  const Type type = op.result(0)->type();
  llvm::SmallVector<int64_t> sizes;
  for (const int64_t size : type.shape()) {
    if (size != 1) sizes.push_back(size);
  }
  const auto arranged = [&](const IndexedValue& part) {
    return Arrange(builder, part, pairs->kept, sizes);
  };
  Value* squares = builder.Add(arranged(SquaredNorms(builder, pairs->x, *pairs)),
                               arranged(SquaredNorms(builder, pairs->y, *pairs)));
  Value* products = arranged(Products(builder, *pairs));
  Value* distances = builder.Subtract(squares, builder.Add(products, products));
  return {sizes.size() == type.rank() ? distances : builder.Reshape(distances, type.shape())};
}

constexpr Rule kRules[] = {
    {.name = "distance_expand",
     .pattern = "sum_k (x_ik - y_jk)²",
     .result = "sum_k x_ik² + sum_k y_jk² - 2 sum_k x_ik y_jk",
     .guard = "integers, or floats that are known to be whole numbers small enough for exact sums: "
              "with others the difference of large squares would lose digits, and the difference "
              "of points is kept and streamed",
     .numerics = Numerics::kReassociates,
     .rewrite = ExpandDistance},
};

}  // namespace

llvm::ArrayRef<Rule> DistanceRules() { return kRules; }

}  // namespace plimsoll
