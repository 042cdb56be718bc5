#include "kernels/cpu/kernel_store.h"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "kernels/cpu/build_id.h"
#include "kernels/cpu/kernel_key.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/cpu/machine.h"
#include "kernels/tile_text.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

namespace plimsoll {
namespace {

constexpr int64_t kMostBytes = 256 << 20;

// As the XDG base directory specification says; "" if there is no such folder.
std::string FolderOfUser() {
  llvm::SmallString<128> folder;
  const char* chosen = std::getenv("XDG_CACHE_HOME");
  if (chosen != nullptr && llvm::sys::path::is_absolute(chosen)) {
    folder = chosen;
  } else if (llvm::sys::path::home_directory(folder) && llvm::sys::path::is_absolute(folder)) {
    llvm::sys::path::append(folder, ".cache");
  } else {
    return "";
  }
  llvm::sys::path::append(folder, "plimsoll", "kernels");
  return folder.str().str();
}

}  // namespace

// Without a build's id nothing says whose code a file has.
KernelStore::KernelStore(std::string folder)
    : objects_(BuildId().empty() ? "" : std::move(folder), kMostBytes) {}

StatusOr<const CompiledKernel*> KernelStore::Find(std::string_view program) {
  Entry& entry = EntryOf(program);
  std::call_once(entry.is_made, [&] {
    StatusOr<std::unique_ptr<CompiledKernel>> kernel = Make(program);
    entry.status = kernel.status();
    if (kernel.ok()) entry.kernel = *std::move(kernel);
  });
  if (entry.kernel == nullptr) return entry.status;
  return entry.kernel.get();
}

KernelStore::Entry& KernelStore::EntryOf(std::string_view program) {
  {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(program);
    if (found != entries_.end()) return found->second;
  }
  const std::lock_guard lock(mutex_);
  return entries_[program];
}

StatusOr<std::unique_ptr<CompiledKernel>> KernelStore::Make(std::string_view program) {
  ASSIGN_OR_RETURN(const TileProgram tiles, ReadTiles(program));
  const CpuMachine& machine = HostMachine();
  const KernelShape shape = ChooseShape(tiles, machine);
  const ObjectStore::Key key = KernelKey(program, machine, shape, BuildId());
  if (const std::optional<std::string> kept = objects_.Get(key)) {
    StatusOr<std::unique_ptr<CompiledKernel>> kernel = LoadKernel(tiles, shape, *kept);
    if (kernel.ok()) return kernel;
  }
  ASSIGN_OR_RETURN(const std::string object, CompileToObject(tiles, machine, shape));
  ASSIGN_OR_RETURN(std::unique_ptr<CompiledKernel> kernel, LoadKernel(tiles, shape, object));
  objects_.Put(key, object);
  return kernel;
}

StatusOr<const CompiledKernel*> FindKernel(std::string_view program) {
  // Never destroyed: XLA's threads may outlive what the process destroys at its end.
  static auto* store = new KernelStore(FolderOfUser());
  return store->Find(program);
}

}  // namespace plimsoll
