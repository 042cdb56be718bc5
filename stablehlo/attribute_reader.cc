#include "stablehlo/attribute_reader.h"

#include <algorithm>
#include <utility>

#include "ir/print.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "stablehlo/enums.h"
#include "stablehlo/limits.h"

namespace plimsoll {
namespace {

// Attributes that are written with a keyword and brackets and that nothing here looks into.
constexpr std::string_view kOpaqueKeywords[] = {"affine_map", "affine_set", "distinct", "sparse",
                                                "strided"};

}  // namespace

class AttributeReader::Level {
 public:
  explicit Level(AttributeReader& reader) : reader_(reader) { ++reader_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  ~Level() { --reader_.depth_; }

 private:
  AttributeReader& reader_;
};

Status AttributeReader::CheckDepth() const {
  if (depth_ <= kMaxAttributeDepth) return OkStatus();
  return cursor_.ErrorAt(
      cursor_.position(),
      StrCat("attributes or types are nested more than ", kMaxAttributeDepth, " levels deep"),
      ErrorCode::kTooLarge);
}

Status AttributeReader::FindAliases() {
  const std::string_view text = cursor_.text();
  const size_t before = cursor_.position();
  for (size_t line = 0; line < text.size();) {
    const size_t newline = text.find('\n', line);
    if (text[line] == '#' || text[line] == '!') {
      cursor_.set_position(line + 1);
      const std::string_view name = cursor_.TakeSuffix();
      if (cursor_.Consume("=")) {
        const auto [entry, is_new] = aliases_.try_emplace(StrCat(text[line], name));
        if (!is_new) {
          return cursor_.ErrorAt(line,
                                 StrCat("the alias `", text[line], name, "` is defined twice"));
        }
        entry->second.position = cursor_.position();
      }
    }
    if (newline == std::string_view::npos) break;
    line = newline + 1;
  }
  cursor_.set_position(before);
  return OkStatus();
}

Status AttributeReader::SkipAliasDefinition() {
  const char sigil = cursor_.Peek();
  cursor_.set_position(cursor_.position() + 1);
  const std::string_view name = cursor_.TakeSuffix();
  Alias* alias = FindAlias(sigil, name);
  if (alias == nullptr || !cursor_.Consume("=")) return cursor_.Unexpected("an alias's definition");
  return (sigil == '!' ? ReadType().status() : ReadAttribute().status());
}

AttributeReader::Alias* AttributeReader::FindAlias(char sigil, std::string_view name) {
  const auto found = aliases_.find(StrCat(sigil, name));
  return found == aliases_.end() ? nullptr : &found->second;
}

// Attributes and types of dialects have a point in their name or a body; what has neither is an
// alias.
bool AttributeReader::IsUndefinedAlias(std::string_view name) const {
  return name.find('.') == std::string_view::npos && cursor_.PeekHere() != '<';
}

Status AttributeReader::UndefinedAlias(size_t position, char sigil, std::string_view name) const {
  return cursor_.ErrorAt(position, StrCat("the alias `", sigil, name, "` is not defined"));
}

StatusOr<Attribute> AttributeReader::ReadAliasedAttribute(Alias& alias) {
  if (alias.attribute) return alias.attribute;
  if (alias.is_being_read) return cursor_.Error("this alias is defined by itself");
  const size_t before = cursor_.position();
  alias.is_being_read = true;
  cursor_.set_position(alias.position);
  ASSIGN_OR_RETURN(alias.attribute, ReadAttribute());
  alias.is_being_read = false;
  cursor_.set_position(before);
  return alias.attribute;
}

StatusOr<Type> AttributeReader::ReadAliasedType(Alias& alias) {
  if (alias.type) return alias.type;
  if (alias.is_being_read) return cursor_.Error("this alias is defined by itself");
  const size_t before = cursor_.position();
  alias.is_being_read = true;
  cursor_.set_position(alias.position);
  ASSIGN_OR_RETURN(alias.type, ReadType());
  alias.is_being_read = false;
  cursor_.set_position(before);
  return alias.type;
}

StatusOr<Attribute> AttributeReader::ReadAttribute() {
  const Level level(*this);
  RETURN_IF_ERROR(CheckDepth());
  ASSIGN_OR_RETURN(const Attribute attribute, ReadAttributeInside());
  // An alias can stand for more levels than the text shows.
  if (attribute.data()->depth > kMaxAttributeDepth) {
    return cursor_.ErrorAt(cursor_.position(), "attributes are nested too deeply",
                           ErrorCode::kTooLarge);
  }
  return attribute;
}

StatusOr<Attribute> AttributeReader::ReadAttributeInside() {
  const char c = cursor_.Peek();
  const size_t start = cursor_.position();
  if (c == '"') {
    ASSIGN_OR_RETURN(const std::string value, cursor_.TakeString());
    if (!cursor_.Consume(":")) return context_.String(value);
    ASSIGN_OR_RETURN(const Type type, ReadType());
    return context_.String(value, type);
  }
  if (c == '[') {
    RETURN_IF_ERROR(cursor_.Expect("["));
    llvm::SmallVector<Attribute> items;
    while (!cursor_.Consume("]")) {
      if (!items.empty()) RETURN_IF_ERROR(cursor_.Expect(","));
      ASSIGN_OR_RETURN(items.emplace_back(), ReadAttribute());
    }
    return context_.Array(items);
  }
  if (c == '{') return ReadDictionary();
  if (c == '@') return ReadSymbol();
  if (c == '#') return ReadDialectAttribute();
  if (c == '-' || llvm::isDigit(c)) return ReadNumberAttribute();
  if (cursor_.ConsumeWord("true")) return context_.Bool(true);
  if (cursor_.ConsumeWord("false")) return context_.Bool(false);
  if (cursor_.ConsumeWord("unit")) return context_.Unit();
  if (cursor_.ConsumeWord("dense")) return ReadDenseElements();
  if (cursor_.ConsumeWord("dense_resource")) return ReadDenseResource();
  if (cursor_.ConsumeWord("array")) return ReadDenseArray();
  if (cursor_.ConsumeWord("loc")) {
    RETURN_IF_ERROR(cursor_.Expect("("));
    ASSIGN_OR_RETURN(const Location location, ReadLocationBody());
    RETURN_IF_ERROR(cursor_.Expect(")"));
    return location;
  }
  for (const std::string_view keyword : kOpaqueKeywords) {
    if (!cursor_.ConsumeWord(keyword)) continue;
    RETURN_IF_ERROR(SkipBalanced());
    // distinct[0]<...> has two pairs of brackets, sparse<...> : type has a type.
    if (cursor_.PeekHere() == '<') RETURN_IF_ERROR(SkipBalanced());
    if (keyword == "sparse" && cursor_.Consume(":")) RETURN_IF_ERROR(ReadType().status());
    return ReadOpaqueAttribute(start);
  }
  ASSIGN_OR_RETURN(const Type type, ReadType());
  return context_.TypeAttribute(type);
}

StatusOr<Attribute> AttributeReader::ReadDictionary() {
  RETURN_IF_ERROR(cursor_.Expect("{"));
  llvm::SmallVector<NamedAttribute> entries;
  llvm::StringMap<char> seen;
  while (!cursor_.Consume("}")) {
    if (!entries.empty()) RETURN_IF_ERROR(cursor_.Expect(","));
    std::string_view name;
    if (cursor_.Peek() == '"') {
      ASSIGN_OR_RETURN(const std::string text, cursor_.TakeString());
      name = context_.Intern(text);
    } else {
      name = cursor_.TakeIdentifier();
      if (name.empty()) return cursor_.Unexpected("an attribute's name");
    }
    if (!seen.try_emplace(name).second) {
      return cursor_.Error(StrCat("the attribute `", name, "` is given twice"));
    }
    Attribute value = context_.Unit();
    if (cursor_.Consume("=")) {
      ASSIGN_OR_RETURN(value, ReadAttribute());
    }
    entries.emplace_back(name, value);
  }
  return context_.Dictionary(entries);
}

StatusOr<Attribute> AttributeReader::ReadSymbol() {
  const auto read_name = [&]() -> StatusOr<std::string> {
    RETURN_IF_ERROR(cursor_.Expect("@"));
    if (cursor_.PeekHere() == '"') return cursor_.TakeString();
    const std::string_view name = cursor_.TakeSuffix();
    if (name.empty()) return cursor_.Unexpected("a symbol's name");
    return std::string(name);
  };
  ASSIGN_OR_RETURN(const std::string root, read_name());
  llvm::SmallVector<Attribute> nested;
  while (cursor_.Consume("::")) {
    ASSIGN_OR_RETURN(const std::string name, read_name());
    nested.push_back(context_.Symbol(name));
  }
  return context_.Symbol(root, nested);
}

StatusOr<Attribute> AttributeReader::ReadNumberAttribute() {
  const size_t start = cursor_.position();
  ASSIGN_OR_RETURN(const NumberToken token, cursor_.TakeNumber());
  Type type = token.is_decimal ? context_.FloatType(FloatKind::kF64) : context_.IntegerType(64);
  if (cursor_.Consume(":")) {
    ASSIGN_OR_RETURN(type, ReadType());
  }
  const bool is_wide = type.bytes_per_element().value_or(0) > 8;
  if (is_wide && (type.Is(TypeKind::kFloat) || type.Is(TypeKind::kInteger))) {
    return ReadOpaqueAttribute(start);
  }
  if (type.Is(TypeKind::kFloat)) {
    ASSIGN_OR_RETURN(const uint64_t bits, FloatBits(type, token));
    return context_.Float(type, bits);
  }
  if (type.Is(TypeKind::kInteger) || type.Is(TypeKind::kIndex)) {
    ASSIGN_OR_RETURN(const uint64_t bits, IntegerBits(type, token));
    return context_.Integer(type, static_cast<int64_t>(bits));
  }
  return cursor_.ErrorAt(start, StrCat("a number cannot have the type ", type.ToString()));
}

StatusOr<Attribute> AttributeReader::ReadDialectAttribute() {
  const size_t start = cursor_.position();
  RETURN_IF_ERROR(cursor_.Expect("#"));
  const std::string_view name = cursor_.TakeSuffix();
  if (name.empty()) return cursor_.Unexpected("an attribute's name");
  if (Alias* alias = FindAlias('#', name)) return ReadAliasedAttribute(*alias);
  const size_t after_name = cursor_.position();
  if (IsUndefinedAlias(name)) return UndefinedAlias(start, '#', name);

  if (name == "stablehlo" && cursor_.ConsumeHere("<")) {
    const std::string_view mnemonic = cursor_.TakeIdentifier();
    const std::string_view enumerator = cursor_.TakeIdentifier();
    const std::string full_mnemonic = StrCat("stablehlo.", mnemonic);
    if (IsEnumerator(full_mnemonic, enumerator) && cursor_.Consume(">")) {
      return context_.Enum(full_mnemonic, enumerator);
    }
  } else if (EnumHasAngleBrackets(name) && cursor_.ConsumeHere("<")) {
    const std::string_view enumerator = cursor_.TakeIdentifier();
    if (IsEnumerator(name, enumerator) && cursor_.Consume(">")) {
      return context_.Enum(name, enumerator);
    }
  } else if ((name == "stablehlo.bounds" || name == "stablehlo.type_extensions") &&
             cursor_.PeekHere() == '<') {
    return ReadBounds();
  } else if (const StructInfo* info = FindStruct(name);
             info != nullptr && cursor_.PeekHere() == '<') {
    ASSIGN_OR_RETURN(const Attribute attribute,
                     name == "stablehlo.conv" ? ReadConvolution() : ReadStruct(*info));
    if (attribute) return attribute;
  }
  cursor_.set_position(after_name);
  if (cursor_.PeekHere() == '<') RETURN_IF_ERROR(SkipBalanced());
  return ReadOpaqueAttribute(start);
}

StatusOr<Attribute> AttributeReader::ReadOpaqueAttribute(size_t start) {
  ASSIGN_OR_RETURN(const std::string text, TextWithoutAliases(start));
  return context_.OpaqueAttribute(text);
}

StatusOr<std::vector<int64_t>> AttributeReader::ReadIntegers() {
  RETURN_IF_ERROR(cursor_.Expect("["));
  std::vector<int64_t> values;
  while (!cursor_.Consume("]")) {
    if (!values.empty()) RETURN_IF_ERROR(cursor_.Expect(","));
    ASSIGN_OR_RETURN(values.emplace_back(), cursor_.TakeInteger());
  }
  return values;
}

StatusOr<Attribute> AttributeReader::ReadField(FieldKind kind) {
  switch (kind) {
    case FieldKind::kInts: {
      ASSIGN_OR_RETURN(const std::vector<int64_t> values, ReadIntegers());
      return context_.I64Array(values);
    }
    case FieldKind::kInt: {
      ASSIGN_OR_RETURN(const int64_t value, cursor_.TakeInteger());
      return context_.I64(value);
    }
    case FieldKind::kBool:
      if (cursor_.ConsumeWord("true")) return context_.Bool(true);
      if (cursor_.ConsumeWord("false")) return context_.Bool(false);
      return cursor_.Unexpected("`true` or `false`");
    case FieldKind::kFloat64: {
      const Type type = context_.FloatType(FloatKind::kF64);
      ASSIGN_OR_RETURN(const uint64_t bits, ReadFloatBits(type));
      return context_.Float(type, bits);
    }
    case FieldKind::kType: {
      ASSIGN_OR_RETURN(const Type type, ReadType());
      return context_.TypeAttribute(type);
    }
    case FieldKind::kAny:
      return ReadAttribute();
  }
  llvm_unreachable("a field kind that is not in the table");
}

StatusOr<Attribute> AttributeReader::ReadStruct(const StructInfo& info) {
  RETURN_IF_ERROR(cursor_.Expect("<"));
  llvm::SmallVector<NamedAttribute> fields;
  for (const StructField& field : info.fields) fields.emplace_back(field.name, Attribute());
  for (bool first = true; !cursor_.Consume(">"); first = false) {
    if (!first) RETURN_IF_ERROR(cursor_.Expect(","));
    const std::string_view name = cursor_.TakeIdentifier();
    size_t index = 0;
    while (index < info.fields.size() && info.fields[index].name != name) ++index;
    // A field that a newer StableHLO has: the attribute is held as it came.
    if (index == info.fields.size()) return Attribute();
    if (fields[index].second) return cursor_.Error(StrCat("`", name, "` is given twice"));
    RETURN_IF_ERROR(cursor_.Expect("="));
    ASSIGN_OR_RETURN(fields[index].second, ReadField(info.fields[index].kind));
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].second) continue;
    if (info.fields[i].kind == FieldKind::kInts) {
      fields[i].second = context_.I64Array({});
    } else if (info.fields[i].kind == FieldKind::kInt) {
      fields[i].second = context_.I64(0);
    } else {
      return Attribute();
    }
  }
  return context_.Struct(info.mnemonic, fields);
}

