#include "kernels/cpu/kernel_cost.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/machine_speed.h"
#include "analysis/run_time.h"
#include "kernels/cpu/generate_kernel.h"
#include "kernels/cpu/hidden_columns.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/loop_cost.h"
#include "kernels/cpu/machine.h"
#include "kernels/cpu/run_kernel.h"
#include "kernels/cpu/run_mirrored.h"
#include "kernels/cpu/stage_layout.h"
#include "kernels/mirror_program.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {
namespace {

// Instructions of one vector, two of which start in a cycle.
constexpr double kSimple = 0.5;
constexpr double kDivision = 5;
constexpr double kExponential = 10;
constexpr double kLogarithm = 14;
constexpr double kTrigonometric = 16;
constexpr double kPower = 60;
// A call of the C library for one element.
constexpr double kLibrary = 40;

// A sum that is in memory, for which there is no register.
constexpr double kSpilled = 3;

// How many bytes of a panel are written or read in a cycle.
constexpr double kPanelBytesPerCycle = 16;

// Results of segments are filled first, and where they are large, all of it is fetched again for
// the rows of each piece of the columns.
constexpr double kSecondsPerSegmentByte = 5e-10;

constexpr int kFittedVectorBytes = 64;

// How many numbers a value is for one row and one column.
double InnerCount(const TileProgram& program, AxisSet set, llvm::ArrayRef<int64_t> lengths) {
  auto count = static_cast<double>(program.ShortCount(set));
  for (size_t i = 0; i < program.axes.size(); ++i) {
    const bool is_long = program.axes[i].kind == TileAxisKind::kLong;
    if (is_long && (set & AxisBit(static_cast<int>(i))) != 0) {
      count *= static_cast<double>(lengths[i]);
    }
  }
  return count;
}

// With whole matrices that are read, by pieces of their columns.
constexpr double kSecondsPerPiecedByte = 2e-10;
// To begin a row of a piece, which mostly has so many columns.
constexpr double kCyclesPerRow = 30;
constexpr int64_t kColumnsOfPiece = 128;

double BytesOf(const TileArray& array, llvm::ArrayRef<int64_t> lengths) {
  auto bytes = static_cast<double>(BytesOf(array.type));
  for (const int axis : array.axes) {
    if (axis != kNoAxis) bytes *= static_cast<double>(lengths[static_cast<size_t>(axis)]);
  }
  return bytes;
}

// What a kernel whose threads share out the columns takes, given what its vectors would take if
// they were all full and all cores had some.
double SecondsWithSegments(const TileProgram& program, const KernelShape& shape,
                           llvm::ArrayRef<int64_t> lengths, double seconds) {
  const int64_t columns = std::max<int64_t>(1, lengths[kColumnAxis]);
  auto rows = static_cast<double>(lengths[kRowAxis]);
  for (size_t i = 0; i < program.axes.size(); ++i) {
    if (program.axes[i].kind == TileAxisKind::kBatch) rows *= static_cast<double>(lengths[i]);
  }
  const double filled =
      static_cast<double>(columns) / static_cast<double>(RoundUp(columns, int64_t{shape.lanes}));
  const int64_t pieces = RoundUp(columns, kColumnsOfPiece) / kColumnsOfPiece;
  rows *= static_cast<double>(pieces);
  seconds = seconds / filled + rows * kCyclesPerRow / (kCyclesPerSecond * kModelCores);
  const bool has_one_piece = columns <= int64_t{shape.lanes} * shape.vectors;
  if (has_one_piece && program.AxesOfKind(TileAxisKind::kBatch) == 0) seconds *= kModelCores;
  double in_memory = 0;
  for (const TileResult& result : program.results) {
    if (result.segment >= 0) in_memory += kSecondsPerSegmentByte * BytesOf(result.array, lengths);
  }
  for (const TileArray& operand : program.operands) {
    const bool is_matrix = (AxesOf(operand) & kRowBit) != 0 && (AxesOf(operand) & kColumnBit) != 0;
    if (is_matrix) in_memory += kSecondsPerPiecedByte * BytesOf(operand, lengths);
  }
  return seconds + SpeedOfMachine().memory * in_memory;
}

// Of one row and one vector of columns.
double CyclesOfVector(const TileProgram& program, const KernelShape& shape,
                      llvm::ArrayRef<int64_t> lengths) {
  const int lanes = FittedLanes(shape.lanes);
  double cycles = 0;
  for (const TileOp& op : program.ops) {
    if ((op.axes & kColumnBit) == 0) continue;
    // What rows have in common is computed once for a handful of them.
    const double share = (op.axes & kRowBit) != 0 ? 1 : 1.0 / shape.rows;
    const bool is_fold = op.kind == TileOpKind::kFold;
    const AxisSet axes = is_fold ? program.ops[static_cast<size_t>(op.operands[0])].axes : op.axes;
    const double each = op.kind == TileOpKind::kCompute ? CyclesOf(op, lanes) : kSimple;
    cycles += share * InnerCount(program, axes, lengths) * each;
  }
  double accumulators = 0;
  for (const TileResult& result : program.results) {
    const auto count = static_cast<double>(program.ShortCount(AxesOf(result.array)));
    cycles += count * kSimple * ((result.reduced & kColumnBit) != 0 ? 1 : 2);
    if ((result.reduced & kColumnBit) != 0 && !IsOfTop(program, result)) accumulators += count;
  }
  if (accumulators * shape.rows * shape.vectors > HostMachine().vector_registers) {
    cycles += accumulators * kSpilled;
  }
  return cycles;
}

// For dimensions of length 1 there is no axis.
std::vector<int64_t> ShapeOf(const TileArray& array, llvm::ArrayRef<int64_t> lengths) {
  std::vector<int64_t> shape;
  for (const int axis : array.axes) {
    shape.push_back(axis == kNoAxis ? 1 : lengths[static_cast<size_t>(axis)]);
  }
  return shape;
}

// How many threads take part if they may have so much scratch, and at least one.
int64_t ThreadsWithin(int64_t most_scratch, int64_t threads,
                      llvm::function_ref<int64_t(int64_t)> scratch_of) {
  while (threads > 1 && scratch_of(threads) > most_scratch) --threads;
  return threads;
}

// What a call wants if its rows and columns turn out to be the same points; 0 if they cannot be, or
// if there is no room for it.
int64_t MirroredScratchBytes(const StagedProgram& program,
                             const std::vector<llvm::ArrayRef<int64_t>>& operands,
                             const std::vector<llvm::ArrayRef<int64_t>>& results, int64_t threads,
                             int64_t most_scratch) {
  const std::optional<StagedProgram> mirrored = MirrorProgram(program, PairsOfArguments(program));
  if (!mirrored) return 0;
  const StatusOr<MirroredLayout> layout =
      LayOutMirrored(*mirrored, ChooseShapes(*mirrored, HostMachine()), operands, results);
  if (!layout.ok()) return 0;
  const auto scratch_of = [&](int64_t count) { return ScratchBytes(*layout, count); };
  const int64_t bytes = scratch_of(ThreadsWithin(most_scratch, threads, scratch_of));
  return bytes <= most_scratch ? bytes : 0;
}

}  // namespace

