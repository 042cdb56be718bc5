#include "analysis/properties.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "analysis/properties_internal.h"
#include "ir/status.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// In the order of Property.
constexpr std::string_view kNames[] = {"symmetric",
                                       "positive semidefinite",
                                       "positive definite",
                                       "diagonal",
                                       "identity",
                                       "lower",
                                       "upper",
                                       "orthogonal",
                                       "one-hot",
                                       "permutation",
                                       "non-negative",
                                       "positive",
                                       "integer-valued",
                                       "sorted"};
constexpr uint32_t kPropertyCount = std::size(kNames);

// What has the first property has the second. The first of each row is looked for by rules of its
// own; these rows are taken one after the other until nothing is new.
struct Implication {
  Property first;
  Property second;
};
constexpr Implication kImplications[] = {
    {Property::kIdentity, Property::kDiagonal},
    {Property::kIdentity, Property::kPositiveDefinite},
    {Property::kIdentity, Property::kPermutation},
    {Property::kDiagonal, Property::kSymmetric},
    {Property::kDiagonal, Property::kLowerTriangular},
    {Property::kDiagonal, Property::kUpperTriangular},
    {Property::kPositiveDefinite, Property::kPositiveSemidefinite},
    {Property::kPositiveSemidefinite, Property::kSymmetric},
    {Property::kPermutation, Property::kOrthogonal},
    {Property::kPermutation, Property::kOneHot},
    {Property::kOneHot, Property::kNonNegative},
    {Property::kOneHot, Property::kIntegerValued},
    {Property::kPositive, Property::kNonNegative},
};

// Nested questions. Programs can be deeper than the stack.
constexpr int kMostDepth = 128;

bool IsOfMatrices(Property property) { return property <= Property::kPermutation; }

// What the transpose has if the matrix has the property; nothing if that is not known.
std::optional<Property> OfTranspose(Property property, const Value& matrix) {
  const llvm::ArrayRef<int64_t> shape = matrix.type().shape();
  switch (property) {
    case Property::kLowerTriangular:
      return Property::kUpperTriangular;
    case Property::kUpperTriangular:
      return Property::kLowerTriangular;
    case Property::kOneHot:
      return std::nullopt;
    case Property::kOrthogonal:
      if (shape[shape.size() - 1] != shape[shape.size() - 2]) return std::nullopt;
      return property;
    default:
      return property;
  }
}

// True if numbers that are rounded to this type have the property as before.
bool SurvivesConversion(Property property, Type from, Type to) {
  if (IsComplexTensor(from) != IsComplexTensor(to)) return false;
  switch (property) {
    case Property::kPositiveSemidefinite:
    case Property::kPositiveDefinite:
    case Property::kOrthogonal:
      return IsWidening(from, to);
    default:
      return true;
  }
}

// True if sums of matrices over all batches have the property when each matrix has it.
bool SurvivesSums(Property property) {
  return property == Property::kSymmetric || property == Property::kPositiveSemidefinite ||
         property == Property::kDiagonal || property == Property::kLowerTriangular ||
         property == Property::kUpperTriangular;
}

// True if the op sums over dimensions before the last two alone.
bool SumsBatches(const Op& op) {
  const auto rank = static_cast<int64_t>(op.operand(0)->type().rank());
  return IsPlainSum(op) && llvm::all_of(op.Get("dimensions").integers(),
                                        [&](int64_t dimension) { return dimension < rank - 2; });
}

// True if the slice takes the same rows as columns.
bool TakesPrincipalPart(const Op& slice) {
  const Type type = slice.operand(0)->type();
  const size_t row = type.rank() - 2;
  const size_t column = type.rank() - 1;
  const auto is_same = [&](std::string_view name) {
    const llvm::ArrayRef<int64_t> numbers = slice.Get(name).integers();
    return numbers[row] == numbers[column];
  };
  return type.shape()[row] == type.shape()[column] && is_same("start_indices") &&
         is_same("limit_indices") && is_same("strides");
}

// Rules that are the same for all properties of matrices.
std::string InferByForm(Properties& properties, const Value& value, Property property) {
  if (const MatrixSource source = SourceOf(value); source.value != nullptr) {
    if (!source.is_transposed) return properties.Why(*source.value, property);
    const std::optional<Property> before = OfTranspose(property, *source.value);
    return before ? properties.Why(*source.value, *before) : "";
  }
  const Op* op = value.defining_op();
  if (op == nullptr) return "";
  switch (op->opcode()) {
    case Opcode::kConvert:
      if (!SurvivesConversion(property, op->operand(0)->type(), value.type())) return "";
      return properties.Why(*op->operand(0), property);
    case Opcode::kSelect: {
      if (IsNaN(*op->operand(1))) return properties.Why(*op->operand(2), property);
      if (IsNaN(*op->operand(2))) return properties.Why(*op->operand(1), property);
      const Value& predicate = *op->operand(0);
      const size_t rank = predicate.type().rank();
      const bool is_for_whole_matrices =
          rank == 0 || (properties.IsConstantAlong(predicate, rank - 1) &&
                        properties.IsConstantAlong(predicate, rank - 2));
      if (!is_for_whole_matrices || !properties.Has(*op->operand(1), property)) return "";
      return properties.Why(*op->operand(2), property);
    }
    case Opcode::kSlice:
      if (property == Property::kOrthogonal || property == Property::kPermutation) return "";
      if (property != Property::kOneHot && !TakesPrincipalPart(*op)) return "";
      return properties.Why(*op->operand(0), property);
    case Opcode::kReduce:
      if (!SurvivesSums(property) || !SumsBatches(*op)) return "";
      return properties.Why(*op->operand(0), property);
    default:
      return "";
  }
}

