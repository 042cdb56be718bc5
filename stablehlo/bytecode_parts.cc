#include "stablehlo/bytecode_parts.h"

#include "ir/print.h"
#include "ir/structs.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include "stablehlo/enums.h"

namespace plimsoll {
namespace {

constexpr std::string_view kSubAxisPrefix = "#stablehlo<sub_axis_info";
constexpr std::string_view kMeshAxisPrefix = "#stablehlo.mesh_axis";

StatusOr<Attribute> ReadField(BytecodeTables& tables, ByteCursor& cursor, FieldKind kind) {
  Context& context = tables.context();
  switch (kind) {
    case FieldKind::kInts: {
      ASSIGN_OR_RETURN(const std::vector<int64_t> values, tables.TakeSignedList(cursor));
      return context.I64Array(values);
    }
    case FieldKind::kInt: {
      ASSIGN_OR_RETURN(const int64_t value, cursor.TakeSigned());
      return context.I64(value);
    }
    case FieldKind::kBool: {
      ASSIGN_OR_RETURN(const uint8_t value, cursor.TakeByte());
      return context.Bool(value != 0);
    }
    case FieldKind::kFloat64: {
      ASSIGN_OR_RETURN(const uint64_t bits, tables.TakeBits(cursor, 64));
      return context.Float(context.FloatType(FloatKind::kF64), bits);
    }
    case FieldKind::kType: {
      ASSIGN_OR_RETURN(const Type type, tables.TakeType(cursor));
      return context.TypeAttribute(type);
    }
    case FieldKind::kAny:
      return tables.TakeAttribute(cursor);
  }
  llvm_unreachable("a field kind that is not in the table");
}

}  // namespace

StatusOr<Attribute> ReadDictionary(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const size_t count, cursor.TakeCount());
  llvm::SmallVector<NamedAttribute> entries;
  llvm::StringSet<> seen;
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const Attribute name, tables.TakeAttribute(cursor));
    ASSIGN_OR_RETURN(const Attribute value, tables.TakeAttribute(cursor));
    if (!name.Is(AttributeKind::kString)) return cursor.Error("a dictionary's key is no string");
    if (!seen.insert(name.text()).second)
      return cursor.Error("a dictionary has the same key twice");
    entries.emplace_back(name.text(), value);
  }
  return tables.context().Dictionary(entries);
}

StatusOr<Attribute> ReadTypedNumber(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const Type type, tables.TakeType(cursor));
  if (type.Is(TypeKind::kFloat)) {
    const unsigned width = llvm::APFloat::getSizeInBits(FloatSemantics(type.float_kind()));
    ASSIGN_OR_RETURN(const uint64_t bits, tables.TakeBits(cursor, width));
    return tables.context().Float(type, bits);
  }
  if (!type.Is(TypeKind::kInteger) && !type.Is(TypeKind::kIndex)) {
    return cursor.Error(StrCat("a number cannot have the type ", type.ToString()));
  }
  const unsigned width = type.Is(TypeKind::kInteger) ? type.integer_width() : 64;
  ASSIGN_OR_RETURN(const uint64_t bits, tables.TakeBits(cursor, width));
  return tables.context().Integer(type, static_cast<int64_t>(bits));
}

StatusOr<Attribute> ReadDenseElements(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const Type type, tables.TakeType(cursor));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<char> blob, tables.TakeBlob(cursor));
  const std::optional<int64_t> count = type.element_count();
  if (!type.Is(TypeKind::kTensor) || !count) {
    return cursor.Error(StrCat("a constant cannot have the type ", type.ToString()));
  }
  const std::optional<int64_t> size = type.element_type().bytes_per_element();
  if (!size) {
    return tables.NotUnderstood(cursor, StrCat("a constant of type ", type.ToString()));
  }
  Context& context = tables.context();
  if (type.element_type().IsInteger(1)) {
    const uint64_t packed_size = llvm::divideCeil(*count, 8);
    // All ones stand for a splat of true: a packed byte would leave the unused bits zero, unless
    // all eight are used.
    const bool is_true_splat = blob.size() == 1 && static_cast<uint8_t>(blob[0]) == 0xFF;
    if (is_true_splat) return context.DenseElements(type, {"\1", 1});
    if (blob.size() == packed_size && blob.size() != static_cast<uint64_t>(*count)) {
      llvm::SmallVector<char> unpacked(*count);
      for (int64_t i = 0; i < *count; ++i) {
        unpacked[i] = static_cast<char>(static_cast<uint8_t>(blob[i / 8]) >> (i % 8) & 1);
      }
      return context.DenseElements(type, unpacked);
    }
  }
  const auto found = static_cast<int64_t>(blob.size());
  // One element can stand for none as well: MLIR keeps it.
  const bool is_splat = found == *size;
  if (!is_splat && (found % *size != 0 || found / *size != *count)) {
    return cursor.Error(StrCat("a constant of type ", type.ToString(), " has ", found,
                               " bytes, expected ", *count, " times ", *size, ", or once ", *size));
  }
  // The elements stay where they are: constants can be most of a program.
  return context.DenseElements(type, blob, /*borrow=*/true);
}

