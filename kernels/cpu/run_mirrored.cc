#include "kernels/cpu/run_mirrored.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <utility>

#include "kernels/cpu/combine_parts.h"
#include "kernels/cpu/kernel_scratch.h"
#include "kernels/cpu/long_sums.h"
#include "kernels/cpu/pair_order.h"
#include "kernels/cpu/stage_runner.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

constexpr int64_t kMostWorkerBytes = 4 << 20;
// With fewer points, blocks are so small that what is packed for one is read too seldom.
constexpr int64_t kLeastPoints = 1024;
// There are enough blocks for many threads, and so many at the most that their order is short.
constexpr int64_t kLeastBlock = 512;
constexpr int64_t kMostBlocks = 512;
// Of a block that meets itself, pieces that are computed as a whole.
constexpr int64_t kPiecesOfBlock = 4;

// The axis that stands for the same as one of the kernel, or the other way round.
int TurnedAxis(int axis) {
  return axis == kRowAxis || axis == kColumnAxis ? kRowAxis + kColumnAxis - axis : axis;
}

ScratchNeed NeedOf(const MirroredLayout& layout) {
  return {.worker_bytes = layout.worker_bytes, .common_bytes = layout.stages.compensation_bytes};
}

class MirroredRun {
 public:
  MirroredRun(const CompiledStages& mirrored, const MirroredLayout& layout,
              llvm::ArrayRef<KernelArray> operands, llvm::ArrayRef<KernelArray> results,
              const KernelScratch& scratch)
      : stages_(mirrored),
        layout_(layout),
        results_(results),
        scratch_(scratch.workers),
        all_results_(AllResults(layout, results)),
        runner_(mirrored, operands, all_results_, layout.stages, scratch.common),
        blocks_((layout.stages.rows + layout.block - 1) / layout.block),
        order_(blocks_),
        met_(static_cast<size_t>(layout.stages.batch * blocks_)) {
    for (size_t i = 0; i < stages_.program.stages.size(); ++i) {
      const Stage& stage = stages_.program.stages[i];
      for (size_t j = 0; j < stage.results.size(); ++j) {
        if (stage.results[j].kind != StagePlaceKind::kResult) continue;
        FindResult(static_cast<size_t>(stage.results[j].number)) = {.stage = i, .result = j};
      }
      if (stage.rows == kRowAxis) step_ = std::lcm(step_, int64_t{ShapeOf(i).rows});
    }
  }

  int64_t task_count() const { return layout_.stages.batch * order_.size(); }

  // What is added to must be there before the first task.
  void FillResults() const {
    runner_.ForgetRounding();
    for (size_t i = 0; i < results_.size(); ++i) {
      const TileResult& result = ResultOf(i);
      FillNeutral(result.reducer, result.array.type, results_[i].data,
                  ElementCount(results_[i].shape));
    }
  }

  // Tasks are begun in the order of their numbers, so those that a task waits for are under way.
  void RunTask(int64_t number, int64_t worker) {
    const int64_t element = number / order_.size();
    const PairOrder::Pair pair = order_[number % order_.size()];
    std::atomic<int64_t>* met = &met_[static_cast<size_t>(element * blocks_)];
    WaitFor(met[pair.first], pair.before_first);
    WaitFor(met[pair.second], pair.before_second);
    StageTask task = {.element = element,
                      .scratch = scratch_ + worker * layout_.worker_bytes,
                      .parts = std::vector<char*>(all_results_.size(), nullptr)};
    const Range first = BlockOf(pair.first);
    const Range second = BlockOf(pair.second);
    if (pair.first == pair.second) {
      RunDiagonal(task, first);
    } else {
      runner_.Pack(task, second);
      RunBoth(task, first, second);
      NoteMet(met[pair.second]);
    }
    NoteMet(met[pair.first]);
  }

 private:
  struct Place {
    size_t stage = 0;
    size_t result = 0;
  };

