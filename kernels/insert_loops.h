// Replaces loops that are elementwise over a batch by calls of kernels which run them as a whole.

#ifndef PLIMSOLL_KERNELS_INSERT_LOOPS_H_
#define PLIMSOLL_KERNELS_INSERT_LOOPS_H_

#include "ir/context.h"
#include "ir/graph.h"
#include "ir/status.h"
#include "kernels/insert_kernels.h"

namespace plimsoll {

// In the block and all blocks inside of it; loops outside are tried before those in them. Leaves
// rounds (unroll_rounds.h) in peace. Adds to the report.
Status InsertLoops(Context& context, Block& block, const KernelOptions& options,
                   KernelReport& report);

// The same for one loop, whatever it is.
Status InsertLoop(Context& context, Op& loop, const KernelOptions& options, KernelReport& report);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_INSERT_LOOPS_H_
