// Named options with typed values, as clients and compilations of a PJRT plugin take them.

#ifndef PLIMSOLL_PJRT_OPTIONS_H_
#define PLIMSOLL_PJRT_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/status.h"

namespace plimsoll {

using OptionValue = std::variant<std::string, bool, int64_t, double, std::vector<int64_t>>;

struct Option {
  std::string name;
  OptionValue value;

  bool operator==(const Option&) const = default;
};

// Reads a JSON object whose values are text, booleans, numbers and lists of integers:
// {"cpu_device_count": 2}. Options come sorted by name. No text at all stands for no options.
StatusOr<std::vector<Option>> OptionsFromJson(std::string_view json);

}  // namespace plimsoll

#endif  // PLIMSOLL_PJRT_OPTIONS_H_
