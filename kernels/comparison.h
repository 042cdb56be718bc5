// What a compare of StableHLO asks.

#ifndef PLIMSOLL_KERNELS_COMPARISON_H_
#define PLIMSOLL_KERNELS_COMPARISON_H_

#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/status.h"

namespace plimsoll {

// Refuses what kernels do not compute: an order of NaN.
StatusOr<Comparison> ComparisonOf(const Op& op);

// What it answers.
template <typename Number>
bool Compare(Comparison comparison, Number a, Number b) {
  switch (comparison) {
    case Comparison::kEqual:
      return a == b;
    case Comparison::kNotEqual:
      return a != b;
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessEqual:
      return a <= b;
    case Comparison::kGreater:
      return a > b;
    case Comparison::kGreaterEqual:
      return a >= b;
  }
  return false;
}

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_COMPARISON_H_
