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
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace plimsoll {
namespace {

// A loop over the same steps in a scattered order.
void EmitScattered(KernelFrame& frame, llvm::Value* end, llvm::Value* step,
                   llvm::function_ref<void(llvm::Value*)> body) {
  // It has no divisor in common with their number, which is smaller.
  constexpr int64_t kPrime = 10007;
  llvm::IRBuilder<>& builder = frame.builder;
  llvm::Value* leap = builder.CreateMul(
      builder.CreateSRem(frame.Number(kPrime),
                         builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, frame.Number(1),
                                                       builder.CreateSDiv(end, step))),
      step);
  llvm::Value* place = frame.Allocate(frame.i64);
  builder.CreateStore(frame.Number(0), place);
  frame.Loop(frame.Number(0), end, step, [&](llvm::Value*) {
    llvm::Value* position = builder.CreateLoad(frame.i64, place);
    body(position);
    llvm::Value* next = builder.CreateAdd(position, leap);
    llvm::Value* is_behind = builder.CreateICmpSGE(next, end);
    builder.CreateStore(builder.CreateSelect(is_behind, builder.CreateSub(next, end), next), place);
  });
}

// The block's columns for a handful of rows.
void EmitRows(KernelFrame& frame, ValueEmitter& values, ResultEmitter& results, llvm::Value* row,
              int rows) {
  llvm::IRBuilder<>& builder = frame.builder;
  const KernelShape& shape = frame.shape;
  Tile tile = {.rows = rows, .row = row};
  values.EmitLevel(Level::kRow, tile);
  results.BeginRows(tile);
  llvm::Value* length = builder.CreateSub(frame.column_end, frame.column_begin);
  llvm::Value* step = frame.Number(int64_t{shape.vectors} * shape.lanes);
  llvm::Value* whole = builder.CreateSub(length, builder.CreateSRem(length, step));
  const auto emit_columns = [&](llvm::Value* column, int vectors, bool is_masked) {
    EmitForgetMemory(builder);
    tile.vectors = vectors;
    tile.column_in_block = column;
    tile.column = builder.CreateAdd(frame.column_begin, column);
    if (is_masked) {
      tile.mask = frame.LaneMask(builder.CreateSub(length, column));
      tile.last_column = builder.CreateSub(frame.column_end, frame.Number(1));
    }
    values.ForgetColumns();
    results.EmitResults(tile);
  };
  const auto emit_whole = [&](llvm::Value* column) {
    emit_columns(column, shape.vectors, /*is_masked=*/false);
  };
  if (IsScattered(frame.program)) {
    EmitScattered(frame, whole, step, emit_whole);
  } else {
    frame.Loop(frame.Number(0), whole, step, emit_whole);
  }
  frame.Loop(whole, length, frame.Number(shape.lanes),
             [&](llvm::Value* column) { emit_columns(column, 1, /*is_masked=*/true); });
  results.FinishRows(tile);
}

void EmitKernel(KernelFrame& frame) {
  llvm::IRBuilder<>& builder = frame.builder;
  ValueEmitter values(frame);
  ResultEmitter results(frame, values);
  values.EmitLevel(Level::kOnce, {});
  // As many rows as there are whole handfuls of, then the others one by one.
  llvm::Value* handful = frame.Number(frame.shape.rows);
  llvm::Value* count = builder.CreateSub(frame.row_end, frame.row_begin);
  llvm::Value* middle = builder.CreateSub(frame.row_end, builder.CreateSRem(count, handful));
  frame.Loop(frame.row_begin, middle, handful,
             [&](llvm::Value* row) { EmitRows(frame, values, results, row, frame.shape.rows); });
  if (frame.shape.rows == 1) return;
  frame.Loop(middle, frame.row_end, frame.Number(1),
             [&](llvm::Value* row) { EmitRows(frame, values, results, row, 1); });
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
