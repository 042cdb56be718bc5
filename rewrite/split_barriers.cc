#include "rewrite/split_barriers.h"

#include <vector>

namespace plimsoll {

void SplitBarriers(Op& root) {
  std::vector<Op*> barriers;
  Walk(root, [&](Op& op) {
    if (op.Is(Opcode::kOptimizationBarrier) && op.operand_count() > 1) barriers.push_back(&op);
  });
  for (Op* barrier : barriers) {
    for (size_t i = 0; i < barrier->operand_count(); ++i) {
      Op* single = barrier->block()->InsertBefore(
          barrier, Op::Create(barrier->name(), barrier->location(), barrier->result(i)->type(),
                              barrier->operand(i)));
      barrier->result(i)->ReplaceAllUsesWith(single->result(0));
    }
    barrier->Erase();
  }
}

}  // namespace plimsoll
