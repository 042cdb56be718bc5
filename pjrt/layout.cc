#include "pjrt/layout.h"

#include <cstring>
#include <limits>
#include <vector>

namespace plimsoll {

bool IsRowMajor(std::span<const int64_t> dimensions, std::span<const int64_t> minor_to_major) {
  int64_t previous = std::numeric_limits<int64_t>::max();
  for (const int64_t dimension : minor_to_major) {
    if (dimensions[static_cast<size_t>(dimension)] == 1) continue;
    if (dimension > previous) return false;
    previous = dimension;
  }
  return true;
}

void ToRowMajor(const ArrayType& type, std::span<const int64_t> minor_to_major,
                std::span<const std::byte> source, std::span<std::byte> destination) {
  const size_t element_bytes = Info(type.element_type).host_bytes;
  std::vector<size_t> strides(type.dimensions.size());
  size_t stride = element_bytes;
  for (const int64_t dimension : minor_to_major) {
    strides[static_cast<size_t>(dimension)] = stride;
    stride *= static_cast<size_t>(type.dimensions[static_cast<size_t>(dimension)]);
  }
  // Counts through the indices in row-major order, and keeps the element's place in the source
  // along with them.
  std::vector<int64_t> index(type.dimensions.size());
  size_t place = 0;
  for (size_t written = 0; written < destination.size(); written += element_bytes) {
    std::memcpy(&destination[written], &source[place], element_bytes);
    for (size_t dimension = index.size(); dimension-- > 0;) {
      place += strides[dimension];
      if (++index[dimension] < type.dimensions[dimension]) break;
      place -= strides[dimension] * static_cast<size_t>(index[dimension]);
      index[dimension] = 0;
    }
  }
}

}  // namespace plimsoll
