#include "kernels/comparison.h"

#include <cstddef>
#include <iterator>
#include <string_view>

#include "kernels/refuse.h"

namespace plimsoll {
StatusOr<Comparison> ComparisonOf(const Op& op) {
  constexpr std::string_view kNames[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const Attribute type = op.Get("compare_type");
  if (type && type.enumerator() == "TOTALORDER") return Refuse("an order of NaN");
  const std::string_view name = op.Get("comparison_direction").enumerator();
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<Comparison>(i);
  }
  return Refuse("the comparison ", name);
}

}  // namespace plimsoll
