// How long kernels took in this process.

#ifndef PLIMSOLL_KERNELS_CPU_KERNEL_TIMES_H_
#define PLIMSOLL_KERNELS_CPU_KERNEL_TIMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

// Of all calls of a program for sizes for which it is thought to take the same time.
struct KernelTime {
  std::string program;
  double expected_seconds = 0;
  int64_t calls = 0;
  double least_seconds = 0;
};

// Several threads may call both.
void NoteKernelTime(std::string_view program, double expected_seconds, double seconds);
std::vector<KernelTime> KernelTimes();

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_TIMES_H_
