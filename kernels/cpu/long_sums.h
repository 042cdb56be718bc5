// Sums of many numbers. Where they go on from what is in memory, the part that rounding took from
// them is kept beside them, and given back with the next number.

#ifndef PLIMSOLL_KERNELS_CPU_LONG_SUMS_H_
#define PLIMSOLL_KERNELS_CPU_LONG_SUMS_H_

#include <cstdint>

#include "kernels/cpu/bundle.h"
#include "kernels/scalar_type.h"
#include "kernels/tile_program.h"

namespace plimsoll {

// Numbers that are added one after the other before their sum is added to that of others: sums of
// equal numbers are rounded to the same side each time.
inline constexpr int kNumbersSummed = 16;

// True for sums of floats: of what has no segments, over columns, and over rows alone.
bool IsSum(const TileResult& result);
bool IsSumOverColumns(const TileResult& result);
bool IsSumOverRows(const TileResult& result);

// What rounding took from a result's sums over columns: so many numbers for each row, or in all
// where it has no rows, in the order of the short axes.
int64_t CompensationsOfRow(const TileProgram& program, const TileResult& result);
int64_t CompensationBytesOfRow(const TileProgram& program, const TileResult& result);

// Adds numbers to sums that are so many elements apart, and so are their compensations.
void AddCompensated(ScalarType type, void* sums, int64_t apart, void* compensations,
                    int64_t compensations_apart, const void* numbers, int64_t count);

struct CompensatedSum {
  Bundle sum;
  Bundle compensation;
};

// The same as instructions.
CompensatedSum EmitCompensated(const CompensatedSum& before, const Bundle& number);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_LONG_SUMS_H_
