#include "kernels/cpu/kernel_key.h"

#include <string>

#include "ir/status.h"
#include "llvm/Support/BLAKE3.h"

namespace plimsoll {
namespace {

// Texts with their lengths, so that no two lists of parts are the same bytes.
template <typename... Parts>
void Add(llvm::BLAKE3& hash, const Parts&... parts) {
  const auto add = [&](const std::string& text) { hash.update(StrCat(text.size(), ":", text)); };
  (add(StrCat(parts)), ...);
}

void AddMachine(llvm::BLAKE3& hash, const CpuMachine& machine) {
  // A member that is not named here does not compile.
  const auto& [triple, name, features, vector_bytes, vector_registers, has_half] = machine;
  Add(hash, triple, name, features, vector_bytes, vector_registers, has_half);
}

}  // namespace

ObjectStore::Key KernelKey(std::string_view program, const CpuMachine& machine,
                           const KernelShape& shape, std::string_view build) {
  llvm::BLAKE3 hash;
  Add(hash, build, program);
  AddMachine(hash, machine);
  const auto& [lanes, rows, vectors, block] = shape;
  Add(hash, lanes, rows, vectors, block);
  return hash.final();
}

ObjectStore::Key KernelKey(std::string_view program, const CpuMachine& machine,
                           const LoopShape& shape, std::string_view build) {
  llvm::BLAKE3 hash;
  Add(hash, build, program);
  AddMachine(hash, machine);
  const auto& [lanes, vectors] = shape;
  Add(hash, lanes, vectors);
  return hash.final();
}

}  // namespace plimsoll
