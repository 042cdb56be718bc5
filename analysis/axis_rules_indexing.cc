// Axis rules of gather and scatter.

#include <string>
#include <utility>

#include "analysis/axis_rules_internal.h"
#include "analysis/indexing.h"
#include "ir/status.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// The operand's dimension that is a batch together with that of the indices; kWhole if none is.
int BatchingPartner(const Indexing& indexing, size_t indices_dimension) {
  const int64_t* found =
      llvm::find(indexing.indices_batching_dims, static_cast<int64_t>(indices_dimension));
  if (found == indexing.indices_batching_dims.end()) return kWhole;
  return static_cast<int>(
      indexing.operand_batching_dims[found - indexing.indices_batching_dims.begin()]);
}

// Indices can be shifted if they are integers whose widths are known.
bool CanShift(Type indices) { return indices.element_type().Is(TypeKind::kInteger); }

// Keeps the first reason.
void Refuse(std::string& reason, std::string_view what, size_t dimension) {
  if (reason.empty()) reason = StrCat(what, " dimension ", dimension, " of the operand");
}

}  // namespace

AxisRule GatherRule(const Op& op) {
  const Indexing indexing = IndexingOf(op);
  const Type operand = op.operand(0)->type();
  const Type indices = op.operand(1)->type();
  const llvm::ArrayRef<int64_t> slice_sizes = op.Get("slice_sizes").integers();
  RuleMaker maker(op);
  std::string reason;

  const llvm::SmallVector<int> batch = indexing.BatchDimensions(indices.rank());
  for (size_t d = 0; d < batch.size(); ++d) {
    if (batch[d] < 0) continue;
    Factor factor = maker.Blank(indices.shape()[d], batch[d]);
    factor.operands[0] = BatchingPartner(indexing, d);
    factor.operands[1] = static_cast<int>(d);
    maker.Add(std::move(factor));
  }

  const llvm::SmallVector<int> window = indexing.WindowDimensions(operand.rank());
  for (size_t d = 0; d < window.size(); ++d) {
    const auto number = static_cast<int>(d);
    if (llvm::is_contained(indexing.operand_batching_dims, number)) continue;
    const int64_t size = operand.shape()[d];
    const bool can_shift = indexing.NumberFor(number) >= 0 && CanShift(indices);
    if (window[d] >= 0 && slice_sizes[d] == size) {
      Factor factor = maker.Blank(size, window[d]);
      factor.operands[0] = number;
      maker.Add(std::move(factor));
    } else if (can_shift && slice_sizes[d] == 1) {
      // Every chunk gives what its own part of the operand holds, and zeros elsewhere.
      Factor factor = maker.Blank(size);
      factor.operands[0] = number;
      factor.combination =
          operand.element_type().IsInteger(1) ? Combination::kOr : Combination::kSum;
      maker.Add(std::move(factor));
    } else if (can_shift) {
      maker.Add(maker.Blank(slice_sizes[d], window[d]));
      Refuse(reason, "gather's windows lie anywhere along", d);
    } else {
      Refuse(reason, "gather takes only the beginning of", d);
    }
  }
  if (reason.empty() && static_cast<size_t>(indexing.index_vector_dim) < indices.rank()) {
    reason = StrCat("dimension ", indexing.index_vector_dim,
                    " of the indices holds the numbers of one index");
  }
  return std::move(maker).Finish(std::move(reason));
}

AxisRule ScatterRule(const Op& op) {
  const Indexing indexing = IndexingOf(op);
  const size_t count = op.result_count();
  const Type operand = op.operand(0)->type();
  const Type indices = op.operand(count)->type();
  const Type updates = op.operand(count + 1)->type();
  RuleMaker maker(op);
  std::string reason;
  const auto set = [&](Factor& factor, int of_operands, int of_updates, int of_results) {
    for (size_t i = 0; i < count; ++i) {
      factor.operands[i] = of_operands;
      factor.operands[count + 1 + i] = of_updates;
      factor.results[i] = of_results;
    }
  };

  const llvm::SmallVector<int> batch = indexing.BatchDimensions(indices.rank());
  for (size_t d = 0; d < batch.size(); ++d) {
    if (batch[d] < 0) continue;
    Factor factor = maker.Blank(indices.shape()[d]);
    factor.operands[count] = static_cast<int>(d);
    const int partner = BatchingPartner(indexing, d);
    const bool is_batching = partner != kWhole;
    set(factor, partner, batch[d], is_batching ? partner : kPartial);
    if (!is_batching) factor.combination = Combination::kFold;
    maker.Add(std::move(factor));
  }

  const llvm::SmallVector<int> window = indexing.WindowDimensions(operand.rank());
  for (size_t d = 0; d < window.size(); ++d) {
    const auto number = static_cast<int>(d);
    if (llvm::is_contained(indexing.operand_batching_dims, number)) continue;
    const int64_t size = operand.shape()[d];
    const int64_t written = window[d] >= 0 ? updates.shape()[window[d]] : 1;
    const bool can_shift = indexing.NumberFor(number) >= 0 && CanShift(indices);
    Factor factor = maker.Blank(size);
    if (window[d] >= 0 && written == size) {
      set(factor, number, window[d], number);
    } else if (can_shift && written == 1) {
      // What lies outside of a chunk is out of its bounds, where scatter writes nothing.
      set(factor, number, kWhole, number);
    } else {
      Refuse(reason,
             can_shift ? "scatter's windows lie anywhere along"
                       : "scatter writes only to the beginning of",
             d);
      continue;
    }
    maker.Add(std::move(factor));
  }
  if (reason.empty() && static_cast<size_t>(indexing.index_vector_dim) < indices.rank()) {
    reason = StrCat("dimension ", indexing.index_vector_dim,
                    " of the indices holds the numbers of one index");
  }
  return std::move(maker).Finish(std::move(reason));
}

}  // namespace plimsoll