std::string InferOfMatrices(Properties& properties, const Value& value, Property property) {
  if (value.type().rank() < 2) return "";
  if (std::string reason = InferByForm(properties, value, property); !reason.empty()) return reason;
  switch (property) {
    case Property::kSymmetric:
      return InferSymmetric(properties, value);
    case Property::kPositiveSemidefinite:
      return InferPositiveSemidefinite(properties, value);
    case Property::kPositiveDefinite:
      return InferPositiveDefinite(properties, value);
    case Property::kIdentity:
      return InferIdentity(properties, value);
    case Property::kOrthogonal:
      return InferOrthogonal(properties, value);
    case Property::kOneHot:
      return InferOneHot(properties, value);
    case Property::kPermutation:
      return InferPermutation(properties, value);
    default:
      return InferZeros(properties, value, property);
  }
}

std::string InferOfNumbers(Properties& properties, const Value& value, Property property) {
  switch (property) {
    case Property::kNonNegative:
      return InferNonNegative(properties, value);
    case Property::kPositive:
      return InferPositive(properties, value);
    case Property::kIntegerValued:
      return InferIntegerValued(properties, value);
    default:
      return InferSorted(properties, value);
  }
}

// The loop that carries the argument; null if it is none of a loop's.
const Op* LoopOf(const Value& argument) {
  const Op* parent = argument.block() == nullptr ? nullptr : argument.block()->parent();
  return parent != nullptr && parent->Is(Opcode::kWhile) ? parent : nullptr;
}

}  // namespace

std::string_view PropertyName(Property property) { return kNames[static_cast<size_t>(property)]; }

std::optional<Property> PropertyFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<Property>(i);
  }
  return std::nullopt;
}

std::optional<Property> StatedProperty(const Op& op) {
  if (!op.Is(Opcode::kComposite) || op.operand_count() != 1 || op.result_count() != 1) {
    return std::nullopt;
  }
  const Attribute name = op.Get("name");
  const Attribute attributes = op.Get("composite_attributes");
  if (!name.Is(AttributeKind::kString) || name.text() != "plimsoll.assume" ||
      !attributes.Is(AttributeKind::kDictionary)) {
    return std::nullopt;
  }
  const Attribute property = attributes.Find("property");
  if (!property.Is(AttributeKind::kString)) return std::nullopt;
  return PropertyFromName(property.text());
}

std::string Properties::Why(const Value& value, Property property) {
  return Ask(value, static_cast<Fact>(property));
}

bool Properties::IsConstantAlong(const Value& value, size_t dimension) {
  return !Ask(value, kPropertyCount + static_cast<Fact>(dimension)).empty();
}

std::string Properties::Ask(const Value& value, Fact fact) {
  const Question question = {&value, fact};
  if (const auto known = known_.find(question); known != known_.end()) {
    used_assumption_ = std::min(used_assumption_, known->second.assumption);
    return known->second.reason;
  }
  if (const auto* assumed = llvm::find(assumed_, question); assumed != assumed_.end()) {
    const size_t number = assumed - assumed_.begin();
    used_assumption_ = std::min(used_assumption_, number);
    return "kept by the loop";
  }
  if (depth_ == kMostDepth || !open_.insert(question).second) return "";
  ++depth_;
  const size_t used_before = std::exchange(used_assumption_, kNothing);
  std::string reason = Infer(value, fact);
  --depth_;
  open_.erase(question);
  // With fewer assumptions there is no more to infer, so "no" stays even if one of them fails.
  const size_t assumption = reason.empty() ? kNothing : used_assumption_;
  known_[question] = {.reason = reason, .assumption = assumption};
  if (assumption != kNothing) provisional_.push_back(question);
  used_assumption_ = std::min(used_assumption_, used_before);
  return reason;
}

std::string Properties::Infer(const Value& value, Fact fact) {
  if (!value.type().Is(TypeKind::kTensor) || !value.type().has_static_shape()) return "";
  const Op* op = value.defining_op();
  std::string reason;
  if (op == nullptr) {
    const Op* loop = LoopOf(value);
    if (loop != nullptr) reason = InferCarried(*loop, value.index(), fact);
  } else {
    reason = InferFromFlow(*op, value, fact);
  }
  if (!reason.empty()) return reason;
  if (fact >= kPropertyCount) return InferConstantAlong(*this, value, fact - kPropertyCount);
  return InferFromRules(value, static_cast<Property>(fact));
}

