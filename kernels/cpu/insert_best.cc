#include "kernels/cpu/insert_best.h"

#include <cmath>

namespace plimsoll {
namespace {

// As XLA orders them: 0 is larger than -0.
template <typename T>
bool IsLarger(T a, T b) {
  if (a == b) return std::signbit(b) && !std::signbit(a);
  return a > b || (std::isnan(a) && !std::isnan(b));
}

// What a value must be above to be among the best, by a comparison that sees no sign of zeros, nor
// subnormal numbers where the processor flushes them.
template <typename T>
T ThresholdOf(T last) {
  return last == 0 && std::signbit(last) ? -std::numeric_limits<T>::min() : last;
}

template <typename T>
void Insert(const BestCall<T>& call) {
  for (int64_t row = 0; row < call.rows; ++row) {
    T* best = call.best + row * call.best_row_stride;
    int32_t* columns = call.columns + row * call.columns_row_stride;
    const T* values = call.values + row * call.count;
    T& last = best[(call.ranks - 1) * call.best_rank_stride];
    int32_t& last_column = columns[(call.ranks - 1) * call.columns_rank_stride];
    for (int64_t i = 0; i < call.valid; ++i) {
      const T value = values[i];
      if (last_column != kNoColumn && !IsLarger(value, last)) continue;
      // Those that it is larger than move back by one.
      int64_t rank = call.ranks - 1;
      for (; rank > 0; --rank) {
        const T before = best[(rank - 1) * call.best_rank_stride];
        const int32_t column = columns[(rank - 1) * call.columns_rank_stride];
        if (column != kNoColumn && !IsLarger(value, before)) break;
        best[rank * call.best_rank_stride] = before;
        columns[rank * call.columns_rank_stride] = column;
      }
      best[rank * call.best_rank_stride] = value;
      columns[rank * call.columns_rank_stride] = static_cast<int32_t>(call.column + i);
    }
    call.thresholds[row] =
        last_column == kNoColumn ? std::numeric_limits<T>::quiet_NaN() : ThresholdOf(last);
  }
}

}  // namespace

void InsertBest(const BestCall<float>* call) { Insert(*call); }
void InsertBest(const BestCall<double>* call) { Insert(*call); }

}  // namespace plimsoll
