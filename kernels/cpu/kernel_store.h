// The kernels of this process: each is made once, from the disk if an earlier process has compiled
// it.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_STORE_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_STORE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ir/status.h"
#include "kernels/cpu/compile_kernel.h"
#include "kernels/cpu/compile_loop.h"
#include "kernels/cpu/object_store.h"
#include "kernels/staged_program.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace plimsoll {

struct CompiledStages {
  StagedProgram program;
  std::vector<const CompiledKernel*> kernels;  // One for each stage, of the same store.
};

class KernelStore {
 public:
  // Keeps compiled code in the folder; with "" only in the process.
  explicit KernelStore(std::string folder);

  // The kernel of a tile program in text, which lives as long as the store. Several threads may
  // call this at once, and compile at once unless they want the same kernel.
  StatusOr<const CompiledKernel*> Find(std::string_view program);
  // The same in the shape that is fastest: all are timed once, and that one is kept for later
  // processes. Others of this one may use the usual shape until then.
  using TimeKernel = llvm::function_ref<StatusOr<double>(const CompiledKernel& kernel)>;
  StatusOr<const CompiledKernel*> FindFastest(std::string_view program, TimeKernel time);
  // The same for a loop program.
  StatusOr<const CompiledLoop*> FindLoop(std::string_view program);
  // The same for a staged program.
  StatusOr<const CompiledStages*> FindStages(std::string_view program);
  // The kernels of all stages.
  StatusOr<std::vector<const CompiledKernel*>> FindAll(const StagedProgram& program);

  // A text that is kept for this processor and this build, under a name.
  std::optional<std::string> GetText(std::string_view name) const;
  void PutText(std::string_view name, std::string_view text);

 private:
  template <typename Kernel>
  struct Entry {
    std::once_flag is_made;
    std::once_flag is_timed;
    Status status;
    std::unique_ptr<Kernel> kernel;
    // In its fastest shape, if that is another one. The usual one stays, for those who use it.
    std::unique_ptr<Kernel> fastest;
  };
  template <typename Kernel>
  using Entries = llvm::StringMap<Entry<Kernel>>;

  template <typename Kernel>
  Entry<Kernel>& EntryOf(Entries<Kernel>& entries, std::string_view program);
  // With the function that makes the kernel of a program in text.
  template <typename Kernel, typename Make>
  StatusOr<const Kernel*> FindIn(Entries<Kernel>& entries, std::string_view program, Make make);

  // In the shape that was found to be fastest.
  KernelShape ShapeOf(std::string_view text, const TileProgram& program) const;
  StatusOr<std::unique_ptr<CompiledKernel>> FindFastestShape(std::string_view text,
                                                             const CompiledKernel& usual,
                                                             TimeKernel time);

  ObjectStore objects_;
  std::shared_mutex mutex_;  // Of the maps; their entries stay where they are.
  Entries<CompiledKernel> kernels_;
  Entries<CompiledLoop> loops_;
  Entries<CompiledStages> stages_;
};

// That of this process, whose folder is in the user's cache.
KernelStore& StoreOfProcess();

// In the store of this process.
StatusOr<const CompiledKernel*> FindKernel(std::string_view program);
StatusOr<const CompiledLoop*> FindLoopKernel(std::string_view program);
StatusOr<const CompiledStages*> FindStages(std::string_view program);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_STORE_H_
