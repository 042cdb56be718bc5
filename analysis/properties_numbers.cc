// Which values are not negative, positive, whole numbers, or sorted.

#include <cmath>
#include <cstddef>
#include <vector>

#include "analysis/op_class.h"
#include "analysis/properties_internal.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

bool AllHave(Properties& properties, llvm::ArrayRef<Value*> values, Property property) {
  return llvm::all_of(values, [&](const Value* value) { return properties.Has(*value, property); });
}

bool AllHave(Properties& properties, const Op& op, Property property) {
  return llvm::all_of(op.operands(),
                      [&](const Value* value) { return properties.Has(*value, property); });
}

// True if the op sums or reduces over no elements: what is left is what it started from.
bool IsOfNothing(const Op& op) {
  return llvm::any_of(op.operands(), [](const Value* operand) {
    return operand->type().element_count().value_or(0) == 0;
  });
}

// True if each element is a product of squares and numbers that are not negative, or a sum of such.
bool IsSumOfSquares(Properties& properties, const Value& value) {
  int next_index = kFirstNewIndex;
  Product product = ProductOf(AllIndices(Itself(value)), next_index);
  if (product.scale < 0) return false;
  llvm::SmallVector<bool> is_done(product.factors.size(), false);
  for (size_t i = 0; i < product.factors.size(); ++i) {
    if (is_done[i]) continue;
    const ProductFactor& factor = product.factors[i];
    for (size_t k = i + 1; k < product.factors.size() && !is_done[i]; ++k) {
      is_done[i] = is_done[k] = !is_done[k] && product.factors[k].element == factor.element;
    }
    if (!is_done[i] && !properties.Has(*factor.element.value, Property::kNonNegative)) return false;
  }
  return true;
}

// Functions that give no negative number for one that is none, and no zero for one that is
// positive.
bool KeepsSign(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCbrt:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLogPlusOne:
    case Opcode::kSign:
    case Opcode::kSqrt:
    case Opcode::kTanh:
    case Opcode::kChloAsinh:
    case Opcode::kChloAtan:
    case Opcode::kChloErf:
    case Opcode::kChloSinh:
      return true;
    default:
      return false;
  }
}

// The same, but small numbers may become zero.
bool KeepsNonNegative(Opcode opcode) {
  return KeepsSign(opcode) || opcode == Opcode::kCeil || opcode == Opcode::kFloor ||
         opcode == Opcode::kRoundNearestAwayFromZero || opcode == Opcode::kRoundNearestEven ||
         opcode == Opcode::kReducePrecision;
}

bool IsEvenInteger(std::optional<double> number) { return number && std::fmod(*number, 2) == 0; }

// Of floats: sums and products of integers may overflow.
bool IsNonNegativeFloat(Properties& properties, const Op& op, const Value& value) {
  const auto all_have = [&] { return AllHave(properties, op, Property::kNonNegative); };
  switch (op.opcode()) {
    case Opcode::kAbs:
    case Opcode::kExponential:
    case Opcode::kLogistic:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
    case Opcode::kChloCosh:
    case Opcode::kChloErfc:
    case Opcode::kChloSquare:
      return true;
    case Opcode::kPower:
      return IsEvenInteger(ConstantNumber(*op.operand(1))) ||
             properties.Has(*op.operand(0), Property::kNonNegative);
    case Opcode::kMultiply:
      if (op.operand(0) == op.operand(1) || all_have()) return true;
      return IsSumOfSquares(properties, value);
    case Opcode::kDotGeneral:
    case Opcode::kDivide:
      return all_have() || IsSumOfSquares(properties, value);
    case Opcode::kAdd:
      return all_have();
    case Opcode::kReduceWindow:
    case Opcode::kReduce: {
      const Opcode reducer = BodyOf(op);
      return op.result_count() == 1 && (reducer == Opcode::kAdd || reducer == Opcode::kMultiply) &&
             all_have();
    }
    default:
      return false;
  }
}

