#include "analysis/reducers.h"

#include <limits>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "ir/elements.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

namespace plimsoll {
namespace {

// Of sums and products booleans are left out: they mean `or` and `and` there.
bool IsReducerOf(Opcode reducer, Type element) {
  const bool is_boolean = element.IsInteger(1);
  const bool is_number = element.Is(TypeKind::kFloat) || element.Is(TypeKind::kInteger);
  switch (reducer) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
      return !is_boolean && (is_number || element.Is(TypeKind::kComplex));
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return is_number && !is_boolean;
    case Opcode::kAnd:
    case Opcode::kOr:
      return element.Is(TypeKind::kInteger);
    default:
      return false;
  }
}

// Of integers that an int64_t holds.
std::optional<int64_t> NeutralInteger(Opcode reducer, Type element) {
  const bool is_unsigned = element.signedness() == Signedness::kUnsigned || element.IsInteger(1);
  const unsigned width = element.integer_width();
  if (is_unsigned && width > 63) return std::nullopt;
  switch (reducer) {
    case Opcode::kAdd:
    case Opcode::kOr:
      return 0;
    case Opcode::kMultiply:
      return 1;
    case Opcode::kMaximum:
      return is_unsigned ? 0 : llvm::minIntN(width);
    case Opcode::kMinimum:
      return is_unsigned ? static_cast<int64_t>(llvm::maxUIntN(width)) : llvm::maxIntN(width);
    case Opcode::kAnd:
      return is_unsigned ? static_cast<int64_t>(llvm::maxUIntN(width)) : -1;
    default:
      return std::nullopt;
  }
}

std::optional<double> NeutralFloat(Opcode reducer, Type element) {
  switch (reducer) {
    case Opcode::kAdd:
      return 0;
    case Opcode::kMultiply:
      return 1;
    case Opcode::kMaximum:
    case Opcode::kMinimum: {
      if (!llvm::APFloat::semanticsHasInf(FloatSemantics(element.float_kind()))) {
        return std::nullopt;
      }
      const double infinity = std::numeric_limits<double>::infinity();
      return reducer == Opcode::kMaximum ? -infinity : infinity;
    }
    default:
      return std::nullopt;
  }
}

// One element's bytes.
std::optional<std::string> NeutralBytes(Opcode reducer, Type element) {
  if (element.Is(TypeKind::kInteger)) {
    const std::optional<int64_t> number = NeutralInteger(reducer, element);
    return number ? EncodeElement(element, *number) : std::nullopt;
  }
  const Type part = element.Is(TypeKind::kComplex) ? element.element_type() : element;
  const std::optional<double> number = NeutralFloat(reducer, part);
  return number ? EncodeElement(element, *number) : std::nullopt;
}

// The bytes of the constant that all elements are, behind broadcasts.
llvm::ArrayRef<char> BytesOfSplat(const Value& value) {
  const Op* op = value.defining_op();
  while (op != nullptr && op->Is(Opcode::kBroadcastInDim)) op = op->operand(0)->defining_op();
  const Attribute constant =
      op != nullptr && op->Is(Opcode::kConstant) ? op->Get("value") : Attribute();
  const bool is_one = constant.Is(AttributeKind::kDenseElements) && constant.is_splat();
  return is_one ? constant.bytes() : llvm::ArrayRef<char>();
}

// The comparison of two values in that direction, without an order of NaN.
bool Compares(const Value& value, std::string_view direction, const Value* left,
              const Value* right) {
  const Op* op = value.defining_op();
  if (op == nullptr || !op->Is(Opcode::kCompare)) return false;
  const Attribute type = op->Get("compare_type");
  if (type && type.enumerator() == "TOTALORDER") return false;
  const std::string_view found = op->Get("comparison_direction").enumerator();
  return found == direction && op->operand(0) == left && op->operand(1) == right;
}

const Op* DefinedBy(const Value& value, Opcode opcode) {
  const Op* op = value.defining_op();
  return op != nullptr && op->Is(opcode) ? op : nullptr;
}

}  // namespace

