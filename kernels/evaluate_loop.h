// Loop programs computed number by number in double precision, slowly: what tests compare kernels
// with.

#ifndef PLIMSOLL_KERNELS_EVALUATE_LOOP_H_
#define PLIMSOLL_KERNELS_EVALUATE_LOOP_H_

#include <cstdint>
#include <vector>

#include "kernels/evaluate_tiles.h"
#include "kernels/loop_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll::testing {

// The shape of an array for that batch and number of steps.
std::vector<int64_t> ShapeOf(const LoopArray& array, int64_t batch, int64_t steps);

// Arrays with steps have so many of them.
std::vector<NumberArray> Evaluate(const LoopProgram& program, int64_t batch, int64_t steps,
                                  llvm::ArrayRef<NumberArray> operands);

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_KERNELS_EVALUATE_LOOP_H_
