#include "stablehlo/bytecode_tables.h"

#include <utility>

#include "stablehlo/attribute_reader.h"

namespace plimsoll {

Status BytecodeTables::NotUnderstood(const ByteCursor& where, std::string_view what) const {
  return where.Error(StrCat("not understood: ", what, " (written by ", version_, ")"),
                     ErrorCode::kNotUnderstood);
}

StatusOr<Attribute> BytecodeTables::MakeOpaque(std::string_view text, const ByteCursor& where) {
  if (text.size() > text_budget_) {
    return where.Error("the program's attributes stand for too much text", ErrorCode::kTooLarge);
  }
  text_budget_ -= text.size();
  return context_.OpaqueAttribute(text);
}

Status BytecodeTables::ReadStrings(ByteCursor section) {
  ASSIGN_OR_RETURN(const size_t count, section.TakeCount());
  std::vector<uint64_t> sizes(count);
  uint64_t total = 0;
  // The sizes stand in reverse order, the strings at the section's end.
  for (size_t i = count; i-- > 0;) {
    ASSIGN_OR_RETURN(sizes[i], section.TakeNumber());
    if (sizes[i] == 0 || sizes[i] > section.remaining())
      return section.Error("a string's size is wrong");
    total += sizes[i];
  }
  if (total != section.remaining()) return section.Error("the strings do not fill their section");
  strings_.reserve(count);
  for (const uint64_t size : sizes) {
    ASSIGN_OR_RETURN(const llvm::ArrayRef<char> bytes, section.TakeBytes(size));
    if (bytes.back() != '\0') return section.Error("a string has no end");
    strings_.emplace_back(bytes.data(), size - 1);
  }
  return OkStatus();
}

StatusOr<std::string_view> BytecodeTables::TakeString(ByteCursor& cursor) const {
  ASSIGN_OR_RETURN(const uint64_t index, cursor.TakeNumber());
  if (index >= strings_.size()) {
    return cursor.Error(StrCat("string ", index, " does not exist, there are ", strings_.size()));
  }
  return strings_[index];
}

StatusOr<std::string_view> BytecodeTables::DialectName(ByteCursor& cursor) const {
  ASSIGN_OR_RETURN(const uint64_t index, cursor.TakeNumber());
  if (index >= dialects_.size()) {
    return cursor.Error(StrCat("dialect ", index, " does not exist, there are ", dialects_.size()));
  }
  return dialects_[index];
}

Status BytecodeTables::ReadDialects(ByteCursor section) {
  ASSIGN_OR_RETURN(const size_t dialect_count, section.TakeCount());
  for (size_t i = 0; i < dialect_count; ++i) {
    ASSIGN_OR_RETURN(const auto entry, section.TakeNumberWithFlag());
    const auto [name, has_version] = entry;
    if (name >= strings_.size()) return section.Error("a dialect's name does not exist");
    dialects_.push_back(strings_[name]);
    if (has_version) {
      // A section of its own, which says what the dialect's own reader would want to know.
      ASSIGN_OR_RETURN(const uint8_t id, section.TakeByte());
      (void)id;
      ASSIGN_OR_RETURN(const uint64_t length, section.TakeNumber());
      RETURN_IF_ERROR(section.TakeBytes(length).status());
    }
  }
  ASSIGN_OR_RETURN(const size_t op_count, section.TakeCount());
  op_names_.reserve(op_count);
  while (!section.AtEnd()) {
    ASSIGN_OR_RETURN(const std::string_view dialect, DialectName(section));
    ASSIGN_OR_RETURN(const size_t count, section.TakeCount());
    for (size_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(const auto entry, section.TakeNumberWithFlag());
      const auto [name, is_registered] = entry;
      if (name >= strings_.size()) return section.Error("an op's name does not exist");
      op_names_.push_back({dialect, strings_[name],
                           context_.Intern(StrCat(dialect, ".", strings_[name])), is_registered});
    }
  }
  if (op_names_.size() != op_count) return section.Error("the number of op names is wrong");
  return OkStatus();
}

StatusOr<BytecodeOpName> BytecodeTables::TakeOpName(ByteCursor& cursor) const {
  ASSIGN_OR_RETURN(const uint64_t index, cursor.TakeNumber());
  if (index >= op_names_.size()) {
    return cursor.Error(StrCat("op name ", index, " does not exist, there are ", op_names_.size()));
  }
  return op_names_[index];
}

Status BytecodeTables::ReadOffsetGroup(ByteCursor& offsets, ByteCursor& data, size_t attributes,
                                       size_t types) {
  ASSIGN_OR_RETURN(const std::string_view dialect, DialectName(offsets));
  ASSIGN_OR_RETURN(const size_t count, offsets.TakeCount());
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const auto entry, offsets.TakeNumberWithFlag());
    ASSIGN_OR_RETURN(const ByteCursor part, data.TakePart(entry.first));
    if (attributes_.size() < attributes) {
      attributes_.push_back({part, dialect, entry.second, false, {}});
    } else if (types_.size() < types) {
      types_.push_back({part, dialect, entry.second, false, {}});
    } else {
      return offsets.Error("there are more attributes and types than announced");
    }
  }
  return OkStatus();
}

