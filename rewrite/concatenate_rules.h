// Values that are put together only to be taken apart again.

#ifndef PLIMSOLL_REWRITE_CONCATENATE_RULES_H_
#define PLIMSOLL_REWRITE_CONCATENATE_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

// XLA fuses nothing across a concatenate (Snider and Liang, Operator Fusion in XLA), so that each
// one costs a trip through memory.
llvm::ArrayRef<Rule> ConcatenateRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_CONCATENATE_RULES_H_
