// What XLA calls to run a kernel.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_HANDLER_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_HANDLER_H_

#include "kernels/cpu/xla_ffi.h"

namespace plimsoll {

// The operands are those of the tile program or loop program in the attribute `program`, the
// results are its results and, last, scratch. Shares the work among XLA's threads.
ffi::Error* RunKernelCall(ffi::CallFrame* frame);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_HANDLER_H_
