// Tile programs computed element by element in double precision, slowly: what tests compare kernels
// with.

#ifndef PLIMSOLL_KERNELS_EVALUATE_TILES_H_
#define PLIMSOLL_KERNELS_EVALUATE_TILES_H_

#include <cstdint>
#include <vector>

#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll::testing {

// Elements in row-major order. Integers are exact up to 2^53.
struct NumberArray {
  std::vector<int64_t> shape;
  std::vector<double> numbers;
};

// The number that an element's bytes stand for.
double DecodeBits(ScalarType type, uint64_t bits);

// An op of the kind kCompute; of integers only where the result is exact.
double EvaluateOp(const TileOp& op, const std::vector<double>& x);

// The shape of an array for given lengths of all axes.
std::vector<int64_t> ShapeOf(const TileArray& array, llvm::ArrayRef<int64_t> lengths);

std::vector<NumberArray> Evaluate(const TileProgram& program, llvm::ArrayRef<int64_t> lengths,
                                  llvm::ArrayRef<NumberArray> operands);

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_KERNELS_EVALUATE_TILES_H_