std::string Properties::InferFromFlow(const Op& op, const Value& value, Fact fact) {
  switch (op.opcode()) {
    case Opcode::kWhile:
      return Ask(*op.region(1).front().argument(value.index()), fact);
    case Opcode::kCase:
    case Opcode::kIf: {
      std::string reason;
      for (size_t branch = 0; branch < op.region_count(); ++branch) {
        reason = Ask(*op.region(branch).front().last()->operand(value.index()), fact);
        if (reason.empty()) return "";
      }
      return reason;
    }
    case Opcode::kOptimizationBarrier:
      return Ask(*op.operand(value.index()), fact);
    case Opcode::kComposite: {
      const std::optional<Property> stated = StatedProperty(op);
      if (!stated) return "";
      if (static_cast<Fact>(*stated) == fact) return Because("stated by the user", op);
      return Ask(*op.operand(0), fact);
    }
    default:
      return "";
  }
}

std::string Properties::InferCarried(const Op& loop, size_t index, Fact fact) {
  const Block& body = loop.region(1).front();
  const Value& argument = *body.argument(index);
  const Value& returned = *body.last()->operand(index);
  std::string reason = Ask(*loop.operand(index), fact);
  if (reason.empty() || &returned == &argument) return reason;
  const size_t number = assumed_.size();
  const size_t first_provisional = provisional_.size();
  assumed_.emplace_back(&argument, fact);
  // What was asked to get here is asked anew: now there is more to go by.
  llvm::DenseSet<Question> open = std::exchange(open_, {});
  const bool is_kept = !Ask(returned, fact).empty();
  open_ = std::move(open);
  assumed_.pop_back();
  if (used_assumption_ != kNothing && used_assumption_ >= number) used_assumption_ = kNothing;
  if (!is_kept) {
    Retract(first_provisional);
    return "";
  }
  Confirm(first_provisional, used_assumption_);
  return reason;
}

// What rests on the assumption that was just shown rests on what that one rests on.
void Properties::Confirm(size_t first, size_t assumption) {
  for (const Question& question : llvm::drop_begin(provisional_, first)) {
    known_[question].assumption = assumption;
  }
  if (assumption == kNothing) provisional_.truncate(first);
}

void Properties::Retract(size_t first) {
  for (const Question& question : llvm::drop_begin(provisional_, first)) known_.erase(question);
  provisional_.truncate(first);
}

std::string Properties::InferFromRules(const Value& value, Property property) {
  std::string reason = IsOfMatrices(property) ? InferOfMatrices(*this, value, property)
                                              : InferOfNumbers(*this, value, property);
  for (const Implication& implication : kImplications) {
    if (!reason.empty()) break;
    if (implication.second == property) reason = Why(value, implication.first);
  }
  return reason;
}

Bounds Properties::IntervalOf(const Value& value) {
  if (const auto known = intervals_.find(&value); known != intervals_.end()) return known->second;
  Bounds bounds;
  if (depth_ < kMostDepth && value.type().Is(TypeKind::kTensor) &&
      value.type().has_static_shape()) {
    ++depth_;
    bounds = InferBounds(value, [this](const Value& operand) { return IntervalOf(operand); });
    --depth_;
  }
  return intervals_[&value] = bounds;
}

std::optional<Bounds> Properties::BoundsOf(const Value& value) {
  Bounds bounds = IntervalOf(value);
  if (bounds.least < 0 && Has(value, Property::kNonNegative)) bounds.least = 0;
  if (bounds == Bounds()) return std::nullopt;
  return bounds;
}

std::optional<LowRank> Properties::LowRankOf(const Value& value) {
  const MatrixSource source = SourceOf(value);
  const Value& product = source.value == nullptr ? value : *source.value;
  const Op* op = product.defining_op();
  if (op == nullptr || !op->Is(Opcode::kDotGeneral) || !product.type().has_static_shape()) {
    return std::nullopt;
  }
  const Attribute numbers = op->Get("dot_dimension_numbers");
  const llvm::ArrayRef<int64_t> left = numbers.Find("lhs_contracting_dimensions").integers();
  const llvm::ArrayRef<int64_t> right = numbers.Find("rhs_contracting_dimensions").integers();
  const size_t batches = numbers.Find("lhs_batching_dimensions").integers().size();
  const llvm::ArrayRef<int64_t> shape = product.type().shape();
  if (left.size() != 1 || shape.size() != batches + 2) return std::nullopt;
  // The factors' batches are the product's, not those of what was made of it.
  if (source.value != nullptr && shape.size() != value.type().rank()) return std::nullopt;
  if (source.value != nullptr && batches != 0) return std::nullopt;
  const int64_t rank = op->operand(0)->type().shape()[left[0]];
  if (rank >= shape[batches] || rank >= shape[batches + 1]) return std::nullopt;
  LowRank factors = {.left = op->operand(0),
                     .right = op->operand(1),
                     .left_dimension = static_cast<size_t>(left[0]),
                     .right_dimension = static_cast<size_t>(right[0])};
  if (source.is_transposed) {
    std::swap(factors.left, factors.right);
    std::swap(factors.left_dimension, factors.right_dimension);
  }
  return factors;
}

void Properties::Forget() {
  known_.clear();
  intervals_.clear();
}

}  // namespace plimsoll
