// What of a kernel graph is needed.

#ifndef PLIMSOLL_ANALYSIS_KERNEL_LIVENESS_H_
#define PLIMSOLL_ANALYSIS_KERNEL_LIVENESS_H_

#include <vector>

#include "analysis/kernel_graph.h"

namespace plimsoll {

// The values that are needed for what the graph returns or does.
std::vector<int> FindNeeded(const KernelGraph& graph);

// Removes the state of loops that nobody needs, as XLA does: neither what comes after the loop nor
// another state.
void RemoveDeadState(KernelGraph& graph);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_KERNEL_LIVENESS_H_
