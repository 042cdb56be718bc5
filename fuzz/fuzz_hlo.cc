// Fuzzes what reads XLA's HLO text: the estimate of hidden memory, and the largest values.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/hidden_memory.h"
#include "analysis/large_values.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Version 11 takes the ways of its neighbours, so both are tried.
  plimsoll::EstimateHiddenMemory(text, /*thread_count=*/2, /*jaxlib_minor=*/11);
  (void)plimsoll::FindLargestValues(text, 5);
  return 0;
}
