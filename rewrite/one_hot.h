// Values that are 1 where an index is equal to a number, and 0 elsewhere.

#ifndef PLIMSOLL_REWRITE_ONE_HOT_H_
#define PLIMSOLL_REWRITE_ONE_HOT_H_

#include <optional>

#include "analysis/indexed_value.h"

namespace plimsoll {

// 1 where `index` is `labels`, else 0. The labels are integers that do not depend on the index.
struct OneHot {
  IndexedValue labels;
  int index = kNoIndex;
  // True if labels out of range stand for the nearest ones inside; else they are nowhere.
  bool is_clamped = false;
};

// Of numbers or booleans: labels == iota, as jax.nn.one_hot makes it, and rows of the identity.
std::optional<OneHot> FindOneHot(const IndexedValue& element);

// The labels in a type that can be compared with positions along any dimension, and out of range
// where they were.
Value* WidenLabels(Builder& builder, Value* labels);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_ONE_HOT_H_
