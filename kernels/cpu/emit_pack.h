// Brings a block of an operand's columns into the order in which a kernel reads them.

#ifndef PLIMSOLL_KERNELS_CPU_EMIT_PACK_H_
#define PLIMSOLL_KERNELS_CPU_EMIT_PACK_H_

#include <cstddef>

#include "kernels/cpu/kernel_frame.h"

namespace plimsoll {

// Lanes behind the last column repeat it.
void EmitPack(KernelFrame& frame, size_t operand);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_EMIT_PACK_H_
