// Rules on products of matrices and vectors, and on sums of products.

#ifndef PLIMSOLL_REWRITE_PRODUCT_RULES_H_
#define PLIMSOLL_REWRITE_PRODUCT_RULES_H_

#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"

namespace plimsoll {

llvm::ArrayRef<Rule> ProductRules();

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_PRODUCT_RULES_H_
