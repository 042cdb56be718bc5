#include "kernels/cpu/run_stages.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kernels/cpu/combine_parts.h"
#include "kernels/cpu/hidden_columns.h"
#include "kernels/cpu/stage_layout.h"

namespace plimsoll {
namespace {

constexpr int64_t kAlignment = 64;
// In the place of an end.
constexpr int64_t kAllColumns = -1;

struct Columns {
  int64_t begin = 0;
  int64_t end = 0;
};

// Of either sign.
bool IsZero(ScalarType type, const char* element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(BytesOf(type)));
  const int width = 8 * BytesOf(type);
  return (IsFloat(type) ? bits << (65 - width) : bits) == 0;
}

class StagesRun {
 public:
  StagesRun(const CompiledStages& stages, llvm::ArrayRef<KernelArray> operands,
            llvm::ArrayRef<KernelArray> results, const StagesLayout& layout, char* scratch,
            int64_t workers)
      : stages_(stages),
        operands_(operands),
        results_(results),
        layout_(layout),
        scratch_(scratch),
        parts_(scratch + layout.worker_bytes * workers),
        hidden_(stages.program, layout, operands) {
    for (const Stage& stage : stages.program.stages) {
      strides_.emplace_back();
      for (size_t i = 0; i < stage.operands.size(); ++i) {
        AddStrides(stage, stage.operands[i], stage.program.operands[i]);
      }
      for (size_t i = 0; i < stage.results.size(); ++i) {
        AddStrides(stage, stage.results[i], stage.program.results[i].array);
      }
    }
  }

  // What is added to must be there before the first task.
  void FillResults() const {
    ForEachResult([&](const TileResult& result, size_t number) {
      if (result.reducer == Opcode::kUnknown || layout_.part_elements[number] > 0) return;
      FillNeutral(result.reducer, result.array.type, results_[number].data,
                  ElementCount(results_[number].shape));
    });
  }

  void RunTask(int64_t task, int64_t worker) {
    const Task own = {.element = task / layout_.groups,
                      .group = task % layout_.groups,
                      .scratch = scratch_ + worker * layout_.worker_bytes};
    FillParts(own);
    if (!HasSlabs()) {
      RunSlab(own, {.begin = 0, .end = kAllColumns});
      return;
    }
    for (int64_t column = 0; column < layout_.columns; column += layout_.columns_at_once) {
      RunSlab(own, {.begin = column,
                    .end = std::min(column + layout_.columns_at_once, layout_.columns)});
    }
  }

  // Puts the groups' parts together.
  void Finish() const {
    ForEachResult([&](const TileResult& result, size_t number) {
      const int64_t elements = layout_.part_elements[number];
      if (elements == 0) return;
      for (int64_t element = 0; element < layout_.batch; ++element) {
        char* part = PartOf(number, result.array.type, element, 0);
        CombineParts(result.reducer, result.array.type, part, elements, layout_.groups);
        const Stage& stage = StageOf(number);
        const int64_t offset = BatchOffset(
            stage, AxisStrides(stage.program, result.array, results_[number].shape).data(),
            element);
        const int64_t bytes = BytesOf(result.array.type);
        std::memcpy(static_cast<char*>(results_[number].data) + offset * bytes, part,
                    static_cast<size_t>(elements * bytes));
      }
    });
  }

 private:
  struct Task {
    int64_t element = 0;
    int64_t group = 0;
    char* scratch = nullptr;
  };

  template <typename Visit>
  void ForEachResult(Visit visit) const {
    for (const Stage& stage : stages_.program.stages) {
      for (size_t i = 0; i < stage.results.size(); ++i) {
        if (stage.results[i].kind != StagePlaceKind::kResult) continue;
        visit(stage.program.results[i], static_cast<size_t>(stage.results[i].number));
      }
    }
  }

  // The stage that makes a result.
  const Stage& StageOf(size_t result) const {
    const StagePlace place = {.kind = StagePlaceKind::kResult, .number = static_cast<int>(result)};
    return *llvm::find_if(stages_.program.stages, [&](const Stage& stage) {
      return llvm::is_contained(stage.results, place);
    });
  }

  void AddStrides(const Stage& stage, const StagePlace& place, const TileArray& array) {
    const auto number = static_cast<size_t>(place.number);
    std::vector<int64_t> strides(stage.program.axes.size(), 0);
    if (place.kind == StagePlaceKind::kPanel) {
      const PanelLayout& panel = layout_.panels[number];
      for (size_t i = 0; i < array.axes.size(); ++i) {
        if (array.axes[i] != kNoAxis) {
          strides[static_cast<size_t>(array.axes[i])] = panel.strides[i];
        }
      }
    } else {
      const bool is_argument = place.kind == StagePlaceKind::kArgument;
      strides = AxisStrides(stage.program, array,
                            is_argument ? operands_[number].shape : results_[number].shape);
    }
    llvm::append_range(strides_.back(), strides);
  }

