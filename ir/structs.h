// Structured attributes: which fields each of StableHLO's has.

#ifndef PLIMSOLL_IR_STRUCTS_H_
#define PLIMSOLL_IR_STRUCTS_H_

#include <cstdint>
#include <string_view>

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

// How an enumeration's text looks: #stablehlo<precision HIGHEST> or
// #stablehlo.result_accuracy_mode<HIGHEST>.
bool EnumHasAngleBrackets(std::string_view mnemonic);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_STRUCTS_H_
