// Parts of a block whose big values need not exist as a whole: each of their elements is made, used
// and gone.

#ifndef PLIMSOLL_KERNELS_TILE_REGION_H_
#define PLIMSOLL_KERNELS_TILE_REGION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/block_view.h"
#include "ir/graph.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace plimsoll {

// What an axis of a region is to its kernel.
enum class RegionAxisRole : uint8_t {
  kRow,
  kColumn,
  kBatch,
  kShort,
  kLong,
  kRank,
  kSegment,  // Groups of rows or columns; no value of the region has it.
  kFeature,  // Of products that reduce the row or the column; no value of the region has it.
};

// What is unrolled: positions along one axis, and numbers of one value.
inline constexpr int64_t kMostShort = 16;
inline constexpr int64_t kMostNumbers = 32;

struct RegionAxis {
  int64_t length = 0;
  RegionAxisRole role = RegionAxisRole::kBatch;
};

// Ops that make big values of small ones and of each other, and ops that reduce them.
struct TileRegion {
  // The big values, in the block's order. None of them is made outside of the region.
  llvm::SetVector<const Value*> values;
  // Those of them that others need whole.
  llvm::SetVector<const Value*> written;
  // Ops that make small values of big ones, in the block's order.
  llvm::SetVector<const Op*> sinks;
  std::vector<RegionAxis> axes;

  // The axis of each dimension; kNoAxis where the size is 1. Of values of the region, and of
  // results of sinks.
  llvm::DenseMap<const Value*, std::vector<int>> value_axes;
  // Of operands that are not of the region: the same value may be used along different axes.
  llvm::DenseMap<std::pair<const Op*, size_t>, std::vector<int>> operand_axes;

  const std::vector<int>& AxesOfOperand(const Op& op, size_t operand) const;
  // What a scatter reduces in groups.
  int GroupedAxis(const Op& scatter) const;
  // The axes that the op's operands have and its result does not.
  std::vector<int> ReducedAxes(const Op& op) const;
};

// True if a kernel can compute the op's result element by element.
bool IsTileable(const Op& op);

// Finds regions of a block, one value after the other.
class TileRegions {
 public:
  // The block must not change meanwhile.
  explicit TileRegions(const BlockView& view) : view_(view) {}

  // The region around a value; nothing, and why, if there is none that spares its memory.
  std::optional<TileRegion> Find(const Value& seed, std::string& reason);

 private:
  struct Hopeless {
    std::string reason;
    bool found_groups = false;
  };

  // Of values that are not smaller than the seed's share.
  std::optional<TileRegion> FindShare(const Value& seed, int64_t share, bool has_groups,
                                      bool& found_groups, std::string& reason);

  const BlockView& view_;
  // By how small values may be and whether there are groups: those that hang together and are no
  // region, whichever of them is the seed. Otherwise each value of a large program would be looked
  // at for each other one.
  std::map<std::pair<int64_t, bool>, llvm::DenseMap<const Value*, Hopeless>> hopeless_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_TILE_REGION_H_