StatusOr<Attribute> ReadEnum(BytecodeTables& tables, ByteCursor& cursor,
                             std::string_view mnemonic) {
  ASSIGN_OR_RETURN(const uint64_t number, cursor.TakeNumber());
  const std::string_view enumerator = EnumeratorName(mnemonic, number);
  if (enumerator.empty()) {
    return tables.NotUnderstood(cursor, StrCat("value ", number, " of ", mnemonic));
  }
  return tables.context().Enum(mnemonic, enumerator);
}

StatusOr<Attribute> ReadStruct(BytecodeTables& tables, ByteCursor& cursor,
                               std::string_view mnemonic) {
  const StructInfo& info = *FindStruct(mnemonic);
  llvm::SmallVector<NamedAttribute> fields;
  for (const StructField& field : info.fields) {
    ASSIGN_OR_RETURN(const Attribute value, ReadField(tables, cursor, field.kind));
    fields.emplace_back(field.name, value);
  }
  const Attribute attribute = tables.context().Struct(mnemonic, fields);
  if (mnemonic == "stablehlo.conv" && !HasValidSides(attribute)) {
    return cursor.Error("a convolution does not number each dimension once");
  }
  return attribute;
}

StatusOr<Attribute> ReadSubAxis(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const int64_t pre_size, cursor.TakeSigned());
  ASSIGN_OR_RETURN(const int64_t size, cursor.TakeSigned());
  return tables.context().OpaqueAttribute(StrCat(kSubAxisPrefix, "(", pre_size, ")", size, ">"));
}

StatusOr<Attribute> ReadMeshAxis(BytecodeTables& tables, Attribute name, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const int64_t size, cursor.TakeSigned());
  if (!name.Is(AttributeKind::kString)) return cursor.Error("an axis has no name");
  return tables.context().OpaqueAttribute(
      StrCat(kMeshAxisPrefix, "<name = ", name.ToString(), ", size = ", size, ">"));
}

StatusOr<Attribute> MakeAxisRef(BytecodeTables& tables, Attribute name, Attribute sub_axis,
                                const ByteCursor& where) {
  if (!name.Is(AttributeKind::kString)) return where.Error("an axis has no name");
  std::string text = StrCat("#stablehlo.axis_ref<name = ", name.ToString());
  if (sub_axis) {
    if (!sub_axis.Is(AttributeKind::kOpaque) || !sub_axis.text().starts_with(kSubAxisPrefix)) {
      return where.Error("expected a part of an axis");
    }
    // Inside another attribute it stands without its name and brackets.
    const std::string_view body = sub_axis.text().substr(kSubAxisPrefix.size());
    text += StrCat(", sub_axis_info = ", body.substr(0, body.size() - 1));
  }
  return tables.MakeOpaque(text + ">", where);
}

StatusOr<Attribute> MakeMesh(BytecodeTables& tables, Attribute axes, Attribute device_ids,
                             const ByteCursor& where) {
  if (!axes.Is(AttributeKind::kArray)) return where.Error("a mesh has no axes");
  std::string text = "#stablehlo.mesh<axes=[";
  for (size_t i = 0; i < axes.items().size(); ++i) {
    const Attribute axis = axes.items()[i];
    if (!axis.Is(AttributeKind::kOpaque) || !axis.text().starts_with(kMeshAxisPrefix)) {
      return where.Error("expected a mesh's axis");
    }
    text += StrCat(i == 0 ? "" : ", ", axis.text().substr(kMeshAxisPrefix.size()));
  }
  text += ']';
  if (device_ids) text += StrCat(", device_ids=", device_ids.ToString());
  return tables.MakeOpaque(text + ">", where);
}

