// The memory that an XLA:CPU program takes and that XLA's statistics do not count, from the
// program's optimized HLO: what XLA's libraries take while it runs, estimated so that it is no less
// than the truth, the program's constants, and its machine code.

#ifndef PLIMSOLL_ANALYSIS_HIDDEN_MEMORY_H_
#define PLIMSOLL_ANALYSIS_HIDDEN_MEMORY_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll {

struct HiddenMemory {
  // No less than what XLA counts: all arguments, results and values, as if all lived at once.
  int64_t value_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t code_bytes = 0;
  int64_t scratch_bytes = 0;
  // The instruction that takes the most scratch, as it is named in the HLO; empty if none does.
  std::string instruction;
};

// `hlo_text` is what XLA prints of a compiled module; no text is an error. `thread_count` is the
// size of XLA's thread pool: each thread has scratch of its own. `jaxlib_minor` is 12 for jaxlib
// 0.12: the libraries differ from one version to the next.
HiddenMemory EstimateHiddenMemory(std::string_view hlo_text, int64_t thread_count,
                                  int64_t jaxlib_minor);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_HIDDEN_MEMORY_H_
