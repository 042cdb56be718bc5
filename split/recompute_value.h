// Computes a value once more for one of its users, so that both can be cut in their own way.

#ifndef PLIMSOLL_SPLIT_RECOMPUTE_VALUE_H_
#define PLIMSOLL_SPLIT_RECOMPUTE_VALUE_H_

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {

// The ops that make the value from values that are not big, in the block's order; nothing if one of
// them cannot run twice, or takes too long for that.
std::optional<std::vector<const Op*>> ProducersOf(const Value& value,
                                                  llvm::function_ref<bool(const Value&)> is_big);

// Gives `user`, an op of the same block, a copy of the value of its own. False if it cannot be made
// twice.
bool RecomputeFor(Op& user, Value& value, llvm::function_ref<bool(const Value&)> is_big);

}  // namespace plimsoll

#endif  // PLIMSOLL_SPLIT_RECOMPUTE_VALUE_H_
