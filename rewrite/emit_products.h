// Makes a sum of products in the order that was chosen for it.

#ifndef PLIMSOLL_REWRITE_EMIT_PRODUCTS_H_
#define PLIMSOLL_REWRITE_EMIT_PRODUCTS_H_

#include "ir/builder.h"
#include "ir/graph.h"
#include "rewrite/contraction_order.h"
#include "rewrite/sum_of_products.h"

namespace plimsoll {

// The sum as an order is looked for.
Contraction ContractionOf(const SumOfProducts& sum);

// The result. Null after an error of the builder.
Value* EmitProducts(Builder& builder, const SumOfProducts& sum, const ContractionOrder& order);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_EMIT_PRODUCTS_H_
