#include "plan/axis_origin.h"

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "analysis/axis_rules.h"
#include "analysis/block_view.h"
#include "ir/status.h"

namespace plimsoll {
namespace {

using Axis = std::pair<const Value*, int>;

bool IsFunctionArgument(const Value& value) {
  return value.is_argument() && value.block()->parent()->Is(Opcode::kFunc);
}

// The values from which this one has its axis.
std::vector<Axis> Before(const Axis& axis) {
  const auto& [value, dimension] = axis;
  if (value->is_argument()) {
    // A loop's state has its axes from the values that it starts with.
    const Op* loop = value->block()->parent();
    if (!loop->Is(Opcode::kWhile)) return {};
    return {{loop->operand(value->index()), dimension}};
  }
  const Op& op = *value->defining_op();
  if (op.Is(Opcode::kWhile)) return {{op.operand(value->index()), dimension}};
  std::vector<Axis> before;
  for (const Factor& factor : AxisRuleOf(op).factors) {
    if (factor.results[value->index()] != dimension) continue;
    for (size_t i = 0; i < op.operand_count(); ++i) {
      if (factor.operands[i] >= 0) before.emplace_back(op.operand(i), factor.operands[i]);
    }
  }
  return before;
}

// The argument from which the axes come.
std::string OriginOf(std::vector<Axis> axes) {
  std::set<Axis> seen(axes.begin(), axes.end());
  // Several arguments may share the axis. The largest says most: points rather than their weights.
  Axis origin = {nullptr, 0};
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis axis = axes[i];
    if (IsFunctionArgument(*axis.first) &&
        (origin.first == nullptr || BytesOf(*axis.first) > BytesOf(*origin.first))) {
      origin = axis;
    }
    for (const Axis& before : Before(axis)) {
      if (seen.insert(before).second) axes.push_back(before);
    }
  }
  if (origin.first == nullptr) return "";
  return StrCat("axis ", origin.second, " of ", ArgumentName(*origin.first));
}

}  // namespace

std::string AxisOrigin(const Value& value, int dimension) {
  return OriginOf({{&value, dimension}});
}

std::string AxisOrigin(const Cut& cut) {
  std::string origin = AxisOrigin(*cut.seed, cut.dimension);
  if (!origin.empty()) return origin;
  std::vector<Axis> sliced;
  for (const auto& [op, entry] : cut.ops) {
    for (size_t i = 0; i < op->operand_count(); ++i) {
      const int dimension = entry.factor.operands[i];
      if (dimension >= 0) sliced.emplace_back(op->operand(i), dimension);
    }
  }
  origin = OriginOf(std::move(sliced));
  if (!origin.empty()) return origin;
  return StrCat("axis ", cut.dimension, " of ", cut.seed->type().ToString());
}

}  // namespace plimsoll
