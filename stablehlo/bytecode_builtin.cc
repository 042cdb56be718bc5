// How MLIR's builtin dialect encodes its attributes, locations and types in bytecode.

#include "stablehlo/bytecode_parts.h"
#include "stablehlo/bytecode_tables.h"

namespace plimsoll {
namespace {

enum BuiltinAttributeCode : uint64_t {
  kArrayAttribute = 0,
  kDictionaryAttribute = 1,
  kStringAttribute = 2,
  kTypedStringAttribute = 3,
  kFlatSymbolAttribute = 4,
  kSymbolAttribute = 5,
  kTypeAttribute = 6,
  kUnitAttribute = 7,
  kIntegerAttribute = 8,
  kFloatAttribute = 9,
  kCallSiteLocation = 10,
  kFileLocation = 11,
  kFusedLocation = 12,
  kFusedLocationWithMetadata = 13,
  kNameLocation = 14,
  kUnknownLocation = 15,
  kDenseResourceAttribute = 16,
  kDenseArrayAttribute = 17,
  kDenseElementsAttribute = 18,
  kFileRangeLocation = 22,
  kAffineMap = 23,
};

enum BuiltinTypeCode : uint64_t {
  kIntegerType = 0,
  kIndexType = 1,
  kFunctionType = 2,
  kComplexType = 9,
  kMemrefType = 10,
  kNoneType = 12,
  kTensorType = 13,
  kTensorTypeWithEncoding = 14,
  kTupleType = 15,
  kUnrankedTensorType = 18,
};

struct FloatCode {
  uint64_t code;
  FloatKind kind;
};
// Writers older than those of the last rows have the small formats as text.
constexpr FloatCode kFloatCodes[] = {
    {3, FloatKind::kBF16},
    {4, FloatKind::kF16},
    {5, FloatKind::kF32},
    {6, FloatKind::kF64},
    {7, FloatKind::kF80},
    {8, FloatKind::kF128},
    {21, FloatKind::kTF32},
    {22, FloatKind::kF8E5M2},
    {23, FloatKind::kF8E4M3},
    {24, FloatKind::kF8E4M3FN},
    {25, FloatKind::kF8E5M2FNUZ},
    {26, FloatKind::kF8E4M3FNUZ},
    {27, FloatKind::kF8E4M3B11FNUZ},
    {28, FloatKind::kF8E3M4},
    {29, FloatKind::kF4E2M1FN},
    {30, FloatKind::kF6E2M3FN},
    {31, FloatKind::kF6E3M2FN},
    {32, FloatKind::kF8E8M0FNU},
};

StatusOr<std::string_view> TakeStringAttribute(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const Attribute attribute, tables.TakeAttribute(cursor));
  if (!attribute.Is(AttributeKind::kString)) return cursor.Error("expected a string attribute");
  return attribute.text();
}

StatusOr<uint32_t> TakeLine(ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const uint64_t line, cursor.TakeNumber());
  if (line > UINT32_MAX) return cursor.Error("a line number is too large");
  return static_cast<uint32_t>(line);
}

StatusOr<Attribute> ReadSymbol(BytecodeTables& tables, ByteCursor& cursor, bool is_flat) {
  ASSIGN_OR_RETURN(const std::string_view root, TakeStringAttribute(tables, cursor));
  if (is_flat) return tables.context().Symbol(root);
  ASSIGN_OR_RETURN(const std::vector<Attribute> nested, tables.TakeAttributes(cursor));
  for (const Attribute symbol : nested) {
    if (!symbol.Is(AttributeKind::kSymbol)) return cursor.Error("expected a symbol");
  }
  return tables.context().Symbol(root, nested);
}

StatusOr<Attribute> ReadFused(BytecodeTables& tables, ByteCursor& cursor, bool has_metadata) {
  ASSIGN_OR_RETURN(const std::vector<Attribute> members, tables.TakeAttributes(cursor));
  for (const Attribute member : members) {
    if (!member.is_location()) return cursor.Error("expected a location");
  }
  Attribute metadata;
  if (has_metadata) {
    ASSIGN_OR_RETURN(metadata, tables.TakeAttribute(cursor));
  }
  return tables.context().FusedLocation(members, metadata);
}

