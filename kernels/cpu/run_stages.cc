#include "kernels/cpu/run_stages.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kernels/cpu/combine_parts.h"
#include "kernels/cpu/hidden_columns.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/kernel_scratch.h"
#include "kernels/cpu/stage_layout.h"
#include "kernels/cpu/stage_runner.h"

namespace plimsoll {
namespace {

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
            llvm::ArrayRef<KernelArray> results, const StagesLayout& layout,
            const KernelScratch& scratch)
      : stages_(stages),
        results_(results),
        layout_(layout),
        scratch_(scratch),
        runner_(stages, operands, results, layout),
        hidden_(stages.program, layout, operands) {}

  // What is added to must be there before the first task.
  void FillResults() const {
    ForEachResult([&](const TileResult& result, size_t, size_t number) {
      if (result.reducer == Opcode::kUnknown || layout_.part_elements[number] > 0) return;
      FillNeutral(result.reducer, result.array.type, results_[number].data,
                  ElementCount(results_[number].shape));
    });
  }

  void RunTask(int64_t number, int64_t worker) {
    const int64_t group = number % layout_.groups;
    StageTask task = {.element = number / layout_.groups,
                      .scratch = scratch_.workers + worker * layout_.worker_bytes,
                      .parts = std::vector<char*>(results_.size(), nullptr)};
    ForEachResult([&](const TileResult& result, size_t, size_t place) {
      const int64_t elements = layout_.part_elements[place];
      if (elements == 0) return;
      task.parts[place] = PartOf(place, result.array.type, task.element, group);
      FillNeutral(result.reducer, result.array.type, task.parts[place], elements);
    });
    if (!HasSlabs()) {
      RunSlab(task, group, kAllColumns);
      return;
    }
    for (int64_t column = 0; column < layout_.columns; column += layout_.columns_at_once) {
      RunSlab(
          task, group,
          {.begin = column, .end = std::min(column + layout_.columns_at_once, layout_.columns)});
    }
  }

  // Puts the groups' parts together.
  void Finish() const {
    ForEachResult([&](const TileResult& result, size_t stage, size_t number) {
      const int64_t elements = layout_.part_elements[number];
      if (elements == 0) return;
      for (int64_t element = 0; element < layout_.batch; ++element) {
        char* part = PartOf(number, result.array.type, element, 0);
        CombineParts(result.reducer, result.array.type, part, elements, layout_.groups);
        const int64_t offset = runner_.BatchOffset(
            stage,
            AxisStrides(stages_.program.stages[stage].program, result.array, results_[number].shape)
                .data(),
            element);
        const int64_t bytes = BytesOf(result.array.type);
        std::memcpy(static_cast<char*>(results_[number].data) + offset * bytes, part,
                    static_cast<size_t>(elements * bytes));
      }
    });
  }

 private:
  // Calls `visit` with each result, the number of its stage and its own.
  template <typename Visit>
  void ForEachResult(Visit visit) const {
    for (size_t number = 0; number < stages_.program.stages.size(); ++number) {
      const Stage& stage = stages_.program.stages[number];
      for (size_t i = 0; i < stage.results.size(); ++i) {
        if (stage.results[i].kind != StagePlaceKind::kResult) continue;
        visit(stage.program.results[i], number, static_cast<size_t>(stage.results[i].number));
      }
    }
  }

  char* PartOf(size_t result, ScalarType type, int64_t element, int64_t group) const {
    return scratch_.common + layout_.part_offsets[result] +
           (element * layout_.groups + group) * layout_.part_elements[result] * BytesOf(type);
  }

  bool HasSlabs() const {
    return layout_.columns_at_once > 0 && layout_.columns_at_once < layout_.columns;
  }

  void RunSlab(const StageTask& task, int64_t group, Range columns) {
    runner_.Pack(task, columns);
    const int64_t end = layout_.pieces * (group + 1) / layout_.groups;
    for (int64_t piece = layout_.pieces * group / layout_.groups; piece < end; ++piece) {
      const int64_t row_begin = piece * layout_.rows_of_piece;
      const Range rows = {.begin = row_begin,
                          .end = std::min(row_begin + layout_.rows_of_piece, layout_.rows)};
      if (!HasSlabs() && hidden_.may_hide()) {
        RunSeen(task, rows);
        continue;
      }
      for (size_t i = 0; i < stages_.program.stages.size(); ++i) {
        runner_.Run(i, task, rows, columns);
      }
    }
  }

