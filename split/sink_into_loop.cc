#include "split/sink_into_loop.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/block_view.h"
#include "ir/builder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "split/recompute_value.h"

namespace plimsoll {
namespace {

bool IsUnchanged(const Op& loop, size_t index) {
  const Block& body = loop.region(1).front();
  return body.last()->operand(index) == body.argument(index);
}

// A piece of state that differs from turn to turn, the smallest there is; null if there is none.
Value* ChangingState(const Op& loop) {
  Block& body = loop.region(1).front();
  Value* smallest = nullptr;
  for (size_t i = 0; i < loop.operand_count(); ++i) {
    if (IsUnchanged(loop, i)) continue;
    Value* state = body.argument(i);
    if (smallest == nullptr || BytesOf(*state) < BytesOf(*smallest)) smallest = state;
  }
  return smallest;
}

// The value as it is made inside of the body.
Value* CopyInto(Context& context, Op& loop, Value* state, const Value& value,
                llvm::ArrayRef<const Op*> producers) {
  const llvm::DenseSet<const Op*> inside(producers.begin(), producers.end());
  std::vector<Value*> inputs;
  std::vector<const Op*> constants;
  for (const Op* op : producers) {
    for (Value* operand : op->operands()) {
      const Op* maker = operand->defining_op();
      if (inside.contains(maker) || llvm::is_contained(inputs, operand)) continue;
      // What is known of constants should be known inside as well.
      if (maker != nullptr && maker->Is(Opcode::kConstant)) {
        if (!llvm::is_contained(constants, maker)) constants.push_back(maker);
      } else {
        inputs.push_back(operand);
      }
    }
  }
  // XLA would compute what is the same in every turn once, before the loop.
  Builder builder(context, *loop.region(1).front().first());
  std::vector<Value*> tied = inputs;
  tied.push_back(state);
  const Builder::Values barrier = builder.OptimizationBarrier(tied);
  ValueMap values;
  for (size_t i = 0; i < inputs.size(); ++i) values[inputs[i]] = barrier[i];
  for (const Op* op : constants) builder.Append(op->Clone(values));
  for (const Op* op : producers) builder.Append(op->Clone(values));
  return values[&value];
}

// The same loop without a piece of its state, which nothing reads any more.
Op* WithoutState(Op& loop, size_t index) {
  std::vector<Value*> operands = loop.operands();
  operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(index));
  std::vector<Type> types = loop.result_types();
  types.erase(types.begin() + static_cast<std::ptrdiff_t>(index));
  Op* smaller = loop.block()->InsertBefore(
      &loop, Op::Create(loop.name(), loop.location(), types, operands, loop.properties(),
                        loop.attributes(), loop.region_count()));
  loop.result(index)->ReplaceAllUsesWith(loop.operand(index));
  for (size_t i = 0; i < types.size(); ++i) {
    loop.result(i < index ? i : i + 1)->ReplaceAllUsesWith(smaller->result(i));
  }
  for (size_t r = 0; r < loop.region_count(); ++r) {
    smaller->region(r).TakeBlocks(loop.region(r));
    Block& block = smaller->region(r).front();
    if (r == 1) {
      std::vector<Value*> returned = block.last()->operands();
      returned.erase(returned.begin() + static_cast<std::ptrdiff_t>(index));
      block.last()->set_operands(returned);
    }
    block.RemoveArgument(index);
  }
  loop.Erase();
  return smaller;
}

}  // namespace

Op* SinkIntoLoop(Context& context, Op& loop, Value& value,
                 llvm::function_ref<bool(const Value&)> is_big) {
  Block& body = loop.region(1).front();
  std::vector<size_t> places;
  for (size_t i = 0; i < loop.operand_count(); ++i) {
    if (loop.operand(i) != &value) continue;
    const bool is_read_only =
        IsUnchanged(loop, i) && !loop.region(0).front().argument(i)->has_uses();
    if (!is_read_only) return nullptr;
    places.push_back(i);
  }
  std::vector<Operand*> captured;
  for (Operand* use = value.first_use(); use != nullptr; use = use->next_use()) {
    for (const Op* op = use->owner(); op != nullptr; op = op->parent()) {
      if (op->parent() == &loop && op->block() == &body) captured.push_back(use);
    }
  }
  Value* state = ChangingState(loop);
  const auto producers = ProducersOf(value, is_big);
  if (state == nullptr || !producers || (places.empty() && captured.empty())) return nullptr;

  Value* copy = CopyInto(context, loop, state, value, *producers);
  for (Operand* use : captured) use->Set(copy);
  Op* smaller = &loop;
  for (const size_t place : llvm::reverse(places)) {
    Value* argument = body.argument(place);
    Op* terminator = body.last();
    argument->ReplaceAllUsesWith(copy);
    terminator->set_operand(place, argument);
    smaller = WithoutState(*smaller, place);
  }
  return smaller;
}

int SinkIntoLoops(Context& context, Block& block, Value& value,
                  llvm::function_ref<bool(const Value&)> is_big) {
  int changed = 0;
  for (const Op* user : BlockView(block).UsersOf(value)) {
    if (!user->Is(Opcode::kWhile) || user->result_count() == 0) continue;
    Op* loop = user->result(0)->defining_op();
    if (SinkIntoLoop(context, *loop, value, is_big) != nullptr) ++changed;
  }
  return changed;
}

}  // namespace plimsoll
