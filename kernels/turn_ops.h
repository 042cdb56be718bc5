// The values of a tile program for pairs that are turned around: the column's point in the place of
// the row's, and the row's in that of the column's.

#ifndef PLIMSOLL_KERNELS_TURN_OPS_H_
#define PLIMSOLL_KERNELS_TURN_OPS_H_

#include <functional>
#include <map>
#include <optional>

#include "kernels/tile_program.h"

namespace plimsoll {

// A value of a program times a factor: 1 or another power of two, or the negative of one, so that
// nothing is rounded. Of integers it is 1 or -1.
struct TurnedValue {
  int op = 0;
  double factor = 1;

  bool operator==(const TurnedValue&) const = default;
};

// With columns for rows and rows for columns.
TileArray Turned(TileArray array);

class OpTurner {
 public:
  // Ops are added to the program where none of those that are there will do. The function gives
  // what a load is for turned pairs; nothing if that is not known.
  using TurnLoad = std::function<std::optional<TurnedValue>(int load)>;
  OpTurner(TileProgram& program, TurnLoad turn_load)
      : program_(program), turn_load_(std::move(turn_load)) {}

  // The value for turned pairs, exactly; nothing if it is not known.
  std::optional<TurnedValue> Turn(int op);
  // The same as an op, which is a product with the factor where that is needed.
  std::optional<int> TurnedOp(int op);
  // An op with these operands that is there already, or a new one.
  int Intern(TileOp op);

 private:
  std::optional<TurnedValue> TurnNew(int number);
  std::optional<TurnedValue> TurnSum(const TileOp& op, TurnedValue a, TurnedValue b);
  int WithOperands(TileOp op, std::vector<int> operands);
  int Plain(TurnedValue value);
  TurnedValue Difference(const TileOp& op, int a, int b);
  int Sum(TileOp op, int a, int b);
  std::optional<int> Find(const TileOp& op) const;

  TileProgram& program_;
  TurnLoad turn_load_;
  std::map<int, std::optional<TurnedValue>> turned_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_TURN_OPS_H_
