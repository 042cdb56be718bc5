#include "rewrite/shrink.h"

#include "analysis/op_class.h"
#include "llvm/ADT/STLExtras.h"
#include "rewrite/pieces.h"

namespace plimsoll {
namespace {

// A longer chain of ops is not looked through.
constexpr int kMostDepth = 256;

}  // namespace

bool Shrinker::Has(int64_t dimension) const { return llvm::is_contained(dimensions_, dimension); }

llvm::SmallVector<int64_t> Shrinker::ShapeWithout(const Value& value) const {
  llvm::SmallVector<int64_t> shape;
  for (const auto [d, size] : llvm::enumerate(value.type().shape())) {
    if (!Has(static_cast<int64_t>(d))) shape.push_back(size);
  }
  return shape;
}

std::optional<IndexedValue> Shrinker::BeforeBroadcast(Value& value) const {
  IndexedValue element = AllIndices(value);
  while (llvm::any_of(dimensions_, [&](int64_t d) { return element.Has(static_cast<int>(d)); })) {
    std::optional<IndexedValue> before = SeeThroughOne(element);
    if (!before) return std::nullopt;
    element = *std::move(before);
  }
  return element;
}

bool Shrinker::CanShrink(Value& value) {
  if (value.type().rank() == 0) return true;
  if (const auto known = can_shrink_.find(&value); known != can_shrink_.end()) {
    return known->second;
  }
  ++depth_;
  const bool can = depth_ < kMostDepth && Look(value);
  --depth_;
  return can_shrink_[&value] = can;
}

bool Shrinker::Look(Value& value) {
  if (BeforeBroadcast(value)) return true;
  const Op* op = value.defining_op();
  if (op == nullptr) return false;
  if (op->Is(Opcode::kIota)) return !Has(op->Get("iota_dimension").integer());
  if (IsSplatConstant(*op)) return true;
  return MapsElements(*op) &&
         llvm::all_of(op->operands(), [&](Value* operand) { return CanShrink(*operand); });
}

Value* Shrinker::Shrink(Value& value) {
  if (value.type().rank() == 0) return &value;
  if (const auto known = shrunk_.find(&value); known != shrunk_.end()) return known->second;
  Value* made = Make(value);
  return shrunk_[&value] = made;
}

Value* Shrinker::Make(Value& value) {
  const llvm::SmallVector<int64_t> shape = ShapeWithout(value);
  if (const std::optional<IndexedValue> element = BeforeBroadcast(value)) {
    // Without a broadcast there are only dimensions of one element to take away.
    if (element->value == &value) return ReshapeTo(builder_, &value, shape);
    llvm::SmallVector<int> indices;
    for (const auto [d, size] : llvm::enumerate(value.type().shape())) {
      if (!Has(static_cast<int64_t>(d))) indices.push_back(static_cast<int>(d));
    }
    return Arrange(builder_, *element, indices, shape);
  }
  const Op& op = *value.defining_op();
  if (op.Is(Opcode::kIota)) {
    const int64_t dimension = op.Get("iota_dimension").integer();
    const auto before = llvm::count_if(dimensions_, [&](int64_t d) { return d < dimension; });
    return builder_.Iota(builder_.context().TensorType(shape, value.type().element_type()),
                         dimension - before);
  }
  if (IsSplatConstant(op)) return SplatOfShape(builder_, op, shape);
  llvm::SmallVector<Value*> operands;
  for (Value* operand : op.operands()) operands.push_back(Shrink(*operand));
  return CloneElementwise(builder_, op, operands, shape);
}

}  // namespace plimsoll
