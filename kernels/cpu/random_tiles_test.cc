// Random tile programs against their evaluation in double precision.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/cpu/machine.h"
#include "kernels/cpu/testing.h"
#include "kernels/evaluate_tiles.h"
#include "kernels/tile_text.h"

namespace plimsoll {
namespace {

using testing::Encode;
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
    static constexpr ScalarType kTypes[] = {
        ScalarType::kF32, ScalarType::kF32, ScalarType::kF64, ScalarType::kBF16, ScalarType::kF16,
        ScalarType::kI32, ScalarType::kI64, ScalarType::kI16, ScalarType::kI8,   ScalarType::kUI32};
    type_ = kTypes[Below(std::size(kTypes))];
    if (type_ == ScalarType::kF16 && !HostMachine().has_half) type_ = ScalarType::kF32;
    const size_t operands = 1 + Below(4);
    for (size_t i = 0; i < operands; ++i) AddOperand();
    if (Chance(4)) AddSegments();
    if (Chance(3)) AddContraction();
    for (size_t i = 2 + Below(8); i > 0; --i) AddOp();
    FoldShortAxes();
    const size_t results = 1 + Below(3);
    for (size_t i = 0; i < results; ++i) AddResultOf(values_[Below(values_.size())]);
    AddResultOf(values_.back());
    if (Chance(3)) AddProduct();
    if (Chance(3)) AddBits();
    if (HasSegments(program_)) {
      Add({.value = Any(), .reduced = kRowBit, .reducer = Opcode::kAdd});
      // Nothing else is reduced beside segments.
      return program_;
    }
    if (Chance(3)) AddBest();
    if (Chance(4) && (type_ == ScalarType::kF32 || type_ == ScalarType::kF64)) AddTop();
    return program_;
  }

  std::vector<int64_t> Lengths() {
    static constexpr int64_t kSizes[] = {0, 1, 2, 7, 8, 9, 16, 17, 31, 37, 64, 101};
    static constexpr int64_t kLongSizes[] = {0, 1, 2, 5, 8, 13};
    std::vector<int64_t> lengths;
    int64_t ranks = 0;
    for (const TileAxis& axis : program_.axes) {
      switch (axis.kind) {
        case TileAxisKind::kRow:
        case TileAxisKind::kColumn:
          lengths.push_back(kSizes[Below(std::size(kSizes))]);
          break;
        case TileAxisKind::kBatch:
          lengths.push_back(static_cast<int64_t>(1 + Below(3)));
          break;
        case TileAxisKind::kLong:
          lengths.push_back(kLongSizes[Below(std::size(kLongSizes))]);
          break;
        case TileAxisKind::kSegment:
          lengths.push_back(static_cast<int64_t>(Below(6)));
          break;
        case TileAxisKind::kRank:
          ranks = axis.length;
          [[fallthrough]];
        case TileAxisKind::kShort:
          lengths.push_back(axis.length);
          break;
      }
    }
    // So many best columns there have to be.
    lengths[kColumnAxis] = std::max(lengths[kColumnAxis], ranks);
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
  int AnyLoad() { return loads_[Below(loads_.size())]; }

  static int Made(const StatusOr<int>& op) {
    EXPECT_TRUE(op.ok()) << op.status().ToString();
    return op.ok() ? *op : 0;
  }

  void Keep(const StatusOr<int>& op) { values_.push_back(Made(op)); }

  int Compute(Opcode opcode, std::vector<int> operands) {
    return Made(AddCompute(program_, opcode, std::move(operands)));
  }

  int Number(double number) {
    char bytes[8] = {};
    Encode(type_, number, bytes);
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, sizeof(bits));
    return AddConstant(program_, type_, bits);
  }

  // What grew, of moderate size again: numbers from -1 to 1, integers from -`most` to `most`.
  int Bounded(int value, double most = 3) {
    if (IsFloat(type_)) return Compute(Opcode::kTanh, {value});
    const int below = Compute(Opcode::kMinimum, {value, Number(most)});
    if (IsUnsigned(type_)) return below;
    return Compute(Opcode::kMaximum, {below, Number(-most)});
  }

