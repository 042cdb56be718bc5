#include "kernels/evaluate_tiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/comparison.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace plimsoll::testing {
namespace {

double Combine(Opcode reducer, double a, double b) {
  switch (reducer) {
    case Opcode::kAdd:
      return a + b;
    case Opcode::kMultiply:
      return a * b;
    case Opcode::kMaximum:
      return (a >= b || std::isnan(a)) ? a : b;
    case Opcode::kMinimum:
      return (a <= b || std::isnan(a)) ? a : b;
    case Opcode::kAnd:
      return static_cast<double>(static_cast<int64_t>(a) & static_cast<int64_t>(b));
    case Opcode::kOr:
      return static_cast<double>(static_cast<int64_t>(a) | static_cast<int64_t>(b));
    default:
      llvm_unreachable("not a reducer");
  }
}

double Sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : a; }

using Position = std::vector<int64_t>;

// Steps to the next position along the axes of the set; false after the last.
bool Next(Position& position, AxisSet set, llvm::ArrayRef<int64_t> lengths) {
  for (size_t axis = lengths.size(); axis-- > 0;) {
    if ((set & AxisBit(static_cast<int>(axis))) == 0) continue;
    if (++position[axis] < lengths[axis]) return true;
    position[axis] = 0;
  }
  return false;
}

size_t Place(const TileArray& array, const std::vector<int64_t>& shape, const Position& position) {
  int64_t place = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int axis = array.axes[i];
    place = place * shape[i] + (axis == kNoAxis ? 0 : position[static_cast<size_t>(axis)]);
  }
  return static_cast<size_t>(place);
}

// All values of a program, along the axes along which they vary.
class Evaluator {
 public:
  Evaluator(const TileProgram& program, llvm::ArrayRef<int64_t> lengths,
            llvm::ArrayRef<NumberArray> operands)
      : program_(program), lengths_(lengths), operands_(operands) {
    for (const TileOp& op : program.ops) tables_.push_back(Tabulate(op));
  }

  double Get(int number, const Position& position) const {
    const Table& table = tables_[static_cast<size_t>(number)];
    int64_t place = 0;
    for (size_t axis = 0; axis < position.size(); ++axis) {
      place += table.strides[axis] * position[axis];
    }
    return table.numbers[static_cast<size_t>(place)];
  }

 private:
  struct Table {
    std::vector<int64_t> strides;  // By axis: 0 where the value is the same all along it.
    std::vector<double> numbers;
  };

  Table Tabulate(const TileOp& op) const {
    Table table = {.strides = std::vector<int64_t>(lengths_.size(), 0), .numbers = {}};
    int64_t count = 1;
    for (size_t axis = lengths_.size(); axis-- > 0;) {
      if ((op.axes & AxisBit(static_cast<int>(axis))) == 0) continue;
      table.strides[axis] = count;
      count *= lengths_[axis];
    }
    if (count == 0) return table;
    table.numbers.reserve(static_cast<size_t>(count));
    Position position(lengths_.size(), 0);
    do {
      table.numbers.push_back(Compute(op, position));
    } while (Next(position, op.axes, lengths_));
    return table;
  }

  double Compute(const TileOp& op, const Position& position) const {
    switch (op.kind) {
      case TileOpKind::kLoad: {
        const NumberArray& array = operands_[static_cast<size_t>(op.index)];
        const TileArray& layout = program_.operands[static_cast<size_t>(op.index)];
        return array.numbers[Place(layout, array.shape, position)];
      }
      case TileOpKind::kIota:
        return static_cast<double>(position[static_cast<size_t>(op.index)]);
      case TileOpKind::kConstant:
        return DecodeBits(op.type, op.bits);
      case TileOpKind::kFold: {
        Position inner = position;
        const auto axis = static_cast<size_t>(op.index);
        double sum = DecodeBits(op.type, NeutralBits(op.opcode, op.type));
        for (inner[axis] = 0; inner[axis] < lengths_[axis]; ++inner[axis]) {
          sum = Combine(op.opcode, sum, Get(op.operands[0], inner));
        }
        return sum;
      }
      case TileOpKind::kCompute:
        break;
    }
    std::vector<double> operands;
    for (const int operand : op.operands) operands.push_back(Get(operand, position));
    return EvaluateOp(op, operands);
  }

