#include "rewrite/match_pivots.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/indexed_value.h"
#include "analysis/indexing.h"
#include "analysis/linear_algebra.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

bool IsNumber(const Value& value, double number) { return ConstantNumber(value) == number; }

bool Compares(const Op& op, std::string_view direction) {
  return op.Is(Opcode::kCompare) && op.Get("comparison_direction").enumerator() == direction;
}

// A change of type that keeps the numbers from 0 to any size.
bool KeepsIndices(const Op& convert) {
  const auto is_wide = [](const Value& value) {
    const Type element = value.type().element_type();
    return element.Is(TypeKind::kInteger) && element.integer_width() >= 32;
  };
  return is_wide(*convert.operand(0)) && is_wide(*convert.result(0));
}

// True if a reshape or a broadcast adds or removes dimensions of one element, no more.
bool KeepsOthers(const Op& op) {
  const auto others = [](const Value& value) {
    return llvm::to_vector(
        llvm::make_filter_range(value.type().shape(), [](int64_t size) { return size != 1; }));
  };
  if (others(*op.operand(0)) != others(*op.result(0))) return false;
  return op.Is(Opcode::kReshape) || llvm::is_sorted(op.Get("broadcast_dimensions").integers());
}

// select(x < 0, x + size, x): null if it is none.
Value* Unwrapped(const Op& select) {
  Value* plain = select.operand(2);
  const Op* is_negative = select.operand(0)->defining_op();
  const Op* from_end = select.operand(1)->defining_op();
  if (is_negative == nullptr || !Compares(*is_negative, "LT") || is_negative->operand(0) != plain ||
      !IsNumber(*is_negative->operand(1), 0)) {
    return nullptr;
  }
  if (from_end == nullptr || !from_end->Is(Opcode::kAdd) ||
      !ConstantNumber(*from_end->operand(1))) {
    return nullptr;
  }
  return plain;
}

// The value without what JAX does to allow for negative indices, which count from the end, and
// without changes of type and dimensions of one element.
Value& WithoutWrapping(Value& indices) {
  Value* value = &indices;
  while (const Op* op = value->defining_op()) {
    const bool is_other_form =
        (op->Is(Opcode::kConvert) && KeepsIndices(*op)) ||
        ((op->Is(Opcode::kReshape) || op->Is(Opcode::kBroadcastInDim)) && KeepsOthers(*op));
    Value* before = is_other_form             ? op->operand(0)
                    : op->Is(Opcode::kSelect) ? Unwrapped(*op)
                                              : nullptr;
    if (before == nullptr) break;
    value = before;
  }
  return *value;
}

// One element of each row of an array of shape (batches..., size).
struct Element {
  Value* array = nullptr;
  Value* index = nullptr;  // One for all batches, or one for each.
};

bool IsAllButLast(llvm::ArrayRef<int64_t> dimensions, size_t rank) {
  return llvm::equal(dimensions, llvm::seq<int64_t>(0, static_cast<int64_t>(rank) - 1));
}

// Whether the op reads or writes one element along the last dimension of an array of that shape,
// either at the same index in all batches or at one index for each.
bool IsAtOneElement(const Op& op, const Value& array, const Value& indices) {
  const Indexing indexing = IndexingOf(op);
  const size_t rank = array.type().rank();
  const std::optional<int64_t> count = array.type().element_count();
  if (rank == 0 || !count || *count == 0) return false;
  const auto last = static_cast<int64_t>(rank) - 1;
  if (!llvm::equal(indexing.index_map, llvm::ArrayRef<int64_t>(last))) return false;
  if (indexing.operand_batching_dims.empty()) return indices.type().element_count() == 1;
  return IsAllButLast(indexing.operand_batching_dims, rank) &&
         IsAllButLast(indexing.indices_batching_dims, rank) &&
         indices.type().element_count() == *count / array.type().shape()[last];
}

// For each dimension but the last all of it, or one where each batch has its own index.
bool TakesOneElement(llvm::ArrayRef<int64_t> sizes, const Value& array, bool has_own_indices) {
  const llvm::ArrayRef<int64_t> shape = array.type().shape();
  if (sizes.empty() || sizes.back() != 1) return false;
  return has_own_indices ? llvm::all_of(sizes, [](int64_t size) { return size == 1; })
                         : sizes.drop_back() == shape.drop_back();
}

