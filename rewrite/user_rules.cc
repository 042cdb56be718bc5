#include "rewrite/user_rules.h"

#include <mutex>
#include <set>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/fold_transposes.h"
#include "rewrite/normalize.h"

namespace plimsoll {
namespace {

// Of the places where an op's arguments may be, so many are looked at.
constexpr int kMostCandidates = 32;

std::string_view KeepForever(std::string_view name) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string, std::less<>>;
  const std::scoped_lock lock(mutex);
  return *names.emplace(name).first;
}

// Whether an argument has the dimensions along which all its elements are the same.
enum class Repeated : uint8_t { kOne, kAll };

llvm::SmallVector<int64_t> ShapeOf(const BoundArgument& argument, Repeated repeated) {
  llvm::SmallVector<int64_t> shape;
  for (const auto [dimension, size] : llvm::enumerate(argument.sizes)) {
    const bool is_one =
        repeated == Repeated::kOne && !argument.source().Has(static_cast<int>(dimension));
    shape.push_back(is_one ? 1 : size);
  }
  return shape;
}

// True if the view's dimensions are the argument's, in order.
bool IsInOrder(const IndexedValue& view) {
  return llvm::all_of(llvm::enumerate(view.indices), [](const auto& pair) {
    return pair.value() == kNoIndex || pair.value() == static_cast<int>(pair.index());
  });
}

Value* MakeArgument(Builder& builder, const BoundArgument& argument, Type type) {
  for (const IndexedValue& view : argument.views) {
    if (view.value->type() == type && IsInOrder(view)) return view.value;
  }
  const auto dimensions = llvm::to_vector(llvm::seq(static_cast<int>(type.rank())));
  return Arrange(builder, argument.source(), dimensions, type.shape());
}

// The pattern's result as the op has it.
Value* AsResultOf(Builder& builder, const Op& op, Value& result, const Pattern& pattern,
                  const ExpressionMatch& match) {
  llvm::SmallVector<int> indices(match.dimensions.size(), kNoIndex);
  for (const auto [from, to] : llvm::enumerate(match.dimensions)) {
    indices[to] = pattern.root.indices[from];
  }
  const IndexedValue all = AllIndices(result);
  const Type type = op.result(0)->type();
  if (result.type() == type && llvm::ArrayRef(indices) == llvm::ArrayRef(all.indices)) {
    return &result;
  }
  return Arrange(builder, all, indices, type.shape());
}

Value* Inline(Builder& builder, const Pattern& result, llvm::ArrayRef<Value*> arguments) {
  ValueMap values;
  for (const auto [i, argument] : llvm::enumerate(arguments)) {
    values[result.body->argument(i)] = argument;
  }
  for (const Op& op : *result.body) {
    if (&op == result.body->last()) break;
    Op* copy = builder.Append(op.Clone(values));
    // The user's line is the one in the program.
    Walk(*copy, [&](Op& inner) { inner.set_location(builder.location()); });
  }
  const auto found = values.find(result.result);
  return found == values.end() ? result.result : found->second;
}

// Products take transposed arrays as they are, and what that leaves unused is not to be paid for.
void FoldMadeTransposes(Context& context, Op& op, const Op* before, const Value& replacement) {
  for (Op* made = op.previous(); made != before; made = made->previous()) {
    FoldTransposes(context, *made);
  }
  for (Op* made = op.previous(); made != before;) {
    Op& at_hand = *made;
    made = made->previous();
    const bool is_used =
        &at_hand == replacement.defining_op() ||
        llvm::any_of(at_hand.results(), [](const Value* result) { return result->has_uses(); });
    if (!is_used) at_hand.Erase();
  }
}

Builder::Values RewriteByUserRule(RuleScope& scope) { return scope.rule().user->Rewrite(scope); }

}  // namespace

