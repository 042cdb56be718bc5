#include "rewrite/integer_rules.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

bool IsOfIntegers(const Value& value) {
  return value.type().Is(TypeKind::kTensor) && value.type().has_static_shape() &&
         value.type().element_type().Is(TypeKind::kInteger);
}

Builder::Values ShiftToZero(RuleScope& scope) {
  const Op& op = scope.op();
  if (!op.Is(Opcode::kShiftRightLogical) || !IsOfIntegers(*op.result(0))) return {};
  const std::optional<double> distance = ConstantNumber(*op.operand(1));
  if (!distance || *distance < 0 || *distance > 63) return {};
  const std::optional<Bounds> bounds = scope.properties().BoundsOf(*op.operand(0));
  const auto above = static_cast<double>(uint64_t{1} << static_cast<unsigned>(*distance));
  if (!bounds || bounds->least < 0 || bounds->most >= above) return {};
  return {scope.builder().IntegerConstant(op.result(0)->type(), 0)};
}

// The number that all elements are, if a double holds all of its bits.
std::optional<int64_t> NumberOf(const Value& value) {
  constexpr double kMost = static_cast<double>(int64_t{1} << 53);
  const std::optional<double> number = ConstantNumber(value);
  if (!number || *number <= -kMost || *number >= kMost) return std::nullopt;
  return static_cast<int64_t>(*number);
}

// Of these, the lower bits of the result follow from those of the operands.
bool KeepsLowerBits(const Op& op) {
  switch (op.opcode()) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kSubtract:
    case Opcode::kXor:
      return MapsElements(op);
    case Opcode::kBroadcastInDim:
    case Opcode::kConvert:
    case Opcode::kReshape:
      return true;
    default:
      return false;
  }
}

// Makes values anew with fewer bits.
class Narrower {
 public:
  Narrower(Builder& builder, Type element) : builder_(builder), element_(element) {}

  // True if the value would not just be converted.
  bool CanMake(const Value& value) const {
    const Op* op = value.defining_op();
    if (op == nullptr || !IsOfIntegers(value)) return false;
    if (op->Is(Opcode::kIota) || NumberOf(value)) return true;
    return KeepsLowerBits(*op) && value.has_one_use() &&
           llvm::all_of(op->operands(), [](const Value* v) { return IsOfIntegers(*v); });
  }

  Value* Make(Value* value) {
    if (!CanMake(*value)) return builder_.Convert(value, element_);
    const Op& op = *value->defining_op();
    const Type type = builder_.context().TensorType(value->type().shape(), element_);
    if (const std::optional<int64_t> number = NumberOf(*value)) {
      return builder_.IntegerConstant(type, Truncated(static_cast<uint64_t>(*number)));
    }
    if (op.Is(Opcode::kIota)) return builder_.Iota(type, op.Get("iota_dimension").integer());
    if (op.Is(Opcode::kConvert)) {
      Value* from = op.operand(0);
      return from->type().element_type() == element_ ? from : builder_.Convert(from, element_);
    }
    // One times a position, as counters of the last dimension have it.
    for (const size_t i : {0, 1}) {
      if (op.Is(Opcode::kMultiply) && NumberOf(*op.operand(i)) == 1) {
        return Make(op.operand(1 - i));
      }
    }
    std::vector<Value*> operands;
    for (Value* operand : op.operands()) operands.push_back(Make(operand));
    if (llvm::is_contained(operands, nullptr)) return nullptr;
    return builder_
        .Append(
            Op::Create(op.name(), op.location(), type, operands, op.properties(), op.attributes()))
        ->result(0);
  }

 private:
  // As a number of the element's type.
  int64_t Truncated(uint64_t bits) const {
    const unsigned width = element_.integer_width();
    const bool is_negative =
        element_.signedness() != Signedness::kUnsigned && ((bits >> (width - 1)) & 1) != 0;
    const uint64_t mask = (uint64_t{1} << width) - 1;
    return static_cast<int64_t>(is_negative ? bits | ~mask : bits & mask);
  }

  Builder& builder_;
  const Type element_;
};

Builder::Values NarrowIntegers(RuleScope& scope) {
  const Op& convert = scope.op();
  if (!convert.Is(Opcode::kConvert) || !IsOfIntegers(*convert.result(0)) ||
      !IsOfIntegers(*convert.operand(0)) || !convert.operand(0)->has_one_use()) {
    return {};
  }
  const Type from = convert.operand(0)->type().element_type();
  const Type to = convert.result(0)->type().element_type();
  // A predicate is not the lowest bit.
  if (to.integer_width() >= from.integer_width() || to.integer_width() < 8) return {};
  Narrower narrower(scope.builder(), to);
  const Value* computed = convert.operand(0);
  while (computed->defining_op() != nullptr && computed->defining_op()->Is(Opcode::kReshape)) {
    computed = computed->defining_op()->operand(0);
  }
  if (!narrower.CanMake(*computed)) return {};
  return {narrower.Make(convert.operand(0))};
}

constexpr Rule kRules[] = {
    {.name = "shift_to_zero",
     .pattern = "x >> n",
     .result = "0",
     .guard = "0 ≤ x < 2ⁿ, as for the upper half of a position",
     .rewrite = ShiftToZero},
    {.name = "narrow_integers",
     .pattern = "the lower bits of sums and products of wide integers",
     .result = "the same of narrow integers",
     .guard = "nothing else needs the wide ones",
     .rewrite = NarrowIntegers},
};

}  // namespace

llvm::ArrayRef<Rule> IntegerRules() { return kRules; }

}  // namespace plimsoll
