#include "kernels/cpu/generate_kernel.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cpu/bundle.h"
#include "kernels/cpu/emit_for.h"
#include "kernels/cpu/emit_op.h"
#include "kernels/cpu/emit_pack.h"
#include "kernels/cpu/emit_results.h"
#include "kernels/cpu/emit_values.h"
#include "kernels/cpu/kernel_frame.h"
#include "kernels/cpu/long_sums.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace plimsoll {
namespace {

// What all columns of a block go through, for a handful of rows or for the fewer that there are.
class RowsEmitter {
 public:
  RowsEmitter(KernelFrame& frame, ValueEmitter& values, ResultEmitter& results)
      : frame_(frame), builder_(frame.builder), values_(values), results_(results) {}

  void Emit(llvm::Value* row) {
    const KernelShape& shape = frame_.shape;
    Tile whole = {.rows = shape.rows, .vectors = shape.vectors, .row_numbers = {row}};
    Tile rest = {.rows = shape.rows, .row_numbers = {row}};
    llvm::SmallVector<llvm::Value*, 8> is_there = {builder_.getTrue()};
    llvm::Value* last = builder_.CreateSub(frame_.row_end, frame_.Number(1));
    for (int i = 1; i < shape.rows; ++i) {
      llvm::Value* number = builder_.CreateAdd(row, frame_.Number(i));
      whole.row_numbers.push_back(number);
      rest.row_numbers.push_back(
          builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, number, last));
      is_there.push_back(builder_.CreateICmpSLT(number, frame_.row_end));
    }
    values_.EmitLevel(Level::kRow, rest);
    results_.BeginRows(rest);
    llvm::Value* length = builder_.CreateSub(frame_.column_end, frame_.column_begin);
    const int64_t step = int64_t{shape.vectors} * shape.lanes;
    llvm::Value* end = builder_.CreateSub(length, builder_.CreateSRem(length, frame_.Number(step)));
    // Columns that are left over, and all columns where rows are missing: both are few, and the
    // code for them should be small.
    end = builder_.CreateSelect(is_there.back(), end, frame_.Number(0));
    const auto emit_whole = [&](llvm::Value* column) { EmitColumns(whole, column); };
    if (IsScattered(frame_.program)) {
      EmitScattered(end, step, emit_whole);
    } else {
      EmitInRuns(frame_.Number(0), end, step, emit_whole);
    }
    rest.last_column = builder_.CreateSub(frame_.column_end, frame_.Number(1));
    EmitInRuns(end, length, shape.lanes, [&](llvm::Value* column) {
      Tile masked = rest;
      masked.mask = frame_.LaneMask(builder_.CreateSub(length, column));
      for (llvm::Value* is_row : is_there) {
        masked.of_rows.push_back(builder_.CreateAnd(
            masked.mask, builder_.CreateVectorSplat(static_cast<unsigned>(shape.lanes), is_row)));
      }
      EmitColumns(masked, column);
    });
    results_.FinishRows(rest);
  }

 private:
  // A loop over steps, a few of which are summed before they are added to the others.
  void EmitInRuns(llvm::Value* begin, llvm::Value* end, int64_t step,
                  llvm::function_ref<void(llvm::Value*)> body) {
    if (!results_.has_runs()) {
      frame_.Loop(begin, end, frame_.Number(step), body);
      return;
    }
    frame_.LoopInPieces(begin, end, step * kNumbersSummed,
                        [&](llvm::Value* run_begin, llvm::Value* run_end) {
                          frame_.Loop(run_begin, run_end, frame_.Number(step), body);
                          results_.FinishRun();
                        });
  }

  // The same from 0 on, in a scattered order.
  void EmitScattered(llvm::Value* end, int64_t step, llvm::function_ref<void(llvm::Value*)> body) {
    // It has no divisor in common with their number, which is smaller.
    constexpr int64_t kPrime = 10007;
    llvm::Value* count = builder_.CreateSDiv(end, frame_.Number(step));
    llvm::Value* leap = builder_.CreateMul(
        builder_.CreateSRem(
            frame_.Number(kPrime),
            builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, frame_.Number(1), count)),
        frame_.Number(step));
    llvm::Value* place = frame_.Allocate(frame_.i64);
    builder_.CreateStore(frame_.Number(0), place);
    EmitInRuns(frame_.Number(0), end, step, [&](llvm::Value*) {
      llvm::Value* position = builder_.CreateLoad(frame_.i64, place);
      body(position);
      llvm::Value* next = builder_.CreateAdd(position, leap);
      llvm::Value* is_behind = builder_.CreateICmpSGE(next, end);
      builder_.CreateStore(builder_.CreateSelect(is_behind, builder_.CreateSub(next, end), next),
                           place);
    });
  }

  void EmitColumns(Tile tile, llvm::Value* column) {
    EmitForgetMemory(builder_);
    tile.column_in_block = column;
    tile.column = builder_.CreateAdd(frame_.column_begin, column);
    values_.ForgetColumns();
    results_.EmitResults(tile);
  }

  KernelFrame& frame_;
  llvm::IRBuilder<>& builder_;
  ValueEmitter& values_;
  ResultEmitter& results_;
};

void EmitKernel(KernelFrame& frame) {
  ValueEmitter values(frame);
  ResultEmitter results(frame, values);
  RowsEmitter rows(frame, values, results);
  values.EmitLevel(Level::kOnce, {});
  const auto emit_rows = [&](llvm::Value* begin, llvm::Value* end) {
    frame.Loop(begin, end, frame.Number(frame.shape.rows),
               [&](llvm::Value* row) { rows.Emit(row); });
  };
  if (!results.has_sums_over_rows()) {
    emit_rows(frame.row_begin, frame.row_end);
    return;
  }
  // Some of the rows are summed before they are added to the others.
  frame.LoopInPieces(frame.row_begin, frame.row_end, int64_t{frame.shape.rows} * kNumbersSummed,
                     [&](llvm::Value* begin, llvm::Value* end) {
                       results.BeginSumsOverRows();
                       emit_rows(begin, end);
                       results.FinishSumsOverRows();
                     });
}

}  // namespace

StatusOr<std::unique_ptr<llvm::Module>> GenerateKernel(llvm::LLVMContext& context,
                                                       const TileProgram& program,
                                                       const CpuMachine& machine,
                                                       const KernelShape& shape) {
  RETURN_IF_ERROR(ExpectMachine(program, machine));
  auto module = std::make_unique<llvm::Module>("kernel", context);
  llvm::IRBuilder<> builder(context);
  LetRoundOnce(builder);
  Emitter emitter = {.module = *module, .builder = builder, .machine = machine};
  KernelFrame frame(emitter, program, shape);
  frame.Begin(kPackName);
  for (size_t i = 0; i < program.operands.size(); ++i) {
    if (IsPacked(program, program.operands[i])) EmitPack(frame, i);
  }
  frame.End();
  frame.Begin(kKernelName);
  EmitKernel(frame);
  frame.End();
  return module;
}

}  // namespace plimsoll
