#include "kernels/masked_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Of panels or of arguments.
using NumberSet = llvm::SmallDenseSet<int, 4>;

constexpr int kUnbounded = std::numeric_limits<int>::max() / 4;
// A sum is of fewer than 2^32 numbers.
constexpr int kSumExponent = 32;
// Of integers.
constexpr int kIntegerExponent = 64;

// What is known of a value in the columns in question.
struct Masked {
  // The same in each of them.
  bool is_same = false;
  // Zero, of either sign, if these panels are.
  bool is_zero = false;
  NumberSet zero_panels = {};
  // Not beyond 2^exponent, if these arguments are bounded.
  int exponent = kUnbounded;
  NumberSet arguments = {};
};

int MostExponent(ScalarType type) {
  switch (type) {
    case ScalarType::kF16:
      return 15;
    case ScalarType::kBF16:
    case ScalarType::kF32:
      return 127;
    default:
      return 1023;
  }
}

int ExponentOf(double number) {
  if (!std::isfinite(number)) return kUnbounded;
  return number == 0 ? 0 : std::ilogb(number) + 1;
}

NumberSet UnionOf(const NumberSet& a, const NumberSet& b) {
  NumberSet both = a;
  both.insert(b.begin(), b.end());
  return both;
}

// Integers whose smallest and largest are known, and predicates.
bool HasRange(ScalarType type) { return !IsFloat(type) && type != ScalarType::kUI64; }

bool IsPredicateOp(const TileOp& op) {
  switch (op.opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kConvert:
    case Opcode::kCompare:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kNot:
    case Opcode::kSelect:
      return true;
    default:
      return false;
  }
}

class MaskAnalysis {
 public:
  MaskAnalysis(const StagedProgram& program, llvm::ArrayRef<KnownPredicates> known,
               llvm::ArrayRef<int> columns)
      : program_(program),
        known_(known),
        columns_(columns),
        panels_(static_cast<size_t>(program.CountOf(StagePlaceKind::kPanel))) {}

