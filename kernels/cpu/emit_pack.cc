#include "kernels/cpu/emit_pack.h"

#include <cstdint>
#include <vector>

#include "kernels/cpu/emit_for.h"
#include "kernels/cpu/emit_op.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/transpose_columns.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace plimsoll {
namespace {

// With fewer positions along the last axis, elements are copied one by one.
constexpr int64_t kLeastTransposed = 4;

class Packer {
 public:
  Packer(KernelFrame& frame, size_t operand)
      : frame_(frame),
        builder_(frame.builder),
        operand_(operand),
        layout_(frame.program.operands[operand]),
        memory_(MemoryType(builder_.getContext(), layout_.type)),
        align_(static_cast<uint64_t>(BytesOf(layout_.type))),
        length_(builder_.CreateSub(frame.column_end, frame.column_begin)),
        last_(builder_.CreateSub(length_, frame.Number(1))) {}

  void Run() {
    llvm::Value* lanes = frame_.Number(frame_.shape.lanes);
    const int last_axis = layout_.axes.back();
    llvm::Value* whole = frame_.Number(0);
    if (last_axis == kColumnAxis) {
      whole = builder_.CreateSub(length_, builder_.CreateSRem(length_, lanes));
      AlongOther([&] {
        frame_.Loop(frame_.Number(0), whole, lanes,
                    [&](llvm::Value* vector) { CopyVector(vector); });
      });
    }
    frame_.Loop(whole, length_, lanes, [&](llvm::Value* vector) {
      if (last_axis != kNoAxis && frame_.IsLong(last_axis)) {
        CopyAlong(vector, last_axis);
      } else if (IsTransposed(last_axis)) {
        AlongOther([&] { CopyAlong(vector, last_axis); });
      } else {
        AlongOther([&] { CopyLanes(vector); });
      }
    });
  }

 private:
  bool IsTransposed(int axis) const {
    if (axis == kNoAxis) return false;
    const TileAxis& info = frame_.program.axes[static_cast<size_t>(axis)];
    return info.kind == TileAxisKind::kShort && info.length >= kLeastTransposed;
  }

  // In a loop along the long axis, if there is one.
  void AlongOther(llvm::function_ref<void()> body) {
    const auto found = llvm::find_if(
        layout_.axes, [&](int axis) { return axis != kNoAxis && frame_.IsLong(axis); });
    if (found == layout_.axes.end()) return body();
    const auto place = static_cast<size_t>(*found);
    frame_.Loop(frame_.Number(0), frame_.lengths[place], frame_.Number(1),
                [&](llvm::Value* position) {
                  frame_.positions[place] = position;
                  body();
                });
  }

  std::vector<ShortIndex> Indices() const { return frame_.ShortIndices(AxesOf(layout_)); }

  // The column of a lane of the vector, or the last one.
  llvm::Value* ColumnOf(llvm::Value* vector, llvm::Value* lane) {
    llvm::Value* place = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                                        builder_.CreateAdd(vector, lane), last_);
    return builder_.CreateAdd(frame_.column_begin, place);
  }

  void Store(llvm::Value* value, llvm::Value* vector, const ShortIndex& index) {
    builder_.CreateAlignedStore(value, frame_.PackedAddress(operand_, vector, 0, index), align_);
  }

  void CopyLanes(llvm::Value* vector) {
    frame_.Loop(frame_.Number(0), frame_.Number(frame_.shape.lanes), frame_.Number(1),
                [&](llvm::Value* lane) {
                  llvm::Value* column = ColumnOf(vector, lane);
                  for (const ShortIndex& index : Indices()) {
                    llvm::Value* from =
                        frame_.Address(frame_.operands[operand_], layout_, nullptr, column, index);
                    llvm::Value* to = frame_.PackedAddress(operand_, vector, 0, index);
                    builder_.CreateAlignedStore(builder_.CreateAlignedLoad(memory_, from, align_),
                                                builder_.CreateGEP(memory_, to, lane), align_);
                  }
                });
  }

  // Columns that lie next to each other are copied together.
  void CopyVector(llvm::Value* vector) {
    llvm::Value* column = builder_.CreateAdd(frame_.column_begin, vector);
    for (const ShortIndex& index : Indices()) {
      llvm::Value* from =
          frame_.Address(frame_.operands[operand_], layout_, nullptr, column, index);
      Store(builder_.CreateAlignedLoad(frame_.VectorOf(memory_), from, align_), vector, index);
    }
  }

  // What is next to each other along the axis, in a vector's columns.
  void CopyAlong(llvm::Value* vector, int axis) {
    const auto place = static_cast<size_t>(axis);
    const bool is_long = frame_.IsLong(axis);
    const AxisSet axes = AxesOf(layout_);
    if (is_long) frame_.positions[place] = frame_.Number(0);
    for (const ShortIndex& index : Indices()) {
      if (index[place] != 0) continue;
      ShortIndex next = index;
      next[place] = 1;
      const int64_t numbers = is_long ? frame_.program.ShortCount(axes)
                                      : ShortNumber(frame_.program, axes, next) -
                                            ShortNumber(frame_.program, axes, index);
      llvm::Value* column = builder_.CreateAdd(frame_.column_begin, vector);
      llvm::Value* arguments[] = {
          frame_.PackedAddress(operand_, vector, 0, index),
          frame_.Address(frame_.operands[operand_], layout_, nullptr, column, index),
          frame_.operands[operand_].strides[kColumnAxis],
          builder_.CreateSub(length_, vector),
          is_long ? frame_.lengths[place] : frame_.Number(frame_.program.axes[place].length),
          frame_.Number(frame_.shape.lanes),
          frame_.Number(numbers * frame_.shape.lanes),
      };
      llvm::SmallVector<llvm::Type*, 8> types;
      for (llvm::Value* argument : arguments) types.push_back(argument->getType());
      builder_.CreateCall(
          frame_.emitter.module.getOrInsertFunction(
              NameOfTranspose(BytesOf(layout_.type)),
              llvm::FunctionType::get(builder_.getVoidTy(), types, /*isVarArg=*/false)),
          arguments);
    }
  }

  KernelFrame& frame_;
  llvm::IRBuilder<>& builder_;
  size_t operand_;
  const TileArray& layout_;
  llvm::Type* memory_;
  llvm::Align align_;
  llvm::Value* length_;
  llvm::Value* last_;
};

}  // namespace

void EmitPack(KernelFrame& frame, size_t operand) { Packer(frame, operand).Run(); }

}  // namespace plimsoll
