// Loops whose state is put together at the end of each turn and taken apart at the start of the
// next.

#ifndef PLIMSOLL_REWRITE_LOOP_STATE_RULES_H_
#define PLIMSOLL_REWRITE_LOOP_STATE_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> LoopStateRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_LOOP_STATE_RULES_H_
