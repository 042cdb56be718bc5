#include "kernels/cpu/kernel_times.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace plimsoll {
namespace {

struct Times {
  std::mutex mutex;
  llvm::StringMap<std::vector<KernelTime>> by_program;
  std::vector<MadeKernel> made;
};

Times& AllTimes() {
  // XLA's threads may still run when the process ends.
  static auto* times = new Times;
  return *times;
}

}  // namespace

void NoteKernelTime(std::string_view program, double expected_seconds, double seconds) {
  Times& times = AllTimes();
  const std::lock_guard lock(times.mutex);
  std::vector<KernelTime>& of_program = times.by_program[program];
  auto found = llvm::find_if(of_program, [&](const KernelTime& time) {
    return time.expected_seconds == expected_seconds;
  });
  if (found == of_program.end()) {
    of_program.push_back({.program = std::string(program),
                          .expected_seconds = expected_seconds,
                          .least_seconds = seconds});
    found = std::prev(of_program.end());
  }
  ++found->calls;
  found->least_seconds = std::min(found->least_seconds, seconds);
}

void NoteMadeKernel(MadeKernel made) {
  Times& times = AllTimes();
  const std::lock_guard lock(times.mutex);
  times.made.push_back(std::move(made));
}

std::vector<MadeKernel> MadeKernels() {
  Times& times = AllTimes();
  const std::lock_guard lock(times.mutex);
  return times.made;
}

std::vector<KernelTime> KernelTimes() {
  Times& times = AllTimes();
  const std::lock_guard lock(times.mutex);
  std::vector<KernelTime> found;
  for (const auto& entry : times.by_program) llvm::append_range(found, entry.second);
  return found;
}

}  // namespace plimsoll
