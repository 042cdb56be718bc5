// What XLA:CPU fuses: which values are in memory, and what each kernel reads.

#ifndef PLIMSOLL_ANALYSIS_FUSION_H_
#define PLIMSOLL_ANALYSIS_FUSION_H_

#include <vector>

#include "analysis/kernel_graph.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// A value that a kernel reads.
struct KernelInput {
  int value;
  // True if each element is read only for the element of the result in the same place, so that the
  // result may take the input's memory.
  bool is_elementwise;
};

struct FusedGraph {
  // By node: true if it is a kernel, so that its results are in memory. The others are computed
  // inside of the kernels that use them, or are not used.
  std::vector<bool> is_kernel;
  // By node, for kernels: values in memory, arguments and large constants, each once.
  std::vector<llvm::SmallVector<KernelInput, 3>> inputs;
};

FusedGraph Fuse(const KernelGraph& graph);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_FUSION_H_
