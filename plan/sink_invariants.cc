#include "plan/sink_invariants.h"

#include "analysis/block_view.h"
#include "llvm/ADT/STLExtras.h"
#include "split/sink_into_loop.h"

namespace plimsoll {

std::vector<RecomputedValue> SinkInvariants(Context& context, Block& block, int64_t threshold) {
  const auto is_big = [&](const Value& value) {
    return !value.is_argument() && BytesOf(value) > threshold &&
           !llvm::is_contained(block.last()->operands(), &value);
  };
  std::vector<Value*> big;
  for (Op* op = block.first(); op != nullptr; op = op->next()) {
    // What a loop has made cannot be made elsewhere.
    if (op->Is(Opcode::kWhile)) continue;
    for (size_t i = 0; i < op->result_count(); ++i) {
      if (is_big(*op->result(i))) big.push_back(op->result(i));
    }
  }
  std::vector<RecomputedValue> recomputed;
  for (Value* value : big) {
    const int loops = SinkIntoLoops(context, block, *value, is_big);
    if (loops > 0) recomputed.push_back({.value = NameOf(*value), .loops = loops});
  }
  return recomputed;
}

}  // namespace plimsoll
