#include "kernels/cpu/kernel_shape.h"

#include <algorithm>
#include <bit>

#include "kernels/cpu/kernel_cost.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

constexpr int64_t kMostBlock = 2048;
constexpr int64_t kMostPackedBytes = 256 << 10;
// With long axes: what is packed is larger, and is read more often.
constexpr int64_t kLongBlock = 384;
// Instructions of a tile, about: more are slow to compile, and do not stay in a core's first cache.
constexpr double kMostOfTile = 1300;

// Of a vector of whatever varies along columns and is widest.
int LanesOf(const TileProgram& program, const CpuMachine& machine) {
  int widest = 4;
  for (const TileOp& op : program.ops) {
    if ((op.axes & kColumnBit) != 0) {
      widest = std::max(widest, IsHalf(op.type) ? 4 : BytesOf(op.type));
    }
  }
  return machine.vector_bytes / widest;
}

// True if the array's elements of neighbouring columns are apart, and are moved one by one.
bool IsMovedByLane(const TileArray& array) {
  return (AxesOf(array) & kRowBit) != 0 && (AxesOf(array) & kColumnBit) != 0 &&
         array.axes.back() != kColumnAxis;
}

// Of one row and one vector of columns, about.
double InstructionsOfElement(const TileProgram& program, int lanes) {
  const auto is_long_fold = [&](const TileOp& op) {
    return op.kind == TileOpKind::kFold &&
           program.axes[static_cast<size_t>(op.index)].kind == TileAxisKind::kLong;
  };
  // What is folded along a long axis is made in each step.
  const auto steps_of = [&](const TileOp& op) {
    int steps = is_long_fold(op) ? StepsUnrolled(program, op) : 1;
    for (const TileOp& fold : program.ops) {
      if (is_long_fold(fold) && (op.axes & AxisBit(fold.index)) != 0) {
        steps = std::max(steps, StepsUnrolled(program, fold));
      }
    }
    return steps;
  };
  const auto of_array = [&](const TileArray& array) {
    return IsMovedByLane(array) ? kInstructionsApart * lanes : 1;
  };
  double instructions = 0;
  for (const TileOp& op : program.ops) {
    if ((op.axes & kColumnBit) == 0) continue;
    const auto count = static_cast<double>(program.ShortCount(op.axes));
    const double each = op.kind == TileOpKind::kLoad
                            ? of_array(program.operands[static_cast<size_t>(op.index)])
                            : (op.kind == TileOpKind::kCompute ? InstructionsOf(op, lanes) : 1);
    instructions += count * each * steps_of(op);
  }
  for (const TileResult& result : program.results) {
    const auto count = static_cast<double>(program.ShortCount(AxesOf(result.array)));
    instructions += count * (result.reduced == 0 ? of_array(result.array) : 1);
  }
  return instructions;
}

}  // namespace

Status ExpectMachine(const TileProgram& program, const CpuMachine& machine) {
  const auto has_half = [](ScalarType type) { return type == ScalarType::kF16; };
  const bool uses_half =
      llvm::any_of(program.operands, [&](const TileArray& a) { return has_half(a.type); }) ||
      llvm::any_of(program.ops, [&](const TileOp& op) { return has_half(op.type); });
  const AxisSet long_axes = program.AxesOfKind(TileAxisKind::kLong);
  for (const TileResult& result : program.results) {
    if ((AxesOf(result.array) & long_axes) != 0) {
      return Status(ErrorCode::kNotUnderstood, "a result has a long axis");
    }
  }
  for (const TileArray& operand : program.operands) {
    if (std::popcount(AxesOf(operand) & long_axes) > 1) {
      return Status(ErrorCode::kNotUnderstood, "an operand has two long axes");
    }
  }
  for (size_t i = 0; i < program.results.size(); ++i) {
    const TileResult& result = program.results[i];
    if (result.reducer != Opcode::kChloTopK) continue;
    int followers = 0;
    for (const TileResult& other : program.results) {
      if (other.follows != static_cast<int>(i)) continue;
      ++followers;
      const TileOp& value = program.ops[static_cast<size_t>(other.value)];
      const bool is_column = value.kind == TileOpKind::kIota && value.index == kColumnAxis &&
                             value.type == ScalarType::kI32;
      if (!is_column) {
        return Status(ErrorCode::kNotUnderstood, "what goes with the best columns is not i32");
      }
    }
    if (followers != 1 ||
        (result.array.type != ScalarType::kF32 && result.array.type != ScalarType::kF64)) {
      return Status(ErrorCode::kNotUnderstood, "the best columns of other than f32 and f64");
    }
  }
  if (uses_half && !machine.has_half) {
    return Status(ErrorCode::kNotUnderstood, "this processor does not convert f16");
  }
  if (InstructionsOfElement(program, LanesOf(program, machine)) > kMostInstructions) {
    return Status(ErrorCode::kNotUnderstood, "an element has too many instructions");
  }
  return OkStatus();
}

