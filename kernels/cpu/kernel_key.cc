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

template <typename... Numbers>
ObjectStore::Key KeyOf(std::string_view program, const CpuMachine& machine, std::string_view build,
                       const Numbers&... shape) {
  llvm::BLAKE3 hash;
  Add(hash, build, program);
  // A member that is not named here does not compile.
  const auto& [triple, name, features, vector_bytes, vector_registers, has_half] = machine;
  Add(hash, triple, name, features, vector_bytes, vector_registers, has_half);
  Add(hash, shape...);
  return hash.final();
}

}  // namespace

ObjectStore::Key KernelKey(std::string_view program, const CpuMachine& machine,
                           const KernelShape& shape, std::string_view build) {
  const auto& [lanes, rows, vectors, block] = shape;
  return KeyOf(program, machine, build, lanes, rows, vectors, block);
}

ObjectStore::Key KernelKey(std::string_view program, const CpuMachine& machine,
                           const LoopShape& shape, std::string_view build) {
  const auto& [lanes, vectors] = shape;
  return KeyOf(program, machine, build, lanes, vectors);
}

}  // namespace plimsoll
