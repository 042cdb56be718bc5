// Parts of what is computed: only what is read is computed.

#ifndef PLIMSOLL_REWRITE_PARTIAL_READ_RULES_H_
#define PLIMSOLL_REWRITE_PARTIAL_READ_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> PartialReadRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_PARTIAL_READ_RULES_H_
