#include "kernels/tile_region.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "analysis/op_class.h"
#include "analysis/reducers.h"
#include "kernels/grouped_reduction.h"
#include "kernels/scalar_type.h"
#include "kernels/shared_axes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Values of so many times fewer elements than the largest still belong to the region, if that does
// not make one axis of two.
constexpr int64_t kShares[] = {64, 16, 4, 1};
// Products with more columns are made as such, if there is room for it.
constexpr int64_t kMostShortFeature = 8;

int64_t ElementCount(const Value& value) { return value.type().element_count().value_or(0); }

bool IsTensorOfNumbers(const Value& value) {
  return value.type().Is(TypeKind::kTensor) && value.type().has_static_shape() &&
         ScalarTypeOf(value.type().element_type()).has_value();
}

// True if the op finds the best elements and their positions.
bool IsRanking(const Op& op) { return op.Is(Opcode::kChloTopK) || ArgReducerOf(op).has_value(); }

// One dimension of a value, or of an operand that is used in one place.
struct Node {
  const void* owner = nullptr;  // A value, or the op that uses an operand.
  size_t operand = 0;
  size_t dimension = 0;

  auto operator<=>(const Node&) const = default;
};

class RegionBuilder {
 public:
  // Of values with so many elements or more. Without groups, what is reduced in groups is needed
  // whole.
  RegionBuilder(const BlockView& view, const Value& seed, int64_t least_elements, bool has_groups)
      : view_(view), seed_(seed), least_elements_(least_elements), has_groups_(has_groups) {}

  bool found_groups() const { return found_groups_; }
  // What hangs together with the seed, if its axes make no region with any other seed either.
  llvm::ArrayRef<const Value*> hopeless() const { return hopeless_; }

  std::optional<TileRegion> Build(std::string& reason) {
    Grow();
    // Values without a row or a column are made outside, which may make two axes of one.
    for (bool is_first = true;; is_first = false) {
      FindSinks();
      if (!FindAxes(reason)) {
        if (is_first) hopeless_.assign(region_.values.begin(), region_.values.end());
        return std::nullopt;
      }
      if (!ChooseRoles(reason)) return std::nullopt;
      std::vector<const Value*> outside;
      for (const Value* value : region_.values) {
        if (!HasRowAndColumn(*value)) outside.push_back(value);
      }
      if (outside.empty()) break;
      for (const Value* value : outside) region_.values.remove(value);
      if (!region_.values.contains(&seed_)) {
        reason = "it has no two axes along which a kernel could run";
        return std::nullopt;
      }
      KeepConnected();
    }
    if (llvm::none_of(region_.sinks, [&](const Op* sink) { return ReducesRowOrColumn(*sink); })) {
      reason = whole_reason_.empty() ? "nothing reduces it" : whole_reason_;
      return std::nullopt;
    }
    const bool spares = llvm::any_of(region_.values, [&](const Value* value) {
      return !region_.written.contains(value) &&
             ClassOf(*value->defining_op()) != OpClass::kConstant;
    });
    if (!spares) {
      reason = whole_reason_.empty() ? "all of it is needed whole" : whole_reason_;
      return std::nullopt;
    }
    return std::move(region_);
  }

 private:
  bool CanBeInside(const Value& value) const {
    const Op* op = value.defining_op();
    return op != nullptr && op->block() == &view_.block() && IsTileable(*op) &&
           ElementCount(value) >= least_elements_;
  }

  // All values that hang together with the seed.
  void Grow() {
    llvm::SetVector<const Value*> found;
    found.insert(&seed_);
    for (size_t i = 0; i < found.size(); ++i) {
      const Value& value = *found[i];
      for (const Value* operand : value.defining_op()->operands()) {
        if (CanBeInside(*operand)) found.insert(operand);
      }
      for (const Op* user : view_.UsersOf(value)) {
        if (!IsTileable(*user) && !IsRanking(*user)) continue;
        if (CanBeInside(*user->result(0))) found.insert(user->result(0));
        // What is reduced together is in one kernel.
        for (const Value* operand : user->operands()) {
          if (CanBeInside(*operand)) found.insert(operand);
        }
      }
    }
    SetValues(found);
  }

