// How long kernels took in this process, to be made and to run.

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

// A kernel whose code was generated, or read.
struct MadeKernel {
  std::string program;
  double seconds = 0;
  bool is_from_disk = false;
};

// Several threads may call these.
void NoteKernelTime(std::string_view program, double expected_seconds, double seconds);
void NoteMadeKernel(MadeKernel made);
std::vector<KernelTime> KernelTimes();
std::vector<MadeKernel> MadeKernels();

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_KERNEL_TIMES_H_
