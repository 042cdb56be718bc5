#include "kernels/sort_ops.h"

#include <memory>
#include <utility>
#include <vector>

#include "analysis/block_view.h"
#include "analysis/effects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace plimsoll {

void SortOps(Block& block) {
  const BlockView view(block);
  // What must come before each op.
  llvm::DenseMap<const Op*, std::vector<Op*>> before;
  std::vector<Op*> ops;
  Op* last_effect = nullptr;
  for (Op& op : block) {
    ops.push_back(&op);
    std::vector<Op*>& needed = before[&op];
    const auto need = [&](const Value* value) {
      if (value->block() == &block && !value->is_argument()) {
        needed.push_back(value->defining_op());
      }
    };
    for (const Value* operand : op.operands()) need(operand);
    for (const Value* captured : view.Captured(op)) need(captured);
    if (HasEffects(op)) {
      if (last_effect != nullptr) needed.push_back(last_effect);
      last_effect = &op;
    }
  }
  // Depth first, without recursion: programs are long.
  std::vector<Op*> sorted;
  llvm::DenseSet<const Op*> placed;
  llvm::DenseMap<const Op*, size_t> progress;
  for (Op* root : ops) {
    std::vector<Op*> path = {root};
    while (!path.empty()) {
      Op* op = path.back();
      if (placed.contains(op)) {
        path.pop_back();
        continue;
      }
      const std::vector<Op*>& needed = before[op];
      size_t& next = progress[op];
      while (next < needed.size() && placed.contains(needed[next])) ++next;
      if (next < needed.size()) {
        path.push_back(needed[next++]);
        continue;
      }
      placed.insert(op);
      sorted.push_back(op);
      path.pop_back();
    }
  }
  for (Op* op : sorted) {
    std::unique_ptr<Op> taken = op->Remove();
    block.Append(std::move(taken));
  }
}

}  // namespace plimsoll
