#include "split/chunk_ops.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "ir/dimensions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "split/chunk_ops_internal.h"

namespace plimsoll {
namespace {

using Values = Builder::Values;

Type WithSize(Context& context, Type type, int dimension, int64_t size) {
  llvm::SmallVector<int64_t> shape(type.shape());
  shape[dimension] = size;
  return context.TensorType(shape, type.element_type());
}

// An index of the kind that the chunk's own is of.
Value* Index(Builder& builder, const Chunk& chunk, int64_t number) {
  return builder.IntegerConstant(chunk.first->type(), number);
}

// Zeros but for one dimension.
llvm::SmallVector<Value*> StartsAt(Builder& builder, Type type, int dimension, Value* start) {
  Value* zero = builder.IntegerConstant(start->type(), 0);
  llvm::SmallVector<Value*> starts(type.rank(), zero);
  starts[dimension] = start;
  return starts;
}

Value* SliceAlong(Builder& builder, Value* whole, int dimension, Value* start, int64_t size) {
  llvm::SmallVector<int64_t> sizes(whole->type().shape());
  sizes[dimension] = size;
  return builder.DynamicSlice(whole, StartsAt(builder, whole->type(), dimension, start), sizes);
}

// The elements `start` to `start + size` of a dimension; where it has none, `fill` stands.
Value* Window(Builder& builder, Value* whole, int dimension, Value* start, int64_t size,
              Value* fill) {
  const int64_t length = whole->type().shape()[dimension];
  const int64_t width = std::min(length, size);
  Value* begin = ClampTo(builder, start, 0, length - width);
  Value* piece = SliceAlong(builder, whole, dimension, begin, width);
  // The piece stands between two stretches of filling, and the window is moved over all three.
  llvm::SmallVector<int64_t> edges(whole->type().rank(), 0);
  edges[dimension] = size;
  Value* padded = builder.Pad(piece, fill, edges, edges);
  Value* shift =
      builder.Add(builder.Subtract(start, begin), builder.IntegerConstant(start->type(), size));
  return SliceAlong(builder, padded, dimension, ClampTo(builder, shift, 0, width + size), size);
}

StatusOr<Values> Finish(Builder& builder, Value* result) {
  if (!builder.status().ok()) return builder.status();
  return Values{result};
}

StatusOr<Values> EmitIota(const ChunkOp& op) {
  Builder& builder = op.builder;
  Context& context = builder.context();
  const Type type = op.ResultType();
  const int64_t dimension = op.op.Get("iota_dimension").integer();
  if (op.result_dimension() != dimension) {
    return Finish(builder, builder.Iota(type, dimension));
  }
  // Counted in integers, so that numbers are rounded as the whole iota's are.
  const Type index = op.chunk.first->type().element_type();
  const Type indices = context.TensorType(type.shape(), index);
  Value* start = StartAlong(builder, op.op.result(0)->type(), op.result_dimension(), op.chunk);
  Value* numbers = builder.Add(builder.Iota(indices, dimension),
                               builder.BroadcastInDim(start, type.shape(), {}));
  return Finish(builder, builder.Convert(numbers, type.element_type()));
}

StatusOr<Values> EmitConstant(const ChunkOp& op) {
  Context& context = op.builder.context();
  const Attribute value = context.DenseElements(op.ResultType(), op.op.Get("value").bytes());
  ASSIGN_OR_RETURN(Op * constant, op.builder.Create(Opcode::kConstant, {}, {{"value", value}}));
  return constant->results();
}

StatusOr<Values> EmitSlice(const ChunkOp& op) {
  Builder& builder = op.builder;
  Context& context = builder.context();
  const int d = op.result_dimension();
  const Attribute starts = op.op.Get("start_indices");
  const Attribute limits = op.op.Get("limit_indices");
  const int64_t size = op.ResultType().shape()[d];
  if (op.factor.operands[0] != kWhole) {
    return op.Copy(op.operands, {{"limit_indices", WithNumber(context, limits, d, size)}});
  }
  const int64_t stride = op.op.Get("strides").integers()[d];
  Value* first = StartAlong(builder, op.op.result(0)->type(), d, op.chunk);
  Value* start = builder.Add(builder.Multiply(first, Index(builder, op.chunk, stride)),
                             Index(builder, op.chunk, starts.integers()[d]));
  const int64_t span = (size - 1) * stride + 1;
  Value* part = SliceAlong(builder, op.operands[0], d, start, span);
  if (!builder.status().ok()) return builder.status();
  return op.Copy({part}, {{"start_indices", WithNumber(context, starts, d, 0)},
                          {"limit_indices", WithNumber(context, limits, d, span)}});
}

StatusOr<Values> EmitDynamicSlice(const ChunkOp& op) {
  Builder& builder = op.builder;
  const int d = op.result_dimension();
  const Type type = op.op.result(0)->type();
  const Attribute sizes =
      WithNumber(builder.context(), op.op.Get("slice_sizes"), d, op.ResultType().shape()[d]);
  Values operands(op.operands);
  if (op.factor.operands[0] == kWhole) {
    // The whole slice would be moved into the operand; the chunk lies in it there.
    const int64_t most = op.op.operand(0)->type().shape()[d] - type.shape()[d];
    // The program's own indices may be too narrow for all places of the operand.
    const Type wide = op.chunk.first->type().element_type();
    Type index = operands[1 + d]->type().element_type();
    if (index.integer_width() < wide.integer_width()) index = wide;
    for (size_t i = 1; i < operands.size(); ++i) operands[i] = builder.Convert(operands[i], index);
    Value* start = ClampTo(builder, operands[1 + d], 0, most);
    Value* first = builder.Convert(StartAlong(builder, type, d, op.chunk), index);
    operands[1 + d] = builder.Add(start, first);
    if (!builder.status().ok()) return builder.status();
  }
  return op.Copy(operands, {{"slice_sizes", sizes}});
}

StatusOr<Values> EmitPad(const ChunkOp& op) {
  if (op.factor.operands[0] != kWhole) return op.Copy(op.operands);
  Builder& builder = op.builder;
  Context& context = builder.context();
  const int d = op.result_dimension();
  const Attribute low = op.op.Get("edge_padding_low");
  Value* start = builder.Subtract(StartAlong(builder, op.op.result(0)->type(), d, op.chunk),
                                  Index(builder, op.chunk, low.integers()[d]));
  Value* window =
      Window(builder, op.operands[0], d, start, op.ResultType().shape()[d], op.operands[1]);
  if (!builder.status().ok()) return builder.status();
  const Attribute high = op.op.Get("edge_padding_high");
  return op.Copy({window, op.operands[1]},
                 {{"edge_padding_low", WithNumber(context, low, d, 0)},
                  {"edge_padding_high", WithNumber(context, high, d, 0)}});
}

StatusOr<Values> EmitReverse(const ChunkOp& op) {
  if (op.factor.operands[0] != kWhole) return op.Copy(op.operands);
  Builder& builder = op.builder;
  const int d = op.result_dimension();
  const Type type = op.op.result(0)->type();
  const int64_t size = op.ResultType().shape()[d];
  Value* start = builder.Subtract(Index(builder, op.chunk, type.shape()[d] - size),
                                  StartAlong(builder, type, d, op.chunk));
  Value* part = SliceAlong(builder, op.operands[0], d, start, size);
  if (!builder.status().ok()) return builder.status();
  return op.Copy({part});
}

StatusOr<Values> EmitConcatenate(const ChunkOp& op) {
  const int d = op.result_dimension();
  if (d != op.op.Get("dimension").integer()) return op.Copy(op.operands);
  Builder& builder = op.builder;
  Context& context = builder.context();
  const Type type = op.ResultType();
  const Type scalar = context.TensorType({}, type.element_type());
  Value* start = StartAlong(builder, op.op.result(0)->type(), d, op.chunk);
  const Type positions = context.TensorType(type.shape(), start->type().element_type());
  Value* position =
      builder.Add(builder.Iota(positions, d), builder.BroadcastInDim(start, type.shape(), {}));
  Value* zero = builder.IntegerConstant(scalar, 0);
  Value* joined = nullptr;
  int64_t offset = 0;
  for (Value* operand : op.operands) {
    const int64_t length = operand->type().shape()[d];
    if (length == 0) continue;
    Value* shifted = builder.Subtract(start, Index(builder, op.chunk, offset));
    Value* part = Window(builder, operand, d, shifted, type.shape()[d], zero);
    Value* is_before =
        builder.Compare(Comparison::kLess, position, builder.IntegerConstant(positions, offset));
    joined = joined == nullptr ? part : builder.Select(is_before, joined, part);
    offset += length;
  }
  return Finish(builder, joined);
}

// A reduction to scalars and other values adds up in the accumulator's type.
StatusOr<Values> EmitReduce(const ChunkOp& op) {
  if (op.result_dimension() != kPartial) return op.Copy(op.operands);
  const Combination combination = op.factor.combination;
  if (combination == Combination::kBody) return op.Copy(op.operands);
  Builder& builder = op.builder;
  const Type element =
      AccumulatorType(builder.context(), op.op.result(0)->type(), combination).element_type();
  Value* operand = builder.Convert(op.operands[0], element);
  // What the reduction starts from counts once, in the accumulator, and not in every chunk. For
  // extremes that makes no difference, and not every type has a number beyond all others.
  const bool counts = combination == Combination::kSum || combination == Combination::kProduct;
  const Type scalar = builder.context().TensorType({}, element);
  Value* initial =
      counts ? IdentityOf(builder, scalar, combination) : builder.Convert(op.operands[1], element);
  return Finish(builder, builder.Reduce(operand, initial, op.op.Get("dimensions").integers(),
                                        OpcodeOf(combination)));
}

// A product whose parts are added up gives them in the accumulator's type.
StatusOr<Values> EmitDot(const ChunkOp& op) {
  ASSIGN_OR_RETURN(Values results, op.Copy(op.operands));
  if (op.result_dimension() == kPartial) {
    results[0]->set_type(
        AccumulatorType(op.builder.context(), results[0]->type(), op.factor.combination));
  }
  return results;
}

StatusOr<Values> EmitByKind(const ChunkOp& op) {
  switch (op.op.opcode()) {
    case Opcode::kIota:
      return EmitIota(op);
    case Opcode::kConstant:
      return EmitConstant(op);
    case Opcode::kSlice:
      return EmitSlice(op);
    case Opcode::kDynamicSlice:
      return EmitDynamicSlice(op);
    case Opcode::kPad:
      return EmitPad(op);
    case Opcode::kReverse:
      return EmitReverse(op);
    case Opcode::kConcatenate:
      return EmitConcatenate(op);
    case Opcode::kReduce:
      return EmitReduce(op);
    case Opcode::kDotGeneral:
      return EmitDot(op);
    case Opcode::kGather:
      return EmitGatherChunk(op);
    case Opcode::kScatter:
      return EmitScatterChunk(op);
    case Opcode::kConvolution:
      return EmitConvolutionChunk(op);
    case Opcode::kChloTopK:
      return EmitTopKChunk(op);
    case Opcode::kCustomCall:
      return EmitCustomCallChunk(op);
    case Opcode::kWhile:
      return EmitLoopChunk(op);
    default:
      return op.Copy(op.operands);
  }
}

// Values laid one upon the other along a new first dimension.
Value* Stack(Builder& builder, Value* first, Value* second) {
  llvm::SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, first->type().shape());
  return builder.Concatenate({builder.Reshape(first, shape), builder.Reshape(second, shape)}, 0);
}

// Runs the reduction's own body over the results so far and the new ones.
StatusOr<Values> CombineByBody(Builder& builder, const Op& op, llvm::ArrayRef<Value*> so_far,
                               llvm::ArrayRef<Value*> parts) {
  Values operands;
  for (const auto [old_part, new_part] : llvm::zip_equal(so_far, parts)) {
    operands.push_back(Stack(builder, old_part, new_part));
  }
  for (size_t i = 0; i < parts.size(); ++i) operands.push_back(op.operand(parts.size() + i));
  if (!builder.status().ok()) return builder.status();
  ValueMap values;
  std::unique_ptr<Op> reduce = op.Clone(values);
  reduce->set_operands(operands);
  reduce->SetProperty(builder.context(), "dimensions", builder.context().I64Array({0}));
  for (size_t i = 0; i < parts.size(); ++i) reduce->result(i)->set_type(parts[i]->type());
  return builder.Append(std::move(reduce))->results();
}

}  // namespace

