#include "kernels/count_turns.h"

#include <cstddef>
#include <vector>

#include "kernels/fold_integers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {
namespace {

constexpr int64_t kMostTurns = 1 << 17;

// Runs the part of a program that gives one or two ops, in integers.
class Counter {
 public:
  explicit Counter(const LoopProgram& program)
      : program_(program), values_(program.ops.size()), needed_(program.ops.size(), false) {}

  // Calls `visit` in each turn; false if the ops depend on what is not known.
  bool Run(int watched, llvm::function_ref<void(uint64_t)> visit) {
    Need(program_.condition);
    if (watched >= 0) Need(watched);
    std::vector<size_t> states;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (!needed_[i]) continue;
      if (program_.ops[i].kind == LoopOpKind::kState) states.push_back(i);
    }
    for (int64_t turn = 0; turn <= kMostTurns; ++turn) {
      if (!Evaluate(turn == 0)) return false;
      if (*values_[static_cast<size_t>(program_.condition)] == 0) return true;
      visit(watched < 0 ? 0 : *values_[static_cast<size_t>(watched)]);
      std::vector<std::optional<uint64_t>> next;
      for (const size_t state : states) {
        next.push_back(values_[static_cast<size_t>(program_.ops[state].index)]);
      }
      for (size_t i = 0; i < states.size(); ++i) values_[states[i]] = next[i];
    }
    return false;
  }

 private:
  void Need(int number) {
    if (needed_[static_cast<size_t>(number)]) return;
    needed_[static_cast<size_t>(number)] = true;
    const LoopOp& op = program_.op(number);
    for (const int operand : op.operands) Need(operand);
    if (op.kind == LoopOpKind::kState) Need(op.index);
  }

  // False if something is not known.
  bool Evaluate(bool is_first) {
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (!needed_[i]) continue;
      const LoopOp& op = program_.ops[i];
      if (op.kind == LoopOpKind::kConstant) values_[i] = op.bits;
      if (op.kind == LoopOpKind::kState && is_first) {
        values_[i] = values_[static_cast<size_t>(op.operands[0])];
      }
      if (op.kind == LoopOpKind::kCompute) {
        std::vector<uint64_t> operands;
        for (const int operand : op.operands) {
          operands.push_back(*values_[static_cast<size_t>(operand)]);
        }
        values_[i] = FoldIntegers(op, program_.op(op.operands.back()).type, operands);
      }
      if (!values_[i]) return false;
    }
    return true;
  }

  const LoopProgram& program_;
  std::vector<std::optional<uint64_t>> values_;
  std::vector<bool> needed_;
};

}  // namespace

std::optional<int64_t> CountTurns(const LoopProgram& program) {
  int64_t turns = 0;
  if (!Counter(program).Run(-1, [&](uint64_t) { ++turns; })) return std::nullopt;
  return turns;
}

bool WritesAllSteps(const LoopProgram& program, int step, int64_t length) {
  if (length > kMostTurns) return false;
  std::vector<bool> written(static_cast<size_t>(length), false);
  const bool is_known = Counter(program).Run(step, [&](uint64_t position) {
    if (position < written.size()) written[position] = true;
  });
  return is_known && llvm::all_of(written, [](bool is_written) { return is_written; });
}

}  // namespace plimsoll
