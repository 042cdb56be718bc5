// Fuzzes the reader of generic text.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto module = plimsoll::ReadText(text, "input");
  if (module.ok()) plimsoll::ExerciseModule(**module);
  return 0;
}