  const TileProgram& program_;
  llvm::ArrayRef<int64_t> lengths_;
  llvm::ArrayRef<NumberArray> operands_;
  std::vector<Table> tables_;
};

// Values of `result` for the columns in the order of `ranked`, the largest first.
std::vector<double> Rank(const TileProgram& program, const Evaluator& evaluator,
                         llvm::ArrayRef<int64_t> lengths, const TileResult& ranked,
                         const TileResult& result, const std::vector<int64_t>& shape) {
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  std::vector<double> numbers(count, 0);
  const AxisSet ranks = program.AxesOfKind(TileAxisKind::kRank);
  const AxisSet kept = AxesOf(result.array) & ~ranks;
  Position position(program.axes.size(), 0);
  if (count == 0) return numbers;
  do {
    struct Column {
      int64_t number;
      double value;
      double result;
    };
    std::vector<Column> columns;
    for (int64_t c = 0; c < lengths[kColumnAxis]; ++c) {
      Position at = position;
      at[kColumnAxis] = c;
      columns.push_back({.number = c,
                         .value = evaluator.Get(ranked.value, at),
                         .result = evaluator.Get(result.value, at)});
    }
    llvm::sort(columns, [](const Column& a, const Column& b) {
      if (std::isnan(a.value) != std::isnan(b.value)) return std::isnan(a.value);
      if (a.value != b.value && !std::isnan(a.value)) return a.value > b.value;
      return a.number < b.number;
    });
    for (size_t axis = 0; axis < lengths.size(); ++axis) {
      if ((AxesOf(result.array) & ranks & AxisBit(static_cast<int>(axis))) == 0) continue;
      for (int64_t rank = 0; rank < lengths[axis]; ++rank) {
        Position at = position;
        at[axis] = rank;
        numbers[Place(result.array, shape, at)] = columns[static_cast<size_t>(rank)].result;
      }
    }
  } while (Next(position, kept, lengths));
  return numbers;
}

}  // namespace

double DecodeBits(ScalarType type, uint64_t bits) {
  switch (type) {
    case ScalarType::kF64:
      return std::bit_cast<double>(bits);
    case ScalarType::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case ScalarType::kBF16:
      return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    case ScalarType::kF16:
      return llvm::APFloat(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits)).convertToDouble();
    default:
      break;
  }
  const unsigned width = 8 * static_cast<unsigned>(BytesOf(type));
  const llvm::APInt number(width, bits, /*isSigned=*/false, /*implicitTrunc=*/true);
  return IsUnsigned(type) || type == ScalarType::kI1 ? static_cast<double>(number.getZExtValue())
                                                     : static_cast<double>(number.getSExtValue());
}

double EvaluateOp(const TileOp& op, const std::vector<double>& x) {
  switch (op.opcode) {
    case Opcode::kAbs:
      return std::abs(x[0]);
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      return Combine(op.opcode, x[0], x[1]);
    case Opcode::kAtan2:
      return std::atan2(x[0], x[1]);
    case Opcode::kCeil:
      return std::ceil(x[0]);
    case Opcode::kChloErf:
      return std::erf(x[0]);
    case Opcode::kChloSquare:
      return x[0] * x[0];
    case Opcode::kClamp:
      return std::min(std::max(x[0], x[1]), x[2]);
    case Opcode::kCompare:
      return Compare(op.comparison, x[0], x[1]) ? 1 : 0;
    case Opcode::kConvert:
      if (op.type == ScalarType::kI1) return x[0] != 0 ? 1 : 0;
      return IsFloat(op.type) ? x[0] : std::trunc(x[0]);
    case Opcode::kCosine:
      return std::cos(x[0]);
    case Opcode::kDivide:
      return IsFloat(op.type) ? x[0] / x[1] : std::trunc(x[0] / x[1]);
    case Opcode::kExponential:
      return std::exp(x[0]);
    case Opcode::kExponentialMinusOne:
      return std::expm1(x[0]);
    case Opcode::kFloor:
      return std::floor(x[0]);
    case Opcode::kIsFinite:
      return std::isfinite(x[0]) ? 1 : 0;
    case Opcode::kLog:
      return std::log(x[0]);
    case Opcode::kLogPlusOne:
      return std::log1p(x[0]);
    case Opcode::kLogistic:
      return 1 / (1 + std::exp(-x[0]));
    case Opcode::kNegate:
      return -x[0];
    case Opcode::kNot:
      return op.type == ScalarType::kI1 ? 1 - x[0] : -1 - x[0];
    case Opcode::kPower:
      return std::pow(x[0], x[1]);
    case Opcode::kRemainder:
      return std::fmod(x[0], x[1]);
    case Opcode::kRsqrt:
      return 1 / std::sqrt(x[0]);
    case Opcode::kSelect:
      return x[0] != 0 ? x[1] : x[2];
    case Opcode::kSign:
      return Sign(x[0]);
    case Opcode::kSine:
      return std::sin(x[0]);
    case Opcode::kSqrt:
      return std::sqrt(x[0]);
    case Opcode::kSubtract:
      return x[0] - x[1];
    case Opcode::kTanh:
      return std::tanh(x[0]);
    case Opcode::kXor:
      return static_cast<double>(static_cast<int64_t>(x[0]) ^ static_cast<int64_t>(x[1]));
    default:
      llvm_unreachable("not evaluated");
  }
}

