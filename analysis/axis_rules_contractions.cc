// Axis rules of products and reductions.

#include <utility>

#include "analysis/axis_rules_internal.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// A sum of so many parts needs elements that can be added: numbers, not booleans.
Combination SumOf(Type type) {
  return type.element_type().IsInteger(1) ? Combination::kOr : Combination::kSum;
}

}  // namespace

AxisRule DotGeneralRule(const Op& op) {
  RuleMaker maker(op);
  const Attribute numbers = op.Get("dot_dimension_numbers");
  const llvm::ArrayRef<int64_t> left_batch = numbers.Find("lhs_batching_dimensions").integers();
  const llvm::ArrayRef<int64_t> right_batch = numbers.Find("rhs_batching_dimensions").integers();
  const llvm::ArrayRef<int64_t> left_contracted =
      numbers.Find("lhs_contracting_dimensions").integers();
  const llvm::ArrayRef<int64_t> right_contracted =
      numbers.Find("rhs_contracting_dimensions").integers();
  int result = 0;
  for (const auto [left, right] : llvm::zip_equal(left_batch, right_batch)) {
    Factor factor = maker.Blank(maker.OperandSize(0, static_cast<int>(left)), result++);
    factor.operands = {static_cast<int>(left), static_cast<int>(right)};
    maker.Add(std::move(factor));
  }
  const auto add_free = [&](size_t operand, llvm::ArrayRef<int64_t> batch,
                            llvm::ArrayRef<int64_t> contracted) {
    const int rank = static_cast<int>(op.operand(operand)->type().rank());
    for (int d = 0; d < rank; ++d) {
      if (llvm::is_contained(batch, d) || llvm::is_contained(contracted, d)) continue;
      Factor factor = maker.Blank(maker.OperandSize(operand, d), result++);
      factor.operands[operand] = d;
      maker.Add(std::move(factor));
    }
  };
  add_free(0, left_batch, left_contracted);
  add_free(1, right_batch, right_contracted);
  for (const auto [left, right] : llvm::zip_equal(left_contracted, right_contracted)) {
    Factor factor = maker.Blank(maker.OperandSize(0, static_cast<int>(left)), kPartial);
    factor.operands = {static_cast<int>(left), static_cast<int>(right)};
    factor.combination = SumOf(op.result(0)->type());
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish("");
}

AxisRule ReduceRule(const Op& op) {
  RuleMaker maker(op);
  const size_t count = op.result_count();
  const llvm::ArrayRef<int64_t> reduced = op.Get("dimensions").integers();
  const Combination combination = count == 1 ? CombinationOf(op.region(0)) : Combination::kBody;
  const int rank = static_cast<int>(op.operand(0)->type().rank());
  int result = 0;
  for (int d = 0; d < rank; ++d) {
    const bool is_reduced = llvm::is_contained(reduced, d);
    Factor factor = maker.Blank(maker.OperandSize(0, d), is_reduced ? kPartial : result++);
    for (size_t i = 0; i < count; ++i) factor.operands[i] = d;
    if (is_reduced) factor.combination = combination;
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish("");
}

}  // namespace plimsoll