  static std::vector<KernelArray> AllResults(const MirroredLayout& layout,
                                             llvm::ArrayRef<KernelArray> results) {
    std::vector<KernelArray> all = results.vec();
    for (const std::vector<int64_t>& shape : layout.part_shapes) {
      all.push_back({.data = nullptr, .shape = shape});
    }
    return all;
  }

  static void WaitFor(const std::atomic<int64_t>& met, int64_t wanted) {
    for (int64_t now = met; now < wanted; now = met) met.wait(now);
  }

  static void NoteMet(std::atomic<int64_t>& met) {
    ++met;
    met.notify_all();
  }

  const KernelShape& ShapeOf(size_t stage) const { return stages_.kernels[stage]->shape; }

  Place& FindResult(size_t number) {
    if (places_.size() <= number) places_.resize(number + 1);
    return places_[number];
  }

  const TileResult& ResultOf(size_t number) const {
    const Place& place = places_[number];
    return stages_.program.stages[place.stage].program.results[place.result];
  }

  Range BlockOf(int64_t number) const {
    return {.begin = number * layout_.block,
            .end = std::min((number + 1) * layout_.block, layout_.stages.rows)};
  }

  // Points that meet themselves: what is above the diagonal once, what is on it as it is.
  void RunDiagonal(StageTask& task, Range block) const {
    const int64_t piece = RoundUp(layout_.block / kPiecesOfBlock, kScratchAlignment);
    for (int64_t begin = block.begin; begin < block.end; begin += piece) {
      const Range own = {.begin = begin, .end = std::min(begin + piece, block.end)};
      runner_.Pack(task, own);
      if (begin > block.begin) RunBoth(task, {.begin = block.begin, .end = begin}, own);
      // Stages of one program give to both sides, and what they give to the columns is left out.
      PlaceParts(task, own);
      RunRows(task, own, own, /*is_mirrored=*/false);
    }
  }

  // What each row gets from the columns, and each column from the rows.
  void RunBoth(StageTask& task, Range rows, Range columns) const {
    PlaceParts(task, columns);
    RunRows(task, rows, columns, /*is_mirrored=*/true);
    for (size_t i = 0; i < results_.size(); ++i) AddPart(i, task, columns);
  }

  void RunRows(const StageTask& task, Range rows, Range columns, bool is_mirrored) const {
    const int64_t count = rows.end - rows.begin;
    const int64_t pieces =
        (count + layout_.stages.rows_of_piece - 1) / layout_.stages.rows_of_piece;
    const int64_t piece = RoundUp((count + pieces - 1) / pieces, step_);
    for (int64_t begin = rows.begin; begin < rows.end; begin += piece) {
      const Range own = {.begin = begin, .end = std::min(begin + piece, rows.end)};
      for (size_t i = 0; i < stages_.program.stages.size(); ++i) {
        if (!is_mirrored && stages_.program.stages[i].rows != kRowAxis) continue;
        runner_.Run(i, task, own, columns);
      }
    }
  }

  char* PartOf(const StageTask& task, size_t number) const {
    return task.scratch + layout_.part_offsets[number];
  }

  // Parts hold the columns of one block, and the generated code counts from the first of all.
  void PlaceParts(StageTask& task, Range columns) const {
    for (size_t i = 0; i < results_.size(); ++i) {
      const TileResult& result = ResultOf(i);
      char* part = PartOf(task, i);
      FillNeutral(result.reducer, result.array.type, part, ElementCount(layout_.part_shapes[i]));
      task.parts[results_.size() + i] = part - columns.begin * BytesOf(result.array.type);
    }
  }

