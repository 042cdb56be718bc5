// Attributes and locations: small handles to immutable, uniqued descriptions.

#ifndef PLIMSOLL_IR_ATTRIBUTE_H_
#define PLIMSOLL_IR_ATTRIBUTE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/type.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

enum class AttributeKind : uint8_t {
  kUnit,
  kInteger,  // Booleans are integers of type i1.
  kFloat,
  kString,
  kType,
  kArray,
  kDictionary,
  kSymbol,         // @name or @name::@nested
  kDenseElements,  // dense<...> : tensor<...>
  kDenseArray,     // array<i64: ...>
  kDenseResource,  // dense_resource<key> : tensor<...>
  kStruct,         // A StableHLO attribute with named fields, such as #stablehlo.gather<...>
  kEnum,           // A StableHLO enumerator, such as #stablehlo<precision HIGHEST>
  kOpaque,         // An attribute which the table does not know, held as its text.
  // Locations
  kUnknownLocation,
  kFileLocation,
  kNameLocation,
  kCallSiteLocation,
  kFusedLocation,
};

class Attribute {
 public:
  Attribute() = default;
  explicit Attribute(const AttributeData* data) : data_(data) {}

  explicit operator bool() const { return data_ != nullptr; }
  bool operator==(const Attribute&) const = default;
  const AttributeData* data() const { return data_; }

  AttributeKind kind() const;
  bool Is(AttributeKind kind) const { return data_ != nullptr && this->kind() == kind; }
  bool is_location() const { return kind() >= AttributeKind::kUnknownLocation; }

  // kInteger, kFloat, kDenseElements, kDenseResource: the value's type. kDenseArray: the element's.
  // kType: the type itself. kString: the type of a typed string, else null.
  Type type() const;

  // kInteger: the value, sign-extended from its width, or zero-extended for unsigned types and i1.
  int64_t integer() const;
  // kFloat: the bits, and the number.
  uint64_t float_bits() const;
  double float_value() const;
  // kString; kOpaque: the whole text; kDenseResource: the key; kSymbol: the root; kStruct and
  // kEnum: the mnemonic with its dialect ("stablehlo.gather"); kFileLocation: the file;
  // kNameLocation: the name.
  std::string_view text() const;
  // kEnum: the enumerator.
  std::string_view enumerator() const;
  // kArray, kFusedLocation: the members. kDictionary, kStruct: the values, in the order of names().
  llvm::ArrayRef<Attribute> items() const;
  // kDictionary: the keys, sorted. kStruct: the fields' names.
  llvm::ArrayRef<std::string_view> names() const;
  // kDictionary, kStruct: the value of that name, or null.
  Attribute Find(std::string_view name) const;

  // kDenseElements, kDenseArray: the elements' bytes, little endian, one byte for i1 and for
  // sub-byte types. A splat holds one element for all.
  llvm::ArrayRef<char> bytes() const;
  bool is_splat() const;
  // kDenseArray of i64: the numbers.
  llvm::ArrayRef<int64_t> integers() const;

  // kFileLocation
  uint32_t start_line() const;
  uint32_t start_column() const;
  uint32_t end_line() const;
  uint32_t end_column() const;
  // kNameLocation: the location inside. kCallSiteLocation: callee and caller. kFusedLocation:
  // metadata, may be null.
  Attribute child() const;
  Attribute callee() const;
  Attribute caller() const;
  Attribute metadata() const;

  // As MLIR writes it, without aliases.
  std::string ToString() const;

 private:
  const AttributeData* data_ = nullptr;
};

// A location is an attribute of one of the location kinds.
using Location = Attribute;

// The description behind an Attribute. Only the fields of its kind are set.
struct AttributeData {
  AttributeKind kind = AttributeKind::kUnit;
  Type type = {};
  uint64_t bits = 0;  // kInteger, kFloat
  std::string_view text = {};
  std::string_view enumerator = {};
  llvm::ArrayRef<Attribute> items =
      {};  // Also: nested symbols (kSymbol), [child], [callee, caller].
  llvm::ArrayRef<std::string_view> names = {};
  llvm::ArrayRef<char> bytes = {};
  uint32_t lines[4] = {0, 0, 0, 0};  // kFileLocation: start line and column, end line and column.
  Attribute metadata = {};           // kFusedLocation
  // Set by the context, as in TypeData.
  size_t hash = 0;
  uint32_t depth = 0;
  uint64_t weight = 0;
};

inline AttributeKind Attribute::kind() const { return data_->kind; }
inline Type Attribute::type() const { return data_->type; }
inline int64_t Attribute::integer() const { return static_cast<int64_t>(data_->bits); }
inline uint64_t Attribute::float_bits() const { return data_->bits; }
inline std::string_view Attribute::text() const { return data_->text; }
inline std::string_view Attribute::enumerator() const { return data_->enumerator; }
inline llvm::ArrayRef<Attribute> Attribute::items() const { return data_->items; }
inline llvm::ArrayRef<std::string_view> Attribute::names() const { return data_->names; }
inline llvm::ArrayRef<char> Attribute::bytes() const { return data_->bytes; }
inline uint32_t Attribute::start_line() const { return data_->lines[0]; }
inline uint32_t Attribute::start_column() const { return data_->lines[1]; }
inline uint32_t Attribute::end_line() const { return data_->lines[2]; }
inline uint32_t Attribute::end_column() const { return data_->lines[3]; }
inline Attribute Attribute::child() const { return data_->items[0]; }
inline Attribute Attribute::callee() const { return data_->items[0]; }
inline Attribute Attribute::caller() const { return data_->items[1]; }
inline Attribute Attribute::metadata() const { return data_->metadata; }
inline Attribute Type::encoding() const { return Attribute(data_->encoding); }

// The innermost file location, which names the user's own line: through names, the first of fused
// ones, and from a call site the callee. Null if there is none.
Attribute FindFileLocation(Location location);

// What a person wants to read: "train.py:41", or "" if the location names no file.
std::string SourceLine(Location location);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_ATTRIBUTE_H_
