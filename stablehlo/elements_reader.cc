// The part of AttributeReader that reads constants: dense<...>, array<...>, dense_resource<...>.

#include <charconv>
#include <cstring>

#include "llvm/ADT/StringExtras.h"
#include "stablehlo/attribute_reader.h"

namespace plimsoll {
namespace {

void AppendLittleEndian(uint64_t bits, size_t size, std::string& bytes) {
  const size_t start = bytes.size();
  bytes.resize(start + size);
  std::memcpy(bytes.data() + start, &bits, size);
}

// Two hexadecimal digits a byte; false if something else is among them.
bool DecodeHex(std::string_view digits, char* bytes) {
  if (digits.size() % 2 != 0) return false;
  uint8_t bad = 0;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    const unsigned high = llvm::hexDigitValue(digits[i]);
    const unsigned low = llvm::hexDigitValue(digits[i + 1]);
    bad |= static_cast<uint8_t>((high | low) > 15);
    *bytes++ = static_cast<char>(high << 4 | (low & 15));
  }
  return bad == 0;
}

}  // namespace

StatusOr<uint64_t> AttributeReader::IntegerBits(Type type, const NumberToken& token) {
  llvm::StringRef digits(token.text);
  digits.consume_front("-") || digits.consume_front("+");
  if (token.is_hexadecimal) digits = digits.drop_front(2);
  uint64_t magnitude = 0;
  if (token.is_decimal || digits.getAsInteger(token.is_hexadecimal ? 16 : 10, magnitude)) {
    return cursor_.Error(StrCat("`", token.text, "` is not a number of type ", type.ToString()));
  }
  const unsigned width = type.Is(TypeKind::kInteger) ? type.integer_width() : 64;
  const bool is_unsigned =
      type.Is(TypeKind::kInteger) && type.signedness() == Signedness::kUnsigned;
  // A signless type takes both -1 and the unsigned form of the same bits.
  const uint64_t largest = !token.is_negative ? ~uint64_t{0} >> (64 - width)
                           : is_unsigned      ? 0
                                              : uint64_t{1} << (width - 1);
  if (magnitude > largest) {
    return cursor_.Error(StrCat("`", token.text, "` does not fit in ", type.ToString()));
  }
  return token.is_negative ? ~magnitude + 1 : magnitude;
}

StatusOr<uint64_t> AttributeReader::FloatBits(Type type, const NumberToken& token) {
  const llvm::fltSemantics& semantics = FloatSemantics(type.float_kind());
  if (token.is_hexadecimal) {
    llvm::StringRef digits(token.text);
    uint64_t bits = 0;
    const unsigned width = llvm::APFloat::getSizeInBits(semantics);
    if (!digits.consume_front("0x") || digits.getAsInteger(16, bits) ||
        (width < 64 && bits >> width != 0)) {
      return cursor_.Error(StrCat("`", token.text, "` are not the bits of a ", type.ToString()));
    }
    return bits;
  }
  double number = 0;
  std::string_view text = token.text;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // Out of range means that the nearest double is zero or infinite.
  if (error == std::errc::result_out_of_range)
    number = std::strtod(std::string(text).c_str(), nullptr);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return cursor_.Error(StrCat("`", token.text, "` is not a number"));
  }
  llvm::APFloat value(number);
  bool loses_info = false;
  value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses_info);
  return value.bitcastToAPInt().getZExtValue();
}

StatusOr<uint64_t> AttributeReader::ReadFloatBits(Type type) {
  ASSIGN_OR_RETURN(const NumberToken token, cursor_.TakeNumber());
  return FloatBits(type, token);
}

Status AttributeReader::ReadElement(Type type, std::string& bytes) {
  const size_t size = *type.bytes_per_element();
  if (type.Is(TypeKind::kComplex)) {
    RETURN_IF_ERROR(cursor_.Expect("("));
    RETURN_IF_ERROR(ReadElement(type.element_type(), bytes));
    RETURN_IF_ERROR(cursor_.Expect(","));
    RETURN_IF_ERROR(ReadElement(type.element_type(), bytes));
    return cursor_.Expect(")");
  }
  if (type.IsInteger(1)) {
    if (cursor_.ConsumeWord("true")) {
      bytes += '\1';
      return OkStatus();
    }
    if (cursor_.ConsumeWord("false")) {
      bytes += '\0';
      return OkStatus();
    }
  }
  ASSIGN_OR_RETURN(const NumberToken token, cursor_.TakeNumber());
  ASSIGN_OR_RETURN(uint64_t bits,
                   type.Is(TypeKind::kFloat) ? FloatBits(type, token) : IntegerBits(type, token));
  if (type.Is(TypeKind::kInteger) && type.integer_width() < 8) {
    // Sub-byte elements take a byte each, sign-extended like MLIR's own.
    bits = static_cast<uint64_t>(context_.Integer(type, static_cast<int64_t>(bits)).integer());
  }
  AppendLittleEndian(bits, size, bytes);
  return OkStatus();
}

