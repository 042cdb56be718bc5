// A region's values as a tile program.

#ifndef PLIMSOLL_KERNELS_MAKE_TILE_PROGRAM_H_
#define PLIMSOLL_KERNELS_MAKE_TILE_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/status.h"
#include "kernels/tile_program.h"
#include "kernels/tile_region.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace plimsoll {

// What earlier stages of the same kernel have made of a region.
struct EarlierStages {
  // Values of the region that are read rather than made again: the axis of each dimension.
  llvm::DenseMap<const Value*, std::vector<int>> values;
  // Results of sinks, for each row.
  llvm::DenseSet<const Value*> results;
  // True if a value outside of the region is made of what earlier stages make.
  std::function<bool(const Value&)> depends;
};

struct RegionKernel {
  struct Result {
    // Of a sink, or of the region where it is written.
    const Value* value = nullptr;
    ScalarType type = ScalarType::kF32;
    // The array that the kernel makes. Its first `outer` dimensions are still to be reduced.
    std::vector<int64_t> shape = {};
    size_t outer = 0;
    // Then each dimension of the value is one of those that are left; empty if they are the same.
    std::vector<int64_t> permutation = {};
    Opcode reducer = Opcode::kUnknown;
  };

  TileProgram program;
  std::vector<Value*> operands;
  // Of sinks, of values that are needed whole, then of panels.
  std::vector<Result> results;
  // Values of the region that it makes.
  std::vector<const Value*> made;
};

// A kernel for some of the sinks, and for values that are needed whole. Fails where kernels do not
// compute something of it.
StatusOr<RegionKernel> MakeTileProgram(const TileRegion& region, llvm::ArrayRef<const Op*> sinks,
                                       llvm::ArrayRef<const Value*> written);

// Values of the region for later stages, with their axes.
using StagePanels = std::vector<std::pair<const Value*, std::vector<int>>>;

// One stage of a kernel.
StatusOr<RegionKernel> MakeStageProgram(const TileRegion& region, llvm::ArrayRef<const Op*> sinks,
                                        llvm::ArrayRef<const Value*> written,
                                        const StagePanels& panels, const EarlierStages& earlier);

// A stage that multiplies what an earlier stage has made. The rows and columns of the region's
// roles are those of the product, and what it sums over is long.
StatusOr<RegionKernel> MakeProductProgram(const TileRegion& region, const Op& sink,
                                          const EarlierStages& earlier);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_MAKE_TILE_PROGRAM_H_
