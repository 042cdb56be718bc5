#include "kernels/cpu/transpose_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plimsoll {
namespace {

CpuMachine WithVectors(int bytes) {
  CpuMachine machine = HostMachine();
  machine.vector_bytes = bytes;
  return machine;
}

template <typename T>
void ExpectTransposed(const CpuMachine& machine, int64_t columns, int64_t length, int64_t lanes) {
  const int64_t stride = length + 3;
  const int64_t step = 2 * lanes;
  // Nothing is read behind the last column, and nothing written between the vectors.
  std::vector<T> from(static_cast<size_t>((columns - 1) * stride + length));
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(7 * i + 1);
  std::vector<T> to(static_cast<size_t>(length * step), T{0});
  std::vector<T> expected = to;
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t column = std::min(lane, columns - 1);
      expected[static_cast<size_t>(i * step + lane)] =
          from[static_cast<size_t>(column * stride + i)];
    }
  }
  TransposeFor(sizeof(T), machine)(to.data(), from.data(), stride, columns, length, lanes, step);
  EXPECT_THAT(to, testing::ElementsAreArray(expected))
      << sizeof(T) << " bytes, " << columns << " columns of " << length << ", " << lanes
      << " lanes";
}

TEST(TransposeColumns, BringsColumnsIntoVectors) {
  for (const int vector_bytes : {16, HostMachine().vector_bytes}) {
    const CpuMachine machine = WithVectors(vector_bytes);
    for (const int64_t lanes : {2, 4, 8, 16}) {
      for (const int64_t length : {1, 3, 4, 7, 8, 9, 64}) {
        for (const int64_t columns : {int64_t{1}, int64_t{3}, lanes, lanes + 5}) {
          ExpectTransposed<uint8_t>(machine, columns, length, lanes);
          ExpectTransposed<uint16_t>(machine, columns, length, lanes);
          ExpectTransposed<uint32_t>(machine, columns, length, lanes);
          ExpectTransposed<uint64_t>(machine, columns, length, lanes);
        }
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll
