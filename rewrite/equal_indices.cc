#include "rewrite/equal_indices.h"

#include <string_view>
#include <utility>

#include "analysis/op_class.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

bool Compares(const Op& op, std::string_view direction) {
  return op.Is(Opcode::kCompare) && op.Get("comparison_direction").enumerator() == direction;
}

IndexedValue OperandAt(const Op& op, size_t number, const IndexedValue& element) {
  return {.value = op.operand(number), .indices = element.indices};
}

// True unless the type is too narrow for all numbers below this one.
bool Holds(Type element, int64_t size) {
  return !element.Is(TypeKind::kInteger) || element.integer_width() > 62 ||
         size <= int64_t{1} << (element.integer_width() - 1);
}

// select(i < 0, anything, i): JAX lets indices count from the end.
bool IsWrappedIndex(const Op& select, int index, const IndexedValue& element) {
  const Op* compare = select.operand(0)->defining_op();
  return compare != nullptr && Compares(*compare, "LT") && IsZero(compare->operand(1)) &&
         FindIndexNumber(OperandAt(*compare, 0, element)) == index;
}

}  // namespace

std::optional<int> FindIndexNumber(const IndexedValue& element) {
  const IndexedValue seen = SeeThrough(element);
  const Op* op = seen.value->defining_op();
  if (op == nullptr) return std::nullopt;
  switch (op->opcode()) {
    case Opcode::kIota: {
      const int64_t dimension = op->Get("iota_dimension").integer();
      const int index = seen.indices[dimension];
      const bool is_there = index != kNoIndex && Holds(seen.value->type().element_type(),
                                                       seen.value->type().shape()[dimension]);
      return is_there ? std::optional(index) : std::nullopt;
    }
    case Opcode::kAdd:
      for (const size_t other : {0, 1}) {
        if (IsZero(op->operand(other))) return FindIndexNumber(OperandAt(*op, 1 - other, seen));
      }
      return std::nullopt;
    case Opcode::kConvert: {
      const Type from = op->operand(0)->type().element_type();
      const Type to = op->result(0)->type().element_type();
      if (!from.Is(TypeKind::kInteger) || !to.Is(TypeKind::kInteger)) return std::nullopt;
      const std::optional<int> index = FindIndexNumber(OperandAt(*op, 0, seen));
      if (!index) return std::nullopt;
      const auto* place = llvm::find(seen.indices, *index);
      const int64_t size = seen.value->type().shape()[place - seen.indices.begin()];
      return Holds(to, size) ? index : std::nullopt;
    }
    case Opcode::kSelect: {
      const std::optional<int> index = FindIndexNumber(OperandAt(*op, 2, seen));
      return index && IsWrappedIndex(*op, *index, seen) ? index : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<EqualIndices> FindEqualIndices(const IndexedValue& element) {
  const IndexedValue seen = SeeThrough(element);
  const Op* op = seen.value->defining_op();
  if (op == nullptr || !Compares(*op, "EQ")) return std::nullopt;
  const std::optional<int> first = FindIndexNumber(OperandAt(*op, 0, seen));
  const std::optional<int> second = FindIndexNumber(OperandAt(*op, 1, seen));
  if (!first || !second) return std::nullopt;
  return EqualIndices{.first = *first, .second = *second};
}

std::optional<IndexedValue> FindDiagonalRead(const Op& gather, const IndexedValue& element) {
  const Attribute numbers = gather.Get("dimension_numbers");
  const auto dimensions = [&](std::string_view name) { return numbers.Find(name).integers(); };
  const llvm::ArrayRef<int64_t> read = dimensions("start_index_map");
  const llvm::ArrayRef<int64_t> offsets = dimensions("offset_dims");
  const Value& starts = *gather.operand(1);
  const Op* concatenate = starts.defining_op();
  const bool is_pair = read.size() == 2 && dimensions("collapsed_slice_dims") == read &&
                       dimensions("operand_batching_dims").empty() && concatenate != nullptr &&
                       concatenate->Is(Opcode::kConcatenate) && concatenate->operand_count() == 2;
  const auto vector_dimension = static_cast<size_t>(numbers.Find("index_vector_dim").integer());
  if (!is_pair || vector_dimension + 1 != starts.type().rank() ||
      concatenate->Get("dimension").integer() != static_cast<int64_t>(vector_dimension)) {
    return std::nullopt;
  }
  const llvm::ArrayRef<int64_t> shape = gather.operand(0)->type().shape();
  const llvm::ArrayRef<int64_t> slice = gather.Get("slice_sizes").integers();
  IndexedValue start = {.value = nullptr, .indices = {}};
  llvm::SmallVector<int> others;
  for (const auto [d, index] : llvm::enumerate(element.indices)) {
    const bool is_offset = llvm::is_contained(offsets, static_cast<int64_t>(d));
    if (is_offset) {
      others.push_back(index);
    } else {
      start.indices.push_back(index);
    }
  }
  start.indices.push_back(kNoIndex);
  std::optional<int> indices[2];
  for (const size_t i : {0, 1}) {
    start.value = concatenate->operand(i);
    indices[i] = FindIndexNumber(start);
  }
  if (!indices[0] || indices[0] != indices[1]) return std::nullopt;
  const auto* place = llvm::find(element.indices, *indices[0]);
  const int64_t length = element.value->type().shape()[place - element.indices.begin()];
  if (shape[read[0]] != length || shape[read[1]] != length) return std::nullopt;
  IndexedValue before = {.value = gather.operand(0), .indices = {}};
  size_t next = 0;
  for (const auto [d, size] : llvm::enumerate(shape)) {
    if (llvm::is_contained(read, static_cast<int64_t>(d))) {
      before.indices.push_back(*indices[0]);
      continue;
    }
    if (slice[d] != size) return std::nullopt;
    before.indices.push_back(others[next++]);
  }
  return before;
}

}  // namespace plimsoll
