#include "rewrite/slice_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/indexed_value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/gather_reads.h"
#include "rewrite/pieces.h"

namespace plimsoll {
namespace {

bool IsZeros(llvm::ArrayRef<int64_t> numbers) {
  return llvm::all_of(numbers, [](int64_t number) { return number == 0; });
}

// Along one dimension of a pad.
enum class Place : uint8_t { kInside, kOutside, kBoth };

Place PlaceOf(int64_t start, int64_t limit, int64_t stride, int64_t size) {
  const int64_t last = start + (limit - start - 1) / stride * stride;
  if (start >= 0 && last < size) return Place::kInside;
  // Some elements may be stepped over.
  for (int64_t i = start; i <= last; i += stride) {
    if (i >= 0 && i < size) return Place::kBoth;
  }
  return Place::kOutside;
}

Builder::Values SliceOfPad(RuleScope& scope) {
  const Op& op = scope.op();
  if (op.Is(Opcode::kPad)) {
    const bool is_nothing = op.operand(0)->type() == op.result(0)->type() &&
                            IsZeros(op.Get("edge_padding_low").integers()) &&
                            IsZeros(op.Get("edge_padding_high").integers());
    return is_nothing ? Builder::Values{op.operand(0)} : Builder::Values{};
  }
  const std::optional<SliceBounds> bounds = BoundsOfSlice(op);
  const Op* pad = bounds ? op.operand(0)->defining_op() : nullptr;
  if (pad == nullptr || !pad->Is(Opcode::kPad) || !pad->operand(0)->type().has_static_shape() ||
      op.result(0)->type().element_count().value_or(0) == 0 ||
      !IsZeros(pad->Get("interior_padding").integers())) {
    return {};
  }
  const llvm::ArrayRef<int64_t> low = pad->Get("edge_padding_low").integers();
  const llvm::ArrayRef<int64_t> shape = pad->operand(0)->type().shape();
  SliceBounds inner = *bounds;
  bool is_inside = true;
  for (size_t d = 0; d < shape.size(); ++d) {
    inner.starts[d] -= low[d];
    inner.limits[d] -= low[d];
    const Place place = PlaceOf(inner.starts[d], inner.limits[d], inner.strides[d], shape[d]);
    if (place == Place::kOutside) {
      return {scope.builder().BroadcastInDim(pad->operand(1), op.result(0)->type().shape(), {})};
    }
    // The slice may step over what lies behind.
    inner.limits[d] = std::min(inner.limits[d], shape[d]);
    is_inside &= place == Place::kInside;
  }
  return is_inside ? Builder::Values{SliceOf(scope.builder(), pad->operand(0), inner)}
                   : Builder::Values{};
}

Builder::Values SliceOfSlice(RuleScope& scope) {
  const std::optional<SliceBounds> outer = BoundsOfSlice(scope.op());
  const Op* before = outer ? scope.op().operand(0)->defining_op() : nullptr;
  const std::optional<SliceBounds> inner =
      before == nullptr ? std::nullopt : BoundsOfSlice(*before);
  if (!inner || scope.op().result(0)->type().element_count().value_or(0) == 0) return {};
  SliceBounds both;
  for (size_t d = 0; d < outer->starts.size(); ++d) {
    const int64_t stride = inner->strides[d];
    const int64_t last = outer->limits[d] - 1;
    both.starts.push_back(inner->starts[d] + outer->starts[d] * stride);
    both.limits.push_back(inner->starts[d] + last * stride + 1);
    both.strides.push_back(outer->strides[d] * stride);
  }
  return {SliceOf(scope.builder(), before->operand(0), both)};
}

// Where only some of what is broadcast or moved is read, only that is.
Builder::Values SliceOfView(RuleScope& scope) {
  const Op& op = scope.op();
  const std::optional<SliceBounds> bounds = BoundsOfSlice(op);
  if (!bounds || op.result(0)->type().element_count().value_or(0) == 0) return {};
  const llvm::ArrayRef<int64_t> shape = op.result(0)->type().shape();
  const auto rank = static_cast<int>(shape.size());
  IndexedValue all = {.value = op.operand(0), .indices = {}};
  for (const int d : llvm::seq(rank)) all.indices.push_back(d);
  IndexedValue element = SeeThrough(all);
  if (element == all) return {};
  SliceBounds inner;
  for (const int index : element.indices) {
    inner.starts.push_back(index == kNoIndex ? 0 : bounds->starts[index]);
    inner.limits.push_back(index == kNoIndex ? 1 : bounds->limits[index]);
    inner.strides.push_back(index == kNoIndex ? 1 : bounds->strides[index]);
  }
  element.value = SliceOf(scope.builder(), element.value, inner);
  if (element.value == nullptr) return {};
  return {Arrange(scope.builder(), element, llvm::to_vector(llvm::seq(rank)), shape)};
}

// Indices that are equally far from each other are a slice, backwards if they fall.
Builder::Values GatherOfConstant(RuleScope& scope) {
  const std::optional<GatherRead> read = GatherReadOf(scope.op());
  if (!read) return {};
  const llvm::ArrayRef<int64_t> indices = read->indices;
  const int64_t step = indices.size() == 1 ? 1 : indices[1] - indices[0];
  for (size_t i = 1; i < indices.size(); ++i) {
    if (indices[i] - indices[i - 1] != step) return {};
  }
  Value* operand = scope.op().operand(0);
  if (step == 0) return {};
  const llvm::ArrayRef<int64_t> shape = operand->type().shape();
  SliceBounds bounds = {.starts = llvm::SmallVector<int64_t>(shape.size(), 0),
                        .limits = llvm::SmallVector<int64_t>(shape),
                        .strides = llvm::SmallVector<int64_t>(shape.size(), 1)};
  bounds.starts[read->dimension] = std::min(indices.front(), indices.back());
  bounds.limits[read->dimension] = std::max(indices.front(), indices.back()) + 1;
  bounds.strides[read->dimension] = std::abs(step);
  Value* part = SliceOf(scope.builder(), operand, bounds);
  if (part == nullptr) return {};
  if (step < 0) {
    Context& context = scope.builder().context();
    const StatusOr<Op*> reverse = scope.builder().Create(
        Opcode::kReverse, {part},
        {{"dimensions", context.I64Array({static_cast<int64_t>(read->dimension)})}});
    if (!reverse.ok()) return {};
    part = (*reverse)->result(0);
  }
  return {ArrangeAsGathered(scope.builder(), scope.op(), *read, *part)};
}

constexpr Rule kRules[] = {
    {.name = "slice_of_pad",
     .pattern = "a slice of a pad, or a pad by nothing",
     .result = "a slice of what is padded, or the padding alone",
     .guard = "the slice reads either the one or the other; no padding in between",
     .rewrite = SliceOfPad},
    {.name = "slice_of_slice",
     .pattern = "a slice of a slice",
     .result = "one slice",
     .rewrite = SliceOfSlice},
    {.name = "slice_of_view",
     .pattern = "a slice of what is broadcast, transposed or reshaped by dimensions of one element",
     .result = "the same of a slice",
     .rewrite = SliceOfView},
    {.name = "gather_of_constant",
     .pattern = "a gather whose constant indices are equally far from each other",
     .result = "a slice, and a reverse if they fall",
     .guard = "indices of one dimension, all of the others",
     .rewrite = GatherOfConstant},
};

}  // namespace

llvm::ArrayRef<Rule> SliceRules() { return kRules; }

}  // namespace plimsoll
