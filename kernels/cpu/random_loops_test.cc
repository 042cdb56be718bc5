// Random loop programs against their evaluation in double precision.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/testing.h"
#include "kernels/evaluate_loop.h"
#include "kernels/loop_text.h"

namespace plimsoll {
namespace {

using testing::Evaluate;
using testing::NumberArray;
using testing::RoundTo;
using testing::RunOnNumbers;
using testing::ShapeOf;

constexpr int64_t kTurns = 4;

class RandomLoop {
 public:
  explicit RandomLoop(uint64_t seed) : random_(seed) {}

  LoopProgram Make() {
    static constexpr ScalarType kTypes[] = {ScalarType::kF32, ScalarType::kF32,  ScalarType::kF64,
                                            ScalarType::kI32, ScalarType::kUI32, ScalarType::kI64};
    type_ = kTypes[Below(std::size(kTypes))];
    const int zero = AddConstant(program_, ScalarType::kI32, 0);
    const int one = AddConstant(program_, ScalarType::kI32, 1);
    const int turns = AddConstant(program_, ScalarType::kI32, Below(kTurns + 2));
    counter_ = *AddState(program_, /*varies=*/false, zero);
    const int next = *AddCompute(program_, Opcode::kAdd, {counter_, one});
    program_.ops[static_cast<size_t>(counter_)].index = next;
    program_.condition = *AddCompute(program_, Opcode::kCompare, {counter_, turns});
    program_.ops.back().comparison = Comparison::kLess;
    for (size_t i = 1 + Below(3); i > 0; --i) AddArray();
    std::vector<int> states;
    for (size_t i = 1 + Below(4); i > 0; --i) {
      const int first = values_[Below(values_.size())];
      const bool varies = program_.op(first).varies || Chance(2);
      states.push_back(*AddState(program_, varies, first));
    }
    for (const int state : states) values_.push_back(state);
    for (size_t i = 2 + Below(8); i > 0; --i) AddOp();
    for (const int state : states) Close(state);
    for (size_t i = 1 + Below(3); i > 0; --i) AddSteps();
    LoopResult final = {.array = {.type = type_, .dimensions = {kBatchDimension}}};
    if (states.size() > 1) {
      final.array.dimensions.push_back(static_cast<int64_t>(states.size()));
      if (Chance(2)) std::swap(final.array.dimensions[0], final.array.dimensions[1]);
    }
    final.values = states;
    program_.results.push_back(std::move(final));
    program_.results.push_back({.array = {.type = ScalarType::kI32}, .values = {counter_}});
    return program_;
  }

  NumberArray Operand(const LoopArray& array, int64_t batch) {
    NumberArray operand = {.shape = ShapeOf(array, batch, kTurns), .numbers = {}};
    size_t count = 1;
    for (const int64_t size : operand.shape) count *= static_cast<size_t>(size);
    for (size_t i = 0; i < count; ++i) {
      const double number = std::uniform_real_distribution<>(-1, 1)(random_);
      if (IsFloat(array.type)) {
        operand.numbers.push_back(RoundTo(array.type, number));
      } else {
        operand.numbers.push_back(
            std::round(IsUnsigned(array.type) ? 99 * std::abs(number) : 99 * number));
      }
    }
    return operand;
  }

  size_t Below(size_t end) { return random_() % end; }

 private:
  bool Chance(int of) { return Below(static_cast<size_t>(of)) == 0; }
  int Any() { return values_[Below(values_.size())]; }
  void Keep(const StatusOr<int>& op) {
    ASSERT_TRUE(op.ok()) << op.status().ToString();
    values_.push_back(*op);
  }

  std::vector<int64_t> Dimensions(bool has_batch, bool has_steps) {
    std::vector<int64_t> dimensions;
    if (has_batch) dimensions.push_back(kBatchDimension);
    if (has_steps) dimensions.push_back(kStepDimension);
    if (Chance(2)) dimensions.push_back(static_cast<int64_t>(1 + Below(3)));
    std::shuffle(dimensions.begin(), dimensions.end(), random_);
    return dimensions;
  }

  void AddArray() {
    const bool has_batch = program_.operands.empty() || !Chance(3);
    LoopArray array = {.type = type_, .dimensions = Dimensions(has_batch, false)};
    const int64_t count = array.ElementCount();
    ASSERT_TRUE(AddOperand(program_, std::move(array)).ok());
    const int operand = static_cast<int>(program_.operands.size()) - 1;
    for (int64_t i = 0; i < count; ++i) Keep(AddLoad(program_, operand, i));
  }