std::optional<Element> ElementOf(Value& value) {
  const Op* op = WithoutWrapping(value).defining_op();
  if (op == nullptr) return std::nullopt;
  if (op->Is(Opcode::kDynamicSlice)) {
    const Value& array = *op->operand(0);
    const auto starts = llvm::ArrayRef<Value*>(op->operands()).drop_front();
    const bool is_one =
        llvm::all_of(starts.drop_back(), [](const Value* start) { return IsNumber(*start, 0); }) &&
        TakesOneElement(op->Get("slice_sizes").integers(), array, /*has_own_indices=*/false);
    if (!is_one) return std::nullopt;
    return Element{.array = op->operand(0),
                   .index = &WithoutWrapping(*op->operand(op->operand_count() - 1))};
  }
  if (op->Is(Opcode::kGather)) {
    Value& array = *op->operand(0);
    Value& indices = *op->operand(1);
    const bool has_own_indices = !IndexingOf(*op).operand_batching_dims.empty();
    if (!IsAtOneElement(*op, array, indices) ||
        !TakesOneElement(op->Get("slice_sizes").integers(), array, has_own_indices)) {
      return std::nullopt;
    }
    return Element{.array = &array, .index = &WithoutWrapping(indices)};
  }
  return std::nullopt;
}

// An element of `array` is set to `update`.
struct Write {
  Value* array = nullptr;
  Value* index = nullptr;
  Value* update = nullptr;
};

std::optional<Write> WriteOf(const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr || !op->Is(Opcode::kScatter) || op->operand_count() != 3) return std::nullopt;
  const Block& body = op->region(0).front();
  if (body.last()->operand(0) != body.argument(1)) return std::nullopt;
  Value& array = *op->operand(0);
  Value& indices = *op->operand(1);
  if (!IsAtOneElement(*op, array, indices)) return std::nullopt;
  const bool writes_one = op->operand(2)->type().element_count() ==
                          *array.type().element_count() / array.type().shape().back();
  const bool is_inside = llvm::is_contained(IndexingOf(*op).collapsed_dims,
                                            static_cast<int64_t>(array.type().rank()) - 1);
  if (!writes_one || !is_inside) return std::nullopt;
  return Write{.array = &array, .index = &WithoutWrapping(indices), .update = op->operand(2)};
}

// A value of a loop: at first, inside of the body, and after one turn.
struct Carried {
  const Op& loop;
  size_t index;

  Value& first() const { return *loop.operand(index); }
  const Value* inside() const { return loop.region(1).front().argument(index); }
  const Value* next() const { return loop.region(1).front().last()->operand(index); }
};

// The loop's value that this argument of its body is; nothing if it is no argument.
std::optional<Carried> CarriedOf(const Op& loop, const Value& value) {
  if (!value.is_argument() || value.block() != &loop.region(1).front()) return std::nullopt;
  return Carried{.loop = loop, .index = value.index()};
}

bool CountsFromZero(const Carried& counter) {
  const Op* next = counter.next()->defining_op();
  return IsNumber(counter.first(), 0) && next != nullptr && next->Is(Opcode::kAdd) &&
         next->operand(0) == counter.inside() && IsNumber(*next->operand(1), 1);
}

// Whether the loop has `turns` turns.
bool HasTurns(const Op& loop, int64_t turns) {
  const Block& condition = loop.region(0).front();
  const Op* compare = condition.last()->operand(0)->defining_op();
  if (compare == nullptr || !Compares(*compare, "LT")) return false;
  const Value& counter = *compare->operand(0);
  return counter.is_argument() && counter.block() == &condition &&
         CountsFromZero({.loop = loop, .index = counter.index()}) &&
         IsNumber(*compare->operand(1), static_cast<double>(turns));
}

bool IsIotaOfLast(const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr) return false;
  const auto last = static_cast<int64_t>(value.type().rank()) - 1;
  if (op->Is(Opcode::kIota)) return op->Get("iota_dimension").integer() == last;
  // The same numbers in all batches.
  if (!op->Is(Opcode::kBroadcastInDim)) return false;
  const llvm::ArrayRef<int64_t> dimensions = op->Get("broadcast_dimensions").integers();
  return !dimensions.empty() && dimensions.back() == last && IsIotaOfLast(*op->operand(0)) &&
         op->operand(0)->type().shape().back() == value.type().shape().back();
}

