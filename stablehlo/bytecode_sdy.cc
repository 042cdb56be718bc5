// How SDY, the dialect of shardings, encodes its attributes. Nothing looks into them: they are held
// as their text.

#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "stablehlo/bytecode_tables.h"

namespace plimsoll {
namespace {

enum SdyAttributeCode : uint64_t {
  kManualAxes = 0,
  kMeshAxis = 1,
  kMesh = 2,
  kSubAxisInfo = 3,
  kAxisRef = 4,
  kDimensionSharding = 5,
  kTensorSharding = 6,
  kTensorShardingPerValue = 7,
  kDimMapping = 8,
  kTensorMapping = 9,
  kOpShardingRule = 10,
  kAxisRefList = 11,
  kListOfAxisRefLists = 12,
  kAllToAllParam = 13,
  kAllToAllParamList = 14,
  kTensorShardingWithUnreduced = 15,
  kTensorShardingPerValueWithUnreduced = 16,
  kTensorShardingWithReduction = 17,
};

// The names of reductions where they are not sums, by number.
constexpr std::string_view kReductions[] = {"", "max", "min"};

class SdyReader {
 public:
  SdyReader(BytecodeTables& tables, ByteCursor& cursor) : tables_(tables), cursor_(cursor) {}

  StatusOr<Attribute> Read();

 private:
  // Attributes inside others are written without their name: what follows it in the text.
  StatusOr<std::string> TakeNested(std::string_view mnemonic);
  StatusOr<std::string> TakeNestedList(std::string_view mnemonic,
                                       std::string_view separator = ", ");
  StatusOr<std::string> TakeQuoted();
  // The letters i, j, k, ... and z_1, z_2, ... that stand for factors.
  static std::string FactorName(int64_t factor);
  StatusOr<std::string> TakeFactors(std::string_view kind);

  StatusOr<std::string> ReadManualAxes();
  StatusOr<std::string> ReadMesh();
  StatusOr<std::string> ReadAxisRef();
  StatusOr<std::string> ReadDimensionSharding();
  StatusOr<std::string> ReadTensorSharding(bool has_unreduced, bool has_reduction);
  StatusOr<std::string> ReadOpShardingRule();

  StatusOr<Attribute> Make(std::string_view mnemonic, StatusOr<std::string> body);

  BytecodeTables& tables_;
  ByteCursor& cursor_;
};

// MLIR writes #sdy.name<...> where what follows the name is in such brackets, and #sdy<name...>
// elsewhere.
StatusOr<Attribute> SdyReader::Make(std::string_view mnemonic, StatusOr<std::string> body) {
  if (!body.ok()) return body.status();
  const std::string text = body->starts_with('<') ? StrCat("#sdy.", mnemonic, *body)
                                                  : StrCat("#sdy<", mnemonic, *body, ">");
  return tables_.MakeOpaque(text, cursor_);
}

StatusOr<std::string> SdyReader::TakeNested(std::string_view mnemonic) {
  ASSIGN_OR_RETURN(const Attribute attribute, tables_.TakeAttribute(cursor_));
  if (attribute.Is(AttributeKind::kOpaque)) {
    std::string_view text = attribute.text();
    const std::string dotted = StrCat("#sdy.", mnemonic, "<");
    const std::string bracketed = StrCat("#sdy<", mnemonic);
    if (text.starts_with(dotted)) return std::string(text.substr(dotted.size() - 1));
    if (text.starts_with(bracketed)) {
      text.remove_prefix(bracketed.size());
      text.remove_suffix(1);
      return std::string(text);
    }
  }
  return cursor_.Error(StrCat("expected an attribute #sdy.", mnemonic));
}

StatusOr<std::string> SdyReader::TakeNestedList(std::string_view mnemonic,
                                                std::string_view separator) {
  ASSIGN_OR_RETURN(const size_t count, cursor_.TakeCount());
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const std::string body, TakeNested(mnemonic));
    out += StrCat(i == 0 ? "" : separator, body);
  }
  return out;
}

StatusOr<std::string> SdyReader::TakeQuoted() {
  ASSIGN_OR_RETURN(const std::string_view name, tables_.TakeString(cursor_));
  return tables_.context().String(name).ToString();
}

std::string SdyReader::FactorName(int64_t factor) {
  constexpr int64_t kLast = 'z' - 'i';
  if (factor >= 0 && factor <= kLast) return std::string(1, static_cast<char>('i' + factor));
  return StrCat("z_", factor - kLast);
}

