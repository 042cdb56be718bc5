// What is in a program for the sake of one op.

#ifndef PLIMSOLL_ANALYSIS_ONLY_FOR_H_
#define PLIMSOLL_ANALYSIS_ONLY_FOR_H_

#include "ir/graph.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// The op and all ops of its block that nobody would need without it, users first.
llvm::SmallVector<Op*> OpsOnlyFor(Op& root);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_ONLY_FOR_H_
