#include "rewrite/one_hot.h"

#include <algorithm>
#include <utility>

#include "analysis/indexing.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "rewrite/equal_indices.h"

namespace plimsoll {
namespace {

bool HasIndexTwice(const IndexedValue& element) {
  llvm::SmallDenseSet<int> seen;
  return llvm::any_of(element.indices,
                      [&](int index) { return index != kNoIndex && !seen.insert(index).second; });
}

std::optional<OneHot> FromLabels(IndexedValue labels, int index, bool is_clamped) {
  labels = SeeThrough(std::move(labels));
  const Type element = labels.value->type().element_type();
  if (index == kNoIndex || labels.Has(index) || HasIndexTwice(labels) ||
      !element.Is(TypeKind::kInteger) || element.integer_width() < 8) {
    return std::nullopt;
  }
  // The nearest to what is too large for a signed integer would not be the last one.
  if (is_clamped && element.signedness() == Signedness::kUnsigned &&
      element.integer_width() >= 32) {
    return std::nullopt;
  }
  // Two indices that are equal are a diagonal.
  if (FindIndexNumber(labels)) return std::nullopt;
  return OneHot{.labels = std::move(labels), .index = index, .is_clamped = is_clamped};
}

std::optional<OneHot> FromCompare(const Op& op, const IndexedValue& element) {
  if (op.Get("comparison_direction").enumerator() != "EQ") return std::nullopt;
  for (const size_t side : {0, 1}) {
    const std::optional<int> index =
        FindIndexNumber({.value = op.operand(side), .indices = element.indices});
    if (!index) continue;
    return FromLabels({.value = op.operand(1 - side), .indices = element.indices}, *index,
                      /*is_clamped=*/false);
  }
  return std::nullopt;
}

// True for matrices that are 1 where row and column are equal.
bool IsIdentity(Value& matrix) {
  const Op* op = matrix.defining_op();
  const bool is_converted = op != nullptr && op->Is(Opcode::kConvert);
  return FindEqualIndices(AllIndices(is_converted ? *op->operand(0) : matrix)).has_value();
}

// Rows or columns of the identity.
std::optional<OneHot> FromGather(const Op& op, const IndexedValue& element) {
  Value& identity = *op.operand(0);
  const Indexing indexing = IndexingOf(op);
  if (identity.type().rank() != 2 || !op.operand(1)->type().has_static_shape() ||
      indexing.index_map.size() != 1 || indexing.collapsed_dims != indexing.index_map ||
      indexing.window_dims.size() != 1 || !IsIdentity(identity)) {
    return std::nullopt;
  }
  const llvm::ArrayRef<int64_t> shape = identity.type().shape();
  const int64_t other = 1 - indexing.index_map.front();
  if (shape[0] != shape[1] || op.Get("slice_sizes").integers()[other] != shape[other]) {
    return std::nullopt;
  }
  IndexedValue labels = {.value = op.operand(1), .indices = {}};
  for (const int dimension : indexing.BatchDimensions(labels.value->type().rank())) {
    labels.indices.push_back(dimension < 0 ? kNoIndex : element.indices[dimension]);
  }
  return FromLabels(std::move(labels), element.indices[indexing.window_dims.front()],
                    /*is_clamped=*/true);
}

}  // namespace

std::optional<OneHot> FindOneHot(const IndexedValue& element) {
  const IndexedValue seen = SeeThrough(element);
  const Op* op = seen.value->defining_op();
  if (op == nullptr) return std::nullopt;
  switch (op->opcode()) {
    case Opcode::kConvert:
      return FindOneHot({.value = op->operand(0), .indices = seen.indices});
    case Opcode::kSelect:
      if (op->operand(0)->type().rank() != seen.indices.size() ||
          ConstantNumber(*op->operand(2)) != 0 || ConstantNumber(*op->operand(1)) != 1) {
        return std::nullopt;
      }
      return FindOneHot({.value = op->operand(0), .indices = seen.indices});
    case Opcode::kCompare:
      return FromCompare(*op, seen);
    case Opcode::kGather:
      return FromGather(*op, seen);
    default:
      return std::nullopt;
  }
}

Value* WidenLabels(Builder& builder, Value* labels) {
  // Sizes may be more than narrow integers hold; and what is too large for the signed ones of the
  // same width becomes negative, which is out of range as well.
  const Type element = labels->type().element_type();
  const Type wanted = builder.context().IntegerType(std::max(32U, element.integer_width()));
  return element == wanted ? labels : builder.Convert(labels, wanted);
}

}  // namespace plimsoll
