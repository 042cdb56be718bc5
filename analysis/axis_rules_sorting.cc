// Axis rules of sort and top_k.

#include <utility>

#include "analysis/axis_rules_internal.h"
#include "ir/status.h"

namespace plimsoll {

AxisRule SortRule(const Op& op) {
  const auto rank = static_cast<int>(op.operand(0)->type().rank());
  const Attribute attribute = op.Get("dimension");
  int sorted = attribute ? static_cast<int>(attribute.integer()) : -1;
  if (sorted < 0) sorted += rank;
  RuleMaker maker(op);
  for (int d = 0; d < rank; ++d) {
    if (d == sorted) continue;
    Factor factor = maker.Blank(maker.OperandSize(0, d), d);
    factor.operands.assign(op.operand_count(), d);
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish(StrCat("sort needs all of dimension ", sorted));
}

AxisRule TopKRule(const Op& op) {
  const auto last = static_cast<int>(op.operand(0)->type().rank()) - 1;
  RuleMaker maker(op);
  for (int d = 0; d < last; ++d) {
    Factor factor = maker.Blank(maker.OperandSize(0, d), d);
    factor.operands = {d};
    maker.Add(std::move(factor));
  }
  if (maker.ResultSize(0, last) == 0) return std::move(maker).Finish("top_k takes nothing");
  Factor factor = maker.Blank(maker.OperandSize(0, last));
  factor.operands = {last};
  factor.combination = Combination::kTopK;
  maker.Add(std::move(factor));
  return std::move(maker).Finish("");
}

}  // namespace plimsoll
