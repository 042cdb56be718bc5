#include "ir/elements.h"

#include <cmath>

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace plimsoll {
namespace {

std::string LittleEndian(const llvm::APInt& bits) {
  std::string bytes(llvm::divideCeil(bits.getBitWidth(), 8), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const unsigned low = static_cast<unsigned>(8 * i);
    const unsigned count = std::min(8U, bits.getBitWidth() - low);
    bytes[i] = static_cast<char>(bits.extractBitsAsZExtValue(count, low));
  }
  return bytes;
}

std::optional<std::string> EncodeInteger(Type element, int64_t value) {
  const unsigned width = element.Is(TypeKind::kIndex) ? 64 : element.integer_width();
  const bool is_unsigned = element.Is(TypeKind::kInteger) &&
                           (element.signedness() == Signedness::kUnsigned || width == 1);
  if (width == 0) return std::nullopt;
  const bool fits = is_unsigned ? value >= 0 && (width >= 64 || llvm::isUIntN(width, value))
                                : width >= 64 || llvm::isIntN(width, value);
  if (!fits) return std::nullopt;
  return LittleEndian(llvm::APInt(width, static_cast<uint64_t>(value), !is_unsigned));
}

std::optional<std::string> EncodeFloat(Type element, llvm::APFloat value) {
  bool loses_information = false;
  value.convert(FloatSemantics(element.float_kind()), llvm::APFloat::rmNearestTiesToEven,
                &loses_information);
  return LittleEndian(value.bitcastToAPInt());
}

// `Number` is double or int64_t.
template <typename Number>
std::optional<std::string> EncodeComplex(Type element, Number value) {
  const std::optional<std::string> real = EncodeElement(element.element_type(), value);
  if (!real) return std::nullopt;
  return *real + std::string(real->size(), '\0');
}

}  // namespace

std::optional<std::string> EncodeElement(Type element, double value) {
  switch (element ? element.kind() : TypeKind::kNone) {
    case TypeKind::kFloat:
      return EncodeFloat(element, llvm::APFloat(value));
    case TypeKind::kComplex:
      return EncodeComplex(element, value);
    case TypeKind::kInteger:
    case TypeKind::kIndex:
      // The first double above what an int64_t holds.
      if (value != std::floor(value) || value < -0x1p63 || value >= 0x1p63) return std::nullopt;
      return EncodeInteger(element, static_cast<int64_t>(value));
    default:
      return std::nullopt;
  }
}

std::optional<std::string> EncodeElement(Type element, int64_t value) {
  switch (element ? element.kind() : TypeKind::kNone) {
    case TypeKind::kFloat: {
      llvm::APFloat number(FloatSemantics(element.float_kind()));
      number.convertFromAPInt(llvm::APInt(64, static_cast<uint64_t>(value), /*isSigned=*/true),
                              /*IsSigned=*/true, llvm::APFloat::rmNearestTiesToEven);
      return LittleEndian(number.bitcastToAPInt());
    }
    case TypeKind::kComplex:
      return EncodeComplex(element, value);
    case TypeKind::kInteger:
    case TypeKind::kIndex:
      return EncodeInteger(element, value);
    default:
      return std::nullopt;
  }
}

std::optional<double> DecodeElement(Type element, llvm::ArrayRef<char> bytes) {
  constexpr size_t kMostBytes = sizeof(uint64_t);
  const bool is_float = element.Is(TypeKind::kFloat);
  if (!is_float && !element.Is(TypeKind::kInteger)) return std::nullopt;
  if (bytes.empty() || bytes.size() > kMostBytes) return std::nullopt;
  uint64_t bits = 0;
  for (const auto [place, byte] : llvm::enumerate(bytes)) {
    bits |= uint64_t{static_cast<uint8_t>(byte)} << (8 * place);
  }
  if (is_float) {
    const llvm::fltSemantics& semantics = FloatSemantics(element.float_kind());
    const unsigned width = llvm::APFloat::getSizeInBits(semantics);
    if (width > 64) return std::nullopt;
    llvm::APFloat number(semantics, llvm::APInt(64, bits).trunc(width));
    bool loses_information = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                   &loses_information);
    return number.convertToDouble();
  }
  const unsigned width = element.integer_width();
  if (width == 0 || width > 64) return std::nullopt;
  const bool is_unsigned = element.signedness() == Signedness::kUnsigned || width == 1;
  const llvm::APInt integer = llvm::APInt(64, bits).trunc(width);
  const double number = is_unsigned ? integer.roundToDouble() : integer.signedRoundToDouble();
  // Beyond this, not every integer is a double.
  if (std::abs(number) > 0x1p53) return std::nullopt;
  return number;
}

}  // namespace plimsoll
