// What is chosen for a kernel, and constant in its code.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_SHAPE_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_SHAPE_H_

#include <cstdint>
#include <vector>

#include "ir/status.h"
#include "kernels/cpu/machine.h"
#include "kernels/staged_program.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

struct KernelShape {
  int lanes = 0;  // Elements of a vector.
  int rows = 0;   // Rows and vectors of columns that are in registers at once.
  int vectors = 0;
  int64_t block = 0;  // Columns that are packed at once; a multiple of all above.

  bool operator==(const KernelShape&) const = default;
};

// Steps along a fold's long axis without a branch.
int StepsUnrolled(const TileProgram& program, const TileOp& fold);

// Fails if the machine cannot do what the program asks for.
Status ExpectMachine(const TileProgram& program, const CpuMachine& machine);

KernelShape ChooseShape(const TileProgram& program, const CpuMachine& machine);
// Of all stages.
std::vector<KernelShape> ChooseShapes(const StagedProgram& program, const CpuMachine& machine);

// True if columns are visited in a scattered order. Where the best are wanted and each column is
// better than the one before, each would be one of the best in its turn.
bool IsScattered(const TileProgram& program);

// True if a block of the operand's columns is brought into the order in which it is read.
bool IsPacked(const TileProgram& program, const TileArray& operand);
inline constexpr int64_t kPackAlignment = 64;
// The bytes of all packed operands for axes of these lengths.
int64_t PackedBytes(const TileProgram& program, const KernelShape& shape,
                    llvm::ArrayRef<int64_t> lengths);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_SHAPE_H_
