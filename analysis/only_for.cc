#include "analysis/only_for.h"

#include <cstddef>

#include "analysis/effects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {

llvm::SmallVector<Op*> OpsOnlyFor(llvm::ArrayRef<Op*> roots, llvm::ArrayRef<Op*> kept) {
  llvm::SmallVector<Op*> ops(roots);
  llvm::DenseMap<const Op*, size_t> uses_gone;
  for (size_t i = 0; i < ops.size(); ++i) {
    for (Value* operand : ops[i]->operands()) {
      Op* definition = operand->defining_op();
      if (definition == nullptr || definition->block() != roots.front()->block() ||
          HasEffects(*definition) || llvm::is_contained(roots, definition) ||
          llvm::is_contained(kept, definition)) {
        continue;
      }
      size_t uses = 0;
      for (const Value* result : definition->results()) uses += result->use_count();
      if (++uses_gone[definition] == uses) ops.push_back(definition);
    }
  }
  return ops;
}

}  // namespace plimsoll
