#include "kernels/running_maxima.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/masked_columns.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// What a value is to the maxima that are known so far.
enum class FormKind : uint8_t {
  kFree,     // It does not depend on any.
  kMaximum,  // It is one of them.
  kBelow,    // The values that it is the largest of, less the maximum, and that times `power`.
  kScaled,   // In proportion to exp(-power * maximum) for each that it has a power of.
  kOther,
};

struct Form {
  FormKind kind = FormKind::kOther;
  size_t maximum = 0;               // kMaximum, kBelow
  double power = 0;                 // kBelow
  std::map<size_t, double> powers;  // kScaled

  bool operator==(const Form&) const = default;
};

// Two ops with the same one, of whatever stages, give the same numbers. The axes of arrays are
// rows, columns and the batch, whose places all stages have in common.
using ValueKey = std::tuple<TileOpKind, ScalarType, Opcode, Comparison, std::vector<int64_t>>;

Form Free() { return {.kind = FormKind::kFree, .powers = {}}; }

class RunningMaximaFinder {
 public:
  RunningMaximaFinder(const StagedProgram& program, std::vector<int> columns)
      : program_(program), columns_(std::move(columns)) {
    panels_.resize(static_cast<size_t>(program.CountOf(StagePlaceKind::kPanel)));
  }

