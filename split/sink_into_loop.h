// Computes a big value anew in each turn of the loop that reads it, so that it need not live as
// long as the loop runs.

#ifndef PLIMSOLL_SPLIT_SINK_INTO_LOOP_H_
#define PLIMSOLL_SPLIT_SINK_INTO_LOOP_H_

#include "ir/context.h"
#include "ir/graph.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {

// Copies the ops that make `value`, down to values that are not big, into the body of `loop`, which
// must read the value and may not change it. Gives the loop, which may be another op than before;
// null if nothing was done, because the value is made by what cannot run twice, or the loop has no
// state that changes.
Op* SinkIntoLoop(Context& context, Op& loop, Value& value,
                 llvm::function_ref<bool(const Value&)> is_big);

// The same for all loops of the block that read the value; gives how many of them do without it
// now.
int SinkIntoLoops(Context& context, Block& block, Value& value,
                  llvm::function_ref<bool(const Value&)> is_big);

}  // namespace plimsoll

#endif  // PLIMSOLL_SPLIT_SINK_INTO_LOOP_H_
