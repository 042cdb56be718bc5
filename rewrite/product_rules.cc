#include "rewrite/product_rules.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/only_for.h"
#include "analysis/op_class.h"
#include "analysis/run_time.h"
#include "llvm/ADT/STLExtras.h"
#include "rewrite/contraction_order.h"
#include "rewrite/emit_products.h"
#include "rewrite/sum_of_products.h"

namespace plimsoll {
namespace {

// More products that share a value are not looked at together.
constexpr size_t kMostSharing = 8;

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

// The outermost op of the product that the op is a part of; null if it is not of one.
Op* RootOf(Op& op) {
  Op* root = IsProductOrSum(op) ? &op : nullptr;
  Op* part = &op;
  while (part->result_count() == 1 && part->result(0)->has_one_use()) {
    part = part->result(0)->first_use()->owner();
    if (part->block() != op.block()) break;
    if (IsProductOrSum(*part)) {
      root = part;
    } else if (!IsBetween(*part)) {
      break;
    }
  }
  return root;
}

SumOfProducts Without(SumOfProducts sum, const Value* value) {
  llvm::erase_if(sum.given, [&](const GivenProduct& given) { return given.factor.value == value; });
  return sum;
}

double SecondsToOrder(const SumOfProducts& sum) {
  return OrderContraction(ContractionOf(sum), ContractionGoal::kTime).seconds;
}

// A product that several use, and that all of them together would rather do without.
struct Shared {
  Value* value = nullptr;
  // What it takes to make, as far as that is this user's to save.
  double seconds = 0;
};

// `given` is a value that the product of `op` can use.
std::optional<Shared> FindUnwanted(Op& op, const GivenProduct& given, const ProductViews& views) {
  Value* value = given.factor.value;
  llvm::SmallVector<Op*> roots;
  for (Op* user : value->users()) {
    Op* root = user->block() == op.block() ? RootOf(*user) : nullptr;
    if (root == nullptr) return std::nullopt;
    if (!llvm::is_contained(roots, root)) roots.push_back(root);
  }
  if (roots.size() > kMostSharing || !llvm::is_contained(roots, &op)) return std::nullopt;
  double all = 0;
  double own = 0;
  for (Op* root : roots) {
    std::optional<SumOfProducts> sum = CollectProducts(*root, views);
    if (!sum) return std::nullopt;
    const double with = SecondsToOrder(*sum);
    const double more = SecondsToOrder(Without(*std::move(sum), value)) - with;
    all += more;
    if (root == &op) own = more;
  }
  const double making = SecondsFor(OpsOnlyFor(value->defining_op()));
  if (all <= 0 || all >= making) return std::nullopt;
  return Shared{.value = value, .seconds = making * own / all};
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
  double expected = 0;
  bool has_others = false;
  for (const GivenProduct& given : std::vector(sum->given)) {
    if (llvm::is_contained(own, given.factor.value->defining_op())) continue;
    const std::optional<Shared> shared = FindUnwanted(op, given, views);
    if (!shared) {
      has_others = true;
      continue;
    }
    expected += shared->seconds;
    sum = Without(*std::move(sum), shared->value);
  }
  if (has_others) {
    // What others use as well is used here too: where both are subtracted in the end, as in the
    // gradient of a softmax, rounding errors cancel only if they are the same.
    ProductViews alone = views;
    alone.shared = false;
    sum = CollectProducts(op, alone);
    if (!sum || sum->ops.size() < 2) return {};
    expected = 0;
  }
  scope.Expect(expected);
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
  double saved = expected;
  for (const Op* other : OpsOnlyFor(&op)) saved += SecondsOf(*other) + kSecondsPerOp;
  double spent = 0;
  for (const Op* made = op.previous(); made != before; made = made->previous()) {
    spent += SecondsOf(*made) + kSecondsPerOp;
  }
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
