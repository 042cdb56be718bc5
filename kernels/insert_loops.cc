#include "kernels/insert_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/run_time.h"
#include "ir/builder.h"
#include "kernels/emit_call.h"
#include "kernels/find_loop.h"
#include "kernels/loop_text.h"
#include "kernels/unroll_rounds.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Where nothing says how often a loop turns.
constexpr int64_t kUsualTurns = 100;
// Less than that is done before code for it would be made.
constexpr double kLeastSeconds = 2e-5;

const Value* LargestOf(const Op& loop) {
  const Value* largest = nullptr;
  for (const Value* value : loop.results()) {
    if (largest == nullptr ||
        value->type().bytes().value_or(0) > largest->type().bytes().value_or(0)) {
      largest = value;
    }
  }
  return largest;
}

class LoopInserter {
 public:
  LoopInserter(Context& context, const KernelOptions& options, KernelReport& report)
      : context_(context), options_(options), report_(report) {}

  Status Run(Block& block) {
    for (Op& op : llvm::make_early_inc_range(block)) {
      if (UnrolledRounds::CanUnroll(op, options_.least_bytes)) continue;
      if (op.Is(Opcode::kWhile) && op.result_count() > 0) {
        ASSIGN_OR_RETURN(const bool is_replaced, Replace(op));
        if (is_replaced) continue;
      }
      if (!op.Is(Opcode::kWhile) && !op.Is(Opcode::kCase) && !op.Is(Opcode::kIf)) continue;
      for (size_t i = 0; i < op.region_count(); ++i) {
        if (!op.region(i).empty()) RETURN_IF_ERROR(Run(op.region(i).front()));
      }
    }
    return OkStatus();
  }

  StatusOr<bool> Replace(Op& loop) {
    std::string reason;
    const std::optional<FoundLoop> found = FindLoop(loop, reason);
    if (!found) {
      Refuse(loop, reason);
      return false;
    }
    const int64_t turns = found->turns.value_or(kUsualTurns);
    const StatusOr<KernelCost> cost = options_.costs.loops(found->program, found->batch, turns);
    if (!cost.ok()) {
      Refuse(loop, cost.status().message());
      return false;
    }
    if (cost->seconds < kLeastSeconds) {
      Refuse(loop, "it is too short for a kernel of its own");
      return false;
    }
    const double turn = SecondsOfPart(*loop.block(), {&loop}) / std::max(1.0, TurnsOf(loop));
    if (cost->seconds * options_.least_gain > turn * static_cast<double>(turns)) {
      Refuse(loop, "XLA is thought to be as fast");
      return false;
    }
    RETURN_IF_ERROR(Emit(loop, *found, *cost));
    report_.inserted.push_back({.program = WriteLoop(found->program),
                                .seconds = cost->seconds,
                                .scratch_bytes = cost->scratch_bytes,
                                .location = loop.location(),
                                .spared_bytes = 0});
    loop.Erase();
    return true;
  }

 private:
  void Refuse(const Op& loop, std::string_view reason) {
    const Value* largest = LargestOf(loop);
    report_.refused.push_back({.bytes = largest->type().bytes().value_or(0),
                               .type = largest->type().ToString(),
                               .location = loop.location(),
                               .reason = StrCat("a loop changes it: ", reason)});
  }

  Status Emit(Op& loop, const FoundLoop& found, const KernelCost& cost) {
    Builder builder(context_, loop);
    std::vector<Value*> operands;
    for (const FoundLoop::Array& operand : found.operands) {
      auto* value = const_cast<Value*>(operand.value);
      if (value->type().shape() != llvm::ArrayRef(operand.shape)) {
        value = builder.Reshape(value, operand.shape);
      }
      operands.push_back(value);
    }
    std::vector<Type> types;
    for (size_t i = 0; i < found.results.size(); ++i) {
      types.push_back(context_.TensorType(
          found.results[i].shape, ElementType(context_, found.program.results[i].array.type)));
    }
    RETURN_IF_ERROR(builder.status());
    ASSIGN_OR_RETURN(const Op* call,
                     EmitCall(builder, WriteLoop(found.program), operands, std::move(types), cost));
    for (size_t i = 0; i < found.results.size(); ++i) {
      const Value* from = found.results[i].value;
      Value* to = call->result(i);
      if (to->type() != from->type()) to = builder.Reshape(to, from->type().shape());
      RETURN_IF_ERROR(builder.status());
      const_cast<Value*>(from)->ReplaceAllUsesWith(to);
    }
    for (const auto& [from, to] : found.unchanged) {
      const_cast<Value*>(from)->ReplaceAllUsesWith(const_cast<Value*>(to));
    }
    return OkStatus();
  }

  Context& context_;
  const KernelOptions& options_;
  KernelReport& report_;
};

}  // namespace

Status InsertLoops(Context& context, Block& block, const KernelOptions& options,
                   KernelReport& report) {
  return LoopInserter(context, options, report).Run(block);
}

Status InsertLoop(Context& context, Op& loop, const KernelOptions& options, KernelReport& report) {
  return LoopInserter(context, options, report).Replace(loop).status();
}

}  // namespace plimsoll
