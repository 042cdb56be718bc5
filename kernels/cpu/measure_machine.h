// Measures what the estimates of time depend on, once for a machine.

#ifndef PLIMSOLL_KERNELS_CPU_MEASURE_MACHINE_H_
#define PLIMSOLL_KERNELS_CPU_MEASURE_MACHINE_H_

#include <string>
#include <string_view>

#include "analysis/machine_speed.h"
#include "ir/status.h"
#include "kernels/cpu/kernel_store.h"

namespace plimsoll {

// Takes about a tenth of a second, of one core. Each is rounded to a power of the root of two:
// times of small things differ from run to run, and what is chosen for a program should not.
StatusOr<MachineSpeed> MeasureMachine(KernelStore& store);

// The same from the store, or measured and kept there.
StatusOr<MachineSpeed> FindMachineSpeed(KernelStore& store);

std::string WriteSpeed(const MachineSpeed& speed);
// Fails if it is no speed of a machine that there could be.
StatusOr<MachineSpeed> ReadSpeed(std::string_view text);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_MEASURE_MACHINE_H_
