// Products with what is divided by sums, such as softmax.

#ifndef PLIMSOLL_REWRITE_SOFTMAX_RULES_H_
#define PLIMSOLL_REWRITE_SOFTMAX_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> SoftmaxRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SOFTMAX_RULES_H_
