// Takes out of a program what its user has stated of values, once nobody asks any more.

#ifndef PLIMSOLL_REWRITE_DROP_ASSUMPTIONS_H_
#define PLIMSOLL_REWRITE_DROP_ASSUMPTIONS_H_

#include "ir/graph.h"

namespace plimsoll {

// Whatever uses a statement of plimsoll.assume uses its operand instead. To be run after the rules
// that ask (apply_rules.h), and before cuts, to which a statement is in the way.
void DropAssumptions(Op& root);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_DROP_ASSUMPTIONS_H_