  std::optional<MaskConditions> Run() {
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      if (!VisitStage(i)) return std::nullopt;
    }
    if (!CanBeRunAgain()) return std::nullopt;
    MaskConditions conditions = {.zero_panels = {zero_panels_.begin(), zero_panels_.end()},
                                 .bounded_arguments = {arguments_.begin(), arguments_.end()}};
    llvm::sort(conditions.zero_panels);
    llvm::sort(conditions.bounded_arguments);
    return conditions;
  }

 private:
  bool Require(const Masked& value) {
    if (!value.is_zero) return false;
    zero_panels_.insert(value.zero_panels.begin(), value.zero_panels.end());
    arguments_.insert(value.arguments.begin(), value.arguments.end());
    return true;
  }

  bool VisitStage(size_t number) {
    const Stage& stage = program_.stages[number];
    const TileProgram& program = stage.program;
    const int column = columns_[number];
    stage_known_ = known_[number];
    values_.clear();
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const TileOp& op = program.ops[i];
      if (op.kind == TileOpKind::kFold && op.index == column && !Require(ValueOf(op, 0))) {
        return false;
      }
      Masked value = Visit(stage, op, stage_known_[i]);
      value.is_same |= (op.axes & AxisBit(column)) == 0;
      if (IsFloat(op.type) && value.exponent > MostExponent(op.type)) value.exponent = kUnbounded;
      AssumeZero(stage, static_cast<int>(i), value);
      values_.push_back(std::move(value));
    }
    for (size_t i = 0; i < program.results.size(); ++i) {
      const TileResult& result = program.results[i];
      const Masked& value = values_[static_cast<size_t>(result.value)];
      if (stage.results[i].kind == StagePlaceKind::kPanel) {
        panels_[static_cast<size_t>(stage.results[i].number)] = value;
      } else if (!VisitResult(result, value, column)) {
        return false;
      }
    }
    return true;
  }

  bool VisitResult(const TileResult& result, const Masked& value, int column) {
    if (result.follows >= 0) return false;
    const bool is_reduced = (result.reduced & AxisBit(column)) != 0;
    if (!is_reduced && (AxesOf(result.array) & AxisBit(column)) == 0) return true;
    switch (result.reducer) {
      case Opcode::kAdd:
        return Require(value);
      case Opcode::kMaximum:
      case Opcode::kMinimum:
        return is_reduced && value.is_same;
      default:
        return false;
    }
  }

  // A value that is handed on and is the same in all columns can be looked at in one of them.
  static void AssumeZero(const Stage& stage, int op, Masked& value) {
    if (!value.is_same || value.is_zero) return;
    for (size_t i = 0; i < stage.results.size(); ++i) {
      const bool is_panel = stage.results[i].kind == StagePlaceKind::kPanel;
      if (!is_panel || stage.program.results[i].value != op) continue;
      value.is_zero = true;
      value.zero_panels = {stage.results[i].number};
    }
  }

  const Masked& ValueOf(const TileOp& op, size_t operand) const {
    return values_[static_cast<size_t>(op.operands[operand])];
  }

  Masked Visit(const Stage& stage, const TileOp& op, std::optional<bool> known) const {
    switch (op.kind) {
      case TileOpKind::kLoad:
        return VisitLoad(stage.operands[static_cast<size_t>(op.index)], op);
      case TileOpKind::kIota:
        return {.exponent = kIntegerExponent};
      case TileOpKind::kConstant:
        return {
            .is_same = true, .is_zero = NumberOf(op) == 0, .exponent = ExponentOf(NumberOf(op))};
      case TileOpKind::kCompute:
        return VisitCompute(stage.program, op, known);
      case TileOpKind::kFold:
        return VisitFold(op);
    }
    return {};
  }

  Masked VisitLoad(const StagePlace& place, const TileOp& op) const {
    switch (place.kind) {
      case StagePlaceKind::kArgument:
        if (!IsFloat(op.type)) return {.exponent = kIntegerExponent};
        return {.exponent = kMostExponent, .arguments = {place.number}};
      case StagePlaceKind::kPanel:
        return panels_[static_cast<size_t>(place.number)];
      case StagePlaceKind::kResult:
        return {};
    }
    return {};
  }

  Masked VisitFold(const TileOp& op) const {
    Masked value = ValueOf(op, 0);
    if (op.opcode != Opcode::kAdd) return {.is_same = value.is_same};
    value.exponent += kSumExponent;
    return value;
  }

  Masked VisitCompute(const TileProgram& program, const TileOp& op,
                      std::optional<bool> known) const {
    if (known) return {.is_same = true, .is_zero = !*known, .exponent = 0};
    const bool is_same = llvm::all_of(
        op.operands, [&](int operand) { return values_[static_cast<size_t>(operand)].is_same; });
    switch (op.opcode) {
      case Opcode::kAbs:
      case Opcode::kConvert:
      case Opcode::kNegate:
        return ValueOf(op, 0);
      case Opcode::kAdd:
      case Opcode::kSubtract: {
        Masked value = BothOf(ValueOf(op, 0), ValueOf(op, 1));
        value.exponent += 1;
        return value;
      }
      case Opcode::kMultiply: {
        Masked value = ProductOf(ValueOf(op, 0), ValueOf(op, 1));
        value.is_same = is_same;
        return value;
      }
      case Opcode::kDivide:
        return VisitDivide(program, op, is_same);
      case Opcode::kSelect: {
        const std::optional<bool> is_first = stage_known_[static_cast<size_t>(op.operands[0])];
        if (is_first) return ValueOf(op, *is_first ? 1 : 2);
        Masked value = BothOf(ValueOf(op, 1), ValueOf(op, 2));
        value.is_same = is_same;
        return value;
      }
      default:
        return {.is_same = is_same};
    }
  }

  // Of a sum, or of one of both.
  static Masked BothOf(const Masked& a, const Masked& b) {
    return {.is_same = a.is_same && b.is_same,
            .is_zero = a.is_zero && b.is_zero,
            .zero_panels = UnionOf(a.zero_panels, b.zero_panels),
            .exponent = std::max(a.exponent, b.exponent),
            .arguments = UnionOf(a.arguments, b.arguments)};
  }

  static Masked ProductOf(const Masked& a, const Masked& b) {
    Masked value = {.exponent = std::min(kUnbounded, a.exponent + b.exponent),
                    .arguments = UnionOf(a.arguments, b.arguments)};
    for (const auto& [zero, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      if (!zero->is_zero || value.is_zero) continue;
      if (other->exponent >= kUnbounded && !other->is_zero) continue;
      value.is_zero = true;
      value.zero_panels =
          other->is_zero ? UnionOf(a.zero_panels, b.zero_panels) : zero->zero_panels;
    }
    return value;
  }

  Masked VisitDivide(const TileProgram& program, const TileOp& op, bool is_same) const {
    Masked value = {.is_same = is_same};
    const TileOp& divisor = program.ops[static_cast<size_t>(op.operands[1])];
    if (divisor.kind != TileOpKind::kConstant) return value;
    const double number = NumberOf(divisor);
    if (number == 0 || !std::isfinite(number)) return value;
    value = ValueOf(op, 0);
    value.is_same = is_same;
    value.exponent = std::min(kUnbounded, value.exponent - std::ilogb(number) + 1);
    return value;
  }

  // A stage that adds to a result must not do so twice, unless the result can be made anew.
  bool CanBeRunAgain() const {
    size_t last = 0;
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      for (const StagePlace& place : program_.stages[i].results) {
        if (place.kind == StagePlaceKind::kPanel && zero_panels_.contains(place.number)) {
          last = i + 1;
        }
      }
    }
    for (size_t i = 0; i < last; ++i) {
      const Stage& stage = program_.stages[i];
      const AxisSet allowed = kRowBit | stage.program.AxesOfKind(TileAxisKind::kBatch);
      for (size_t j = 0; j < stage.results.size(); ++j) {
        if (stage.results[j].kind == StagePlaceKind::kPanel) continue;
        if (stage.rows != kRowAxis) return false;
        if ((AxesOf(stage.program.results[j].array) & ~allowed) != 0) return false;
      }
    }
    return true;
  }

  const StagedProgram& program_;
  llvm::ArrayRef<KnownPredicates> known_;
  llvm::ArrayRef<int> columns_;
  std::vector<Masked> panels_;
  // Of the ops of one stage.
  llvm::ArrayRef<std::optional<bool>> stage_known_;
  std::vector<Masked> values_;
  NumberSet zero_panels_;
  NumberSet arguments_;
};

}  // namespace