int FittedLanes(int lanes) { return lanes * kFittedVectorBytes / HostMachine().vector_bytes; }

double CyclesOf(const TileOp& op, int lanes) {
  switch (op.opcode) {
    case Opcode::kDivide:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
    case Opcode::kRemainder:
      return kDivision;
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
      return kExponential;
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
      return kLogarithm;
    case Opcode::kChloErfInv:
      return kLogarithm + kExponential;
    case Opcode::kLogistic:
    case Opcode::kTanh:
      return kExponential + kDivision;
    case Opcode::kSine:
    case Opcode::kCosine:
      return kTrigonometric;
    case Opcode::kChloErf:
      return op.type == ScalarType::kF64 ? kLibrary * lanes : kTrigonometric;
    case Opcode::kPower:
      return op.type == ScalarType::kF64 ? kLibrary * lanes : kPower;
    case Opcode::kAtan2:
    case Opcode::kCbrt:
    case Opcode::kTan:
    case Opcode::kChloAcos:
    case Opcode::kChloAcosh:
    case Opcode::kChloAsin:
    case Opcode::kChloAsinh:
    case Opcode::kChloAtan:
    case Opcode::kChloAtanh:
    case Opcode::kChloCosh:
    case Opcode::kChloErfc:
    case Opcode::kChloLgamma:
    case Opcode::kChloSinh:
    case Opcode::kChloTan:
      return kLibrary * lanes;
    default:
      return kSimple;
  }
}

double InstructionsOf(const TileOp& op, int lanes) {
  // An instruction takes about half a cycle.
  return std::max(1.0, 2 * CyclesOf(op, lanes));
}

