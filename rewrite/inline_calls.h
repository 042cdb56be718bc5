// Puts the bodies of called functions in the place of their calls.

#ifndef PLIMSOLL_REWRITE_INLINE_CALLS_H_
#define PLIMSOLL_REWRITE_INLINE_CALLS_H_

#include "ir/graph.h"

namespace plimsoll {

// Afterwards main has no calls, but for those that say how they are to be run (they have attributes
// of their own, or must not be inlined). Functions that nothing refers to any more are removed.
// The module must be valid: functions do not call themselves.
void InlineCalls(Module& module);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_INLINE_CALLS_H_
