#include "pjrt/options.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace plimsoll {
namespace {

using Json = nlohmann::json;

bool IsInt64(const Json& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() ||
          value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
}

std::optional<OptionValue> ToValue(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>();
  if (IsInt64(value)) return value.get<int64_t>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_array() && std::all_of(value.begin(), value.end(), IsInt64)) {
    return value.get<std::vector<int64_t>>();
  }
  return std::nullopt;
}

}  // namespace

StatusOr<std::vector<Option>> OptionsFromJson(std::string_view json) {
  std::vector<Option> options;
  if (json.empty()) return options;
  const Json object = Json::parse(json, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return Status(ErrorCode::kBadArgument,
                  StrCat("options: expected a JSON object such as {\"name\": 1}, found ", json));
  }
  for (const auto& [name, value] : object.items()) {
    std::optional<OptionValue> option_value = ToValue(value);
    if (!option_value.has_value()) {
      return Status(ErrorCode::kBadArgument,
                    StrCat("option ", name,
                           ": expected text, a boolean, a number or a list of integers, found ",
                           value.dump(-1, ' ', false, Json::error_handler_t::replace)));
    }
    options.push_back({name, *std::move(option_value)});
  }
  return options;
}

}  // namespace plimsoll
