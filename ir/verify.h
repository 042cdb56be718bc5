// Checks that a graph is well formed and keeps StableHLO's rules.

#ifndef PLIMSOLL_IR_VERIFY_H_
#define PLIMSOLL_IR_VERIFY_H_

#include "ir/graph.h"
#include "ir/status.h"

namespace plimsoll {

// Says the first thing that is wrong, of which op, in which function and at which of the user's
// lines: "stablehlo.add: operand 1 is used before it is defined (in @main, at train.py:41)".
//
// Ops that the table does not know are held to the graph's own rules only. As lenient as StableHLO
// about sizes that are not known, quantized elements, and the elements of products and reductions.
// Takes time in proportion to the program, and any graph whose pointers point to living things.
Status Verify(const Module& module);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_VERIFY_H_
