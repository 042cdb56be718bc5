// The element types that kernels compute with.

#ifndef PLIMSOLL_KERNELS_SCALAR_TYPE_H_
#define PLIMSOLL_KERNELS_SCALAR_TYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/type.h"

namespace plimsoll {

enum class ScalarType : uint8_t {
#define PLIMSOLL_SCALAR(identifier, name, bytes, kind) k##identifier,
#include "kernels/scalar_types.def"
#undef PLIMSOLL_SCALAR
};

enum class ScalarKind : uint8_t { kPredicate, kSigned, kUnsigned, kFloat };

struct ScalarInfo {
  std::string_view name;
  int bytes = 0;  // In memory.
  ScalarKind kind = ScalarKind::kFloat;
};

const ScalarInfo& InfoOf(ScalarType type);

inline std::string_view Name(ScalarType type) { return InfoOf(type).name; }
inline int BytesOf(ScalarType type) { return InfoOf(type).bytes; }
inline bool IsFloat(ScalarType type) { return InfoOf(type).kind == ScalarKind::kFloat; }
inline bool IsInteger(ScalarType type) {
  return InfoOf(type).kind == ScalarKind::kSigned || InfoOf(type).kind == ScalarKind::kUnsigned;
}
inline bool IsUnsigned(ScalarType type) { return InfoOf(type).kind == ScalarKind::kUnsigned; }
inline bool IsHalf(ScalarType type) {
  return type == ScalarType::kBF16 || type == ScalarType::kF16;
}
// Sums of halves are kept in f32.
inline ScalarType AccumulatorOf(ScalarType type) { return IsHalf(type) ? ScalarType::kF32 : type; }

std::optional<ScalarType> ScalarTypeFromName(std::string_view name);
// Nothing for elements that kernels do not compute with, such as complex numbers.
std::optional<ScalarType> ScalarTypeOf(Type element);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_SCALAR_TYPE_H_
