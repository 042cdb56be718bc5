#include "stablehlo/vhlo_ops.h"

#include <algorithm>
#include <cstring>

#include "ir/structs.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace plimsoll {
namespace {

void AddStruct(llvm::StringRef token, VhloOp& op) {
  const auto [name, rest] = token.split(':');
  llvm::SmallVector<llvm::StringRef> parts;
  rest.split(parts, '-');
  op.structs.push_back({name.str(), parts[0].str()});
  for (const StructField& field : FindStruct(parts[0])->fields) {
    const bool is_missing =
        llvm::is_contained(llvm::drop_begin(parts), llvm::StringRef(field.name));
    if (!is_missing) op.attributes.push_back({std::string(field.name), "", "", name.str()});
  }
}

void AddAttribute(llvm::StringRef token, VhloOp& op) {
  const auto [left, default_value] = token.split('=');
  const auto [name, kind] = left.split(':');
  op.attributes.push_back({name.str(), kind.str(), default_value.str(), ""});
}

VhloOp MakeRow(std::string_view op_name, llvm::StringRef attributes) {
  VhloOp op;
  op.op = op_name;
  llvm::SmallVector<llvm::StringRef> tokens;
  attributes.split(tokens, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef token : tokens) {
    if (token.consume_front("+")) {
      AddStruct(token, op);
    } else {
      AddAttribute(token, op);
    }
  }
  std::sort(op.attributes.begin(), op.attributes.end(),
            [](const VhloAttribute& a, const VhloAttribute& b) { return a.name < b.name; });
  return op;
}

llvm::StringMap<VhloOp>* MakeTable() {
  auto* table = new llvm::StringMap<VhloOp>();
#define VHLO_OP(name, op, attributes) (*table)[name] = MakeRow(op, attributes);
#include "stablehlo/vhlo.def"
#undef VHLO_OP
  return table;
}

bool IsInteger(Attribute value, int64_t number) {
  return value.Is(AttributeKind::kInteger) && value.integer() == number;
}

bool IsEmpty(Attribute value) {
  switch (value.kind()) {
    case AttributeKind::kString:
      return value.text().empty();
    case AttributeKind::kArray:
    case AttributeKind::kDictionary:
      return value.items().empty();
    case AttributeKind::kDenseElements:
      return value.bytes().empty();
    default:
      return false;
  }
}

// A constant that holds nothing but `number`, at least once.
bool IsOnly(Attribute value, int64_t number) {
  if (!value.Is(AttributeKind::kDenseElements) || value.bytes().empty()) return false;
  const std::optional<int64_t> size = value.type().element_type().bytes_per_element();
  if (!size || *size > 8) return false;
  for (size_t i = 0; i < value.bytes().size(); i += *size) {
    if (std::memcmp(value.bytes().data() + i, &number, *size) != 0) return false;
  }
  return true;
}

bool IsDefaultAccuracy(Attribute value) {
  return value.Is(AttributeKind::kStruct) && value.text() == "stablehlo.result_accuracy" &&
         value.Find("atol").float_value() == 0 && value.Find("rtol").float_value() == 0 &&
         IsInteger(value.Find("ulps"), 0) && value.Find("mode").enumerator() == "DEFAULT";
}

bool IsDefault(Attribute value, llvm::StringRef default_value) {
  int64_t number = 0;
  if (default_value == "empty") return IsEmpty(value);
  if (default_value == "false") return IsInteger(value, 0);
  if (default_value == "accuracy") return IsDefaultAccuracy(value);
  if (default_value == "NOTYPE") {
    return value.Is(AttributeKind::kEnum) && value.enumerator() == "NOTYPE";
  }
  if (default_value == "DEFAULT") {
    return value.Is(AttributeKind::kArray) && llvm::all_of(value.items(), [](Attribute item) {
             return item.Is(AttributeKind::kEnum) && item.enumerator() == "DEFAULT";
           });
  }
  if (default_value.consume_front("all:")) {
    return !default_value.getAsInteger(10, number) && IsOnly(value, number);
  }
  return !default_value.getAsInteger(10, number) && IsInteger(value, number);
}

// A constant of 64-bit integers or booleans as an array, null if it is none.
Attribute MakeArray(Context& context, Attribute value, unsigned width) {
  if (!value.Is(AttributeKind::kDenseElements)) return {};
  const Type element = value.type().element_type();
  if (!element.IsInteger(width)) return {};
  const int64_t count = *value.type().element_count();
  if (!value.is_splat() || count == 1) return context.DenseArray(element, value.bytes());
  // Lists of dimensions are short; a longer splat is not one.
  if (count > (1 << 16)) return {};
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) bytes.append(value.bytes().data(), value.bytes().size());
  return context.DenseArray(element, {bytes.data(), bytes.size()});
}

Attribute MakeSymbol(Context& context, Attribute value) {
  return value.Is(AttributeKind::kString) ? context.Symbol(value.text()) : Attribute();
}

Attribute MakeSymbols(Context& context, Attribute value) {
  if (!value.Is(AttributeKind::kArray)) return {};
  llvm::SmallVector<Attribute> symbols;
  for (const Attribute item : value.items()) {
    symbols.push_back(MakeSymbol(context, item));
    if (!symbols.back()) return {};
  }
  return context.Array(symbols);
}

