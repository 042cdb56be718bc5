// Where an op's inherent attributes stand in what a reader found.

#ifndef PLIMSOLL_STABLEHLO_INHERENT_ATTRIBUTES_H_
#define PLIMSOLL_STABLEHLO_INHERENT_ATTRIBUTES_H_

#include "ir/attribute.h"
#include "ir/context.h"
#include "ir/opcode.h"

namespace plimsoll {

// Moves inherent attributes from the dictionary `attributes` to `properties`; both may be null.
// Before MLIR had properties they stood among the others, and texts by hand still put them there.
void MoveInherentAttributes(Context& context, Opcode opcode, Attribute& properties,
                            Attribute& attributes);

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_INHERENT_ATTRIBUTES_H_
