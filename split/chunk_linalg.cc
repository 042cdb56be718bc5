// Custom calls on one chunk.

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "split/chunk_ops_internal.h"

namespace plimsoll {

StatusOr<Builder::Values> EmitCustomCallChunk(const ChunkOp& op) {
  ASSIGN_OR_RETURN(Builder::Values results, op.Copy(op.operands));
  // A sharding rule names the sizes of the whole call.
  Op& copy = *results[0]->defining_op();
  if (!copy.attributes()) return results;
  llvm::SmallVector<NamedAttribute> kept;
  for (const auto [name, attribute] :
       llvm::zip_equal(copy.attributes().names(), copy.attributes().items())) {
    if (name != "sdy.sharding_rule") kept.emplace_back(name, attribute);
  }
  copy.set_attributes(kept.empty() ? Attribute() : op.builder.context().Dictionary(kept));
  return results;
}

}  // namespace plimsoll
