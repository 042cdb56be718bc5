#include "kernels/find_loop.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/reducers.h"
#include "kernels/count_turns.h"
#include "kernels/numbers.h"
#include "kernels/refuse.h"
#include "kernels/trace_ops.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// With fewer elements there is nothing to fill vectors with.
constexpr int64_t kLeastBatch = 16;
constexpr size_t kMostBatches = 8;

// Neighbouring dimensions of a value that the loop changes, which may be the batch; those with the
// most elements first.
std::vector<std::vector<int64_t>> PossibleBatches(const Op& loop) {
  std::set<std::pair<int64_t, std::vector<int64_t>>> batches;
  for (const Value* value : loop.results()) {
    if (!value->type().Is(TypeKind::kTensor) || !value->type().has_static_shape()) continue;
    const llvm::ArrayRef<int64_t> shape = value->type().shape();
    for (size_t begin = 0; begin < shape.size(); ++begin) {
      int64_t count = 1;
      for (size_t end = begin; end < shape.size() && shape[end] > 1; ++end) {
        count *= shape[end];
        if (count < kLeastBatch) continue;
        batches.emplace(-count, shape.slice(begin, end - begin + 1).vec());
      }
    }
  }
  std::vector<std::vector<int64_t>> ordered;
  for (const auto& [count, batch] : batches) ordered.push_back(batch);
  return ordered;
}

class LoopFinder {
 public:
  LoopFinder(const Op& loop, const std::vector<int64_t>& batch)
      : loop_(loop),
        condition_(loop.region(0).front()),
        body_(loop.region(1).front()),
        tracer_(found_.program, batch) {
    found_.batch = 1;
    for (const int64_t length : batch) found_.batch *= length;
  }

  StatusOr<FoundLoop> Find() {
    for (size_t i = 0; i < loop_.operand_count(); ++i) RETURN_IF_ERROR(BindArgument(i));
    tracer_.TraceBlock(condition_);
    RETURN_IF_ERROR(FindCondition());
    tracer_.TraceBlock(body_);
    for (const State& state : states_) RETURN_IF_ERROR(Close(state));
    for (size_t i = 0; i < loop_.result_count(); ++i) RETURN_IF_ERROR(AddResult(i));
    if (llvm::none_of(found_.program.results,
                      [](const LoopResult& result) { return result.array.HasBatch(); })) {
      return Refuse("none of its results has a batch");
    }
    found_.program = WithoutUnusedOps(found_.program);
    KeepUsedOperands();
    found_.turns = CountTurns(found_.program);
    DropFills();
    if (Status status = Verify(found_.program); !status.ok()) return Refuse(status.message());
    return std::move(found_);
  }

 private:
  // What the loop carries from turn to turn.
  struct State {
    size_t number = 0;
    ArrayLayout layout = {};
    Numbers numbers = {};
  };

  const Value* Returned(size_t i) const { return body_.last()->operand(i); }
  bool IsUnchanged(size_t i) const { return Returned(i) == body_.argument(i); }

  // The op by which each turn writes its step of a carried array, if that is all it does with it.
  const Op* WriterOf(size_t i) const {
    const Op* op = Returned(i)->defining_op();
    const Value* argument = body_.argument(i);
    if (op == nullptr || !op->Is(Opcode::kDynamicUpdateSlice) || op->operand(0) != argument ||
        !argument->has_one_use() || !Returned(i)->has_one_use() ||
        condition_.argument(i)->has_uses()) {
      return nullptr;
    }
    return op;
  }

  Status BindArgument(size_t i) {
    const Value* initial = loop_.operand(i);
    for (const Block* block : {&condition_, &body_}) {
      if (IsUnchanged(i)) tracer_.BindOutside(*block->argument(i), *initial);
    }
    if (IsUnchanged(i)) return OkStatus();
    if (WriterOf(i) != nullptr && IsWrittenInSteps(*WriterOf(i))) {
      tracer_.BindNothing(*body_.argument(i), Refuse("an array of steps is read"));
      return OkStatus();
    }
    State state = {.number = i};
    ASSIGN_OR_RETURN(state.layout, tracer_.LayoutOf(*initial, std::nullopt));
    ASSIGN_OR_RETURN(Numbers first, tracer_.Get(*initial));
    ASSIGN_OR_RETURN(first, WithCover(first, state.layout.cover));
    const bool varies = state.layout.array.HasBatch();
    state.numbers = first;
    for (int& op : state.numbers.ops) {
      ASSIGN_OR_RETURN(op, AddState(found_.program, varies, op));
    }
    for (const Block* block : {&condition_, &body_}) {
      tracer_.Bind(*block->argument(i), state.numbers);
    }
    states_.push_back(std::move(state));
    return OkStatus();
  }

  // The condition; where the loop goes on as long as it holds for any element of the batch, that of
  // one element.
  Status FindCondition() {
    const Value* asked = condition_.last()->operand(0);
    const Op* op = asked->defining_op();
    const std::optional<Reduction> reduction =
        op != nullptr && op->Is(Opcode::kReduce) ? ReductionOf(*op) : std::nullopt;
    if (reduction && reduction->reducer == Opcode::kOr && IsNeutral(*reduction, *op->operand(1))) {
      asked = op->operand(0);
    }
    ASSIGN_OR_RETURN(found_.program.condition, tracer_.GetScalar(*asked));
    return OkStatus();
  }

