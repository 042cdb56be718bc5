// Which dimensions of an op's operands and results are one and the same axis, and what becomes of
// that axis: from this follows what can be computed chunk by chunk.

#ifndef PLIMSOLL_ANALYSIS_AXIS_RULES_H_
#define PLIMSOLL_ANALYSIS_AXIS_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// In the place of a dimension: an operand that every chunk sees whole.
inline constexpr int kWhole = -1;
// In the place of a result's dimension: every chunk gives a whole result that is only a part of
// the true one. The parts are combined.
inline constexpr int kPartial = -2;
// In the place of a result's dimension: every chunk gives the true result (a loop's counter).
inline constexpr int kSame = -3;

// How the parts of a result are put together.
enum class Combination : uint8_t {
  kNone,  // No result is partial.
  kSum,
  kProduct,
  kMaximum,
  kMinimum,
  kAnd,
  kOr,
  kBody,  // By the reduction's own body, which takes the result so far first.
  kTopK,  // The best of both lists; the earlier list goes first, so that it wins ties.
  kFold,  // The op itself goes on from the result so far, which takes operand 0's place.
};

// "sum", "top-k" and so on.
std::string_view Name(Combination combination);

// One axis of an op. A dimension of size s that is on the axis consists of `size` blocks of
// s / size neighbours; chunks are whole blocks. Dimensions of size 1 are on no axis.
struct Factor {
  int64_t size = 0;
  llvm::SmallVector<int, 4> operands;  // A dimension or kWhole; of loops also kPartial.
  llvm::SmallVector<int, 2> results;   // A dimension, kPartial or kSame.
  Combination combination = Combination::kNone;

  bool operator==(const Factor&) const = default;
};

struct AxisRule {
  std::vector<Factor> factors;
  // Why dimensions that are in no factor cannot be cut, such as "sort needs all of dimension 1".
  std::string otherwise;
};

// The rule of an op with static shapes; an op that is not known has no factors. Loops have rules of
// their own (axis_loops.h).
AxisRule AxisRuleOf(const Op& op);

// "operands 0 whole results 0 blocks 8", one factor a line, then why the rest cannot be cut: for
// tests and people.
std::string ToString(const AxisRule& rule);

// What a reduction's body does, for a body of one op such as add; kBody for all others.
Combination CombinationOf(const Region& body);

// True if the value is known to leave the other operand of the combination as it is.
bool IsIdentity(const Value& value, Combination combination);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_AXIS_RULES_H_
