// gather and scatter on one chunk. Where the axis is one that indices point along, the indices are
// shifted by the chunk's start.

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/indexing.h"
#include "ir/dimensions.h"
#include "ir/elements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "split/chunk_ops_internal.h"

namespace plimsoll {
namespace {

using Numbers = llvm::SmallVector<int64_t>;

// An integer tensor that holds indices into an operand.
class Indices {
 public:
  Indices(const ChunkOp& op, const Indexing& indexing, Value* value)
      : builder_(op.builder), indexing_(indexing), value_(value) {
    // The chunk's own index is wide enough for the axis; other dimensions may be longer.
    element_ = op.chunk.first->type().element_type();
    const Type operand = op.op.operand(0)->type();
    if (llvm::any_of(operand.shape(), [&](int64_t size) { return size > GreatestOf(element_); })) {
      element_ = builder_.context().IntegerType(64);
    }
  }

  Value* value() const { return value_; }

  // Brings every number between `least` (at most 0) and the one of its dimension, without which
  // one that is far out of bounds could come into them by shifting, and makes all of them signed.
  void Clamp(int64_t least, const Numbers& most) {
    const Type own = value_->type().element_type();
    if (!IsUnsigned(own)) {
      value_ = builder_.Maximum(value_, builder_.IntegerConstant(value_->type(), least));
    }
    Numbers highest;
    for (const int64_t number : most) highest.push_back(std::min(number, GreatestOf(own)));
    value_ = builder_.Minimum(value_, Rows(highest));
    value_ = builder_.Convert(value_, element_);
  }

  // Adds to, or subtracts from, one number of every index.
  void Shift(Opcode opcode, int number, Value* by) {
    by = builder_.Convert(by, element_);
    if (indexing_.index_map.size() > 1) {
      Numbers marks(indexing_.index_map.size(), 0);
      marks[number] = 1;
      const Type row =
          builder_.context().TensorType({static_cast<int64_t>(marks.size())}, element_);
      by = builder_.Multiply(builder_.BroadcastInDim(by, row.shape(), {}), Row(row, marks));
      by = AlongIndices(by);
    } else {
      by = builder_.BroadcastInDim(by, value_->type().shape(), {});
    }
    value_ = builder_.Binary(opcode, value_, by);
  }

  // Brings one number of every index, none of which is under -1, between 0 and `most`.
  void ClampNumber(int number, int64_t most) {
    Numbers least(indexing_.index_map.size(), -1);
    Numbers greatest(indexing_.index_map.size(), GreatestOf(element_));
    least[number] = 0;
    greatest[number] = most;
    value_ = builder_.Maximum(value_, Rows(least));
    value_ = builder_.Minimum(value_, Rows(greatest));
  }

  // One number of every index, without the dimension that holds them.
  Value* NumbersAt(int number) const {
    const auto vector_dim = static_cast<size_t>(indexing_.index_vector_dim);
    if (vector_dim == value_->type().rank()) return value_;
    Numbers starts(value_->type().rank(), 0);
    Numbers limits(value_->type().shape());
    starts[vector_dim] = number;
    limits[vector_dim] = number + 1;
    Value* column = builder_.Slice(value_, starts, limits);
    limits.erase(limits.begin() + indexing_.index_vector_dim);
    return builder_.Reshape(column, limits);
  }

 private:
  // A constant of the indices' shape in which every index is `numbers`.
  Value* Rows(const Numbers& numbers) {
    if (llvm::all_equal(numbers)) {
      return builder_.IntegerConstant(value_->type(), numbers.front());
    }
    const Type row = builder_.context().TensorType({static_cast<int64_t>(numbers.size())},
                                                   value_->type().element_type());
    return AlongIndices(Row(row, numbers));
  }

  // Null after an error, which the next op reports.
  Value* Row(Type type, const Numbers& numbers) {
    std::string bytes;
    for (const int64_t number : numbers) bytes += *EncodeElement(type.element_type(), number);
    const Attribute value = builder_.context().DenseElements(type, {bytes.data(), bytes.size()});
    const StatusOr<Op*> row = builder_.Create(Opcode::kConstant, {}, {{"value", value}});
    return row.ok() ? (*row)->result(0) : nullptr;
  }

  Value* AlongIndices(Value* row) {
    return builder_.BroadcastInDim(row, value_->type().shape(), {indexing_.index_vector_dim});
  }

