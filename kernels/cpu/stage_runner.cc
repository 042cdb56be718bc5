#include "kernels/cpu/stage_runner.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/cpu/long_sums.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {

StageRunner::StageRunner(const CompiledStages& stages, llvm::ArrayRef<KernelArray> operands,
                         llvm::ArrayRef<KernelArray> results, const StagesLayout& layout,
                         char* compensations)
    : stages_(stages),
      operands_(operands),
      results_(results),
      layout_(layout),
      compensations_(compensations) {
  for (size_t number = 0; number < stages.program.stages.size(); ++number) {
    const Stage& stage = stages.program.stages[number];
    if (layout.stages[number].is_packed_once && layout.stages[number].packed_bytes > 0) {
      column_step_ = std::lcm(column_step_, stages.kernels[number]->shape.block);
    }
    strides_.emplace_back();
    for (size_t i = 0; i < stage.operands.size(); ++i) {
      AddStrides(stage, stage.operands[i], stage.program.operands[i]);
    }
    for (size_t i = 0; i < stage.results.size(); ++i) {
      AddStrides(stage, stage.results[i], stage.program.results[i].array);
    }
  }
}

void StageRunner::AddStrides(const Stage& stage, const StagePlace& place, const TileArray& array) {
  const auto number = static_cast<size_t>(place.number);
  std::vector<int64_t> strides(stage.program.axes.size(), 0);
  if (place.kind == StagePlaceKind::kPanel) {
    const PanelLayout& panel = layout_.panels[number];
    for (size_t i = 0; i < array.axes.size(); ++i) {
      if (array.axes[i] != kNoAxis) strides[static_cast<size_t>(array.axes[i])] = panel.strides[i];
    }
  } else {
    const bool is_argument = place.kind == StagePlaceKind::kArgument;
    strides = AxisStrides(stage.program, array,
                          is_argument ? operands_[number].shape : results_[number].shape);
  }
  llvm::append_range(strides_.back(), strides);
}

const int64_t* StageRunner::StridesOfOperand(size_t stage, size_t operand) const {
  return &strides_[stage][operand * stages_.program.stages[stage].program.axes.size()];
}

const int64_t* StageRunner::StridesOfResult(size_t stage, size_t result) const {
  return StridesOfOperand(stage, stages_.program.stages[stage].operands.size() + result);
}

int64_t StageRunner::BatchOffset(size_t stage, const int64_t* strides, int64_t element) const {
  const TileProgram& program = stages_.program.stages[stage].program;
  const std::vector<int64_t>& lengths = layout_.stages[stage].lengths;
  int64_t offset = 0;
  for (size_t axis = program.axes.size(); axis-- > 0;) {
    if (program.axes[axis].kind != TileAxisKind::kBatch) continue;
    offset += element % lengths[axis] * strides[axis];
    element /= lengths[axis];
  }
  return offset;
}

char* StageRunner::BaseOf(size_t stage, const StagePlace& place, ScalarType type,
                          const int64_t* strides, const StageTask& task, int64_t row_begin) const {
  const auto number = static_cast<size_t>(place.number);
  const int rows = stages_.program.stages[stage].rows;
  const int64_t bytes = BytesOf(type);
  // A stage that sums over rows counts them from the piece's first one, as panels do.
  const bool sums_rows = rows != kRowAxis;
  const int64_t row_offset = row_begin * strides[rows] * bytes;
  if (place.kind == StagePlaceKind::kPanel) {
    char* base = task.scratch + layout_.slot_offsets[layout_.panels[number].slot];
    return sums_rows ? base : base - row_offset;
  }
  if (place.kind == StagePlaceKind::kResult && task.parts[number] != nullptr) {
    return task.parts[number];
  }
  const KernelArray& array =
      place.kind == StagePlaceKind::kArgument ? operands_[number] : results_[number];
  char* base = static_cast<char*>(array.data) + BatchOffset(stage, strides, task.element) * bytes;
  return sums_rows ? base + row_offset : base;
}

void StageRunner::ForgetRounding() const {
  std::memset(compensations_, 0, static_cast<size_t>(layout_.compensation_bytes));
}

void StageRunner::ForgetRounding(size_t stage, size_t result, const StageTask& task,
                                 Range rows) const {
  char* first = CompensationsOf(stage, result, task.element);
  if (first == nullptr) return;
  const int64_t row_bytes = CompensationBytes(stage, result);
  std::memset(first + rows.begin * row_bytes, 0,
              static_cast<size_t>((rows.end - rows.begin) * row_bytes));
}

char* StageRunner::CompensationsOf(size_t stage, size_t result, int64_t element) const {
  const int64_t offset = layout_.compensation_offsets[stage][result];
  if (offset < 0) return nullptr;
  return compensations_ + offset + element * layout_.rows * CompensationBytes(stage, result);
}

int64_t StageRunner::CompensationBytes(size_t stage, size_t result) const {
  const TileProgram& program = stages_.program.stages[stage].program;
  return CompensationBytesOfRow(program, program.results[result]);
}

void StageRunner::Pack(StageTask& task, Range columns) const {
  task.packed = columns;
  for (size_t i = 0; i < stages_.program.stages.size(); ++i) {
    if (!layout_.stages[i].is_packed_once) continue;
    RunStage(i, task, {.begin = 0, .end = layout_.rows}, columns, /*packs=*/true);
  }
}