Status BytecodeTables::ReadAttributeOffsets(ByteCursor offsets, ByteCursor data) {
  ASSIGN_OR_RETURN(const uint64_t attribute_count, offsets.TakeNumber());
  ASSIGN_OR_RETURN(const uint64_t type_count, offsets.TakeNumber());
  if (attribute_count > offsets.remaining() || type_count > offsets.remaining()) {
    return offsets.Error("more attributes and types are announced than there is room for");
  }
  attributes_.reserve(attribute_count);
  types_.reserve(type_count);
  while (!offsets.AtEnd()) {
    RETURN_IF_ERROR(ReadOffsetGroup(offsets, data, attribute_count, type_count));
  }
  if (attributes_.size() != attribute_count || types_.size() != type_count) {
    return offsets.Error("there are fewer attributes and types than announced");
  }
  return OkStatus();
}

template <typename Handle>
Status BytecodeTables::CheckNesting(Handle handle, const ByteCursor& where) const {
  if (handle.data()->depth <= kMaxAttributeDepth) return OkStatus();
  return where.Error(StrCat("attributes are nested more than ", kMaxAttributeDepth, " levels deep"),
                     ErrorCode::kTooLarge);
}

StatusOr<Attribute> BytecodeTables::ResolveAttribute(uint64_t index, const ByteCursor& where) {
  if (index >= attributes_.size()) {
    return where.Error(
        StrCat("attribute ", index, " does not exist, there are ", attributes_.size()));
  }
  Entry<Attribute>& entry = attributes_[index];
  if (entry.value) return entry.value;
  if (entry.is_being_read) return where.Error(StrCat("attribute ", index, " contains itself"));
  if (depth_ >= kMaxAttributeDepth) {
    return where.Error("attributes are nested too deeply", ErrorCode::kTooLarge);
  }
  entry.is_being_read = true;
  ++depth_;
  ByteCursor cursor = entry.data;
  StatusOr<Attribute> value = Attribute();
  if (!entry.is_encoded) {
    ASSIGN_OR_RETURN(const std::string_view text, cursor.TakeZeroTerminated());
    value = ReadAttributeText(context_, text, StrCat(cursor.name(), ": attribute ", index));
  } else if (entry.dialect == "builtin") {
    value = ReadBuiltinAttribute(*this, cursor);
  } else if (entry.dialect == "vhlo") {
    value = ReadVhloAttribute(*this, cursor);
  } else if (entry.dialect == "stablehlo") {
    value = ReadStablehloAttribute(*this, cursor);
  } else if (entry.dialect == "chlo") {
    value = ReadChloAttribute(*this, cursor);
  } else if (entry.dialect == "sdy") {
    value = ReadSdyAttribute(*this, cursor);
  } else {
    value = NotUnderstood(cursor, StrCat("an attribute of dialect ", entry.dialect));
  }
  --depth_;
  if (!value.ok()) return value;
  if (!cursor.AtEnd()) return cursor.Error(StrCat("attribute ", index, " has bytes left over"));
  RETURN_IF_ERROR(CheckNesting(*value, cursor));
  entry.is_being_read = false;
  entry.value = *value;
  return value;
}

