// Between which numbers the elements of values are, and along which dimensions they are all equal.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "analysis/op_class.h"
#include "analysis/properties_internal.h"
#include "ir/elements.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Bounds Add(const Bounds& a, const Bounds& b) {
  return {.least = a.least + b.least, .most = a.most + b.most};
}

Bounds Negate(const Bounds& a) { return {.least = -a.most, .most = -a.least}; }

// Nothing times whatever is nothing: an infinity here only says that no bound is known.
double Times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Bounds Multiply(const Bounds& a, const Bounds& b) {
  const auto [least, most] = std::minmax({Times(a.least, b.least), Times(a.least, b.most),
                                          Times(a.most, b.least), Times(a.most, b.most)});
  return {.least = least, .most = most};
}

Bounds Either(const Bounds& a, const Bounds& b) {
  return {.least = std::min(a.least, b.least), .most = std::max(a.most, b.most)};
}

Bounds Magnitude(const Bounds& a) {
  const double most = std::max(std::abs(a.least), std::abs(a.most));
  if (a.least <= 0 && a.most >= 0) return {.least = 0, .most = most};
  return {.least = std::min(std::abs(a.least), std::abs(a.most)), .most = most};
}

// Of a function that does not fall, on all numbers from `from` on.
Bounds Rising(const Bounds& a, double (*function)(double), double from = -kInfinity) {
  return {.least = function(std::max(a.least, from)), .most = function(std::max(a.most, from))};
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

// How many elements of the operands each element of the result is a sum of.
double SummedCount(const Op& op) {
  const llvm::ArrayRef<int64_t> dimensions =
      op.Is(Opcode::kReduce)
          ? op.Get("dimensions").integers()
          : op.Get("dot_dimension_numbers").Find("lhs_contracting_dimensions").integers();
  double count = 1;
  for (const int64_t dimension : dimensions) {
    count *= static_cast<double>(op.operand(0)->type().shape()[dimension]);
  }
  return count;
}

Bounds OfReduce(const Op& op, const Bounds& operand, const Bounds& initial) {
  if (op.result_count() != 1) return {};
  const double count = SummedCount(op);
  switch (BodyOf(op)) {
    case Opcode::kAdd:
      return Add(initial, Multiply(operand, {.least = count, .most = count}));
    case Opcode::kMaximum:
      if (count == 0) return initial;
      return {.least = std::max(operand.least, initial.least),
              .most = std::max(operand.most, initial.most)};
    case Opcode::kMinimum:
      if (count == 0) return initial;
      return {.least = std::min(operand.least, initial.least),
              .most = std::min(operand.most, initial.most)};
    default:
      return {};
  }
}

Bounds OfUnary(Opcode opcode, const Bounds& a) {
  switch (opcode) {
    case Opcode::kAbs:
      return Magnitude(a);
    case Opcode::kNegate:
      return Negate(a);
    case Opcode::kChloSquare: {
      const Bounds magnitude = Magnitude(a);
      return Multiply(magnitude, magnitude);
    }
    case Opcode::kExponential:
      return Rising(a, std::exp);
    case Opcode::kExponentialMinusOne:
      return Rising(a, std::expm1);
    case Opcode::kLog:
      return Rising(a, std::log, /*from=*/0);
    case Opcode::kLogPlusOne:
      return Rising(a, std::log1p, /*from=*/-1);
    case Opcode::kSqrt:
      return Rising(a, std::sqrt, /*from=*/0);
    case Opcode::kCbrt:
      return Rising(a, std::cbrt);
    case Opcode::kLogistic:
      return Rising(a, Logistic);
    case Opcode::kTanh:
      return Rising(a, std::tanh);
    case Opcode::kChloErf:
      return Rising(a, std::erf);
    case Opcode::kFloor:
      return Rising(a, std::floor);
    case Opcode::kCeil:
      return Rising(a, std::ceil);
    case Opcode::kRoundNearestAwayFromZero:
    case Opcode::kRoundNearestEven:
      return {.least = std::floor(a.least), .most = std::ceil(a.most)};
    case Opcode::kCosine:
    case Opcode::kSine:
      return {.least = -1, .most = 1};
    case Opcode::kSign:
      return {.least = a.least > 0 ? 1.0 : (a.least == 0 ? 0.0 : -1.0),
              .most = a.most < 0 ? -1.0 : (a.most == 0 ? 0.0 : 1.0)};
    case Opcode::kRsqrt:
    case Opcode::kChloCosh:
      return {.least = 0};
    default:
      return {};
  }
}

// Conversions do not change the order of numbers.
Bounds Rounded(const Bounds& a, Type tensor) {
  // But all numbers other than zero are true.
  if (tensor.element_type().IsInteger(1)) return {.least = 0, .most = 1};
  const auto round = [element = tensor.element_type()](double number) {
    if (element.Is(TypeKind::kInteger)) return std::trunc(number);
    const std::optional<std::string> bytes = EncodeElement(element, number);
    return bytes ? DecodeElement(element, *bytes).value_or(number) : number;
  };
  return {.least = round(a.least), .most = round(a.most)};
}

// What the type alone says.
Bounds OfType(Type tensor) {
  const Type element = tensor.element_type();
  if (!element.Is(TypeKind::kInteger)) return {};
  const auto width = static_cast<int>(element.integer_width());
  if (HasUnsignedElements(tensor)) return {.least = 0, .most = std::ldexp(1, width) - 1};
  return {.least = -std::ldexp(1, width - 1), .most = std::ldexp(1, width - 1) - 1};
}

Bounds OfConstant(const Value& value) {
  if (const std::optional<double> number = ConstantNumber(value); number && !std::isnan(*number)) {
    return {.least = *number, .most = *number};
  }
  const std::optional<std::vector<double>> elements = ElementsOf(value);
  if (!elements || elements->empty() ||
      llvm::any_of(*elements, [](double number) { return std::isnan(number); })) {
    return {};
  }
  const auto [least, most] = std::minmax_element(elements->begin(), elements->end());
  return {.least = *least, .most = *most};
}

Bounds OfOp(const Op& op, const Value& value, llvm::function_ref<Bounds(const Value&)> of) {
  const auto operand = [&](size_t index) { return of(*op.operand(index)); };
  switch (op.opcode()) {
    case Opcode::kConstant:
      return OfConstant(value);
    case Opcode::kIota: {
      const int64_t size = value.type().shape()[op.Get("iota_dimension").integer()];
      return {.least = 0, .most = static_cast<double>(std::max<int64_t>(size - 1, 0))};
    }
    case Opcode::kCompare:
      return {.least = 0, .most = 1};
    case Opcode::kConvert:
      return IsComplexTensor(op.operand(0)->type()) ? Bounds() : Rounded(operand(0), value.type());
    case Opcode::kAdd:
      return Add(operand(0), operand(1));
    case Opcode::kSubtract:
      return Add(operand(0), Negate(operand(1)));
    case Opcode::kMultiply: {
      if (op.operand(0) != op.operand(1)) return Multiply(operand(0), operand(1));
      const Bounds magnitude = Magnitude(operand(0));
      return Multiply(magnitude, magnitude);
    }
    case Opcode::kDivide: {
      const std::optional<double> divisor = ConstantNumber(*op.operand(1));
      if (!IsFloat(value.type()) || !divisor || *divisor == 0 || std::isnan(*divisor)) return {};
      return Multiply(operand(0), {.least = 1 / *divisor, .most = 1 / *divisor});
    }
    case Opcode::kRemainder: {
      // Smaller than the divisor, and of the dividend's sign; by 0 it is the dividend.
      const Bounds dividend = operand(0);
      const Bounds divisor = operand(1);
      if (divisor.least <= 0 && divisor.most >= 0) return {};
      const double most = Magnitude(divisor).most - (IsFloat(value.type()) ? 0 : 1);
      return {.least = dividend.least >= 0 ? 0 : -most, .most = dividend.most <= 0 ? 0 : most};
    }
    case Opcode::kMaximum: {
      const Bounds a = operand(0);
      const Bounds b = operand(1);
      return {.least = std::max(a.least, b.least), .most = std::max(a.most, b.most)};
    }
    case Opcode::kMinimum: {
      const Bounds a = operand(0);
      const Bounds b = operand(1);
      return {.least = std::min(a.least, b.least), .most = std::min(a.most, b.most)};
    }
    case Opcode::kClamp: {
      const Bounds low = operand(0);
      const Bounds number = operand(1);
      const Bounds high = operand(2);
      return {.least = std::min(std::max(low.least, number.least), high.least),
              .most = std::min(std::max(low.most, number.most), high.most)};
    }
    case Opcode::kReduce:
      return OfReduce(op, operand(0), operand(1));
    case Opcode::kDotGeneral: {
      const double count = SummedCount(op);
      return Multiply({.least = count, .most = count}, Multiply(operand(0), operand(1)));
    }
    default:
      return op.operand_count() == 1 ? OfUnary(op.opcode(), operand(0)) : Bounds();
  }
}

// A value that the loop hands on as it is.
const Value* BeforeLoop(const Value& value) {
  const Op* loop = value.is_argument() ? value.block()->parent() : value.defining_op();
  if (loop == nullptr || !loop->Is(Opcode::kWhile)) return nullptr;
  const Block& body = loop->region(1).front();
  const bool is_handed_on = body.last()->operand(value.index()) == body.argument(value.index());
  return is_handed_on ? loop->operand(value.index()) : nullptr;
}

// True if the op gives equal elements for all of the index, which its result has.
bool IsEqualAlong(Properties& properties, const Op& op, const IndexedValue& element, int index) {
  const auto is_equal = [&](const IndexedValue& operand) {
    return IsSameAlong(properties, operand, index);
  };
  int next_index = kFirstNewIndex;
  llvm::SmallVector<int> summed;
  switch (op.opcode()) {
    case Opcode::kConstant:
      return ConstantNumber(*element.value).has_value();
    case Opcode::kDotGeneral: {
      const DotElements elements = ElementsOfDot(op, element, next_index);
      return is_equal(elements.left) && is_equal(elements.right);
    }
    case Opcode::kIota:
      return element.indices[op.Get("iota_dimension").integer()] != index;
    case Opcode::kReduce:
      return op.result_count() == 1 && is_equal(ElementOfReduced(op, element, next_index, summed));
    case Opcode::kReverse:
    case Opcode::kSlice:
      return is_equal(OperandElement(op, 0, element));
    default:
      break;
  }
  if (!IsElementwise(op)) return false;
  for (size_t i = 0; i < op.operand_count(); ++i) {
    if (!is_equal(OperandElement(op, i, element))) return false;
  }
  return true;
}

}  // namespace

