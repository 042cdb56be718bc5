#include "kernels/cpu/kernel_store.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/cpu/build_id.h"
#include "kernels/cpu/kernel_key.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/cpu/kernel_times.h"
#include "kernels/cpu/machine.h"
#include "kernels/cpu/shapes_to_try.h"
#include "kernels/loop_text.h"
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

// From the disk, or compiled and kept there; with the functions that choose a shape for the program
// that was read, and that load code.
template <typename Program, typename Choose, typename Load>
auto MakeKernel(ObjectStore& objects, std::string_view text, const StatusOr<Program>& program,
                Choose choose_shape, Load load)
    -> decltype(load(*program, choose_shape(*program, HostMachine()), std::string())) {
  RETURN_IF_ERROR(program.status());
  const CpuMachine& machine = HostMachine();
  const auto begin = std::chrono::steady_clock::now();
  const auto note = [&](bool is_from_disk) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    NoteMadeKernel(
        {.program = std::string(text), .seconds = taken.count(), .is_from_disk = is_from_disk});
  };
  const auto shape = choose_shape(*program, machine);
  const ObjectStore::Key key = KernelKey(text, machine, shape, BuildId());
  if (const std::optional<std::string> kept = objects.Get(key)) {
    auto kernel = load(*program, shape, *kept);
    if (kernel.ok()) {
      note(/*is_from_disk=*/true);
      return kernel;
    }
  }
  ASSIGN_OR_RETURN(const std::string object, CompileToObject(*program, machine, shape));
  ASSIGN_OR_RETURN(auto kernel, load(*program, shape, object));
  objects.Put(key, object);
  note(/*is_from_disk=*/false);
  return kernel;
}

// Under which the fastest shape of a program is kept.
std::string NameOfShape(std::string_view program) { return StrCat("shape of ", program); }

}  // namespace

// Without a build's id nothing says whose code a file has.
KernelStore::KernelStore(std::string folder)
    : objects_(BuildId().empty() ? "" : std::move(folder), kMostBytes) {}

template <typename Kernel>
KernelStore::Entry<Kernel>& KernelStore::EntryOf(Entries<Kernel>& entries,
                                                 std::string_view program) {
  {
    const std::shared_lock lock(mutex_);
    const auto found = entries.find(program);
    if (found != entries.end()) return found->second;
  }
  const std::lock_guard lock(mutex_);
  return entries[program];
}

template <typename Kernel, typename Make>
StatusOr<const Kernel*> KernelStore::FindIn(Entries<Kernel>& entries, std::string_view program,
                                            Make make) {
  Entry<Kernel>& entry = EntryOf(entries, program);
  std::call_once(entry.is_made, [&] {
    StatusOr<std::unique_ptr<Kernel>> kernel = make();
    entry.status = kernel.status();
    if (kernel.ok()) entry.kernel = *std::move(kernel);
  });
  if (entry.kernel == nullptr) return entry.status;
  return entry.kernel.get();
}

KernelShape KernelStore::ShapeOf(std::string_view text, const TileProgram& program) const {
  const CpuMachine& machine = HostMachine();
  const std::optional<std::string> kept = GetText(NameOfShape(text));
  const std::optional<KernelShape> shape = kept ? ReadShape(*kept, program, machine) : std::nullopt;
  return shape ? *shape : ChooseShape(program, machine);
}

StatusOr<const CompiledKernel*> KernelStore::Find(std::string_view program) {
  return FindIn(kernels_, program, [&] {
    const auto shape_of = [&](const TileProgram& read, const CpuMachine&) {
      return ShapeOf(program, read);
    };
    return MakeKernel(objects_, program, ReadTiles(program), shape_of, LoadKernel);
  });
}

StatusOr<std::unique_ptr<CompiledKernel>> KernelStore::FindFastestShape(std::string_view text,
                                                                        const CompiledKernel& usual,
                                                                        TimeKernel time) {
  std::unique_ptr<CompiledKernel> fastest;
  double least = std::numeric_limits<double>::infinity();
  KernelShape best = usual.shape;
  for (const KernelShape& shape : ShapesToTry(usual.program, HostMachine())) {
    const auto this_one = [&](const TileProgram&, const CpuMachine&) { return shape; };
    ASSIGN_OR_RETURN(
        std::unique_ptr<CompiledKernel> kernel,
        MakeKernel(objects_, text, StatusOr<TileProgram>(usual.program), this_one, LoadKernel));
    const StatusOr<double> seconds = time(*kernel);
    // Some need more scratch than there is.
    if (!seconds.ok() || *seconds >= least) continue;
    least = *seconds;
    best = shape;
    fastest = std::move(kernel);
  }
  PutText(NameOfShape(text), WriteShape(best));
  return fastest;
}

StatusOr<const CompiledKernel*> KernelStore::FindFastest(std::string_view program,
                                                         TimeKernel time) {
  ASSIGN_OR_RETURN(const CompiledKernel* usual, Find(program));
  Entry<CompiledKernel>& entry = EntryOf(kernels_, program);
  std::call_once(entry.is_timed, [&] {
    if (GetText(NameOfShape(program))) return;
    StatusOr<std::unique_ptr<CompiledKernel>> fastest = FindFastestShape(program, *usual, time);
    if (fastest.ok()) entry.fastest = *std::move(fastest);
  });
  return entry.fastest != nullptr ? entry.fastest.get() : usual;
}

StatusOr<const CompiledLoop*> KernelStore::FindLoop(std::string_view program) {
  return FindIn(loops_, program, [&] {
    return MakeKernel(objects_, program, ReadLoop(program), ChooseLoopShape, LoadLoop);
  });
}

StatusOr<const CompiledStages*> KernelStore::FindStages(std::string_view program) {
  return FindIn(stages_, program, [&]() -> StatusOr<std::unique_ptr<CompiledStages>> {
    auto stages = std::make_unique<CompiledStages>();
    ASSIGN_OR_RETURN(stages->program, ReadStages(program));
    ASSIGN_OR_RETURN(stages->kernels, FindAll(stages->program));
    return stages;
  });
}

StatusOr<std::vector<const CompiledKernel*>> KernelStore::FindAll(const StagedProgram& program) {
  std::vector<const CompiledKernel*> kernels;
  for (const Stage& stage : program.stages) {
    ASSIGN_OR_RETURN(const CompiledKernel* kernel, Find(WriteTiles(stage.program)));
    kernels.push_back(kernel);
  }
  return kernels;
}

std::optional<std::string> KernelStore::GetText(std::string_view name) const {
  return objects_.Get(KernelKey(name, HostMachine(), KernelShape(), BuildId()));
}

void KernelStore::PutText(std::string_view name, std::string_view text) {
  objects_.Put(KernelKey(name, HostMachine(), KernelShape(), BuildId()), text);
}

// Never destroyed: XLA's threads may outlive what the process destroys at its end.
KernelStore& StoreOfProcess() {
  static auto* store = new KernelStore(FolderOfUser());
  return *store;
}

StatusOr<const CompiledKernel*> FindKernel(std::string_view program) {
  return StoreOfProcess().Find(program);
}

StatusOr<const CompiledLoop*> FindLoopKernel(std::string_view program) {
  return StoreOfProcess().FindLoop(program);
}

StatusOr<const CompiledStages*> FindStages(std::string_view program) {
  return StoreOfProcess().FindStages(program);
}

}  // namespace plimsoll
