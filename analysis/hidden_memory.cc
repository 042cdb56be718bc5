#include "analysis/hidden_memory.h"

#include <algorithm>

#include "analysis/hlo_text.h"
#include "analysis/ynn_scratch.h"

namespace plimsoll {
namespace {

bool IsYnnFusion(const HloInstruction& instruction) {
  return instruction.opcode == "fusion" &&
         instruction.attributes.find("\"__ynn_fusion\"") != std::string_view::npos;
}

int64_t ScratchOf(const HloText& hlo, const HloInstruction& instruction, int64_t thread_count) {
  if (IsYnnFusion(instruction)) {
    const HloComputation* fused = hlo.Called(instruction, "calls");
    return fused == nullptr ? 0 : YnnScratch(*fused, thread_count);
  }
  return 0;
}

}  // namespace

HiddenMemory EstimateHiddenMemory(std::string_view hlo_text, int64_t thread_count) {
  const HloText hlo = ReadHloText(hlo_text);
  HiddenMemory hidden;
  for (const HloComputation& computation : hlo.computations) {
    for (const HloInstruction& instruction : computation.instructions) {
      if (instruction.opcode == "constant") hidden.constant_bytes += instruction.shape.bytes;
      const int64_t bytes = ScratchOf(hlo, instruction, thread_count);
      if (bytes <= hidden.scratch_bytes) continue;
      hidden.scratch_bytes = bytes;
      hidden.instruction = instruction.name;
    }
  }
  return hidden;
}

}  // namespace plimsoll
