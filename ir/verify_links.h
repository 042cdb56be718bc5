// Checks that a graph's parts point to one another as they should, and errors that say where.

#ifndef PLIMSOLL_IR_VERIFY_LINKS_H_
#define PLIMSOLL_IR_VERIFY_LINKS_H_

#include "ir/graph.h"
#include "ir/status.h"

namespace plimsoll {

// That ops, blocks, regions and values know their parents, that each operand has a value which
// knows of this use and conversely, and that all types and attributes are whole. What comes after
// may rely on it.
Status VerifyLinks(const Module& module);

// The status with the function and the user's line behind its text: "... (in @main, at a.py:3)".
Status At(const Op& op, const Status& status);

template <typename... Parts>
Status ErrorAt(const Op& op, const Parts&... parts) {
  return At(op, {ErrorCode::kInvalidProgram, StrCat(op.name(), ": ", parts...)});
}

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_VERIFY_LINKS_H_
