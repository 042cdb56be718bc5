// Fuzzes the reader of kernels of stages: what it takes must be the same when it is written and
// read again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ir/status.h"
#include "kernels/staged_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const plimsoll::StatusOr<plimsoll::StagedProgram> program = plimsoll::ReadStages(text);
  if (!program.ok()) return 0;
  const plimsoll::StatusOr<plimsoll::StagedProgram> again =
      plimsoll::ReadStages(plimsoll::WriteStages(*program));
  if (!again.ok() || *again != *program) std::abort();
  return 0;
}