  Builder& builder_;
  const Indexing& indexing_;
  Value* value_;
  Type element_;
};

// The largest start of a window in each dimension that indices point along.
Numbers LastStarts(const Indexing& indexing, Type operand, llvm::ArrayRef<int64_t> window_sizes) {
  Numbers starts;
  for (const int64_t d : indexing.index_map) {
    starts.push_back(operand.shape()[d] - window_sizes[d]);
  }
  return starts;
}

// The chunk's share of every window: all of the operand is there, and windows begin later.
StatusOr<Builder::Values> EmitShareOfWindows(const ChunkOp& op, const Indexing& indexing) {
  Builder& builder = op.builder;
  const Attribute sizes = op.op.Get("slice_sizes");
  const Type operand = op.op.operand(0)->type();
  const int of_result = op.result_dimension();
  const llvm::SmallVector<int> windows = indexing.WindowDimensions(operand.rank());
  const auto of_operand = static_cast<int>(llvm::find(windows, of_result) - windows.begin());
  Indices indices(op, indexing, op.operands[1]);
  indices.Clamp(0, LastStarts(indexing, operand, sizes.integers()));
  indices.Shift(Opcode::kAdd, indexing.NumberFor(of_operand),
                StartAlong(builder, op.op.result(0)->type(), of_result, op.chunk));
  if (!builder.status().ok()) return builder.status();
  Context& context = builder.context();
  const int64_t length = op.ResultType().shape()[of_result];
  return op.Copy({op.operands[0], indices.value()},
                 {{"slice_sizes", WithNumber(context, sizes, of_operand, length)},
                  {"indices_are_sorted", context.Bool(false)}});
}

Value* IsInside(Builder& builder, Value* place, int64_t length) {
  if (!builder.status().ok()) return nullptr;
  return builder.And(
      builder.Compare(Comparison::kGreaterEqual, place, builder.IntegerConstant(place->type(), 0)),
      builder.Compare(Comparison::kLess, place, builder.IntegerConstant(place->type(), length)));
}

// What the indices find in the chunk, and zeros where they point elsewhere.
StatusOr<Builder::Values> EmitMaskedGather(const ChunkOp& op, const Indexing& indexing) {
  Builder& builder = op.builder;
  const Type operand = op.op.operand(0)->type();
  const int dimension = op.factor.operands[0];
  const int number = indexing.NumberFor(dimension);
  Indices indices(op, indexing, op.operands[1]);
  indices.Clamp(0, LastStarts(indexing, operand, op.op.Get("slice_sizes").integers()));
  indices.Shift(Opcode::kSubtract, number, StartAlong(builder, operand, dimension, op.chunk));
  if (!builder.status().ok()) return builder.status();
  ASSIGN_OR_RETURN(const Builder::Values gathered,
                   op.Copy({op.operands[0], indices.value()},
                           {{"indices_are_sorted", builder.context().Bool(false)}}));
  Value* place = indices.NumbersAt(number);
  if (!builder.status().ok()) return builder.status();
  const int64_t length = op.operands[0]->type().shape()[dimension];
  Value* is_inside = IsInside(builder, place, length);
  const Type type = gathered[0]->type();
  Numbers batch;
  for (const int d : indexing.BatchDimensions(op.operands[1]->type().rank())) {
    if (d >= 0) batch.push_back(d);
  }
  Value* mask = builder.BroadcastInDim(is_inside, type.shape(), batch);
  Value* part = builder.Select(mask, gathered[0], builder.IntegerConstant(type, 0));
  if (!builder.status().ok()) return builder.status();
  return Builder::Values{part};
}

bool HasOneIndex(const ChunkOp& op, const Indexing& indexing) {
  const Type indices = op.operands[op.op.result_count()]->type();
  const auto vector_dim = static_cast<size_t>(indexing.index_vector_dim);
  for (size_t d = 0; d < indices.rank(); ++d) {
    if (d != vector_dim && indices.shape()[d] != 1) return false;
  }
  return true;
}

}  // namespace

StatusOr<Builder::Values> EmitGatherChunk(const ChunkOp& op) {
  const int of_operand = op.factor.operands[0];
  if (op.factor.operands[1] != kWhole) return op.Copy(op.operands);
  const Indexing indexing = IndexingOf(op.op);
  if (of_operand == kWhole) return EmitShareOfWindows(op, indexing);
  if (op.result_dimension() == kPartial) return EmitMaskedGather(op, indexing);
  // Windows are as long as the operand.
  const int64_t length = op.operands[0]->type().shape()[of_operand];
  const Attribute sizes =
      WithNumber(op.builder.context(), op.op.Get("slice_sizes"), of_operand, length);
  return op.Copy(op.operands, {{"slice_sizes", sizes}});
}

StatusOr<Builder::Values> EmitScatterChunk(const ChunkOp& op) {
  const size_t count = op.op.result_count();
  const int dimension = op.factor.operands[0];
  const bool is_shifted = dimension != kWhole && op.factor.operands[count] == kWhole &&
                          op.factor.operands[count + 1] == kWhole;
  if (!is_shifted) return op.Copy(op.operands);
  Builder& builder = op.builder;
  const Indexing indexing = IndexingOf(op.op);
  const Type operand = op.op.operand(0)->type();
  Indices indices(op, indexing, op.operands[count]);
  // What is out of bounds stays so: -1 lies before every chunk, the size itself behind all.
  Numbers sizes;
  for (const int64_t d : indexing.index_map) sizes.push_back(operand.shape()[d]);
  indices.Clamp(-1, sizes);
  indices.Shift(Opcode::kSubtract, indexing.NumberFor(dimension),
                StartAlong(builder, operand, dimension, op.chunk));
  if (!builder.status().ok()) return builder.status();
  // XLA makes slices of a scatter at one place, and then takes a slice of a slice for one that
  // begins at the sum of both starts, which is wrong for starts out of bounds (openxla/xla issue
  // 49121). So it always gets a place inside, and what the chunk does not have stays as it is.
  Value* is_inside = nullptr;
  if (HasOneIndex(op, indexing)) {
    const int number = indexing.NumberFor(dimension);
    const int64_t length = op.operands[0]->type().shape()[dimension];
    is_inside = IsInside(builder, indices.NumbersAt(number), length);
    indices.ClampNumber(number, length - 1);
    is_inside = builder.Reshape(is_inside, {});
    if (!builder.status().ok()) return builder.status();
  }
  Builder::Values operands(op.operands);
  operands[count] = indices.value();
  ASSIGN_OR_RETURN(Builder::Values results,
                   op.Copy(operands, {{"indices_are_sorted", builder.context().Bool(false)}}));
  if (is_inside == nullptr) return results;
  for (size_t i = 0; i < count; ++i) {
    Value* mask = builder.BroadcastInDim(is_inside, results[i]->type().shape(), {});
    results[i] = builder.Select(mask, results[i], op.operands[i]);
  }
  if (!builder.status().ok()) return builder.status();
  return results;
}

}  // namespace plimsoll
