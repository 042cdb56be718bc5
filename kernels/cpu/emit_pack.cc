#include "kernels/cpu/emit_pack.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/cpu/emit_for.h"
#include "kernels/cpu/emit_op.h"
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

using Vectors = llvm::SmallVector<llvm::Value*, 16>;

// Of a square matrix, from a vector for each row to one for each column.
Vectors Transpose(llvm::IRBuilder<>& builder, Vectors vectors) {
  const auto count = static_cast<int>(vectors.size());
  // Exchanges the blocks beside the diagonal, of one element, of two, of four, and so on.
  for (int size = 1; size < count; size *= 2) {
    llvm::SmallVector<int, 16> upper;
    llvm::SmallVector<int, 16> lower;
    for (int lane = 0; lane < count; ++lane) {
      const bool is_right = (lane & size) != 0;
      upper.push_back(is_right ? count + lane - size : lane);
      lower.push_back(is_right ? count + lane : lane + size);
    }
    for (int i = 0; i < count; ++i) {
      if ((i & size) != 0) continue;
      llvm::Value* a = vectors[i];
      llvm::Value* b = vectors[i + size];
      vectors[i] = builder.CreateShuffleVector(a, b, upper);
      vectors[i + size] = builder.CreateShuffleVector(a, b, lower);
    }
  }
  return vectors;
}

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
        TransposeLong(vector, last_axis);
      } else if (IsTransposed(last_axis)) {
        AlongOther([&] { TransposeShort(vector, last_axis); });
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

  // As many positions along the last axis as a vector has lanes, from the given ones on, of all
  // lanes' columns; only those in the mask, if there is one.
  Vectors LoadTransposed(llvm::Value* vector, const ShortIndex& index, llvm::Value* mask) {
    llvm::VectorType* type = frame_.VectorOf(memory_);
    const ArrayPlace& array = frame_.operands[operand_];
    llvm::Value* ahead =
        builder_.CreateMul(array.strides[kColumnAxis], frame_.Number(frame_.shape.lanes));
    Vectors columns;
    for (int64_t lane = 0; lane < frame_.shape.lanes; ++lane) {
      llvm::Value* from =
          frame_.Address(array, layout_, nullptr, ColumnOf(vector, frame_.Number(lane)), index);
      columns.push_back(
          mask == nullptr
              ? static_cast<llvm::Value*>(builder_.CreateAlignedLoad(type, from, align_))
              : builder_.CreateMaskedLoad(type, from, align_, mask,
                                          llvm::Constant::getNullValue(type)));
      // The next columns' are on their way to the caches while these are brought into order.
      builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {frame_.pointer},
                               {builder_.CreateGEP(memory_, from, ahead), builder_.getInt32(0),
                                builder_.getInt32(3), builder_.getInt32(1)});
    }
    return Transpose(builder_, std::move(columns));
  }

  void TransposeShort(llvm::Value* vector, int axis) {
    const auto place = static_cast<size_t>(axis);
    const int64_t length = frame_.program.axes[place].length;
    for (ShortIndex index : Indices()) {
      const int64_t begin = index[place];
      if (begin % frame_.shape.lanes != 0) continue;
      const int64_t count = std::min<int64_t>(frame_.shape.lanes, length - begin);
      llvm::Value* mask =
          count == frame_.shape.lanes ? nullptr : frame_.LaneMask(frame_.Number(count));
      const Vectors vectors = LoadTransposed(vector, index, mask);
      for (int64_t i = 0; i < count; ++i) {
        index[place] = begin + i;
        Store(vectors[static_cast<size_t>(i)], vector, index);
      }
    }
  }

  void TransposeLong(llvm::Value* vector, int axis) {
    const auto place = static_cast<size_t>(axis);
    llvm::Value* lanes = frame_.Number(frame_.shape.lanes);
    llvm::Value* rest = builder_.CreateSRem(frame_.lengths[place], lanes);
    llvm::Value* whole = builder_.CreateSub(frame_.lengths[place], rest);
    const auto store = [&](const Vectors& vectors, llvm::Value* begin, int64_t i,
                           const ShortIndex& index) {
      frame_.positions[place] = builder_.CreateAdd(begin, frame_.Number(i));
      Store(vectors[static_cast<size_t>(i)], vector, index);
    };
    frame_.Loop(frame_.Number(0), whole, lanes, [&](llvm::Value* begin) {
      for (const ShortIndex& index : Indices()) {
        frame_.positions[place] = begin;
        const Vectors vectors = LoadTransposed(vector, index, /*mask=*/nullptr);
        for (int64_t i = 0; i < frame_.shape.lanes; ++i) store(vectors, begin, i, index);
      }
    });
    EmitIf(builder_, builder_.CreateICmpSGT(rest, frame_.Number(0)), [&] {
      for (const ShortIndex& index : Indices()) {
        frame_.positions[place] = whole;
        const Vectors vectors = LoadTransposed(vector, index, frame_.LaneMask(rest));
        for (int64_t i = 0; i + 1 < frame_.shape.lanes; ++i) {
          EmitIf(builder_, builder_.CreateICmpSGT(rest, frame_.Number(i)),
                 [&] { store(vectors, whole, i, index); });
        }
      }
    });
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
