// Random tile programs against their evaluation in double precision.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/testing.h"
#include "kernels/evaluate_tiles.h"
#include "kernels/tile_text.h"

namespace plimsoll {
namespace {

using testing::Evaluate;
using testing::NumberArray;
using testing::RoundTo;
using testing::RunOnNumbers;
using testing::ShapeOf;

class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {}

  TileProgram Make() {
    program_.axes = {{.kind = TileAxisKind::kRow}, {.kind = TileAxisKind::kColumn}};
    if (Chance(3)) program_.axes.push_back({.kind = TileAxisKind::kBatch});
    const size_t shorts = Below(3);
    for (size_t i = 0; i < shorts; ++i) {
      program_.axes.push_back(
          {.kind = TileAxisKind::kShort, .length = static_cast<int64_t>(1 + Below(4))});
    }
    static constexpr ScalarType kTypes[] = {ScalarType::kF32,  ScalarType::kF32, ScalarType::kF64,
                                            ScalarType::kBF16, ScalarType::kI32, ScalarType::kI64,
                                            ScalarType::kUI32, ScalarType::kI16};
    type_ = kTypes[Below(std::size(kTypes))];
    const size_t operands = 1 + Below(4);
    for (size_t i = 0; i < operands; ++i) AddOperand();
    for (size_t i = 2 + Below(8); i > 0; --i) AddOp();
    FoldLongAxes();
    const size_t results = 1 + Below(3);
    for (size_t i = 0; i < results; ++i) AddResultOf(values_[Below(values_.size())]);
    AddResultOf(values_.back());
    return program_;
  }

  std::vector<int64_t> Lengths() {
    static constexpr int64_t kSizes[] = {0, 1, 2, 7, 8, 9, 16, 17, 31, 37, 64, 101};
    std::vector<int64_t> lengths;
    for (const TileAxis& axis : program_.axes) {
      lengths.push_back(axis.kind == TileAxisKind::kShort   ? axis.length
                        : axis.kind == TileAxisKind::kBatch ? static_cast<int64_t>(1 + Below(3))
                                                            : kSizes[Below(std::size(kSizes))]);
    }
    return lengths;
  }

  NumberArray Operand(const TileArray& array, llvm::ArrayRef<int64_t> lengths) {
    NumberArray operand = {.shape = ShapeOf(array, lengths), .numbers = {}};
    size_t count = 1;
    for (const int64_t size : operand.shape) count *= static_cast<size_t>(size);
    for (size_t i = 0; i < count; ++i) {
      const double number = std::uniform_real_distribution<>(-1, 1)(random_);
      if (IsFloat(array.type)) {
        operand.numbers.push_back(RoundTo(array.type, number));
      } else {
        operand.numbers.push_back(IsUnsigned(array.type) ? std::round(3 * std::abs(number))
                                                         : std::round(3 * number));
      }
    }
    return operand;
  }

 private:
  size_t Below(size_t end) { return random_() % end; }
  bool Chance(int of) { return Below(static_cast<size_t>(of)) == 0; }

  int Any() { return values_[Below(values_.size())]; }

  void Keep(StatusOr<int> op) {
    ASSERT_TRUE(op.ok()) << op.status().ToString();
    values_.push_back(*op);
  }

  void AddOperand() {
    TileArray array = {.type = type_, .axes = {}};
    for (int axis = 0; axis < static_cast<int>(program_.axes.size()); ++axis) {
      const bool is_short = program_.axes[static_cast<size_t>(axis)].kind == TileAxisKind::kShort;
      // The first tells how long all axes are.
      const bool has_all = program_.operands.empty() && !is_short;
      if (has_all || (is_short ? Chance(2) : !Chance(3))) array.axes.push_back(axis);
    }
    if (Chance(4)) array.axes.push_back(kNoAxis);
    std::shuffle(array.axes.begin(), array.axes.end(), random_);
    program_.operands.push_back(array);
    Keep(AddLoad(program_, static_cast<int>(program_.operands.size()) - 1));
    loads_.push_back(values_.back());
  }

  // Values stay of moderate size: what grows is bounded again.
  void AddOp() {
    if (Chance(6)) {
      const int left = loads_[Below(loads_.size())];
      StatusOr<int> condition =
          AddCompare(program_, static_cast<Comparison>(Below(6)), left, loads_.front());
      ASSERT_TRUE(condition.ok());
      Keep(AddCompute(program_, Opcode::kSelect, {*condition, Any(), Any()}));
      return;
    }
    if (Chance(6)) {
      const int axis = Chance(2) ? kRowAxis : kColumnAxis;
      StatusOr<int> position = AddIota(program_, ScalarType::kI32, axis);
      ASSERT_TRUE(position.ok());
      const int few = AddConstant(program_, ScalarType::kI32, 5);
      StatusOr<int> condition = AddCompare(program_, Comparison::kLess, *position, few);
      ASSERT_TRUE(condition.ok());
      Keep(AddCompute(program_, Opcode::kSelect, {*condition, Any(), Any()}));
      return;
    }
    if (Chance(2)) {
      static constexpr Opcode kBinary[] = {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply,
                                           Opcode::kMaximum, Opcode::kMinimum};
      // Unsigned differences would wrap around.
      const Opcode opcode = kBinary[Below(std::size(kBinary))];
      const bool wraps = opcode == Opcode::kSubtract && IsUnsigned(type_);
      Keep(AddCompute(program_, wraps ? Opcode::kAdd : opcode, {Any(), Any()}));
    } else if (IsFloat(type_)) {
      static constexpr Opcode kUnary[] = {Opcode::kTanh,   Opcode::kSine, Opcode::kLogistic,
                                          Opcode::kNegate, Opcode::kAbs,  Opcode::kCosine,
                                          Opcode::kChloErf};
      Keep(AddCompute(program_, kUnary[Below(std::size(kUnary))], {Any()}));
    } else if (!IsUnsigned(type_)) {
      Keep(AddCompute(program_, Chance(2) ? Opcode::kAbs : Opcode::kNegate, {Any()}));
    }
    if (!values_.empty() && IsFloat(type_)) Keep(AddCompute(program_, Opcode::kTanh, {Any()}));
    if (!IsFloat(type_)) {
      const int most = AddConstant(program_, type_, 3);
      Keep(AddCompute(program_, Opcode::kMinimum, {values_.back(), most}));
      if (!IsUnsigned(type_)) {
        const int least = AddConstant(program_, type_, ~uint64_t{2});
        Keep(AddCompute(program_, Opcode::kMaximum, {values_.back(), least}));
      }
    }
  }

