#include "analysis/hidden_memory.h"

#include <algorithm>

#include "analysis/hlo_text.h"
#include "analysis/library_scratch.h"
#include "analysis/ynn_scratch.h"
#include "llvm/ADT/DenseSet.h"

namespace plimsoll {
namespace {

bool IsYnnFusion(const HloInstruction& instruction) {
  return instruction.opcode == "fusion" &&
         instruction.attributes.find("\"__ynn_fusion\"") != std::string_view::npos;
}

// One instruction runs at a time. But a freed block of up to this size is kept by the C library,
// for the next use by the same thread.
constexpr int64_t kLargestKept = 32 << 20;
// The code of one kernel and what belongs to it, as measured over many.
constexpr int64_t kKernelBytes = 50 << 10;

// Each value may begin behind a gap, and each tuple is a table of addresses.
constexpr int64_t kAlignment = 64;

constexpr int64_t kMostThreads = 4096;

// The second scheduler and the packed sort came between jaxlib 0.10 and 0.12.
constexpr int64_t kLastOfFirst = 10;
constexpr int64_t kFirstOfSecond = 12;

int64_t YnnScratch(const HloText& hlo, const HloInstruction& fusion, int64_t thread_count,
                   int64_t jaxlib_minor) {
  const HloComputation* fused = hlo.Called(fusion, "calls");
  if (fused == nullptr) return 0;
  int64_t bytes = 0;
  if (jaxlib_minor < kFirstOfSecond) {
    bytes = YnnScratch(*fused, thread_count, YnnScheduler::kFirst);
  }
  if (jaxlib_minor > kLastOfFirst) {
    bytes = std::max(bytes, YnnScratch(*fused, thread_count, YnnScheduler::kSecond));
  }
  return bytes;
}

}  // namespace

HiddenMemory EstimateHiddenMemory(std::string_view hlo_text, int64_t thread_count,
                                  int64_t jaxlib_minor) {
  thread_count = std::clamp<int64_t>(thread_count, 1, kMostThreads);
  const HloText hlo = ReadHloText(hlo_text);
  const PairSort pair_sort = jaxlib_minor < kFirstOfSecond ? PairSort::kPadded : PairSort::kPacked;
  const llvm::DenseSet<const HloComputation*> fused = hlo.Fused();
  HiddenMemory hidden;
  int64_t blas_bytes = 0;
  int64_t kept = 0;
  for (const HloComputation& computation : hlo.computations) {
    for (const HloInstruction& instruction : computation.instructions) {
      if (instruction.opcode == "constant")
        hidden.constant_bytes = AddSizes(hidden.constant_bytes, instruction.shape.bytes);
      if (fused.contains(&computation)) continue;
      if (!instruction.IsView()) {
        hidden.value_bytes =
            AddSizes(hidden.value_bytes, AddSizes(instruction.shape.bytes, kAlignment));
      }
      const int64_t bytes =
          IsYnnFusion(instruction)
              ? YnnScratch(hlo, instruction, thread_count, jaxlib_minor)
              : LibraryScratch(hlo, computation, instruction, thread_count, pair_sort);
      if (instruction.opcode == "fusion") hidden.code_bytes += kKernelBytes;
      blas_bytes = std::max(blas_bytes, BlasScratch(computation, instruction));
      if (bytes <= kLargestKept) kept += bytes;
      if (bytes <= hidden.scratch_bytes) continue;
      hidden.scratch_bytes = bytes;
      hidden.instruction = instruction.name;
    }
  }
  if (hidden.scratch_bytes <= kLargestKept) kept -= hidden.scratch_bytes;
  hidden.scratch_bytes += std::min(kept, (thread_count + 1) * kLargestKept);
  // jaxlib 0.10 keeps the constants of the module beside those of the executable.
  if (jaxlib_minor < kFirstOfSecond) {
    hidden.constant_bytes = AddSizes(hidden.constant_bytes, hidden.constant_bytes);
  }
  hidden.scratch_bytes += blas_bytes;
  return hidden;
}

}  // namespace plimsoll
