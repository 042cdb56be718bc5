// The values of a tile program's ops, for one tile after the other.

#ifndef PLIMSOLL_KERNELS_CPU_EMIT_VALUES_H_
#define PLIMSOLL_KERNELS_CPU_EMIT_VALUES_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "kernels/cpu/bundle.h"
#include "kernels/cpu/emit_quotient.h"
#include "kernels/cpu/kernel_frame.h"
#include "kernels/signs.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// Where in the loops something is computed.
enum class Level : uint8_t { kOnce, kRow, kColumn };

class ValueEmitter {
 public:
  explicit ValueEmitter(KernelFrame& frame);

  // Makes all values of a level; those of the columns are made when they are asked for.
  void EmitLevel(Level level, const Tile& tile);
  // The next tile of columns begins.
  void ForgetColumns() { MadeAt(Level::kColumn).clear(); }

  // The value of an op for all rows and vectors of the tile, one row after the other, spread over
  // the axes of the set. Short axes that the op does not have do not count.
  Bundle GetFor(int op, AxisSet axes, const ShortIndex& index, const Tile& tile);

 private:
  // Values made so far at one level, by op and short index.
  using Key = std::pair<int, ShortIndex>;
  using Made = std::map<Key, Bundle>;

  Made& MadeAt(Level level) { return made_[static_cast<size_t>(level)]; }
  // For the rows and vectors that the op varies along, made where it is first asked for.
  const Bundle& Get(int op, const ShortIndex& index, const Tile& tile);
  Bundle Emit(const TileOp& op, const ShortIndex& index, const Tile& tile);
  // True if it divides all columns of a row by the same number, which the tile's program computes.
  bool DividesColumns(const TileOp& op) const;
  // A value of some axes for the rows and vectors of others.
  Bundle Spread(const Bundle& bundle, AxisSet own, AxisSet axes, const Tile& tile);
  // Of some rows and vectors.
  Bundle EmitSome(const TileOp& op, llvm::ArrayRef<Bundle> operands);
  // Makes what the op needs and what does not vary along the axis.
  void Prepare(int number, int axis, const ShortIndex& index, const Tile& tile);
  // What was made in a loop along the axis is not there after it.
  void Forget(int axis);
  Bundle EmitFold(const TileOp& op, ShortIndex index, const Tile& tile);
  Bundle EmitLongFold(const TileOp& op, const ShortIndex& index, const Tile& tile);
  Bundle EmitIota(const TileOp& op, const ShortIndex& index, const Tile& tile);
  Bundle EmitLoad(const TileOp& op, const ShortIndex& index, const Tile& tile);
  // A vector of an operand that has an element for each row and column.
  llvm::Value* LoadPairs(const TileArray& layout, const ArrayPlace& array, int row, int vector,
                         const ShortIndex& index, const Tile& tile);

  KernelFrame& frame_;
  llvm::IRBuilder<>& builder_;
  std::vector<Sign> signs_;    // Of all ops.
  std::vector<bool> has_sum_;  // Whether an op is a fold, or made of one.
  bool subtracts_with_products_;
  std::vector<bool> is_divisor_;  // Whether all columns of a row are divided by an op's value.
  Made made_[3];
  std::map<Key, Divisor> divisors_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_EMIT_VALUES_H_