StatusOr<Attribute> MakeReplicaGroupMeshAxes(BytecodeTables& tables, Attribute mesh, Attribute axes,
                                             const ByteCursor& where) {
  if (!axes.Is(AttributeKind::kArray)) return where.Error("a group of devices has no axes");
  return tables.context().OpaqueAttribute(
      StrCat("#stablehlo.replica_group_mesh_axes<mesh = ", mesh.ToString(),
             ", axes = ", axes.ToString(), ">"));
}

StatusOr<Type> ReadComplexType(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const Type element, tables.TakeElementType(cursor));
  return tables.context().ComplexType(element);
}

StatusOr<Type> ReadFunctionType(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const std::vector<Type> inputs, tables.TakeTypes(cursor));
  ASSIGN_OR_RETURN(const std::vector<Type> outputs, tables.TakeTypes(cursor));
  return tables.context().FunctionType(inputs, outputs);
}

StatusOr<Type> ReadTensorType(BytecodeTables& tables, ByteCursor& cursor, bool has_encoding) {
  Attribute encoding;
  if (has_encoding) {
    ASSIGN_OR_RETURN(encoding, tables.TakeAttribute(cursor));
  }
  ASSIGN_OR_RETURN(const std::vector<int64_t> shape, tables.TakeShape(cursor));
  ASSIGN_OR_RETURN(const Type element, tables.TakeElementType(cursor));
  return tables.context().TensorType(shape, element, encoding);
}

StatusOr<Type> ReadTupleType(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const std::vector<Type> members, tables.TakeTypes(cursor));
  return tables.context().TupleType(members);
}

StatusOr<Type> ReadUnrankedTensorType(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const Type element, tables.TakeElementType(cursor));
  return tables.context().UnrankedTensorType(element);
}

StatusOr<Type> ReadQuantized(BytecodeTables& tables, ByteCursor& cursor, bool per_axis) {
  QuantizedData quantized;
  ASSIGN_OR_RETURN(const uint64_t flags, cursor.TakeNumber());
  quantized.flags = static_cast<uint32_t>(flags);
  ASSIGN_OR_RETURN(quantized.storage, tables.TakeType(cursor));
  ASSIGN_OR_RETURN(const Type expressed, tables.TakeType(cursor));
  if (!quantized.storage.Is(TypeKind::kInteger) || quantized.storage.integer_width() > 32) {
    return tables.NotUnderstood(
        cursor, StrCat("a quantized type stored as ", quantized.storage.ToString()));
  }
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zero_points;
  if (!per_axis) {
    ASSIGN_OR_RETURN(const uint64_t scale, tables.TakeBits(cursor, 64));
    scales.push_back(llvm::bit_cast<double>(scale));
    ASSIGN_OR_RETURN(zero_points.emplace_back(), cursor.TakeSigned());
  } else {
    ASSIGN_OR_RETURN(const uint64_t axis, cursor.TakeNumber());
    if (axis > INT32_MAX) return cursor.Error("a quantized type's axis is too large");
    quantized.axis = static_cast<int32_t>(axis);
  }
  ASSIGN_OR_RETURN(quantized.storage_min, cursor.TakeSigned());
  ASSIGN_OR_RETURN(quantized.storage_max, cursor.TakeSigned());
  if (per_axis) {
    ASSIGN_OR_RETURN(const size_t scale_count, cursor.TakeCount());
    for (size_t i = 0; i < scale_count; ++i) {
      ASSIGN_OR_RETURN(const uint64_t scale, tables.TakeBits(cursor, 64));
      scales.push_back(llvm::bit_cast<double>(scale));
    }
    ASSIGN_OR_RETURN(const std::vector<int64_t> points, tables.TakeSignedList(cursor));
    if (points.size() != scales.size()) {
      return cursor.Error("a quantized type has not as many zero points as scales");
    }
    zero_points.assign(points.begin(), points.end());
  }
  quantized.scales = scales;
  quantized.zero_points = zero_points;
  return tables.context().QuantizedType(expressed, quantized);
}

StatusOr<Type> ReadQuantType(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const uint64_t code, cursor.TakeNumber());
  // The other kinds of the dialect are nothing that StableHLO has.
  constexpr uint64_t kUniform = 4;
  constexpr uint64_t kUniformPerAxis = 5;
  if (code != kUniform && code != kUniformPerAxis) {
    return tables.NotUnderstood(cursor, StrCat("a quantized type of code ", code));
  }
  return ReadQuantized(tables, cursor, code == kUniformPerAxis);
}

}  // namespace plimsoll