bool IsUnsigned(Type integer) {
  return integer.signedness() == Signedness::kUnsigned || integer.integer_width() == 1;
}

int64_t GreatestOf(Type integer) {
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  const unsigned bits = integer.integer_width() - (IsUnsigned(integer) ? 0 : 1);
  return bits >= 63 ? kGreatest : (int64_t{1} << bits) - 1;
}

Value* ClampTo(Builder& builder, Value* index, int64_t least, int64_t most) {
  const Type type = index->type();
  most = std::min(most, GreatestOf(type.element_type()));
  if (!IsUnsigned(type.element_type())) {
    index = builder.Maximum(index, builder.IntegerConstant(type, least));
  }
  return builder.Minimum(index, builder.IntegerConstant(type, most));
}

Opcode OpcodeOf(Combination combination) {
  switch (combination) {
    case Combination::kSum:
      return Opcode::kAdd;
    case Combination::kProduct:
      return Opcode::kMultiply;
    case Combination::kMaximum:
      return Opcode::kMaximum;
    case Combination::kMinimum:
      return Opcode::kMinimum;
    case Combination::kAnd:
      return Opcode::kAnd;
    case Combination::kOr:
      return Opcode::kOr;
    default:
      llvm_unreachable("not a combination by one op");
  }
}

Value* IdentityOf(Builder& builder, Type type, Combination combination) {
  switch (combination) {
    case Combination::kSum:
    case Combination::kOr:
      return builder.IntegerConstant(type, 0);
    case Combination::kProduct:
      return builder.IntegerConstant(type, 1);
    default:
      llvm_unreachable("not a combination that starts from nothing");
  }
}

