#include "kernels/region_levels.h"

#include <algorithm>
#include <cstddef>

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

}  // namespace plimsoll
