// Result types of ops: what they are, and whether given ones can be right.

#ifndef PLIMSOLL_IR_INFER_TYPES_H_
#define PLIMSOLL_IR_INFER_TYPES_H_

#include <vector>

#include "ir/op_view.h"
#include "ir/status.h"
#include "ir/type.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// The result types of an op, from its operands, attributes and regions as its rule in ir/ops.def
// says. Sizes that do not follow from the operands' types are dynamic, and the elements of a
// product are those of its operands. Reductions whose region has no body yet keep their operands'
// elements. kInvalidProgram if the op breaks a rule of StableHLO or its types must be said
// (kExplicit).
StatusOr<std::vector<Type>> InferResultTypes(const OpView& op);

// Whether an op can have these result types. As lenient as StableHLO: sizes that are not known fit
// all, products may have any elements, scales of quantized elements may differ.
Status CheckResultTypes(const OpView& op, llvm::ArrayRef<Type> results);

// Whether the op has as many regions as it wants, and these take and return what it wants.
Status CheckRegions(const OpView& op, llvm::ArrayRef<Type> results);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_INFER_TYPES_H_
