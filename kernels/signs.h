// Which values of a tile program are never negative, or never positive, unless they are NaN.

#ifndef PLIMSOLL_KERNELS_SIGNS_H_
#define PLIMSOLL_KERNELS_SIGNS_H_

#include <cstdint>
#include <vector>

#include "kernels/tile_program.h"

namespace plimsoll {

enum class Sign : uint8_t { kAny, kNeverNegative, kNeverPositive };

// One for each op; kAny for what is no float.
std::vector<Sign> SignsOf(const TileProgram& program);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_SIGNS_H_
