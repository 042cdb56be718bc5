#include "kernels/cpu/kernel_handler.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/status.h"
#include "kernels/cpu/kernel_store.h"
#include "kernels/cpu/run_kernel.h"
#include "kernels/cpu/run_loop.h"
#include "kernels/cpu/run_stages.h"
#include "kernels/insert_kernels.h"
#include "kernels/loop_text.h"
#include "kernels/staged_program.h"

namespace plimsoll {
namespace {

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

StatusOr<std::string_view> ProgramOf(const ffi::Attributes& attributes) {
  for (int64_t i = 0; i < attributes.size; ++i) {
    const ffi::Text& name = *attributes.names[i];
    if (std::string_view(name.data, name.size) != kKernelProgram) continue;
    if (attributes.kinds[i] != ffi::kTextAttribute) break;
    const auto* text = static_cast<const ffi::Text*>(attributes.values[i]);
    return std::string_view(text->data, text->size);
  }
  return Status(ErrorCode::kInternal, "a kernel was called without its program");
}

Status Run(const ffi::CallFrame& frame) {
  ASSIGN_OR_RETURN(const std::string_view program, ProgramOf(frame.attributes));
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
  if (IsStagesText(program)) {
    ASSIGN_OR_RETURN(const CompiledStages* stages, FindStages(program));
    return RunStages(*stages, operands, results, bytes, ThreadCount(frame), run_tasks);
  }
  ASSIGN_OR_RETURN(const CompiledKernel* kernel, FindKernel(program));
  return RunKernel(*kernel, operands, results, bytes, ThreadCount(frame), run_tasks);
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
  const Status status = Run(*frame);
  if (status.ok()) return nullptr;
  const std::string message = status.ToString();
  ffi::ErrorArguments arguments = {.struct_size = sizeof(ffi::ErrorArguments),
                                   .extension = nullptr,
                                   .message = message.c_str(),
                                   .code = ffi::kInternalError};
  return frame->api->create_error(&arguments);
}

}  // namespace plimsoll
