// Replaces parts of a program whose big values need not exist, and whole loops, by calls of
// kernels.

#ifndef PLIMSOLL_KERNELS_INSERT_KERNELS_H_
#define PLIMSOLL_KERNELS_INSERT_KERNELS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/context.h"
#include "ir/graph.h"
#include "ir/status.h"
#include "kernels/loop_program.h"
#include "kernels/staged_program.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// What XLA knows the kernels by.
inline constexpr std::string_view kKernelTarget = "plimsoll_kernel";
// The option of a call that holds its program as text: of tiles, of stages or of a loop.
inline constexpr std::string_view kKernelProgram = "program";

struct KernelCost {
  int64_t scratch_bytes = 0;
  double seconds = 0;
};

// What a kernel takes for axes of these lengths; an error if it cannot be made. With more scratch
// than `most_scratch`, fewer threads take part, down to one.
using CostOfKernel = std::function<StatusOr<KernelCost>(
    const TileProgram& program, llvm::ArrayRef<int64_t> lengths, int64_t most_scratch)>;

// The same for a kernel of stages, of operands and results of these shapes.
using CostOfStages = std::function<StatusOr<KernelCost>(
    const StagedProgram& program, llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
    llvm::ArrayRef<llvm::ArrayRef<int64_t>> results, int64_t most_scratch)>;

// The same for a kernel with a loop inside, for a batch and a number of turns.
using CostOfLoop =
    std::function<StatusOr<KernelCost>(const LoopProgram& program, int64_t batch, int64_t turns)>;

// Null for kinds that there are to be none of.
struct KernelCosts {
  CostOfKernel tiles = nullptr;
  CostOfStages stages = nullptr;
  CostOfLoop loops = nullptr;
};

struct KernelOptions {
  // Values of more bytes are not to exist, if a kernel can do without them.
  int64_t least_bytes = 1 << 20;
  // XLA is to be slower by this factor.
  double least_gain = 0;
  // What a kernel may have of scratch, if it can do with that.
  int64_t most_scratch = INT64_MAX;
  KernelCosts costs;
};

struct InsertedKernel {
  std::string program;  // As text.
  double seconds = 0;   // That it is thought to take.
  int64_t scratch_bytes = 0;
  Location location;         // Of the largest value that it spares, or of the loop that it runs.
  int64_t spared_bytes = 0;  // 0 for loops.
  std::string spared_type = {};
};

// A big value that no kernel does without, and why.
struct RefusedKernel {
  int64_t bytes = 0;
  std::string type;
  Location location;
  std::string reason;
};

struct KernelReport {
  std::vector<InsertedKernel> inserted;
  std::vector<RefusedKernel> refused;
};

// In the block and all blocks inside of it.
StatusOr<KernelReport> InsertKernels(Context& context, Block& block, const KernelOptions& options);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_INSERT_KERNELS_H_
