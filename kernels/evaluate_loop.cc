#include "kernels/evaluate_loop.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "kernels/fold_integers.h"

namespace plimsoll::testing {
namespace {

// Which element of the batch stands for what all have in common.
constexpr int64_t kNoElement = -1;

size_t CountOf(llvm::ArrayRef<int64_t> shape) {
  size_t count = 1;
  for (const int64_t length : shape) count *= static_cast<size_t>(length);
  return count;
}

size_t Place(const LoopArray& array, llvm::ArrayRef<int64_t> shape, int64_t number, int64_t element,
             int64_t step) {
  int64_t place = 0;
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const int64_t length = array.dimensions[i];
    int64_t position = length == kBatchDimension ? element : step;
    if (length > 0) {
      position = number % length;
      number /= length;
    }
    place += position * stride;
    stride *= shape[i];
  }
  return static_cast<size_t>(place);
}

// The program for one element of the batch.
class Evaluator {
 public:
  Evaluator(const LoopProgram& program, int64_t steps, llvm::ArrayRef<NumberArray> operands,
            int64_t element, std::vector<NumberArray>& results)
      : program_(program),
        steps_(steps),
        operands_(operands),
        element_(element),
        results_(results),
        values_(program.ops.size(), 0) {}

  void Run() {
    for (size_t i = 0; i < results_.size(); ++i) {
      if (!IsMade(i) || program_.results[i].fill < 0) continue;
      Compute(/*is_first=*/true);
      for (int64_t step = 0; step < steps_; ++step) {
        Write(i, step, [&](size_t) { return program_.results[i].fill; });
      }
    }
    for (bool is_first = true;; is_first = false) {
      Compute(is_first);
      const bool is_known = element_ != kNoElement || !program_.op(program_.condition).varies;
      if (!is_known || Get(program_.condition) == 0) break;
      for (size_t i = 0; i < results_.size(); ++i) {
        const LoopResult& result = program_.results[i];
        if (IsMade(i) && result.step >= 0) {
          Write(i, StepOf(result.step), [&](size_t number) { return result.values[number]; });
        }
      }
      std::vector<double> next = values_;
      for (size_t i = 0; i < program_.ops.size(); ++i) {
        if (program_.ops[i].kind == LoopOpKind::kState) next[i] = Get(program_.ops[i].index);
      }
      values_ = next;
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      const LoopResult& result = program_.results[i];
      if (IsMade(i) && result.step < 0) {
        Write(i, 0, [&](size_t number) { return result.values[number]; });
      }
    }
  }

 private:
  double Get(int number) const { return values_[static_cast<size_t>(number)]; }
  bool IsMade(size_t result) const {
    return program_.results[result].array.HasBatch() == (element_ != kNoElement);
  }
  int64_t StepOf(int number) const {
    return std::clamp<int64_t>(static_cast<int64_t>(Get(number)), 0, steps_ - 1);
  }

  template <typename OpOf>
  void Write(size_t result, int64_t step, OpOf op_of) {
    const LoopResult& made = program_.results[result];
    NumberArray& array = results_[result];
    for (size_t i = 0; i < made.values.size(); ++i) {
      array.numbers[Place(made.array, array.shape, static_cast<int64_t>(i), element_, step)] =
          Get(op_of(i));
    }
  }

  void Compute(bool is_first) {
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const LoopOp& op = program_.ops[i];
      if (op.varies && element_ == kNoElement) continue;
      if (op.kind != LoopOpKind::kState) {
        values_[i] = Evaluate(op);
      } else if (is_first) {
        values_[i] = Get(op.operands[0]);
      }
    }
  }

  double Evaluate(const LoopOp& op) const {
    switch (op.kind) {
      case LoopOpKind::kLoad: {
        const auto operand = static_cast<size_t>(op.index);
        const int64_t step = op.operands.empty() ? 0 : StepOf(op.operands[0]);
        const NumberArray& array = operands_[operand];
        return array
            .numbers[Place(program_.operands[operand], array.shape, op.element, element_, step)];
      }
      case LoopOpKind::kPosition:
        return static_cast<double>(element_);
      case LoopOpKind::kConstant:
        return DecodeBits(op.type, op.bits);
      case LoopOpKind::kState:
      case LoopOpKind::kCompute:
        break;
    }
    std::vector<double> numbers;
    std::vector<uint64_t> bits;
    for (const int operand : op.operands) {
      numbers.push_back(Get(operand));
      const int unused = 64 - 8 * BytesOf(program_.op(operand).type);
      if (IsFloat(program_.op(operand).type)) continue;
      bits.push_back(static_cast<uint64_t>(static_cast<int64_t>(numbers.back())) << unused >>
                     unused);
    }
    if (bits.size() == numbers.size()) {
      const auto folded = FoldIntegers(op, program_.op(op.operands.back()).type, bits);
      if (folded) return DecodeBits(op.type, *folded);
    }
    return EvaluateOp({.type = op.type, .opcode = op.opcode, .comparison = op.comparison}, numbers);
  }

  const LoopProgram& program_;
  int64_t steps_;
  llvm::ArrayRef<NumberArray> operands_;
  int64_t element_;
  std::vector<NumberArray>& results_;
  std::vector<double> values_;
};

}  // namespace

std::vector<int64_t> ShapeOf(const LoopArray& array, int64_t batch, int64_t steps) {
  std::vector<int64_t> shape;
  for (const int64_t length : array.dimensions) {
    shape.push_back(length == kBatchDimension ? batch : length == kStepDimension ? steps : length);
  }
  return shape;
}

std::vector<NumberArray> Evaluate(const LoopProgram& program, int64_t batch, int64_t steps,
                                  llvm::ArrayRef<NumberArray> operands) {
  std::vector<NumberArray> results;
  for (const LoopResult& result : program.results) {
    results.push_back({.shape = ShapeOf(result.array, batch, steps), .numbers = {}});
    results.back().numbers.resize(CountOf(results.back().shape));
  }
  for (int64_t element = kNoElement; element < batch; ++element) {
    Evaluator(program, steps, operands, element, results).Run();
  }
  return results;
}

}  // namespace plimsoll::testing