  // Adds what turned pairs gave to the rows that the columns are.
  void AddPart(size_t number, const StageTask& task, Range columns) const {
    const Place& place = places_[number];
    const Place& turned = places_[results_.size() + number];
    const TileResult& result = ResultOf(number);
    const int64_t bytes = BytesOf(result.array.type);
    const int64_t* to_strides = runner_.StridesOfResult(place.stage, place.result);
    const int64_t* from_strides = runner_.StridesOfResult(turned.stage, turned.result);
    char* to = static_cast<char*>(results_[number].data) +
               (runner_.BatchOffset(place.stage, to_strides, task.element) +
                columns.begin * to_strides[kRowAxis]) *
                   bytes;
    // All axes of the part but the columns, which are the last.
    const TileArray& array =
        stages_.program.stages[turned.stage].program.results[turned.result].array;
    const llvm::ArrayRef<int64_t> shape = layout_.part_shapes[number];
    const int64_t lines = ElementCount(shape.drop_back());
    const TileProgram& program = stages_.program.stages[place.stage].program;
    char* compensations = runner_.CompensationsOf(place.stage, place.result, task.element);
    const int64_t row_count = CompensationsOfRow(program, result);
    for (int64_t line = 0; line < lines; ++line) {
      int64_t rest = line;
      int64_t from_offset = 0;
      int64_t to_offset = 0;
      std::array<int64_t, kMostAxes> positions = {};
      for (size_t i = shape.size() - 1; i-- > 0;) {
        const int64_t position = rest % shape[i];
        rest /= shape[i];
        from_offset += position * from_strides[array.axes[i]];
        to_offset += position * to_strides[TurnedAxis(array.axes[i])];
        positions[static_cast<size_t>(array.axes[i])] = position;
      }
      const char* part = PartOf(task, number) + from_offset * bytes;
      const int64_t count = columns.end - columns.begin;
      if (compensations == nullptr) {
        CombineApart(result.reducer, result.array.type, to + to_offset * bytes,
                     to_strides[kRowAxis], part, count);
      } else {
        AddCompensated(result.array.type, to + to_offset * bytes, to_strides[kRowAxis],
                       compensations + (columns.begin * row_count +
                                        ShortNumber(program, AxesOf(result.array), positions)) *
                                           bytes,
                       row_count, part, count);
      }
    }
  }

  const CompiledStages& stages_;
  const MirroredLayout& layout_;
  llvm::ArrayRef<KernelArray> results_;
  char* scratch_;
  std::vector<KernelArray> all_results_;
  StageRunner runner_;
  int64_t blocks_;
  PairOrder order_;
  int64_t step_ = 1;
  // Of all results, behind those of the kernel what turned pairs give.
  std::vector<Place> places_;
  // For each element of the batch, how many others each block has met.
  std::vector<std::atomic<int64_t>> met_;
};

// Calls `visit` with the stage and the place there of what turned pairs give to each result, and
// the number of that result.
template <typename Visit>
void ForEachTurned(const StagedProgram& program, size_t result_count, Visit visit) {
  for (size_t i = 0; i < program.stages.size(); ++i) {
    const Stage& stage = program.stages[i];
    for (size_t j = 0; j < stage.results.size(); ++j) {
      const auto number = static_cast<size_t>(stage.results[j].number);
      if (stage.results[j].kind != StagePlaceKind::kResult || number < result_count) continue;
      visit(i, j, number - result_count);
    }
  }
}

// The shapes of all that turned pairs give, for all columns: these are the rows of the results.
std::vector<std::vector<int64_t>> TurnedShapes(const StagedProgram& program,
                                               llvm::ArrayRef<llvm::ArrayRef<int64_t>> results) {
  // Of each result, by axis.
  std::vector<std::vector<int64_t>> lengths(results.size(), std::vector<int64_t>(kMostAxes, 1));
  for (const Stage& stage : program.stages) {
    for (size_t i = 0; i < stage.results.size(); ++i) {
      const auto number = static_cast<size_t>(stage.results[i].number);
      if (stage.results[i].kind != StagePlaceKind::kResult || number >= results.size()) continue;
      const std::vector<int>& axes = stage.program.results[i].array.axes;
      for (size_t j = 0; j < std::min(axes.size(), results[number].size()); ++j) {
        if (axes[j] == kNoAxis) continue;
        lengths[number][static_cast<size_t>(TurnedAxis(axes[j]))] = results[number][j];
      }
    }
  }
  std::vector<std::vector<int64_t>> shapes(results.size());
  ForEachTurned(program, results.size(), [&](size_t stage, size_t result, size_t number) {
    for (const int axis : program.stages[stage].program.results[result].array.axes) {
      shapes[number].push_back(lengths[number][static_cast<size_t>(axis)]);
    }
  });
  return shapes;
}