  // What still hangs together with the seed.
  void KeepConnected() {
    llvm::SetVector<const Value*> found;
    found.insert(&seed_);
    for (size_t i = 0; i < found.size(); ++i) {
      const auto add = [&](const Value* value) {
        if (region_.values.contains(value)) found.insert(value);
      };
      for (const Value* operand : found[i]->defining_op()->operands()) add(operand);
      for (const Op* user : view_.UsersOf(*found[i])) {
        if (!IsTileable(*user) && !IsRanking(*user)) continue;
        add(user->result(0));
        for (const Value* operand : user->operands()) add(operand);
      }
    }
    SetValues(found);
  }

  void SetValues(const llvm::SetVector<const Value*>& found) {
    is_cheap_.clear();
    region_.values.clear();
    for (const Op* op : view_.ops()) {
      if (op->result_count() == 1 && found.contains(op->result(0))) {
        region_.values.insert(op->result(0));
      }
    }
  }

  // A scatter that reduces in groups what only it takes from the region.
  bool IsGroupedReduction(const Op& op) {
    if (region_.values.contains(op.operand(0)) || region_.values.contains(op.operand(1)) ||
        !llvm::all_of(op.operands(), [](const Value* v) { return IsTensorOfNumbers(*v); })) {
      return false;
    }
    const StatusOr<GroupedReduction> found = GroupedReductionOf(op);
    if (!found.ok()) whole_reason_ = StrCat("needed whole by ", found.status().message());
    found_groups_ |= found.ok();
    return found.ok() && has_groups_;
  }

  // An op that makes a small value of big ones: the rest of the program sees that only.
  bool IsSink(const Op& op) {
    if (op.Is(Opcode::kScatter)) return IsGroupedReduction(op);
    if (IsRanking(op)) {
      return llvm::all_of(op.operands(), [](const Value* v) { return IsTensorOfNumbers(*v); }) &&
             llvm::all_of(op.results(), [](const Value* v) { return IsTensorOfNumbers(*v); });
    }
    return (op.Is(Opcode::kReduce) || op.Is(Opcode::kDotGeneral)) && IsTileable(op) &&
           !region_.values.contains(op.result(0));
  }

  void FindSinks() {
    region_.sinks.clear();
    region_.written.clear();
    llvm::DenseSet<const Op*> sinks;
    for (const Value* value : region_.values) {
      for (const Op* user : view_.UsersOf(*value)) {
        if (user->result_count() == 1 && region_.values.contains(user->result(0))) continue;
        if (IsSink(*user)) {
          sinks.insert(user);
        } else {
          region_.written.insert(value);
        }
      }
    }
    for (const Op* op : view_.ops()) {
      if (sinks.contains(op)) region_.sinks.insert(op);
    }
  }

  Node OperandNode(const Op& op, size_t operand, size_t dimension) const {
    const Value* value = op.operand(operand);
    if (region_.values.contains(value)) return {.owner = value, .dimension = dimension};
    return {.owner = &op, .operand = operand + 1, .dimension = dimension};
  }

  static Node ResultNode(const Op& op, size_t dimension, size_t result = 0) {
    return {.owner = op.result(result), .dimension = dimension};
  }

  void Join(const Node& a, const Node& b) { classes_.join(nodes_.at(a), nodes_.at(b)); }

  void Relate(const Op& op) {
    const auto node = [&](const OpDimension& place) {
      return place.is_result ? ResultNode(op, place.dimension, place.number)
                             : OperandNode(op, place.number, place.dimension);
    };
    ForEachSharedAxis(op,
                      [&](const OpDimension& a, const OpDimension& b) { Join(node(a), node(b)); });
  }

