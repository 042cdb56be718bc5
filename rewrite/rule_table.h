// All rules of algebra, in the order in which they are tried.

#ifndef PLIMSOLL_REWRITE_RULE_TABLE_H_
#define PLIMSOLL_REWRITE_RULE_TABLE_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> AllRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_RULE_TABLE_H_