  std::optional<std::vector<RunningMaximum>> Run() {
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      if (!VisitStage(i)) return std::nullopt;
    }
    std::erase_if(maxima_, [](const RunningMaximum& maximum) { return maximum.sums.empty(); });
    // What is summed over rows could not be made anew for some of them.
    const bool sums_rows =
        llvm::any_of(program_.stages, [](const Stage& stage) { return stage.rows != kRowAxis; });
    if (sums_rows && !maxima_.empty()) return std::nullopt;
    return std::move(maxima_);
  }

 private:
  struct KnownValue {
    Form form;
    int number = 0;
  };

  // A value as it lies in a panel.
  struct KnownPanel {
    KnownValue value;
    std::vector<int> places;
  };

  // Of a result that may be a running maximum.
  struct Candidate {
    size_t maximum = 0;
    int value = 0;  // What it is the largest of.
  };

  // Of all stages together: 0 for rows, 1 for columns, 2 and more for the batch, and below 0 for
  // others.
  int PlaceOf(size_t number, int axis) const {
    if (axis == kNoAxis) return kNoAxis;
    const Stage& stage = program_.stages[number];
    if (axis == stage.rows) return 0;
    if (axis == columns_[number]) return 1;
    int batch = 2;
    int other = kNoAxis - 1;
    for (int i = 0; i < axis; ++i) {
      const bool is_batch = stage.program.axes[static_cast<size_t>(i)].kind == TileAxisKind::kBatch;
      is_batch ? ++batch : --other;
    }
    const bool is_batch =
        stage.program.axes[static_cast<size_t>(axis)].kind == TileAxisKind::kBatch;
    return is_batch ? batch : other;
  }

  std::vector<int> PlacesOf(size_t number, const TileArray& array) const {
    std::vector<int> places;
    for (const int axis : array.axes) places.push_back(PlaceOf(number, axis));
    return places;
  }

  bool VisitStage(size_t number) {
    const Stage& stage = program_.stages[number];
    values_.clear();
    for (const TileOp& op : stage.program.ops) {
      std::optional<KnownValue> value = VisitOp(number, op);
      if (!value) return false;
      values_.push_back(*std::move(value));
    }
    for (size_t i = 0; i < stage.results.size(); ++i) {
      if (!VisitResult(number, i)) return false;
    }
    return true;
  }

  bool VisitResult(size_t number, size_t place) {
    const Stage& stage = program_.stages[number];
    const TileResult& result = stage.program.results[place];
    const KnownValue& value = values_[static_cast<size_t>(result.value)];
    if (stage.results[place].kind == StagePlaceKind::kPanel) {
      panels_[static_cast<size_t>(stage.results[place].number)] = {
          .value = value, .places = PlacesOf(number, result.array)};
      return true;
    }
    if (value.form.kind == FormKind::kFree) {
      AddCandidate(number, place, value.number);
      return true;
    }
    const bool is_sum = result.reducer == Opcode::kAdd && result.follows < 0 &&
                        result.segment < 0 && IsWide(result.array.type) &&
                        !llvm::is_contained(PlacesOf(number, result.array), 1);
    if (value.form.kind != FormKind::kScaled || stage.rows != kRowAxis || !is_sum) return false;
    for (const auto& [maximum, power] : value.form.powers) {
      maxima_[maximum].sums.push_back({.stage = number, .result = place, .power = power});
    }
    return true;
  }

  static bool IsWide(ScalarType type) {
    return type == ScalarType::kF32 || type == ScalarType::kF64;
  }

  // Results of rows alone are what stages may read.
  void AddCandidate(size_t number, size_t place, int value) {
    const Stage& stage = program_.stages[number];
    const TileResult& result = stage.program.results[place];
    const AxisSet allowed = kRowBit | stage.program.AxesOfKind(TileAxisKind::kBatch);
    if (result.reducer != Opcode::kMaximum || result.reduced != kColumnBit || result.follows >= 0 ||
        result.segment >= 0 || stage.rows != kRowAxis || columns_[number] != kColumnAxis ||
        !IsWide(result.array.type) || (AxesOf(result.array) & ~allowed) != 0) {
      return;
    }
    candidates_[stage.results[place].number] = {.maximum = maxima_.size(), .value = value};
    maxima_.push_back({.stage = number, .result = place, .sums = {}});
  }

  // Nothing if the stage has to wait for all columns.
  std::optional<KnownValue> VisitOp(size_t number, const TileOp& op) {
    const Stage& stage = program_.stages[number];
    std::vector<int64_t> key;
    for (const int operand : op.operands) {
      key.push_back(values_[static_cast<size_t>(operand)].number);
    }
    Form form = Free();
    switch (op.kind) {
      case TileOpKind::kLoad: {
        const auto operand = static_cast<size_t>(op.index);
        const StagePlace& place = stage.operands[operand];
        const std::vector<int> places = PlacesOf(number, stage.program.operands[operand]);
        if (place.kind == StagePlaceKind::kPanel) {
          const KnownPanel& panel = panels_[static_cast<size_t>(place.number)];
          if (panel.places == places) return panel.value;
          form = panel.value.form;
        } else if (place.kind == StagePlaceKind::kResult) {
          const auto found = candidates_.find(place.number);
          if (found == candidates_.end()) return std::nullopt;
          form = {.kind = FormKind::kMaximum, .maximum = found->second.maximum, .powers = {}};
        }
        key = {static_cast<int64_t>(place.kind), place.number};
        key.insert(key.end(), places.begin(), places.end());
        break;
      }
      case TileOpKind::kIota:
        key = {PlaceOf(number, op.index)};
        break;
      case TileOpKind::kConstant:
        key = {static_cast<int64_t>(op.bits)};
        break;
      case TileOpKind::kCompute:
        form = FormOfCompute(stage.program, op);
        break;
      case TileOpKind::kFold:
        key.push_back(PlaceOf(number, op.index));
        key.push_back(stage.program.axes[static_cast<size_t>(op.index)].length);
        form = FormOf(op, 0);
        if (!IsScaled(form) || (form.kind == FormKind::kScaled && op.opcode != Opcode::kAdd)) {
          form = Form();
        }
        break;
    }
    const ValueKey whole = {op.kind, op.type, op.opcode, op.comparison, std::move(key)};
    const auto next = static_cast<int>(numbers_.size());
    return KnownValue{.form = std::move(form),
                      .number = numbers_.try_emplace(whole, next).first->second};
  }

  const Form& FormOf(const TileOp& op, size_t operand) const {
    return values_[static_cast<size_t>(op.operands[operand])].form;
  }

  // What is free is in proportion to no power of any maximum.
  static bool IsScaled(const Form& form) {
    return form.kind == FormKind::kFree || form.kind == FormKind::kScaled;
  }

  static std::optional<double> ConstantOf(const TileProgram& program, int number) {
    const TileOp& op = program.ops[static_cast<size_t>(number)];
    if (op.kind != TileOpKind::kConstant) return std::nullopt;
    return NumberOf(op);
  }

  Form FormOfCompute(const TileProgram& program, const TileOp& op) const {
    const bool is_free = llvm::all_of(op.operands, [&](int operand) {
      return values_[static_cast<size_t>(operand)].form.kind == FormKind::kFree;
    });
    if (is_free) return Free();
    const Form& first = FormOf(op, 0);
    switch (op.opcode) {
      case Opcode::kConvert:
        return IsFloat(op.type) && first.kind != FormKind::kMaximum ? first : Form();
      case Opcode::kNegate:
        return Times(first, -1);
      case Opcode::kSubtract:
        if (IsBelow(op, 0, 1)) return Below(FormOf(op, 1), 1);
        if (IsBelow(op, 1, 0)) return Below(first, -1);
        return SumOf(first, FormOf(op, 1));
      case Opcode::kAdd:
        return SumOf(first, FormOf(op, 1));
      case Opcode::kMaximum:
        // As JAX begins a maximum: with nothing.
        for (const size_t i : {0, 1}) {
          const std::optional<double> number = ConstantOf(program, op.operands[i]);
          const Form& other = FormOf(op, 1 - i);
          if (number && std::isinf(*number) && *number < 0 && other.kind == FormKind::kMaximum) {
            return other;
          }
        }
        return {};
      case Opcode::kExponential:
        // Others may be too large before the maximum is what it will be.
        if (first.kind != FormKind::kBelow || first.power <= 0) return {};
        return {.kind = FormKind::kScaled, .powers = {{first.maximum, first.power}}};
      case Opcode::kMultiply:
        return FormOfProduct(program, op);
      case Opcode::kDivide:
        if (const std::optional<double> number = ConstantOf(program, op.operands[1]);
            number && first.kind == FormKind::kBelow) {
          return Times(first, 1 / *number);
        }
        return FormOf(op, 1).kind == FormKind::kFree && IsScaled(first) ? first : Form();
      case Opcode::kSelect:
        return FormOfSelect(program, op);
      default:
        return {};
    }
  }

  // True if one operand is what the other is the maximum of.
  bool IsBelow(const TileOp& op, size_t own, size_t maximum) const {
    if (FormOf(op, maximum).kind != FormKind::kMaximum) return false;
    return llvm::any_of(candidates_, [&](const auto& candidate) {
      return candidate.second.maximum == FormOf(op, maximum).maximum &&
             candidate.second.value == values_[static_cast<size_t>(op.operands[own])].number;
    });
  }

  static Form Below(const Form& maximum, double power) {
    return {.kind = FormKind::kBelow, .maximum = maximum.maximum, .power = power, .powers = {}};
  }

  static Form Times(Form form, double factor) {
    if (form.kind == FormKind::kScaled) return factor == -1 ? form : Form();
    if (form.kind != FormKind::kBelow || !std::isfinite(factor) || factor == 0) return {};
    form.power *= factor;
    return form;
  }

  static Form SumOf(const Form& a, const Form& b) {
    return a.kind == FormKind::kScaled && a == b ? a : Form();
  }

  Form FormOfProduct(const TileProgram& program, const TileOp& op) const {
    for (const size_t i : {0, 1}) {
      const std::optional<double> number = ConstantOf(program, op.operands[i]);
      if (number && FormOf(op, 1 - i).kind == FormKind::kBelow) {
        return Times(FormOf(op, 1 - i), *number);
      }
    }
    if (!IsScaled(FormOf(op, 0)) || !IsScaled(FormOf(op, 1))) return {};
    Form product = {.kind = FormKind::kScaled, .powers = FormOf(op, 0).powers};
    for (const auto& [maximum, power] : FormOf(op, 1).powers) product.powers[maximum] += power;
    return product;
  }

  Form FormOfSelect(const TileProgram& program, const TileOp& op) const {
    if (IsGuard(program, op)) return FormOf(op, 1);
    if (FormOf(op, 0).kind != FormKind::kFree) return {};
    const Form& first = FormOf(op, 1);
    const Form& second = FormOf(op, 2);
    if (first == second) return first;
    // Nothing, and the exponential of nothing, are in proportion to anything.
    const auto is_nothing = [&](size_t operand, const Form& other) {
      const std::optional<double> number = ConstantOf(program, op.operands[operand]);
      if (!number) return false;
      if (other.kind == FormKind::kScaled) return *number == 0;
      return other.kind == FormKind::kBelow && std::isinf(*number) &&
             (*number < 0) == (other.power > 0);
    };
    if (is_nothing(2, first)) return first;
    if (is_nothing(1, second)) return second;
    return {};
  }

  // As logsumexp has it: the maximum if it is finite, and else another number. While it is not,
  // stages are given a finite one.
  bool IsGuard(const TileProgram& program, const TileOp& op) const {
    const TileOp& condition = program.ops[static_cast<size_t>(op.operands[0])];
    return FormOf(op, 1).kind == FormKind::kMaximum && condition.opcode == Opcode::kIsFinite &&
           FormOf(condition, 0) == FormOf(op, 1);
  }

  const StagedProgram& program_;
  const std::vector<int> columns_;
  std::vector<KnownPanel> panels_;
  std::map<int, Candidate> candidates_;  // By the number of the result.
  std::vector<RunningMaximum> maxima_;
  std::map<ValueKey, int> numbers_;
  // Of the ops of one stage.
  std::vector<KnownValue> values_;
};

}  // namespace

std::optional<std::vector<RunningMaximum>> FindRunningMaxima(const StagedProgram& program) {
  std::optional<std::vector<int>> columns = PanelColumns(program);
  if (!columns) return std::nullopt;
  return RunningMaximaFinder(program, *std::move(columns)).Run();
}

}  // namespace plimsoll