void StageRunner::Run(size_t stage, const StageTask& task, Range rows, Range columns) const {
  RunStage(stage, task, rows, columns, /*packs=*/false);
}

void StageRunner::RunStage(size_t number, const StageTask& task, Range rows, Range columns,
                           bool packs) const {
  const Stage& stage = stages_.program.stages[number];
  const StageLayout& layout = layout_.stages[number];
  const size_t axes = stage.program.axes.size();
  std::vector<const void*> operands;
  for (size_t i = 0; i < stage.operands.size(); ++i) {
    operands.push_back(BaseOf(number, stage.operands[i], stage.program.operands[i].type,
                              StridesOfOperand(number, i), task, rows.begin));
  }
  // Parts of results may not be there yet when operands are packed.
  std::vector<void*> results(packs ? stage.results.size() : 0, nullptr);
  for (size_t i = results.size(); i < stage.results.size(); ++i) {
    results.push_back(BaseOf(number, stage.results[i], stage.program.results[i].array.type,
                             StridesOfResult(number, i), task, rows.begin));
  }
  std::vector<void*> compensations;
  for (size_t i = 0; i < stage.results.size(); ++i) {
    compensations.push_back(CompensationsOf(number, i, task.element));
  }
  std::vector<int64_t> lengths = layout.lengths;
  // What of each axis is computed.
  std::vector<int64_t> begins(axes, 0);
  std::vector<int64_t> ends = lengths;
  const int summed = SummedAxis(stage.program);
  if (columns.end != kAllColumns.end) {
    const int axis = layout_.column_axes[number];
    begins[static_cast<size_t>(axis)] = columns.begin;
    ends[static_cast<size_t>(axis)] = columns.end;
    // Panels begin with the first of these columns; sums count from there.
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool is_panel = stage.operands[i].kind == StagePlaceKind::kPanel;
      if (is_panel == (axis == summed)) continue;
      const int64_t offset = columns.begin * StridesOfOperand(number, i)[axis] *
                             BytesOf(stage.program.operands[i].type);
      operands[i] = static_cast<const char*>(operands[i]) + (is_panel ? -offset : offset);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (packs || stage.results[i].kind != StagePlaceKind::kPanel) continue;
      results[i] =
          static_cast<char*>(results[i]) - columns.begin * StridesOfResult(number, i)[axis] *
                                               BytesOf(stage.program.results[i].array.type);
    }
  }
  KernelCall call = {.operands = operands.data(),
                     .results = results.data(),
                     .compensations = compensations.data(),
                     .strides = strides_[number].data(),
                     .lengths = lengths.data(),
                     .row_begin = rows.begin,
                     .row_end = rows.end,
                     .column_begin = 0,
                     .column_end = 0,
                     .scratch = task.scratch + layout.packed_offset};
  const Range own = {.begin = begins[kColumnAxis], .end = ends[kColumnAxis]};
  const bool has_some_packed =
      task.packed.end != kAllColumns.end && layout_.column_axes[number] == kColumnAxis;
  const Range packed =
      has_some_packed ? task.packed : Range{.begin = 0, .end = layout.lengths[kColumnAxis]};
  if (summed == kNoAxis) {
    RunColumns(number, call, own, packed, packs);
    return;
  }
  int64_t length = ends[static_cast<size_t>(summed)] - begins[static_cast<size_t>(summed)];
  if (stage.rows == summed) {
    length = rows.end - rows.begin;
    call.row_begin = begins[kRowAxis];
    call.row_end = ends[kRowAxis];
  }
  const int64_t block = stages_.kernels[number]->shape.block;
  const int64_t packed_bytes = layout.is_packed_once ? RoundUp(packed.end - packed.begin, block) /
                                                           block * layout.packed_bytes
                                                     : 0;
  for (int64_t begin = 0; begin < length; begin += layout.summed_at_once) {
    const int64_t next = std::min(layout.summed_at_once, length - begin);
    lengths[static_cast<size_t>(summed)] = next;
    RunColumns(number, call, own, packed, packs);
    call.scratch = static_cast<char*>(call.scratch) + packed_bytes;
    for (size_t i = 0; i < operands.size(); ++i) {
      operands[i] =
          static_cast<const char*>(operands[i]) +
          next * StridesOfOperand(number, i)[summed] * BytesOf(stage.program.operands[i].type);
    }
  }
}

// One block of columns after the other, each with its own packed operands.
void StageRunner::RunColumns(size_t number, KernelCall call, Range columns, Range packed,
                             bool packs) const {
  const CompiledKernel& kernel = *stages_.kernels[number];
  const StageLayout& layout = layout_.stages[number];
  const int64_t packed_bytes = layout.is_packed_once ? layout.packed_bytes : 0;
  call.scratch = static_cast<char*>(call.scratch) +
                 (columns.begin - packed.begin) / kernel.shape.block * packed_bytes;
  for (int64_t column = columns.begin; column < columns.end; column += kernel.shape.block) {
    call.column_begin = column;
    call.column_end = std::min(column + kernel.shape.block, columns.end);
    if (packs || !layout.is_packed_once) kernel.pack(&call);
    if (!packs) kernel.run(&call);
    call.scratch = static_cast<char*>(call.scratch) + packed_bytes;
  }
}

}  // namespace plimsoll
