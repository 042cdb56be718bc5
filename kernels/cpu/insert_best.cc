#include "kernels/cpu/insert_best.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace plimsoll {
namespace {

// As XLA orders them: 0 is larger than -0.
template <typename T>
bool IsLarger(T a, T b) {
  if (a == b) return std::signbit(b) && !std::signbit(a);
  return a > b || (std::isnan(a) && !std::isnan(b));
}

template <typename T>
bool IsBetter(T a, int64_t a_column, T b, int64_t b_column) {
  if (b_column == kNoColumn || IsLarger(a, b)) return true;
  return a_column < b_column && !IsLarger(b, a);
}

// What values must be above to be larger than the last of the best, by a comparison that sees no
// sign of zeros, nor subnormal numbers where the processor flushes them.
template <typename T>
T ThresholdOf(T last) {
  return last == 0 && std::signbit(last) ? -std::numeric_limits<T>::min() : last;
}

// The same for values that may be equal.
template <typename T>
T ThresholdOfEqual(T last) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (last == -kInfinity) return std::numeric_limits<T>::quiet_NaN();
  constexpr T kSmall = 4 * std::numeric_limits<T>::min();
  if (std::abs(last) < kSmall) return last - kSmall;
  // The next number below: quicker than std::nextafter, which is called for every row.
  using Bits = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;
  const auto bits = std::bit_cast<Bits>(last);
  return std::bit_cast<T>(std::signbit(last) ? bits + 1 : bits - 1);
}

template <typename T>
void InsertIntoRow(const BestCall<T>& call, int64_t row) {
  T* best = call.best + row * call.best_row_stride;
  int32_t* columns = call.columns + row * call.columns_row_stride;
  for (int64_t vector = 0; vector < call.vectors; ++vector) {
    const int64_t place = row * call.vectors + vector;
    for (uint64_t lanes = call.masks[place]; lanes != 0; lanes &= lanes - 1) {
      const int64_t lane = std::countr_zero(lanes);
      const T value = call.values[place * call.lanes + lane];
      const int64_t column = call.column + vector * call.lanes + lane;
      // Those that it is better than move back by one.
      int64_t rank = call.ranks;
      for (; rank > 0; --rank) {
        const T before = best[(rank - 1) * call.best_rank_stride];
        const int32_t before_column = columns[(rank - 1) * call.columns_rank_stride];
        if (!IsBetter<T>(value, column, before, before_column)) break;
        if (rank == call.ranks) continue;
        best[rank * call.best_rank_stride] = before;
        columns[rank * call.columns_rank_stride] = before_column;
      }
      if (rank == call.ranks) continue;
      best[rank * call.best_rank_stride] = value;
      columns[rank * call.columns_rank_stride] = static_cast<int32_t>(column);
    }
  }
}

template <typename T>
bool HasValues(const BestCall<T>& call, int64_t row) {
  uint64_t lanes = 0;
  for (int64_t i = 0; i < call.vectors; ++i) lanes |= call.masks[row * call.vectors + i];
  return lanes != 0;
}

template <typename T>
void Insert(const BestCall<T>& call) {
  int64_t ties_before = 0;
  for (int64_t row = 0; row < call.rows_there; ++row) {
    const int64_t last = call.ranks - 1;
    const int32_t& column =
        call.columns[row * call.columns_row_stride + last * call.columns_rank_stride];
    if (call.vectors == 0 || HasValues(call, row)) {
      InsertIntoRow(call, row);
      const T value = call.best[row * call.best_row_stride + last * call.best_rank_stride];
      const bool is_open = column == kNoColumn;
      constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
      call.thresholds[row] = is_open ? kNaN : ThresholdOf(value);
      call.thresholds[call.rows + row] = is_open ? kNaN : ThresholdOfEqual(value);
    }
    ties_before = std::max<int64_t>(ties_before, column);
  }
  *call.ties_before = ties_before;
}

}  // namespace

void InsertBest(const BestCall<float>* call) { Insert(*call); }
void InsertBest(const BestCall<double>* call) { Insert(*call); }

}  // namespace plimsoll
