#include "kernels/cpu/run_stages.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/cpu/combine_parts.h"
#include "kernels/cpu/hidden_columns.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/kernel_scratch.h"
#include "kernels/cpu/row_results.h"
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

// With the columns that are not hidden from them.
struct SeenRows {
  Range rows;
  SeenColumns seen;
};

class StagesRun {
 public:
  StagesRun(const CompiledStages& stages, llvm::ArrayRef<KernelArray> operands,
            llvm::ArrayRef<KernelArray> results, const StagesLayout& layout,
            const KernelScratch& scratch)
      : stages_(stages),
        results_(results),
        layout_(layout),
        scratch_(scratch),
        runner_(stages, operands, results, layout, scratch.common + layout.part_bytes),
        row_results_(stages.program, layout, runner_),
        hidden_(stages.program, layout, operands) {}

  // What is added to must be there before the first task.
  void FillResults() const {
    runner_.ForgetRounding();
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
    if (HasSlabs()) {
      RunSlabs(task, group);
      return;
    }
    runner_.Pack(task, kAllColumns);
    for (int64_t piece = FirstPiece(group); piece < FirstPiece(group + 1); ++piece) {
      RunPiece(task, RowsOf(piece));
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

  int64_t FirstPiece(int64_t group) const { return layout_.pieces * group / layout_.groups; }

  Range RowsOf(int64_t piece) const {
    const int64_t begin = piece * layout_.rows_of_piece;
    return {.begin = begin, .end = std::min(begin + layout_.rows_of_piece, layout_.rows)};
  }

  void RunSlabs(StageTask& task, int64_t group) {
    const bool has_maxima = !layout_.maxima.empty();
    std::vector<SeenRows> pieces;
    for (int64_t piece = FirstPiece(group); piece < FirstPiece(group + 1); ++piece) {
      const Range rows = RowsOf(piece);
      pieces.push_back(
          {.rows = rows, .seen = has_maxima ? FindSeen(task, rows) : FindReallySeen(task, rows)});
    }
    RunSlabsFor(task, pieces, /*replaces=*/true);
    if (!has_maxima) return;
    // What is hidden if the maximum is what it is now.
    std::vector<SeenRows> not_hidden;
    for (const SeenRows& piece : pieces) {
      if (AreHidden(task, piece)) continue;
      not_hidden.push_back({.rows = piece.rows, .seen = AllSeen()});
    }
    RunAgain(task, not_hidden, /*replaces=*/true);
    RunAgain(task, FindRowsWithoutMaximum(task, pieces), /*replaces=*/false);
  }

  void RunAgain(StageTask& task, llvm::ArrayRef<SeenRows> pieces, bool replaces) const {
    for (const SeenRows& piece : pieces) FillAll(task, piece.rows);
    if (!pieces.empty()) RunSlabsFor(task, pieces, replaces);
  }

  void FillAll(const StageTask& task, Range rows) const {
    for (size_t i = 0; i < stages_.program.stages.size(); ++i) row_results_.Fill(i, task, rows);
  }

  void RunSlabsFor(StageTask& task, llvm::ArrayRef<SeenRows> pieces, bool replaces) const {
    for (int64_t begin = 0; begin < layout_.columns; begin += layout_.columns_at_once) {
      const Range slab = {.begin = begin,
                          .end = std::min(begin + layout_.columns_at_once, layout_.columns)};
      bool is_packed = false;
      for (const SeenRows& piece : pieces) {
        const Range columns = Within(slab, piece.seen);
        if (columns.begin >= columns.end) continue;
        if (!is_packed) runner_.Pack(task, slab);
        is_packed = true;
        GrowingMaxima maxima(row_results_, layout_.maxima, task, piece.rows, replaces);
        for (size_t i = 0; i < stages_.program.stages.size(); ++i) {
          maxima.Before(i);
          runner_.Run(i, task, piece.rows, columns);
          maxima.After(i);
        }
      }
    }
  }

  // Those that have seen nothing but negative infinity, from which nothing is any distance.
  std::vector<SeenRows> FindRowsWithoutMaximum(const StageTask& task,
                                               llvm::ArrayRef<SeenRows> pieces) const {
    std::vector<SeenRows> found;
    for (const SeenRows& piece : pieces) {
      for (int64_t row = piece.rows.begin; row < piece.rows.end; ++row) {
        const bool has_none = llvm::any_of(layout_.maxima, [&](const RunningMaximum& maximum) {
          return row_results_.Get(maximum.stage, maximum.result, task, row) ==
                 -std::numeric_limits<double>::infinity();
        });
        if (!has_none) continue;
        if (!found.empty() && found.back().rows.end == row && row % layout_.rows_of_piece != 0) {
          ++found.back().rows.end;
        } else {
          found.push_back({.rows = {.begin = row, .end = row + 1}, .seen = AllSeen()});
        }
      }
    }
    return found;
  }

  // Those of packed columns that are seen, from the begin of a block on.
  Range Within(Range packed, const SeenColumns& seen) const {
    const int64_t step = runner_.column_step();
    const int64_t left_out = std::max<int64_t>(0, seen.begin - packed.begin) / step * step;
    return {.begin = packed.begin + left_out, .end = std::min(packed.end, seen.end)};
  }

  void RunAllStages(const StageTask& task, Range rows, Range columns) const {
    for (size_t i = 0; i < stages_.program.stages.size(); ++i) {
      runner_.Run(i, task, rows, columns);
    }
  }

  SeenColumns AllSeen() const { return {.begin = 0, .end = layout_.columns}; }

  // All stages for some rows, and all columns but those that are hidden from them.
  void RunPiece(const StageTask& task, Range rows) {
    const SeenColumns seen = FindSeen(task, rows);
    if (seen.before == nullptr && seen.behind == nullptr) {
      RunAllStages(task, rows, kAllColumns);
      return;
    }
    const Range columns = Within({.begin = 0, .end = layout_.columns}, seen);
    for (size_t i = 0; i < stages_.program.stages.size(); ++i) {
      runner_.Run(i, task, rows, columns);
      if (AreZero(i, task, rows, seen.before, seen.begin - columns.begin) &&
          AreZero(i, task, rows, seen.behind, seen.end - 1 - columns.begin)) {
        continue;
      }
      // They are not hidden after all.
      for (size_t j = 0; j <= i; ++j) row_results_.Fill(j, task, rows);
      RunAllStages(task, rows, kAllColumns);
      return;
    }
  }

  // Where no stage waits for all columns, one of them tells whether those that it stands for are
  // really hidden.
  SeenColumns FindReallySeen(StageTask& task, Range rows) {
    SeenColumns seen = FindSeen(task, rows);
    if (!IsHidden(task, rows, seen.before, seen.begin)) seen.begin = 0;
    if (!IsHidden(task, rows, seen.behind, seen.end - 1)) seen.end = layout_.columns;
    if (seen.before != nullptr || seen.behind != nullptr) FillAll(task, rows);
    return seen;
  }

  bool AreHidden(StageTask& task, const SeenRows& piece) const {
    return IsHidden(task, piece.rows, piece.seen.before, piece.seen.begin) &&
           IsHidden(task, piece.rows, piece.seen.behind, piece.seen.end - 1);
  }

  // Adds the column to the results: nothing, if it is hidden.
  bool IsHidden(StageTask& task, Range rows, const MaskConditions* conditions,
                int64_t column) const {
    if (conditions == nullptr || conditions->zero_panels.empty()) return true;
    const Range columns = {.begin = column, .end = column + 1};
    runner_.Pack(task, columns);
    GrowingMaxima maxima(row_results_, layout_.maxima, task, rows, /*replaces=*/true);
    size_t looked_at = 0;
    bool is_hidden = true;
    for (size_t i = 0; is_hidden && looked_at < conditions->zero_panels.size(); ++i) {
      maxima.Before(i);
      runner_.Run(i, task, rows, columns);
      maxima.After(i);
      is_hidden = AreZero(i, task, rows, conditions, 0);
      looked_at += static_cast<size_t>(llvm::count_if(
          stages_.program.stages[i].results,
          [&](const StagePlace& place) { return IsWantedZero(place, *conditions); }));
    }
    return is_hidden;
  }

  SeenColumns FindSeen(const StageTask& task, Range rows) {
    if (!hidden_.may_hide()) return AllSeen();
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

  static bool IsWantedZero(const StagePlace& place, const MaskConditions& conditions) {
    return place.kind == StagePlaceKind::kPanel &&
           llvm::is_contained(conditions.zero_panels, place.number);
  }

  // True if the panels of a stage that have to be zero in a column are, counted from the first one
  // that was computed.
  bool AreZero(size_t number, const StageTask& task, Range rows, const MaskConditions* conditions,
               int64_t column) const {
    const Stage& stage = stages_.program.stages[number];
    for (size_t i = 0; conditions != nullptr && i < stage.results.size(); ++i) {
      const StagePlace& place = stage.results[i];
      if (!IsWantedZero(place, *conditions)) continue;
      const PanelLayout& panel = layout_.panels[static_cast<size_t>(place.number)];
      const int64_t bytes = BytesOf(panel.type);
      const char* element = task.scratch + layout_.slot_offsets[panel.slot] +
                            column * runner_.StridesOfResult(number, i)[kColumnAxis] * bytes;
      for (int64_t row = 0; row < rows.end - rows.begin; ++row) {
        if (!IsZero(panel.type, element + row * panel.row_stride * bytes)) return false;
      }
    }
    return true;
  }

  const CompiledStages& stages_;
  llvm::ArrayRef<KernelArray> results_;
  const StagesLayout& layout_;
  KernelScratch scratch_;
  StageRunner runner_;
  RowResults row_results_;
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
