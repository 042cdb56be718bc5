#include "kernels/scalar_type.h"

#include <array>
#include <cstddef>

namespace plimsoll {
namespace {

constexpr std::array kInfos = {
#define PLIMSOLL_SCALAR(identifier, name, bytes, kind) ScalarInfo{name, bytes, ScalarKind::kind},
#include "kernels/scalar_types.def"
#undef PLIMSOLL_SCALAR
};

}  // namespace

const ScalarInfo& InfoOf(ScalarType type) { return kInfos[static_cast<size_t>(type)]; }

std::optional<ScalarType> ScalarTypeFromName(std::string_view name) {
  for (size_t i = 0; i < kInfos.size(); ++i) {
    if (kInfos[i].name == name) return static_cast<ScalarType>(i);
  }
  return std::nullopt;
}

std::optional<ScalarType> ScalarTypeOf(Type element) {
  if (!element) return std::nullopt;
  return ScalarTypeFromName(element.ToString());
}

}  // namespace plimsoll
