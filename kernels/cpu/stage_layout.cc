#include "kernels/cpu/stage_layout.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/long_sums.h"
#include "kernels/cpu/machine.h"
#include "kernels/masked_columns.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

constexpr int64_t kMostWorkerBytes = 4 << 20;
// What panels have beyond the second cache: with more rows, what rows are summed into passes by
// less often, which is worth more.
constexpr int64_t kBeyondCache = 384 << 10;
constexpr int64_t kLeastRows = 8;
// With fewer rows at once, what is packed for all of them is read too often.
constexpr int64_t kFewRows = 32;
// Columns of a slab, a multiple of what most stages take at once.
constexpr int64_t kSlabColumns = 1536;
constexpr int64_t kMostRows = 512;
// Panels of small programs take a small part of what they spare.
constexpr int64_t kLeastPieces = 16;
// A sum's operands stay in the caches for all rows of a piece.
constexpr int64_t kSummedAtOnce = 384;
constexpr int64_t kTasksPerThread = 2;
// With parts: they are as large as the results, and their number must not depend on the threads.
constexpr int64_t kTasksWithParts = 4;

template <typename... Parts>
Status Error(const Parts&... parts) {
  return Status(ErrorCode::kWrongInputs, StrCat("a kernel's arrays do not fit: ", parts...));
}

class LayoutMaker {
 public:
  LayoutMaker(const StagedProgram& program, llvm::ArrayRef<KernelShape> shapes,
              llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
              llvm::ArrayRef<llvm::ArrayRef<int64_t>> results)
      : program_(program), shapes_(shapes), operands_(operands), results_(results) {}

  StatusOr<StagesLayout> Make(int64_t threads) {
    RETURN_IF_ERROR(FindAllLengths());
    Status status = PlaceColumns(layout_.columns);
    const bool has_few_rows =
        layout_.rows_of_piece < kFewRows && layout_.rows_of_piece < layout_.rows;
    if ((!status.ok() || has_few_rows) && layout_.columns > kSlabColumns && CanHaveSlabs()) {
      status = PlaceColumns(kSlabColumns);
    }
    RETURN_IF_ERROR(status);
    ShareOut(threads);
    PlaceCompensations();
    return std::move(layout_);
  }

  StatusOr<StagesLayout> MakeBlocks(llvm::function_ref<int64_t(int64_t)> block_of) {
    RETURN_IF_ERROR(FindAllLengths());
    if (!CanHaveSlabs() || !layout_.maxima.empty()) {
      return Status(ErrorCode::kNotUnderstood, "a stage needs all columns at once");
    }
    RETURN_IF_ERROR(PlaceColumns(block_of(layout_.columns)));
    PlaceCompensations();
    return std::move(layout_);
  }

 private:
  Status FindAllLengths() {
    if (operands_.size() != static_cast<size_t>(program_.CountOf(StagePlaceKind::kArgument)) ||
        results_.size() != static_cast<size_t>(program_.CountOf(StagePlaceKind::kResult))) {
      return Error("their number is another");
    }
    layout_.panels.resize(static_cast<size_t>(program_.CountOf(StagePlaceKind::kPanel)));
    for (const Stage& stage : program_.stages) RETURN_IF_ERROR(FindLengths(stage));
    return FindCommonLengths();
  }

  llvm::ArrayRef<int64_t> ShapeOf(const StagePlace& place) const {
    const auto number = static_cast<size_t>(place.number);
    switch (place.kind) {
      case StagePlaceKind::kArgument:
        return operands_[number];
      case StagePlaceKind::kPanel:
        return layout_.panels[number].shape;
      case StagePlaceKind::kResult:
        return results_[number];
    }
    return {};
  }

  Status FindLengths(const Stage& stage) {
    // Panels that it writes are as long as its other arrays say.
    TileProgram known = stage.program;
    known.results.clear();
    std::vector<llvm::ArrayRef<int64_t>> operand_shapes;
    std::vector<llvm::ArrayRef<int64_t>> result_shapes;
    for (const StagePlace& place : stage.operands) operand_shapes.push_back(ShapeOf(place));
    for (size_t i = 0; i < stage.results.size(); ++i) {
      if (stage.results[i].kind == StagePlaceKind::kPanel) continue;
      known.results.push_back(stage.program.results[i]);
      result_shapes.push_back(ShapeOf(stage.results[i]));
    }
    StageLayout layout;
    ASSIGN_OR_RETURN(layout.lengths, AxisLengths(known, operand_shapes, result_shapes));
    for (size_t i = 0; i < stage.results.size(); ++i) {
      if (stage.results[i].kind != StagePlaceKind::kPanel) continue;
      PanelLayout& panel = layout_.panels[static_cast<size_t>(stage.results[i].number)];
      panel.type = stage.program.results[i].array.type;
      for (const int axis : stage.program.results[i].array.axes) {
        panel.shape.push_back(axis == kNoAxis ? 1 : layout.lengths[static_cast<size_t>(axis)]);
      }
    }
    layout_.stages.push_back(std::move(layout));
    return OkStatus();
  }