  void ForEachOp(llvm::function_ref<void(const Op&)> visit) const {
    for (const Value* value : region_.values) visit(*value->defining_op());
    for (const Op* sink : region_.sinks) visit(*sink);
  }

  bool FindAxes(std::string& reason) {
    region_.axes.clear();
    region_.value_axes.clear();
    region_.operand_axes.clear();
    // All nodes in a fixed order, which numbers the axes.
    std::vector<std::pair<Node, int64_t>> nodes;
    ForEachOp([&](const Op& op) {
      for (size_t result = 0; result < op.result_count(); ++result) {
        for (size_t i = 0; i < op.result(result)->type().rank(); ++i) {
          nodes.emplace_back(ResultNode(op, i, result), op.result(result)->type().shape()[i]);
        }
      }
      for (size_t operand = 0; operand < op.operand_count(); ++operand) {
        for (size_t i = 0; i < op.operand(operand)->type().rank(); ++i) {
          nodes.emplace_back(OperandNode(op, operand, i), op.operand(operand)->type().shape()[i]);
        }
      }
    });
    nodes_.clear();
    for (const auto& [node, size] : nodes) nodes_.emplace(node, nodes_.size());
    classes_.clear();
    classes_.grow(static_cast<unsigned>(nodes_.size()));
    ForEachOp([&](const Op& op) { Relate(op); });
    classes_.compress();
    std::map<unsigned, int> numbers;
    std::map<Node, int> axis_of;
    for (const auto& [node, size] : nodes) {
      if (size == 1) {
        axis_of[node] = kNoAxis;
        continue;
      }
      const auto [found, is_new] =
          numbers.emplace(classes_[nodes_.at(node)], static_cast<int>(region_.axes.size()));
      if (is_new) region_.axes.push_back({.length = size});
      if (region_.axes[static_cast<size_t>(found->second)].length != size) {
        reason = "its axes have several lengths";
        return false;
      }
      axis_of[node] = found->second;
    }
    if (region_.axes.size() > kMostAxes) {
      reason = "it has too many axes";
      return false;
    }
    bool is_right = true;
    const auto keep = [&](const Value& value, llvm::function_ref<Node(size_t)> node,
                          std::vector<int>& axes) {
      axes.clear();
      for (size_t i = 0; i < value.type().rank(); ++i) {
        const int axis = axis_of[node(i)];
        if (axis != kNoAxis && llvm::is_contained(axes, axis)) is_right = false;
        axes.push_back(axis);
      }
    };
    ForEachOp([&](const Op& op) {
      for (size_t result = 0; result < op.result_count(); ++result) {
        keep(
            *op.result(result), [&](size_t i) { return ResultNode(op, i, result); },
            region_.value_axes[op.result(result)]);
      }
      for (size_t operand = 0; operand < op.operand_count(); ++operand) {
        const Value* value = op.operand(operand);
        if (region_.values.contains(value)) continue;
        keep(
            *value, [&](size_t i) { return OperandNode(op, operand, i); },
            region_.operand_axes[{&op, operand}]);
      }
    });
    if (!is_right) reason = "it is used along two axes at once";
    return is_right;
  }

  bool HasAxis(const Value& value, int axis) const {
    return llvm::is_contained(region_.value_axes.find(&value)->second, axis);
  }

  bool HasRowAndColumn(const Value& value) const {
    bool has_row = false;
    bool has_column = false;
    for (const int axis : region_.value_axes.find(&value)->second) {
      if (axis == kNoAxis) continue;
      const RegionAxisRole role = region_.axes[static_cast<size_t>(axis)].role;
      has_row |= role == RegionAxisRole::kRow;
      has_column |= role == RegionAxisRole::kColumn;
    }
    return has_row && has_column;
  }

  bool ReducesRowOrColumn(const Op& op) const {
    return llvm::any_of(region_.ReducedAxes(op), [&](int axis) {
      const RegionAxisRole role = region_.axes[static_cast<size_t>(axis)].role;
      return role == RegionAxisRole::kRow || role == RegionAxisRole::kColumn;
    });
  }

