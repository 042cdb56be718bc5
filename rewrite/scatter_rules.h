// Scatters that are computed element by element instead.

#ifndef PLIMSOLL_REWRITE_SCATTER_RULES_H_
#define PLIMSOLL_REWRITE_SCATTER_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> ScatterRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SCATTER_RULES_H_