  // An operand with some of the axes, in some order, and its load.
  int LoadSome(int long_axis = kNoAxis) {
    TileArray array = {.type = type_, .axes = {}};
    for (int axis = 0; axis < static_cast<int>(program_.axes.size()); ++axis) {
      const TileAxisKind kind = program_.axes[static_cast<size_t>(axis)].kind;
      if (kind == TileAxisKind::kLong || kind == TileAxisKind::kSegment) continue;
      const bool is_short = kind == TileAxisKind::kShort;
      // The first tells how long all axes are.
      const bool has_all = program_.operands.empty() && !is_short;
      if (has_all || (is_short ? Chance(2) : !Chance(3))) array.axes.push_back(axis);
    }
    if (Chance(4)) array.axes.push_back(kNoAxis);
    if (long_axis != kNoAxis) array.axes.push_back(long_axis);
    std::shuffle(array.axes.begin(), array.axes.end(), random_);
    program_.operands.push_back(array);
    return Made(AddLoad(program_, static_cast<int>(program_.operands.size()) - 1));
  }

  void AddOperand() {
    values_.push_back(LoadSome());
    loads_.push_back(values_.back());
  }

  // A product, a distance or a maximum along a long axis.
  void AddContraction() {
    const int axis = static_cast<int>(program_.axes.size());
    program_.axes.push_back({.kind = TileAxisKind::kLong});
    const int left = LoadSome(axis);
    const int right = Chance(4) ? AnyLoad() : LoadSome(axis);
    int folded = Compute(Chance(2) || IsUnsigned(type_) ? Opcode::kMultiply : Opcode::kSubtract,
                         {left, right});
    if (!IsUnsigned(type_) && Chance(3)) folded = Compute(Opcode::kAbs, {folded});
    if (Chance(3)) folded = Compute(Opcode::kMultiply, {folded, folded});
    const Opcode reducer = Chance(4) ? Opcode::kMaximum : Opcode::kAdd;
    const int fold = Made(AddFold(program_, reducer, axis, Bounded(folded)));
    if (Chance(3)) AddResultOf(fold);
    // The maximum of nothing is infinite, or the least integer.
    values_.push_back(Bounded(fold));
  }

  // Values stay of moderate size: what grows is bounded again.
  void AddOp() {
    if (Chance(6)) {
      const int condition =
          Made(AddCompare(program_, static_cast<Comparison>(Below(6)), AnyLoad(), loads_.front()));
      Keep(AddCompute(program_, Opcode::kSelect, {condition, Any(), Any()}));
      return;
    }
    if (Chance(6)) {
      const int axis = Chance(2) ? kRowAxis : kColumnAxis;
      const int position = Made(AddIota(program_, ScalarType::kI32, axis));
      const int few = AddConstant(program_, ScalarType::kI32, 5);
      const int condition = Made(AddCompare(program_, Comparison::kLess, position, few));
      Keep(AddCompute(program_, Opcode::kSelect, {condition, Any(), Any()}));
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
      static constexpr Opcode kOfBounded[] = {Opcode::kExponential, Opcode::kExponentialMinusOne,
                                              Opcode::kChloSquare};
      if (Chance(3)) {
        values_.push_back(Compute(kOfBounded[Below(std::size(kOfBounded))], {Bounded(Any())}));
      } else {
        Keep(AddCompute(program_, kUnary[Below(std::size(kUnary))], {Any()}));
      }
    } else if (!IsUnsigned(type_)) {
      Keep(AddCompute(program_, Chance(2) ? Opcode::kAbs : Opcode::kNegate, {Any()}));
    }
    values_.push_back(Bounded(IsFloat(type_) ? Any() : values_.back()));
  }

  void FoldShortAxes() {
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
    result.reduced = kReduced[Below(HasSegments(program_) ? 2 : 4)];
    static constexpr Opcode kReducers[] = {Opcode::kAdd, Opcode::kMaximum, Opcode::kMinimum};
    const bool is_combined = result.reduced != 0 || Chance(3);
    result.reducer = is_combined ? kReducers[Below(3)] : Opcode::kUnknown;
    Add(result);
  }

