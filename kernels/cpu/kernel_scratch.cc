#include "kernels/cpu/kernel_scratch.h"

#include <algorithm>

namespace plimsoll {

StatusOr<KernelScratch> ShareScratch(llvm::MutableArrayRef<char> scratch, const ScratchNeed& need,
                                     int64_t wanted_workers) {
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  const auto skipped =
      static_cast<int64_t>((kScratchAlignment - address % kScratchAlignment) % kScratchAlignment);
  const int64_t available = static_cast<int64_t>(scratch.size()) - skipped - need.common_bytes;
  const int64_t most = need.worker_bytes > 0 ? available / need.worker_bytes : wanted_workers;
  const int64_t workers = std::min(wanted_workers, most);
  if (available < 0 || workers < 1) {
    return Status(ErrorCode::kInternal, "a kernel was given too little scratch");
  }
  char* first = scratch.data() + skipped;
  return KernelScratch{
      .workers = first, .common = first + need.worker_bytes * workers, .worker_count = workers};
}

}  // namespace plimsoll