StatusOr<Type> BytecodeTables::TypeAt(uint64_t index, const ByteCursor& where) {
  if (index >= types_.size()) {
    return where.Error(StrCat("type ", index, " does not exist, there are ", types_.size()));
  }
  Entry<Type>& entry = types_[index];
  if (entry.value) return entry.value;
  if (entry.is_being_read) return where.Error(StrCat("type ", index, " contains itself"));
  if (depth_ >= kMaxAttributeDepth) {
    return where.Error("types are nested too deeply", ErrorCode::kTooLarge);
  }
  entry.is_being_read = true;
  ++depth_;
  ByteCursor cursor = entry.data;
  StatusOr<Type> value = Type();
  if (!entry.is_encoded) {
    ASSIGN_OR_RETURN(const std::string_view text, cursor.TakeZeroTerminated());
    value = ReadTypeText(context_, text, StrCat(cursor.name(), ": type ", index));
  } else if (entry.dialect == "builtin") {
    value = ReadBuiltinType(*this, cursor);
  } else if (entry.dialect == "vhlo") {
    value = ReadVhloType(*this, cursor);
  } else if (entry.dialect == "stablehlo") {
    value = ReadStablehloType(*this, cursor);
  } else if (entry.dialect == "quant") {
    value = ReadQuantType(*this, cursor);
  } else {
    value = NotUnderstood(cursor, StrCat("a type of dialect ", entry.dialect));
  }
  --depth_;
  if (!value.ok()) return value;
  if (!cursor.AtEnd()) return cursor.Error(StrCat("type ", index, " has bytes left over"));
  RETURN_IF_ERROR(CheckNesting(*value, cursor));
  entry.is_being_read = false;
  entry.value = *value;
  return value;
}

StatusOr<Attribute> BytecodeTables::TakeAttribute(ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const uint64_t index, cursor.TakeNumber());
  return ResolveAttribute(index, cursor);
}

StatusOr<Attribute> BytecodeTables::TakeOptionalAttribute(ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const auto entry, cursor.TakeNumberWithFlag());
  if (!entry.second) return Attribute();
  return ResolveAttribute(entry.first, cursor);
}

StatusOr<Location> BytecodeTables::TakeLocation(ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const Attribute attribute, TakeAttribute(cursor));
  if (!attribute.is_location()) return cursor.Error("expected a location, found another attribute");
  return attribute;
}

StatusOr<Type> BytecodeTables::TakeType(ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const uint64_t index, cursor.TakeNumber());
  return TypeAt(index, cursor);
}

StatusOr<std::vector<Attribute>> BytecodeTables::TakeAttributes(ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const size_t count, cursor.TakeCount());
  std::vector<Attribute> attributes(count);
  for (Attribute& attribute : attributes) {
    ASSIGN_OR_RETURN(attribute, TakeAttribute(cursor));
  }
  return attributes;
}

StatusOr<std::vector<Type>> BytecodeTables::TakeTypes(ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const size_t count, cursor.TakeCount());
  std::vector<Type> types(count);
  for (Type& type : types) {
    ASSIGN_OR_RETURN(type, TakeType(cursor));
  }
  return types;
}

StatusOr<std::vector<int64_t>> BytecodeTables::TakeSignedList(ByteCursor& cursor) const {
  ASSIGN_OR_RETURN(const size_t count, cursor.TakeCount());
  std::vector<int64_t> values(count);
  for (int64_t& value : values) {
    ASSIGN_OR_RETURN(value, cursor.TakeSigned());
  }
  return values;
}

StatusOr<std::vector<int64_t>> BytecodeTables::TakeShape(ByteCursor& cursor) const {
  ASSIGN_OR_RETURN(const std::vector<int64_t> shape, TakeSignedList(cursor));
  for (const int64_t size : shape) {
    if (size < 0 && size != kDynamic) return cursor.Error(StrCat("a dimension has size ", size));
  }
  return shape;
}

StatusOr<Type> BytecodeTables::TakeElementType(ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const Type type, TakeType(cursor));
  if (!type.is_element_type()) {
    return cursor.Error(StrCat("tensors hold numbers, not ", type.ToString()));
  }
  return type;
}