  // Adds the result with the type and, in some order, the axes that its value gives it.
  void Add(TileResult result, int rank_axis = kNoAxis) {
    const TileOp& value = program_.ops[static_cast<size_t>(result.value)];
    result.array.type = result.reducer == Opcode::kUnknown ? value.type : AccumulatorOf(value.type);
    for (int axis = 0; axis < static_cast<int>(program_.axes.size()); ++axis) {
      const TileAxisKind kind = program_.axes[static_cast<size_t>(axis)].kind;
      const bool is_there = kind == TileAxisKind::kShort     ? (value.axes & AxisBit(axis)) != 0
                            : kind == TileAxisKind::kRank    ? axis == rank_axis
                            : kind == TileAxisKind::kSegment ? false
                                                             : kind != TileAxisKind::kLong;
      if (is_there && (result.reduced & AxisBit(axis)) == 0) result.array.axes.push_back(axis);
    }
    std::shuffle(result.array.axes.begin(), result.array.axes.end(), random_);
    if (HasSegments(program_) && result.reduced != 0) Group(result);
    const Status status = AddResult(program_, result);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  // Numbers of segments, some of which there are not.
  void AddSegments() {
    program_.axes.push_back({.kind = TileAxisKind::kSegment});
    static constexpr ScalarType kNumbers[] = {ScalarType::kI32, ScalarType::kI64, ScalarType::kI8,
                                              ScalarType::kUI32};
    const ScalarType type = kNumbers[Below(std::size(kNumbers))];
    TileArray array = {.type = type, .axes = {kRowAxis}};
    const AxisSet batch = program_.AxesOfKind(TileAxisKind::kBatch);
    if (batch != 0 && Chance(2)) array.axes.push_back(std::countr_zero(batch));
    program_.operands.push_back(array);
    segment_ = Made(AddLoad(program_, static_cast<int>(program_.operands.size()) - 1));
    if (Chance(4)) segment_ = AddConstant(program_, type, Below(3));
    if (Chance(4)) segment_ = Made(AddIota(program_, type, kRowAxis));
  }

  // Rows into segments instead, with the columns last.
  void Group(TileResult& result) {
    std::vector<int>& axes = result.array.axes;
    llvm::erase(axes, kColumnAxis);
    const auto segments = std::countr_zero(program_.AxesOfKind(TileAxisKind::kSegment));
    axes.insert(axes.begin() + static_cast<ptrdiff_t>(Below(axes.size() + 1)), segments);
    axes.push_back(kColumnAxis);
    result.segment = segment_;
  }

  AxisSet RowsOrColumns() {
    if (HasSegments(program_)) return kRowBit;
    static constexpr AxisSet kReduced[] = {kRowBit, kColumnBit, kRowBit | kColumnBit};
    return kReduced[Below(std::size(kReduced))];
  }

  // A product of numbers near 1, and of integers no larger than 1.
  void AddProduct() {
    if (type_ == ScalarType::kBF16 || type_ == ScalarType::kF16) return;
    int factor = Bounded(AnyLoad(), 1);
    if (IsFloat(type_)) {
      factor = Compute(Opcode::kMultiply, {factor, Number(1.0 / 64)});
      factor = Compute(Opcode::kAdd, {factor, Number(1)});
    }
    Add({.value = factor, .reduced = RowsOrColumns(), .reducer = Opcode::kMultiply});
  }

  // Whether something holds for all or for any; of integers, what bits all or any have.
  void AddBits() {
    const Opcode reducer = Chance(2) ? Opcode::kAnd : Opcode::kOr;
    if (!IsFloat(type_) && Chance(2)) {
      Add({.value = Any(), .reduced = RowsOrColumns(), .reducer = reducer});
      return;
    }
    const int holds =
        Made(AddCompare(program_, static_cast<Comparison>(Below(6)), AnyLoad(), AnyLoad()));
    Add({.value = holds, .reduced = RowsOrColumns(), .reducer = reducer});
  }

  // What no rounding changes, so that the same columns are the best.
  int AnyExact() {
    const int load = AnyLoad();
    if (Chance(3)) return Compute(Opcode::kMaximum, {load, AnyLoad()});
    return IsUnsigned(type_) || Chance(2) ? load : Compute(Opcode::kNegate, {load});
  }

  // The best column of each row, where it is, and another value there.
  void AddBest() {
    const int value = AnyExact();
    Add({.value = value,
         .reduced = kColumnBit,
         .reducer = Chance(2) ? Opcode::kMaximum : Opcode::kMinimum});
    const int leader = static_cast<int>(program_.results.size()) - 1;
    const AxisSet shorts = program_.AxesOfKind(TileAxisKind::kShort);
    const AxisSet axes = program_.ops[static_cast<size_t>(value)].axes & shorts;
    const auto fits = [&](int other) {
      return (program_.ops[static_cast<size_t>(other)].axes & shorts & ~axes) == 0;
    };
    // Integers may be positions in any order. Of unsigned ones 0 may be the best, which is neutral.
    const int load = AnyLoad();
    if (!IsFloat(type_) && !IsUnsigned(type_) && fits(load) && Chance(2)) {
      Follow(leader, load);
      return;
    }
    Follow(leader, Made(AddIota(program_, ScalarType::kI32, kColumnAxis)));
    const int other = Any();
    if (!IsUnsigned(type_) && fits(other)) Follow(leader, other);
  }

  // The best few columns of each row, and where they are.
  void AddTop() {
    const int axis = static_cast<int>(program_.axes.size());
    program_.axes.push_back(
        {.kind = TileAxisKind::kRank, .length = static_cast<int64_t>(1 + Below(12))});
    Add({.value = AnyExact(), .reduced = kColumnBit, .reducer = Opcode::kChloTopK}, axis);
    const int leader = static_cast<int>(program_.results.size()) - 1;
    Follow(leader, Made(AddIota(program_, ScalarType::kI32, kColumnAxis)));
  }

  // Adds what goes with the columns that won in an earlier result.
  void Follow(int leader, int value) {
    TileResult result = {.value = value, .reduced = kColumnBit, .follows = leader};
    result.array = program_.results[static_cast<size_t>(leader)].array;
    result.array.type = program_.ops[static_cast<size_t>(value)].type;
    const Status status = AddResult(program_, result);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  std::mt19937_64 random_;
  TileProgram program_;
  ScalarType type_ = ScalarType::kF32;
  std::vector<int> values_;
  std::vector<int> loads_;
  int segment_ = -1;
};

double ToleranceOf(ScalarType type) {
  switch (type) {
    case ScalarType::kF64:
      return 1e-12;
    case ScalarType::kF32:
      return 1e-5;
    case ScalarType::kBF16:
      return 2e-2;
    case ScalarType::kF16:
      return 2e-3;
    default:
      return 0;
  }
}

// What a 16-bit sum would wrap around to.
double Wrapped(ScalarType type, double number) {
  return IsFloat(type) || std::abs(number) > 1e15 ? number : RoundTo(type, number);
}

// True if the number is one that 64 bits do not hold: what is left of it is not known in double
// precision. Extremes of nothing are that large, and sums of them.
bool IsUnknown(ScalarType type, double number) {
  return !IsFloat(type) && std::abs(number) > 0x1p63;
}

// The parts may run at the same time.
constexpr uint64_t kParts = 10;

class RandomTiles : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomTiles, GiveWhatTheirEvaluationGives) {
  const char* wanted = std::getenv("PLIMSOLL_RANDOM_TILES");
  const uint64_t count = wanted == nullptr ? 300 : std::strtoull(wanted, nullptr, 10);
  uint64_t refused = 0;
  for (uint64_t seed = 1 + GetParam(); seed <= count; seed += kParts) {
    RandomProgram random(seed);
    const TileProgram program = random.Make();
    ASSERT_TRUE(Verify(program).ok()) << Verify(program).ToString() << WriteTiles(program);
    if (!ExpectMachine(program, HostMachine()).ok()) {
      // Some are too large for a kernel.
      ++refused;
      continue;
    }
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
          // Each factor of a product may be off by its share.
          const double share = program.results[j].reducer == Opcode::kMultiply ? terms : 1;
          const double tolerance = ToleranceOf(type) * (terms + share * std::abs(right));
          const bool is_right = right == found[j].numbers[k] || IsUnknown(type, right) ||
                                std::abs(right - found[j].numbers[k]) <= tolerance;
          ASSERT_TRUE(is_right) << "seed " << seed << " result " << j << " element " << k
                                << " rows " << lengths[0] << " columns " << lengths[1] << ": "
                                << found[j].numbers[k] << " instead of " << right << "\n"
                                << WriteTiles(program);
        }
      }
    }
  }
  EXPECT_LE(refused, 2 + count / kParts / 20);
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomTiles, ::testing::Range(uint64_t{0}, kParts));

}  // namespace
}  // namespace plimsoll
