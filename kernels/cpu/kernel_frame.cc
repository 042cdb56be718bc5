#include "kernels/cpu/kernel_frame.h"

#include <iterator>
#include <utility>

#include "kernels/cpu/emit_for.h"
#include "kernels/cpu/emit_op.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/kernel_call.h"
#include "kernels/cpu/long_sums.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/Casting.h"

namespace plimsoll {

KernelFrame::KernelFrame(Emitter& emitter, const TileProgram& program, const KernelShape& shape)
    : emitter(emitter),
      builder(emitter.builder),
      program(program),
      shape(shape),
      i64(builder.getInt64Ty()),
      pointer(builder.getPtrTy()) {}

void KernelFrame::Begin(std::string_view name) {
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {pointer}, /*isVarArg=*/false);
  function_ = CreateFunction(emitter, type, name);
  builder.SetInsertPoint(llvm::BasicBlock::Create(builder.getContext(), "entry", function_));
  LoadCall();
}

void KernelFrame::LoadCall() {
  llvm::Value* call = function_->getArg(0);
  const auto field = [&](size_t offset, llvm::Type* type) {
    return builder.CreateLoad(type, Offset(call, Number(static_cast<int64_t>(offset))));
  };
  llvm::Value* strides = field(offsetof(KernelCall, strides), pointer);
  LoadArrays(field(offsetof(KernelCall, operands), pointer), strides, program.operands.size(), 0,
             operands);
  // Code that knows that the last dimension is dense has simpler addresses.
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<int>& axes = program.operands[i].axes;
    if (axes.empty() || axes.back() == kNoAxis) continue;
    operands[i].strides[static_cast<size_t>(axes.back())] = Number(1);
  }
  LoadArrays(field(offsetof(KernelCall, results), pointer), strides, program.results.size(),
             program.operands.size(), results);
  LoadCompensations(field(offsetof(KernelCall, compensations), pointer));
  llvm::Value* all_lengths = field(offsetof(KernelCall, lengths), pointer);
  lengths.clear();
  for (size_t axis = 0; axis < program.axes.size(); ++axis) {
    const auto place = static_cast<int64_t>(axis * sizeof(int64_t));
    lengths.push_back(builder.CreateLoad(i64, Offset(all_lengths, Number(place))));
  }
  positions.assign(program.axes.size(), nullptr);
  row_begin = field(offsetof(KernelCall, row_begin), i64);
  row_end = field(offsetof(KernelCall, row_end), i64);
  column_begin = field(offsetof(KernelCall, column_begin), i64);
  column_end = field(offsetof(KernelCall, column_end), i64);
  FindPacked(field(offsetof(KernelCall, scratch), pointer));
}

void KernelFrame::LoadArrays(llvm::Value* from, llvm::Value* strides, size_t count, size_t first,
                             std::vector<ArrayPlace>& arrays) {
  arrays.clear();
  for (size_t i = 0; i < count; ++i) {
    ArrayPlace array;
    array.base =
        builder.CreateLoad(pointer, Offset(from, Number(static_cast<int64_t>(i * sizeof(void*)))));
    for (size_t axis = 0; axis < program.axes.size(); ++axis) {
      const size_t place = (first + i) * program.axes.size() + axis;
      array.strides.push_back(builder.CreateLoad(
          i64, Offset(strides, Number(static_cast<int64_t>(place * sizeof(int64_t))))));
    }
    arrays.push_back(std::move(array));
  }
}

void KernelFrame::LoadCompensations(llvm::Value* from) {
  compensations.assign(program.results.size(), nullptr);
  for (size_t i = 0; i < program.results.size(); ++i) {
    if (!IsSumOverColumns(program.results[i])) continue;
    compensations[i] =
        builder.CreateLoad(pointer, Offset(from, Number(static_cast<int64_t>(i * sizeof(void*)))));
  }
}

void KernelFrame::FindPacked(llvm::Value* scratch) {
  packed_.clear();
  packed_lengths_.clear();
  for (const TileArray& operand : program.operands) {
    llvm::Value* length = Number(1);
    for (const int axis : operand.axes) {
      if (axis != kNoAxis && IsLong(axis)) {
        length = builder.CreateMul(length, lengths[static_cast<size_t>(axis)]);
      }
    }
    packed_.push_back(scratch);
    packed_lengths_.push_back(length);
    if (!IsPacked(program, operand)) continue;
    const int64_t bytes = program.ShortCount(AxesOf(operand)) * BytesOf(operand.type) * shape.block;
    llvm::Value* size = builder.CreateMul(length, Number(bytes));
    size = builder.CreateAnd(builder.CreateAdd(size, Number(kPackAlignment - 1)),
                             Number(-kPackAlignment));
    scratch = Offset(scratch, size);
  }
}

