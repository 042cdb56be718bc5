// The part of AttributeReader that reads types.

#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "stablehlo/attribute_reader.h"
#include "stablehlo/limits.h"

namespace plimsoll {
namespace {

// MLIR's own bound on the width of integers.
constexpr uint64_t kMaxIntegerWidth = (1 << 24) - 1;

}  // namespace

StatusOr<Type> AttributeReader::ReadType() {
  if (++depth_ > kMaxAttributeDepth) {
    --depth_;
    return cursor_.ErrorAt(cursor_.position(), "types are nested too deeply", ErrorCode::kTooLarge);
  }
  StatusOr<Type> type = ReadTypeInside();
  --depth_;
  if (type.ok() && type->data()->depth > kMaxAttributeDepth) {
    return cursor_.ErrorAt(cursor_.position(), "types are nested too deeply", ErrorCode::kTooLarge);
  }
  return type;
}

StatusOr<Type> AttributeReader::ReadTypeInside() {
  const char c = cursor_.Peek();
  const size_t start = cursor_.position();
  if (c == '(') return ReadFunctionType();
  if (c == '!') return ReadDialectType();
  const std::string_view word = cursor_.TakeIdentifier();
  if (word.empty()) return cursor_.Unexpected("a type");
  if (word == "tensor") return ReadTensorType();
  if (word == "memref") return ReadMemrefType(start);
  if (word == "index") return context_.IndexType();
  if (word == "none") return context_.NoneType();
  if (word == "complex") {
    RETURN_IF_ERROR(cursor_.Expect("<"));
    ASSIGN_OR_RETURN(const Type element, ReadType());
    RETURN_IF_ERROR(cursor_.Expect(">"));
    return context_.ComplexType(element);
  }
  if (word == "tuple") {
    RETURN_IF_ERROR(cursor_.Expect("<"));
    ASSIGN_OR_RETURN(const std::vector<Type> members, ReadTypes(">"));
    return context_.TupleType(members);
  }
  if (word == "vector") {
    RETURN_IF_ERROR(SkipBalanced());
    return ReadOpaqueType(start);
  }
  if (const std::optional<FloatKind> kind = FloatKindFromName(word)) {
    return context_.FloatType(*kind);
  }
  const Signedness signedness = word[0] == 'u'   ? Signedness::kUnsigned
                                : word[0] == 's' ? Signedness::kSigned
                                                 : Signedness::kSignless;
  const llvm::StringRef digits =
      llvm::StringRef(word).drop_front(signedness == Signedness::kSignless ? 0 : 1);
  uint64_t width = 0;
  if (digits.starts_with("i") && !digits.drop_front().getAsInteger(10, width) && width > 0) {
    if (width > kMaxIntegerWidth) {
      return cursor_.ErrorAt(start, "integers cannot be this wide", ErrorCode::kTooLarge);
    }
    return context_.IntegerType(static_cast<unsigned>(width), signedness);
  }
  return cursor_.ErrorAt(start, StrCat("`", word, "` is not a type"));
}

StatusOr<std::vector<Type>> AttributeReader::ReadTypes(std::string_view close) {
  std::vector<Type> types;
  while (!cursor_.Consume(close)) {
    if (!types.empty()) RETURN_IF_ERROR(cursor_.Expect(","));
    ASSIGN_OR_RETURN(types.emplace_back(), ReadType());
  }
  return types;
}

StatusOr<Type> AttributeReader::ReadFunctionType() {
  RETURN_IF_ERROR(cursor_.Expect("("));
  ASSIGN_OR_RETURN(const std::vector<Type> inputs, ReadTypes(")"));
  RETURN_IF_ERROR(cursor_.Expect("->"));
  std::vector<Type> outputs;
  if (cursor_.Consume("(")) {
    ASSIGN_OR_RETURN(outputs, ReadTypes(")"));
  } else {
    ASSIGN_OR_RETURN(outputs.emplace_back(), ReadType());
  }
  return context_.FunctionType(inputs, outputs);
}

StatusOr<std::vector<int64_t>> AttributeReader::ReadShape() {
  std::vector<int64_t> shape;
  while (true) {
    const size_t start = cursor_.position();
    if (cursor_.Consume("?")) {
      shape.push_back(kDynamic);
    } else if (llvm::isDigit(cursor_.Peek())) {
      ASSIGN_OR_RETURN(shape.emplace_back(), cursor_.TakeInteger());
    } else {
      return shape;
    }
    if (!cursor_.ConsumeHere("x")) return cursor_.ErrorAt(start, "a dimension must end with `x`");
  }
}

StatusOr<Type> AttributeReader::ReadTensorType() {
  RETURN_IF_ERROR(cursor_.Expect("<"));
  if (cursor_.Consume("*")) {
    RETURN_IF_ERROR(cursor_.Expect("x"));
    ASSIGN_OR_RETURN(const Type element, ReadType());
    RETURN_IF_ERROR(cursor_.Expect(">"));
    return context_.UnrankedTensorType(element);
  }
  ASSIGN_OR_RETURN(const std::vector<int64_t> shape, ReadShape());
  const size_t element_start = cursor_.position();
  ASSIGN_OR_RETURN(const Type element, ReadType());
  if (!element.is_element_type()) {
    return cursor_.ErrorAt(element_start, "tensors hold numbers, not " + element.ToString());
  }
  Attribute encoding;
  if (cursor_.Consume(",")) {
    ASSIGN_OR_RETURN(encoding, ReadAttribute());
  }
  RETURN_IF_ERROR(cursor_.Expect(">"));
  return context_.TensorType(shape, element, encoding);
}

StatusOr<Type> AttributeReader::ReadMemrefType(size_t start) {
  const size_t bracket = cursor_.position();
  RETURN_IF_ERROR(cursor_.Expect("<"));
  if (cursor_.Peek() != '*') {
    ASSIGN_OR_RETURN(const std::vector<int64_t> shape, ReadShape());
    ASSIGN_OR_RETURN(const Type element, ReadType());
    if (cursor_.Consume(">")) return context_.MemrefType(shape, element);
  }
  // Layouts and memory spaces are nothing that StableHLO knows.
  cursor_.set_position(bracket);
  cursor_.SkipSpace();
  RETURN_IF_ERROR(SkipBalanced());
  return ReadOpaqueType(start);
}

StatusOr<Type> AttributeReader::ReadOpaqueType(size_t start) {
  ASSIGN_OR_RETURN(const std::string text, TextWithoutAliases(start));
  return context_.OpaqueType(text);
}

StatusOr<Type> AttributeReader::ReadDialectType() {
  const size_t start = cursor_.position();
  RETURN_IF_ERROR(cursor_.Expect("!"));
  const std::string_view name = cursor_.TakeSuffix();
  if (name.empty()) return cursor_.Unexpected("a type's name");
  if (Alias* alias = FindAlias('!', name)) return ReadAliasedType(*alias);
  if (IsUndefinedAlias(name)) return UndefinedAlias(start, '!', name);
  if (name == "stablehlo.token") return context_.TokenType();
  if (name == "shape.witness") return context_.WitnessType();
  if (name == "stablehlo.future" && cursor_.ConsumeHere("<")) {
    ASSIGN_OR_RETURN(const std::vector<Type> members, ReadTypes(">"));
    return context_.FutureType(members);
  }
  const size_t after_name = cursor_.position();
  if (name == "quant.uniform" && cursor_.ConsumeHere("<")) {
    ASSIGN_OR_RETURN(const Type type, ReadQuantizedType());
    if (type) return type;
    cursor_.set_position(after_name);
  }
  if (cursor_.PeekHere() == '<') RETURN_IF_ERROR(SkipBalanced());
  return ReadOpaqueType(start);
}

// i8<-8:7>:f32:1, {0.5:3, 0.25}>, or null for forms that nothing here looks into.
StatusOr<Type> AttributeReader::ReadQuantizedType() {
  QuantizedData quantized;
  const std::string_view storage = cursor_.TakeIdentifier();
  uint64_t width = 0;
  if (storage.size() < 2 || (storage[0] != 'i' && storage[0] != 'u') ||
      llvm::StringRef(storage).drop_front().getAsInteger(10, width) || width == 0 || width > 32) {
    return Type();
  }
  quantized.flags = storage[0] == 'i' ? 1 : 0;
  quantized.storage = context_.IntegerType(static_cast<unsigned>(width));
  quantized.storage_min = quantized.flags != 0 ? -(int64_t{1} << (width - 1)) : 0;
  quantized.storage_max =
      quantized.flags != 0 ? (int64_t{1} << (width - 1)) - 1 : (int64_t{1} << width) - 1;
  if (cursor_.Consume("<")) {
    ASSIGN_OR_RETURN(quantized.storage_min, cursor_.TakeInteger());
    RETURN_IF_ERROR(cursor_.Expect(":"));
    ASSIGN_OR_RETURN(quantized.storage_max, cursor_.TakeInteger());
    RETURN_IF_ERROR(cursor_.Expect(">"));
  }
  RETURN_IF_ERROR(cursor_.Expect(":"));
  ASSIGN_OR_RETURN(const Type expressed, ReadType());
  if (cursor_.Consume(":")) {
    // Sub-channel quantization names its axes in braces.
    if (cursor_.Peek() == '{') return Type();
    ASSIGN_OR_RETURN(const int64_t axis, cursor_.TakeInteger());
    quantized.axis = static_cast<int32_t>(axis);
    if (*quantized.axis != axis) return cursor_.Error("this axis is too large");
  }
  RETURN_IF_ERROR(cursor_.Expect(","));
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zero_points;
  const auto read_scale = [&]() -> Status {
    ASSIGN_OR_RETURN(const uint64_t bits, ReadFloatBits(context_.FloatType(FloatKind::kF64)));
    scales.push_back(llvm::bit_cast<double>(bits));
    zero_points.push_back(0);
    if (cursor_.Consume(":")) {
      ASSIGN_OR_RETURN(zero_points.back(), cursor_.TakeInteger());
    }
    return OkStatus();
  };
  if (quantized.axis) {
    RETURN_IF_ERROR(cursor_.Expect("{"));
    while (!cursor_.Consume("}")) {
      if (!scales.empty()) RETURN_IF_ERROR(cursor_.Expect(","));
      RETURN_IF_ERROR(read_scale());
    }
  } else {
    RETURN_IF_ERROR(read_scale());
  }
  RETURN_IF_ERROR(cursor_.Expect(">"));
  quantized.scales = scales;
  quantized.zero_points = zero_points;
  return context_.QuantizedType(expressed, quantized);
}

}  // namespace plimsoll