Attribute MakeChannelHandle(Context& context, Attribute handle, Attribute type) {
  const auto is_number = [](Attribute value) { return value.Is(AttributeKind::kInteger); };
  if (!is_number(handle) || !is_number(type)) return {};
  const NamedAttribute fields[] = {{"handle", context.I64(handle.integer())},
                                   {"type", context.I64(type.integer())}};
  return context.Struct("stablehlo.channel_handle", fields);
}

// The value under its name of today, null if it is not of the kind that it should be.
NamedAttribute Convert(Context& context, const VhloAttribute& attribute, Attribute value) {
  if (attribute.kind.empty()) return {attribute.name, value};
  if (attribute.kind == "ints") return {attribute.name, MakeArray(context, value, 64)};
  if (attribute.kind == "bools") return {attribute.name, MakeArray(context, value, 1)};
  if (attribute.kind == "symbol") return {attribute.name, MakeSymbol(context, value)};
  if (attribute.kind == "symbols") return {attribute.name, MakeSymbols(context, value)};
  if (attribute.kind == "unit") {
    return {attribute.name, IsInteger(value, 1) ? context.Unit() : Attribute()};
  }
  return {"channel_handle", MakeChannelHandle(context, value, context.I64(0))};
}

Attribute ConvertField(Context& context, FieldKind kind, Attribute value) {
  switch (kind) {
    case FieldKind::kInts:
      return MakeArray(context, value, 64);
    case FieldKind::kInt:
      return value.Is(AttributeKind::kInteger) ? context.I64(value.integer()) : Attribute();
    case FieldKind::kBool:
      return value.Is(AttributeKind::kInteger) ? value : Attribute();
    case FieldKind::kType:
      return value.Is(AttributeKind::kType) ? value : Attribute();
    case FieldKind::kFloat64:
      return value.Is(AttributeKind::kFloat) ? value : Attribute();
    case FieldKind::kAny:
      return value;
  }
  llvm_unreachable("a field kind that is not in the table");
}

bool IsNone(Attribute value) {
  return value.Is(AttributeKind::kType) && value.type().Is(TypeKind::kNone);
}

Status WrongAttribute(std::string_view name, Attribute value) {
  return Status(ErrorCode::kBrokenBytecode,
                StrCat("the attribute `", name, "` cannot be ", value.ToString()));
}

class Converter {
 public:
  Converter(Context& context, const VhloOp& op, llvm::ArrayRef<Attribute> values)
      : context_(context), op_(op), values_(values) {}

  StatusOr<Attribute> Convert() {
    for (size_t i = 0; i < values_.size(); ++i)
      RETURN_IF_ERROR(ConvertOne(op_.attributes[i], values_[i]));
    for (const VhloStruct& group : op_.structs) RETURN_IF_ERROR(Gather(group));
    return entries_.empty() ? Attribute() : context_.Dictionary(entries_);
  }

 private:
  Attribute Find(std::string_view name) const {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (op_.attributes[i].name == name) return values_[i];
    }
    return {};
  }

  Status ConvertOne(const VhloAttribute& attribute, Attribute value) {
    if (!attribute.part_of.empty() || attribute.kind == "handle_type") return OkStatus();
    if (attribute.default_value == "layouts") {
      if (IsEmpty(Find("operand_layouts")) && IsEmpty(Find("result_layouts"))) return OkStatus();
    } else if (!attribute.default_value.empty() && IsDefault(value, attribute.default_value)) {
      return OkStatus();
    }
    const NamedAttribute converted =
        attribute.kind == "handle"
            ? NamedAttribute("channel_handle",
                             MakeChannelHandle(context_, value, Find("channel_type")))
            : plimsoll::Convert(context_, attribute, value);
    if (!converted.second) return WrongAttribute(attribute.name, value);
    entries_.push_back(converted);
    return OkStatus();
  }

  Status Gather(const VhloStruct& group) {
    llvm::SmallVector<NamedAttribute> fields;
    size_t none_count = 0;
    size_t value_count = 0;
    for (const StructField& field : FindStruct(group.mnemonic)->fields) {
      const Attribute value = Find(field.name);
      if (!value) {
        // Older versions had no such field; all of them are lists.
        fields.emplace_back(field.name, context_.I64Array({}));
        continue;
      }
      ++value_count;
      if (IsNone(value)) ++none_count;
      const Attribute converted = ConvertField(context_, field.kind, value);
      if (!converted && !IsNone(value)) return WrongAttribute(field.name, value);
      fields.emplace_back(field.name, converted);
    }
    if (none_count == value_count) return OkStatus();
    if (none_count != 0) {
      return Status(ErrorCode::kBrokenBytecode,
                    StrCat("some parts of the attribute `", group.name, "` are missing"));
    }
    const Attribute gathered = context_.Struct(group.mnemonic, fields);
    if (group.mnemonic == "stablehlo.conv" && !HasValidSides(gathered)) {
      return Status(ErrorCode::kBrokenBytecode,
                    StrCat("the attribute `", group.name, "` does not number each dimension once"));
    }
    entries_.emplace_back(group.name, gathered);
    return OkStatus();
  }

  Context& context_;
  const VhloOp& op_;
  llvm::ArrayRef<Attribute> values_;
  llvm::SmallVector<NamedAttribute> entries_;
};

}  // namespace

const VhloOp* FindVhloOp(std::string_view name) {
  static const llvm::StringMap<VhloOp>* const table = MakeTable();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : &found->second;
}

StatusOr<Attribute> ConvertVhloAttributes(Context& context, const VhloOp& op,
                                          llvm::ArrayRef<Attribute> values) {
  return Converter(context, op, values).Convert();
}

}  // namespace plimsoll