  void AddOp() {
    if (Chance(5)) {
      ASSERT_TRUE(
          AddOperand(program_, {.type = type_, .dimensions = Dimensions(Chance(2), true)}).ok());
      Keep(AddLoad(program_, static_cast<int>(program_.operands.size()) - 1, 0, counter_));
    }
    if (Chance(5)) {
      StatusOr<int> position = AddPosition(program_, ScalarType::kI64);
      ASSERT_TRUE(position.ok());
      const int few = AddConstant(program_, ScalarType::kI64, 5);
      StatusOr<int> condition = AddCompute(program_, Opcode::kCompare, {*position, few});
      program_.ops.back().comparison = static_cast<Comparison>(Below(6));
      Keep(AddCompute(program_, Opcode::kSelect, {*condition, Any(), Any()}));
    }
    static constexpr Opcode kBinary[] = {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply,
                                         Opcode::kMaximum, Opcode::kMinimum};
    static constexpr Opcode kBits[] = {Opcode::kXor, Opcode::kAnd, Opcode::kShiftLeft,
                                       Opcode::kShiftRightLogical};
    if (IsFloat(type_)) {
      Keep(AddCompute(program_, kBinary[Below(std::size(kBinary))], {Any(), Any()}));
      // Values stay of moderate size.
      static constexpr Opcode kUnary[] = {Opcode::kTanh, Opcode::kSine, Opcode::kCosine};
      Keep(AddCompute(program_, kUnary[Below(std::size(kUnary))], {values_.back()}));
      return;
    }
    // What double precision does not hold exactly stays out of 64 bits.
    const bool is_wide = BytesOf(type_) == 8;
    const Opcode opcode =
        is_wide || Chance(2) ? kBinary[Below(std::size(kBinary))] : kBits[Below(std::size(kBits))];
    const bool grows = is_wide && opcode == Opcode::kMultiply;
    Keep(AddCompute(program_, grows ? Opcode::kMinimum : opcode, {Any(), Any()}));
  }

  // What a state becomes: anything that fits.
  void Close(int state) {
    int next = values_.back();
    if (!program_.op(state).varies) {
      for (const int value : values_) {
        if (!program_.op(value).varies) next = value;
      }
      if (program_.op(next).varies) next = state;
    }
    program_.ops[static_cast<size_t>(state)].index = next;
  }

  void AddSteps() {
    const int value = Any();
    LoopResult result = {.array = {.type = type_}, .step = counter_};
    result.array.dimensions = Dimensions(program_.op(value).varies || Chance(2), true);
    result.values.assign(static_cast<size_t>(result.array.ElementCount()), value);
    result.fill = AddConstant(program_, type_, 0);
    program_.results.push_back(std::move(result));
  }

  std::mt19937_64 random_;
  LoopProgram program_;
  ScalarType type_ = ScalarType::kF32;
  int counter_ = 0;
  std::vector<int> values_;
};

TEST(RandomLoops, GiveWhatTheirEvaluationGives) {
  const char* wanted = std::getenv("PLIMSOLL_RANDOM_LOOPS");
  const uint64_t count = wanted == nullptr ? 100 : std::strtoull(wanted, nullptr, 10);
  for (uint64_t seed = 1; seed <= count; ++seed) {
    RandomLoop random(seed);
    const LoopProgram program = random.Make();
    ASSERT_TRUE(Verify(program).ok()) << Verify(program).ToString() << WriteLoop(program);
    const StatusOr<std::unique_ptr<CompiledLoop>> loop = CompileLoop(program);
    ASSERT_TRUE(loop.ok()) << loop.status().ToString() << "\n" << WriteLoop(program);
    for (int i = 0; i < 3; ++i) {
      static constexpr int64_t kBatches[] = {0, 1, 2, 7, 8, 9, 31, 32, 33, 37, 64, 101, 127, 1000};
      const int64_t batch = kBatches[random.Below(std::size(kBatches))];
      std::vector<NumberArray> operands;
      for (const LoopArray& array : program.operands) {
        operands.push_back(random.Operand(array, batch));
      }
      const std::vector<NumberArray> expected = Evaluate(program, batch, kTurns, operands);
      const std::vector<NumberArray> found =
          RunOnNumbers(**loop, batch, kTurns, operands, 1 + i, i != 1);
      for (size_t j = 0; j < expected.size(); ++j) {
        const ScalarType type = program.results[j].array.type;
        const double tolerance = type == ScalarType::kF64   ? 1e-10
                                 : type == ScalarType::kF32 ? 2e-3
                                                            : 0;
        for (size_t k = 0; k < expected[j].numbers.size(); ++k) {
          const double right = expected[j].numbers[k];
          const double number = found[j].numbers[k];
          ASSERT_LE(std::abs(right - number), tolerance * (1 + std::abs(right)))
              << "seed " << seed << " result " << j << " element " << k << " batch " << batch
              << ": " << number << " instead of " << right << "\n"
              << WriteLoop(program);
        }
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll
