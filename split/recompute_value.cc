#include "split/recompute_value.h"

#include "analysis/effects.h"
#include "llvm/ADT/DenseSet.h"

namespace plimsoll {
namespace {

// What takes so long that it is not done a second time, let alone in every turn of a loop.
bool IsCostly(const Op& op) {
  switch (op.opcode()) {
    case Opcode::kCholesky:
    case Opcode::kChloTopK:
    case Opcode::kCustomCall:
    case Opcode::kSort:
    case Opcode::kTriangularSolve:
      return true;
    default:
      return op.region_count() > 1;
  }
}

}  // namespace

std::optional<std::vector<const Op*>> ProducersOf(const Value& value,
                                                  llvm::function_ref<bool(const Value&)> is_big) {
  llvm::DenseSet<const Op*> found;
  std::vector<const Op*> worklist = {value.defining_op()};
  while (!worklist.empty()) {
    const Op* op = worklist.back();
    worklist.pop_back();
    if (op == nullptr || IsCostly(*op) || HasEffects(*op)) return std::nullopt;
    if (!found.insert(op).second) continue;
    for (const Value* operand : op->operands()) {
      const bool is_here = !operand->is_argument() && operand->block() == value.block();
      if (is_here && is_big(*operand)) worklist.push_back(operand->defining_op());
    }
  }
  std::vector<const Op*> ops;
  for (const Op& op : *value.block()) {
    if (found.contains(&op)) ops.push_back(&op);
  }
  return ops;
}

bool RecomputeFor(Op& user, Value& value, llvm::function_ref<bool(const Value&)> is_big) {
  const auto producers = ProducersOf(value, is_big);
  if (!producers) return false;
  ValueMap values;
  for (const Op* op : *producers) user.block()->InsertBefore(&user, op->Clone(values));
  for (Operand& use : user.operand_uses()) {
    if (use.value() == &value) use.Set(values[&value]);
  }
  return true;
}

}  // namespace plimsoll
