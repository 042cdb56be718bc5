#include "kernels/mirror_program.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "kernels/masked_columns.h"
#include "kernels/turn_ops.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

constexpr AxisSet kPairBits = kRowBit | kColumnBit;

// True if the second array has columns where the first has rows, and is the same otherwise.
// Dimensions of length 1 make no difference in memory.
bool IsTurned(const TileArray& rows, const TileArray& columns) {
  const auto axes_of = [](const TileArray& array) {
    std::vector<int> axes;
    for (const int axis : array.axes) {
      if (axis != kNoAxis) axes.push_back(axis);
    }
    return axes;
  };
  return (AxesOf(rows) & kPairBits) == kRowBit && (AxesOf(columns) & kPairBits) == kColumnBit &&
         rows.type == columns.type && axes_of(Turned(rows)) == axes_of(columns);
}

class ProgramMirror {
 public:
  ProgramMirror(const StagedProgram& program, llvm::ArrayRef<ArgumentPair> equal)
      : program_(program),
        equal_(equal),
        result_count_(program.CountOf(StagePlaceKind::kResult)),
        panels_(static_cast<size_t>(program.CountOf(StagePlaceKind::kPanel))) {}

  std::optional<StagedProgram> Make() {
    for (const Stage& stage : program_.stages) {
      if (!CanBeMirrored(stage)) return std::nullopt;
      const bool is_product = SummedAxis(stage.program) != kNoAxis;
      if (!(is_product ? AddProduct(stage) : AddTiles(stage))) return std::nullopt;
    }
    return std::move(mirrored_);
  }

 private:
  static bool CanBeMirrored(const Stage& stage) {
    const auto is_result = [](const StagePlace& place) {
      return place.kind == StagePlaceKind::kResult;
    };
    return stage.rows == kRowAxis && llvm::none_of(stage.operands, is_result);
  }

  StagePlace TurnedResult(const StagePlace& place) const {
    return {.kind = StagePlaceKind::kResult, .number = place.number + result_count_};
  }

  // The batch first and the columns last, where sums over rows are kept.
  static TileArray KeptByColumns(const TileProgram& program, const TileArray& result) {
    TileArray array = {.type = result.type, .axes = {}};
    const AxisSet batch = program.AxesOfKind(TileAxisKind::kBatch);
    for (const int axis : result.axes) {
      if (axis != kNoAxis && (AxisBit(axis) & batch) != 0) array.axes.push_back(axis);
    }
    for (const int axis : result.axes) {
      if (axis != kNoAxis && (AxisBit(axis) & (batch | kPairBits)) == 0) array.axes.push_back(axis);
    }
    array.axes.push_back(kColumnAxis);
    return array;
  }

  std::optional<TurnedValue> TurnLoad(Stage& stage, OpTurner& turner, int load) {
    TileOp op = stage.program.ops[static_cast<size_t>(load)];
    const auto operand = static_cast<size_t>(op.index);
    const StagePlace place = stage.operands[operand];
    if (place.kind == StagePlaceKind::kPanel) {
      const std::optional<bool>& is_negated = panels_[static_cast<size_t>(place.number)];
      if (!is_negated) return std::nullopt;
      return TurnedValue{.op = load, .factor = *is_negated ? -1.0 : 1.0};
    }
    const TileArray array = stage.program.operands[operand];
    if ((op.axes & kPairBits) == kPairBits) return std::nullopt;
    size_t turned = 0;
    std::optional<double> factor;
    for (; turned < stage.operands.size(); ++turned) {
      factor = FactorOf(stage, operand, turned);
      if (factor) break;
    }
    if (!factor) {
      stage.operands.push_back(place);
      stage.program.operands.push_back(Turned(array));
    }
    op.index = static_cast<int>(turned);
    op.axes = AxesOf(stage.program.operands[turned]);
    return TurnedValue{.op = turner.Intern(std::move(op)), .factor = factor.value_or(1)};
  }

  // What another operand's numbers have to be multiplied with to be those of this one along the
  // other axis; nothing if they are not the same points.
  std::optional<double> FactorOf(const Stage& stage, size_t operand, size_t other) const {
    const std::vector<TileArray>& arrays = stage.program.operands;
    for (const auto& [rows, columns] : {std::pair(operand, other), std::pair(other, operand)}) {
      if (stage.operands[rows].kind != StagePlaceKind::kArgument ||
          stage.operands[columns].kind != StagePlaceKind::kArgument ||
          !IsTurned(arrays[rows], arrays[columns])) {
        continue;
      }
      if (stage.operands[rows] == stage.operands[columns]) return 1;
      const auto found = llvm::find_if(equal_, [&](const ArgumentPair& pair) {
        return pair.rows == stage.operands[rows].number &&
               pair.columns == stage.operands[columns].number;
      });
      if (found != equal_.end()) return rows == operand ? found->factor : 1 / found->factor;
    }
    return std::nullopt;
  }

  // Values of a tile, with what turned pairs give of them.
  bool AddTiles(const Stage& original) {
    Stage stage = original;
    OpTurner turner(stage.program, [&](int load) { return TurnLoad(stage, turner, load); });
    for (size_t i = 0; i < original.results.size(); ++i) {
      const TileResult result = original.program.results[i];
      const StagePlace& place = original.results[i];
      if (place.kind == StagePlaceKind::kPanel) {
        const std::optional<TurnedValue> turned = turner.Turn(result.value);
        const bool is_same = turned && turned->op == result.value;
        if (!is_same || std::abs(turned->factor) != 1) return false;
        panels_[static_cast<size_t>(place.number)] = turned->factor < 0;
        continue;
      }
      if (result.reduced != kColumnBit || result.follows >= 0 ||
          result.reducer == Opcode::kChloTopK || (AxesOf(result.array) & kRowBit) == 0) {
        return false;
      }
      const std::optional<int> value = turner.TurnedOp(result.value);
      if (!value) return false;
      stage.program.results.push_back({.value = *value,
                                       .reduced = kRowBit,
                                       .reducer = result.reducer,
                                       .array = KeptByColumns(stage.program, result.array)});
      stage.results.push_back(TurnedResult(place));
    }
    mirrored_.stages.push_back(std::move(stage));
    return true;
  }