double SecondsOnCpu(const TileProgram& program, llvm::ArrayRef<int64_t> lengths) {
  const KernelShape shape = ChooseShape(program, HostMachine());
  double vectors = 1;
  for (size_t i = 0; i < program.axes.size(); ++i) {
    const TileAxisKind kind = program.axes[i].kind;
    if (kind == TileAxisKind::kRow || kind == TileAxisKind::kColumn ||
        kind == TileAxisKind::kBatch) {
      vectors *= static_cast<double>(lengths[i]);
    }
  }
  vectors /= FittedLanes(shape.lanes);
  // Along a long axis there are mostly sums of products.
  const bool has_long_axis = program.AxesOfKind(TileAxisKind::kLong) != 0;
  const double speed = has_long_axis ? SpeedOfMachine().products : SpeedOfMachine().elementwise;
  const double cycles = vectors * CyclesOfVector(program, shape, lengths);
  const double seconds = speed * cycles / (kCyclesPerSecond * kModelCores);
  return HasSegments(program) ? SecondsWithSegments(program, shape, lengths, seconds) : seconds;
}

StatusOr<KernelCost> CostOnCpu(const TileProgram& program, llvm::ArrayRef<int64_t> lengths,
                               int64_t threads, int64_t most_scratch) {
  const CpuMachine& machine = HostMachine();
  RETURN_IF_ERROR(ExpectMachine(program, machine));
  const StagedProgram stages = AsStages(program);
  std::vector<std::vector<int64_t>> operands;
  for (const TileArray& operand : program.operands) operands.push_back(ShapeOf(operand, lengths));
  std::vector<std::vector<int64_t>> results;
  for (const TileResult& result : program.results) {
    results.push_back(ShapeOf(result.array, lengths));
  }
  const KernelShape shape = ChooseShape(program, machine);
  const auto scratch_of = [&](int64_t count) {
    return ScratchBytes(program, shape, lengths, count);
  };
  const int64_t workers = ThreadsWithin(most_scratch, threads, scratch_of);
  const int64_t scratch_bytes =
      std::max(scratch_of(workers),
               MirroredScratchBytes(stages, {operands.begin(), operands.end()},
                                    {results.begin(), results.end()}, threads, most_scratch));
  const double slower = static_cast<double>(threads) / static_cast<double>(workers);
  return KernelCost{.scratch_bytes = scratch_bytes,
                    .seconds = kSecondsPerCall + slower * SecondsOnCpu(program, lengths)};
}

StatusOr<KernelCost> CostOfStagesOnCpu(const StagedProgram& program,
                                       llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                                       llvm::ArrayRef<llvm::ArrayRef<int64_t>> results,
                                       int64_t threads, int64_t most_scratch) {
  const CpuMachine& machine = HostMachine();
  for (const Stage& stage : program.stages) {
    RETURN_IF_ERROR(ExpectMachine(stage.program, machine));
  }
  ASSIGN_OR_RETURN(const StagesLayout layout, LayOutStages(program, ChooseShapes(program, machine),
                                                           operands, results, threads));
  const auto scratch_of = [&](int64_t count) { return ScratchBytes(layout, count); };
  const int64_t workers = ThreadsWithin(most_scratch, threads, scratch_of);
  double seconds = 0;
  for (size_t i = 0; i < program.stages.size(); ++i) {
    seconds += SecondsOnCpu(program.stages[i].program, layout.stages[i].lengths);
  }
  // Written once and read once.
  for (const PanelLayout& panel : layout.panels) {
    const auto bytes = static_cast<double>(ElementCount(panel.shape) * BytesOf(panel.type));
    seconds += 2 * bytes / (kPanelBytesPerCycle * kCyclesPerSecond * kModelCores);
  }
  seconds *= ShareOfSeen(program, layout);
  const double slower = static_cast<double>(threads) / static_cast<double>(workers);
  return KernelCost{.scratch_bytes = std::max(
                        scratch_of(workers),
                        MirroredScratchBytes(program, operands, results, threads, most_scratch)),
                    .seconds = kSecondsPerCall + slower * seconds};
}

KernelCosts CostsOnCpu(int64_t threads) {
  return {
      .tiles =
          [threads](const TileProgram& program, llvm::ArrayRef<int64_t> lengths,
                    int64_t most_scratch) {
            return CostOnCpu(program, lengths, threads, most_scratch);
          },
      .stages =
          [threads](const StagedProgram& program, llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> results, int64_t most_scratch) {
            return CostOfStagesOnCpu(program, operands, results, threads, most_scratch);
          },
      .loops = LoopCostOnCpu};
}

}  // namespace plimsoll