  // True if nothing that is as large as the batch is left to be reduced outside.
  bool CanBeBatch(int axis, int first, int second) const {
    return llvm::all_of(region_.sinks, [&](const Op* sink) {
      const std::vector<int> reduced = region_.ReducedAxes(*sink);
      return !llvm::is_contained(reduced, axis) || llvm::is_contained(reduced, first) ||
             llvm::is_contained(reduced, second);
    });
  }

  // The positions in the order of a ranking.
  bool IsRankAxis(int axis) const {
    return llvm::any_of(region_.sinks, [&](const Op* sink) {
      return sink->Is(Opcode::kChloTopK) &&
             region_.value_axes.find(sink->result(0))->second.back() == axis;
    });
  }

  // One position for each group of a sink.
  bool IsSegmentAxis(int axis) const {
    return llvm::any_of(region_.sinks, [&](const Op* sink) {
      if (!sink->Is(Opcode::kScatter)) return false;
      const size_t dimension = GroupedReductionOf(*sink)->segment;
      return region_.value_axes.find(sink->result(0))->second[dimension] == axis;
    });
  }

  bool IsResultAxis(int axis) const {
    return llvm::any_of(region_.sinks, [&](const Op* sink) {
      return llvm::is_contained(region_.value_axes.find(sink->result(0))->second, axis);
    });
  }

  // True if the value depends on nothing but positions, as a mask does, or is cheap to make of what
  // is read, as a bias of positions is, and only others of the region need it: then each element of
  // a batch makes its own.
  bool IsMadeAnew(const Value& value) {
    const bool is_needed =
        region_.written.contains(&value) || llvm::any_of(region_.sinks, [&](const Op* sink) {
          return llvm::is_contained(sink->operands(), &value);
        });
    return !is_needed && (IsMadeOfPositions(value) || IsCheap(value));
  }

  bool IsCheap(const Value& value) {
    if (!region_.values.contains(&value)) return true;
    if (const auto known = is_cheap_.find(&value); known != is_cheap_.end()) return known->second;
    const Op& op = *value.defining_op();
    const OpClass op_class = ClassOf(op);
    return is_cheap_[&value] =
               (op_class == OpClass::kCheap || op_class == OpClass::kConstant) &&
               region_.ReducedAxes(op).empty() &&
               llvm::all_of(op.operands(), [&](const Value* operand) { return IsCheap(*operand); });
  }

  bool IsMadeOfPositions(const Value& value) {
    const Op* op = value.defining_op();
    if (op == nullptr || !IsTileable(*op)) return false;
    const auto known = is_made_of_positions_.find(&value);
    if (known != is_made_of_positions_.end()) return known->second;
    return is_made_of_positions_[&value] = llvm::all_of(
               op->operands(), [&](const Value* operand) { return IsMadeOfPositions(*operand); });
  }

  // What the axes other than two are, if these are the row and the column. False if that is no
  // kernel.
  bool SetRoles(int first, int second) {
    for (const Op* sink : region_.sinks) {
      if (!sink->Is(Opcode::kScatter)) continue;
      const int grouped = region_.GroupedAxis(*sink);
      if (grouped != first && grouped != second) return false;
    }
    for (size_t i = 0; i < region_.axes.size(); ++i) {
      const int axis = static_cast<int>(i);
      RegionAxis& info = region_.axes[i];
      if (axis == first || axis == second) {
        info.role = axis == first ? RegionAxisRole::kRow : RegionAxisRole::kColumn;
        continue;
      }
      if (IsRankAxis(axis) || IsSegmentAxis(axis)) {
        info.role = IsRankAxis(axis) ? RegionAxisRole::kRank : RegionAxisRole::kSegment;
        continue;
      }
      // Values without it are made outside if they are without the row or the column as well.
      bool is_everywhere = true;
      bool is_anywhere = false;
      bool is_folded = false;
      for (const Value* value : region_.values) {
        if (!HasAxis(*value, first) || !HasAxis(*value, second)) continue;
        is_everywhere &= HasAxis(*value, axis) || IsMadeAnew(*value);
        is_anywhere |= HasAxis(*value, axis);
        is_folded |= llvm::is_contained(region_.ReducedAxes(*value->defining_op()), axis);
        const Op& op = *value->defining_op();
        if (op.Is(Opcode::kIota)) {
          const auto dimension = static_cast<size_t>(op.Get("iota_dimension").integer());
          is_everywhere &= region_.value_axes.find(value)->second[dimension] != axis;
        }
      }
      if (is_everywhere && !is_folded && CanBeBatch(axis, first, second)) {
        info.role = RegionAxisRole::kBatch;
      } else if (info.length > kMostShortFeature && !is_anywhere && !is_folded &&
                 IsResultAxis(axis)) {
        info.role = RegionAxisRole::kFeature;
      } else if (info.length <= kMostShort) {
        info.role = RegionAxisRole::kShort;
      } else if (IsResultAxis(axis)) {
        return false;
      } else {
        info.role = RegionAxisRole::kLong;
      }
    }
    return HasFewNumbers(first, second);
  }

