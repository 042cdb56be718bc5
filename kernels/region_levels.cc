#include "kernels/region_levels.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace plimsoll {

RegionLevels FindRegionLevels(const BlockView& view, const TileRegion& region) {
  RegionLevels found;
  const auto level_of = [&](int level) -> RegionLevel& {
    const auto place = static_cast<size_t>(level);
    if (found.levels.size() <= place) found.levels.resize(place + 1);
    return found.levels[place];
  };
  for (const Op* op : view.ops()) {
    const bool is_inside = op->result_count() == 1 && region.values.contains(op->result(0));
    const bool is_sink = region.sinks.contains(op);
    int level = 0;
    const auto take = [&](const Value* value) {
      const bool is_from_kernel = !is_inside && !is_sink && region.written.contains(value);
      level = std::max(level, found.needed.lookup(value) + (is_from_kernel ? 1 : 0));
    };
    for (const Value* operand : op->operands()) take(operand);
    for (const Value* captured : view.Captured(*op)) take(captured);
    if (is_sink) level_of(level).sinks.push_back(op);
    if (is_inside && region.written.contains(op->result(0))) {
      level_of(level).written.push_back(op->result(0));
    }
    for (const Value* result : op->results()) found.needed[result] = level + (is_sink ? 1 : 0);
  }
  return found;
}

std::vector<RegionPart> PartsOf(const TileRegion& region, const RegionLevel& level) {
  // Rows in groups, then columns in groups, which are the rows of a turned region.
  RegionLevel grouped[2];
  RegionLevel others = {.sinks = {}, .written = level.written};
  for (const Op* sink : level.sinks) {
    if (!sink->Is(Opcode::kScatter)) {
      others.sinks.push_back(sink);
      continue;
    }
    const auto axis = static_cast<size_t>(region.GroupedAxis(*sink));
    grouped[region.axes[axis].role == RegionAxisRole::kRow ? 0 : 1].sinks.push_back(sink);
  }
  RegionLevel& first = grouped[grouped[0].sinks.empty() ? 1 : 0];
  if (others.sinks.empty() && !first.sinks.empty()) std::swap(first.written, others.written);
  std::vector<RegionPart> parts;
  for (RegionLevel* part : {&others, &grouped[0]}) {
    if (part->sinks.empty() && part->written.empty()) continue;
    parts.push_back({.region = region, .level = std::move(*part)});
  }
  if (grouped[1].sinks.empty()) return parts;
  parts.push_back({.region = region, .level = std::move(grouped[1])});
  for (RegionAxis& axis : parts.back().region.axes) {
    if (axis.role == RegionAxisRole::kRow) {
      axis.role = RegionAxisRole::kColumn;
    } else if (axis.role == RegionAxisRole::kColumn) {
      axis.role = RegionAxisRole::kRow;
    }
  }
  return parts;
}

}  // namespace plimsoll
