// Fuzzes the reader of MLIR bytecode, portable artifacts among it.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_reader.h"
#include "stablehlo/bytecode_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto module = plimsoll::ReadBytecode(bytes, "input");
  if (module.ok()) plimsoll::ExerciseModule(**module);
  return 0;
}