std::optional<Opcode> ArgReducerOf(const Op& op) {
  if (!op.Is(Opcode::kReduce) || op.result_count() != 2 || op.operand_count() != 4) {
    return std::nullopt;
  }
  const Block& body = *op.entry_block();
  const Op& end = *body.last();
  const Value* a = body.argument(0);
  const Value* position = body.argument(1);
  const Value* b = body.argument(2);
  const Value* other_position = body.argument(3);
  const Op* value = DefinedBy(*end.operand(0), Opcode::kSelect);
  const Op* chosen = DefinedBy(*end.operand(1), Opcode::kSelect);
  if (value == nullptr || chosen == nullptr || value->operand(1) != a || value->operand(2) != b ||
      chosen->operand(1) != position || chosen->operand(2) != other_position) {
    return std::nullopt;
  }
  // wins = a < b or a is NaN; the position also of equal ones, if it is less.
  const Value& wins = *value->operand(0);
  const Op* either = DefinedBy(*chosen->operand(0), Opcode::kOr);
  if (either == nullptr || either->operand(0) != &wins) return std::nullopt;
  const Op* both = DefinedBy(*either->operand(1), Opcode::kAnd);
  if (both == nullptr || !Compares(*both->operand(0), "EQ", a, b) ||
      !Compares(*both->operand(1), "LT", position, other_position)) {
    return std::nullopt;
  }
  const Value* better = &wins;
  if (const Op* with_nan = DefinedBy(wins, Opcode::kOr)) {
    if (!Compares(*with_nan->operand(1), "NE", a, a)) return std::nullopt;
    better = with_nan->operand(0);
  }
  if (Compares(*better, "LT", a, b)) return Opcode::kMinimum;
  if (Compares(*better, "GT", a, b)) return Opcode::kMaximum;
  return std::nullopt;
}

std::optional<Opcode> ReducerOfBody(const Op& op) {
  const Type element = op.operand(0)->type().element_type();
  const Opcode reducer = BodyOf(op);
  // The body may also take one of its arguments twice, or one from outside.
  if (!IsReducerOf(reducer, element) || op.result(0)->type().element_type() != element) {
    return std::nullopt;
  }
  const Block& body = *op.entry_block();
  const Op& combine = *body.first();
  const bool takes_both =
      (combine.operand(0) == body.argument(0) && combine.operand(1) == body.argument(1)) ||
      (combine.operand(0) == body.argument(1) && combine.operand(1) == body.argument(0));
  if (!takes_both || body.last()->operand(0) != combine.result(0)) return std::nullopt;
  return reducer;
}

std::optional<Reduction> ReductionOf(const Op& op) {
  if (!op.Is(Opcode::kReduce) || op.result_count() != 1 ||
      !op.operand(0)->type().has_static_shape() || !op.result(0)->type().has_static_shape()) {
    return std::nullopt;
  }
  const std::optional<Opcode> reducer = ReducerOfBody(op);
  if (!reducer) return std::nullopt;
  return Reduction{.reducer = *reducer,
                   .dimensions = op.Get("dimensions").integers(),
                   .element = op.operand(0)->type().element_type()};
}

bool IsIdempotent(Opcode reducer) {
  return reducer != Opcode::kAdd && reducer != Opcode::kMultiply;
}

bool IsNeutral(const Reduction& reduction, const Value& value) {
  const std::optional<std::string> neutral = NeutralBytes(reduction.reducer, reduction.element);
  if (!neutral) return false;
  // Numbers may have been converted, and 0 may have a sign. Those that a double does not hold are
  // compared as they are.
  if (const std::optional<double> number = ConstantNumber(value)) {
    return number == DecodeElement(reduction.element, *neutral);
  }
  return BytesOfSplat(value) == llvm::ArrayRef<char>(neutral->data(), neutral->size());
}

Value* NeutralOf(Builder& builder, Opcode reducer, Type element) {
  const std::optional<std::string> neutral = NeutralBytes(reducer, element);
  if (!neutral) return nullptr;
  const Type scalar = builder.context().TensorType({}, element);
  const Attribute value =
      builder.context().DenseElements(scalar, {neutral->data(), neutral->size()});
  const StatusOr<Op*> constant = builder.Create(Opcode::kConstant, {}, {{"value", value}});
  return constant.ok() ? (*constant)->result(0) : nullptr;
}

bool IsNarrowFloat(Type element) {
  return element.Is(TypeKind::kFloat) && element.bytes_per_element().value_or(0) < 4;
}

bool RoundsPartialResults(const Reduction& reduction) {
  return !IsIdempotent(reduction.reducer) && IsNarrowFloat(reduction.element);
}

}  // namespace plimsoll
