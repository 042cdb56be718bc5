// Where a program compares or uses indices themselves: diagonals.

#ifndef PLIMSOLL_REWRITE_EQUAL_INDICES_H_
#define PLIMSOLL_REWRITE_EQUAL_INDICES_H_

#include <optional>

#include "analysis/indexed_value.h"
#include "ir/graph.h"

namespace plimsoll {

struct EqualIndices {
  int first = kNoIndex;
  int second = kNoIndex;
};

// The index that the element is the number of, if it is one: what an iota makes, also as JAX wraps
// it when it is used as an index.
std::optional<int> FindIndexNumber(const IndexedValue& element);

// The indices that a boolean is true for only if they are equal, and always then: i == j, as in
// jnp.eye.
std::optional<EqualIndices> FindEqualIndices(const IndexedValue& element);

// What element of its operand a gather reads, if it reads along a diagonal: a[i, i].
std::optional<IndexedValue> FindDiagonalRead(const Op& gather, const IndexedValue& element);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_EQUAL_INDICES_H_