// Of the columns of one block and one element of the batch.
std::vector<int64_t> PartShape(const TileProgram& program, const TileArray& array,
                               llvm::ArrayRef<int64_t> whole, int64_t block) {
  std::vector<int64_t> shape = whole.vec();
  for (size_t i = 0; i < shape.size(); ++i) {
    const TileAxisKind kind = program.axes[static_cast<size_t>(array.axes[i])].kind;
    if (kind == TileAxisKind::kBatch) shape[i] = 1;
    // Whole vectors are added, and lines begin at different places in the caches.
    if (kind == TileAxisKind::kColumn) {
      shape[i] = RoundUp(block, kScratchAlignment) + kScratchAlignment / BytesOf(array.type);
    }
  }
  return shape;
}

}  // namespace

StatusOr<MirroredLayout> LayOutMirrored(const StagedProgram& program,
                                        llvm::ArrayRef<KernelShape> shapes,
                                        llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                                        llvm::ArrayRef<llvm::ArrayRef<int64_t>> results) {
  const std::vector<std::vector<int64_t>> turned = TurnedShapes(program, results);
  std::vector<llvm::ArrayRef<int64_t>> all = results.vec();
  llvm::append_range(all, turned);
  int64_t step = 1;
  for (const KernelShape& shape : shapes) {
    step = std::lcm(step, std::lcm(int64_t{shape.rows}, int64_t{shape.lanes} * shape.vectors));
  }
  const auto block_of = [&](int64_t points) {
    const int64_t blocks = std::clamp<int64_t>(points / kLeastBlock, 1, kMostBlocks);
    return RoundUp((points + blocks - 1) / blocks, step);
  };
  MirroredLayout layout;
  ASSIGN_OR_RETURN(layout.stages, LayOutBlocks(program, shapes, operands, all, block_of));
  if (layout.stages.rows != layout.stages.columns || layout.stages.rows < kLeastPoints) {
    return Status(ErrorCode::kNotUnderstood, "rows and columns are not the same points, or few");
  }
  layout.block = layout.stages.columns_at_once;
  layout.worker_bytes = layout.stages.worker_bytes;
  ForEachTurned(program, results.size(), [&](size_t stage, size_t result, size_t number) {
    const TileProgram& tiles = program.stages[stage].program;
    const TileArray& array = tiles.results[result].array;
    layout.part_shapes.resize(results.size());
    layout.part_offsets.resize(results.size());
    layout.part_shapes[number] = PartShape(tiles, array, turned[number], layout.block);
    layout.part_offsets[number] = layout.worker_bytes;
    layout.worker_bytes +=
        RoundUp(ElementCount(layout.part_shapes[number]) * BytesOf(array.type), kScratchAlignment);
  });
  if (layout.worker_bytes > kMostWorkerBytes) {
    return Status(ErrorCode::kNotUnderstood, "a worker would need too much scratch");
  }
  return layout;
}

int64_t ScratchBytes(const MirroredLayout& layout, int64_t threads) {
  return NeedOf(layout).BytesFor(std::max<int64_t>(1, threads));
}

Status RunMirrored(const CompiledStages& mirrored, const MirroredLayout& layout,
                   llvm::ArrayRef<KernelArray> operands, llvm::ArrayRef<KernelArray> results,
                   llvm::MutableArrayRef<char> scratch, int64_t threads, RunTasks run_tasks) {
  ASSIGN_OR_RETURN(const KernelScratch shared,
                   ShareScratch(scratch, NeedOf(layout), std::max<int64_t>(1, threads)));
  MirroredRun run(mirrored, layout, operands, results, shared);
  run.FillResults();
  run_tasks(run.task_count(), shared.worker_count,
            [&](int64_t task, int64_t worker) { run.RunTask(task, worker); });
  return OkStatus();
}

}  // namespace plimsoll