  // All stages have the same rows and the same batch.
  Status FindCommonLengths() {
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      const Stage& stage = program_.stages[i];
      const std::vector<int64_t>& lengths = layout_.stages[i].lengths;
      std::vector<int64_t> common = {lengths[static_cast<size_t>(stage.rows)]};
      for (size_t axis = 0; axis < lengths.size(); ++axis) {
        if (stage.program.axes[axis].kind == TileAxisKind::kBatch) common.push_back(lengths[axis]);
      }
      if (i == 0) common_ = common;
      if (common != common_) return Error("stages have other rows or another batch");
    }
    if (const std::optional<std::vector<int>> columns = PanelColumns(program_)) {
      layout_.column_axes = *columns;
      layout_.columns = layout_.stages[0].lengths[static_cast<size_t>((*columns)[0])];
    }
    layout_.rows = common_[0];
    layout_.batch = ElementCount(llvm::ArrayRef(common_).drop_front());
    return OkStatus();
  }

  // Where everything lies if that many columns are computed at once.
  Status PlaceColumns(int64_t columns_at_once) {
    layout_.columns_at_once = columns_at_once;
    slots_.clear();
    layout_.slot_offsets.clear();
    for (size_t i = 0; i < program_.stages.size(); ++i) PlacePanels(i);
    return ChooseRows();
  }

  // True if no stage needs a result of all columns before it can begin. Finds the maxima by which
  // one goes on from slab to slab.
  bool CanHaveSlabs() {
    if (layout_.column_axes.empty()) return false;
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      const Stage& stage = program_.stages[i];
      const int column = layout_.column_axes[i];
      const bool follows = llvm::any_of(
          stage.program.results, [](const TileResult& result) { return result.follows >= 0; });
      if (!CanRunPart(stage, column) || follows || HasPositionsFromFirst(stage, column)) {
        return false;
      }
    }
    std::optional<std::vector<RunningMaximum>> maxima = FindRunningMaxima(program_);
    if (!maxima) return false;
    layout_.maxima = *std::move(maxima);
    return true;
  }

  // The lengths of a stage's axes within a slab.
  std::vector<int64_t> LengthsAtOnce(size_t stage) const {
    std::vector<int64_t> lengths = layout_.stages[stage].lengths;
    if (!layout_.column_axes.empty()) {
      int64_t& length = lengths[static_cast<size_t>(layout_.column_axes[stage])];
      length = std::min(length, layout_.columns_at_once);
    }
    return lengths;
  }

  // The last stage that reads a panel.
  size_t LastReader(int panel) const {
    size_t last = 0;
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      for (const auto* places : {&program_.stages[i].operands, &program_.stages[i].results}) {
        for (const StagePlace& place : *places) {
          if (place.kind == StagePlaceKind::kPanel && place.number == panel) last = i;
        }
      }
    }
    return last;
  }

  // True if the stage reads the panel element by element as it writes the result.
  static bool CanBeInPlace(const Stage& stage, int panel, const TileArray& result) {
    for (size_t i = 0; i < stage.operands.size(); ++i) {
      const StagePlace& place = stage.operands[i];
      if (place.kind == StagePlaceKind::kPanel && place.number == panel &&
          stage.program.operands[i] != result) {
        return false;
      }
    }
    return true;
  }

  void PlacePanels(size_t number) {
    const Stage& stage = program_.stages[number];
    for (size_t i = 0; i < stage.results.size(); ++i) {
      if (stage.results[i].kind != StagePlaceKind::kPanel) continue;
      PanelLayout& panel = layout_.panels[static_cast<size_t>(stage.results[i].number)];
      const TileArray& array = stage.program.results[i].array;
      SetStrides(stage, array, layout_.columns_at_once, panel);
      panel.slot = FindSlot(number, array, panel);
      if (panel.slot == slots_.size()) slots_.push_back({.row_bytes = panel.row_bytes});
      slots_[panel.slot].panel = stage.results[i].number;
    }
  }

  // Columns are next to each other; rows begin at different places in the caches.
  static void SetStrides(const Stage& stage, const TileArray& array, int64_t columns_at_once,
                         PanelLayout& panel) {
    panel.strides.assign(panel.shape.size(), 0);
    int64_t stride = 1;
    for (size_t i = panel.shape.size(); i-- > 0;) {
      const int axis = array.axes[i];
      if (axis == kNoAxis || axis == stage.rows) continue;
      if (stage.program.axes[static_cast<size_t>(axis)].kind == TileAxisKind::kBatch) continue;
      panel.strides[i] = stride;
      const int64_t apart = kScratchAlignment / BytesOf(panel.type);
      const int64_t columns = columns_at_once == 0 ? panel.shape[i] : columns_at_once;
      stride *= axis == kColumnAxis ? RoundUp(std::min(panel.shape[i], columns), apart) + apart
                                    : panel.shape[i];
    }
    panel.row_stride = stride;
    for (size_t i = 0; i < panel.shape.size(); ++i) {
      if (array.axes[i] == stage.rows) panel.strides[i] = stride;
    }
    panel.row_bytes = stride * BytesOf(panel.type);
  }

  size_t FindSlot(size_t stage, const TileArray& array, const PanelLayout& panel) const {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].row_bytes != panel.row_bytes) continue;
      const size_t last = LastReader(slots_[i].panel);
      const bool is_free =
          last < stage ||
          (last == stage && IsReadBy(stage, slots_[i].panel) &&
           layout_.panels[static_cast<size_t>(slots_[i].panel)].type == panel.type &&
           CanBeInPlace(program_.stages[stage], slots_[i].panel, array));
      if (is_free) return i;
    }
    return slots_.size();
  }

  bool IsReadBy(size_t stage, int panel) const {
    return llvm::is_contained(program_.stages[stage].operands,
                              StagePlace{.kind = StagePlaceKind::kPanel, .number = panel});
  }

  int64_t RowBytes() const {
    int64_t bytes = 0;
    for (const Slot& slot : slots_) bytes += slot.row_bytes;
    return bytes;
  }

  // Where packed operands lie, if a piece has so many rows; gives the bytes that they take.
  int64_t PlacePacked(int64_t rows_of_piece) {
    int64_t bytes = 0;
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      const Stage& stage = program_.stages[i];
      StageLayout& layout = layout_.stages[i];
      const int summed = SummedAxis(stage.program);
      std::vector<int64_t> lengths = LengthsAtOnce(i);
      int64_t blocks = 1;
      if (summed != kNoAxis) {
        int64_t& length = lengths[static_cast<size_t>(summed)];
        layout.summed_at_once =
            stage.rows == summed ? rows_of_piece : std::min(length, kSummedAtOnce);
        blocks = (length + layout.summed_at_once - 1) / std::max<int64_t>(1, layout.summed_at_once);
        length = layout.summed_at_once;
      }
      const int64_t columns = lengths[kColumnAxis];
      const KernelShape& shape = shapes_[i];
      KernelShape packed = shape;
      const auto count = llvm::count_if(stage.program.operands, [&](const TileArray& operand) {
        return IsPacked(stage.program, operand);
      });
      // What lies behind the columns of a single one is not touched.
      if (count == 1) packed.block = std::min(shape.block, RoundUp(columns, shape.lanes));
      layout.packed_bytes = RoundUp(PackedBytes(stage.program, packed, lengths), kScratchAlignment);
      layout.packed_offset = bytes;
      if (layout.is_packed_once) blocks *= (columns + shape.block - 1) / shape.block;
      bytes += layout.packed_bytes * (layout.is_packed_once ? blocks : 1);
    }
    return bytes;
  }

  // True if packing is a copy of pieces of memory, which can be done for each piece of rows.
  static bool IsFastToPack(const TileProgram& program) {
    return SummedAxis(program) != kNoAxis &&
           llvm::all_of(program.operands, [&](const TileArray& operand) {
             return !IsPacked(program, operand) || operand.axes.back() == kColumnAxis;
           });
  }

  Status ChooseRows() {
    int64_t step = 1;
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      if (program_.stages[i].rows == kRowAxis) step = std::lcm(step, int64_t{shapes_[i].rows});
    }
    const int64_t least = RoundUp(kLeastRows, step);
    const int64_t row_bytes = RowBytes();
    int64_t rows = RoundUp(kMostRows, step);
    const int64_t panel_bytes = SecondCacheBytes() + kBeyondCache;
    if (row_bytes > 0) rows = std::min(rows, panel_bytes / row_bytes / step * step);
    rows = std::min(rows, RoundUp(layout_.rows, kLeastPieces * step) / kLeastPieces);
    rows = std::max(least, rows);
    const auto is_too_much = [&] {
      return PlacePacked(rows) + rows * row_bytes > kMostWorkerBytes;
    };
    for (size_t i = program_.stages.size(); i-- > 0;) {
      layout_.stages[i].is_packed_once = program_.stages[i].rows == kRowAxis;
    }
    for (size_t i = program_.stages.size(); i-- > 0 && is_too_much();) {
      if (IsFastToPack(program_.stages[i].program)) layout_.stages[i].is_packed_once = false;
    }
    while (rows > least && is_too_much()) rows -= step;
    const int64_t packed = PlacePacked(rows);
    layout_.rows_of_piece = rows;
    layout_.worker_bytes = packed;
    for (const Slot& slot : slots_) {
      layout_.slot_offsets.push_back(layout_.worker_bytes);
      layout_.worker_bytes += RoundUp(slot.row_bytes * rows, kScratchAlignment);
    }
    if (layout_.worker_bytes > kMostWorkerBytes) {
      return Status(ErrorCode::kNotUnderstood,
                    StrCat("a worker would need ", layout_.worker_bytes, " bytes of scratch, and ",
                           kMostWorkerBytes, " are allowed"));
    }
    layout_.pieces = std::max<int64_t>(1, (layout_.rows + rows - 1) / rows);
    return OkStatus();
  }

  void ShareOut(int64_t threads) {
    const bool has_parts =
        llvm::any_of(program_.stages, [](const Stage& stage) { return stage.rows != kRowAxis; });
    const int64_t wanted = has_parts ? kTasksWithParts : kTasksPerThread * threads;
    const int64_t batch = std::max<int64_t>(1, layout_.batch);
    layout_.groups = std::clamp<int64_t>((wanted + batch - 1) / batch, 1, layout_.pieces);
    layout_.part_elements.assign(results_.size(), 0);
    layout_.part_offsets.assign(results_.size(), 0);
    for (const Stage& stage : program_.stages) {
      if (stage.rows == kRowAxis || layout_.groups == 1) continue;
      for (size_t i = 0; i < stage.results.size(); ++i) {
        const auto number = static_cast<size_t>(stage.results[i].number);
        const int64_t elements = ElementCount(results_[number]) / batch;
        layout_.part_elements[number] = elements;
        layout_.part_offsets[number] = layout_.part_bytes;
        layout_.part_bytes += RoundUp(
            elements * batch * layout_.groups * BytesOf(stage.program.results[i].array.type),
            kScratchAlignment);
      }
    }
  }

  void PlaceCompensations() {
    for (const Stage& stage : program_.stages) {
      std::vector<int64_t>& offsets = layout_.compensation_offsets.emplace_back();
      for (const TileResult& result : stage.program.results) {
        offsets.push_back(IsSumOverColumns(result) ? layout_.compensation_bytes : -1);
        if (offsets.back() < 0) continue;
        layout_.compensation_bytes +=
            RoundUp(layout_.batch * layout_.rows * CompensationBytesOfRow(stage.program, result),
                    kScratchAlignment);
      }
    }
  }

  // Memory for one panel after the other.
  struct Slot {
    int64_t row_bytes = 0;
    int panel = 0;  // The last one so far.
  };

  const StagedProgram& program_;
  llvm::ArrayRef<KernelShape> shapes_;
  llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands_;
  llvm::ArrayRef<llvm::ArrayRef<int64_t>> results_;
  std::vector<int64_t> common_;
  std::vector<Slot> slots_;
  StagesLayout layout_;
};

}  // namespace

