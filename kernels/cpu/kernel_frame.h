// What the parts of a kernel's code share: the function and its loops, where arrays lie in memory,
// and which part of rows and columns is in registers.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_FRAME_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/cpu/bundle.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"

namespace plimsoll {

// Which of the numbers that a value is along its short axes: the position along each axis.
using ShortIndex = std::vector<int64_t>;

// A part of rows and columns that is in registers at once.
struct Tile {
  int rows = 1;
  int vectors = 1;
  // The rows' numbers. There may be fewer rows than that: those behind the last are the last one
  // once more, and have no lanes.
  llvm::SmallVector<llvm::Value*, 8> row_numbers = {};
  llvm::Value* column = nullptr;  // The first column, and the same within the block.
  llvm::Value* column_in_block = nullptr;
  llvm::Value* mask = nullptr;                      // Lanes that are columns; null if all are.
  llvm::SmallVector<llvm::Value*, 8> of_rows = {};  // With a mask: the lanes of each row.
  llvm::Value* last_column = nullptr;               // With a mask: the last there is.
};

struct ArrayPlace {
  llvm::Value* base = nullptr;
  std::vector<llvm::Value*> strides;  // Of all axes.
};

class KernelFrame {
 public:
  KernelFrame(Emitter& emitter, const TileProgram& program, const KernelShape& shape);

  // Begins a function that takes a KernelCall, and loads what that has.
  void Begin(std::string_view name);
  void End() { builder.CreateRetVoid(); }

  llvm::Value* Number(int64_t number) const { return llvm::ConstantInt::getSigned(i64, number); }
  llvm::VectorType* VectorOf(llvm::Type* element) const {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(shape.lanes));
  }
  llvm::Value* Offset(llvm::Value* base, llvm::Value* bytes) {
    return builder.CreateGEP(builder.getInt8Ty(), base, bytes);
  }
  bool IsLong(int axis) const {
    return program.axes[static_cast<size_t>(axis)].kind == TileAxisKind::kLong;
  }

  // Calls `body` with the index from `begin` in steps for as long as it is below `end`.
  void Loop(llvm::Value* begin, llvm::Value* end, llvm::Value* step,
            llvm::function_ref<void(llvm::Value*)> body);
  // Calls `body` with the begin and the end of each piece of so many; the last may be shorter.
  void LoopInPieces(llvm::Value* begin, llvm::Value* end, int64_t length,
                    llvm::function_ref<void(llvm::Value*, llvm::Value*)> body);
  // Memory that is a register in the end.
  llvm::Value* Allocate(llvm::Type* type);
  // Memory that stays memory, and is read again wherever memory is forgotten (emit_for.h).
  llvm::Value* AllocateMemory(llvm::Type* type);
  // The lanes below a number.
  llvm::Value* LaneMask(llvm::Value* count);

  // All positions along the short axes of the set, the last axis fastest.
  std::vector<ShortIndex> ShortIndices(AxisSet set) const;

  // The address of an element; axes that the array does not have do not count.
  llvm::Value* Address(const ArrayPlace& array, const TileArray& layout, llvm::Value* row,
                       llvm::Value* column, const ShortIndex& index);
  // Packed operands lie vector by vector, for each vector one position along the long axis after
  // the other, and for each of these one short position after the other.
  llvm::Value* PackedAddress(size_t operand, llvm::Value* column_in_block, int vector,
                             const ShortIndex& index);

  Emitter& emitter;
  llvm::IRBuilder<>& builder;
  const TileProgram& program;
  const KernelShape& shape;
  llvm::Type* i64;
  llvm::Type* pointer;
  // Of the call.
  std::vector<ArrayPlace> operands;
  std::vector<ArrayPlace> results;
  // Of results that are sums over columns; null of others.
  std::vector<llvm::Value*> compensations;
  std::vector<llvm::Value*> lengths;
  llvm::Value* row_begin = nullptr;
  llvm::Value* row_end = nullptr;
  llvm::Value* column_begin = nullptr;
  llvm::Value* column_end = nullptr;
  // Along long axes, in their loops, and along segments, of the row that is added to one.
  std::vector<llvm::Value*> positions;

 private:
  void LoadCall();
  void LoadCompensations(llvm::Value* from);
  void LoadArrays(llvm::Value* from, llvm::Value* strides, size_t count, size_t first,
                  std::vector<ArrayPlace>& arrays);
  void FindPacked(llvm::Value* scratch);

  llvm::Function* function_ = nullptr;
  // Where each packed operand begins, and how long its long axis is.
  std::vector<llvm::Value*> packed_;
  std::vector<llvm::Value*> packed_lengths_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_FRAME_H_
