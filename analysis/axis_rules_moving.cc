// Axis rules of ops that move elements without changing them.

#include <numeric>
#include <utility>

#include "analysis/axis_rules_internal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

using Shape = llvm::ArrayRef<int64_t>;

llvm::ArrayRef<int64_t> Numbers(const Op& op, std::string_view name) {
  return op.Get(name).integers();
}

// The dimensions that are larger than one.
llvm::SmallVector<int> LargeDimensions(Shape shape) {
  llvm::SmallVector<int> dimensions;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) dimensions.push_back(static_cast<int>(d));
  }
  return dimensions;
}

}  // namespace

AxisRule BroadcastInDimRule(const Op& op) {
  RuleMaker maker(op);
  const Shape from = op.operand(0)->type().shape();
  const Shape to = op.result(0)->type().shape();
  llvm::SmallVector<int> source(to.size(), kWhole);
  const llvm::ArrayRef<int64_t> dimensions = Numbers(op, "broadcast_dimensions");
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (from[d] == to[dimensions[d]]) source[dimensions[d]] = static_cast<int>(d);
  }
  for (size_t d = 0; d < to.size(); ++d) {
    Factor factor = maker.Blank(to[d], static_cast<int>(d));
    factor.operands[0] = source[d];
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish("");
}

AxisRule ConcatenateRule(const Op& op) {
  RuleMaker maker(op);
  const int64_t joined = op.Get("dimension").integer();
  const Shape to = op.result(0)->type().shape();
  for (int d = 0; d < static_cast<int>(to.size()); ++d) {
    if (d == joined) continue;
    Factor factor = maker.Blank(to[d], d);
    factor.operands.assign(op.operand_count(), d);
    maker.Add(std::move(factor));
  }
  // Along the joined dimension a chunk is put together from whole operands.
  maker.Add(maker.Blank(to[joined], static_cast<int>(joined)));
  return std::move(maker).Finish("values are joined along this dimension");
}

AxisRule DynamicSliceRule(const Op& op) {
  RuleMaker maker(op);
  const Shape from = op.operand(0)->type().shape();
  const Shape to = op.result(0)->type().shape();
  for (int d = 0; d < static_cast<int>(to.size()); ++d) {
    Factor factor = maker.Blank(to[d], d);
    // A chunk of a true slice is read from the whole operand.
    if (from[d] == to[d]) factor.operands[0] = d;
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish(
      "a slice is taken along this dimension, at a place known only at run time");
}

AxisRule DynamicUpdateSliceRule(const Op& op) {
  RuleMaker maker(op);
  const Shape whole = op.operand(0)->type().shape();
  const Shape update = op.operand(1)->type().shape();
  for (int d = 0; d < static_cast<int>(whole.size()); ++d) {
    if (whole[d] != update[d]) continue;
    Factor factor = maker.Blank(whole[d], d);
    factor.operands[0] = d;
    factor.operands[1] = d;
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish(
      "a part is written along this dimension, at a place known only at run time");
}

AxisRule PadRule(const Op& op) {
  RuleMaker maker(op);
  const Shape from = op.operand(0)->type().shape();
  const Shape to = op.result(0)->type().shape();
  const llvm::ArrayRef<int64_t> low = Numbers(op, "edge_padding_low");
  const llvm::ArrayRef<int64_t> high = Numbers(op, "edge_padding_high");
  const llvm::ArrayRef<int64_t> interior = Numbers(op, "interior_padding");
  for (int d = 0; d < static_cast<int>(to.size()); ++d) {
    const bool is_padded = low[d] != 0 || high[d] != 0 || (interior[d] != 0 && from[d] > 1);
    if (is_padded && (interior[d] != 0 || from[d] == 0)) continue;
    Factor factor = maker.Blank(to[d], d);
    // A chunk with padding is read from the whole operand.
    if (!is_padded) factor.operands[0] = d;
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish("padding is put between the elements along this dimension");
}

AxisRule ReshapeRule(const Op& op) {
  RuleMaker maker(op);
  const Shape from = op.operand(0)->type().shape();
  const Shape to = op.result(0)->type().shape();
  if (op.result(0)->type().element_count() == 0) return std::move(maker).Finish("it is empty");
  const llvm::SmallVector<int> left = LargeDimensions(from);
  const llvm::SmallVector<int> right = LargeDimensions(to);
  // Groups of dimensions that hold the same elements; the first of each side runs over all of the
  // group, so these two share their common blocks.
  size_t i = 0;
  size_t j = 0;
  while (i < left.size() && j < right.size()) {
    Factor factor = maker.Blank(std::gcd(from[left[i]], to[right[j]]), right[j]);
    factor.operands[0] = left[i];
    maker.Add(std::move(factor));
    int64_t left_size = from[left[i++]];
    int64_t right_size = to[right[j++]];
    while (left_size != right_size) {
      if (left_size < right_size) {
        left_size *= from[left[i++]];
      } else {
        right_size *= to[right[j++]];
      }
    }
  }
  return std::move(maker).Finish(
      "a reshape merges or splits this dimension and others run outside of it");
}

AxisRule ReverseRule(const Op& op) {
  RuleMaker maker(op);
  const llvm::ArrayRef<int64_t> reversed = Numbers(op, "dimensions");
  const Shape shape = op.result(0)->type().shape();
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    Factor factor = maker.Blank(shape[d], d);
    // A reversed chunk is read from the other end of the whole operand.
    if (!llvm::is_contained(reversed, d)) factor.operands[0] = d;
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish("");
}

AxisRule SliceRule(const Op& op) {
  RuleMaker maker(op);
  const Shape from = op.operand(0)->type().shape();
  const Shape to = op.result(0)->type().shape();
  for (int d = 0; d < static_cast<int>(to.size()); ++d) {
    Factor factor = maker.Blank(to[d], d);
    // A chunk of a true slice is read from the whole operand.
    if (from[d] == to[d]) factor.operands[0] = d;
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish("a slice is taken along this dimension");
}

AxisRule TransposeRule(const Op& op) {
  RuleMaker maker(op);
  const llvm::ArrayRef<int64_t> permutation = Numbers(op, "permutation");
  for (int d = 0; d < static_cast<int>(permutation.size()); ++d) {
    Factor factor = maker.Blank(maker.ResultSize(0, d), d);
    factor.operands[0] = static_cast<int>(permutation[d]);
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish("");
}

}  // namespace plimsoll