Type ChunkOp::ResultType(size_t index) const {
  const Type type = op.result(index)->type();
  const int dimension = factor.results[index];
  return dimension < 0 ? type : ChunkType(builder.context(), type, dimension, chunk);
}

StatusOr<Values> ChunkOp::Copy(llvm::ArrayRef<Value*> new_operands,
                               llvm::ArrayRef<NamedAttribute> changed) const {
  ValueMap values;
  std::unique_ptr<Op> copy = op.Clone(values);
  copy->set_operands(new_operands);
  for (const auto& [name, attribute] : changed) {
    copy->SetProperty(builder.context(), name, attribute);
  }
  for (size_t i = 0; i < op.result_count(); ++i) copy->result(i)->set_type(ResultType(i));
  return builder.Append(std::move(copy))->results();
}

Attribute WithNumber(Context& context, Attribute numbers, size_t index, int64_t number) {
  llvm::SmallVector<int64_t> changed(numbers.integers());
  changed[index] = number;
  return context.I64Array(changed);
}

int64_t UnitOf(Type type, int dimension, int64_t blocks) {
  return type.shape()[dimension] / blocks;
}

Type ChunkType(Context& context, Type type, int dimension, const Chunk& chunk) {
  return WithSize(context, type, dimension, chunk.size * UnitOf(type, dimension, chunk.blocks));
}

