// The scratch of a call: a part for each worker, and behind these one that they have in common.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_SCRATCH_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_SCRATCH_H_

#include <cstdint>

#include "ir/status.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// Where each part begins, and each array within one.
inline constexpr int64_t kScratchAlignment = 64;

struct ScratchNeed {
  int64_t worker_bytes = 0;
  int64_t common_bytes = 0;

  // With room to align it.
  int64_t BytesFor(int64_t workers) const {
    return worker_bytes * workers + common_bytes + kScratchAlignment;
  }
};

struct KernelScratch {
  char* workers = nullptr;
  char* common = nullptr;
  int64_t worker_count = 0;  // As many as are wanted, or as there is room for.
};

// Fails if there is no room for one.
StatusOr<KernelScratch> ShareScratch(llvm::MutableArrayRef<char> scratch, const ScratchNeed& need,
                                     int64_t wanted_workers);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_SCRATCH_H_
