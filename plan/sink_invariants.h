// Computes big values anew in the loops that only read them, so that kernels can make them there.

#ifndef PLIMSOLL_PLAN_SINK_INVARIANTS_H_
#define PLIMSOLL_PLAN_SINK_INVARIANTS_H_

#include <cstdint>
#include <vector>

#include "ir/context.h"
#include "ir/graph.h"
#include "plan/plan_block.h"

namespace plimsoll {

// Changes the block in place: values of more than `threshold` bytes that its loops read and do not
// change. Arguments and results of the block are there anyway. Gives what is computed anew.
std::vector<RecomputedValue> SinkInvariants(Context& context, Block& block, int64_t threshold);

}  // namespace plimsoll

#endif  // PLIMSOLL_PLAN_SINK_INVARIANTS_H_