Status AttributeReader::ReadConvolutionSide(std::string_view first_name,
                                            std::string_view second_name, int64_t& first,
                                            int64_t& second, std::vector<int64_t>& spatial) {
  RETURN_IF_ERROR(cursor_.Expect("["));
  llvm::SmallVector<std::pair<int64_t, int64_t>> numbered;
  first = -1;
  second = -1;
  for (int64_t dimension = 0; !cursor_.Consume("]"); ++dimension) {
    if (dimension != 0) RETURN_IF_ERROR(cursor_.Expect(","));
    if (first == -1 && cursor_.ConsumeWord(first_name)) {
      first = dimension;
    } else if (second == -1 && cursor_.ConsumeWord(second_name)) {
      second = dimension;
    } else {
      ASSIGN_OR_RETURN(const uint64_t number, cursor_.TakeUnsigned());
      numbered.emplace_back(static_cast<int64_t>(number), dimension);
    }
  }
  std::sort(numbered.begin(), numbered.end());
  spatial.clear();
  for (size_t i = 0; i < numbered.size(); ++i) {
    if (numbered[i].first != static_cast<int64_t>(i)) {
      return cursor_.Error("the spatial dimensions must be numbered from 0 without gaps");
    }
    spatial.push_back(numbered[i].second);
  }
  if (first == -1 || second == -1) {
    return cursor_.Error(StrCat("both `", first_name, "` and `", second_name, "` must be given"));
  }
  return OkStatus();
}

