// What a compiled kernel is called with: some rows and a block of columns, for one element of the
// batch.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_CALL_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_CALL_H_

#include <cstdint>

namespace plimsoll {

// The generated code knows the order of these fields.
struct KernelCall {
  const void* const* operands;
  // Of results that are reduced: what there is so far, which the kernel adds to. Where rows are
  // reduced, columns lie next to each other, and there is room for whole vectors.
  void* const* results;
  // Of results that are sums over columns (long_sums.h): what rounding took from them so far, for
  // one row after the other. Null where nothing is summed, and for other results.
  void* const* compensations;
  // Elements from one position of an axis to the next: for each operand, then for each result, one
  // number for each axis.
  const int64_t* strides;
  // Of all axes.
  const int64_t* lengths;
  int64_t row_begin;
  int64_t row_end;
  // At most a block (kernel_shape.h).
  int64_t column_begin;
  int64_t column_end;
  // The packed columns of the block, aligned to 64 bytes.
  void* scratch;
};

using KernelFunction = void (*)(const KernelCall*);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_CALL_H_
