// Where the panels and packed operands of a kernel of stages lie, and how its rows are shared out.

#ifndef PLIMSOLL_KERNELS_CPU_STAGE_LAYOUT_H_
#define PLIMSOLL_KERNELS_CPU_STAGE_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "ir/status.h"
#include "kernels/cpu/kernel_scratch.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/running_maxima.h"
#include "kernels/staged_program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {

struct PanelLayout {
  ScalarType type = ScalarType::kF32;
  std::vector<int64_t> shape;  // Of the whole value, with the batch.
  // Of each dimension within a worker's scratch, which has one element of the batch and the rows of
  // one piece.
  std::vector<int64_t> strides;
  int64_t row_stride = 0;
  int64_t row_bytes = 0;  // All that one row takes.
  size_t slot = 0;        // Panels with the same one are not needed at the same time.
};

struct StageLayout {
  std::vector<int64_t> lengths;
  // Its sums go over so many positions at once.
  int64_t summed_at_once = 0;
  // Packed operands: of one block of columns, and where the first is. Those that have the rows, and
  // those that there is no room for, are packed for each piece.
  int64_t packed_bytes = 0;
  int64_t packed_offset = 0;
  bool is_packed_once = true;
};

struct StagesLayout {
  int64_t batch = 1;
  int64_t rows = 0;
  int64_t rows_of_piece = 1;
  int64_t pieces = 1;
  // Of the panels. All stages run for so many at once, if it is not for all of them, one slab of
  // columns after the other.
  int64_t columns = 0;
  int64_t columns_at_once = 0;
  // For each stage, the axis that is the panels' columns; none where all are at once anyway.
  std::vector<int> column_axes;
  // Where there are several slabs.
  std::vector<RunningMaximum> maxima;
  // Of pieces, for each element of the batch: what one task does.
  int64_t groups = 1;
  std::vector<StageLayout> stages;
  std::vector<PanelLayout> panels;
  std::vector<int64_t> slot_offsets;
  int64_t worker_bytes = 0;
  // Elements of one group's part of each result, if groups add to it; else 0.
  std::vector<int64_t> part_elements;
  std::vector<int64_t> part_offsets;
  int64_t part_bytes = 0;
  // For each stage and result: where compensations of sums over columns are (long_sums.h), of the
  // whole batch; -1 for others.
  std::vector<std::vector<int64_t>> compensation_offsets;
  int64_t compensation_bytes = 0;
};

// True if the stage can be run for some positions along the axis, one group of them after the
// other.
bool CanRunPart(const Stage& stage, int axis);

// True if the stage's positions along the axis that is its panels' columns are told from the first
// one that is computed.
bool HasPositionsFromFirst(const Stage& stage, int column);

// Fails if the arrays do not fit, or if a worker would need more scratch than it may have.
StatusOr<StagesLayout> LayOutStages(const StagedProgram& program,
                                    llvm::ArrayRef<KernelShape> shapes,
                                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> results,
                                    int64_t threads);

// The same for a program that is run for a block of columns at a time, as many as the function says
// for so many columns, and whatever rows.
StatusOr<StagesLayout> LayOutBlocks(const StagedProgram& program,
                                    llvm::ArrayRef<KernelShape> shapes,
                                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> results,
                                    llvm::function_ref<int64_t(int64_t)> block_of);

ScratchNeed NeedOf(const StagesLayout& layout);
// What a call wants for that number of threads. With less, fewer of them take part.
int64_t ScratchBytes(const StagesLayout& layout, int64_t threads);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_STAGE_LAYOUT_H_
