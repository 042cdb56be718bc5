// Products with sums of matrices of which one is diagonal or of low rank.

#ifndef PLIMSOLL_REWRITE_SUM_RULES_H_
#define PLIMSOLL_REWRITE_SUM_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> SumRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SUM_RULES_H_
