#include "rewrite/pieces.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "analysis/constant_integers.h"
#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "ir/elements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace plimsoll {
namespace {

// A longer chain of ops is not looked through.
constexpr int kMostDepth = 256;

// A stride that is never taken, and a limit behind the last element, are written in one way.
void Simplify(int64_t start, int64_t& limit, int64_t& stride) {
  const auto count =
      static_cast<int64_t>(limit <= start ? 0 : llvm::divideCeil(limit - start, stride));
  limit = count == 0 ? start : start + (count - 1) * stride + 1;
  if (count <= 1) stride = 1;
}

}  // namespace

std::optional<SliceBounds> BoundsOfSlice(const Op& op) {
  if (op.Is(Opcode::kSlice) && op.result(0)->type().has_static_shape()) {
    if (!op.operand(0)->type().has_static_shape()) return std::nullopt;
    return SliceBounds{.starts = llvm::to_vector(op.Get("start_indices").integers()),
                       .limits = llvm::to_vector(op.Get("limit_indices").integers()),
                       .strides = llvm::to_vector(op.Get("strides").integers())};
  }
  if (!op.Is(Opcode::kDynamicSlice) || !op.operand(0)->type().has_static_shape()) {
    return std::nullopt;
  }
  const llvm::ArrayRef<int64_t> shape = op.operand(0)->type().shape();
  const llvm::ArrayRef<int64_t> sizes = op.Get("slice_sizes").integers();
  SliceBounds bounds;
  for (size_t d = 0; d < shape.size(); ++d) {
    const std::optional<std::vector<int64_t>> start = ConstantIntegers(*op.operand(1 + d));
    if (!start) return std::nullopt;
    // A start out of bounds means the nearest one inside.
    const int64_t first = std::clamp<int64_t>(start->front(), 0, shape[d] - sizes[d]);
    bounds.starts.push_back(first);
    bounds.limits.push_back(first + sizes[d]);
    bounds.strides.push_back(1);
  }
  return bounds;
}

std::optional<size_t> SlicedDimension(const SliceBounds& bounds, llvm::ArrayRef<int64_t> shape) {
  std::optional<size_t> sliced;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (bounds.starts[d] == 0 && bounds.limits[d] == shape[d] && bounds.strides[d] == 1) continue;
    if (sliced) return std::nullopt;
    sliced = d;
  }
  return sliced;
}

Value* SliceOf(Builder& builder, Value* value, const SliceBounds& bounds) {
  const llvm::ArrayRef<int64_t> shape = value->type().shape();
  SliceBounds simple = bounds;
  bool is_all = true;
  for (size_t d = 0; d < shape.size(); ++d) {
    Simplify(simple.starts[d], simple.limits[d], simple.strides[d]);
    is_all &= simple.starts[d] == 0 && simple.limits[d] == shape[d] && simple.strides[d] == 1;
  }
  return is_all ? value : builder.Slice(value, simple.starts, simple.limits, simple.strides);
}

Value* CloneElementwise(Builder& builder, const Op& op, llvm::ArrayRef<Value*> operands,
                        llvm::ArrayRef<int64_t> shape) {
  // After an error of the builder.
  if (llvm::is_contained(operands, nullptr)) return nullptr;
  const Type type = builder.context().TensorType(shape, op.result(0)->type().element_type());
  std::unique_ptr<Op> clone =
      Op::Create(op.name(), op.location(), type, operands, op.properties(), op.attributes());
  return builder.Append(std::move(clone))->result(0);
}

bool IsSplatConstant(const Op& op) {
  const Attribute value = op.Is(Opcode::kConstant) ? op.Get("value") : Attribute();
  return value.Is(AttributeKind::kDenseElements) && value.is_splat();
}

Value* SplatOfShape(Builder& builder, const Op& constant, llvm::ArrayRef<int64_t> shape) {
  Context& context = builder.context();
  const Type type = context.TensorType(shape, constant.result(0)->type().element_type());
  const Attribute splat = context.DenseElements(type, constant.Get("value").bytes());
  return builder
      .Append(Op::Create(constant.name(), constant.location(), type, {},
                         context.Dictionary({{"value", splat}})))
      ->result(0);
}

Value* ReshapeTo(Builder& builder, Value* value, llvm::ArrayRef<int64_t> shape) {
  if (value == nullptr) return nullptr;
  while (value->type().shape() != shape) {
    const Op* op = value->defining_op();
    if (op == nullptr || !IsReshape(*op)) return builder.Reshape(value, shape);
    value = op->operand(0);
  }
  return value;
}

bool IsConcatenate(const Op* op) {
  return op != nullptr && op->Is(Opcode::kConcatenate) &&
         op->result(0)->type().has_static_shape() &&
         llvm::all_of(op->operands(),
                      [](const Value* operand) { return operand->type().has_static_shape(); });
}

llvm::SmallVector<int64_t> PieceSizes(const Op& concatenate) {
  const int64_t dimension = concatenate.Get("dimension").integer();
  llvm::SmallVector<int64_t> sizes;
  for (const Value* operand : concatenate.operands()) {
    const int64_t size = operand->type().shape()[dimension];
    if (size > 0) sizes.push_back(size);
  }
  return sizes;
}