std::string IdentityMap(size_t rank) {
  std::string dimensions;
  for (size_t i = 0; i < rank; ++i) dimensions += StrCat(i == 0 ? "d" : ", d", i);
  return StrCat("affine_map<(", dimensions, ") -> (", dimensions, ")>");
}

// Zero to four numbers: nothing; line; line and column; line, column and end column; both lines and
// columns.
StatusOr<Attribute> ReadFileRange(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const std::string_view file, TakeStringAttribute(tables, cursor));
  ASSIGN_OR_RETURN(const size_t count, cursor.TakeCount());
  if (count > 4) return tables.NotUnderstood(cursor, StrCat("a location of ", count, " numbers"));
  uint32_t numbers[4] = {0, 0, 0, 0};
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(numbers[i], TakeLine(cursor));
  }
  Context& context = tables.context();
  switch (count) {
    case 3:
      return context.FileLocation(file, numbers[0], numbers[1], numbers[0], numbers[2]);
    case 4:
      return context.FileLocation(file, numbers[0], numbers[1], numbers[2], numbers[3]);
    default:
      return context.FileLocation(file, numbers[0], numbers[1], numbers[0], numbers[1]);
  }
}

StatusOr<Attribute> ReadDenseArray(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const Type element, tables.TakeType(cursor));
  ASSIGN_OR_RETURN(const uint64_t count, cursor.TakeNumber());
  ASSIGN_OR_RETURN(const llvm::ArrayRef<char> bytes, tables.TakeBlob(cursor));
  const bool is_number = element.Is(TypeKind::kInteger) || element.Is(TypeKind::kFloat);
  const int64_t size = is_number ? *element.bytes_per_element() : 0;
  if (size == 0 || size > 8 || bytes.size() % size != 0 || bytes.size() / size != count) {
    return cursor.Error("an array's bytes do not match its type and length");
  }
  return tables.context().DenseArray(element, bytes);
}

}  // namespace

StatusOr<Attribute> ReadBuiltinAttribute(BytecodeTables& tables, ByteCursor& cursor) {
  Context& context = tables.context();
  ASSIGN_OR_RETURN(const uint64_t code, cursor.TakeNumber());
  switch (code) {
    case kArrayAttribute: {
      ASSIGN_OR_RETURN(const std::vector<Attribute> items, tables.TakeAttributes(cursor));
      return context.Array(items);
    }
    case kDictionaryAttribute:
      return ReadDictionary(tables, cursor);
    case kStringAttribute: {
      ASSIGN_OR_RETURN(const std::string_view text, tables.TakeString(cursor));
      return context.String(text);
    }
    case kTypedStringAttribute: {
      ASSIGN_OR_RETURN(const std::string_view text, tables.TakeString(cursor));
      ASSIGN_OR_RETURN(const Type type, tables.TakeType(cursor));
      return context.String(text, type);
    }
    case kFlatSymbolAttribute:
      return ReadSymbol(tables, cursor, /*is_flat=*/true);
    case kSymbolAttribute:
      return ReadSymbol(tables, cursor, /*is_flat=*/false);
    case kTypeAttribute: {
      ASSIGN_OR_RETURN(const Type type, tables.TakeType(cursor));
      return context.TypeAttribute(type);
    }
    case kUnitAttribute:
      return context.Unit();
    case kIntegerAttribute:
    case kFloatAttribute:
      return ReadTypedNumber(tables, cursor);
    case kCallSiteLocation: {
      ASSIGN_OR_RETURN(const Location callee, tables.TakeLocation(cursor));
      ASSIGN_OR_RETURN(const Location caller, tables.TakeLocation(cursor));
      return context.CallSiteLocation(callee, caller);
    }
    case kFileLocation: {
      ASSIGN_OR_RETURN(const std::string_view file, TakeStringAttribute(tables, cursor));
      ASSIGN_OR_RETURN(const uint32_t line, TakeLine(cursor));
      ASSIGN_OR_RETURN(const uint32_t column, TakeLine(cursor));
      return context.FileLocation(file, line, column, line, column);
    }
    case kFileRangeLocation:
      return ReadFileRange(tables, cursor);
    case kAffineMap: {
      ASSIGN_OR_RETURN(const uint64_t form, cursor.TakeNumber());
      // The lowest two bits say how the map is written; memrefs have identities of some rank,
      // written as 0.
      constexpr uint64_t kLargestRank = 64;
      if ((form & 3) != 0 || form >> 2 > kLargestRank) {
        return tables.NotUnderstood(cursor, StrCat("an affine map of form ", form));
      }
      return context.OpaqueAttribute(IdentityMap(form >> 2));
    }
    case kFusedLocation:
      return ReadFused(tables, cursor, /*has_metadata=*/false);
    case kFusedLocationWithMetadata:
      return ReadFused(tables, cursor, /*has_metadata=*/true);
    case kNameLocation: {
      ASSIGN_OR_RETURN(const std::string_view name, TakeStringAttribute(tables, cursor));
      ASSIGN_OR_RETURN(const Location child, tables.TakeLocation(cursor));
      return context.NameLocation(name, child);
    }
    case kUnknownLocation:
      return context.UnknownLocation();
    case kDenseResourceAttribute: {
      ASSIGN_OR_RETURN(const Type type, tables.TakeType(cursor));
      ASSIGN_OR_RETURN(const std::string_view key, tables.TakeResourceKey(cursor));
      return context.DenseResource(type, key);
    }
    case kDenseArrayAttribute:
      return ReadDenseArray(tables, cursor);
    case kDenseElementsAttribute:
      return ReadDenseElements(tables, cursor);
    default:
      return tables.NotUnderstood(cursor, StrCat("a builtin attribute of code ", code));
  }
}

