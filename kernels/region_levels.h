// Which of a region's results need others of them first.

#ifndef PLIMSOLL_KERNELS_REGION_LEVELS_H_
#define PLIMSOLL_KERNELS_REGION_LEVELS_H_

#include <vector>

#include "analysis/block_view.h"
#include "ir/graph.h"
#include "kernels/tile_region.h"
#include "llvm/ADT/DenseMap.h"

namespace plimsoll {

// What can be made in one go.
struct RegionLevel {
  std::vector<const Op*> sinks;
  std::vector<const Value*> written;
};

struct RegionLevels {
  // Each needs the one before it.
  std::vector<RegionLevel> levels;
  // For each value of the block, how many levels must be there before it can be made.
  llvm::DenseMap<const Value*, int> needed;
};

// What one kernel of tiles makes of a level.
struct RegionPart {
  TileRegion region;
  RegionLevel level;
};

// A level by its kernels: what is reduced in groups has one of its own, whose rows are grouped.
std::vector<RegionPart> PartsOf(const TileRegion& region, const RegionLevel& level);

RegionLevels FindRegionLevels(const BlockView& view, const TileRegion& region);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_REGION_LEVELS_H_