  // All stages for some rows, without columns that are hidden from them.
  void RunSeen(const StageTask& task, Range rows) {
    const size_t count = stages_.program.stages.size();
    SeenColumns seen = FindSeen(task, rows);
    Range columns = {.begin = 0, .end = seen.end};
    for (size_t i = 0; i < count; ++i) {
      runner_.Run(i, task, rows, columns);
      if (seen.conditions == nullptr || AreZero(i, task, rows.end - rows.begin, seen)) continue;
      // They are not hidden after all.
      seen.conditions = nullptr;
      columns = kAllColumns;
      for (size_t j = 0; j <= i; ++j) FillRows(j, task, rows);
      for (size_t j = 0; j <= i; ++j) runner_.Run(j, task, rows, columns);
    }
  }

  SeenColumns FindSeen(const StageTask& task, Range rows) {
    return hidden_.SeenBy(rows.begin, rows.end, [&](size_t number, size_t operand) {
      const Stage& stage = stages_.program.stages[number];
      const int64_t* strides = runner_.StridesOfOperand(number, operand);
      return StageOperand{
          .first = runner_.BaseOf(number, stage.operands[operand],
                                  stage.program.operands[operand].type, strides, task, rows.begin),
          .row_stride = strides[kRowAxis],
          .column_stride = strides[kColumnAxis]};
    });
  }

  // True if the panels of a stage that have to be zero in the last column that was computed are.
  bool AreZero(size_t number, const StageTask& task, int64_t rows, const SeenColumns& seen) const {
    const Stage& stage = stages_.program.stages[number];
    for (size_t i = 0; i < stage.results.size(); ++i) {
      const StagePlace& place = stage.results[i];
      if (place.kind != StagePlaceKind::kPanel ||
          !llvm::is_contained(seen.conditions->zero_panels, place.number)) {
        continue;
      }
      const PanelLayout& panel = layout_.panels[static_cast<size_t>(place.number)];
      const int64_t bytes = BytesOf(panel.type);
      const char* element =
          task.scratch + layout_.slot_offsets[panel.slot] +
          (seen.end - 1) * runner_.StridesOfResult(number, i)[kColumnAxis] * bytes;
      for (int64_t row = 0; row < rows; ++row) {
        if (!IsZero(panel.type, element + row * panel.row_stride * bytes)) return false;
      }
    }
    return true;
  }

  // Makes a stage's results anew for some rows. They have no axes but the batch and the rows.
  void FillRows(size_t number, const StageTask& task, Range rows) const {
    const Stage& stage = stages_.program.stages[number];
    for (size_t i = 0; i < stage.results.size(); ++i) {
      const TileResult& result = stage.program.results[i];
      const ScalarType type = result.array.type;
      if (stage.results[i].kind != StagePlaceKind::kResult) continue;
      const int64_t* strides = runner_.StridesOfResult(number, i);
      char* base = runner_.BaseOf(number, stage.results[i], type, strides, task, rows.begin);
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        FillNeutral(result.reducer, type, base + row * strides[kRowAxis] * BytesOf(type), 1);
      }
    }
  }

  const CompiledStages& stages_;
  llvm::ArrayRef<KernelArray> results_;
  const StagesLayout& layout_;
  KernelScratch scratch_;
  StageRunner runner_;
  HiddenColumns hidden_;
};

}  // namespace

Status RunStages(const CompiledStages& stages, llvm::ArrayRef<KernelArray> operands,
                 llvm::ArrayRef<KernelArray> results, llvm::MutableArrayRef<char> scratch,
                 int64_t threads, RunTasks run_tasks) {
  std::vector<KernelShape> shapes;
  for (const CompiledKernel* kernel : stages.kernels) shapes.push_back(kernel->shape);
  ASSIGN_OR_RETURN(
      const StagesLayout layout,
      LayOutStages(stages.program, shapes, ShapesOf(operands), ShapesOf(results), threads));
  const int64_t tasks = layout.batch * layout.groups;
  ASSIGN_OR_RETURN(const KernelScratch shared,
                   ShareScratch(scratch, NeedOf(layout),
                                std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, tasks))));
  StagesRun run(stages, operands, results, layout, shared);
  run.FillResults();
  // The last rows of a causal mask see the most: they come first, so that threads end together.
  run_tasks(tasks, shared.worker_count,
            [&](int64_t task, int64_t worker) { run.RunTask(tasks - 1 - task, worker); });
  run.Finish();
  return OkStatus();
}

}  // namespace plimsoll
