#include "kernels/cpu/kernel_handler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/run_time.h"
#include "ir/status.h"
#include "kernels/cpu/find_mirrored.h"
#include "kernels/cpu/kernel_store.h"
#include "kernels/cpu/kernel_times.h"
#include "kernels/cpu/run_kernel.h"
#include "kernels/cpu/run_loop.h"
#include "kernels/cpu/run_mirrored.h"
#include "kernels/cpu/run_stages.h"
#include "kernels/insert_kernels.h"
#include "kernels/loop_text.h"
#include "kernels/staged_program.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {
namespace {

constexpr int kTimedRuns = 3;

// Tasks that several threads take from. A thread may come when all is done, so it lives as long as
// its last user.
struct SharedTasks {
  RunTask run;
  int64_t count = 0;
  std::atomic<int64_t> next_task = 0;
  std::atomic<int64_t> next_worker = 1;  // 0 is the caller.
  std::atomic<int64_t> done = 0;

  void Work(int64_t worker) {
    for (int64_t task = next_task++; task < count; task = next_task++) {
      run(task, worker);
      if (++done == count) done.notify_all();
    }
  }

  void Wait() {
    for (int64_t now = done; now < count; now = done) done.wait(now);
  }
};

void Destroy(const ffi::CallFrame& frame, ffi::Error* error) {
  ffi::DestroyArguments arguments = {
      .struct_size = sizeof(ffi::DestroyArguments), .extension = nullptr, .error = error};
  frame.api->destroy_error(&arguments);
}

void RunOnPool(const ffi::CallFrame& frame, int64_t count, int64_t workers, RunTask run) {
  const auto tasks = std::make_shared<SharedTasks>(run, count);
  for (int64_t i = 1; i < workers; ++i) {
    auto data = std::make_unique<std::shared_ptr<SharedTasks>>(tasks);
    ffi::ScheduleArguments arguments = {
        .struct_size = sizeof(ffi::ScheduleArguments),
        .extension = nullptr,
        .context = frame.context,
        .task =
            [](void* data) {
              const std::unique_ptr<std::shared_ptr<SharedTasks>> held(
                  static_cast<std::shared_ptr<SharedTasks>*>(data));
              (*held)->Work((*held)->next_worker++);
            },
        .data = data.get()};
    ffi::Error* error = frame.api->schedule(&arguments);
    if (error != nullptr) {
      // Fewer threads do it as well.
      Destroy(frame, error);
      break;
    }
    std::ignore = data.release();
  }
  tasks->Work(0);
  tasks->Wait();
}

int64_t ThreadCount(const ffi::CallFrame& frame) {
  int64_t count = 1;
  ffi::ThreadCountArguments arguments = {.struct_size = sizeof(ffi::ThreadCountArguments),
                                         .extension = nullptr,
                                         .context = frame.context,
                                         .count = &count};
  ffi::Error* error = frame.api->thread_count(&arguments);
  if (error == nullptr) return count;
  Destroy(frame, error);
  return 1;
}

KernelArray ArrayOf(const ffi::Buffer& buffer) {
  return {.data = buffer.data, .shape = {buffer.dimensions, static_cast<size_t>(buffer.rank)}};
}

// The value of an attribute of that name and kind; null if there is none.
const void* Find(const ffi::Attributes& attributes, std::string_view name, int kind) {
  for (int64_t i = 0; i < attributes.size; ++i) {
    const ffi::Text& found = *attributes.names[i];
    if (std::string_view(found.data, found.size) != name) continue;
    return attributes.kinds[i] == kind ? attributes.values[i] : nullptr;
  }
  return nullptr;
}

// What the call is thought to take.
double ExpectedSeconds(const ffi::Attributes& attributes) {
  const auto* found =
      static_cast<const ffi::Scalar*>(Find(attributes, kKernelSeconds, ffi::kScalarAttribute));
  if (found == nullptr || found->type != ffi::kF64) return 0;
  return *static_cast<const double*>(found->value);
}

// True if the user wants kernels to be timed.
bool IsTuned() {
  static const bool is_tuned = [] {
    const char* chosen = std::getenv("PLIMSOLL_TUNE");
    return chosen != nullptr && std::string_view(chosen) == "1";
  }();
  return is_tuned;
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The least of a few runs.
StatusOr<double> SecondsOf(llvm::function_ref<Status()> run) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTimedRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(run());
    least = std::min(least, SecondsSince(start));
  }
  return least;
}

