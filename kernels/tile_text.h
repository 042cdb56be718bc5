// Tile programs as text: what tests and people read, what a call of a kernel carries, and what the
// cache knows a kernel by.
//
//   axes r c s0=3
//   operand f32[r, s0]
//   operand f32[c, s0]
//   operand f32[c]
//   %0 = load 0
//   %1 = load 1
//   %2 = subtract %0, %1
//   %3 = multiply %2, %2
//   %4 = fold add s0 %3
//   %5 = negate %4
//   %6 = exponential %5
//   %7 = load 2
//   %8 = multiply %6, %7
//   result f32[r] = add c %8

#ifndef PLIMSOLL_KERNELS_TILE_TEXT_H_
#define PLIMSOLL_KERNELS_TILE_TEXT_H_

#include <string>
#include <string_view>

#include "ir/status.h"
#include "kernels/tile_program.h"

namespace plimsoll {

std::string WriteTiles(const TileProgram& program);

// The program that the text stands for, verified.
StatusOr<TileProgram> ReadTiles(std::string_view text);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_TILE_TEXT_H_
