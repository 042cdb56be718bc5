// Result types of elementwise ops and constants.

#include <optional>

#include "ir/dimensions.h"
#include "ir/infer_rules.h"

namespace plimsoll {
namespace {

// Which elements an op takes, as a set of bits.
enum ElementClass : unsigned {
  kBoolean = 1,
  kSigned = 2,
  kUnsigned = 4,
  kFloating = 8,
  kComplexNumber = 16,
  kQuantizedNumber = 32,
  kOther = 64,
};
constexpr unsigned kIntegers = kSigned | kUnsigned;
constexpr unsigned kAnyElement = ~0U;

unsigned ClassOf(Type element) {
  switch (element ? element.kind() : TypeKind::kNone) {
    case TypeKind::kInteger:
      if (element.integer_width() == 1) return kBoolean;
      return element.signedness() == Signedness::kUnsigned ? kUnsigned : kSigned;
    case TypeKind::kIndex:
      return kSigned;
    case TypeKind::kFloat:
      return kFloating;
    case TypeKind::kComplex:
      return kComplexNumber;
    case TypeKind::kQuantized:
      return kQuantizedNumber;
    default:
      return kOther;
  }
}

unsigned AllowedClasses(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kSign:
      return kSigned | kFloating | kComplexNumber | kQuantizedNumber;
    case Opcode::kAnd:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kXor:
      return kBoolean | kIntegers;
    case Opcode::kAtan2:
    case Opcode::kCbrt:
    case Opcode::kCosine:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kRsqrt:
    case Opcode::kSine:
    case Opcode::kSqrt:
    case Opcode::kTan:
    case Opcode::kTanh:
      return kFloating | kComplexNumber | kQuantizedNumber;
    case Opcode::kCeil:
    case Opcode::kFloor:
    case Opcode::kIsFinite:
    case Opcode::kReducePrecision:
    case Opcode::kRoundNearestAwayFromZero:
    case Opcode::kRoundNearestEven:
      return kFloating | kQuantizedNumber;
    case Opcode::kChloDigamma:
    case Opcode::kChloErf:
    case Opcode::kChloErfInv:
    case Opcode::kChloErfc:
    case Opcode::kChloIsInf:
    case Opcode::kChloIsNegInf:
    case Opcode::kChloIsPosInf:
    case Opcode::kChloLgamma:
    case Opcode::kChloNextAfter:
    case Opcode::kChloPolygamma:
    case Opcode::kChloZeta:
    case Opcode::kComplex:
      return kFloating;
    case Opcode::kChloAsinAcosKernel:
      return kComplexNumber;
    case Opcode::kChloMulhi:
    case Opcode::kCountLeadingZeros:
    case Opcode::kPopulationCount:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return kIntegers;
    case Opcode::kDivide:
    case Opcode::kNegate:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kSubtract:
      return kIntegers | kFloating | kComplexNumber | kQuantizedNumber;
    case Opcode::kChloAcos:
    case Opcode::kChloAcosh:
    case Opcode::kChloAsin:
    case Opcode::kChloAsinh:
    case Opcode::kChloAtan:
    case Opcode::kChloAtanh:
    case Opcode::kChloBesselI1e:
    case Opcode::kChloConj:
    case Opcode::kChloCosh:
    case Opcode::kChloSinh:
    case Opcode::kChloSquare:
    case Opcode::kChloTan:
    case Opcode::kImag:
    case Opcode::kReal:
      return kFloating | kComplexNumber;
    default:
      return kAnyElement;
  }
}

std::string Names(unsigned classes) {
  std::string names;
  const auto add = [&](unsigned bit, std::string_view name) {
    if ((classes & bit) == 0) return;
    if (!names.empty()) names += ", ";
    names += name;
  };
  add(kBoolean, "booleans");
  add(kSigned, "signed integers");
  add(kUnsigned, "unsigned integers");
  add(kFloating, "floats");
  add(kComplexNumber, "complex numbers");
  add(kQuantizedNumber, "quantized numbers");
  return names;
}

// The shape and elements that all of `count` tensor operands agree on.
StatusOr<Type> CommonOperand(const OpView& op, size_t count) {
  RETURN_IF_ERROR(op.ExpectOperands(count));
  RETURN_IF_ERROR(op.ExpectTensors());
  const unsigned allowed = AllowedClasses(op.opcode());
  Type common = op.operands()[0];
  for (size_t i = 0; i < count; ++i) {
    const Type operand = op.operands()[i];
    if ((ClassOf(operand.element_type()) & allowed) == 0) {
      return op.Error("operand ", i, " has elements of type ", operand.element_type().ToString(),
                      ", expected ", Names(allowed));
    }
    const std::optional<Type> merged = MostSpecific(op.context(), common, operand);
    if (!merged) {
      return op.Error("operands 0 and ", i, " must have the same type, found ",
                      op.operands()[0].ToString(), " and ", operand.ToString());
    }
    common = *merged;
    // A sum of numbers with one scale and numbers with many has many.
    if (IsQuantizedPerAxis(operand.element_type())) {
      common = WithElement(op.context(), common, operand.element_type());
    }
  }
  return common;
}

// One result of the operands' shape.
InferredTypes CommonShapeOf(const OpView& op, size_t count, Type element) {
  ASSIGN_OR_RETURN(const Type common, CommonOperand(op, count));
  return std::vector<Type>{WithElement(op.context(), common, element)};
}

}  // namespace