bool CanRunPart(const Stage& stage, int axis) {
  return axis == kColumnAxis || axis == SummedAxis(stage.program) ||
         (axis == kRowAxis && stage.rows != kRowAxis);
}

bool HasPositionsFromFirst(const Stage& stage, int column) {
  return column != kColumnAxis && llvm::any_of(stage.program.ops, [&](const TileOp& op) {
           return op.kind == TileOpKind::kIota && op.index == column;
         });
}

StatusOr<StagesLayout> LayOutStages(const StagedProgram& program,
                                    llvm::ArrayRef<KernelShape> shapes,
                                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> results,
                                    int64_t threads) {
  return LayoutMaker(program, shapes, operands, results).Make(threads);
}

StatusOr<StagesLayout> LayOutBlocks(const StagedProgram& program,
                                    llvm::ArrayRef<KernelShape> shapes,
                                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> results,
                                    llvm::function_ref<int64_t(int64_t)> block_of) {
  return LayoutMaker(program, shapes, operands, results).MakeBlocks(block_of);
}

ScratchNeed NeedOf(const StagesLayout& layout) {
  return {.worker_bytes = layout.worker_bytes,
          .common_bytes = layout.part_bytes + layout.compensation_bytes};
}

int64_t ScratchBytes(const StagesLayout& layout, int64_t threads) {
  const int64_t tasks = std::max<int64_t>(1, layout.batch * layout.groups);
  return NeedOf(layout).BytesFor(std::clamp<int64_t>(threads, 1, tasks));
}

}  // namespace plimsoll