bool IsScattered(const TileProgram& program) {
  const auto is_top = [&](const TileResult& result) { return IsOfTop(program, result); };
  // Positions of maxima want their columns in order.
  return llvm::any_of(program.results, is_top) &&
         llvm::all_of(program.results, [&](const TileResult& result) {
           return result.follows < 0 || is_top(result);
         });
}

bool IsPacked(const TileProgram& program, const TileArray& operand) {
  const AxisSet axes = AxesOf(operand);
  if ((axes & kColumnBit) == 0 || (axes & kRowBit) != 0) return false;
  // A matrix of a product whose columns are next to each other is read as it is.
  const size_t rank = operand.axes.size();
  const int summed = SummedAxis(program);
  return summed == kNoAxis || rank < 2 || operand.axes[rank - 1] != kColumnAxis ||
         operand.axes[rank - 2] != summed;
}

int64_t PackedBytes(const TileProgram& program, const KernelShape& shape,
                    llvm::ArrayRef<int64_t> lengths) {
  int64_t bytes = 0;
  for (const TileArray& operand : program.operands) {
    if (!IsPacked(program, operand)) continue;
    int64_t size = program.ShortCount(AxesOf(operand)) * BytesOf(operand.type) * shape.block;
    for (const int axis : operand.axes) {
      if (axis != kNoAxis && program.axes[static_cast<size_t>(axis)].kind == TileAxisKind::kLong) {
        size *= lengths[static_cast<size_t>(axis)];
      }
    }
    bytes += (size + kPackAlignment - 1) / kPackAlignment * kPackAlignment;
  }
  return bytes;
}

int StepsUnrolled(const TileProgram& program, const TileOp& fold) {
  // Of what takes long anyway, a branch is a small part, and the code of many steps is not small.
  constexpr double kSlowCycles = 8;
  constexpr int kUsualSteps = 4;
  double cycles = 0;
  for (const TileOp& op : program.ops) {
    const bool is_folded = (op.axes & AxisBit(fold.index)) != 0 && (op.axes & kColumnBit) != 0;
    if (is_folded && op.kind == TileOpKind::kCompute) {
      cycles += CyclesOf(op, /*lanes=*/1) * static_cast<double>(program.ShortCount(op.axes));
    }
  }
  return cycles > kSlowCycles ? 1 : kUsualSteps;
}

KernelShape ChooseShape(const TileProgram& program, const CpuMachine& machine) {
  KernelShape shape;
  shape.lanes = LanesOf(program, machine);
  int64_t accumulators = 0;
  for (const TileResult& result : program.results) {
    // The best columns are not in registers.
    if (IsOfTop(program, result)) continue;
    accumulators += program.ShortCount(AxesOf(result.array));
  }
  shape.rows = machine.vector_registers >= 32 ? 4 : 2;
  shape.vectors = 2;
  // Accumulators that do not fit into a third of the registers would be spilled all the time.
  if (accumulators * shape.rows * shape.vectors * 3 > machine.vector_registers) shape.vectors = 1;
  if (accumulators * shape.rows * shape.vectors * 3 > machine.vector_registers) {
    shape.rows = std::max(1, shape.rows / 2);
  }
  if (program.AxesOfKind(TileAxisKind::kLong) != 0) {
    // A product of matrices: as many sums at once as there are registers for, but for a few.
    shape.rows = machine.vector_registers >= 32 ? 8 : 6;
    shape.vectors = 2;
  }
  const double instructions = InstructionsOfElement(program, shape.lanes);
  while (instructions * shape.rows * shape.vectors > kMostOfTile &&
         shape.rows * shape.vectors > 1) {
    int& halved = shape.rows > 1 ? shape.rows : shape.vectors;
    halved = std::max(1, halved / 2);
  }
  int64_t column_bytes = 0;
  for (const TileArray& operand : program.operands) {
    if (IsPacked(program, operand)) {
      column_bytes += program.ShortCount(AxesOf(operand)) * BytesOf(operand.type);
    }
  }
  const int64_t step = int64_t{shape.lanes} * shape.vectors;
  const int64_t wanted = program.AxesOfKind(TileAxisKind::kLong) != 0 ? kLongBlock : kMostBlock;
  const int64_t most = std::min(wanted, kMostPackedBytes / std::max<int64_t>(1, column_bytes));
  shape.block = std::max<int64_t>(1, most / step) * step;
  return shape;
}

std::vector<KernelShape> ChooseShapes(const StagedProgram& program, const CpuMachine& machine) {
  std::vector<KernelShape> shapes;
  for (const Stage& stage : program.stages) shapes.push_back(ChooseShape(stage.program, machine));
  return shapes;
}

}  // namespace plimsoll