  bool HasFewNumbers(int first, int second) const {
    const auto is_few = [&](const std::vector<int>& axes) {
      int64_t count = 1;
      for (const int axis : axes) {
        if (axis == kNoAxis) continue;
        const RegionAxis& info = region_.axes[static_cast<size_t>(axis)];
        if (info.role == RegionAxisRole::kShort) count *= info.length;
      }
      return count <= kMostNumbers;
    };
    return llvm::all_of(region_.values,
                        [&](const Value* value) {
                          return !HasAxis(*value, first) || !HasAxis(*value, second) ||
                                 is_few(region_.value_axes.find(value)->second);
                        }) &&
           llvm::all_of(region_.sinks, [&](const Op* sink) {
             return is_few(region_.value_axes.find(sink->result(0))->second);
           });
  }

  // How well columns fit the axis: what is reduced over columns stays in registers, and vectors lie
  // along the last dimension of what is read and written.
  int64_t ColumnScore(int axis) const {
    int64_t score = 0;
    for (const Op* sink : region_.sinks) {
      if (!llvm::is_contained(region_.ReducedAxes(*sink), axis)) continue;
      // The best are found along columns only, and what is grouped are rows.
      score += IsRanking(*sink) ? 100 : sink->Is(Opcode::kScatter) ? -4 : 4;
    }
    for (const Value* value : region_.written) {
      const std::vector<int>& axes = region_.value_axes.find(value)->second;
      if (!axes.empty() && axes.back() == axis) score += 3;
    }
    for (const auto& [place, axes] : region_.operand_axes) {
      if (!axes.empty() && axes.back() == axis) score += 1;
    }
    return score;
  }

  bool ChooseRoles(std::string& reason) {
    const std::vector<int>& axes = region_.value_axes.find(&seed_)->second;
    int64_t best = 0;
    std::pair<int, int> chosen;
    for (size_t i = 0; i < axes.size(); ++i) {
      for (size_t j = i + 1; j < axes.size(); ++j) {
        if (axes[i] == kNoAxis || axes[j] == kNoAxis) continue;
        const int64_t size = region_.axes[static_cast<size_t>(axes[i])].length *
                             region_.axes[static_cast<size_t>(axes[j])].length;
        if (size > best && SetRoles(axes[i], axes[j])) {
          best = size;
          chosen = {axes[i], axes[j]};
        }
      }
    }
    if (best == 0) {
      reason = "it has no two axes along which a kernel could run";
      return false;
    }
    if (ColumnScore(chosen.first) > ColumnScore(chosen.second)) {
      std::swap(chosen.first, chosen.second);
    }
    return SetRoles(chosen.first, chosen.second);
  }