Value* StartAlong(Builder& builder, Type type, int dimension, const Chunk& chunk) {
  const int64_t unit = UnitOf(type, dimension, chunk.blocks);
  return unit == 1 ? chunk.first : builder.Multiply(chunk.first, Index(builder, chunk, unit));
}

Value* SliceChunk(Builder& builder, Value* whole, int dimension, const Chunk& chunk) {
  const Type type = whole->type();
  return SliceAlong(builder, whole, dimension, StartAlong(builder, type, dimension, chunk),
                    chunk.size * UnitOf(type, dimension, chunk.blocks));
}

Value* UpdateChunk(Builder& builder, Value* whole, Value* part, int dimension, const Chunk& chunk) {
  Value* start = StartAlong(builder, whole->type(), dimension, chunk);
  return builder.DynamicUpdateSlice(whole, part,
                                    StartsAt(builder, whole->type(), dimension, start));
}

Value* ZerosLike(Builder& builder, Type type) {
  const Type scalar = builder.context().TensorType({}, type.element_type());
  return builder.BroadcastInDim(builder.IntegerConstant(scalar, 0), type.shape(), {});
}

Type AccumulatorType(Context& context, Type type, Combination combination) {
  const Type element = type.element_type();
  const bool is_short = element.Is(TypeKind::kFloat) && *element.bytes_per_element() < 4;
  if (combination != Combination::kSum || !is_short) return type;
  return WithElement(context, type, context.FloatType(FloatKind::kF32));
}