  // Folds some short axes.
  void FoldLongAxes() {
    for (int axis = 2; axis < static_cast<int>(program_.axes.size()); ++axis) {
      const int value = values_.back();
      if ((program_.ops[static_cast<size_t>(value)].axes & AxisBit(axis)) == 0 || Chance(2)) {
        continue;
      }
      if (program_.axes[static_cast<size_t>(axis)].kind != TileAxisKind::kShort) continue;
      Keep(AddFold(program_, Chance(2) ? Opcode::kAdd : Opcode::kMaximum, axis, value));
    }
  }

  void AddResultOf(int value) {
    TileResult result = {.value = value};
    static constexpr AxisSet kReduced[] = {0, kRowBit, kColumnBit, kRowBit | kColumnBit};
    result.reduced = kReduced[Below(4)];
    static constexpr Opcode kReducers[] = {Opcode::kAdd, Opcode::kMaximum, Opcode::kMinimum};
    const bool is_combined = result.reduced != 0 || Chance(3);
    result.reducer = is_combined ? kReducers[Below(3)] : Opcode::kUnknown;
    const AxisSet axes = program_.ops[static_cast<size_t>(value)].axes;
    result.array.type = is_combined ? AccumulatorOf(type_) : type_;
    for (int axis = 0; axis < static_cast<int>(program_.axes.size()); ++axis) {
      const TileAxisKind kind = program_.axes[static_cast<size_t>(axis)].kind;
      const bool is_there = kind != TileAxisKind::kShort || (axes & AxisBit(axis)) != 0;
      if (is_there && (result.reduced & AxisBit(axis)) == 0) result.array.axes.push_back(axis);
    }
    std::shuffle(result.array.axes.begin(), result.array.axes.end(), random_);
    ASSERT_TRUE(AddResult(program_, result).ok());
  }

  std::mt19937_64 random_;
  TileProgram program_;
  ScalarType type_ = ScalarType::kF32;
  std::vector<int> values_;
  std::vector<int> loads_;
};

double ToleranceOf(ScalarType type) {
  switch (type) {
    case ScalarType::kF64:
      return 1e-12;
    case ScalarType::kF32:
      return 1e-5;
    case ScalarType::kBF16:
      return 2e-2;
    default:
      return 0;
  }
}

// What a 16-bit sum would wrap around to.
double Wrapped(ScalarType type, double number) {
  return IsFloat(type) || std::abs(number) > 1e15 ? number : RoundTo(type, number);
}

TEST(RandomTiles, GiveWhatTheirEvaluationGives) {
  const char* wanted = std::getenv("PLIMSOLL_RANDOM_TILES");
  const uint64_t count = wanted == nullptr ? 300 : std::strtoull(wanted, nullptr, 10);
  for (uint64_t seed = 1; seed <= count; ++seed) {
    RandomProgram random(seed);
    const TileProgram program = random.Make();
    ASSERT_TRUE(Verify(program).ok()) << Verify(program).ToString() << WriteTiles(program);
    const StatusOr<std::unique_ptr<CompiledKernel>> kernel = CompileKernel(program);
    ASSERT_TRUE(kernel.ok()) << kernel.status().ToString() << "\n" << WriteTiles(program);
    for (int i = 0; i < 3; ++i) {
      const std::vector<int64_t> lengths = random.Lengths();
      std::vector<NumberArray> operands;
      for (const TileArray& array : program.operands) {
        operands.push_back(random.Operand(array, lengths));
      }
      const std::vector<NumberArray> expected = Evaluate(program, lengths, operands);
      const std::vector<NumberArray> found =
          RunOnNumbers(**kernel, lengths, operands, 1 + i, i != 1);
      for (size_t j = 0; j < expected.size(); ++j) {
        const ScalarType type = program.ops[static_cast<size_t>(program.results[j].value)].type;
        const double terms = static_cast<double>(lengths[0] + lengths[1] + 1);
        for (size_t k = 0; k < expected[j].numbers.size(); ++k) {
          const double right = Wrapped(type, expected[j].numbers[k]);
          const double tolerance = ToleranceOf(type) * (terms + std::abs(right));
          const bool is_right =
              right == found[j].numbers[k] || std::abs(right - found[j].numbers[k]) <= tolerance;
          ASSERT_TRUE(is_right) << "seed " << seed << " result " << j << " element " << k
                                << " rows " << lengths[0] << " columns " << lengths[1] << ": "
                                << found[j].numbers[k] << " instead of " << right << "\n"
                                << WriteTiles(program);
        }
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll
