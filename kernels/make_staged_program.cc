#include "kernels/make_staged_program.h"

#include <optional>
#include <utility>

#include "analysis/reducers.h"
#include "kernels/masked_columns.h"
#include "kernels/refuse.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Ops that take many instructions.
bool IsTranscendental(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAtan2:
    case Opcode::kCbrt:
    case Opcode::kChloErf:
    case Opcode::kChloErfc:
    case Opcode::kCosine:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kSine:
    case Opcode::kTan:
    case Opcode::kTanh:
      return true;
    default:
      return false;
  }
}

class Stager {
 public:
  Stager(const TileRegion& region, const RegionLevels& levels, size_t first, size_t end)
      : region_(region), levels_(levels), first_(first), end_(end), panels_(end) {}

  StatusOr<StagedKernel> Make() {
    // A stage may need what an earlier one has made, which then is a panel of that one.
    do {
      has_changed_ = false;
      stages_.clear();
      made_.clear();
      for (size_t level = first_; level < end_; ++level) RETURN_IF_ERROR(MakeLevel(level));
    } while (has_changed_);
    ASSIGN_OR_RETURN(StagedKernel staged, Assemble());
    const bool has_mask = !MaskPredicates(staged.program, /*has_arguments=*/true).empty();
    if (stages_.size() < 2 && !has_mask) return Refuse("nothing is handed on from stage to stage");
    return staged;
  }

 private:
  struct MadeStage {
    RegionKernel kernel;
    size_t panel_count = 0;  // The last of its results.
    bool sums_rows = false;
  };

  RegionAxisRole RoleOf(int axis) const { return region_.axes[static_cast<size_t>(axis)].role; }

  // The one axis that only the product has; nothing if there are none or several.
  std::optional<int> FeatureOf(const Op& sink) const {
    std::optional<int> feature;
    for (const int axis : region_.value_axes.find(sink.result(0))->second) {
      if (axis == kNoAxis || RoleOf(axis) != RegionAxisRole::kFeature) continue;
      if (feature) return std::nullopt;
      feature = axis;
    }
    return feature;
  }

  // True if making the value again costs more than reading it.
  bool IsCostly(const Value& value) {
    const auto found = is_costly_.find(&value);
    if (found != is_costly_.end()) return found->second;
    const Op& op = *value.defining_op();
    bool is_costly = IsTranscendental(op.opcode());
    for (const int axis : region_.ReducedAxes(op)) {
      is_costly |= RoleOf(axis) == RegionAxisRole::kLong;
    }
    for (const Value* operand : op.operands()) {
      is_costly |= region_.values.contains(operand) && IsCostly(*operand);
    }
    is_costly_[&value] = is_costly;
    return is_costly;
  }

  // Those of the array where it is whole; of a panel columns lie next to each other.
  std::vector<int> AxesInMemory(const Value& value) const {
    const std::vector<int>& own = region_.value_axes.find(&value)->second;
    if (region_.written.contains(&value)) return own;
    std::vector<int> axes;
    for (const RegionAxisRole role : {RegionAxisRole::kBatch, RegionAxisRole::kShort,
                                      RegionAxisRole::kRow, RegionAxisRole::kColumn}) {
      for (size_t i = 0; i < region_.axes.size(); ++i) {
        const int axis = static_cast<int>(i);
        if (RoleOf(axis) == role && llvm::is_contained(own, axis)) axes.push_back(axis);
      }
    }
    return axes;
  }

  // What a stage of that level can read.
  EarlierStages EarlierThan(size_t level) {
    EarlierStages earlier;
    for (const auto& [value, made_at] : made_) {
      if (made_at < level && IsCostly(*value)) earlier.values[value] = AxesInMemory(*value);
    }
    for (size_t i = first_; i < level; ++i) {
      for (const Op* sink : levels_.levels[i].sinks) {
        if (IsForRows(*sink)) earlier.results.insert(sink->result(0));
      }
    }
    earlier.depends = [this](const Value& value) {
      return levels_.needed.lookup(&value) > static_cast<int>(first_);
    };
    return earlier;
  }

  // True if the sink's result is whole for the rows that a stage has seen.
  bool IsForRows(const Op& sink) const {
    if (FeatureOf(sink) || sink.result_count() != 1 || sink.Is(Opcode::kScatter)) return false;
    if (sink.Is(Opcode::kReduce)) {
      const std::optional<Reduction> reduction = ReductionOf(sink);
      if (!reduction || !IsNeutral(*reduction, *sink.operand(1))) return false;
    }
    return llvm::all_of(region_.ReducedAxes(sink), [&](int axis) {
      return RoleOf(axis) != RegionAxisRole::kRow && RoleOf(axis) != RegionAxisRole::kBatch;
    });
  }

  void AddPanel(const Value& value, size_t level) {
    if (region_.written.contains(&value)) return;
    has_changed_ |= panels_[level].insert({&value, AxesInMemory(value)}).second;
  }

  Status MakeLevel(size_t level) {
    std::vector<const Op*> products;
    std::vector<const Op*> sinks;
    const std::vector<const Op*> beside = SinksBesideStages(region_, levels_.levels[level]);
    for (const Op* sink : levels_.levels[level].sinks) {
      if (!llvm::is_contained(beside, sink)) {
        (FeatureOf(*sink) ? products : sinks).push_back(sink);
      }
    }
    const std::vector<const Value*>& written = levels_.levels[level].written;
    const StagePanels panels(panels_[level].begin(), panels_[level].end());
    if (!sinks.empty() || !written.empty() || !panels.empty()) {
      MadeStage stage = {.kernel = {}, .panel_count = panels.size()};
      ASSIGN_OR_RETURN(stage.kernel,
                       MakeStageProgram(region_, sinks, written, panels, EarlierThan(level)));
      for (const Value* operand : stage.kernel.operands) {
        if (region_.values.contains(operand)) AddPanel(*operand, made_.lookup(operand));
      }
      for (const Value* value : stage.kernel.made) made_.insert({value, level});
      stages_.push_back(std::move(stage));
    }
    for (const Op* product : products) RETURN_IF_ERROR(MakeProduct(*product, level));
    return OkStatus();
  }

  Status MakeProduct(const Op& sink, size_t level) {
    const size_t side = region_.values.contains(sink.operand(0)) ? 0 : 1;
    const Value& factor = *sink.operand(side);
    if (levels_.needed.lookup(sink.operand(1 - side)) > static_cast<int>(first_)) {
      return Refuse("a product needs more than rows of an earlier stage");
    }
    const auto found = made_.find(&factor);
    AddPanel(factor, found != made_.end() && IsCostly(factor) ? found->second : level);
    TileRegion turned = region_;
    bool sums_rows = false;
    for (const int axis : region_.ReducedAxes(sink)) {
      const RegionAxisRole role = RoleOf(axis);
      if (role != RegionAxisRole::kRow && role != RegionAxisRole::kColumn) continue;
      sums_rows |= role == RegionAxisRole::kRow;
      turned.axes[static_cast<size_t>(axis)].role = RegionAxisRole::kLong;
    }
    // The panel's columns stay columns where they are not summed.
    turned.axes[static_cast<size_t>(*FeatureOf(sink))].role =
        sums_rows ? RegionAxisRole::kRow : RegionAxisRole::kColumn;
    EarlierStages earlier;
    earlier.values[&factor] = AxesInMemory(factor);
    MadeStage stage = {.kernel = {}, .sums_rows = sums_rows};
    ASSIGN_OR_RETURN(stage.kernel, MakeProductProgram(turned, sink, earlier));
    if (SummedAxis(stage.kernel.program) == kNoAxis) {
      return Refuse("a product that sums over more than columns or rows");
    }
    stages_.push_back(std::move(stage));
    return OkStatus();
  }

  StatusOr<StagedKernel> Assemble() {
    StagedKernel staged;
    llvm::DenseMap<const Value*, StagePlace> places;
    int panel_count = 0;
    for (MadeStage& made : stages_) {
      Stage stage = {.program = made.kernel.program, .operands = {}, .results = {}};
      if (made.sums_rows) stage.rows = SummedAxis(stage.program);
      for (Value* operand : made.kernel.operands) {
        const StagePlace next = {.kind = StagePlaceKind::kArgument,
                                 .number = static_cast<int>(staged.operands.size())};
        const auto [found, is_new] = places.insert({operand, next});
        if (is_new) staged.operands.push_back(operand);
        stage.operands.push_back(found->second);
      }
      const size_t kept = made.kernel.results.size() - made.panel_count;
      for (size_t i = 0; i < made.kernel.results.size(); ++i) {
        StagePlace place = {.kind = StagePlaceKind::kPanel, .number = panel_count};
        if (i < kept) {
          place = {.kind = StagePlaceKind::kResult,
                   .number = static_cast<int>(staged.results.size())};
          staged.results.push_back(made.kernel.results[i]);
        } else {
          ++panel_count;
        }
        places[made.kernel.results[i].value] = place;
        stage.results.push_back(place);
      }
      staged.program.stages.push_back(std::move(stage));
    }
    RETURN_IF_ERROR(Verify(staged.program));
    return staged;
  }

  const TileRegion& region_;
  const RegionLevels& levels_;
  const size_t first_;
  const size_t end_;
  bool has_changed_ = false;
  // Of each level.
  std::vector<llvm::MapVector<const Value*, std::vector<int>>> panels_;
  std::vector<MadeStage> stages_;
  // The level at which a value is made first.
  llvm::MapVector<const Value*, size_t> made_;
  llvm::DenseMap<const Value*, bool> is_costly_;
};

}  // namespace

std::vector<const Op*> SinksBesideStages(const TileRegion& region, const RegionLevel& level) {
  const auto has_role = [&](llvm::ArrayRef<int> axes, RegionAxisRole role) {
    return llvm::any_of(axes, [&](int axis) {
      return axis != kNoAxis && region.axes[static_cast<size_t>(axis)].role == role;
    });
  };
  std::vector<const Op*> beside;
  for (const Op* sink : level.sinks) {
    // Kernels that reduce in groups are no stages.
    if (sink->Is(Opcode::kScatter) ||
        (has_role(region.ReducedAxes(*sink), RegionAxisRole::kRow) &&
         !has_role(region.value_axes.find(sink->result(0))->second, RegionAxisRole::kFeature))) {
      beside.push_back(sink);
    }
  }
  return beside;
}

StatusOr<StagedKernel> MakeStagedProgram(const TileRegion& region, const RegionLevels& levels,
                                         size_t first, size_t end) {
  return Stager(region, levels, first, end).Make();
}

}  // namespace plimsoll
