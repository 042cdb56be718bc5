// Results that several pieces of the rows have each computed a part of.

#ifndef PLIMSOLL_KERNELS_CPU_COMBINE_PARTS_H_
#define PLIMSOLL_KERNELS_CPU_COMBINE_PARTS_H_

#include <cstdint>

#include "ir/opcode.h"
#include "kernels/scalar_type.h"

namespace plimsoll {

// Sets all elements to the number that leaves others as they are.
void FillNeutral(Opcode reducer, ScalarType type, void* data, int64_t count);

// Combines `count` elements with others, and writes them in the place of the first.
void CombineInto(Opcode reducer, ScalarType type, void* to, const void* from, int64_t count);

// The same where the first ones are so many elements apart.
void CombineApart(Opcode reducer, ScalarType type, void* to, int64_t apart, const void* from,
                  int64_t count);

// Combines `parts` arrays of `count` elements that lie one behind the other, in a fixed order by
// twos, into the first.
void CombineParts(Opcode reducer, ScalarType type, void* data, int64_t count, int64_t parts);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_COMBINE_PARTS_H_
