#include "ir/structs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

// Gives each row's fields a name that its StructInfo can point to.
template <size_t kSize>
struct Row {
  std::string_view mnemonic;
  bool omits_defaults;
  StructField fields[kSize];
};

template <typename... Fields>
constexpr Row<sizeof...(Fields)> MakeRow(std::string_view mnemonic, bool omits_defaults,
                                         Fields... fields) {
  return {mnemonic, omits_defaults, {fields...}};
}

bool IsOfKind(Attribute value, FieldKind kind) {
  switch (kind) {
    case FieldKind::kInts:
      return value.Is(AttributeKind::kDenseArray) && value.type().IsInteger(64);
    case FieldKind::kInt:
    case FieldKind::kBool:
      return value.Is(AttributeKind::kInteger);
    case FieldKind::kFloat64:
      return value.Is(AttributeKind::kFloat) && value.type().Is(TypeKind::kFloat);
    case FieldKind::kType:
      return value.Is(AttributeKind::kType);
    case FieldKind::kAny:
      return static_cast<bool>(value);
  }
  return false;
}

}  // namespace

const StructInfo* FindStruct(std::string_view mnemonic) {
#define PLIMSOLL_INTS(name) StructField{name, FieldKind::kInts}
#define PLIMSOLL_INT(name) StructField{name, FieldKind::kInt}
#define PLIMSOLL_BOOL(name) StructField{name, FieldKind::kBool}
#define PLIMSOLL_FLOAT64(name) StructField{name, FieldKind::kFloat64}
#define PLIMSOLL_TYPE(name) StructField{name, FieldKind::kType}
#define PLIMSOLL_ANY(name) StructField{name, FieldKind::kAny}
#define PLIMSOLL_STRUCT(mnemonic_text, ...)                                            \
  if (mnemonic == mnemonic_text) {                                                     \
    static constexpr auto kRow = MakeRow(mnemonic_text, __VA_ARGS__);                  \
    static const StructInfo kInfo = {kRow.mnemonic, kRow.omits_defaults, kRow.fields}; \
    return &kInfo;                                                                     \
  }
#include "ir/structs.def"
#undef PLIMSOLL_STRUCT
#undef PLIMSOLL_INTS
#undef PLIMSOLL_INT
#undef PLIMSOLL_BOOL
#undef PLIMSOLL_FLOAT64
#undef PLIMSOLL_TYPE
#undef PLIMSOLL_ANY
  return nullptr;
}

bool HasItsFields(Attribute structure) {
  const StructInfo* info = FindStruct(structure.text());
  if (info == nullptr || structure.items().size() != info->fields.size()) return false;
  for (size_t i = 0; i < info->fields.size(); ++i) {
    const StructField& field = info->fields[i];
    if (structure.names()[i] != field.name || !IsOfKind(structure.items()[i], field.kind)) {
      return false;
    }
  }
  return true;
}

bool HasValidSides(Attribute convolution) {
  constexpr size_t kFieldsPerSide = 3;  // Two single dimensions and the list of the others.
  for (size_t side = 0; side < convolution.items().size() / kFieldsPerSide; ++side) {
    const llvm::ArrayRef<Attribute> fields =
        convolution.items().slice(side * kFieldsPerSide, kFieldsPerSide);
    llvm::SmallVector<int64_t> dimensions(fields[2].integers());
    dimensions.push_back(fields[0].integer());
    dimensions.push_back(fields[1].integer());
    llvm::sort(dimensions);
    for (size_t i = 0; i < dimensions.size(); ++i) {
      if (dimensions[i] != static_cast<int64_t>(i)) return false;
    }
  }
  return true;
}

bool EnumHasAngleBrackets(std::string_view mnemonic) {
  return mnemonic == "stablehlo.result_accuracy_mode";
}

}  // namespace plimsoll