StatusOr<Attribute> AttributeReader::ReadConvolution() {
  RETURN_IF_ERROR(cursor_.Expect("<"));
  // The form with named fields, which only hand-written programs use, is held as it came.
  if (cursor_.Peek() != '[') return Attribute();
  int64_t sides[3][2];
  std::vector<int64_t> spatial[3];
  RETURN_IF_ERROR(ReadConvolutionSide("b", "f", sides[0][0], sides[0][1], spatial[0]));
  RETURN_IF_ERROR(cursor_.Expect("x"));
  RETURN_IF_ERROR(ReadConvolutionSide("i", "o", sides[1][0], sides[1][1], spatial[1]));
  RETURN_IF_ERROR(cursor_.Expect("->"));
  RETURN_IF_ERROR(ReadConvolutionSide("b", "f", sides[2][0], sides[2][1], spatial[2]));
  RETURN_IF_ERROR(cursor_.Expect(">"));
  const StructInfo& info = *FindStruct("stablehlo.conv");
  llvm::SmallVector<NamedAttribute> fields;
  for (size_t side = 0; side < 3; ++side) {
    fields.emplace_back(info.fields[3 * side].name, context_.I64(sides[side][0]));
    fields.emplace_back(info.fields[3 * side + 1].name, context_.I64(sides[side][1]));
    fields.emplace_back(info.fields[3 * side + 2].name, context_.I64Array(spatial[side]));
  }
  return context_.Struct(info.mnemonic, fields);
}