  // What a state becomes.
  Status Close(const State& state) {
    ASSIGN_OR_RETURN(Numbers next, tracer_.Get(*Returned(state.number)));
    ASSIGN_OR_RETURN(next, WithCover(next, state.layout.cover));
    for (size_t i = 0; i < next.ops.size(); ++i) {
      found_.program.ops[static_cast<size_t>(state.numbers.ops[i])].index = next.ops[i];
    }
    return OkStatus();
  }

  // The dimension of which one position is written.
  static std::optional<size_t> StepsOf(const Op& writer) {
    const llvm::ArrayRef<int64_t> shape = writer.operand(0)->type().shape();
    const llvm::ArrayRef<int64_t> written = writer.operand(1)->type().shape();
    std::optional<size_t> steps;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == written[i]) continue;
      if (steps || written[i] != 1) return std::nullopt;
      steps = i;
    }
    return steps;
  }

  static bool IsWrittenInSteps(const Op& writer) { return StepsOf(writer).has_value(); }

  Status AddResult(size_t i) {
    const Value& value = *loop_.result(i);
    if (!value.has_uses()) return OkStatus();
    if (IsUnchanged(i)) {
      found_.unchanged.emplace_back(&value, loop_.operand(i));
      return OkStatus();
    }
    const auto state = llvm::find_if(states_, [&](const State& one) { return one.number == i; });
    if (state == states_.end()) return AddSteps(i);
    found_.program.results.push_back({.array = state->layout.array, .values = state->numbers.ops});
    found_.results.push_back({.value = &value, .shape = state->layout.merged});
    return OkStatus();
  }

  Status AddSteps(size_t i) {
    const Op& writer = *WriterOf(i);
    const size_t steps = *StepsOf(writer);
    ASSIGN_OR_RETURN(const ArrayLayout layout, tracer_.LayoutOf(*writer.operand(0), steps));
    LoopResult result = {.array = layout.array};
    ASSIGN_OR_RETURN(result.step, tracer_.GetScalar(*writer.operand(2 + steps)));
    if (found_.program.op(result.step).varies) {
      return Refuse("each element of the batch writes another step");
    }
    ASSIGN_OR_RETURN(Numbers written, tracer_.Get(*writer.operand(1)));
    ASSIGN_OR_RETURN(written, WithCover(written, layout.cover));
    result.values = written.ops;
    ASSIGN_OR_RETURN(const Numbers fill, tracer_.Get(*loop_.operand(i)));
    if (fill.ops.size() != 1 || found_.program.op(fill.ops[0]).varies) {
      return Refuse("the steps are written into an array that is not the same all over");
    }
    result.fill = fill.ops[0];
    found_.results.push_back({.value = loop_.result(i), .shape = layout.merged});
    found_.program.results.push_back(std::move(result));
    return OkStatus();
  }

  void KeepUsedOperands() {
    std::vector<LoopArray> arrays;
    std::vector<int> numbers(found_.program.operands.size(), -1);
    for (LoopOp& op : found_.program.ops) {
      if (op.kind != LoopOpKind::kLoad) continue;
      int& number = numbers[static_cast<size_t>(op.index)];
      if (number < 0) {
        number = static_cast<int>(arrays.size());
        const auto& [value, shape] = tracer_.operands()[static_cast<size_t>(op.index)];
        arrays.push_back(found_.program.operands[static_cast<size_t>(op.index)]);
        found_.operands.push_back({.value = value, .shape = shape});
      }
      op.index = number;
    }
    found_.program.operands = std::move(arrays);
  }

  // Where every step is written there is nothing to fill.
  void DropFills() {
    for (size_t i = 0; i < found_.program.results.size(); ++i) {
      LoopResult& result = found_.program.results[i];
      if (result.fill < 0) continue;
      const auto steps = llvm::find(result.array.dimensions, kStepDimension);
      const int64_t length =
          found_.results[i].shape[static_cast<size_t>(steps - result.array.dimensions.begin())];
      if (WritesAllSteps(found_.program, result.step, length)) result.fill = -1;
    }
    found_.program = WithoutUnusedOps(found_.program);
  }

  const Op& loop_;
  const Block& condition_;
  const Block& body_;
  FoundLoop found_;
  OpTracer tracer_;
  std::vector<State> states_;
};

}  // namespace

std::optional<FoundLoop> FindLoop(const Op& loop, std::string& reason) {
  reason = "nothing that it changes is long enough to run along";
  const std::vector<std::vector<int64_t>> batches = PossibleBatches(loop);
  for (size_t i = 0; i < std::min(batches.size(), kMostBatches); ++i) {
    StatusOr<FoundLoop> found = LoopFinder(loop, batches[i]).Find();
    if (found.ok()) return *std::move(found);
    reason = found.status().message();
  }
  return std::nullopt;
}

}  // namespace plimsoll
