// Which calls of kernels have the same points along rows and columns, so that one of each two pairs
// is enough. A program does not always tell: two arguments may hold the same numbers.

#ifndef PLIMSOLL_KERNELS_CPU_FIND_MIRRORED_H_
#define PLIMSOLL_KERNELS_CPU_FIND_MIRRORED_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/kernel_store.h"
#include "kernels/cpu/run_mirrored.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

struct MirroredCall {
  const CompiledStages* stages = nullptr;  // Lives as long as the process.
  MirroredLayout layout;
};

// For a kernel in text, of tiles or of stages. Nothing if the arrays are not the same, if it is not
// thought to be faster, or if there is too little scratch.
std::optional<MirroredCall> FindMirrored(std::string_view program,
                                         llvm::ArrayRef<KernelArray> operands,
                                         llvm::ArrayRef<KernelArray> results,
                                         int64_t scratch_bytes);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_FIND_MIRRORED_H_