StatusOr<Attribute> AttributeReader::ReadBounds() {
  RETURN_IF_ERROR(cursor_.Expect("<"));
  const bool is_long_form = cursor_.ConsumeWord("bounds");
  if (is_long_form) {
    RETURN_IF_ERROR(cursor_.Expect("="));
    RETURN_IF_ERROR(cursor_.Expect("["));
  }
  const std::string_view close = is_long_form ? "]" : ">";
  std::vector<int64_t> bounds;
  while (!cursor_.Consume(close)) {
    if (!bounds.empty()) RETURN_IF_ERROR(cursor_.Expect(","));
    if (cursor_.Consume("?")) {
      bounds.push_back(kDynamic);
    } else {
      ASSIGN_OR_RETURN(bounds.emplace_back(), cursor_.TakeInteger());
    }
  }
  if (is_long_form) RETURN_IF_ERROR(cursor_.Expect(">"));
  return context_.Struct("stablehlo.bounds", NamedAttribute("bounds", context_.I64Array(bounds)));
}

Status AttributeReader::SkipBalanced() {
  const size_t start = cursor_.position();
  std::string open;
  while (cursor_.position() < cursor_.text().size()) {
    const char c = cursor_.PeekHere();
    if (c == '"') {
      RETURN_IF_ERROR(cursor_.TakeRawString().status());
      continue;
    }
    if (cursor_.ConsumeHere("->")) continue;
    // A comparison, as in affine_set<(d0) : (d0 >= 0)>, and no end of anything.
    if (!open.empty() && open.back() == '(' && cursor_.ConsumeHere(">=")) continue;
    cursor_.set_position(cursor_.position() + 1);
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      open += c;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      const char opened = c == '>' ? '<' : c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || open.back() != opened) return cursor_.Error("the brackets do not match");
      open.pop_back();
    }
    if (open.empty()) return OkStatus();
  }
  return cursor_.ErrorAt(start, "this bracket is never closed");
}