  // How far an element of the batch is from the first.
  int64_t BatchOffset(const Stage& stage, const int64_t* strides, int64_t element) const {
    const std::vector<int64_t>& lengths =
        layout_.stages[static_cast<size_t>(&stage - stages_.program.stages.data())].lengths;
    int64_t offset = 0;
    for (size_t axis = stage.program.axes.size(); axis-- > 0;) {
      if (stage.program.axes[axis].kind != TileAxisKind::kBatch) continue;
      offset += element % lengths[axis] * strides[axis];
      element /= lengths[axis];
    }
    return offset;
  }

  char* PartOf(size_t result, ScalarType type, int64_t element, int64_t group) const {
    return parts_ + layout_.part_offsets[result] +
           (element * layout_.groups + group) * layout_.part_elements[result] * BytesOf(type);
  }

  void FillParts(const Task& task) const {
    ForEachResult([&](const TileResult& result, size_t number) {
      const int64_t elements = layout_.part_elements[number];
      if (elements == 0) return;
      FillNeutral(result.reducer, result.array.type,
                  PartOf(number, result.array.type, task.element, task.group), elements);
    });
  }

  // Where the element is that the generated code knows by row 0.
  char* BaseOf(const Stage& stage, const StagePlace& place, ScalarType type, const int64_t* strides,
               const Task& task, int64_t row_begin) const {
    const auto number = static_cast<size_t>(place.number);
    const int64_t bytes = BytesOf(type);
    // A stage that sums over rows counts them from the piece's first one, as panels do.
    const bool sums_rows = stage.rows != kRowAxis;
    const int64_t row_offset = row_begin * strides[stage.rows] * bytes;
    if (place.kind == StagePlaceKind::kPanel) {
      char* base = task.scratch + layout_.slot_offsets[layout_.panels[number].slot];
      return sums_rows ? base : base - row_offset;
    }
    if (place.kind == StagePlaceKind::kResult && layout_.part_elements[number] > 0) {
      return PartOf(number, type, task.element, task.group);
    }
    const KernelArray& array =
        place.kind == StagePlaceKind::kArgument ? operands_[number] : results_[number];
    char* base = static_cast<char*>(array.data) + BatchOffset(stage, strides, task.element) * bytes;
    return sums_rows ? base + row_offset : base;
  }

  bool HasSlabs() const {
    return layout_.columns_at_once > 0 && layout_.columns_at_once < layout_.columns;
  }

  void RunSlab(const Task& task, Columns columns) {
    for (size_t i = 0; i < stages_.program.stages.size(); ++i) {
      if (!layout_.stages[i].is_packed_once) continue;
      RunStage(i, task, 0, layout_.rows, columns, /*packs=*/true);
    }
    const int64_t end = layout_.pieces * (task.group + 1) / layout_.groups;
    for (int64_t piece = layout_.pieces * task.group / layout_.groups; piece < end; ++piece) {
      const int64_t row_begin = piece * layout_.rows_of_piece;
      const int64_t row_end = std::min(row_begin + layout_.rows_of_piece, layout_.rows);
      if (!HasSlabs() && hidden_.may_hide()) {
        RunSeen(task, row_begin, row_end);
        continue;
      }
      for (size_t i = 0; i < stages_.program.stages.size(); ++i) {
        RunStage(i, task, row_begin, row_end, columns, /*packs=*/false);
      }
    }
  }

  // All stages for some rows, without columns that are hidden from them.
  void RunSeen(const Task& task, int64_t row_begin, int64_t row_end) {
    const size_t count = stages_.program.stages.size();
    SeenColumns seen = FindSeen(task, row_begin, row_end);
    for (size_t i = 0; i < count; ++i) {
      RunStage(i, task, row_begin, row_end, {.begin = 0, .end = seen.end}, /*packs=*/false);
      if (seen.conditions == nullptr || AreZero(i, task, row_end - row_begin, seen)) continue;
      // They are not hidden after all.
      seen = {.end = kAllColumns};
      for (size_t j = 0; j <= i; ++j) FillRows(j, task, row_begin, row_end);
      for (size_t j = 0; j <= i; ++j) {
        RunStage(j, task, row_begin, row_end, {.begin = 0, .end = seen.end}, /*packs=*/false);
      }
    }
  }