StatusOr<std::shared_ptr<const UserRule>> UserRule::Make(
    std::string_view name, std::vector<std::unique_ptr<Module>> samples, Lower lower) {
  std::shared_ptr<UserRule> rule(new UserRule);
  rule->name_ = KeepForever(name);
  rule->lower_ = std::move(lower);
  rule->samples_ = std::move(samples);
  Status unfit;
  for (const std::unique_ptr<Module>& sample : rule->samples_) {
    Normalize(*sample);
    StatusOr<Pattern> pattern = PatternOf(*sample);
    if (pattern.ok()) {
      rule->patterns_.push_back(*std::move(pattern));
    } else {
      unfit = pattern.status();
    }
  }
  if (rule->patterns_.empty()) {
    return Status(
        ErrorCode::kBadArgument,
        StrCat("the rule ", name, ": its pattern cannot be looked for: ", unfit.message()));
  }
  return std::shared_ptr<const UserRule>(std::move(rule));
}

UserRuleUse::UserRuleUse(const UserRule& rule)
    : user_rule_(rule),
      rule_({.name = rule.name(),
             .numerics = Numerics::kRewrites,
             .rewrite = RewriteByUserRule,
             .user = this}) {}

const UserRuleUse::Lowered& UserRuleUse::For(const Module& program, llvm::ArrayRef<Type> types) {
  std::vector<const TypeData*> key;
  for (const Type type : types) key.push_back(type.data());
  const auto [place, is_new] = lowered_.try_emplace(std::move(key));
  Lowered& lowered = place->second;
  if (!is_new) return lowered;
  lowered.sides = user_rule_.lower()(program, types);
  LoweredRule& sides = lowered.sides;
  if (sides.pattern != nullptr) {
    Normalize(*sides.pattern);
    StatusOr<Pattern> pattern = PatternOf(*sides.pattern);
    if (pattern.ok()) {
      lowered.pattern = *std::move(pattern);
    } else {
      sides.pattern = nullptr;
    }
  }
  if (sides.result != nullptr) {
    Normalize(*sides.result);
    StatusOr<Pattern> result = ResultOf(*sides.result);
    if (result.ok()) {
      lowered.result = *std::move(result);
    } else {
      sides.refusal = StrCat("its result: ", result.status().message());
      sides.result = nullptr;
    }
  }
  if (sides.pattern != nullptr && sides.result != nullptr &&
      lowered.pattern.result->type() != lowered.result.result->type()) {
    sides.refusal = StrCat("its result is ", lowered.result.result->type().ToString(),
                           " where the pattern gives ", lowered.pattern.result->type().ToString());
    sides.result = nullptr;
  }
  return lowered;
}

Builder::Values UserRuleUse::Rewrite(RuleScope& scope) {
  Builder& builder = scope.builder();
  const Op* before = scope.op().previous();
  Value* replacement = nullptr;
  std::string refusal;
  int candidates = 0;
  const auto apply = [&](const ExpressionMatch& match, Repeated repeated) {
    llvm::SmallVector<Type> types;
    for (const BoundArgument& argument : match.arguments) {
      types.push_back(builder.context().TensorType(ShapeOf(argument, repeated),
                                                   argument.source().value->type().element_type()));
    }
    const Lowered& lowered = For(scope.module(), types);
    if (lowered.sides.pattern == nullptr) return false;
    if (!IsEqual(lowered.pattern, scope.op(), match)) return false;
    if (lowered.sides.result == nullptr) {
      refusal = lowered.sides.refusal;
      return false;
    }
    llvm::SmallVector<Value*> arguments;
    for (const auto [argument, type] : llvm::zip_equal(match.arguments, types)) {
      arguments.push_back(MakeArgument(builder, argument, type));
    }
    if (!builder.status().ok()) return true;
    Value* result = Inline(builder, lowered.result, arguments);
    replacement = AsResultOf(builder, scope.op(), *result, lowered.pattern, match);
    if (replacement == nullptr) return true;
    FoldMadeTransposes(builder.context(), scope.op(), before, *replacement);
    return true;
  };
  for (const Pattern& pattern : user_rule_.patterns()) {
    const bool is_found = FindSimilar(pattern, scope.op(), [&](const ExpressionMatch& match) {
      if (++candidates > kMostCandidates) return true;
      return apply(match, Repeated::kOne) || apply(match, Repeated::kAll);
    });
    if (is_found) break;
  }
  if (replacement != nullptr) return {replacement};
  return refusal.empty() ? Builder::Values{} : scope.Refuse(std::move(refusal));
}

}  // namespace plimsoll
