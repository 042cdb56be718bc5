// Arrays that kernels are called with, and where their elements lie.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_ARRAY_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_ARRAY_H_

#include <cstdint>
#include <vector>

#include "ir/status.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// A dense array in row-major order.
struct KernelArray {
  void* data = nullptr;
  llvm::ArrayRef<int64_t> shape;
};

inline int64_t RoundUp(int64_t number, int64_t step) { return (number + step - 1) / step * step; }

int64_t ElementCount(llvm::ArrayRef<int64_t> shape);

// They live as long as the arrays.
std::vector<llvm::ArrayRef<int64_t>> ShapesOf(llvm::ArrayRef<KernelArray> arrays);

// The axes' strides of an array.
std::vector<int64_t> AxisStrides(const TileProgram& program, const TileArray& array,
                                 llvm::ArrayRef<int64_t> shape);

// The number of a position along the short axes of the set, the last axis fastest.
int64_t ShortNumber(const TileProgram& program, AxisSet set, llvm::ArrayRef<int64_t> positions);

// The lengths of a program's axes; the operands and results must agree on them.
StatusOr<std::vector<int64_t>> AxisLengths(const TileProgram& program,
                                           llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                                           llvm::ArrayRef<llvm::ArrayRef<int64_t>> results);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_ARRAY_H_