  SeenColumns FindSeen(const Task& task, int64_t row_begin, int64_t row_end) {
    return hidden_.SeenBy(row_begin, row_end, [&](size_t number, size_t operand) {
      const Stage& stage = stages_.program.stages[number];
      const int64_t* strides = &strides_[number][operand * stage.program.axes.size()];
      return StageOperand{
          .first = BaseOf(stage, stage.operands[operand], stage.program.operands[operand].type,
                          strides, task, row_begin),
          .row_stride = strides[kRowAxis],
          .column_stride = strides[kColumnAxis]};
    });
  }

  // True if the panels of a stage that have to be zero in the last column that was computed are.
  bool AreZero(size_t number, const Task& task, int64_t rows, const SeenColumns& seen) const {
    const Stage& stage = stages_.program.stages[number];
    for (size_t i = 0; i < stage.results.size(); ++i) {
      const StagePlace& place = stage.results[i];
      if (place.kind != StagePlaceKind::kPanel ||
          !llvm::is_contained(seen.conditions->zero_panels, place.number)) {
        continue;
      }
      const PanelLayout& panel = layout_.panels[static_cast<size_t>(place.number)];
      const int64_t* strides =
          &strides_[number][(stage.operands.size() + i) * stage.program.axes.size()];
      const int64_t bytes = BytesOf(panel.type);
      const char* element = task.scratch + layout_.slot_offsets[panel.slot] +
                            (seen.end - 1) * strides[kColumnAxis] * bytes;
      for (int64_t row = 0; row < rows; ++row) {
        if (!IsZero(panel.type, element + row * panel.row_stride * bytes)) return false;
      }
    }
    return true;
  }

  // Makes a stage's results anew for some rows. They have no axes but the batch and the rows.
  void FillRows(size_t number, const Task& task, int64_t row_begin, int64_t row_end) const {
    const Stage& stage = stages_.program.stages[number];
    for (size_t i = 0; i < stage.results.size(); ++i) {
      const TileResult& result = stage.program.results[i];
      const ScalarType type = result.array.type;
      if (stage.results[i].kind != StagePlaceKind::kResult) continue;
      const int64_t* strides =
          &strides_[number][(stage.operands.size() + i) * stage.program.axes.size()];
      char* base = BaseOf(stage, stage.results[i], type, strides, task, row_begin);
      for (int64_t row = row_begin; row < row_end; ++row) {
        FillNeutral(result.reducer, type, base + row * strides[kRowAxis] * BytesOf(type), 1);
      }
    }
  }

  // Packs what is packed once, or computes the stage for some rows and columns of the panels.
  void RunStage(size_t number, const Task& task, int64_t row_begin, int64_t row_end,
                Columns columns, bool packs) const {
    const Stage& stage = stages_.program.stages[number];
    const StageLayout& layout = layout_.stages[number];
    const size_t axes = stage.program.axes.size();
    std::vector<const void*> operands;
    for (size_t i = 0; i < stage.operands.size(); ++i) {
      operands.push_back(BaseOf(stage, stage.operands[i], stage.program.operands[i].type,
                                &strides_[number][i * axes], task, row_begin));
    }
    std::vector<void*> results;
    for (size_t i = 0; i < stage.results.size(); ++i) {
      results.push_back(BaseOf(stage, stage.results[i], stage.program.results[i].array.type,
                               &strides_[number][(stage.operands.size() + i) * axes], task,
                               row_begin));
    }
    std::vector<int64_t> lengths = layout.lengths;
    // What of each axis is computed.
    std::vector<int64_t> begins(axes, 0);
    std::vector<int64_t> ends = lengths;
    const int summed = SummedAxis(stage.program);
    if (columns.end != kAllColumns) {
      const int axis = layout_.column_axes[number];
      begins[static_cast<size_t>(axis)] = columns.begin;
      ends[static_cast<size_t>(axis)] = columns.end;
      // Panels begin with the first of these columns; sums count from there.
      for (size_t i = 0; i < operands.size(); ++i) {
        const bool is_panel = stage.operands[i].kind == StagePlaceKind::kPanel;
        if (is_panel == (axis == summed)) continue;
        const int64_t offset = columns.begin *
                               strides_[number][i * axes + static_cast<size_t>(axis)] *
                               BytesOf(stage.program.operands[i].type);
        operands[i] = static_cast<const char*>(operands[i]) + (is_panel ? -offset : offset);
      }
      for (size_t i = 0; i < results.size(); ++i) {
        if (stage.results[i].kind != StagePlaceKind::kPanel) continue;
        const size_t place = (stage.operands.size() + i) * axes + static_cast<size_t>(axis);
        results[i] =
            static_cast<char*>(results[i]) -
            columns.begin * strides_[number][place] * BytesOf(stage.program.results[i].array.type);
      }
    }
    KernelCall call = {.operands = operands.data(),
                       .results = results.data(),
                       .strides = strides_[number].data(),
                       .lengths = lengths.data(),
                       .row_begin = row_begin,
                       .row_end = row_end,
                       .column_begin = 0,
                       .column_end = 0,
                       .scratch = task.scratch + layout.packed_offset};
    const Columns own = {.begin = begins[kColumnAxis], .end = ends[kColumnAxis]};
    if (summed == kNoAxis) {
      RunColumns(number, call, own, packs);
      return;
    }
    int64_t length = ends[static_cast<size_t>(summed)] - begins[static_cast<size_t>(summed)];
    if (stage.rows == summed) {
      length = row_end - row_begin;
      call.row_begin = begins[kRowAxis];
      call.row_end = ends[kRowAxis];
    }
    for (int64_t begin = 0; begin < length; begin += layout.summed_at_once) {
      const int64_t next = std::min(layout.summed_at_once, length - begin);
      lengths[static_cast<size_t>(summed)] = next;
      RunColumns(number, call, own, packs);
      for (size_t i = 0; i < operands.size(); ++i) {
        operands[i] = static_cast<const char*>(operands[i]) +
                      next * strides_[number][i * axes + static_cast<size_t>(summed)] *
                          BytesOf(stage.program.operands[i].type);
      }
    }
  }