void KernelFrame::Loop(llvm::Value* begin, llvm::Value* end, llvm::Value* step,
                       llvm::function_ref<void(llvm::Value*)> body) {
  EmitFor(builder, begin, end, step, body);
}

void KernelFrame::LoopInPieces(llvm::Value* begin, llvm::Value* end, int64_t length,
                               llvm::function_ref<void(llvm::Value*, llvm::Value*)> body) {
  Loop(begin, end, Number(length), [&](llvm::Value* piece) {
    body(piece, builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                              builder.CreateAdd(piece, Number(length)), end));
  });
}

llvm::Value* KernelFrame::Allocate(llvm::Type* type) {
  llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  return entry.CreateAlloca(type);
}

llvm::Value* KernelFrame::AllocateMemory(llvm::Type* type) {
  llvm::Value* place = Allocate(type);
  llvm::IRBuilder<> entry(&function_->getEntryBlock(),
                          std::next(llvm::cast<llvm::Instruction>(place)->getIterator()));
  // LLVM has to think that somebody else knows of it.
  entry.CreateCall(llvm::InlineAsm::get(
                       llvm::FunctionType::get(builder.getVoidTy(), {pointer}, /*isVarArg=*/false),
                       "", "r,~{memory}", /*hasSideEffects=*/true),
                   {place});
  return place;
}

llvm::Value* KernelFrame::LaneMask(llvm::Value* count) {
  return EmitLaneMask(builder, shape.lanes, count);
}

std::vector<ShortIndex> KernelFrame::ShortIndices(AxisSet set) const {
  std::vector<ShortIndex> indices = {ShortIndex(program.axes.size(), 0)};
  for (size_t axis = 0; axis < program.axes.size(); ++axis) {
    if (program.axes[axis].kind != TileAxisKind::kShort) continue;
    if ((set & AxisBit(static_cast<int>(axis))) == 0) continue;
    std::vector<ShortIndex> longer;
    for (const ShortIndex& index : indices) {
      for (int64_t i = 0; i < program.axes[axis].length; ++i) {
        longer.push_back(index);
        longer.back()[axis] = i;
      }
    }
    indices = std::move(longer);
  }
  return indices;
}

llvm::Value* KernelFrame::Address(const ArrayPlace& array, const TileArray& layout,
                                  llvm::Value* row, llvm::Value* column, const ShortIndex& index) {
  // Long axes first: what varies in the innermost loop is then the same for all rows.
  llvm::Value* along = Number(0);
  llvm::Value* offset = Number(0);
  for (const int axis : layout.axes) {
    if (axis == kNoAxis) continue;
    const auto place = static_cast<size_t>(axis);
    if (program.axes[place].kind == TileAxisKind::kBatch) continue;
    llvm::Value* position = axis == kRowAxis              ? row
                            : axis == kColumnAxis         ? column
                            : positions[place] != nullptr ? positions[place]
                                                          : Number(index[place]);
    llvm::Value*& sum = IsLong(axis) ? along : offset;
    sum = builder.CreateAdd(sum, builder.CreateMul(position, array.strides[place]));
  }
  llvm::Type* memory = MemoryType(builder.getContext(), layout.type);
  return builder.CreateGEP(memory, builder.CreateGEP(memory, array.base, along), offset);
}

llvm::Value* KernelFrame::PackedAddress(size_t operand, llvm::Value* column_in_block, int vector,
                                        const ShortIndex& index) {
  const TileArray& layout = program.operands[operand];
  const AxisSet axes = AxesOf(layout);
  const int64_t bytes = BytesOf(layout.type);
  // What is not constant is the same for all vectors of a tile.
  llvm::Value* position = builder.CreateMul(column_in_block, packed_lengths_[operand]);
  for (const int axis : layout.axes) {
    if (axis == kNoAxis || !IsLong(axis)) continue;
    llvm::Value* along =
        builder.CreateMul(positions[static_cast<size_t>(axis)], Number(shape.lanes));
    position = builder.CreateAdd(position, along);
  }
  const int64_t bytes_of_column = program.ShortCount(axes) * bytes;
  llvm::Value* base =
      Offset(packed_[operand], builder.CreateMul(position, Number(bytes_of_column)));
  llvm::Value* before = builder.CreateMul(packed_lengths_[operand],
                                          Number(int64_t{vector} * shape.lanes * bytes_of_column));
  const int64_t constant = ShortNumber(program, axes, index) * shape.lanes * bytes;
  return Offset(Offset(base, before), Number(constant));
}

}  // namespace plimsoll