Value* Pieces::Get(Value* value, int64_t start, int64_t limit, int64_t stride) {
  // After an error of the builder.
  if (value == nullptr) return nullptr;
  Simplify(start, limit, stride);
  if (start == 0 && limit == value->type().shape()[dimension_] && stride == 1) return value;
  const auto key = std::make_tuple(value, start, limit, stride);
  if (const auto made = made_.find(key); made != made_.end()) return made->second;
  ++depth_;
  Value* part = Make(value, start, limit, stride);
  --depth_;
  return made_[key] = part;
}

Value* Pieces::Make(Value* value, int64_t start, int64_t limit, int64_t stride) {
  llvm::SmallVector<int64_t> shape(value->type().shape());
  const auto size = static_cast<int64_t>(llvm::divideCeil(limit - start, stride));
  const Op* op = value->defining_op();
  if (IsSameAlong(*value)) return Smaller(*value, size);
  if (IsConcatenate(op) && op->Get("dimension").integer() == static_cast<int64_t>(dimension_)) {
    return Concatenated(op->operands(), start, limit, stride);
  }
  const bool is_through = op != nullptr && depth_ < kMostDepth &&
                          (through_ == nullptr ? IsMadeOfPieces(*value) : through_->contains(op));
  if (is_through) {
    llvm::SmallVector<Value*> operands;
    for (Value* operand : op->operands()) {
      operands.push_back(operand->type().rank() == 0 ? operand
                                                     : Get(operand, start, limit, stride));
    }
    shape[dimension_] = size;
    return CloneElementwise(builder_, *op, operands, shape);
  }
  SliceBounds bounds = {.starts = llvm::SmallVector<int64_t>(shape.size(), 0),
                        .limits = shape,
                        .strides = llvm::SmallVector<int64_t>(shape.size(), 1)};
  bounds.starts[dimension_] = start;
  bounds.limits[dimension_] = limit;
  bounds.strides[dimension_] = stride;
  return SliceOf(builder_, value, bounds);
}

Value* Pieces::Concatenated(llvm::ArrayRef<Value*> parts, int64_t start, int64_t limit,
                            int64_t stride) {
  llvm::SmallVector<Value*> read;
  int64_t offset = 0;
  for (Value* part : parts) {
    const int64_t end = offset + part->type().shape()[dimension_];
    const int64_t steps =
        start >= offset ? 0 : static_cast<int64_t>(llvm::divideCeil(offset - start, stride));
    const int64_t first = start + steps * stride;
    if (first < std::min(limit, end)) {
      read.push_back(Get(part, first - offset, std::min(limit, end) - offset, stride));
    }
    offset = end;
  }
  if (read.empty()) return Get(parts.front(), 0, 0);
  return read.size() == 1 ? read.front()
                          : builder_.Concatenate(read, static_cast<int64_t>(dimension_));
}

bool Pieces::IsMadeOfPieces(const Value& value) {
  if (const auto known = is_made_of_pieces_.find(&value); known != is_made_of_pieces_.end()) {
    return known->second;
  }
  ++depth_;
  const bool is =
      !value.is_argument() && depth_ < kMostDepth && IsMadeOfPieces(*value.defining_op());
  --depth_;
  return is_made_of_pieces_[&value] = is;
}

bool Pieces::IsMadeOfPieces(const Op& op) {
  if (IsConcatenate(&op)) return op.Get("dimension").integer() == static_cast<int64_t>(dimension_);
  if (!MapsElements(op)) return false;
  bool is = false;
  for (const Value* operand : op.operands()) {
    if (operand->type().rank() == 0 || IsSameAlong(*operand)) continue;
    if (!IsMadeOfPieces(*operand)) return false;
    is = true;
  }
  return is;
}

bool Pieces::IsSameAlong(const Value& value) const {
  const Op* op = value.defining_op();
  if (op == nullptr || dimension_ >= value.type().rank()) return false;
  if (op->Is(Opcode::kIota)) {
    return op->Get("iota_dimension").integer() != static_cast<int64_t>(dimension_);
  }
  if (!op->Is(Opcode::kBroadcastInDim)) return IsSplatConstant(*op);
  const llvm::ArrayRef<int64_t> dimensions = op->Get("broadcast_dimensions").integers();
  const auto* const from = llvm::find(dimensions, static_cast<int64_t>(dimension_));
  return from == dimensions.end() || op->operand(0)->type().shape()[from - dimensions.begin()] == 1;
}

Value* Pieces::Smaller(const Value& value, int64_t size) {
  const Op& op = *value.defining_op();
  llvm::SmallVector<int64_t> shape(value.type().shape());
  shape[dimension_] = size;
  const Type type = builder_.context().TensorType(shape, value.type().element_type());
  if (op.Is(Opcode::kIota)) return builder_.Iota(type, op.Get("iota_dimension").integer());
  if (op.Is(Opcode::kBroadcastInDim)) {
    return builder_.BroadcastInDim(op.operand(0), shape, op.Get("broadcast_dimensions").integers());
  }
  return SplatOfShape(builder_, op, shape);
}

}  // namespace plimsoll