std::vector<int64_t> ShapeOf(const TileArray& array, llvm::ArrayRef<int64_t> lengths) {
  std::vector<int64_t> shape;
  for (const int axis : array.axes) {
    shape.push_back(axis == kNoAxis ? 1 : lengths[static_cast<size_t>(axis)]);
  }
  return shape;
}

std::vector<NumberArray> Evaluate(const TileProgram& program, llvm::ArrayRef<int64_t> lengths,
                                  llvm::ArrayRef<NumberArray> operands) {
  const Evaluator evaluator(program, lengths, operands);
  std::vector<NumberArray> results;
  for (const TileResult& result : program.results) {
    NumberArray array = {.shape = ShapeOf(result.array, lengths), .numbers = {}};
    size_t count = 1;
    for (const int64_t size : array.shape) count *= static_cast<size_t>(size);
    const double neutral =
        DecodeBits(result.array.type, NeutralBits(result.reducer, result.array.type));
    array.numbers.assign(count, neutral);
    const int segment = SegmentAxis(program, result);
    AxisSet axes = AxesOf(result.array) | result.reduced;
    if (segment != kNoAxis) axes &= ~AxisBit(segment);
    bool is_empty = false;
    for (size_t axis = 0; axis < lengths.size(); ++axis) {
      is_empty |= (axes & AxisBit(static_cast<int>(axis))) != 0 && lengths[axis] == 0;
    }
    Position position(program.axes.size(), 0);
    const TileResult& ranked =
        result.follows < 0 ? result : program.results[static_cast<size_t>(result.follows)];
    if (ranked.reducer == Opcode::kChloTopK) {
      array.numbers = Rank(program, evaluator, lengths, ranked, result, array.shape);
      results.push_back(std::move(array));
      continue;
    }
    if (result.follows >= 0) {
      const TileResult& leader = program.results[static_cast<size_t>(result.follows)];
      const std::vector<double> best = results[static_cast<size_t>(result.follows)].numbers;
      const auto first = llvm::find_if(program.results, [&](const TileResult& other) {
        return other.follows == result.follows;
      });
      std::vector<double> found(count, std::numeric_limits<double>::infinity());
      array.numbers.assign(count, 0);
      if (!is_empty) {
        do {
          // Of the columns with the best value, the one with the least position.
          const size_t place = Place(result.array, array.shape, position);
          const double value = evaluator.Get(leader.value, position);
          const bool is_best =
              value == best[place] || (std::isnan(value) && std::isnan(best[place]));
          const double column = evaluator.Get(first->value, position);
          if (!is_best || column >= found[place]) continue;
          found[place] = column;
          array.numbers[place] = evaluator.Get(result.value, position);
        } while (Next(position, axes, lengths));
      }
      results.push_back(std::move(array));
      continue;
    }
    if (!is_empty) {
      do {
        if (segment != kNoAxis) {
          const auto axis = static_cast<size_t>(segment);
          const double chosen = evaluator.Get(result.segment, position);
          if (chosen < 0 || chosen >= static_cast<double>(lengths[axis])) continue;
          position[axis] = static_cast<int64_t>(chosen);
        }
        double& number = array.numbers[Place(result.array, array.shape, position)];
        const double value = evaluator.Get(result.value, position);
        number = result.reduced == 0 ? value : Combine(result.reducer, number, value);
      } while (Next(position, axes, lengths));
    }
    results.push_back(std::move(array));
  }
  return results;
}

}  // namespace plimsoll::testing