// Of integers and floats.
bool IsNonNegativeNumber(Properties& properties, const Op& op) {
  const auto has = [&](size_t operand) {
    return properties.Has(*op.operand(operand), Property::kNonNegative);
  };
  switch (op.opcode()) {
    case Opcode::kIota:
    case Opcode::kPopulationCount:
    case Opcode::kCountLeadingZeros:
      return true;
    case Opcode::kMaximum:
      return has(0) || has(1);
    case Opcode::kMinimum:
      return has(0) && has(1);
    case Opcode::kClamp:
      return has(2) && (has(0) || has(1));
    case Opcode::kRemainder:
      return has(0);
    case Opcode::kReduce:
      if (op.result_count() != 1) return false;
      if (BodyOf(op) == Opcode::kMaximum) return has(1) || (has(0) && !IsOfNothing(op));
      return BodyOf(op) == Opcode::kMinimum && has(0) && has(1);
    default:
      return KeepsNonNegative(op.opcode()) && has(0);
  }
}

bool IsPositiveFloat(Properties& properties, const Op& op) {
  const auto has = [&](size_t operand) {
    return properties.Has(*op.operand(operand), Property::kPositive);
  };
  const auto is_non_negative = [&](size_t operand) {
    return properties.Has(*op.operand(operand), Property::kNonNegative);
  };
  switch (op.opcode()) {
    case Opcode::kExponential:
    case Opcode::kLogistic:
    case Opcode::kRsqrt:
    case Opcode::kChloCosh:
      return true;
    case Opcode::kAdd:
      return (has(0) && is_non_negative(1)) || (is_non_negative(0) && has(1));
    case Opcode::kMultiply:
    case Opcode::kDivide:
      return has(0) && has(1);
    case Opcode::kDotGeneral:
      return has(0) && has(1) && !IsOfNothing(op);
    case Opcode::kPower:
    case Opcode::kAbs:
    case Opcode::kChloSquare:
      return has(0);
    case Opcode::kReduce:
      if (op.result_count() != 1 || IsOfNothing(op) || !has(0)) return false;
      return (BodyOf(op) == Opcode::kAdd && is_non_negative(1)) ||
             (BodyOf(op) == Opcode::kMultiply && has(1));
    default:
      return false;
  }
}

// The same number as the comparator's argument, as far as order goes: JAX makes all zeros and all
// NaNs the same before it compares.
const Value* WithoutCanonicalForm(const Value* number) {
  while (const Op* op = number->defining_op()) {
    if (!op->Is(Opcode::kSelect)) return number;
    const Op* condition = op->operand(0)->defining_op();
    if (condition == nullptr || !condition->Is(Opcode::kCompare)) return number;
    const std::string_view direction = condition->Get("comparison_direction").enumerator();
    const bool is_nan = direction == "NE" && condition->operand(0) == condition->operand(1) &&
                        IsNaN(*op->operand(1));
    const bool is_zero = direction == "EQ" && condition->operand(0) == op->operand(2) &&
                         ConstantNumber(*condition->operand(1)) == 0 &&
                         ConstantNumber(*op->operand(1)) == 0;
    if (!is_nan && !is_zero) return number;
    number = op->operand(2);
  }
  return number;
}

// True if the comparator says that the first operand's smaller numbers come first.
bool SortsUp(const Op& sort) {
  const Block* body = sort.entry_block();
  if (body == nullptr || body->last()->operand_count() != 1) return false;
  const Op* compare = body->last()->operand(0)->defining_op();
  if (compare == nullptr || !compare->Is(Opcode::kCompare)) return false;
  const std::string_view direction = compare->Get("comparison_direction").enumerator();
  const bool is_less = direction == "LT" || direction == "LE";
  const bool is_greater = direction == "GT" || direction == "GE";
  const Value* first = WithoutCanonicalForm(compare->operand(is_greater ? 1 : 0));
  const Value* second = WithoutCanonicalForm(compare->operand(is_greater ? 0 : 1));
  return (is_less || is_greater) && first == body->argument(0) && second == body->argument(1);
}

bool SortsLastDimension(const Op& sort) {
  const Attribute dimension = sort.Get("dimension");
  const auto rank = static_cast<int64_t>(sort.operand(0)->type().rank());
  return !dimension.Is(AttributeKind::kInteger) || dimension.integer() == -1 ||
         dimension.integer() == rank - 1;
}

