#include "kernels/cpu/long_sums.h"

#include <cmath>
#include <limits>

#include "ir/opcode.h"

namespace plimsoll {
namespace {

template <typename Number>
void Add(Number* sums, int64_t apart, Number* compensations, int64_t compensations_apart,
         const Number* numbers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Number& sum = sums[i * apart];
    Number& compensation = compensations[i * compensations_apart];
    const Number number = numbers[i] - compensation;
    const Number after = sum + number;
    const Number excess = (after - sum) - number;
    // Infinities have none.
    compensation = std::isfinite(excess) ? excess : 0;
    sum = after;
  }
}

}  // namespace

bool IsSum(const TileResult& result) {
  return result.reducer == Opcode::kAdd && IsFloat(result.array.type) && result.segment < 0;
}

bool IsSumOverColumns(const TileResult& result) {
  return IsSum(result) && (result.reduced & kColumnBit) != 0;
}

bool IsSumOverRows(const TileResult& result) {
  return IsSum(result) && (result.reduced & kRowBit) != 0 && (result.reduced & kColumnBit) == 0;
}

int64_t CompensationsOfRow(const TileProgram& program, const TileResult& result) {
  return program.ShortCount(AxesOf(result.array));
}

int64_t CompensationBytesOfRow(const TileProgram& program, const TileResult& result) {
  return CompensationsOfRow(program, result) * BytesOf(result.array.type);
}

void AddCompensated(ScalarType type, void* sums, int64_t apart, void* compensations,
                    int64_t compensations_apart, const void* numbers, int64_t count) {
  if (type == ScalarType::kF64) {
    Add(static_cast<double*>(sums), apart, static_cast<double*>(compensations), compensations_apart,
        static_cast<const double*>(numbers), count);
  } else {
    Add(static_cast<float*>(sums), apart, static_cast<float*>(compensations), compensations_apart,
        static_cast<const float*>(numbers), count);
  }
}

CompensatedSum EmitCompensated(const CompensatedSum& before, const Bundle& number) {
  const Bundle added = number - before.compensation;
  const Bundle sum = before.sum + added;
  const Bundle excess = (sum - before.sum) - added;
  const Bundle is_finite =
      Absolute(excess) < excess.Number(std::numeric_limits<double>::infinity());
  return {.sum = sum, .compensation = Select(is_finite, excess, excess.Number(0))};
}

}  // namespace plimsoll