StatusOr<Values> EmitChunk(Builder& builder, const Op& op, const Factor& factor,
                           llvm::ArrayRef<Value*> operands, const Chunk& chunk) {
  builder.set_location(op.location());
  ASSIGN_OR_RETURN(Values results, EmitByKind({builder, op, factor, operands, chunk}));
  for (size_t i = 0; i < results.size(); ++i) {
    if (factor.results[i] != kPartial) continue;
    const Type accumulator =
        AccumulatorType(builder.context(), op.result(i)->type(), factor.combination);
    results[i] = builder.Convert(results[i], accumulator.element_type());
  }
  if (!builder.status().ok()) return builder.status();
  return results;
}

Value* InitialAccumulator(Builder& builder, const Op& op, const Factor& factor, size_t result,
                          llvm::ArrayRef<Value*> operands) {
  const Type type = op.result(result)->type();
  const Type accumulator = AccumulatorType(builder.context(), type, factor.combination);
  switch (factor.combination) {
    case Combination::kFold:
      return operands[result];
    case Combination::kTopK:
      return InitialTopK(builder, op, result);
    case Combination::kBody:
    default:
      break;
  }
  if (op.Is(Opcode::kReduce)) {
    Value* initial = operands[op.result_count() + result];
    return builder.BroadcastInDim(builder.Convert(initial, accumulator.element_type()),
                                  accumulator.shape(), {});
  }
  return IdentityOf(builder, accumulator, factor.combination);
}

StatusOr<Values> Combine(Builder& builder, const Op& op, const Factor& factor,
                         llvm::ArrayRef<Value*> so_far, llvm::ArrayRef<Value*> parts) {
  switch (factor.combination) {
    case Combination::kFold:
      return Values(parts);
    case Combination::kTopK:
      return CombineTopK(builder, op, so_far, parts);
    case Combination::kBody:
      return CombineByBody(builder, op, so_far, parts);
    default:
      break;
  }
  Values results;
  for (const auto [old_part, new_part] : llvm::zip_equal(so_far, parts)) {
    results.push_back(builder.Binary(OpcodeOf(factor.combination), old_part, new_part));
  }
  if (!builder.status().ok()) return builder.status();
  return results;
}

}  // namespace plimsoll