// Functions that do not fall.
bool Rises(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCbrt:
    case Opcode::kCeil:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kFloor:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kReducePrecision:
    case Opcode::kRoundNearestAwayFromZero:
    case Opcode::kRoundNearestEven:
    case Opcode::kSign:
    case Opcode::kSqrt:
    case Opcode::kTanh:
      return true;
    default:
      return false;
  }
}

bool IsSortedByOp(Properties& properties, const Op& op, const Value& value) {
  const auto has = [&](size_t operand) {
    return properties.Has(*op.operand(operand), Property::kSorted);
  };
  const bool is_float = IsFloat(value.type());
  switch (op.opcode()) {
    case Opcode::kIota:
      return op.Get("iota_dimension").integer() + 1 == static_cast<int64_t>(value.type().rank());
    case Opcode::kSort:
      return value.index() == 0 && SortsLastDimension(op) && SortsUp(op);
    case Opcode::kCustomCall: {
      const std::string_view target = op.Get("call_target_name").text();
      return value.index() == 1 && (target == "lapack_ssyevd_ffi" || target == "lapack_dsyevd_ffi");
    }
    case Opcode::kConvert:
      return is_float && !IsComplexTensor(op.operand(0)->type()) && has(0);
    case Opcode::kAdd:
      return is_float && has(0) && has(1);
    case Opcode::kMultiply:
      for (const size_t scale : {0, 1}) {
        const std::optional<double> number = ConstantNumber(*op.operand(scale));
        if (is_float && number && *number >= 0) return has(1 - scale);
      }
      return false;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return has(0) && has(1);
    case Opcode::kSlice:
      return has(0);
    case Opcode::kBroadcastInDim:
    case Opcode::kReshape:
    case Opcode::kTranspose: {
      const IndexedValue whole = AllIndices(Itself(value));
      const IndexedValue before = SeeThrough(whole);
      return before.value != &value && !before.indices.empty() &&
             before.indices.back() == whole.indices.back() &&
             properties.Has(*before.value, Property::kSorted);
    }
    case Opcode::kSelect:
      if (IsNaN(*op.operand(1))) return has(2);
      return IsNaN(*op.operand(2)) && has(1);
    default:
      return Rises(op.opcode()) && !IsComplexTensor(value.type()) && has(0);
  }
}

bool IsSorted(const std::vector<double>& elements, size_t size) {
  for (size_t k = 1; k < elements.size(); ++k) {
    if (k % size != 0 && !(elements[k - 1] <= elements[k])) return false;
  }
  return true;
}

bool KeepsIntegers(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kClamp:
    case Opcode::kConvert:
    case Opcode::kDotGeneral:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kSubtract:
    case Opcode::kChloSquare:
      return true;
    default:
      return false;
  }
}

bool IsSingularValue(const Op& op, const Value& value) {
  if (!op.Is(Opcode::kCustomCall) || value.index() != 1) return false;
  const std::string_view target = op.Get("call_target_name").text();
  return target == "lapack_sgesdd_ffi" || target == "lapack_dgesdd_ffi";
}

}  // namespace

std::string InferNonNegative(Properties& properties, const Value& value) {
  const Op* op = value.defining_op();
  if (HasUnsignedElements(value.type())) return "its type has no negative numbers";
  if (op == nullptr || IsComplexTensor(value.type())) return "";
  std::string reason = Because("never negative", *op);
  if (const llvm::SmallVector<Value*> moved = MovedFrom(value); !moved.empty()) {
    return AllHave(properties, moved, Property::kNonNegative) ? reason : "";
  }
  if (const std::optional<Bounds> bounds = properties.BoundsOf(value);
      bounds && bounds->least >= 0) {
    return reason;
  }
  if (op->Is(Opcode::kConvert)) {
    // A narrower integer may overflow.
    return IsFloat(value.type()) ? properties.Why(*op->operand(0), Property::kNonNegative) : "";
  }
  const bool is_non_negative =
      IsNonNegativeNumber(properties, *op) || IsSingularValue(*op, value) ||
      (IsFloat(value.type()) && IsNonNegativeFloat(properties, *op, value));
  return is_non_negative ? reason : "";
}

