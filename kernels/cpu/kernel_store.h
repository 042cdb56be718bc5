// The kernels of this process: each is made once, from the disk if an earlier process has compiled
// it.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_STORE_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_STORE_H_

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "ir/status.h"
#include "kernels/cpu/compile_kernel.h"
#include "kernels/cpu/object_store.h"
#include "llvm/ADT/StringMap.h"

namespace plimsoll {

class KernelStore {
 public:
  // Keeps compiled code in the folder; with "" only in the process.
  explicit KernelStore(std::string folder);

  // The kernel of a tile program in text, which lives as long as the store. Several threads may
  // call this at once, and compile at once unless they want the same kernel.
  StatusOr<const CompiledKernel*> Find(std::string_view program);

 private:
  struct Entry {
    std::once_flag is_made;
    Status status;
    std::unique_ptr<CompiledKernel> kernel;
  };

  Entry& EntryOf(std::string_view program);
  StatusOr<std::unique_ptr<CompiledKernel>> Make(std::string_view program);

  ObjectStore objects_;
  std::shared_mutex mutex_;  // Of the map; its entries stay where they are.
  llvm::StringMap<Entry> entries_;
};

// In the store of this process, whose folder is in the user's cache.
StatusOr<const CompiledKernel*> FindKernel(std::string_view program);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_STORE_H_
