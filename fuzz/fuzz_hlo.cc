// Fuzzes the estimate of hidden memory, which reads XLA's HLO text.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/hidden_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Version 11 takes the ways of its neighbours, so both are tried.
  plimsoll::EstimateHiddenMemory(text, /*thread_count=*/2, /*jaxlib_minor=*/11);
  return 0;
}
