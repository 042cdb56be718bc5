// A loop of the program on one chunk: the same loop over smaller values.

#include <optional>
#include <string>
#include <utility>

#include "analysis/axis_loops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "split/chunk_ops_internal.h"

namespace plimsoll {
namespace {

using Values = Builder::Values;

class LoopChunk {
 public:
  LoopChunk(const ChunkOp& loop, const LoopAxis& axis) : loop_(loop), axis_(axis) {}

  StatusOr<Values> Emit() {
    Values results = loop_.builder.While(
        loop_.operands,
        [&](Builder& inside, llvm::ArrayRef<Value*> state) { return Condition(inside, state); },
        [&](Builder& inside, llvm::ArrayRef<Value*> state) { return Body(inside, state); });
    RETURN_IF_ERROR(error_);
    RETURN_IF_ERROR(loop_.builder.status());
    return results;
  }

 private:
  Value* Condition(Builder& builder, llvm::ArrayRef<Value*> state) {
    const Block& block = loop_.op.region(0).front();
    ValueMap values;
    for (size_t i = 0; i < state.size(); ++i) values[block.argument(i)] = state[i];
    for (const Op& op : block) {
      if (&op != block.last()) builder.Append(op.Clone(values));
    }
    return Mapped(values, block.last()->operand(0));
  }

  Values Body(Builder& builder, llvm::ArrayRef<Value*> state) {
    const Block& block = loop_.op.region(1).front();
    ValueMap values;
    for (size_t i = 0; i < state.size(); ++i) values[block.argument(i)] = state[i];
    for (const Op& op : block) {
      if (&op == block.last()) break;
      if (error_.ok()) error_ = EmitOp(builder, op, values);
    }
    Values returned(state.size(), nullptr);
    for (size_t i = 0; i < state.size() && error_.ok(); ++i) {
      returned[i] = As(builder, values, block.last()->operand(i), loop_.factor.results[i]);
    }
    return returned;
  }

  int LabelOf(const Value* value) const {
    const auto found = axis_.labels.find(value);
    return found == axis_.labels.end() ? kSame : found->second;
  }

  static Value* Mapped(const ValueMap& values, Value* value) {
    const auto found = values.find(value);
    return found == values.end() ? value : found->second;
  }

  // The value as it is wanted: what is the same in all chunks is sliced, or counts once.
  Value* As(Builder& builder, const ValueMap& values, Value* value, int wanted) {
    Value* mapped = Mapped(values, value);
    if (LabelOf(value) != kSame) return mapped;
    if (wanted == kPartial) return FirstChunkOnly(builder, mapped, loop_.chunk);
    return wanted >= 0 ? SliceChunk(builder, mapped, wanted, loop_.chunk) : mapped;
  }

  Status EmitOp(Builder& builder, const Op& op, ValueMap& values) {
    const auto entry = axis_.ops.find(&op);
    if (entry == axis_.ops.end() && LabelOf(op.result(0)) == kPartial) {
      return EmitLinear(builder, op, values);
    }
    if (entry == axis_.ops.end()) {
      builder.Append(op.Clone(values));
      return OkStatus();
    }
    const Factor& factor = entry->second;
    Values operands;
    for (size_t i = 0; i < op.operand_count(); ++i) {
      operands.push_back(As(builder, values, op.operand(i), factor.operands[i]));
    }
    RETURN_IF_ERROR(builder.status());
    Op* last = builder.block().last();
    ASSIGN_OR_RETURN(Values results, EmitChunk(builder, op, factor, operands, loop_.chunk));
    // What an op's regions use of this body is in the copy now.
    Op* emitted = last == nullptr ? builder.block().first() : last->next();
    for (; emitted != nullptr && op.region_count() > 0; emitted = emitted->next()) {
      Walk(*emitted, [&](Op& inner) {
        for (Operand& use : inner.operand_uses()) use.Set(Mapped(values, use.value()));
      });
    }
    for (size_t i = 0; i < results.size(); ++i) {
      // Inside of the loop, sums keep the type that the program gave them.
      results[i] = builder.Convert(results[i], op.result(i)->type().element_type());
      values[op.result(i)] = results[i];
    }
    return builder.status();
  }

  // A linear op of parts of a sum stays as it is; what is no part counts in the first chunk only.
  Status EmitLinear(Builder& builder, const Op& op, ValueMap& values) {
    std::unique_ptr<Op> copy = op.Clone(values);
    const auto [begin, end] = Summands(op);
    for (size_t i = begin; i < end; ++i) {
      copy->set_operand(i, As(builder, values, op.operand(i), kPartial));
    }
    builder.Append(std::move(copy));
    return builder.status();
  }

  // The operands that are added up or put side by side.
  static std::pair<size_t, size_t> Summands(const Op& op) {
    switch (op.opcode()) {
      case Opcode::kAdd:
      case Opcode::kSubtract:
      case Opcode::kConcatenate:
        return {0, op.operand_count()};
      case Opcode::kSelect:
        return {1, 3};
      case Opcode::kDynamicUpdateSlice:
        return {0, 2};
      default:
        return {0, 0};
    }
  }

  const ChunkOp& loop_;
  const LoopAxis& axis_;
  Status error_;
};

}  // namespace

Value* FirstChunkOnly(Builder& builder, Value* value, const Chunk& chunk) {
  if (IsIdentity(*value, Combination::kSum)) return value;
  Value* zero = builder.IntegerConstant(chunk.first->type(), 0);
  Value* is_first = builder.Compare(Comparison::kEqual, chunk.first, zero);
  return builder.Select(is_first, value, ZerosLike(builder, value->type()));
}

StatusOr<Values> EmitLoopChunk(const ChunkOp& loop) {
  llvm::SmallVector<StateRequest> requests;
  for (size_t i = 0; i < loop.op.operand_count(); ++i) {
    if (loop.factor.results[i] != kSame) requests.emplace_back(i, loop.factor.results[i]);
  }
  std::string reason;
  const std::optional<LoopAxis> axis = FindLoopAxis(loop.op, requests, loop.chunk.blocks, reason);
  if (!axis) return Status(ErrorCode::kInternal, reason);
  return LoopChunk(loop, *axis).Emit();
}

}  // namespace plimsoll
