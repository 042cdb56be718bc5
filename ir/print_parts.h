// The smallest parts of MLIR text: numbers, names, strings, bytes.

#ifndef PLIMSOLL_IR_PRINT_PARTS_H_
#define PLIMSOLL_IR_PRINT_PARTS_H_

#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "ir/type.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// An integer in decimal digits.
template <typename Number>
void PrintNumber(Number value, std::string& out) {
  char buffer[32];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  out.append(buffer, end);
}

// Decimal digits that read back to the same bits, or hexadecimal bits where there are none
// (infinities, NaNs).
void PrintFloat(Type type, uint64_t bits, std::string& out);
// A number of 64 bits that stands without its type: decimal digits where it is finite.
void PrintDouble(double value, std::string& out);
// A quoted string with MLIR's escapes.
void PrintString(std::string_view text, std::string& out);
// A name as it is where MLIR's grammar allows that, else quoted.
void PrintName(std::string_view name, std::string& out);
// @name
void PrintSymbol(std::string_view name, std::string& out);
// Upper-case hexadecimal digits of bytes.
void PrintHex(llvm::ArrayRef<char> bytes, std::string& out);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_PRINT_PARTS_H_
