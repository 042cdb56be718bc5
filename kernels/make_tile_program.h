// A region's values as a tile program.

#ifndef PLIMSOLL_KERNELS_MAKE_TILE_PROGRAM_H_
#define PLIMSOLL_KERNELS_MAKE_TILE_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "ir/status.h"
#include "kernels/tile_program.h"
#include "kernels/tile_region.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

struct RegionKernel {
  struct Result {
    // Of a sink, or of the region where it is written.
    const Value* value = nullptr;
    // The array that the kernel makes. Its first `outer` dimensions are still to be reduced.
    std::vector<int64_t> shape = {};
    size_t outer = 0;
    Opcode reducer = Opcode::kUnknown;
  };

  TileProgram program;
  std::vector<Value*> operands;
  std::vector<Result> results;
};

// A kernel for some of the sinks, and for values that are needed whole. Fails where kernels do not
// compute something of it.
StatusOr<RegionKernel> MakeTileProgram(const TileRegion& region, llvm::ArrayRef<const Op*> sinks,
                                       llvm::ArrayRef<const Value*> written);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_MAKE_TILE_PROGRAM_H_
