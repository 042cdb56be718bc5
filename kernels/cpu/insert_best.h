// The best columns of a row, kept in order while the columns go by.

#ifndef PLIMSOLL_KERNELS_CPU_INSERT_BEST_H_
#define PLIMSOLL_KERNELS_CPU_INSERT_BEST_H_

#include <cstdint>
#include <limits>

namespace plimsoll {

// In the place of a column: there are fewer yet than are wanted.
inline constexpr int32_t kNoColumn = std::numeric_limits<int32_t>::max();

// What generated code calls for a tile of which some elements may be among the best: it knows the
// order of these fields.
template <typename T>
struct BestCall {
  // Of the tile's first row: the largest values so far and their columns, the largest first.
  T* best;
  int32_t* columns;
  // Elements from one row to the next, and from one rank to the next.
  int64_t best_row_stride;
  int64_t columns_row_stride;
  int64_t best_rank_stride;
  int64_t columns_rank_stride;
  int64_t ranks;
  // The tile: for each row so many vectors of so many lanes, from this column on. A bit for each
  // lane says whether its value may be among the best.
  const T* values;
  const uint64_t* masks;
  int64_t rows;
  int64_t rows_there;  // The others are not touched.
  int64_t vectors;
  int64_t lanes;
  int64_t column;
  // For each row what a value must be above to be among the best; behind these, what it must be
  // above if its column is before `ties_before`. NaN if every value is. Those of rows without such
  // values stay; without vectors, those of all rows are made.
  T* thresholds;
  int64_t* ties_before;
};

// What generated code knows the functions below by.
inline constexpr char kInsertBestF32[] = "plimsoll_insert_best_f32";
inline constexpr char kInsertBestF64[] = "plimsoll_insert_best_f64";

// NaN is the largest value, and 0 larger than -0; of equal values that of the earlier column comes
// first.
void InsertBest(const BestCall<float>* call);
void InsertBest(const BestCall<double>* call);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_INSERT_BEST_H_
