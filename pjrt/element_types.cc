#include "pjrt/element_types.h"

#include <algorithm>
#include <limits>

#include "ir/status.h"
#include "pjrt_c_api.h"

namespace plimsoll {
namespace {

constexpr ElementTypeInfo kElementTypes[] = {
#define PLIMSOLL_ELEMENT_TYPE(name, hlo_number, mlir_name, numpy_name, host_bytes) \
  {ElementType::k##name, PJRT_Buffer_Type_##name, hlo_number, mlir_name, numpy_name, host_bytes},
#include "pjrt/element_types.def"
#undef PLIMSOLL_ELEMENT_TYPE
};

template <typename Value>
std::optional<ElementType> Find(Value ElementTypeInfo::* column, Value value) {
  for (const ElementTypeInfo& info : kElementTypes) {
    if (info.*column == value) return info.type;
  }
  return std::nullopt;
}

}  // namespace

std::span<const ElementTypeInfo> ElementTypes() { return kElementTypes; }

const ElementTypeInfo& Info(ElementType type) { return kElementTypes[static_cast<size_t>(type)]; }

std::optional<ElementType> ElementTypeFromMlirName(std::string_view name) {
  return Find(&ElementTypeInfo::mlir_name, name);
}

std::optional<ElementType> ElementTypeFromPjrtNumber(int number) {
  return Find(&ElementTypeInfo::pjrt_number, number);
}

std::optional<ElementType> ElementTypeFromHloNumber(int64_t number) {
  if (number < 0 || number > std::numeric_limits<int>::max()) return std::nullopt;
  return Find(&ElementTypeInfo::hlo_number, static_cast<int>(number));
}

std::optional<size_t> ArrayType::HostBytes() const {
  if (std::any_of(dimensions.begin(), dimensions.end(), [](int64_t size) { return size < 0; })) {
    return std::nullopt;
  }
  // The other dimensions of an empty array may be of any size, so they are not multiplied.
  if (std::count(dimensions.begin(), dimensions.end(), 0) > 0) return 0;
  size_t bytes = Info(element_type).host_bytes;
  for (const int64_t size : dimensions) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(size), &bytes)) return std::nullopt;
  }
  return bytes;
}

std::string ArrayType::ToString() const {
  std::string text = "tensor<";
  for (const int64_t dimension : dimensions) text += StrCat(dimension, 'x');
  return StrCat(text, Info(element_type).mlir_name, '>');
}

}  // namespace plimsoll
