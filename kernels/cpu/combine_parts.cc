#include "kernels/cpu/combine_parts.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/tile_program.h"

namespace plimsoll {
namespace {

// Calls `body` with a number of the type that elements are combined in. Sums of halves are kept in
// f32, so there are none here.
template <typename Body>
void WithType(ScalarType type, Body body) {
  switch (type) {
    case ScalarType::kI1:
    case ScalarType::kUI8:
      return body(uint8_t{});
    case ScalarType::kI8:
      return body(int8_t{});
    case ScalarType::kI16:
      return body(int16_t{});
    case ScalarType::kI32:
      return body(int32_t{});
    case ScalarType::kI64:
      return body(int64_t{});
    case ScalarType::kUI16:
      return body(uint16_t{});
    case ScalarType::kUI32:
      return body(uint32_t{});
    case ScalarType::kUI64:
      return body(uint64_t{});
    case ScalarType::kF64:
      return body(double{});
    case ScalarType::kF32:
    case ScalarType::kBF16:
    case ScalarType::kF16:
      return body(float{});
  }
}

template <typename T>
bool IsNan(T a) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(a);
  return false;
}

template <typename T>
T Combine(Opcode reducer, T a, T b) {
  switch (reducer) {
    case Opcode::kAdd:
      if constexpr (std::is_integral_v<T>) {
        // Wraps around.
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      }
      return a + b;
    case Opcode::kMultiply:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      }
      return a * b;
    case Opcode::kMaximum:
      return (a >= b || IsNan(a)) ? a : b;
    case Opcode::kMinimum:
      return (a <= b || IsNan(a)) ? a : b;
    case Opcode::kAnd:
      if constexpr (std::is_integral_v<T>) return static_cast<T>(a & b);
      return a;
    default:
      if constexpr (std::is_integral_v<T>) return static_cast<T>(a | b);
      return a;
  }
}

}  // namespace

void FillNeutral(Opcode reducer, ScalarType type, void* data, int64_t count) {
  const uint64_t bits = NeutralBits(reducer, type);
  WithType(type, [&](auto number) {
    std::memcpy(&number, &bits, sizeof(number));
    auto* elements = static_cast<decltype(number)*>(data);
    for (int64_t i = 0; i < count; ++i) elements[i] = number;
  });
}

void CombineInto(Opcode reducer, ScalarType type, void* to, const void* from, int64_t count) {
  CombineApart(reducer, type, to, 1, from, count);
}

void CombineApart(Opcode reducer, ScalarType type, void* to, int64_t apart, const void* from,
                  int64_t count) {
  WithType(type, [&](auto number) {
    auto* first = static_cast<decltype(number)*>(to);
    const auto* second = static_cast<const decltype(number)*>(from);
    for (int64_t i = 0; i < count; ++i) {
      first[i * apart] = Combine(reducer, first[i * apart], second[i]);
    }
  });
}

void CombineParts(Opcode reducer, ScalarType type, void* data, int64_t count, int64_t parts) {
  const int64_t bytes = count * BytesOf(type);
  for (int64_t step = 1; step < parts; step *= 2) {
    for (int64_t part = 0; part + step < parts; part += 2 * step) {
      char* to = static_cast<char*>(data) + part * bytes;
      CombineInto(reducer, type, to, to + step * bytes, count);
    }
  }
}

}  // namespace plimsoll
