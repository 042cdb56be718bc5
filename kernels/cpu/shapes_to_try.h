// Shapes that a kernel may be faster with than with the usual one.

#ifndef PLIMSOLL_KERNELS_CPU_SHAPES_TO_TRY_H_
#define PLIMSOLL_KERNELS_CPU_SHAPES_TO_TRY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/kernel_shape.h"
#include "kernels/cpu/machine.h"
#include "kernels/tile_program.h"

namespace plimsoll {

// The usual one first.
std::vector<KernelShape> ShapesToTry(const TileProgram& program, const CpuMachine& machine);

std::string WriteShape(const KernelShape& shape);
// Nothing if it is none of the shapes to try.
std::optional<KernelShape> ReadShape(std::string_view text, const TileProgram& program,
                                     const CpuMachine& machine);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_SHAPES_TO_TRY_H_