StatusOr<uint64_t> BytecodeTables::TakeBits(ByteCursor& cursor, unsigned width) const {
  if (width > 64) return NotUnderstood(cursor, StrCat("a number of ", width, " bits"));
  uint64_t bits = 0;
  if (width <= 8) {
    ASSIGN_OR_RETURN(bits, cursor.TakeByte());
  } else {
    ASSIGN_OR_RETURN(const int64_t value, cursor.TakeSigned());
    bits = static_cast<uint64_t>(value);
  }
  return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

StatusOr<llvm::ArrayRef<char>> BytecodeTables::TakeBlob(ByteCursor& cursor) const {
  ASSIGN_OR_RETURN(const uint64_t size, cursor.TakeNumber());
  return cursor.TakeBytes(size);
}

Status BytecodeTables::ReadProperties(ByteCursor section) {
  ASSIGN_OR_RETURN(const size_t count, section.TakeCount());
  properties_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint64_t size, section.TakeNumber());
    ASSIGN_OR_RETURN(properties_.emplace_back(), section.TakePart(size));
  }
  return OkStatus();
}

StatusOr<ByteCursor> BytecodeTables::Properties(uint64_t index, const ByteCursor& where) const {
  if (index >= properties_.size()) {
    return where.Error(
        StrCat("properties ", index, " do not exist, there are ", properties_.size()));
  }
  return properties_[index];
}

Status BytecodeTables::ReadResourceGroup(ByteCursor& offsets, ByteCursor& data,
                                         std::string_view group, bool is_external,
                                         std::vector<Resource>& resources) {
  ASSIGN_OR_RETURN(const size_t count, offsets.TakeCount());
  for (size_t i = 0; i < count; ++i) {
    Resource resource;
    resource.group = group;
    resource.is_external = is_external;
    ASSIGN_OR_RETURN(resource.key, TakeString(offsets));
    if (!is_external) resource_keys_.push_back(resource.key);
    ASSIGN_OR_RETURN(const uint64_t size, offsets.TakeNumber());
    ASSIGN_OR_RETURN(const uint8_t kind, offsets.TakeByte());
    // A resource that was announced but not written has no entry.
    if (size == 0) continue;
    ASSIGN_OR_RETURN(ByteCursor entry, data.TakePart(size));
    switch (kind) {
      case 0: {
        resource.kind = Resource::Kind::kBlob;
        ASSIGN_OR_RETURN(const uint64_t alignment, entry.TakeNumber());
        ASSIGN_OR_RETURN(const uint64_t byte_count, entry.TakeNumber());
        RETURN_IF_ERROR(entry.AlignTo(alignment));
        if (alignment > UINT32_MAX) return entry.Error("a resource's alignment is too large");
        resource.alignment = static_cast<uint32_t>(alignment);
        ASSIGN_OR_RETURN(resource.bytes, entry.TakeBytes(byte_count));
        break;
      }
      case 1: {
        resource.kind = Resource::Kind::kBool;
        ASSIGN_OR_RETURN(resource.bytes, entry.TakeBytes(1));
        break;
      }
      case 2: {
        resource.kind = Resource::Kind::kString;
        ASSIGN_OR_RETURN(const std::string_view text, TakeString(entry));
        resource.bytes = {text.data(), text.size()};
        break;
      }
      default:
        return NotUnderstood(offsets, StrCat("a resource of kind ", kind));
    }
    resources.push_back(resource);
  }
  return OkStatus();
}

Status BytecodeTables::ReadResources(ByteCursor offsets, ByteCursor data,
                                     std::vector<Resource>& resources) {
  ASSIGN_OR_RETURN(const size_t external_groups, offsets.TakeCount());
  for (size_t i = 0; i < external_groups; ++i) {
    ASSIGN_OR_RETURN(const std::string_view group, TakeString(offsets));
    RETURN_IF_ERROR(ReadResourceGroup(offsets, data, group, /*is_external=*/true, resources));
  }
  while (!offsets.AtEnd()) {
    ASSIGN_OR_RETURN(const std::string_view dialect, DialectName(offsets));
    RETURN_IF_ERROR(ReadResourceGroup(offsets, data, dialect, /*is_external=*/false, resources));
  }
  return OkStatus();
}

StatusOr<std::string_view> BytecodeTables::TakeResourceKey(ByteCursor& cursor) const {
  ASSIGN_OR_RETURN(const uint64_t index, cursor.TakeNumber());
  if (index >= resource_keys_.size()) {
    return cursor.Error(
        StrCat("resource ", index, " does not exist, there are ", resource_keys_.size()));
  }
  return resource_keys_[index];
}

}  // namespace plimsoll
