// Structured attributes: which fields each of StableHLO's has.

#ifndef PLIMSOLL_IR_STRUCTS_H_
#define PLIMSOLL_IR_STRUCTS_H_

#include <cstdint>
#include <string_view>

#include "ir/attribute.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

enum class FieldKind : uint8_t { kInts, kInt, kBool, kFloat64, kType, kAny };

struct StructField {
  std::string_view name;
  FieldKind kind;
};

struct StructInfo {
  std::string_view mnemonic;
  bool omits_defaults;  // Empty lists and zeros are not written.
  llvm::ArrayRef<StructField> fields;
};

// The row of ir/structs.def with that mnemonic, or null.
const StructInfo* FindStruct(std::string_view mnemonic);

// True if a structured attribute has the fields that its row says, in order, each of its kind.
bool HasItsFields(Attribute structure);

// True if each side of a #stablehlo.conv numbers its dimensions from 0 on, each once. Only such
// ones have a text.
bool HasValidSides(Attribute convolution);

// How an enumeration's text looks: #stablehlo<precision HIGHEST> or
// #stablehlo.result_accuracy_mode<HIGHEST>.
bool EnumHasAngleBrackets(std::string_view mnemonic);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_STRUCTS_H_
