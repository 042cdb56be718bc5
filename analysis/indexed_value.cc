#include "analysis/indexed_value.h"

#include <cstddef>
#include <utility>

#include "ir/elements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace plimsoll {
namespace {

// The same indices for the dimensions that are left when those of one element are taken away and
// put elsewhere; nothing if the reshape does more.
std::optional<IndexedValue> ThroughReshape(const IndexedValue& element, Value& operand) {
  const llvm::ArrayRef<int64_t> from = operand.type().shape();
  const llvm::ArrayRef<int64_t> to = element.value->type().shape();
  IndexedValue before = {.value = &operand, .indices = {}};
  size_t next = 0;
  for (const int64_t size : from) {
    if (size == 1) {
      before.indices.push_back(kNoIndex);
      continue;
    }
    while (next < to.size() && to[next] == 1) ++next;
    if (next == to.size() || to[next] != size) return std::nullopt;
    before.indices.push_back(element.indices[next++]);
  }
  while (next < to.size() && to[next] == 1) ++next;
  if (next != to.size()) return std::nullopt;
  return before;
}

}  // namespace

bool IndexedValue::Has(int index) const { return llvm::is_contained(indices, index); }

IndexedValue AllIndices(Value& value) {
  IndexedValue element = {.value = &value, .indices = {}};
  for (const auto [dimension, size] : llvm::enumerate(value.type().shape())) {
    element.indices.push_back(size == 1 ? kNoIndex : static_cast<int>(dimension));
  }
  return element;
}

std::optional<IndexedValue> SeeThroughOne(const IndexedValue& element) {
  const Op* op = element.value->defining_op();
  if (op == nullptr) return std::nullopt;
  switch (op->opcode()) {
    case Opcode::kTranspose: {
      IndexedValue before = {.value = op->operand(0), .indices = element.indices};
      for (const auto [to, from] : llvm::enumerate(op->Get("permutation").integers())) {
        before.indices[from] = element.indices[to];
      }
      return before;
    }
    case Opcode::kBroadcastInDim: {
      IndexedValue before = {.value = op->operand(0), .indices = {}};
      const llvm::ArrayRef<int64_t> shape = op->operand(0)->type().shape();
      for (const auto [from, to] : llvm::enumerate(op->Get("broadcast_dimensions").integers())) {
        before.indices.push_back(shape[from] == 1 ? kNoIndex : element.indices[to]);
      }
      return before;
    }
    case Opcode::kReshape:
      return ThroughReshape(element, *op->operand(0));
    default:
      return std::nullopt;
  }
}

IndexedValue SeeThrough(IndexedValue element) {
  while (std::optional<IndexedValue> before = SeeThroughOne(element)) element = *std::move(before);
  return element;
}

Value* Arrange(Builder& builder, const IndexedValue& element, llvm::ArrayRef<int> indices,
               llvm::ArrayRef<int64_t> sizes) {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> dimensions;
  const llvm::ArrayRef<int64_t> from = element.value->type().shape();
  for (const auto [dimension, index] : llvm::enumerate(element.indices)) {
    if (index == kNoIndex) continue;
    shape.push_back(from[dimension]);
    dimensions.push_back(llvm::find(indices, index) - indices.begin());
  }
  Value* value = element.value;
  if (shape.size() != from.size()) value = builder.Reshape(value, shape);
  if (!llvm::is_sorted(dimensions)) {
    llvm::SmallVector<int64_t> permutation =
        llvm::to_vector(llvm::seq(static_cast<int64_t>(shape.size())));
    llvm::sort(permutation, [&](int64_t a, int64_t b) { return dimensions[a] < dimensions[b]; });
    value = builder.Transpose(value, permutation);
    llvm::sort(dimensions);
  }
  if (dimensions.size() == sizes.size()) return value;
  return builder.BroadcastInDim(value, sizes, dimensions);
}

std::optional<double> ConstantNumber(const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr) return std::nullopt;
  switch (op->opcode()) {
    case Opcode::kConstant: {
      const Attribute constant = op->Get("value");
      if (!constant.Is(AttributeKind::kDenseElements)) return std::nullopt;
      const bool is_one = constant.is_splat() || value.type().element_count() == 1;
      if (!is_one) return std::nullopt;
      return DecodeElement(value.type().element_type(), constant.bytes());
    }
    case Opcode::kBroadcastInDim:
    case Opcode::kReshape:
    case Opcode::kTranspose:
      return ConstantNumber(*op->operand(0));
    case Opcode::kConvert: {
      const std::optional<double> number = ConstantNumber(*op->operand(0));
      const Type element = value.type().element_type();
      if (!number) return std::nullopt;
      // As the conversion rounds it.
      const std::optional<std::string> bytes = EncodeElement(element, *number);
      if (!bytes) return std::nullopt;
      return DecodeElement(element, *bytes);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace plimsoll
