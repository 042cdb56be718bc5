#include "rewrite/monotone_rules.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "analysis/reducers.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/pieces.h"
#include "rewrite/shrink.h"

namespace plimsoll {
namespace {

// How an op's result goes with one of its operands; the others are constant along what is reduced.
struct Course {
  size_t operand = 0;
  bool rises = true;
  // What the operand has to be for that: a negative number would become no number, and a maximum of
  // such is none either.
  std::optional<Property> needs = std::nullopt;
};

// Of integers alone: reductions of floats of other types may treat NaN in other ways.
bool IsMonotoneConversion(Type from, Type to) {
  if (!from.Is(TypeKind::kInteger) || from.IsInteger(1)) return false;
  // A type that knows infinities takes in numbers that are too large, in order.
  if (to.Is(TypeKind::kFloat)) {
    return llvm::APFloat::semanticsHasInf(FloatSemantics(to.float_kind()));
  }
  if (!to.Is(TypeKind::kInteger)) return false;
  const bool has_sign = from.signedness() != Signedness::kUnsigned;
  const bool gets_sign = to.signedness() != Signedness::kUnsigned;
  if (has_sign == gets_sign) return to.integer_width() >= from.integer_width();
  return gets_sign && to.integer_width() > from.integer_width();
}

std::optional<Course> CourseOfUnary(const Op& op) {
  switch (op.opcode()) {
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kTanh:
    case Opcode::kLogistic:
    case Opcode::kCbrt:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestEven:
    case Opcode::kRoundNearestAwayFromZero:
    case Opcode::kChloErf:
      return Course{};
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kSqrt:
    case Opcode::kAbs:
    case Opcode::kChloSquare:
      return Course{.needs = Property::kNonNegative};
    case Opcode::kRsqrt:
      return Course{.rises = false, .needs = Property::kPositive};
    case Opcode::kNegate:
      return Course{.rises = false};
    default:
      return std::nullopt;
  }
}

// Not infinite and not NaN, so that no sum or product with other numbers is.
bool IsFinite(const Value& value, Properties& properties) {
  if (const std::optional<double> number = ConstantNumber(value)) return std::isfinite(*number);
  const std::optional<Bounds> bounds = properties.BoundsOf(value);
  return bounds && std::isfinite(bounds->least) && std::isfinite(bounds->most);
}

// `same` is the operand that is constant along what is reduced.
std::optional<Course> CourseOfBinary(const Op& op, size_t same, Properties& properties) {
  const Value& other = *op.operand(same);
  const size_t changing = 1 - same;
  switch (op.opcode()) {
    case Opcode::kAdd:
      return IsFinite(other, properties) ? std::optional(Course{.operand = changing})
                                         : std::nullopt;
    case Opcode::kSubtract:
      if (!IsFinite(other, properties)) return std::nullopt;
      return Course{.operand = changing, .rises = changing == 0};
    case Opcode::kMultiply:
    case Opcode::kDivide: {
      const std::optional<double> number = ConstantNumber(other);
      if (!number || !std::isfinite(*number) || *number == 0) return std::nullopt;
      if (op.Is(Opcode::kDivide) && changing == 1) {
        return Course{.operand = 1, .rises = *number < 0, .needs = Property::kPositive};
      }
      return Course{.operand = changing, .rises = *number > 0};
    }
    default:
      return std::nullopt;
  }
}

std::optional<Course> CourseOf(const Op& op, Shrinker& shrinker, Properties& properties) {
  const Type from = op.operand(0)->type().element_type();
  if (op.Is(Opcode::kConvert)) {
    return IsMonotoneConversion(from, op.result(0)->type().element_type()) ? std::optional(Course{})
                                                                           : std::nullopt;
  }
  if (op.operand_count() == 2) {
    const bool is_left_same = shrinker.CanShrink(*op.operand(0));
    if (!is_left_same && !shrinker.CanShrink(*op.operand(1))) {
      const bool is_square = op.Is(Opcode::kMultiply) && op.operand(0) == op.operand(1);
      return is_square && from.Is(TypeKind::kFloat)
                 ? std::optional(Course{.needs = Property::kNonNegative})
                 : std::nullopt;
    }
    const size_t same = is_left_same ? 0 : 1;
    // Integers never wrap around in these.
    if (op.Is(Opcode::kMaximum) || op.Is(Opcode::kMinimum)) return Course{.operand = 1 - same};
    return from.Is(TypeKind::kFloat) ? CourseOfBinary(op, same, properties) : std::nullopt;
  }
  return from.Is(TypeKind::kFloat) ? CourseOfUnary(op) : std::nullopt;
}

Builder::Values MaxOfMonotone(RuleScope& scope) {
  const Op& reduce = scope.op();
  const std::optional<Reduction> reduction = ReductionOf(reduce);
  if (!reduction || !IsNeutral(*reduction, *reduce.operand(1)) ||
      (reduction->reducer != Opcode::kMaximum && reduction->reducer != Opcode::kMinimum)) {
    return {};
  }
  const Op* op = reduce.operand(0)->defining_op();
  const bool has_elements = llvm::all_of(
      reduction->dimensions, [&](int64_t d) { return reduce.operand(0)->type().shape()[d] > 0; });
  if (op == nullptr || !has_elements || !MapsElements(*op)) return {};
  Builder& builder = scope.builder();
  Shrinker shrinker(builder, reduction->dimensions);
  if (shrinker.CanShrink(*reduce.operand(0))) return {};
  const std::optional<Course> course = CourseOf(*op, shrinker, scope.properties());
  if (!course) return {};
  Value* argument = op->operand(course->operand);
  if (course->needs && !scope.properties().Has(*argument, *course->needs)) {
    return scope.Refuse(StrCat("its operand is not known to be ", PropertyName(*course->needs)));
  }
  const bool is_maximum = (reduction->reducer == Opcode::kMaximum) == course->rises;
  const Opcode reducer = is_maximum ? Opcode::kMaximum : Opcode::kMinimum;
  Value* initial = NeutralOf(builder, reducer, argument->type().element_type());
  if (initial == nullptr) return {};
  Value* reduced = builder.Reduce(argument, initial, reduction->dimensions, reducer);
  llvm::SmallVector<Value*> operands;
  for (Value* operand : op->operands()) {
    operands.push_back(operand == argument ? reduced : shrinker.Shrink(*operand));
  }
  return {CloneElementwise(builder, *op, operands, reduce.result(0)->type().shape())};
}

constexpr Rule kRules[] = {
    {.name = "max_of_monotone",
     .pattern = "the maximum or minimum of exp(x), tanh(x), 2 x, x + 1, -x, sqrt(x), ...",
     .result = "the same of the maximum or minimum of x",
     .guard = "log, sqrt, abs and squares need an x known to be non-negative, 1 / x a positive one",
     .numerics = Numerics::kReassociates,
     .rewrite = MaxOfMonotone},
};

}  // namespace

llvm::ArrayRef<Rule> MonotoneRules() { return kRules; }

}  // namespace plimsoll
