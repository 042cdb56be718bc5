#include "split/clamp_slices.h"

#include "ir/builder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SetVector.h"
#include "split/chunk_ops_internal.h"

namespace plimsoll {
namespace {

// The slice that the value is a part of, seen through what XLA takes slices through.
Op* SliceBehind(const Value& value) {
  Op* op = value.defining_op();
  while (op != nullptr && (op->Is(Opcode::kReshape) || op->Is(Opcode::kTranspose) ||
                           op->Is(Opcode::kConvert) || op->Is(Opcode::kBroadcastInDim))) {
    op = op->operand(0)->defining_op();
  }
  return op != nullptr && op->Is(Opcode::kDynamicSlice) ? op : nullptr;
}

}  // namespace

Status ClampSlices(Context& context, Op& root) {
  llvm::SetVector<Op*> slices;
  Walk(root, [&](Op& op) {
    if (!op.Is(Opcode::kDynamicSlice)) return;
    if (Op* inner = SliceBehind(*op.operand(0))) {
      slices.insert(inner);
      slices.insert(&op);
    }
  });
  for (Op* slice : slices) {
    const llvm::ArrayRef<int64_t> shape = slice->operand(0)->type().shape();
    const llvm::ArrayRef<int64_t> sizes = slice->Get("slice_sizes").integers();
    Builder builder(context, *slice);
    for (size_t d = 0; d < shape.size(); ++d) {
      Value* start = slice->operand(d + 1);
      if (start->defining_op() != nullptr && start->defining_op()->Is(Opcode::kConstant)) continue;
      start = ClampTo(builder, start, 0, shape[d] - sizes[d]);
      if (!builder.status().ok()) return builder.status();
      slice->set_operand(d + 1, start);
    }
  }
  return OkStatus();
}

}  // namespace plimsoll
