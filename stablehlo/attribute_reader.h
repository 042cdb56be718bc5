// Reads types, attributes and locations from MLIR text.

#ifndef PLIMSOLL_STABLEHLO_ATTRIBUTE_READER_H_
#define PLIMSOLL_STABLEHLO_ATTRIBUTE_READER_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "ir/context.h"
#include "ir/status.h"
#include "ir/structs.h"
#include "ir/type.h"
#include "llvm/ADT/StringMap.h"
#include "stablehlo/text_cursor.h"

namespace plimsoll {

class AttributeReader {
 public:
  AttributeReader(Context& context, TextCursor& cursor) : context_(context), cursor_(cursor) {}

  // Finds the definitions of aliases (#loc1 = ..., !type = ...), which may stand after their uses.
  Status FindAliases();
  // Skips a definition that FindAliases has found, at the `#` or `!`.
  Status SkipAliasDefinition();

  StatusOr<Type> ReadType();
  StatusOr<Attribute> ReadAttribute();
  // {a = 1, b}: at the opening brace.
  StatusOr<Attribute> ReadDictionary();
  // What stands between `loc(` and `)`.
  StatusOr<Location> ReadLocationBody();
  // `(type, ...) -> types`, as behind an op.
  StatusOr<Type> ReadFunctionType();
  // `loc(...)` if it comes next, else null.
  StatusOr<Location> ReadOptionalLocation();

 private:
  struct Alias {
    size_t position = 0;  // Of what follows the `=`.
    bool is_being_read = false;
    Attribute attribute;
    Type type;
  };
  // Counts one level of nesting while it lives.
  class Level;

  Status CheckDepth() const;
  StatusOr<Attribute> ReadAttributeInside();
  StatusOr<Type> ReadTypeInside();
  StatusOr<Location> ReadLocationInside();

  Alias* FindAlias(char sigil, std::string_view name);
  // True if a name that is no known alias and ends here can be nothing else.
  bool IsUndefinedAlias(std::string_view name) const;
  Status UndefinedAlias(size_t position, char sigil, std::string_view name) const;
  StatusOr<Attribute> ReadAliasedAttribute(Alias& alias);
  StatusOr<Type> ReadAliasedType(Alias& alias);

  StatusOr<Type> ReadTensorType();
  StatusOr<Type> ReadMemrefType(size_t start);
  StatusOr<Type> ReadDialectType();
  StatusOr<Type> ReadQuantizedType();
  StatusOr<Type> ReadOpaqueType(size_t start);
  StatusOr<std::vector<Type>> ReadTypes(std::string_view close);
  StatusOr<std::vector<int64_t>> ReadShape();

  StatusOr<Attribute> ReadNumberAttribute();
  StatusOr<Attribute> ReadSymbol();
  StatusOr<Attribute> ReadDenseElements();
  StatusOr<Attribute> ReadDenseArray();
  StatusOr<Attribute> ReadDenseResource();
  StatusOr<Attribute> ReadDialectAttribute();
  StatusOr<Attribute> ReadOpaqueAttribute(size_t start);
  // Null if the text is not of the form that the table gives.
  StatusOr<Attribute> ReadStruct(const StructInfo& info);
  StatusOr<Attribute> ReadField(FieldKind kind);
  StatusOr<Attribute> ReadConvolution();
  Status ReadConvolutionSide(std::string_view first_name, std::string_view second_name,
                             int64_t& first, int64_t& second, std::vector<int64_t>& spatial);
  StatusOr<Attribute> ReadBounds();
  StatusOr<std::vector<int64_t>> ReadIntegers();
  StatusOr<Location> ReadNamedLocation();

  // Appends the bytes of one element.
  Status ReadElement(Type type, std::string& bytes);
  Status ReadElements(Type element, llvm::ArrayRef<int64_t> shape, std::string& bytes);
  StatusOr<uint64_t> ReadFloatBits(Type type);
  StatusOr<uint64_t> FloatBits(Type type, const NumberToken& token);
  StatusOr<uint64_t> IntegerBits(Type type, const NumberToken& token);

  // From the current position over balanced brackets, strings included, up to and with what closes
  // the first one.
  Status SkipBalanced();
  // The text from `start` to here, with the aliases in it replaced by what they stand for.
  StatusOr<std::string> TextWithoutAliases(size_t start);

  Context& context_;
  TextCursor& cursor_;
  llvm::StringMap<Alias> aliases_;  // By sigil and name.
  uint32_t depth_ = 0;
  uint64_t expanded_ = 0;  // How much text aliases have stood for so far.
};

// Reads a whole text as one attribute or type. `where` stands for it in error messages.
StatusOr<Attribute> ReadAttributeText(Context& context, std::string_view text,
                                      std::string_view where);
StatusOr<Type> ReadTypeText(Context& context, std::string_view text, std::string_view where);

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_ATTRIBUTE_READER_H_
