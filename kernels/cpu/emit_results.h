// What becomes of a tile program's values: sums over columns, sums over rows, and whole arrays.

#ifndef PLIMSOLL_KERNELS_CPU_EMIT_RESULTS_H_
#define PLIMSOLL_KERNELS_CPU_EMIT_RESULTS_H_

#include <map>
#include <utility>
#include <vector>

#include "kernels/cpu/bundle.h"
#include "kernels/cpu/emit_top.h"
#include "kernels/cpu/emit_values.h"
#include "kernels/cpu/kernel_frame.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {

class ResultEmitter {
 public:
  ResultEmitter(KernelFrame& frame, ValueEmitter& values);

  // True if a block has so many columns that only some of them are summed at once: a run.
  bool has_runs() const { return has_runs_; }
  // True if sums over rows are made of those of some rows each.
  bool has_sums_over_rows() const { return !row_sums_.empty(); }

  // Around some rows that are summed.
  void BeginSumsOverRows();
  void FinishSumsOverRows();
  // Before the columns of a handful of rows.
  void BeginRows(const Tile& tile);
  // Takes in one tile.
  void EmitResults(const Tile& tile);
  // Adds what a run came to, to the ones before.
  void FinishRun();
  // Adds what a handful of rows came to, to what earlier blocks of columns did.
  void FinishRows(const Tile& tile);

 private:
  // By result whose columns are reduced, and short index: of each row and vector.
  using Accumulators = std::map<std::pair<int, ShortIndex>, std::vector<llvm::Value*>>;

  void MakeAccumulators(int rows);
  llvm::Value* Neutral(const TileResult& result);
  // Brings what products of matrices are added to into the caches, while they are computed.
  void Prefetch(const TileResult& result, int number, const Tile& tile);
  // With the neutral number in lanes that the row does not have.
  llvm::Value* Masked(const TileResult& result, llvm::Value* value, const Tile& tile, int row);
  // True for the best columns, and what goes with them.
  bool IsTop(const TileResult& result) const;
  // The results that go with one.
  std::vector<int> FollowersOf(int number) const;
  // Adds what a row came to, in each lane, to what is there.
  void AddToRow(int number, const ShortIndex& index, llvm::Value* row, llvm::Value* totals);
  // What does so, called with the place in memory, that of its compensation, and the lanes: kernels
  // with many results have shorter code that way.
  llvm::Function* FunctionThatAdds(const TileResult& result);
  // Keeps the better of two values of a result, with those that follow it, `numbers` in all. On
  // equality the one with the lower first follower, if `positions_decide`, else the left one.
  std::vector<llvm::Value*> Better(llvm::ArrayRef<int> numbers, llvm::ArrayRef<llvm::Value*> left,
                                   llvm::ArrayRef<llvm::Value*> right, bool positions_decide,
                                   llvm::Value* mask = nullptr);
  void AccumulateBest(int number, const ShortIndex& index, const Bundle& values, const Tile& tile);
  void FinishBest(int number, const ShortIndex& index, const Tile& tile);
  void Accumulate(const TileResult& result, llvm::ArrayRef<llvm::Value*> places,
                  const Bundle& values, const Tile& tile);
  // Sums over rows are kept in memory, where there is room for whole vectors.
  void AddToColumns(const TileResult& result, int number, const ShortIndex& index,
                    const Bundle& values, const Tile& tile);
  // Adds each row to what there is of its segment.
  void AddToSegments(const TileResult& result, int number, const ShortIndex& index,
                     const Bundle& values, const Tile& tile);
  // Adds a vector to what there is at an address.
  void AddVector(const TileResult& result, llvm::Value* address, llvm::Value* value,
                 llvm::Value* mask);
  void Write(const TileResult& result, int number, const ShortIndex& index, const Bundle& values,
             const Tile& tile);

  // Calls `visit` with the place of a vector of columns in a sum of some rows, and in the result.
  void ForEachRowSum(llvm::function_ref<void(const TileResult&, llvm::Value*, llvm::Value*)> visit);
  // Where a vector of columns of a sum of some rows is.
  llvm::Value* RowSumAddress(int number, const ShortIndex& index, llvm::Value* column_in_block);

  KernelFrame& frame_;
  llvm::IRBuilder<>& builder_;
  ValueEmitter& values_;
  TopEmitter top_;
  bool has_runs_ = false;
  // What there is so far, and without the present run.
  Accumulators accumulators_;
  Accumulators runs_before_;
  std::map<std::pair<Opcode, ScalarType>, llvm::Function*> functions_that_add_;
  // By result: the sums of some rows, for the columns of a block.
  std::map<int, llvm::Value*> row_sums_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_EMIT_RESULTS_H_
