#include "rewrite/reduction_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "analysis/reducers.h"
#include "ir/elements.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include "rewrite/pieces.h"
#include "rewrite/shrink.h"

namespace plimsoll {
namespace {

bool HasElementsAlong(const Value& value, llvm::ArrayRef<int64_t> dimensions) {
  return llvm::all_of(dimensions, [&](int64_t d) { return value.type().shape()[d] > 0; });
}

// Dimensions as they are numbered when others are gone.
llvm::SmallVector<int64_t> WithoutOthers(llvm::ArrayRef<int64_t> dimensions,
                                         llvm::ArrayRef<int64_t> gone) {
  llvm::SmallVector<int64_t> left;
  for (const int64_t d : dimensions) {
    if (llvm::is_contained(gone, d)) continue;
    left.push_back(d - llvm::count_if(gone, [&](int64_t other) { return other < d; }));
  }
  return left;
}

// As often as all: integers wrap around, and floats must be able to count that far.
Value* Times(Builder& builder, Value* value, int64_t count) {
  const Type element = value->type().element_type();
  int64_t number = count;
  if (element.Is(TypeKind::kInteger) && element.integer_width() < 64) {
    const unsigned width = element.integer_width();
    number = element.signedness() == Signedness::kUnsigned
                 ? static_cast<int64_t>(static_cast<uint64_t>(count) & llvm::maxUIntN(width))
                 : llvm::SignExtend64(static_cast<uint64_t>(count), width);
  }
  return builder.Multiply(value, builder.IntegerConstant(value->type(), number));
}

bool CanCountTo(Type element, int64_t count) {
  if (element.Is(TypeKind::kInteger)) return true;
  const std::optional<std::string> bytes = EncodeElement(element, count);
  return bytes && DecodeElement(element, *bytes) == static_cast<double>(count);
}

// A product of equal factors, by squares.
Value* ToThePower(Builder& builder, Value* value, int64_t exponent) {
  Value* power = nullptr;
  for (Value* square = value;; square = builder.Multiply(square, square)) {
    if (exponent % 2 == 1) power = power == nullptr ? square : builder.Multiply(power, square);
    exponent /= 2;
    if (exponent == 0) return power;
  }
}

Builder::Values SumOfBroadcast(RuleScope& scope) {
  const Op& op = scope.op();
  const std::optional<Reduction> reduction = ReductionOf(op);
  if (!reduction || !HasElementsAlong(*op.operand(0), reduction->dimensions)) return {};
  Builder& builder = scope.builder();
  Value& operand = *op.operand(0);
  llvm::SmallVector<int64_t> same;
  int64_t count = 1;
  for (const int64_t d : reduction->dimensions) {
    same.push_back(d);
    if (Shrinker(builder, same).CanShrink(operand)) {
      count *= operand.type().shape()[d];
    } else {
      same.pop_back();
    }
  }
  if (same.empty()) return {};
  const bool is_neutral = IsNeutral(*reduction, *op.operand(1));
  const bool is_idempotent = IsIdempotent(reduction->reducer);
  if (!is_idempotent && !is_neutral) return {};
  if (count > 1 && reduction->reducer == Opcode::kAdd) {
    // Infinities times a complex number are not what their sum is.
    if (reduction->element.Is(TypeKind::kComplex)) return {};
    if (!CanCountTo(reduction->element, count)) {
      return scope.Refuse("numbers of this type do not count that far");
    }
  }
  if (count > 1 && reduction->reducer == Opcode::kMultiply && RoundsPartialResults(*reduction)) {
    return scope.Refuse("squares would be rounded to few digits");
  }
  Value* value = Shrinker(builder, same).Shrink(operand);
  const llvm::SmallVector<int64_t> left = WithoutOthers(reduction->dimensions, same);
  if (!left.empty()) {
    value = builder.Reduce(value, op.operand(1), left, reduction->reducer);
  } else if (!is_neutral) {
    value = builder.Binary(reduction->reducer, value,
                           builder.BroadcastInDim(op.operand(1), op.result(0)->type().shape(), {}));
  }
  if (value == nullptr || is_idempotent || count == 1) return {value};
  return {reduction->reducer == Opcode::kAdd ? Times(builder, value, count)
                                             : ToThePower(builder, value, count)};
}

struct Factor {
  Value* value;
  bool is_divisor;
};

struct Product {
  llvm::SmallVector<Factor> factors;
  bool is_negated = false;
};

// Products that are used elsewhere too are one factor.
void FindFactors(Value* value, bool is_divisor, bool is_root, Product& product) {
  const Op* op = value->defining_op();
  if (op != nullptr && (is_root || value->has_one_use()) && !is_divisor) {
    if (op->Is(Opcode::kNegate)) {
      product.is_negated = !product.is_negated;
      FindFactors(op->operand(0), is_divisor, false, product);
      return;
    }
    // Quotients of integers are rounded.
    const bool is_quotient =
        op->Is(Opcode::kDivide) && !value->type().element_type().Is(TypeKind::kInteger);
    if (is_quotient || op->Is(Opcode::kMultiply)) {
      FindFactors(op->operand(0), false, false, product);
      FindFactors(op->operand(1), is_quotient, false, product);
      return;
    }
  }
  product.factors.push_back({.value = value, .is_divisor = is_divisor});
}

// Sums of what has not been made small yet may be too large for such floats.
bool HasSmallRange(Type element) {
  return element.Is(TypeKind::kFloat) &&
         llvm::APFloat::semanticsMaxExponent(FloatSemantics(element.float_kind())) < 127;
}

Value* MultiplyAll(Builder& builder, Value* value, llvm::ArrayRef<Factor> factors) {
  for (const Factor& factor : factors) {
    if (factor.is_divisor) continue;
    value = value == nullptr ? factor.value : builder.Multiply(value, factor.value);
  }
  for (const Factor& factor : factors) {
    if (factor.is_divisor) value = builder.Divide(value, factor.value);
  }
  return value;
}

Builder::Values SumThroughProduct(RuleScope& scope) {
  const Op& op = scope.op();
  const std::optional<Reduction> reduction = ReductionOf(op);
  if (!reduction || reduction->reducer != Opcode::kAdd || reduction->dimensions.empty() ||
      !HasElementsAlong(*op.operand(0), reduction->dimensions) ||
      !IsNeutral(*reduction, *op.operand(1))) {
    return {};
  }
  Product product;
  FindFactors(op.operand(0), /*is_divisor=*/false, /*is_root=*/true, product);
  Builder& builder = scope.builder();
  Shrinker shrinker(builder, reduction->dimensions);
  llvm::SmallVector<Factor> inside;
  llvm::SmallVector<Factor> outside;
  for (const Factor& factor : product.factors) {
    (shrinker.CanShrink(*factor.value) ? outside : inside).push_back(factor);
  }
  const bool has_sum = llvm::any_of(inside, [](const Factor& f) { return !f.is_divisor; });
  if (!has_sum || (outside.empty() && !product.is_negated)) return {};
  if (!outside.empty() && HasSmallRange(reduction->element)) {
    return scope.Refuse("a sum may be too large for these floats before it is multiplied");
  }
  Value* sum = builder.Reduce(MultiplyAll(builder, nullptr, inside), op.operand(1),
                              reduction->dimensions, reduction->reducer);
  if (sum == nullptr) return {};
  for (Factor& factor : outside) factor.value = shrinker.Shrink(*factor.value);
  sum = MultiplyAll(builder, sum, outside);
  return {product.is_negated ? builder.Negate(sum) : sum};
}

// A dimension that is summed over.
constexpr int kSummed = -2;

// The dimensions of a reshape's operand: those that are summed over, and those that have the
// indices of the result's. Nothing if both are mixed.
std::optional<IndexedValue> ReducedThroughReshape(const IndexedValue& element, Value& operand) {
  const llvm::ArrayRef<int64_t> from = operand.type().shape();
  const llvm::ArrayRef<int64_t> to = element.value->type().shape();
  IndexedValue before = {.value = &operand, .indices = {}};
  if (operand.type().element_count().value_or(0) == 0) return std::nullopt;
  size_t f = 0;
  size_t t = 0;
  while (f < from.size()) {
    if (from[f] == 1) {
      before.indices.push_back(kNoIndex);
      ++f;
      continue;
    }
    while (to[t] == 1) ++t;
    // The smallest groups of dimensions that have equally many elements.
    const size_t first_from = f;
    const size_t first_to = t;
    int64_t elements_from = from[f++];
    int64_t elements_to = to[t++];
    while (elements_from != elements_to) {
      if (elements_from < elements_to) {
        elements_from *= from[f++];
      } else {
        elements_to *= to[t++];
      }
    }
    if (f - first_from == 1 && t - first_to == 1) {
      before.indices.push_back(element.indices[first_to]);
      continue;
    }
    for (size_t i = first_to; i < t; ++i) {
      if (to[i] != 1 && element.indices[i] != kSummed) return std::nullopt;
    }
    for (size_t i = first_from; i < f; ++i) before.indices.push_back(kSummed);
  }
  return before;
}

// One step towards where the elements of a reduction come from: through transposes, reshapes and
// reductions of the same kind.
std::optional<IndexedValue> BeforeReduction(const IndexedValue& element,
                                            const Reduction& reduction) {
  const Op* op = element.value->defining_op();
  if (op == nullptr) return std::nullopt;
  if (op->Is(Opcode::kTranspose)) return SeeThroughOne(element);
  if (IsReshape(*op)) return ReducedThroughReshape(element, *op->operand(0));
  const std::optional<Reduction> inner = ReductionOf(*op);
  if (!inner || inner->reducer != reduction.reducer || !IsNeutral(*inner, *op->operand(1))) {
    return std::nullopt;
  }
  IndexedValue before = {.value = op->operand(0), .indices = {}};
  size_t next = 0;
  for (size_t d = 0; d < op->operand(0)->type().rank(); ++d) {
    const bool is_summed = llvm::is_contained(inner->dimensions, static_cast<int64_t>(d));
    before.indices.push_back(is_summed ? kSummed : element.indices[next++]);
  }
  return before;
}

Builder::Values SumOfSum(RuleScope& scope) {
  const Op& op = scope.op();
  const std::optional<Reduction> reduction = ReductionOf(op);
  if (!reduction || !op.operand(0)->type().has_static_shape()) return {};
  IndexedValue element = AllIndices(*op.operand(0));
  llvm::SmallVector<int> kept;
  for (const auto [d, size] : llvm::enumerate(op.operand(0)->type().shape())) {
    if (llvm::is_contained(reduction->dimensions, static_cast<int64_t>(d))) {
      element.indices[d] = kSummed;
    } else {
      kept.push_back(static_cast<int>(d));
    }
  }
  // Reshapes alone cost nothing.
  IndexedValue last;
  while (std::optional<IndexedValue> before = BeforeReduction(element, *reduction)) {
    if (!IsReshape(*element.value->defining_op())) last = *before;
    element = *std::move(before);
  }
  if (last.value == nullptr) return {};
  llvm::SmallVector<int64_t> dimensions;
  IndexedValue result;
  for (const auto [d, index] : llvm::enumerate(last.indices)) {
    if (index == kSummed) {
      dimensions.push_back(static_cast<int64_t>(d));
    } else {
      result.indices.push_back(index);
    }
  }
  result.value = scope.builder().Reduce(last.value, op.operand(1), dimensions, reduction->reducer);
  if (result.value == nullptr) return {};
  return {Arrange(scope.builder(), result, kept, op.result(0)->type().shape())};
}

Builder::Values ReduceOfPad(RuleScope& scope) {
  const Op& op = scope.op();
  const std::optional<Reduction> reduction = ReductionOf(op);
  const Op* pad = reduction ? op.operand(0)->defining_op() : nullptr;
  if (pad == nullptr || !pad->Is(Opcode::kPad) || !pad->operand(0)->type().has_static_shape()) {
    return {};
  }
  const bool is_like_initial = IsIdempotent(reduction->reducer) && pad->operand(1) == op.operand(1);
  if (!is_like_initial && !IsNeutral(*reduction, *pad->operand(1))) return {};
  const llvm::ArrayRef<int64_t> low = pad->Get("edge_padding_low").integers();
  const llvm::ArrayRef<int64_t> high = pad->Get("edge_padding_high").integers();
  const llvm::ArrayRef<int64_t> interior = pad->Get("interior_padding").integers();
  for (size_t d = 0; d < low.size(); ++d) {
    const bool is_reduced = llvm::is_contained(reduction->dimensions, static_cast<int64_t>(d));
    const bool is_padded = low[d] != 0 || high[d] != 0 || interior[d] != 0;
    // Less than nothing takes elements away.
    if (low[d] < 0 || high[d] < 0 || (is_padded && !is_reduced)) return {};
  }
  return {scope.builder().Reduce(pad->operand(0), op.operand(1), reduction->dimensions,
                                 reduction->reducer)};
}

constexpr Rule kRules[] = {
    {.name = "sum_of_sum",
     .pattern = "a reduction of a reduction by the same op, of a transpose, or both",
     .result = "one reduction",
     .guard = "the inner one starts at the number that changes nothing",
     .numerics = Numerics::kReassociates,
     .rewrite = SumOfSum},
    {.name = "sum_of_broadcast",
     .pattern = "a reduction along dimensions where all elements are equal",
     .result = "the element times their number, to its power, or itself",
     .guard = "the number can be written in the type; not products of floats of few digits",
     .numerics = Numerics::kReassociates,
     .rewrite = SumOfBroadcast},
    {.name = "sum_through_product",
     .pattern = "a sum of products with a factor or divisor that is the same along the sum",
     .result = "the factor times the sum",
     .guard = "not for floats of small range; divisors not for integers",
     .numerics = Numerics::kReassociates,
     .rewrite = SumThroughProduct},
    {.name = "reduce_of_pad",
     .pattern = "a sum of what is padded with zeros, a maximum of what is padded with -inf, ...",
     .result = "the same without the padding",
     .guard = "padded only along what is reduced",
     .numerics = Numerics::kReassociates,
     .rewrite = ReduceOfPad},
};

}  // namespace

llvm::ArrayRef<Rule> ReductionRules() { return kRules; }

}  // namespace plimsoll
