// Orders of an array's dimensions in memory: which there are, and how to get the host's from
// another.

#ifndef PLIMSOLL_PJRT_LAYOUT_H_
#define PLIMSOLL_PJRT_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "pjrt/element_types.h"

namespace plimsoll {

// True if an array with this order of dimensions, the one that varies fastest first, lies in memory
// as a row-major one does. Dimensions of size 1 may stand anywhere.
bool IsRowMajor(std::span<const int64_t> dimensions, std::span<const int64_t> minor_to_major);

// Writes the dense array in `source`, whose dimensions are in the order `minor_to_major`, in
// row-major order.
void ToRowMajor(const ArrayType& type, std::span<const int64_t> minor_to_major,
                std::span<const std::byte> source, std::span<std::byte> destination);

}  // namespace plimsoll

#endif  // PLIMSOLL_PJRT_LAYOUT_H_
