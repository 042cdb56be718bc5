#include "kernels/cpu/run_loop.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace plimsoll {
namespace {

// So many pieces of the batch that threads end at about the same time.
constexpr int64_t kWantedPieces = 32;

// What the arrays of a call say.
struct Sizes {
  int64_t batch = -1;
  std::vector<int64_t> strides;  // Of all dimensions of all arrays.
  std::vector<int64_t> steps;    // Of each array.
};

Status TakeSizes(const LoopArray& array, const KernelArray& given, Sizes& sizes) {
  const auto error = [] {
    return Status(ErrorCode::kWrongInputs, "a kernel's arrays do not fit: an array's shape");
  };
  if (array.dimensions.size() != given.shape.size()) return error();
  sizes.steps.push_back(1);
  int64_t stride = 1;
  std::vector<int64_t> strides(given.shape.size());
  for (size_t i = given.shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= given.shape[i];
    const int64_t length = array.dimensions[i];
    if (length == kStepDimension) {
      sizes.steps.back() = given.shape[i];
      // There must be a step to read or to write.
      if (given.shape[i] < 1) return error();
    } else if (length == kBatchDimension) {
      if (sizes.batch < 0) sizes.batch = given.shape[i];
      if (sizes.batch != given.shape[i]) return error();
    } else if (length != given.shape[i]) {
      return error();
    }
  }
  sizes.strides.insert(sizes.strides.end(), strides.begin(), strides.end());
  return OkStatus();
}

}  // namespace

Status RunLoop(const CompiledLoop& loop, llvm::ArrayRef<KernelArray> operands,
               llvm::ArrayRef<KernelArray> results, int64_t threads, RunTasks run_tasks) {
  const LoopProgram& program = loop.program;
  if (operands.size() != program.operands.size() || results.size() != program.results.size()) {
    return Status(ErrorCode::kWrongInputs, "a kernel's arrays do not fit: their number");
  }
  Sizes sizes;
  std::vector<const void*> from;
  for (size_t i = 0; i < operands.size(); ++i) {
    RETURN_IF_ERROR(TakeSizes(program.operands[i], operands[i], sizes));
    from.push_back(operands[i].data);
  }
  std::vector<void*> to;
  for (size_t i = 0; i < results.size(); ++i) {
    RETURN_IF_ERROR(TakeSizes(program.results[i].array, results[i], sizes));
    to.push_back(results[i].data);
  }
  const int64_t batch = std::max<int64_t>(0, sizes.batch);
  // The same pieces for every number of threads, of whole chunks.
  const int64_t chunk = int64_t{loop.shape.lanes} * loop.shape.vectors;
  const int64_t chunks = (batch + chunk - 1) / chunk;
  const int64_t piece = std::max<int64_t>(1, (chunks + kWantedPieces - 1) / kWantedPieces) * chunk;
  const int64_t pieces = (batch + piece - 1) / piece;
  // The first task makes what does not have the batch.
  const auto run = [&](int64_t task, int64_t) {
    KernelCall call = {.operands = from.data(),
                       .results = to.data(),
                       .compensations = nullptr,
                       .strides = sizes.strides.data(),
                       .lengths = sizes.steps.data(),
                       .row_begin = 0,
                       .row_end = 0,
                       .column_begin = 0,
                       .column_end = 0,
                       .scratch = nullptr};
    if (task == 0) {
      loop.single(&call);
      return;
    }
    call.row_begin = (task - 1) * piece;
    call.row_end = std::min(batch, call.row_begin + piece);
    loop.batch(&call);
  };
  run_tasks(pieces + 1, std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, pieces)), run);
  return OkStatus();
}

}  // namespace plimsoll