Bounds InferBounds(const Value& value, llvm::function_ref<Bounds(const Value&)> of) {
  const Bounds of_type = OfType(value.type());
  if (IsComplexTensor(value.type())) return {};
  if (const Value* before = BeforeLoop(value)) return of(*before);
  const Op* op = value.defining_op();
  if (op == nullptr) return of_type;
  Bounds bounds;
  const llvm::SmallVector<Value*> moved = MovedFrom(value);
  if (moved.empty()) {
    bounds = OfOp(*op, value, of);
  } else {
    bounds = of(*moved[0]);
    for (const Value* other : llvm::drop_begin(moved)) bounds = Either(bounds, of(*other));
  }
  // Infinities of both signs may have met.
  if (std::isnan(bounds.least)) bounds.least = -kInfinity;
  if (std::isnan(bounds.most)) bounds.most = kInfinity;
  if (!value.type().element_type().Is(TypeKind::kInteger)) return bounds;
  // What may have overflowed can be any number of the type.
  const bool fits = bounds.least >= of_type.least && bounds.most <= of_type.most;
  return fits ? bounds : of_type;
}

std::string InferConstantAlong(Properties& properties, const Value& value, size_t dimension) {
  if (value.type().shape()[dimension] <= 1) return "a single element";
  const IndexedValue whole = AllIndices(Itself(value));
  const int index = whole.indices[dimension];
  const IndexedValue peeled = Peel(whole);
  const Op* op = peeled.value->defining_op();
  const bool is_equal =
      !peeled.Has(index) ||
      (peeled.value != &value ? IsSameAlong(properties, peeled, index)
                              : op != nullptr && IsEqualAlong(properties, *op, peeled, index));
  return is_equal ? "all elements along the dimension are equal" : "";
}

}  // namespace plimsoll
