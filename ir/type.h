// Types: small handles to immutable, uniqued descriptions, so that equal types are equal pointers.

#ifndef PLIMSOLL_IR_TYPE_H_
#define PLIMSOLL_IR_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

class Attribute;
struct AttributeData;
struct TypeData;

// The size of a dimension that is not known before the program runs.
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

enum class TypeKind : uint8_t {
  kInteger,
  kFloat,
  kIndex,
  kNone,
  kComplex,
  kQuantized,
  kTensor,
  kUnrankedTensor,
  kMemref,
  kTuple,
  kFunction,
  kToken,
  kFuture,
  kWitness,
  kOpaque,  // A type which the table does not know, held as its text.
};

enum class Signedness : uint8_t { kSignless, kSigned, kUnsigned };

// Every floating-point format that MLIR can write, in the order of ir/floats.def.
enum class FloatKind : uint8_t {
#define PLIMSOLL_FLOAT(identifier, name, semantics) k##identifier,
#include "ir/floats.def"
#undef PLIMSOLL_FLOAT
};

std::string_view FloatName(FloatKind kind);
std::optional<FloatKind> FloatKindFromName(std::string_view name);
const llvm::fltSemantics& FloatSemantics(FloatKind kind);

class Type {
 public:
  Type() = default;
  explicit Type(const TypeData* data) : data_(data) {}

  explicit operator bool() const { return data_ != nullptr; }
  bool operator==(const Type&) const = default;
  const TypeData* data() const { return data_; }

  TypeKind kind() const;
  bool Is(TypeKind kind) const { return data_ != nullptr && this->kind() == kind; }
  bool IsInteger(unsigned width) const;

  // kInteger
  unsigned integer_width() const;
  Signedness signedness() const;
  // kFloat
  FloatKind float_kind() const;
  // kTensor, kMemref
  llvm::ArrayRef<int64_t> shape() const;
  size_t rank() const { return shape().size(); }
  bool has_static_shape() const;
  // kTensor, kUnrankedTensor, kMemref, kComplex; for kQuantized the expressed type.
  Type element_type() const;
  // kTensor: bounds of dynamic dimensions or another encoding; may be null.
  Attribute encoding() const;
  // kTuple, kFuture: the members.
  llvm::ArrayRef<Type> members() const;
  // kFunction
  llvm::ArrayRef<Type> inputs() const;
  llvm::ArrayRef<Type> outputs() const;

  // True for what tensors can hold: numbers, and opaque types, of which nothing is known.
  bool is_element_type() const;

  // How many elements a tensor of static shape has; nothing if the shape is dynamic or the number
  // overflows.
  std::optional<int64_t> element_count() const;
  // How many bytes one element takes in memory and in constants: sub-byte types take one byte.
  // Nothing for types whose values are not numbers.
  std::optional<int64_t> bytes_per_element() const;
  // Bytes of a value of this type (tuples: the sum; tokens: 0). Nothing if it is not known before
  // the program runs. Sub-byte elements are counted as one byte each, which is how XLA:CPU and
  // XLA:GPU keep them by default.
  std::optional<int64_t> bytes() const;

  // As MLIR writes it.
  std::string ToString() const;

 private:
  const TypeData* data_ = nullptr;
};

// What a quantized element type stores beside its expressed type.
struct QuantizedData {
  Type storage;
  uint32_t flags = 0;  // Bit 0: the storage is signed.
  int64_t storage_min = 0;
  int64_t storage_max = 0;
  std::optional<int32_t> axis;  // Set for per-axis quantization.
  llvm::ArrayRef<double> scales;
  llvm::ArrayRef<int64_t> zero_points;
};

// The description behind a Type. Only the fields of its kind are set.
struct TypeData {
  TypeKind kind = TypeKind::kNone;
  Signedness signedness = Signedness::kSignless;
  FloatKind float_kind = FloatKind::kF32;
  unsigned width = 0;
  unsigned input_count = 0;  // kFunction: how many of `types` are inputs.
  Type element = {};
  const AttributeData* encoding = nullptr;
  llvm::ArrayRef<int64_t> shape = {};
  llvm::ArrayRef<Type> types = {};
  const QuantizedData* quantized = nullptr;
  std::string_view text = {};  // kOpaque
  // Set by the context.
  size_t hash = 0;
  uint32_t depth = 0;   // How many types and attributes are nested in each other here.
  uint64_t weight = 0;  // About how many characters the text has; readers bound it.
};

inline TypeKind Type::kind() const { return data_->kind; }
inline unsigned Type::integer_width() const { return data_->width; }
inline Signedness Type::signedness() const { return data_->signedness; }
inline FloatKind Type::float_kind() const { return data_->float_kind; }
inline llvm::ArrayRef<int64_t> Type::shape() const { return data_->shape; }
inline Type Type::element_type() const { return data_->element; }
inline llvm::ArrayRef<Type> Type::members() const { return data_->types; }
inline llvm::ArrayRef<Type> Type::inputs() const {
  return data_->types.take_front(data_->input_count);
}
inline llvm::ArrayRef<Type> Type::outputs() const {
  return data_->types.drop_front(data_->input_count);
}
inline bool Type::IsInteger(unsigned width) const {
  return Is(TypeKind::kInteger) && integer_width() == width;
}

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_TYPE_H_