std::vector<std::vector<bool>> MaskPredicates(const StagedProgram& program, bool has_arguments) {
  bool is_any = false;
  std::vector<std::vector<bool>> predicates;
  for (const Stage& stage : program.stages) {
    const AxisSet allowed = kRowBit | kColumnBit | stage.program.AxesOfKind(TileAxisKind::kBatch);
    std::vector<bool> found;
    for (const TileOp& op : stage.program.ops) {
      bool is_found = HasRange(op.type) && stage.rows == kRowAxis && (op.axes & ~allowed) == 0;
      if (op.kind == TileOpKind::kLoad) {
        const StagePlace& place = stage.operands[static_cast<size_t>(op.index)];
        is_found &= has_arguments && place.kind == StagePlaceKind::kArgument &&
                    (op.axes & (kRowBit | kColumnBit)) != (kRowBit | kColumnBit);
      } else if (op.kind == TileOpKind::kCompute) {
        is_found &= IsPredicateOp(op) && llvm::all_of(op.operands, [&](int operand) {
                      return found[static_cast<size_t>(operand)];
                    });
        is_any |= is_found && op.type == ScalarType::kI1 && (op.axes & kRowBit) != 0 &&
                  (op.axes & kColumnBit) != 0;
      } else if (op.kind == TileOpKind::kFold) {
        is_found = false;
      }
      found.push_back(is_found);
    }
    predicates.push_back(std::move(found));
  }
  if (!is_any) predicates.clear();
  return predicates;
}

std::optional<std::vector<int>> PanelColumns(const StagedProgram& program) {
  if (program.stages.size() == 1 && program.CountOf(StagePlaceKind::kPanel) == 0) {
    return std::vector<int>{kColumnAxis};
  }
  // Of each panel, which dimension is the columns.
  std::vector<std::optional<size_t>> places(
      static_cast<size_t>(program.CountOf(StagePlaceKind::kPanel)));
  std::vector<int> columns;
  for (const Stage& stage : program.stages) {
    int column = kNoAxis;
    for (size_t i = 0; i < stage.operands.size(); ++i) {
      if (stage.operands[i].kind != StagePlaceKind::kPanel) continue;
      const std::optional<size_t> place = places[static_cast<size_t>(stage.operands[i].number)];
      if (!place) continue;
      const int axis = stage.program.operands[i].axes[*place];
      if (axis == kNoAxis || (column != kNoAxis && column != axis)) return std::nullopt;
      column = axis;
    }
    for (size_t i = 0; i < stage.results.size(); ++i) {
      if (stage.results[i].kind != StagePlaceKind::kPanel) continue;
      const std::vector<int>& axes = stage.program.results[i].array.axes;
      const auto found = llvm::find(axes, kColumnAxis);
      if (found == axes.end()) continue;
      if (column == kNoAxis) column = kColumnAxis;
      if (column != kColumnAxis) return std::nullopt;
      places[static_cast<size_t>(stage.results[i].number)] =
          static_cast<size_t>(found - axes.begin());
    }
    if (column == kNoAxis) return std::nullopt;
    columns.push_back(column);
  }
  return columns;
}

std::optional<MaskConditions> ConditionsToSkip(const StagedProgram& program,
                                               llvm::ArrayRef<KnownPredicates> known) {
  const std::optional<std::vector<int>> columns = PanelColumns(program);
  if (!columns) return std::nullopt;
  return MaskAnalysis(program, known, *columns).Run();
}

}  // namespace plimsoll
