// Runs single stages of a kernel, for some rows and columns at a time.

#ifndef PLIMSOLL_KERNELS_CPU_STAGE_RUNNER_H_
#define PLIMSOLL_KERNELS_CPU_STAGE_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/kernel_call.h"
#include "kernels/cpu/kernel_store.h"
#include "kernels/cpu/stage_layout.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// Some rows, or some columns.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
};

// In the place of columns: all there are.
inline constexpr Range kAllColumns = {.begin = 0, .end = -1};

// What belongs to one worker at a time.
struct StageTask {
  int64_t element = 0;  // Of the batch.
  char* scratch = nullptr;
  // For each result: where this task keeps a part of it, null where it adds to the result itself.
  std::vector<char*> parts;
  Range packed = kAllColumns;  // The columns that lie packed in the scratch.
};

class StageRunner {
 public:
  // All of these have to live as long. Parts lie as their results say. What rounding takes from
  // sums over columns is kept in `compensations`, which the layout says the size of.
  StageRunner(const CompiledStages& stages, llvm::ArrayRef<KernelArray> operands,
              llvm::ArrayRef<KernelArray> results, const StagesLayout& layout, char* compensations);

  // Before the first task.
  void ForgetRounding() const;
  // Before sums of some rows begin anew, or go on in other proportions.
  void ForgetRounding(size_t stage, size_t result, const StageTask& task, Range rows) const;
  // What rounding took from the rows' sums, as seen from row 0; null if it is not kept.
  char* CompensationsOf(size_t stage, size_t result, int64_t element) const;

  // Packs what is packed once for some columns, or for all.
  void Pack(StageTask& task, Range columns) const;
  // Computes a stage for some rows, and for columns that are packed, from the first of a block of
  // them on.
  void Run(size_t stage, const StageTask& task, Range rows, Range columns) const;
  // Blocks of any stage's columns begin at multiples of this, from the first packed one on.
  int64_t column_step() const { return column_step_; }

  // Of a stage's axes, for one of its operands or results.
  const int64_t* StridesOfOperand(size_t stage, size_t operand) const;
  const int64_t* StridesOfResult(size_t stage, size_t result) const;
  // How far an element of the batch is from the first.
  int64_t BatchOffset(size_t stage, const int64_t* strides, int64_t element) const;
  // Where the element is that the generated code knows by row 0, of rows from `row_begin` on.
  char* BaseOf(size_t stage, const StagePlace& place, ScalarType type, const int64_t* strides,
               const StageTask& task, int64_t row_begin) const;

 private:
  // Of one row.
  int64_t CompensationBytes(size_t stage, size_t result) const;
  void AddStrides(const Stage& stage, const StagePlace& place, const TileArray& array);
  void RunStage(size_t number, const StageTask& task, Range rows, Range columns, bool packs) const;
  void RunColumns(size_t number, KernelCall call, Range columns, Range packed, bool packs) const;

  const CompiledStages& stages_;
  llvm::ArrayRef<KernelArray> operands_;
  llvm::ArrayRef<KernelArray> results_;
  const StagesLayout& layout_;
  char* compensations_;
  // Of each stage: for each operand, then for each result, one number for each axis.
  std::vector<std::vector<int64_t>> strides_;
  int64_t column_step_ = 1;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_STAGE_RUNNER_H_
