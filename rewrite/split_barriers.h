// Gives every value of an optimization barrier a barrier of its own.

#ifndef PLIMSOLL_REWRITE_SPLIT_BARRIERS_H_
#define PLIMSOLL_REWRITE_SPLIT_BARRIERS_H_

#include "ir/graph.h"

namespace plimsoll {

// A barrier of several values makes them all wait for each other, so none could be cut alone. What
// barriers are for, to keep equal ops apart and to stop motion across them, stays.
void SplitBarriers(Op& root);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SPLIT_BARRIERS_H_
