// Turns VHLO's ops into today's StableHLO ops.

#ifndef PLIMSOLL_STABLEHLO_VHLO_OPS_H_
#define PLIMSOLL_STABLEHLO_VHLO_OPS_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "ir/context.h"
#include "ir/status.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// How one attribute of a VHLO op becomes one of today's op.
struct VhloAttribute {
  std::string name;
  std::string kind;           // "" keeps it.
  std::string default_value;  // "" never leaves it out.
  std::string part_of;        // The attribute whose struct it is a field of, or "".
};

struct VhloStruct {
  std::string name;      // Of the attribute.
  std::string mnemonic;  // Of its struct.
};

struct VhloOp {
  std::string_view op;                    // Today's name.
  std::vector<VhloAttribute> attributes;  // Sorted by name, as their values stand in the bytecode.
  std::vector<VhloStruct> structs;
};

// The row of stablehlo/vhlo.def, or null. `name` is without the dialect: "add_v1".
const VhloOp* FindVhloOp(std::string_view name);

// Today's inherent attributes from the values of the op's attributes, in their order; null if none
// remain. The error's message says which attribute is wrong, not where.
StatusOr<Attribute> ConvertVhloAttributes(Context& context, const VhloOp& op,
                                          llvm::ArrayRef<Attribute> values);

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_VHLO_OPS_H_
