#include "rewrite/partial_read.h"

#include "analysis/indexing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "rewrite/make_gather.h"
#include "rewrite/pieces.h"

namespace plimsoll {

std::optional<PartialRead> PartialRead::Of(const Op& op) {
  const bool is_read =
      op.Is(Opcode::kGather) || op.Is(Opcode::kSlice) || op.Is(Opcode::kDynamicSlice);
  if (!is_read || !op.operand(0)->type().has_static_shape() ||
      !op.result(0)->type().has_static_shape() ||
      op.result(0)->type().element_count().value_or(0) == 0) {
    return std::nullopt;
  }
  PartialRead read(op);
  read.index_end_ = static_cast<int>(op.result(0)->type().rank());
  if (op.Is(Opcode::kGather)) {
    if (!read.InitGather()) return std::nullopt;
    return read;
  }
  read.indices_.append(AllIndices(*op.operand(0)).indices);
  return read;
}

bool PartialRead::InitGather() {
  const Indexing indexing = IndexingOf(*op_);
  const Type places = op_->operand(1)->type();
  if (!places.has_static_shape() ||
      indexing.index_vector_dim + 1 < static_cast<int64_t>(places.rank())) {
    return false;
  }
  const llvm::ArrayRef<int64_t> shape = op_->operand(0)->type().shape();
  const llvm::ArrayRef<int64_t> sizes = op_->Get("slice_sizes").integers();
  const llvm::SmallVector<int> window = indexing.WindowDimensions(shape.size());
  for (const int dimension : indexing.BatchDimensions(places.rank())) {
    if (dimension >= 0) batch_.push_back(dimension);
  }
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    const int number = indexing.NumberFor(d);
    const auto* batching = llvm::find(indexing.operand_batching_dims, d);
    int index = window[d];
    if (batching != indexing.operand_batching_dims.end()) {
      const auto place = batching - indexing.operand_batching_dims.begin();
      index = batch_[indexing.indices_batching_dims[place]];
    } else if (number >= 0 && window[d] < 0) {
      index = index_end_ + number;
    } else if (window[d] < 0 || sizes[d] != shape[d]) {
      if (shape[d] != 1) return false;
    }
    indices_.push_back(shape[d] == 1 ? kNoIndex : index);
  }
  index_end_ += static_cast<int>(indexing.index_map.size());
  return true;
}

IndexedValue PartialRead::Read(Builder& builder, const IndexedValue& element) const {
  if (element.value == nullptr) return {};
  if (op_->Is(Opcode::kGather)) return ReadGathered(builder, element);
  return BoundsOfSlice(*op_) ? ReadSlice(builder, element) : ReadDynamicSlice(builder, element);
}

IndexedValue PartialRead::ReadGathered(Builder& builder, const IndexedValue& element) const {
  const auto rank = static_cast<int>(op_->result(0)->type().rank());
  IndexedValue operand = {.value = element.value, .indices = {}};
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int> read;
  llvm::SmallVector<Value*> places;
  Value* all = op_->operand(1);
  llvm::SmallVector<int64_t> limits(all->type().shape());
  if (limits.size() == batch_.size()) limits.push_back(1);
  all = ReshapeTo(builder, all, limits);
  for (const auto [d, index] : llvm::enumerate(element.indices)) {
    if (index == kNoIndex) continue;
    operand.indices.push_back(index);
    shape.push_back(element.value->type().shape()[d]);
    if (index < rank || index >= index_end_) continue;
    read.push_back(index);
    llvm::SmallVector<int64_t> starts(limits.size(), 0);
    starts.back() = index - rank;
    llvm::SmallVector<int64_t> ends = limits;
    ends.back() = starts.back() + 1;
    const SliceBounds bounds = {
        .starts = starts, .limits = ends, .strides = llvm::SmallVector<int64_t>(limits.size(), 1)};
    places.push_back(SliceOf(builder, all, bounds));
  }
  if (read.empty()) return element;
  operand.value = ReshapeTo(builder, element.value, shape);
  Value* numbers = places.size() == 1
                       ? places.front()
                       : builder.Concatenate(places, static_cast<int64_t>(batch_.size()));
  return GatherAt(builder, operand, read,
                  {.value = numbers, .indices = {batch_.begin(), batch_.end()}});
}

IndexedValue PartialRead::ReadSlice(Builder& builder, const IndexedValue& element) const {
  const SliceBounds all = *BoundsOfSlice(*op_);
  SliceBounds bounds;
  for (const auto [d, index] : llvm::enumerate(element.indices)) {
    const bool is_read = index != kNoIndex && index < index_end_;
    bounds.starts.push_back(is_read ? all.starts[index] : 0);
    bounds.limits.push_back(is_read ? all.limits[index] : element.value->type().shape()[d]);
    bounds.strides.push_back(is_read ? all.strides[index] : 1);
  }
  return {.value = SliceOf(builder, element.value, bounds), .indices = element.indices};
}

IndexedValue PartialRead::ReadDynamicSlice(Builder& builder, const IndexedValue& element) const {
  const llvm::ArrayRef<int64_t> sizes = op_->Get("slice_sizes").integers();
  llvm::SmallVector<Value*> starts;
  llvm::SmallVector<int64_t> read_sizes;
  bool is_all = true;
  Value* zero = nullptr;
  for (const auto [d, index] : llvm::enumerate(element.indices)) {
    const int64_t size = element.value->type().shape()[d];
    if (index != kNoIndex && index < index_end_ && sizes[index] != size) {
      starts.push_back(op_->operand(1 + index));
      read_sizes.push_back(sizes[index]);
      is_all = false;
      continue;
    }
    // All starts have one type.
    if (zero == nullptr) zero = builder.IntegerConstant(op_->operand(1)->type(), 0);
    starts.push_back(zero);
    read_sizes.push_back(size);
  }
  if (is_all) return element;
  return {.value = builder.DynamicSlice(element.value, starts, read_sizes),
          .indices = element.indices};
}

}  // namespace plimsoll
