// The best columns of each row: a comparison and a branch for a tile, and a call where it has one
// of the best.

#ifndef PLIMSOLL_KERNELS_CPU_EMIT_TOP_H_
#define PLIMSOLL_KERNELS_CPU_EMIT_TOP_H_

#include <map>
#include <utility>
#include <vector>

#include "kernels/cpu/bundle.h"
#include "kernels/cpu/kernel_frame.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

class TopEmitter {
 public:
  explicit TopEmitter(KernelFrame& frame) : frame_(frame), builder_(frame.builder) {}

  // Finds what a value must be above to be among the best.
  void BeginRows(const Tile& tile);
  // Takes in a tile for the result of that number.
  void Emit(int number, const ShortIndex& index, const Bundle& values, const Tile& tile);

 private:
  int FollowerOf(int number) const;
  int RankAxisOf(int number) const;
  // What is above which values may be among the best: for each row, behind these for each row
  // the one for columns before `ties_before`.
  struct Thresholds {
    llvm::Value* of_rows = nullptr;
    llvm::Value* ties_before = nullptr;
  };

  // Calls InsertBest (insert_best.h) for a tile of these values, of which those of the masks may be
  // among the best. With no values only the thresholds are found.
  void EmitCall(int number, const ShortIndex& index, llvm::ArrayRef<llvm::Value*> values,
                llvm::ArrayRef<llvm::Value*> masks, const Tile& tile);

  KernelFrame& frame_;
  llvm::IRBuilder<>& builder_;
  // For each result and short index.
  std::map<std::pair<int, ShortIndex>, Thresholds> thresholds_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_EMIT_TOP_H_
