// Numbers as the bytes in which constants hold their elements.

#ifndef PLIMSOLL_IR_ELEMENTS_H_
#define PLIMSOLL_IR_ELEMENTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "ir/type.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// One element of that type: floats are rounded to nearest, complex numbers get no imaginary part,
// and nothing is given if the type holds no numbers or cannot hold this one.
std::optional<std::string> EncodeElement(Type element, double value);
std::optional<std::string> EncodeElement(Type element, int64_t value);

// The number that one element's bytes stand for: integers, and floats of at most 64 bits. Nothing
// for other types, and for integers that a double cannot hold.
std::optional<double> DecodeElement(Type element, llvm::ArrayRef<char> bytes);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_ELEMENTS_H_
