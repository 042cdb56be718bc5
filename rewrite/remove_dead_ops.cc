#include "rewrite/remove_dead_ops.h"

#include "analysis/effects.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

bool IsTerminator(const Op& op) {
  return op.Is(Opcode::kReturn) || op.Is(Opcode::kFuncReturn) || op.Is(Opcode::kUnknown);
}

bool IsDead(const Op& op) {
  if (IsTerminator(op) || op.Is(Opcode::kFunc) || op.Is(Opcode::kModule)) return false;
  const bool is_used = llvm::any_of(op.results(), [](Value* result) { return result->has_uses(); });
  return !is_used && !HasEffects(op);
}

}  // namespace

void RemoveDeadOps(Op& root) {
  for (size_t i = 0; i < root.region_count(); ++i) {
    for (size_t j = 0; j < root.region(i).block_count(); ++j) {
      // Users first: without them, what they used may be dead too.
      Op* op = root.region(i).block(j).last();
      while (op != nullptr) {
        Op* previous = op->previous();
        if (IsDead(*op)) {
          op->Erase();
        } else {
          RemoveDeadOps(*op);
        }
        op = previous;
      }
    }
  }
}

}  // namespace plimsoll
