#include "kernels/unroll_rounds.h"

#include <optional>
#include <string_view>
#include <utility>

#include "analysis/block_view.h"
#include "analysis/constant_integers.h"
#include "analysis/effects.h"
#include "analysis/op_class.h"
#include "ir/builder.h"
#include "kernels/sort_ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace plimsoll {
namespace {

// Others are left to loops: their code would be long.
constexpr int kMostTurns = 8;
constexpr size_t kMostOps = 640;
// Of a value that a turn reads parts of.
constexpr int64_t kMostParts = 64;

// Ops are known by this, as pointers to them would go stale.
constexpr std::string_view kMark = "plimsoll.rounds";

bool IsOfIntegers(const Value& value) {
  return value.type().Is(TypeKind::kTensor) && value.type().has_static_shape() &&
         value.type().element_type().Is(TypeKind::kInteger);
}

bool IsOfRounds(const Op& op) {
  if (op.region_count() > 0 || op.result_count() != 1 || op.attributes() ||
      !IsOfIntegers(*op.result(0)) ||
      !llvm::all_of(op.operands(), [](const Value* value) { return IsOfIntegers(*value); })) {
    return false;
  }
  if (op.Is(Opcode::kSlice)) return op.operand(0)->type().element_count() <= kMostParts;
  return MapsElements(op) || op.Is(Opcode::kConstant) || op.Is(Opcode::kBroadcastInDim) ||
         op.Is(Opcode::kReshape);
}

// Makes turns as long as it is known that there is a next one.
class Unroller {
 public:
  Unroller(Context& context, Op& loop)
      : loop_(loop), builder_(context, loop), state_(loop.operands()) {}

  bool Run() {
    for (int turn = 0; turn <= kMostTurns && copies_.size() <= kMostOps; ++turn) {
      const Builder::Values decision = Copy(loop_.region(0).front());
      const std::optional<std::vector<int64_t>> goes_on = ConstantIntegers(*decision.front());
      if (!goes_on) return false;
      if (goes_on->front() == 0) return true;
      state_ = Copy(loop_.region(1).front());
    }
    return false;
  }

  // The state after the last turn that was made.
  llvm::ArrayRef<Value*> state() const { return state_; }
  std::vector<Op*>& copies() { return copies_; }

 private:
  // What the block gives for the state. Numbers that are known by then are constants.
  Builder::Values Copy(const Block& block) {
    ValueMap values;
    for (size_t i = 0; i < state_.size(); ++i) values[block.argument(i)] = state_[i];
    for (const Op* op = block.first(); op != block.last(); op = op->next()) {
      Op* copy = builder_.Append(op->Clone(values));
      const Value* result = copy->result(0);
      const bool is_number = !copy->Is(Opcode::kConstant) && result->type().element_count() == 1;
      if (const auto number = is_number ? ConstantIntegers(*result) : std::nullopt) {
        Value* constant = builder_.IntegerConstant(result->type(), number->front());
        copy->Erase();
        copy = constant->defining_op();
        values[op->result(0)] = constant;
      }
      copies_.push_back(copy);
    }
    Builder::Values returned;
    for (Value* value : block.last()->operands()) {
      const auto copy = values.find(value);
      returned.push_back(copy == values.end() ? value : copy->second);
    }
    return returned;
  }

  Op& loop_;
  Builder builder_;
  Builder::Values state_;
  std::vector<Op*> copies_;
};

// Of ops that others come after only if they use them.
void EraseUnused(llvm::ArrayRef<Op*> ops) {
  for (Op* op : llvm::reverse(ops)) {
    if (llvm::none_of(op->results(), [](const Value* value) { return value->has_uses(); })) {
      op->Erase();
    }
  }
}

// What makes values that nobody uses any more.
void EraseProducers(llvm::SmallSetVector<Value*, 8> values, const Block& block) {
  while (!values.empty()) {
    const Value* value = values.pop_back_val();
    Op* op = value->defining_op();
    if (op == nullptr || op->block() != &block || HasEffects(*op) ||
        llvm::any_of(op->results(), [](const Value* result) { return result->has_uses(); })) {
      continue;
    }
    for (Value* result : op->results()) values.remove(result);
    for (Value* operand : op->operands()) values.insert(operand);
    op->Erase();
  }
}

}  // namespace

bool UnrolledRounds::CanUnroll(const Op& loop, int64_t least_bytes) {
  if (!loop.Is(Opcode::kWhile)) return false;
  const bool has_large = llvm::any_of(loop.results(), [&](const Value* value) {
    return IsOfIntegers(*value) && BytesOf(*value) >= least_bytes;
  });
  if (!has_large) return false;
  for (const size_t region : {0, 1}) {
    const Block& block = loop.region(region).front();
    for (const Op* op = block.first(); op != block.last(); op = op->next()) {
      if (!IsOfRounds(*op)) return false;
    }
  }
  return true;
}

bool UnrolledRounds::Unroll(Op& loop) {
  Unroller unroller(context_, loop);
  if (!unroller.Run()) {
    EraseUnused(unroller.copies());
    return false;
  }
  for (Op* copy : unroller.copies()) {
    Mark mark = {.loop = loops_.size(), .results = {}};
    for (size_t i = 0; i < loop.result_count(); ++i) {
      if (unroller.state()[i] == copy->result(0)) mark.results.push_back(i);
    }
    copy->set_attributes(NewMark(std::move(mark)));
  }
  for (size_t i = 0; i < loop.result_count(); ++i) {
    loop.result(i)->ReplaceAllUsesWith(unroller.state()[i]);
  }
  Block* block = loop.block();
  loops_.push_back({.block = block, .op = loop.Remove(), .copies = {}});
  return true;
}

Attribute UnrolledRounds::NewMark(Mark mark) {
  marks_.push_back(std::move(mark));
  return context_.Dictionary({{kMark, context_.I64(static_cast<int64_t>(marks_.size()) - 1)}});
}

const UnrolledRounds::Mark* UnrolledRounds::MarkOf(const Op& op) const {
  const Attribute number = op.attributes() ? op.attributes().Find(kMark) : Attribute();
  return number ? &marks_[static_cast<size_t>(number.integer())] : nullptr;
}

// What is left of the copies in a block.
void UnrolledRounds::GiveBackUsers(Block& block) {
  for (Op& op : block) {
    const Mark* mark = MarkOf(op);
    if (mark == nullptr) continue;
    op.set_attributes({});
    Loop& loop = loops_[mark->loop];
    loop.copies.push_back(&op);
    if (!mark->results.empty()) {
      op.result(0)->ReplaceAllUsesWith(loop.op->result(mark->results.front()));
    }
  }
}

std::vector<Op*> UnrolledRounds::RollUp() {
  llvm::SetVector<Block*> blocks;
  for (const Loop& loop : loops_) blocks.insert(loop.block);
  for (Block* block : blocks) GiveBackUsers(*block);
  std::vector<Op*> found;
  for (Loop& loop : loops_) {
    EraseUnused(loop.copies);
    if (llvm::any_of(loop.op->results(), [](const Value* value) { return value->has_uses(); })) {
      found.push_back(loop.block->InsertBefore(loop.block->last(), std::move(loop.op)));
      continue;
    }
    const std::vector<Value*> operands = loop.op->operands();
    loop.op.reset();
    EraseProducers({operands.begin(), operands.end()}, *loop.block);
  }
  for (Block* block : blocks) SortOps(*block);
  loops_.clear();
  return found;
}

}  // namespace plimsoll