  // A panel times a matrix, and behind it the panel's transpose times the same matrix.
  bool AddProduct(const Stage& original) {
    mirrored_.stages.push_back(original);
    const TileProgram& program = original.program;
    const int summed = SummedAxis(program);
    Stage stage = {.program = {.axes = program.axes, .operands = {}, .ops = {}, .results = {}},
                   .operands = original.operands,
                   .results = {TurnedResult(original.results[0])},
                   .rows = summed};
    bool is_negated = false;
    for (size_t i = 0; i < original.operands.size(); ++i) {
      const bool is_panel = original.operands[i].kind == StagePlaceKind::kPanel;
      TileArray array = program.operands[i];
      const AxisSet wanted = is_panel ? kRowBit : kColumnBit;
      if ((AxesOf(array) & (kPairBits | AxisBit(summed))) != (wanted | AxisBit(summed))) {
        return false;
      }
      if (is_panel) {
        const auto& panel = panels_[static_cast<size_t>(original.operands[i].number)];
        if (!panel) return false;
        is_negated ^= *panel;
      }
      // The panel's rows are summed over; its columns and the matrix's are what is left.
      for (int& axis : array.axes) {
        if (is_panel && axis == summed) {
          axis = kColumnAxis;
        } else if (axis == kRowAxis) {
          axis = summed;
        } else if (axis == kColumnAxis) {
          axis = kRowAxis;
        }
      }
      stage.program.operands.push_back(std::move(array));
    }
    return AddTurnedProduct(original, std::move(stage), is_negated);
  }

  bool AddTurnedProduct(const Stage& original, Stage stage, bool is_negated) {
    const TileProgram& program = original.program;
    const auto panel = llvm::find_if(original.operands, [](const StagePlace& place) {
      return place.kind == StagePlaceKind::kPanel;
    });
    // Two loads, their product and its sum: nothing else is known to be the same for turned pairs.
    constexpr size_t kOps = 4;
    if (program.results.size() != 1 || program.operands.size() != 2 || program.ops.size() != kOps ||
        panel == original.operands.end()) {
      return false;
    }
    const TileOp& fold = program.ops[static_cast<size_t>(program.results[0].value)];
    const TileOp& product = program.ops[static_cast<size_t>(fold.operands[0])];
    if (product.opcode != Opcode::kMultiply) return false;
    TileProgram& turned = stage.program;
    const auto panel_operand = static_cast<int>(panel - original.operands.begin());
    StatusOr<int> left = AddLoad(turned, panel_operand);
    StatusOr<int> right = AddLoad(turned, 1 - panel_operand);
    if (is_negated && right.ok()) right = AddCompute(turned, Opcode::kNegate, {*right});
    if (!left.ok() || !right.ok()) return false;
    StatusOr<int> value = AddCompute(turned, Opcode::kMultiply, {*left, *right});
    if (value.ok()) value = AddFold(turned, fold.opcode, fold.index, *value);
    if (!value.ok()) return false;
    TileArray array = KeptByColumns(program, program.results[0].array);
    array.axes.insert(array.axes.end() - 1, kRowAxis);
    const Status added = AddResult(
        turned,
        {.value = *value, .reducer = program.results[0].reducer, .array = std::move(array)});
    if (!added.ok()) return false;
    mirrored_.stages.push_back(std::move(stage));
    return true;
  }

  const StagedProgram& program_;
  llvm::ArrayRef<ArgumentPair> equal_;
  const int result_count_;
  StagedProgram mirrored_;
  // Of each panel: whether it is the negative of itself for turned pairs, or nothing.
  std::vector<std::optional<bool>> panels_;
};

}  // namespace

StagedProgram AsStages(TileProgram program) {
  Stage stage;
  for (size_t i = 0; i < program.operands.size(); ++i) {
    stage.operands.push_back({.kind = StagePlaceKind::kArgument, .number = static_cast<int>(i)});
  }
  for (size_t i = 0; i < program.results.size(); ++i) {
    stage.results.push_back({.kind = StagePlaceKind::kResult, .number = static_cast<int>(i)});
  }
  stage.program = std::move(program);
  return {.stages = {std::move(stage)}};
}

std::vector<ArgumentPair> PairsOfArguments(const StagedProgram& program) {
  std::vector<ArgumentPair> pairs;
  for (const Stage& stage : program.stages) {
    for (size_t i = 0; i < stage.operands.size(); ++i) {
      for (size_t j = 0; j < stage.operands.size(); ++j) {
        const ArgumentPair pair = {.rows = stage.operands[i].number,
                                   .columns = stage.operands[j].number};
        const bool are_arguments = stage.operands[i].kind == StagePlaceKind::kArgument &&
                                   stage.operands[j].kind == StagePlaceKind::kArgument;
        if (are_arguments && pair.rows != pair.columns && !llvm::is_contained(pairs, pair) &&
            IsTurned(stage.program.operands[i], stage.program.operands[j])) {
          pairs.push_back(pair);
        }
      }
    }
  }
  return pairs;
}

std::optional<StagedProgram> MirrorProgram(const StagedProgram& program,
                                           llvm::ArrayRef<ArgumentPair> equal) {
  return ProgramMirror(program, equal).Make();
}

}  // namespace plimsoll
