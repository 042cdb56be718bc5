#include "kernels/cpu/emit_pack.h"

#include <algorithm>
#include <bit>
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

// Squares of so many columns and positions are transposed at once, if vectors and axes are that
// long: larger ones are a lot of code for what is a small part of a kernel's time.
constexpr int64_t kMostTransposed = 8;
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
        CopyLong(vector, last_axis);
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

  // A square of `width` positions along an axis, from the given ones on, and as many columns, from
  // a lane of the vector on.
  void TransposeSquare(llvm::Value* vector, llvm::Value* lane, int axis, int64_t width,
                       const ShortIndex& index) {
    const auto place = static_cast<size_t>(axis);
    const bool is_long = frame_.IsLong(axis);
    llvm::Value* begin = frame_.positions[place];
    auto* type = llvm::FixedVectorType::get(memory_, static_cast<unsigned>(width));
    const ArrayPlace& array = frame_.operands[operand_];
    llvm::Value* stride = array.strides[kColumnAxis];
    llvm::Value* ahead = builder_.CreateMul(stride, frame_.Number(frame_.shape.lanes));
    llvm::Value* first = builder_.CreateAdd(vector, lane);
    llvm::Value* from = frame_.Address(array, layout_, nullptr,
                                       builder_.CreateAdd(frame_.column_begin, first), index);
    llvm::Value* rest = builder_.CreateSub(last_, first);
    Vectors columns;
    for (int64_t i = 0; i < width; ++i) {
      // Lanes behind the last column are copies of it.
      llvm::Value* step =
          builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, frame_.Number(i), rest);
      llvm::Value* column = builder_.CreateGEP(memory_, from, builder_.CreateMul(step, stride));
      columns.push_back(builder_.CreateAlignedLoad(type, column, align_));
      // The next columns' are on their way to the caches while these are brought into order.
      builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {frame_.pointer},
                               {builder_.CreateGEP(memory_, column, ahead), builder_.getInt32(0),
                                builder_.getInt32(3), builder_.getInt32(1)});
    }
    columns = Transpose(builder_, std::move(columns));
    ShortIndex stored = index;
    for (int64_t i = 0; i < width; ++i) {
      if (is_long) {
        frame_.positions[place] = builder_.CreateAdd(begin, frame_.Number(i));
      } else {
        stored[place] = index[place] + i;
      }
      llvm::Value* to = frame_.PackedAddress(operand_, vector, 0, stored);
      builder_.CreateAlignedStore(columns[static_cast<size_t>(i)],
                                  builder_.CreateGEP(memory_, to, lane), align_);
    }
  }

  // The width of squares along an axis of at least that length.
  int64_t WidthFor(int64_t length) const {
    const int64_t most = std::min<int64_t>(kMostTransposed, frame_.shape.lanes);
    return std::min(most, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(length))));
  }

  // In a loop along the vector's lanes.
  void AlongLanes(int64_t width, llvm::function_ref<void(llvm::Value*)> body) {
    frame_.Loop(frame_.Number(0), frame_.Number(frame_.shape.lanes), frame_.Number(width), body);
  }

  void TransposeShort(llvm::Value* vector, int axis) {
    const auto place = static_cast<size_t>(axis);
    const int64_t length = frame_.program.axes[place].length;
    const int64_t width = WidthFor(length);
    AlongLanes(width, [&](llvm::Value* lane) {
      for (ShortIndex index : Indices()) {
        if (index[place] % width != 0) continue;
        // The last square may cover a part of the one before it once more.
        index[place] = std::min(index[place], length - width);
        TransposeSquare(vector, lane, axis, width, index);
      }
    });
  }

  void CopyLong(llvm::Value* vector, int axis) {
    const auto place = static_cast<size_t>(axis);
    llvm::Value* length = frame_.lengths[place];
    const int64_t width = WidthFor(frame_.shape.lanes);
    llvm::Value* is_wide = builder_.CreateICmpSGE(length, frame_.Number(width));
    EmitIf(builder_, is_wide, [&] {
      llvm::Value* last = builder_.CreateSub(length, frame_.Number(width));
      AlongLanes(width, [&](llvm::Value* lane) {
        frame_.Loop(frame_.Number(0), length, frame_.Number(width), [&](llvm::Value* begin) {
          llvm::Value* covered = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, begin, last);
          for (const ShortIndex& index : Indices()) {
            frame_.positions[place] = covered;
            TransposeSquare(vector, lane, axis, width, index);
          }
        });
      });
    });
    EmitIf(builder_, builder_.CreateNot(is_wide), [&] { AlongOther([&] { CopyLanes(vector); }); });
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