// for i in range(rows): swap(order[i], order[pivots[i] - 1]). The pivots; null if the result of a
// loop is something else.
Value* SwapsOf(const Value& result) {
  const Op& loop = *result.defining_op();
  const Type type = result.type();
  if (!type.Is(TypeKind::kTensor) || type.rank() == 0 || !type.has_static_shape()) return nullptr;
  const Carried order = {.loop = loop, .index = result.index()};
  const int64_t rows = result.type().shape().back();
  if (!IsIotaOfLast(order.first()) || !HasTurns(loop, rows)) return nullptr;
  const std::optional<Write> second = WriteOf(*order.next());
  if (!second) return nullptr;
  const std::optional<Write> first = WriteOf(*second->array);
  if (!first || first->array != order.inside()) return nullptr;
  const std::optional<Carried> counter = CarriedOf(loop, *first->index);
  if (!counter || !CountsFromZero(*counter)) return nullptr;
  const std::optional<Element> pivot = ElementOf(*second->index);
  if (!pivot || pivot->index != counter->inside()) return nullptr;
  const std::optional<Element> at_counter = ElementOf(*second->update);
  const std::optional<Element> at_pivot = ElementOf(*first->update);
  const bool swaps = at_counter && at_counter->array == order.inside() &&
                     at_counter->index == counter->inside() && at_pivot &&
                     at_pivot->array == order.inside() && at_pivot->index == second->index;
  if (!swaps) return nullptr;
  const std::optional<Carried> pivots = CarriedOf(loop, *pivot->array);
  if (!pivots || pivots->next() != pivots->inside()) return nullptr;
  const Op* from_zero = pivots->first().defining_op();
  const bool is_shifted = from_zero != nullptr && from_zero->Is(Opcode::kSubtract) &&
                          IsNumber(*from_zero->operand(1), 1);
  return is_shifted ? from_zero->operand(0) : nullptr;
}

// Sorting numbers together with their places gives the places, in order: the inverse.
bool SortsPlaces(const Value& result) {
  const Op& op = *result.defining_op();
  const auto last = static_cast<int64_t>(result.type().rank()) - 1;
  if (op.operand_count() != 2 || result.index() != 1 || !IsIotaOfLast(*op.operand(1))) return false;
  const Attribute dimension = op.Get("dimension");
  if (!dimension || (dimension.integer() != last && dimension.integer() != -1)) return false;
  const Block& body = op.region(0).front();
  const Op* compare = body.last()->operand(0)->defining_op();
  return compare != nullptr && Compares(*compare, "LT") &&
         compare->operand(0) == body.argument(0) && compare->operand(1) == body.argument(1);
}

}  // namespace

std::optional<SwapLoop> SwapLoopOf(const Op& loop) {
  if (!loop.Is(Opcode::kWhile)) return std::nullopt;
  SwapLoop swaps;
  for (size_t i = 0; i < loop.result_count(); ++i) {
    const Carried carried = {.loop = loop, .index = i};
    if (carried.next() == carried.inside()) {
      swaps.without_swaps.push_back(SwapLoop::Role::kUnchanged);
    } else if (CountsFromZero(carried)) {
      swaps.without_swaps.push_back(SwapLoop::Role::kCounter);
    } else if (Value* pivots = SwapsOf(*loop.result(i));
               pivots != nullptr && swaps.pivots == nullptr) {
      swaps.pivots = pivots;
      swaps.rows = loop.result(i)->type().shape().back();
      swaps.without_swaps.push_back(SwapLoop::Role::kUnchanged);
    } else {
      return std::nullopt;
    }
  }
  if (swaps.pivots == nullptr) return std::nullopt;
  return swaps;
}

std::optional<RowOrder> RowOrderOf(Value& indices) {
  Value& plain = WithoutWrapping(indices);
  const Op* op = plain.defining_op();
  if (op == nullptr) return std::nullopt;
  if (op->Is(Opcode::kWhile)) {
    Value* pivots = SwapsOf(plain);
    Op* factorization = pivots == nullptr ? nullptr : pivots->defining_op();
    const bool is_lu = factorization != nullptr &&
                       FactorizationOf(*factorization) == Factorization::kLu &&
                       factorization->result(1) == pivots;
    if (!is_lu) return std::nullopt;
    return RowOrder{.factorization = factorization, .order = &plain};
  }
  if (op->Is(Opcode::kSort) && SortsPlaces(plain)) {
    std::optional<RowOrder> order = RowOrderOf(*op->operand(0));
    if (!order) return std::nullopt;
    order->is_inverse = !order->is_inverse;
    return order;
  }
  return std::nullopt;
}

}  // namespace plimsoll
