// Lets products read their operands as they lie.

#ifndef PLIMSOLL_REWRITE_FOLD_TRANSPOSES_H_
#define PLIMSOLL_REWRITE_FOLD_TRANSPOSES_H_

#include "ir/context.h"
#include "ir/graph.h"

namespace plimsoll {

// A product of a transposed operand becomes a product of the operand itself along other dimensions,
// where its result stays the same: XLA does so too, but a loop that takes the transposed operand as
// a whole would keep a copy of it.
void FoldTransposes(Context& context, Op& root);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_FOLD_TRANSPOSES_H_