StatusOr<std::string> SdyReader::TakeFactors(std::string_view kind) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> factors, tables_.TakeSignedList(cursor_));
  if (factors.empty()) return std::string();
  std::string out = StrCat(" ", kind, "={");
  for (size_t i = 0; i < factors.size(); ++i) {
    out += StrCat(i == 0 ? "" : ", ", FactorName(factors[i]));
  }
  return out + "}";
}

StatusOr<std::string> SdyReader::ReadManualAxes() {
  ASSIGN_OR_RETURN(const std::vector<Attribute> axes, tables_.TakeAttributes(cursor_));
  std::string out = "{";
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].Is(AttributeKind::kString)) return cursor_.Error("an axis has no name");
    out += StrCat(i == 0 ? "" : ", ", axes[i].ToString());
  }
  return out + "}";
}

StatusOr<std::string> SdyReader::ReadMesh() {
  ASSIGN_OR_RETURN(const std::string axes, TakeNestedList("mesh_axis"));
  ASSIGN_OR_RETURN(const std::vector<int64_t> devices, tables_.TakeSignedList(cursor_));
  std::string out = StrCat("<[", axes, "]");
  if (!devices.empty()) {
    out += ", device_ids=[";
    for (size_t i = 0; i < devices.size(); ++i) out += StrCat(i == 0 ? "" : ", ", devices[i]);
    out += ']';
  }
  return out + ">";
}

StatusOr<std::string> SdyReader::ReadAxisRef() {
  ASSIGN_OR_RETURN(std::string out, TakeQuoted());
  ByteCursor ahead = cursor_;
  ASSIGN_OR_RETURN(const Attribute sub_axis, tables_.TakeOptionalAttribute(cursor_));
  if (!sub_axis) return out;
  const std::string text = sub_axis.ToString();
  constexpr std::string_view kPrefix = "#sdy<sub_axis_info";
  if (!text.starts_with(kPrefix)) return ahead.Error("expected a part of an axis");
  out += StrCat(":", text.substr(kPrefix.size(), text.size() - kPrefix.size() - 1));
  return out;
}

StatusOr<std::string> SdyReader::ReadDimensionSharding() {
  ASSIGN_OR_RETURN(const std::string axes, TakeNestedList("axis_ref"));
  ASSIGN_OR_RETURN(const uint8_t is_closed, cursor_.TakeByte());
  ASSIGN_OR_RETURN(const auto priority, cursor_.TakeNumberWithFlag());
  std::string out = StrCat("{", axes);
  if (is_closed == 0) out += axes.empty() ? "?" : ", ?";
  out += '}';
  if (priority.second) out += StrCat("p", priority.first);
  return out;
}

StatusOr<std::string> SdyReader::ReadTensorSharding(bool has_unreduced, bool has_reduction) {
  ASSIGN_OR_RETURN(const Attribute mesh, tables_.TakeAttribute(cursor_));
  std::string mesh_text = mesh.ToString();
  constexpr std::string_view kMeshPrefix = "#sdy.";
  if (mesh_text.starts_with(kMeshPrefix)) mesh_text.erase(0, kMeshPrefix.size());
  ASSIGN_OR_RETURN(const std::string dimensions, TakeNestedList("dimension_sharding"));
  ASSIGN_OR_RETURN(const std::string replicated, TakeNestedList("axis_ref"));
  std::string out = StrCat("<", mesh_text, ", [", dimensions, "]");
  if (!replicated.empty()) out += StrCat(", replicated={", replicated, "}");
  if (has_unreduced) {
    ASSIGN_OR_RETURN(const std::string unreduced, TakeNestedList("axis_ref"));
    int64_t reduction = 0;
    if (has_reduction) {
      ASSIGN_OR_RETURN(reduction, cursor_.TakeSigned());
    }
    if (reduction < 0 || reduction >= static_cast<int64_t>(std::size(kReductions))) {
      return tables_.NotUnderstood(cursor_, StrCat("a reduction of number ", reduction));
    }
    if (!unreduced.empty()) {
      out += StrCat(", unreduced=", kReductions[reduction], "{", unreduced, "}");
    }
  }
  return out + ">";
}

