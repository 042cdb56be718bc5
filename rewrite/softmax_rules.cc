#include "rewrite/softmax_rules.h"

#include <cstddef>
#include <utility>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/pieces.h"
#include "rewrite/product_side.h"
#include "rewrite/shrink.h"

namespace plimsoll {
namespace {

// A longer chain of ops is not looked through.
constexpr int kMostDepth = 16;

// Divisions of an operand of a product by what is the same along what is summed over.
class DivisionFinder {
 public:
  DivisionFinder(Builder& builder, llvm::ArrayRef<int64_t> summed)
      : builder_(builder), shrinker_(builder, summed) {}

  // Looks through what may as well be done without the division.
  bool Find(Value& value) {
    Op* op = value.defining_op();
    if (op == nullptr || !value.has_one_use() || !MapsElements(*op) || path_.size() == kMostDepth) {
      return false;
    }
    if (op->Is(Opcode::kDivide) && shrinker_.CanShrink(*op->operand(1))) {
      // A number alone is for the rules on products.
      if (ConstantNumber(*op->operand(1))) return false;
      division_ = op;
      return true;
    }
    return llvm::any_of(Through(*op), [&](size_t operand) {
      path_.emplace_back(op, operand);
      if (Find(*op->operand(operand))) return true;
      path_.pop_back();
      return false;
    });
  }

  // The value without the division.
  Value* Undivided() {
    Value* value = division_->operand(0);
    for (const auto& [op, number] : llvm::reverse(path_)) {
      llvm::SmallVector<Value*> operands = llvm::to_vector(op->operands());
      operands[number] = value;
      value = CloneElementwise(builder_, *op, operands, op->result(0)->type().shape());
    }
    return value;
  }

  // What it was divided by, without the dimensions that are summed over.
  Value* Divisor() { return shrinker_.Shrink(*division_->operand(1)); }

 private:
  // The operands that the op is a multiple of. Not selects: they may be there to take away what was
  // divided by 0.
  static llvm::SmallVector<size_t> Through(const Op& op) {
    switch (op.opcode()) {
      case Opcode::kMultiply:
        return {0, 1};
      case Opcode::kDivide:
      case Opcode::kNegate:
        return {0};
      default:
        return {};
    }
  }

  Builder& builder_;
  Shrinker shrinker_;
  Op* division_ = nullptr;
  llvm::SmallVector<std::pair<Op*, size_t>> path_;
};

// Where the dimensions of an operand that are not summed over are in the product's result.
llvm::SmallVector<int> KeptInResult(const Op& product, size_t operand) {
  const ProductSide side = ProductSideOf(product, operand);
  auto next = static_cast<int>(side.batch.size());
  if (operand == 1) next += static_cast<int>(ProductSideOf(product, 0).Free().size());
  llvm::SmallVector<int> dimensions;
  for (const int64_t d : llvm::seq(static_cast<int64_t>(side.value->type().rank()))) {
    if (llvm::is_contained(side.contracted, d)) continue;
    const auto* place = llvm::find(side.batch, d);
    const bool is_batch = place != side.batch.end();
    dimensions.push_back(is_batch ? static_cast<int>(place - side.batch.begin()) : next++);
  }
  return dimensions;
}

bool IsWideFloat(Type element) {
  return element.Is(TypeKind::kFloat) &&
         (element.float_kind() == FloatKind::kF32 || element.float_kind() == FloatKind::kF64);
}

Builder::Values SoftmaxProduct(RuleScope& scope) {
  const Op& op = scope.op();
  if (!op.Is(Opcode::kDotGeneral)) return {};
  const Type type = op.result(0)->type();
  if (!type.has_static_shape() || !IsWideFloat(type.element_type())) return {};
  Builder& builder = scope.builder();
  for (const size_t side : {0, 1}) {
    Value& operand = *op.operand(side);
    if (!operand.type().has_static_shape() ||
        operand.type().element_type() != type.element_type()) {
      continue;
    }
    DivisionFinder finder(builder, ProductSideOf(op, side).contracted);
    if (!finder.Find(operand)) continue;
    Value* operands[2] = {op.operand(0), op.operand(1)};
    operands[side] = finder.Undivided();
    Value* product = CloneElementwise(builder, op, operands, type.shape());
    Value* divisor = finder.Divisor();
    if (product == nullptr || divisor == nullptr) return {};
    IndexedValue placed = {.value = divisor, .indices = {}};
    // A number without dimensions stays one.
    if (divisor->type().rank() > 0) llvm::append_range(placed.indices, KeptInResult(op, side));
    const llvm::SmallVector<int> all = llvm::to_vector(llvm::seq(static_cast<int>(type.rank())));
    return {builder.Divide(product, Arrange(builder, placed, all, type.shape()))};
  }
  return {};
}

constexpr Rule kRules[] = {
    {.name = "softmax_product",
     .pattern = "(E / s)·V with a divisor for each row, also of what is scaled in between",
     .result = "(E·V) / s",
     .guard = "f32 and f64; nobody else needs E / s",
     .numerics = Numerics::kRewrites,
     .rewrite = SoftmaxProduct},
};

}  // namespace

llvm::ArrayRef<Rule> SoftmaxRules() { return kRules; }

}  // namespace plimsoll
