// Columns that are packed, where the elements of one column lie next to each other in memory.

#ifndef PLIMSOLL_KERNELS_CPU_TRANSPOSE_COLUMNS_H_
#define PLIMSOLL_KERNELS_CPU_TRANSPOSE_COLUMNS_H_

#include <cstdint>

#include "kernels/cpu/machine.h"

namespace plimsoll {

// Copies `length` elements of each of so many columns to where those of all columns with the same
// position lie next to each other, as the lanes of a vector. Lanes behind the last column are
// copies of it. `stride` is from one column to the next and `step` from one vector to the next, in
// elements.
using TransposeFunction = void (*)(void* to, const void* from, int64_t stride, int64_t columns,
                                   int64_t length, int64_t lanes, int64_t step);

// That for elements of 1, 2, 4 or 8 bytes on this machine, which has to be the one that runs.
// Kernels call it rather than each having its own, which LLVM would take long to compile.
TransposeFunction TransposeFor(int element_bytes, const CpuMachine& machine);
// What generated code knows it by.
const char* NameOfTranspose(int element_bytes);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_TRANSPOSE_COLUMNS_H_