Status Run(const ffi::CallFrame& frame, std::string_view program) {
  std::vector<KernelArray> operands;
  for (int64_t i = 0; i < frame.operands.size; ++i) {
    operands.push_back(ArrayOf(*frame.operands.buffers[i]));
  }
  std::vector<KernelArray> results;
  for (int64_t i = 0; i < frame.results.size; ++i) {
    results.push_back(ArrayOf(*frame.results.buffers[i]));
  }
  if (results.empty()) return Status(ErrorCode::kInternal, "a kernel was called without scratch");
  const KernelArray scratch = results.back();
  results.pop_back();
  const llvm::MutableArrayRef<char> bytes(static_cast<char*>(scratch.data),
                                          static_cast<size_t>(scratch.shape[0]));
  const auto run_tasks = [&](int64_t count, int64_t workers, RunTask task) {
    RunOnPool(frame, count, workers, task);
  };
  if (IsLoopText(program)) {
    ASSIGN_OR_RETURN(const CompiledLoop* loop, FindLoopKernel(program));
    return RunLoop(*loop, operands, results, ThreadCount(frame), run_tasks);
  }
  if (const std::optional<MirroredCall> mirrored =
          FindMirrored(program, operands, results, static_cast<int64_t>(bytes.size()))) {
    return RunMirrored(*mirrored->stages, mirrored->layout, operands, results, bytes,
                       ThreadCount(frame), run_tasks);
  }
  if (IsStagesText(program)) {
    ASSIGN_OR_RETURN(const CompiledStages* stages, FindStages(program));
    return RunStages(*stages, operands, results, bytes, ThreadCount(frame), run_tasks);
  }
  const auto run = [&](const CompiledKernel& kernel) {
    return RunKernel(kernel, operands, results, bytes, ThreadCount(frame), run_tasks);
  };
  StatusOr<const CompiledKernel*> kernel =
      IsTuned() ? StoreOfProcess().FindFastest(program,
                                               [&](const CompiledKernel& one) {
                                                 return SecondsOf([&] { return run(one); });
                                               })
                : FindKernel(program);
  RETURN_IF_ERROR(kernel.status());
  return run(**kernel);
}

}  // namespace

ffi::Error* RunKernelCall(ffi::CallFrame* frame) {
  if (frame->extension != nullptr && frame->extension->type == ffi::kMetadataExtension) {
    ffi::Metadata& metadata =
        *reinterpret_cast<ffi::MetadataExtension*>(frame->extension)->metadata;
    metadata.version.major = 0;
    metadata.version.minor = 1;
    metadata.traits = 0;
    return nullptr;
  }
  const auto* text =
      static_cast<const ffi::Text*>(Find(frame->attributes, kKernelProgram, ffi::kTextAttribute));
  Status status(ErrorCode::kInternal, "a kernel was called without its program");
  if (text != nullptr) {
    const std::string_view program(text->data, text->size);
    const auto start = std::chrono::steady_clock::now();
    status = Run(*frame, program);
    if (status.ok()) {
      NoteKernelTime(program, ExpectedSeconds(frame->attributes), SecondsSince(start));
    }
  }
  if (status.ok()) return nullptr;
  const std::string message = status.ToString();
  ffi::ErrorArguments arguments = {.struct_size = sizeof(ffi::ErrorArguments),
                                   .extension = nullptr,
                                   .message = message.c_str(),
                                   .code = ffi::kInternalError};
  return frame->api->create_error(&arguments);
}

}  // namespace plimsoll
