// Computes once what a program computes twice.

#ifndef PLIMSOLL_REWRITE_MERGE_EQUAL_OPS_H_
#define PLIMSOLL_REWRITE_MERGE_EQUAL_OPS_H_

#include "ir/graph.h"

namespace plimsoll {

// Of ops in one block that are the same in everything but their location, the first stays and
// gives its results to the users of the others. Ops with effects are left alone.
void MergeEqualOps(Op& root);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_MERGE_EQUAL_OPS_H_
