// What is chosen for the kernel of a whole loop, and constant in its code.

#ifndef PLIMSOLL_KERNELS_CPU_LOOP_SHAPE_H_
#define PLIMSOLL_KERNELS_CPU_LOOP_SHAPE_H_

#include "ir/status.h"
#include "kernels/cpu/machine.h"
#include "kernels/loop_program.h"

namespace plimsoll {

struct LoopShape {
  int lanes = 8;    // Of one vector.
  int vectors = 1;  // That go through the loop together.

  bool operator==(const LoopShape&) const = default;
};

LoopShape ChooseLoopShape(const LoopProgram& program, const CpuMachine& machine);

// That the machine can do all of it.
Status ExpectMachine(const LoopProgram& program, const CpuMachine& machine);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_LOOP_SHAPE_H_
