// The largest values that a compiled XLA program really makes, from its optimized HLO. What a
// fusion computes on the way is not among them: it never is in memory.

#ifndef PLIMSOLL_ANALYSIS_LARGE_VALUES_H_
#define PLIMSOLL_ANALYSIS_LARGE_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

struct LargeValue {
  int64_t bytes = 0;
  // As XLA writes it, such as "f32[8,3]".
  std::string type;
  // What makes it: the user's operation where XLA knows it, such as "exp", else XLA's own; or the
  // argument's name, such as "argument x".
  std::string operation;
  // The user's own line, such as "train.py:41"; empty if it is not known.
  std::string source;
};

// At most `count` values, largest first; equal ones in the order of the text. `hlo_text` has to
// live as long as the result.
std::vector<LargeValue> FindLargestValues(std::string_view hlo_text, size_t count);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_LARGE_VALUES_H_