  // One block of columns after the other, each with its own packed operands.
  void RunColumns(size_t number, KernelCall& call, Columns columns, bool packs) const {
    const CompiledKernel& kernel = *stages_.kernels[number];
    const StageLayout& layout = layout_.stages[number];
    for (int64_t column = columns.begin; column < columns.end; column += kernel.shape.block) {
      call.column_begin = column;
      call.column_end = std::min(column + kernel.shape.block, columns.end);
      if (packs || !layout.is_packed_once) kernel.pack(&call);
      if (!packs) kernel.run(&call);
      if (layout.is_packed_once)
        call.scratch = static_cast<char*>(call.scratch) + layout.packed_bytes;
    }
  }

  const CompiledStages& stages_;
  llvm::ArrayRef<KernelArray> operands_;
  llvm::ArrayRef<KernelArray> results_;
  const StagesLayout& layout_;
  char* scratch_;
  char* parts_;
  // Of each stage: for each operand, then for each result, one number for each axis.
  std::vector<std::vector<int64_t>> strides_;
  HiddenColumns hidden_;
};

std::vector<llvm::ArrayRef<int64_t>> ShapesOf(llvm::ArrayRef<KernelArray> arrays) {
  std::vector<llvm::ArrayRef<int64_t>> shapes;
  for (const KernelArray& array : arrays) shapes.push_back(array.shape);
  return shapes;
}

}  // namespace

Status RunStages(const CompiledStages& stages, llvm::ArrayRef<KernelArray> operands,
                 llvm::ArrayRef<KernelArray> results, llvm::MutableArrayRef<char> scratch,
                 int64_t threads, RunTasks run_tasks) {
  std::vector<KernelShape> shapes;
  for (const CompiledKernel* kernel : stages.kernels) shapes.push_back(kernel->shape);
  ASSIGN_OR_RETURN(
      const StagesLayout layout,
      LayOutStages(stages.program, shapes, ShapesOf(operands), ShapesOf(results), threads));
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  const auto skipped = static_cast<int64_t>((kAlignment - address % kAlignment) % kAlignment);
  const int64_t available = static_cast<int64_t>(scratch.size()) - skipped - layout.part_bytes;
  const int64_t tasks = layout.batch * layout.groups;
  int64_t workers = std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, tasks));
  if (layout.worker_bytes > 0) workers = std::min(workers, available / layout.worker_bytes);
  if (workers < 1 || available < 0) {
    return Status(ErrorCode::kInternal, "a kernel was given too little scratch");
  }
  StagesRun run(stages, operands, results, layout, scratch.data() + skipped, workers);
  run.FillResults();
  // The last rows of a causal mask see the most: they come first, so that threads end together.
  run_tasks(tasks, workers,
            [&](int64_t task, int64_t worker) { run.RunTask(tasks - 1 - task, worker); });
  run.Finish();
  return OkStatus();
}

}  // namespace plimsoll
