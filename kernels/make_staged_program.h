// Several levels of a region as one kernel of stages.

#ifndef PLIMSOLL_KERNELS_MAKE_STAGED_PROGRAM_H_
#define PLIMSOLL_KERNELS_MAKE_STAGED_PROGRAM_H_

#include <cstddef>
#include <vector>

#include "ir/graph.h"
#include "ir/status.h"
#include "kernels/make_tile_program.h"
#include "kernels/region_levels.h"
#include "kernels/staged_program.h"
#include "kernels/tile_region.h"

namespace plimsoll {

struct StagedKernel {
  StagedProgram program;
  std::vector<Value*> operands;
  std::vector<RegionKernel::Result> results;
};

// Sinks that stages do not compute: sums over rows that are no products.
std::vector<const Op*> SinksBesideStages(const TileRegion& region, const RegionLevel& level);

// For the levels from `first` to before `end`. Fails where kernels do not compute something of it,
// where a level needs more of an earlier one than its own rows, and where nothing is handed on from
// stage to stage, unless a mask may hide columns. Leaves the sinks above to others.
StatusOr<StagedKernel> MakeStagedProgram(const TileRegion& region, const RegionLevels& levels,
                                         size_t first, size_t end);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_MAKE_STAGED_PROGRAM_H_
