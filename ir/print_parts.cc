#include "ir/print_parts.h"

#include <algorithm>
#include <cmath>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

namespace plimsoll {
namespace {

constexpr char kHexDigits[] = "0123456789ABCDEF";

bool IsBareIdentifier(std::string_view text) {
  if (text.empty() || !(llvm::isAlpha(text[0]) || text[0] == '_')) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; });
}

// Decimal with a point, as MLIR's grammar of numbers wants it.
template <typename Number>
std::string Decimal(Number value) {
  char buffer[64];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  std::string text(buffer, end);
  if (text.find('.') == std::string::npos) {
    const size_t exponent = text.find('e');
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  }
  return text;
}

// 0x7FC00000: as many digits as the width has.
void PrintBits(uint64_t bits, unsigned width, std::string& out) {
  out += "0x";
  for (int shift = static_cast<int>(llvm::divideCeil(width, 4) * 4) - 4; shift >= 0; shift -= 4) {
    out += kHexDigits[bits >> shift & 15];
  }
}

}  // namespace

void PrintHex(llvm::ArrayRef<char> bytes, std::string& out) {
  const size_t start = out.size();
  out.resize(start + 2 * bytes.size());
  char* digit = out.data() + start;
  for (const char byte : bytes) {
    *digit++ = kHexDigits[static_cast<uint8_t>(byte) >> 4];
    *digit++ = kHexDigits[static_cast<uint8_t>(byte) & 15];
  }
}

void PrintString(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (llvm::isPrint(c) && c != '"') {
      out += c;
    } else {
      out += '\\';
      PrintHex(c, out);
    }
  }
  out += '"';
}

void PrintName(std::string_view name, std::string& out) {
  if (IsBareIdentifier(name)) {
    out += name;
  } else {
    PrintString(name, out);
  }
}

void PrintSymbol(std::string_view name, std::string& out) {
  out += '@';
  PrintName(name, out);
}

void PrintFloat(Type type, uint64_t bits, std::string& out) {
  const llvm::fltSemantics& semantics = FloatSemantics(type.float_kind());
  const unsigned width = llvm::APFloat::getSizeInBits(semantics);
  const llvm::APFloat value(semantics, llvm::APInt(width, bits));
  if (value.isFinite()) {
    const double number = value.convertToDouble();
    if (type.float_kind() == FloatKind::kF64) {
      out += Decimal(number);
      return;
    }
    // MLIR reads decimals as doubles and rounds those again: make sure that the second rounding
    // comes back here.
    const std::string text = Decimal(static_cast<float>(number));
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    llvm::APFloat again(read);
    bool loses_info = false;
    again.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses_info);
    if (again.bitwiseIsEqual(value)) {
      out += text;
      return;
    }
  }
  PrintBits(bits, width, out);
}

void PrintDouble(double value, std::string& out) {
  if (std::isfinite(value)) {
    out += Decimal(value);
    return;
  }
  PrintBits(llvm::bit_cast<uint64_t>(value), 64, out);
}

}  // namespace plimsoll