StatusOr<std::string> AttributeReader::TextWithoutAliases(size_t start) {
  const size_t end = cursor_.position();
  std::string out;
  cursor_.set_position(start);
  while (cursor_.position() < end) {
    const size_t here = cursor_.position();
    const char c = cursor_.PeekHere();
    cursor_.set_position(here + 1);
    if (c == '"') {
      cursor_.set_position(here);
      RETURN_IF_ERROR(cursor_.TakeRawString().status());
    } else if (c == '#' || c == '!') {
      const std::string_view name = cursor_.TakeSuffix();
      if (Alias* alias = FindAlias(c, name)) {
        const size_t before = out.size();
        if (c == '#') {
          ASSIGN_OR_RETURN(const Attribute attribute, ReadAliasedAttribute(*alias));
          Print(attribute, out);
        } else {
          ASSIGN_OR_RETURN(const Type type, ReadAliasedType(*alias));
          Print(type, out);
        }
        expanded_ += out.size() - before;
        if (expanded_ > TextBudget(cursor_.text().size())) {
          return cursor_.ErrorAt(here, "the aliases in this attribute stand for too much text",
                                 ErrorCode::kTooLarge);
        }
        continue;
      }
      if (!name.empty() && IsUndefinedAlias(name)) return UndefinedAlias(here, c, name);
    }
    out += cursor_.text().substr(here, cursor_.position() - here);
  }
  cursor_.set_position(end);
  return out;
}

StatusOr<Location> AttributeReader::ReadOptionalLocation() {
  if (!cursor_.ConsumeWord("loc")) return Location();
  RETURN_IF_ERROR(cursor_.Expect("("));
  ASSIGN_OR_RETURN(const Location location, ReadLocationBody());
  RETURN_IF_ERROR(cursor_.Expect(")"));
  return location;
}

