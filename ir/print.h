// Types, attributes and locations as MLIR text.

#ifndef PLIMSOLL_IR_PRINT_H_
#define PLIMSOLL_IR_PRINT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/attribute.h"
#include "ir/type.h"
#include "llvm/ADT/DenseMap.h"

namespace plimsoll {

// Numbers of the aliases #loc<n> that stand for locations.
using LocationAliases = llvm::DenseMap<const AttributeData*, size_t>;

// Constants with more elements than this are written as hexadecimal bytes.
inline constexpr int64_t kLongestElementList = 32;

void Print(Type type, std::string& out);
void Print(Attribute attribute, std::string& out, const LocationAliases* aliases = nullptr);
// The location without `loc( )` around it: an alias where there is one, unless `expand`.
void PrintLocation(Location location, std::string& out, const LocationAliases* aliases,
                   bool expand = false);
// {a = 1, b = "x"}
void PrintDictionary(Attribute dictionary, std::string& out,
                     const LocationAliases* aliases = nullptr);
}  // namespace plimsoll

#endif  // PLIMSOLL_IR_PRINT_H_
