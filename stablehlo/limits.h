// How much a reader accepts, so that broken or hostile input costs bounded time and memory.

#ifndef PLIMSOLL_STABLEHLO_LIMITS_H_
#define PLIMSOLL_STABLEHLO_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace plimsoll {

// How deeply regions may be nested in ops. Real programs stay below 100.
inline constexpr uint32_t kMaxRegionDepth = 256;

// How deeply attributes, types and locations may be nested. Locations of deep Python stacks reach a
// few hundred.
inline constexpr uint32_t kMaxAttributeDepth = 1000;

// A few bytes of bytecode can name one attribute many times over. The text of the whole program
// must stay below this.
inline uint64_t TextBudget(size_t input_size) {
  return (uint64_t{256} << 20) + 64 * uint64_t{input_size};
}

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_LIMITS_H_
