// Array types as PJRT sees them, an element type and dimensions, and their names in PJRT, HLO, MLIR
// and numpy.

#ifndef PLIMSOLL_PJRT_ELEMENT_TYPES_H_
#define PLIMSOLL_PJRT_ELEMENT_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

enum class ElementType : uint8_t {
#define PLIMSOLL_ELEMENT_TYPE(name, hlo_number, mlir_name, numpy_name, host_bytes) k##name,
#include "pjrt/element_types.def"
#undef PLIMSOLL_ELEMENT_TYPE
};

struct ElementTypeInfo {
  ElementType type;
  int pjrt_number;
  int hlo_number;
  std::string_view mlir_name;
  std::string_view numpy_name;
  size_t host_bytes;
};

// One row for each type, in the order of the enum.
std::span<const ElementTypeInfo> ElementTypes();

const ElementTypeInfo& Info(ElementType type);
std::optional<ElementType> ElementTypeFromMlirName(std::string_view name);
std::optional<ElementType> ElementTypeFromPjrtNumber(int number);
std::optional<ElementType> ElementTypeFromHloNumber(int64_t number);

// An array without its values.
struct ArrayType {
  ElementType element_type;
  std::vector<int64_t> dimensions;

  bool operator==(const ArrayType&) const = default;

  // The size of a dense array of this type on the host; nothing if a dimension is negative or the
  // size overflows.
  std::optional<size_t> HostBytes() const;
  // As MLIR writes it: "tensor<2x3xf32>".
  std::string ToString() const;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_PJRT_ELEMENT_TYPES_H_
