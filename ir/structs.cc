#include "ir/structs.h"

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

bool EnumHasAngleBrackets(std::string_view mnemonic) {
  return mnemonic == "stablehlo.result_accuracy_mode";
}

}  // namespace plimsoll
