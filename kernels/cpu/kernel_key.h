// What a kernel's code is known by from one process to another.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_KEY_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_KEY_H_

#include <string_view>

#include "kernels/cpu/generate_loop.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/cpu/machine.h"
#include "kernels/cpu/object_store.h"

namespace plimsoll {

// Of the program in text, of all that was chosen for it, and of the build (build_id.h) that
// makes the code and that the code calls.
ObjectStore::Key KernelKey(std::string_view program, const CpuMachine& machine,
                           const KernelShape& shape, std::string_view build);
ObjectStore::Key KernelKey(std::string_view program, const CpuMachine& machine,
                           const LoopShape& shape, std::string_view build);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_KEY_H_
