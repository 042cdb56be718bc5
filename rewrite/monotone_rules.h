// The largest or smallest of what rises or falls with something else.

#ifndef PLIMSOLL_REWRITE_MONOTONE_RULES_H_
#define PLIMSOLL_REWRITE_MONOTONE_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> MonotoneRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_MONOTONE_RULES_H_
