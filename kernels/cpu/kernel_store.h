// The kernels of this process: each is compiled once.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_STORE_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_STORE_H_

#include <string_view>

#include "ir/status.h"
#include "kernels/cpu/compile_kernel.h"
#include "kernels/cpu/compile_loop.h"

namespace plimsoll {

// The kernel of a tile program in text, which lives as long as the process. May be called by
// several threads at once.
StatusOr<const CompiledKernel*> FindKernel(std::string_view program);
// The same for a loop program.
StatusOr<const CompiledLoop*> FindLoopKernel(std::string_view program);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_STORE_H_
