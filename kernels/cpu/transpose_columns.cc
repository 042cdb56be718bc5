#include "kernels/cpu/transpose_columns.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

// Everything is inlined into functions for the processor that has the instructions.
#define PLIMSOLL_INLINE [[gnu::always_inline]] inline

namespace plimsoll {
namespace {

// What is copied: the next vector's columns are brought to the caches meanwhile.
template <typename T>
struct Columns {
  const T* from;
  int64_t stride;
  int64_t columns;
  int64_t lanes;

  // The column of a lane, or the last one.
  PLIMSOLL_INLINE const T* OfLane(int64_t lane) const {
    return from + std::min(lane, columns - 1) * stride;
  }
};

// Exchanges the upper right and lower left blocks of so many elements in all squares of twice as
// many, in the two rows.
template <int kSize, typename Vector, size_t... kLanes>
PLIMSOLL_INLINE void Exchange(Vector& a, Vector& b, std::index_sequence<kLanes...>) {
  constexpr int kCount = sizeof...(kLanes);
  const Vector upper =
      __builtin_shufflevector(a, b, ((kLanes & kSize) != 0 ? kCount + kLanes - kSize : kLanes)...);
  b = __builtin_shufflevector(a, b, ((kLanes & kSize) != 0 ? kCount + kLanes : kLanes + kSize)...);
  a = upper;
}

template <int kSize, typename Vector, int kCount>
PLIMSOLL_INLINE void ExchangeAll(Vector (&rows)[kCount]) {
  for (int i = 0; i < kCount; ++i) {
    if ((i & kSize) != 0) continue;
    Exchange<kSize>(rows[i], rows[i + kSize], std::make_index_sequence<kCount>());
  }
}

// A square of so many columns and positions.
template <int kCount, typename T>
PLIMSOLL_INLINE void TransposeSquare(const Columns<T>& columns, int64_t lane, int64_t position,
                                     T* to, int64_t step) {
  using Vector [[gnu::vector_size(kCount * sizeof(T))]] = T;
  Vector rows[kCount];
  for (int i = 0; i < kCount; ++i) {
    const T* column = columns.OfLane(lane + i) + position;
    std::memcpy(&rows[i], column, sizeof(Vector));
    __builtin_prefetch(column + columns.lanes * columns.stride);
  }
  ExchangeAll<1>(rows);
  ExchangeAll<2>(rows);
  if constexpr (kCount == 8) ExchangeAll<4>(rows);
  for (int i = 0; i < kCount; ++i) {
    std::memcpy(to + (position + i) * step + lane, &rows[i], sizeof(Vector));
  }
}

template <int kCount, typename T>
PLIMSOLL_INLINE void TransposeSquares(const Columns<T>& columns, T* to, int64_t length,
                                      int64_t step) {
  for (int64_t lane = 0; lane < columns.lanes; lane += kCount) {
    for (int64_t begin = 0; begin < length; begin += kCount) {
      // The last square may cover a part of the one before it once more.
      TransposeSquare<kCount>(columns, lane, std::min(begin, length - kCount), to, step);
    }
  }
}

template <typename T>
PLIMSOLL_INLINE void Transpose(void* to_bytes, const void* from, int64_t stride, int64_t count,
                               int64_t length, int64_t lanes, int64_t step) {
  const Columns<T> columns = {
      .from = static_cast<const T*>(from), .stride = stride, .columns = count, .lanes = lanes};
  T* to = static_cast<T*>(to_bytes);
  // Eight times eight bytes are more than the registers of most machines hold.
  constexpr int kMost = sizeof(T) < 8 ? 8 : 4;
  if (std::min(length, lanes) >= kMost) {
    TransposeSquares<kMost>(columns, to, length, step);
  } else if (std::min(length, lanes) >= 4) {
    TransposeSquares<4>(columns, to, length, step);
  } else {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      for (int64_t i = 0; i < length; ++i) to[i * step + lane] = columns.OfLane(lane)[i];
    }
  }
}

template <typename T>
void TransposeAnywhere(void* to, const void* from, int64_t stride, int64_t columns, int64_t length,
                       int64_t lanes, int64_t step) {
  Transpose<T>(to, from, stride, columns, length, lanes, step);
}

#ifdef __x86_64__
template <typename T>
[[gnu::target("avx2")]] void TransposeWide(void* to, const void* from, int64_t stride,
                                           int64_t columns, int64_t length, int64_t lanes,
                                           int64_t step) {
  Transpose<T>(to, from, stride, columns, length, lanes, step);
}
#endif

template <typename T>
TransposeFunction FunctionFor([[maybe_unused]] const CpuMachine& machine) {
#ifdef __x86_64__
  if (machine.vector_bytes >= 32) return TransposeWide<T>;
#endif
  return TransposeAnywhere<T>;
}

}  // namespace

TransposeFunction TransposeFor(int element_bytes, const CpuMachine& machine) {
  switch (element_bytes) {
    case 1:
      return FunctionFor<uint8_t>(machine);
    case 2:
      return FunctionFor<uint16_t>(machine);
    case 4:
      return FunctionFor<uint32_t>(machine);
    default:
      return FunctionFor<uint64_t>(machine);
  }
}

const char* NameOfTranspose(int element_bytes) {
  switch (element_bytes) {
    case 1:
      return "plimsoll_transpose_1";
    case 2:
      return "plimsoll_transpose_2";
    case 4:
      return "plimsoll_transpose_4";
    default:
      return "plimsoll_transpose_8";
  }
}

}  // namespace plimsoll
