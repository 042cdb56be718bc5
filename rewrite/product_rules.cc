#include "rewrite/product_rules.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "analysis/only_for.h"
#include "analysis/op_class.h"
#include "analysis/run_time.h"
#include "llvm/ADT/STLExtras.h"
#include "rewrite/contraction_order.h"
#include "rewrite/sum_of_products.h"

namespace plimsoll {
namespace {

// Where a diagonal is read, all but that need not be made.
bool IsRead(const Op& op) { return op.Is(Opcode::kGather); }

bool IsProductOrSum(const Op& op) {
  return op.Is(Opcode::kDotGeneral) || op.Is(Opcode::kMultiply) ||
         (op.Is(Opcode::kReduce) && op.result_count() == 1 && BodyOf(op) == Opcode::kAdd);
}

// Ops that are seen through on the way to the next product.
bool IsBetween(const Op& op) {
  return op.Is(Opcode::kTranspose) || op.Is(Opcode::kReshape) || op.Is(Opcode::kBroadcastInDim) ||
         op.Is(Opcode::kNegate);
}

// True if the op is only a part of a larger product, which is looked at as a whole.
bool IsPartOfProduct(const Op& op) {
  const Op* part = &op;
  while (part->result(0)->has_one_use()) {
    const Op* user = part->result(0)->first_use()->owner();
    if (user->block() != op.block()) return false;
    if (IsProductOrSum(*user)) return true;
    if (!IsBetween(*user)) return false;
    part = user;
  }
  return false;
}

double SecondsFor(llvm::ArrayRef<Op*> ops) {
  double seconds = 0;
  for (const Op* op : ops) seconds += SecondsOf(*op);
  return seconds;
}

// What is given, but would be made for this sum alone, is not there anyway.
SumOfProducts WithoutOwn(SumOfProducts sum, llvm::ArrayRef<Op*> own) {
  llvm::erase_if(sum.given, [&](const GivenProduct& given) {
    return llvm::is_contained(own, given.factor.value->defining_op());
  });
  return sum;
}

// The given products that an order uses, each once.
llvm::SmallVector<Op*> UsedOwn(const SumOfProducts& sum, const ContractionOrder& order,
                               llvm::ArrayRef<Op*> own) {
  llvm::SmallVector<Op*> used;
  const auto add = [&](int number) {
    const auto place = static_cast<size_t>(number);
    if (number < 0 || place < sum.factors.size()) return;
    if (place >= sum.factors.size() + sum.given.size()) return;
    Op* op = sum.given[place - sum.factors.size()].factor.value->defining_op();
    if (llvm::is_contained(own, op) && !llvm::is_contained(used, op)) used.push_back(op);
  };
  add(order.result);
  for (const ContractionStep& step : order.steps) {
    add(step.left);
    add(step.right);
  }
  return used;
}

Builder::Values Reorder(RuleScope& scope, const ProductViews& views) {
  Op& op = scope.op();
  const bool is_root = IsProductOrSum(op) || (views.diagonals && IsRead(op));
  if (!is_root || IsPartOfProduct(op)) return {};
  std::optional<SumOfProducts> sum = CollectProducts(op, views);
  if (!sum || sum->ops.size() < 2) return {};
  if (!llvm::any_of(sum->ops, [](const Op* part) { return !part->Is(Opcode::kMultiply); })) {
    return {};
  }
  const llvm::SmallVector<Op*> own = OpsOnlyFor(&op);
  ContractionOrder order = OrderContraction(ContractionOf(*sum), ContractionGoal::kTime);
  double seconds = order.seconds;
  const llvm::SmallVector<Op*> used = UsedOwn(*sum, order, own);
  for (Op* given : used) seconds += SecondsFor(OpsOnlyFor(given));
  if (!used.empty()) {
    SumOfProducts without = WithoutOwn(*sum, own);
    ContractionOrder other = OrderContraction(ContractionOf(without), ContractionGoal::kTime);
    if (other.seconds < seconds) {
      sum = std::move(without);
      order = std::move(other);
    }
  }
  const Op* before = op.previous();
  Value* result = EmitProducts(scope.builder(), *sum, order);
  if (result == nullptr) return {};
  // What is not better is what was there, most often.
  llvm::SmallVector<Op*> made;
  for (Op* other = op.previous(); other != before; other = other->previous()) {
    made.push_back(other);
  }
  double saved = 0;
  for (const Op* other : OpsOnlyFor(&op)) saved += SecondsOf(*other) + kSecondsPerOp;
  double spent = 0;
  for (const Op* other : made) spent += SecondsOf(*other) + kSecondsPerOp;
  if (spent >= saved) return {};
  return {result};
}

Builder::Values ReorderProducts(RuleScope& scope) {
  return Reorder(scope, {.diagonals = false, .reshapes = false});
}

Builder::Values ReorderDiagonals(RuleScope& scope) {
  return Reorder(scope, {.diagonals = true, .reshapes = false});
}

Builder::Values ReorderReshaped(RuleScope& scope) {
  return Reorder(scope, {.diagonals = false, .reshapes = true});
}

constexpr Rule kRules[] = {
    {.name = "reorder_products",
     .pattern = "(A·B)·v, sum(A·B), (U·Vᵀ)·x, sum_k a_i b_ik, through transposes, scalings and "
                "broadcasts",
     .result = "the order of products and sums that is thought to take the least time",
     .guard = "f32, f64, complex numbers and integers",
     .numerics = Numerics::kReassociates,
     .rewrite = ReorderProducts},
    {.name = "diagonal_products",
     .pattern = "diag(d)·A, A·diag(d), diag(A·B), trace(A·B), A·I",
     .result = "a scaling, a sum over elements, or A itself",
     .guard = "f32, f64, complex numbers and integers",
     .numerics = Numerics::kReassociates,
     .rewrite = ReorderDiagonals},
    {.name = "kronecker_products",
     .pattern = "(A⊗B)·x, and products of what was reshaped",
     .result = "products with A and with B",
     .guard = "f32, f64, complex numbers and integers",
     .numerics = Numerics::kReassociates,
     .rewrite = ReorderReshaped},
};

}  // namespace

llvm::ArrayRef<Rule> ProductRules() { return kRules; }

}  // namespace plimsoll