InferredTypes InferUnary(const OpView& op) {
  ASSIGN_OR_RETURN(const Type common, CommonOperand(op, 1));
  return std::vector<Type>{common};
}

InferredTypes InferBinary(const OpView& op) {
  ASSIGN_OR_RETURN(const Type common, CommonOperand(op, 2));
  return std::vector<Type>{common};
}

InferredTypes InferRealPart(const OpView& op) {
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  const Type element = operand.element_type();
  return CommonShapeOf(op, 1, element.Is(TypeKind::kComplex) ? element.element_type() : element);
}

InferredTypes InferComplex(const OpView& op) {
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  return CommonShapeOf(op, 2, op.context().ComplexType(operand.element_type()));
}

InferredTypes InferPredicate(const OpView& op) {
  return CommonShapeOf(op, 1, op.context().IntegerType(1));
}

InferredTypes InferCompare(const OpView& op) {
  ASSIGN_OR_RETURN(const std::string_view direction,
                   op.Enumerator("comparison_direction", "stablehlo.comparison_direction"));
  static_cast<void>(direction);
  return CommonShapeOf(op, 2, op.context().IntegerType(1));
}

InferredTypes InferSelect(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(3));
  RETURN_IF_ERROR(op.ExpectTensors());
  const Type predicate = op.operands()[0];
  const Type on_true = op.operands()[1];
  const Type on_false = op.operands()[2];
  if (!predicate.element_type().IsInteger(1)) {
    return op.Error("operand 0 must be a tensor of i1, found ", predicate.ToString());
  }
  const std::optional<Type> result = MostSpecific(op.context(), on_true, on_false);
  if (!result) {
    return op.Error("operands 1 and 2 must have the same type, found ", on_true.ToString(), " and ",
                    on_false.ToString());
  }
  if (predicate.rank() != 0 && !HaveCompatibleShapes(predicate, *result)) {
    return op.Error("operand 0 must be a scalar or have the shape of the others, found ",
                    predicate.ToString(), " beside ", result->ToString());
  }
  return std::vector<Type>{*result};
}

InferredTypes InferClamp(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(3));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(1));
  for (const size_t limit : {0, 2}) {
    RETURN_IF_ERROR(op.ExpectCompatibleElements(limit, 1));
    const Type type = op.operands()[limit];
    if (type.rank() != 0 && !HaveCompatibleShapes(type, operand)) {
      return op.Error("operand ", limit, " must be a scalar or have the shape of operand 1, found ",
                      type.ToString(), " beside ", operand.ToString());
    }
  }
  return std::vector<Type>{operand};
}

InferredTypes InferDequantize(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  if (!IsQuantized(operand.element_type())) {
    return op.Error("operand 0 must be quantized, found ", operand.ToString());
  }
  return std::vector<Type>{
      WithElement(op.context(), operand, operand.element_type().element_type())};
}

InferredTypes InferConstant(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(0));
  const Attribute value = op.Find("value");
  if (!value.Is(AttributeKind::kDenseElements) && !value.Is(AttributeKind::kDenseResource)) {
    return op.Error("attribute value must be a dense constant");
  }
  const Type type = value.type();
  if (!type.Is(TypeKind::kTensor) || !type.has_static_shape()) {
    return op.Error("a constant must be a tensor whose shape is known, found ", type.ToString());
  }
  if (value.Is(AttributeKind::kDenseElements)) {
    const std::optional<int64_t> element = type.element_type().bytes_per_element();
    const std::optional<int64_t> expected = value.is_splat() ? element : type.bytes();
    const bool is_empty = type.element_count() == 0;
    if (expected && !is_empty && value.bytes().size() != static_cast<uint64_t>(*expected)) {
      return op.Error("a constant of type ", type.ToString(), " takes ", *expected,
                      " bytes, found ", value.bytes().size());
    }
  }
  return std::vector<Type>{type};
}

InferredTypes InferConstantLike(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  const Attribute value = op.Find("value");
  if (!value.Is(AttributeKind::kInteger) && !value.Is(AttributeKind::kFloat)) {
    return op.Error("attribute value must be a number");
  }
  return std::vector<Type>{WithElement(op.context(), operand, value.type())};
}

}  // namespace plimsoll