StatusOr<std::string> SdyReader::ReadOpShardingRule() {
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, tables_.TakeSignedList(cursor_));
  ASSIGN_OR_RETURN(const std::string operands, TakeNestedList("tensor_mapping"));
  ASSIGN_OR_RETURN(const std::string results, TakeNestedList("tensor_mapping"));
  std::string out = StrCat("<(", operands, ")->(", results, ")");
  if (!sizes.empty()) {
    out += " {";
    for (size_t i = 0; i < sizes.size(); ++i) {
      out += StrCat(i == 0 ? "" : ", ", FactorName(static_cast<int64_t>(i)), "=", sizes[i]);
    }
    out += '}';
  }
  for (const std::string_view kind :
       {"reduction", "need_replication", "permutation", "blocked_propagation"}) {
    ASSIGN_OR_RETURN(const std::string factors, TakeFactors(kind));
    out += factors;
  }
  ASSIGN_OR_RETURN(const uint8_t is_custom, cursor_.TakeByte());
  return out + (is_custom != 0 ? ", custom>" : ">");
}

StatusOr<Attribute> SdyReader::Read() {
  ASSIGN_OR_RETURN(const uint64_t code, cursor_.TakeNumber());
  const auto wrap = [](std::string_view open, StatusOr<std::string> list,
                       std::string_view close) -> StatusOr<std::string> {
    if (!list.ok()) return list;
    return StrCat(open, *list, close);
  };
  switch (code) {
    case kManualAxes:
      return Make("manual_axes", ReadManualAxes());
    case kMeshAxis: {
      ASSIGN_OR_RETURN(const std::string name, TakeQuoted());
      ASSIGN_OR_RETURN(const int64_t size, cursor_.TakeSigned());
      return Make("mesh_axis", StrCat(name, "=", size));
    }
    case kMesh:
      return Make("mesh", ReadMesh());
    case kSubAxisInfo: {
      ASSIGN_OR_RETURN(const int64_t pre_size, cursor_.TakeSigned());
      ASSIGN_OR_RETURN(const int64_t size, cursor_.TakeSigned());
      return Make("sub_axis_info", StrCat("(", pre_size, ")", size));
    }
    case kAxisRef:
      return Make("axis_ref", ReadAxisRef());
    case kDimensionSharding:
      return Make("dimension_sharding", ReadDimensionSharding());
    case kTensorSharding:
      return Make("sharding", ReadTensorSharding(/*has_unreduced=*/false, /*has_reduction=*/false));
    case kTensorShardingWithUnreduced:
      return Make("sharding", ReadTensorSharding(/*has_unreduced=*/true, /*has_reduction=*/false));
    case kTensorShardingWithReduction:
      return Make("sharding", ReadTensorSharding(/*has_unreduced=*/true, /*has_reduction=*/true));
    case kTensorShardingPerValue:
    case kTensorShardingPerValueWithUnreduced:
      return Make("sharding_per_value", wrap("<[", TakeNestedList("sharding"), "]>"));
    case kDimMapping: {
      ASSIGN_OR_RETURN(const std::vector<int64_t> factors, tables_.TakeSignedList(cursor_));
      std::string out;
      for (const int64_t factor : factors) out += FactorName(factor);
      return Make("dim_mapping", out);
    }
    case kTensorMapping:
      return Make("tensor_mapping", wrap("[", TakeNestedList("dim_mapping"), "]"));
    case kOpShardingRule:
      return Make("op_sharding_rule", ReadOpShardingRule());
    case kAxisRefList:
      return Make("axis_ref_list", wrap("{", TakeNestedList("axis_ref"), "}"));
    case kListOfAxisRefLists:
      return Make("list_of_axis_ref_lists", wrap("[", TakeNestedList("axis_ref_list"), "]"));
    case kAllToAllParam: {
      ASSIGN_OR_RETURN(const std::string axes, TakeNestedList("axis_ref"));
      ASSIGN_OR_RETURN(const int64_t source, cursor_.TakeSigned());
      ASSIGN_OR_RETURN(const int64_t target, cursor_.TakeSigned());
      return Make("all_to_all_param", StrCat("{", axes, "}: ", source, "->", target));
    }
    case kAllToAllParamList:
      return Make("all_to_all_param_list", wrap("[", TakeNestedList("all_to_all_param"), "]"));
    default:
      return tables_.NotUnderstood(cursor_, StrCat("an SDY attribute of code ", code));
  }
}

}  // namespace

StatusOr<Attribute> ReadSdyAttribute(BytecodeTables& tables, ByteCursor& cursor) {
  return SdyReader(tables, cursor).Read();
}

}  // namespace plimsoll
