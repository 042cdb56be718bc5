#include "kernels/cpu/kernel_store.h"

#include <memory>
#include <mutex>
#include <utility>

#include "kernels/loop_text.h"
#include "kernels/tile_text.h"
#include "llvm/ADT/StringMap.h"

namespace plimsoll {
namespace {

struct Store {
  std::mutex mutex;
  llvm::StringMap<std::unique_ptr<CompiledKernel>> kernels;
  llvm::StringMap<std::unique_ptr<CompiledLoop>> loops;
};

// Never destroyed: XLA's threads may outlive what the process destroys at its end.
Store& GetStore() {
  static auto* store = new Store();
  return *store;
}

}  // namespace

StatusOr<const CompiledKernel*> FindKernel(std::string_view program) {
  Store& store = GetStore();
  const std::lock_guard lock(store.mutex);
  std::unique_ptr<CompiledKernel>& kernel = store.kernels[program];
  if (kernel == nullptr) {
    ASSIGN_OR_RETURN(const TileProgram tiles, ReadTiles(program));
    ASSIGN_OR_RETURN(kernel, CompileKernel(tiles));
  }
  return kernel.get();
}

StatusOr<const CompiledLoop*> FindLoopKernel(std::string_view program) {
  Store& store = GetStore();
  const std::lock_guard lock(store.mutex);
  std::unique_ptr<CompiledLoop>& loop = store.loops[program];
  if (loop == nullptr) {
    ASSIGN_OR_RETURN(const LoopProgram read, ReadLoop(program));
    ASSIGN_OR_RETURN(loop, CompileLoop(read));
  }
  return loop.get();
}

}  // namespace plimsoll