StatusOr<Location> AttributeReader::ReadLocationBody() {
  const Level level(*this);
  RETURN_IF_ERROR(CheckDepth());
  ASSIGN_OR_RETURN(const Location location, ReadLocationInside());
  if (location.data()->depth > kMaxAttributeDepth) {
    return cursor_.ErrorAt(cursor_.position(), "locations are nested too deeply",
                           ErrorCode::kTooLarge);
  }
  return location;
}

StatusOr<Location> AttributeReader::ReadLocationInside() {
  if (cursor_.Peek() == '#') {
    const size_t start = cursor_.position();
    ASSIGN_OR_RETURN(const Attribute attribute, ReadDialectAttribute());
    if (!attribute.is_location()) return cursor_.ErrorAt(start, "this is not a location");
    return attribute;
  }
  if (cursor_.Peek() == '"') return ReadNamedLocation();
  if (cursor_.ConsumeWord("unknown")) return context_.UnknownLocation();
  if (cursor_.ConsumeWord("callsite")) {
    RETURN_IF_ERROR(cursor_.Expect("("));
    ASSIGN_OR_RETURN(const Location callee, ReadLocationBody());
    if (!cursor_.ConsumeWord("at")) return cursor_.Unexpected("`at`");
    ASSIGN_OR_RETURN(const Location caller, ReadLocationBody());
    RETURN_IF_ERROR(cursor_.Expect(")"));
    return context_.CallSiteLocation(callee, caller);
  }
  if (cursor_.ConsumeWord("fused")) {
    Attribute metadata;
    if (cursor_.Consume("<")) {
      ASSIGN_OR_RETURN(metadata, ReadAttribute());
      RETURN_IF_ERROR(cursor_.Expect(">"));
    }
    RETURN_IF_ERROR(cursor_.Expect("["));
    llvm::SmallVector<Attribute> members;
    while (!cursor_.Consume("]")) {
      if (!members.empty()) RETURN_IF_ERROR(cursor_.Expect(","));
      ASSIGN_OR_RETURN(members.emplace_back(), ReadLocationBody());
    }
    return context_.FusedLocation(members, metadata);
  }
  return cursor_.Unexpected("a location");
}

StatusOr<Location> AttributeReader::ReadNamedLocation() {
  ASSIGN_OR_RETURN(const std::string name, cursor_.TakeString());
  if (cursor_.Consume("(")) {
    ASSIGN_OR_RETURN(const Location child, ReadLocationBody());
    RETURN_IF_ERROR(cursor_.Expect(")"));
    return context_.NameLocation(name, child);
  }
  if (!cursor_.Consume(":")) return context_.NameLocation(name, context_.UnknownLocation());
  const auto take = [&](uint32_t& number) -> Status {
    ASSIGN_OR_RETURN(const uint64_t value, cursor_.TakeUnsigned());
    number = static_cast<uint32_t>(value);
    return number == value ? OkStatus() : cursor_.Error("this line number is too large");
  };
  uint32_t lines[4];
  RETURN_IF_ERROR(take(lines[0]));
  RETURN_IF_ERROR(cursor_.Expect(":"));
  RETURN_IF_ERROR(take(lines[1]));
  lines[2] = lines[0];
  lines[3] = lines[1];
  if (cursor_.ConsumeWord("to")) {
    if (!cursor_.Consume(":")) {
      RETURN_IF_ERROR(take(lines[2]));
      RETURN_IF_ERROR(cursor_.Expect(":"));
    }
    RETURN_IF_ERROR(take(lines[3]));
  }
  return context_.FileLocation(name, lines[0], lines[1], lines[2], lines[3]);
}

StatusOr<Attribute> ReadAttributeText(Context& context, std::string_view text,
                                      std::string_view where) {
  TextCursor cursor(text, where);
  AttributeReader reader(context, cursor);
  ASSIGN_OR_RETURN(const Attribute attribute, reader.ReadAttribute());
  if (!cursor.AtEnd()) return cursor.Unexpected("the end");
  return attribute;
}

StatusOr<Type> ReadTypeText(Context& context, std::string_view text, std::string_view where) {
  TextCursor cursor(text, where);
  AttributeReader reader(context, cursor);
  ASSIGN_OR_RETURN(const Type type, reader.ReadType());
  if (!cursor.AtEnd()) return cursor.Unexpected("the end");
  return type;
}

}  // namespace plimsoll
