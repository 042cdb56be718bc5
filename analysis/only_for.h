// What is in a program for the sake of some ops.

#ifndef PLIMSOLL_ANALYSIS_ONLY_FOR_H_
#define PLIMSOLL_ANALYSIS_ONLY_FOR_H_

#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// The ops, which are in one block, and all ops of it that nobody would need without them: users
// first. Ops in `kept` are needed in any case, with what they use.
llvm::SmallVector<Op*> OpsOnlyFor(llvm::ArrayRef<Op*> roots, llvm::ArrayRef<Op*> kept = {});

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_ONLY_FOR_H_
