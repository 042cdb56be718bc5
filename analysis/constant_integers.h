// Integers that are known before a program runs.

#ifndef PLIMSOLL_ANALYSIS_CONSTANT_INTEGERS_H_
#define PLIMSOLL_ANALYSIS_CONSTANT_INTEGERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace plimsoll {

// The integers that a constant holds, also one that is computed from constants by a few ops, as
// frameworks do with indices. Only for few of them.
std::optional<std::vector<int64_t>> ConstantIntegers(const Value& value);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_CONSTANT_INTEGERS_H_
