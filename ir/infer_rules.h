// The rules of result types, one function for each row of ir/rules.def. Called through
// ir/infer_types.h.

#ifndef PLIMSOLL_IR_INFER_RULES_H_
#define PLIMSOLL_IR_INFER_RULES_H_

#include <vector>

#include "ir/op_view.h"
#include "ir/status.h"
#include "ir/type.h"

namespace plimsoll {

using InferredTypes = StatusOr<std::vector<Type>>;

#define PLIMSOLL_RULE(identifier) InferredTypes Infer##identifier(const OpView& op);
#include "ir/rules.def"
#undef PLIMSOLL_RULE

// The element types that a reduction gives: those which region `region` returns, or, while it has
// no body yet, those of the `count` operands from the first on.
InferredTypes AccumulatorElements(const OpView& op, size_t region, size_t count);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_INFER_RULES_H_