  const BlockView& view_;
  const Value& seed_;
  int64_t least_elements_;
  bool has_groups_;
  bool found_groups_ = false;
  std::vector<const Value*> hopeless_;
  // Of values that were asked for already: each may be used in many ways.
  llvm::DenseMap<const Value*, bool> is_cheap_;
  llvm::DenseMap<const Value*, bool> is_made_of_positions_;
  std::string whole_reason_;  // Why a scatter needs a value whole; empty if none does.
  TileRegion region_;
  // All dimensions, and which of them are one axis.
  std::map<Node, unsigned> nodes_;
  llvm::IntEqClasses classes_;
};

}  // namespace

bool IsTileable(const Op& op) {
  if (op.result_count() != 1 || op.region_count() > 1 || !IsTensorOfNumbers(*op.result(0))) {
    return false;
  }
  if (!llvm::all_of(op.operands(), [](const Value* v) { return IsTensorOfNumbers(*v); })) {
    return false;
  }
  switch (op.opcode()) {
    case Opcode::kBroadcastInDim:
    case Opcode::kTranspose:
    case Opcode::kIota:
    case Opcode::kDotGeneral:
      return true;
    case Opcode::kConstant:
      return IsUniform(op.result(0));
    case Opcode::kReshape:
      return MatchReshape(op).has_value();
    case Opcode::kReduce:
      return ReductionOf(op).has_value();
    case Opcode::kBitcastConvert:
      return op.operand(0)->type().rank() == op.result(0)->type().rank();
    default:
      return IsTileOpcode(op.opcode());
  }
}

const std::vector<int>& TileRegion::AxesOfOperand(const Op& op, size_t operand) const {
  const auto found = value_axes.find(op.operand(operand));
  if (values.contains(op.operand(operand))) return found->second;
  return operand_axes.find({&op, operand})->second;
}

int TileRegion::GroupedAxis(const Op& scatter) const {
  return AxesOfOperand(scatter, 2)[GroupedReductionOf(scatter)->grouped];
}

std::vector<int> TileRegion::ReducedAxes(const Op& op) const {
  std::vector<int> reduced;
  const std::vector<int>& kept = value_axes.find(op.result(0))->second;
  for (size_t i = 0; i < op.operand_count(); ++i) {
    for (const int axis : AxesOfOperand(op, i)) {
      if (axis != kNoAxis && !llvm::is_contained(kept, axis) &&
          !llvm::is_contained(reduced, axis)) {
        reduced.push_back(axis);
      }
    }
  }
  return reduced;
}

std::optional<TileRegion> TileRegions::Find(const Value& seed, std::string& reason) {
  const Op* op = seed.defining_op();
  if (op == nullptr || !IsTileable(*op)) {
    reason = "kernels do not compute it";
    return std::nullopt;
  }
  bool found_groups = false;
  for (const int64_t share : kShares) {
    if (std::optional<TileRegion> region = FindShare(seed, share, true, found_groups, reason)) {
      return region;
    }
  }
  if (!found_groups) return std::nullopt;
  for (const int64_t share : kShares) {
    std::string second_reason;
    std::optional<TileRegion> region = FindShare(seed, share, false, found_groups, second_reason);
    if (region) return region;
  }
  return std::nullopt;
}

std::optional<TileRegion> TileRegions::FindShare(const Value& seed, int64_t share, bool has_groups,
                                                 bool& found_groups, std::string& reason) {
  const int64_t least_elements = (ElementCount(seed) + share - 1) / share;
  llvm::DenseMap<const Value*, Hopeless>& hopeless = hopeless_[{least_elements, has_groups}];
  if (const auto found = hopeless.find(&seed); found != hopeless.end()) {
    found_groups |= found->second.found_groups;
    reason = found->second.reason;
    return std::nullopt;
  }
  RegionBuilder builder(view_, seed, least_elements, has_groups);
  std::optional<TileRegion> region = builder.Build(reason);
  found_groups |= builder.found_groups();
  for (const Value* value : builder.hopeless()) {
    hopeless[value] = {.reason = reason, .found_groups = builder.found_groups()};
  }
  return region;
}

}  // namespace plimsoll