StatusOr<Type> ReadBuiltinType(BytecodeTables& tables, ByteCursor& cursor) {
  Context& context = tables.context();
  ASSIGN_OR_RETURN(const uint64_t code, cursor.TakeNumber());
  for (const FloatCode& row : kFloatCodes) {
    if (row.code == code) return context.FloatType(row.kind);
  }
  switch (code) {
    case kIntegerType: {
      ASSIGN_OR_RETURN(const uint64_t encoded, cursor.TakeNumber());
      const uint64_t width = encoded >> 2;
      if (width == 0 || width >= (1 << 24) || (encoded & 3) > 2) {
        return cursor.Error("an integer type's width or sign is wrong");
      }
      return context.IntegerType(static_cast<unsigned>(width),
                                 static_cast<Signedness>(encoded & 3));
    }
    case kIndexType:
      return context.IndexType();
    case kFunctionType:
      return ReadFunctionType(tables, cursor);
    case kComplexType:
      return ReadComplexType(tables, cursor);
    case kMemrefType: {
      ASSIGN_OR_RETURN(const std::vector<int64_t> shape, tables.TakeShape(cursor));
      ASSIGN_OR_RETURN(const Type element, tables.TakeElementType(cursor));
      ASSIGN_OR_RETURN(const Attribute layout, tables.TakeAttribute(cursor));
      // The layout that says nothing is the identity map of that rank.
      if (layout.Is(AttributeKind::kOpaque) && layout.text() == IdentityMap(shape.size())) {
        return context.MemrefType(shape, element);
      }
      return tables.NotUnderstood(cursor, StrCat("a memref of layout ", layout.ToString()));
    }
    case kNoneType:
      return context.NoneType();
    case kTensorType:
    case kTensorTypeWithEncoding:
      return ReadTensorType(tables, cursor, code == kTensorTypeWithEncoding);
    case kTupleType:
      return ReadTupleType(tables, cursor);
    case kUnrankedTensorType:
      return ReadUnrankedTensorType(tables, cursor);
    default:
      return tables.NotUnderstood(cursor, StrCat("a builtin type of code ", code));
  }
}

}  // namespace plimsoll
