// Integers of more bits than anything asks for, such as the positions that random bits are made of.

#ifndef PLIMSOLL_REWRITE_INTEGER_RULES_H_
#define PLIMSOLL_REWRITE_INTEGER_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> IntegerRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_INTEGER_RULES_H_