std::string InferPositive(Properties& properties, const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr || IsComplexTensor(value.type())) return "";
  std::string reason = Because("always positive", *op);
  if (const llvm::SmallVector<Value*> moved = MovedFrom(value); !moved.empty()) {
    return AllHave(properties, moved, Property::kPositive) ? reason : "";
  }
  if (const std::optional<Bounds> bounds = properties.BoundsOf(value);
      bounds && bounds->least > 0) {
    return reason;
  }
  const auto has = [&](size_t operand) {
    return properties.Has(*op->operand(operand), Property::kPositive);
  };
  bool is_positive = false;
  switch (op->opcode()) {
    case Opcode::kMaximum:
      is_positive = has(0) || has(1);
      break;
    case Opcode::kMinimum:
      is_positive = has(0) && has(1);
      break;
    case Opcode::kClamp:
      is_positive = has(2) && (has(0) || has(1));
      break;
    case Opcode::kConvert:
      // A narrower float may round to zero.
      is_positive = (IsWidening(op->operand(0)->type(), value.type()) ||
                     (IsFloat(value.type()) && !IsFloat(op->operand(0)->type()))) &&
                    has(0);
      break;
    default:
      is_positive = (KeepsSign(op->opcode()) && has(0)) ||
                    (IsFloat(value.type()) && IsPositiveFloat(properties, *op));
      break;
  }
  return is_positive ? reason : "";
}

std::string InferIntegerValued(Properties& properties, const Value& value) {
  const Type element = value.type().element_type();
  if (element.Is(TypeKind::kInteger)) return "its type has only integers";
  const Op* op = value.defining_op();
  if (op == nullptr || !element.Is(TypeKind::kFloat)) return "";
  std::string reason = Because("always an integer", *op);
  if (const llvm::SmallVector<Value*> moved = MovedFrom(value); !moved.empty()) {
    return AllHave(properties, moved, Property::kIntegerValued) ? reason : "";
  }
  const auto is_integer_number = [](double number) {
    return std::isfinite(number) && number == std::rint(number);
  };
  if (const std::optional<double> number = ConstantNumber(value)) {
    return is_integer_number(*number) ? reason : "";
  }
  if (const std::optional<std::vector<double>> elements = ElementsOf(value)) {
    return llvm::all_of(*elements, is_integer_number) ? reason : "";
  }
  bool is_integer = false;
  switch (op->opcode()) {
    case Opcode::kIota:
    case Opcode::kCeil:
    case Opcode::kFloor:
    case Opcode::kRoundNearestAwayFromZero:
    case Opcode::kRoundNearestEven:
    case Opcode::kSign:
      is_integer = true;
      break;
    case Opcode::kReduce: {
      const Opcode reducer = BodyOf(*op);
      is_integer = op->result_count() == 1 &&
                   (reducer == Opcode::kAdd || reducer == Opcode::kMultiply ||
                    reducer == Opcode::kMaximum || reducer == Opcode::kMinimum) &&
                   AllHave(properties, *op, Property::kIntegerValued);
      break;
    }
    default:
      is_integer =
          KeepsIntegers(op->opcode()) && AllHave(properties, *op, Property::kIntegerValued);
      break;
  }
  return is_integer ? reason : "";
}

std::string InferSorted(Properties& properties, const Value& value) {
  const Op* op = value.defining_op();
  const size_t rank = value.type().rank();
  if (op == nullptr || rank == 0 || IsComplexTensor(value.type())) return "";
  if (properties.IsConstantAlong(value, rank - 1)) return Because("all the same", *op);
  if (const std::optional<std::vector<double>> elements = ElementsOf(value)) {
    return IsSorted(*elements, value.type().shape().back()) ? Because("a sorted constant", *op)
                                                            : "";
  }
  const IndexedValue whole = AllIndices(Itself(value));
  const std::optional<Affine> affine = AffineOf(whole);
  const bool counts_up = affine && affine->factor == 1 && affine->index == whole.indices.back();
  return counts_up || IsSortedByOp(properties, *op, value) ? Because("in ascending order", *op)
                                                           : "";
}

}  // namespace plimsoll