Status AttributeReader::ReadElements(Type element, llvm::ArrayRef<int64_t> shape,
                                     std::string& bytes) {
  if (shape.empty()) return ReadElement(element, bytes);
  RETURN_IF_ERROR(cursor_.Expect("["));
  for (int64_t i = 0; i < shape[0]; ++i) {
    if (i != 0) RETURN_IF_ERROR(cursor_.Expect(","));
    RETURN_IF_ERROR(ReadElements(element, shape.drop_front(), bytes));
  }
  return cursor_.Expect("]");
}

StatusOr<Attribute> AttributeReader::ReadDenseElements() {
  const size_t start = cursor_.position() - std::string_view("dense").size();
  cursor_.SkipSpace();
  // The type, which says how to read the elements, comes after them.
  const size_t body = cursor_.position();
  RETURN_IF_ERROR(SkipBalanced());
  RETURN_IF_ERROR(cursor_.Expect(":"));
  ASSIGN_OR_RETURN(const Type type, ReadType());
  const size_t end = cursor_.position();
  const Type element = type.Is(TypeKind::kTensor) ? type.element_type() : Type();
  const std::optional<int64_t> count = type.element_count();
  const std::optional<int64_t> size = element ? element.bytes_per_element() : std::nullopt;
  if (!count || !size || element.Is(TypeKind::kQuantized)) return ReadOpaqueAttribute(start);

  cursor_.set_position(body);
  RETURN_IF_ERROR(cursor_.Expect("<"));
  std::string bytes;
  const char first = cursor_.Peek();
  if (first == '"') {
    ASSIGN_OR_RETURN(const std::string_view text, cursor_.TakeRawString());
    const size_t byte_count = text.size() < 2 ? 0 : (text.size() - 2) / 2;
    char* decoded = context_.Allocate(byte_count, alignof(int64_t));
    if (!text.starts_with("0x") || !DecodeHex(text.substr(2), decoded)) {
      return cursor_.ErrorAt(body, "a constant's string must be hexadecimal digits behind 0x");
    }
    const auto found = static_cast<int64_t>(byte_count);
    if (found != *size && (found % *size != 0 || found / *size != *count)) {
      return cursor_.ErrorAt(
          body, StrCat("a constant of type ", type.ToString(), " has ", found, " bytes, expected ",
                       *count, " times ", *size, ", or once ", *size));
    }
    RETURN_IF_ERROR(cursor_.Expect(">"));
    cursor_.set_position(end);
    return context_.DenseElements(type, {decoded, byte_count}, /*borrow=*/true);
  }
  const int64_t longest = element.Is(TypeKind::kComplex) ? 16 : 8;
  if (*size > longest) {
    cursor_.set_position(end);
    return ReadOpaqueAttribute(start);
  }
  if (first == '[') {
    RETURN_IF_ERROR(ReadElements(element, type.shape(), bytes));
  } else if (first != '>') {
    RETURN_IF_ERROR(ReadElement(element, bytes));
  } else if (*count != 0) {
    return cursor_.Unexpected("the constant's elements");
  }
  RETURN_IF_ERROR(cursor_.Expect(">"));
  cursor_.set_position(end);
  return context_.DenseElements(type, {bytes.data(), bytes.size()});
}

StatusOr<Attribute> AttributeReader::ReadDenseArray() {
  const size_t start = cursor_.position();
  RETURN_IF_ERROR(cursor_.Expect("<"));
  ASSIGN_OR_RETURN(const Type element, ReadType());
  const bool is_number = element.Is(TypeKind::kInteger) || element.Is(TypeKind::kFloat);
  if (!is_number || *element.bytes_per_element() > 8) {
    return cursor_.ErrorAt(start, "an array's elements are integers or floats of up to 64 bits");
  }
  std::string bytes;
  if (cursor_.Consume(":")) {
    do {
      RETURN_IF_ERROR(ReadElement(element, bytes));
    } while (cursor_.Consume(","));
  }
  RETURN_IF_ERROR(cursor_.Expect(">"));
  return context_.DenseArray(element, {bytes.data(), bytes.size()});
}

StatusOr<Attribute> AttributeReader::ReadDenseResource() {
  RETURN_IF_ERROR(cursor_.Expect("<"));
  std::string key;
  if (cursor_.Peek() == '"') {
    ASSIGN_OR_RETURN(key, cursor_.TakeString());
  } else {
    key = cursor_.TakeIdentifier();
    if (key.empty()) return cursor_.Unexpected("a resource's key");
  }
  RETURN_IF_ERROR(cursor_.Expect(">"));
  RETURN_IF_ERROR(cursor_.Expect(":"));
  ASSIGN_OR_RETURN(const Type type, ReadType());
  return context_.DenseResource(type, key);
}

}  // namespace plimsoll
