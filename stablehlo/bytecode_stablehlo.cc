// How the dialects StableHLO and CHLO themselves encode their attributes and types in MLIR
// bytecode, which frameworks use in memory. Unlike VHLO they promise no compatibility: what is not
// known here is "not understood".

#include "stablehlo/bytecode_parts.h"
#include "stablehlo/bytecode_tables.h"

namespace plimsoll {
namespace {

// By code; "" where there is none or where the encoding is not that of a plain struct or
// enumeration.
constexpr std::string_view kStructs[] = {"",
                                         "stablehlo.channel_handle",
                                         "",
                                         "",
                                         "stablehlo.conv",
                                         "stablehlo.dot",
                                         "",
                                         "stablehlo.gather",
                                         "",
                                         "",
                                         "",
                                         "stablehlo.scatter",
                                         "",
                                         "stablehlo.bounds",
                                         "stablehlo.output_operand_alias",
                                         "stablehlo.dot_algorithm",
                                         "",
                                         "stablehlo.result_accuracy"};
constexpr std::string_view kEnums[] = {"",
                                       "",
                                       "stablehlo.comparison_direction",
                                       "stablehlo.comparison_type",
                                       "",
                                       "",
                                       "stablehlo.fft_type",
                                       "",
                                       "stablehlo.precision",
                                       "stablehlo.rng_algorithm",
                                       "stablehlo.rng_distribution",
                                       "",
                                       "stablehlo.transpose",
                                       "",
                                       "",
                                       "",
                                       "stablehlo.result_accuracy_mode"};

enum StablehloAttributeCode : uint64_t {
  kReplicaGroupMeshAxes = 18,
  kSubAxisInfo = 19,
  kAxisRef = 20,
  kMeshAxis = 21,
  kMesh = 22,
};

StatusOr<Attribute> TakeName(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const std::string_view name, tables.TakeString(cursor));
  return tables.context().String(name);
}

// A byte that says whether an attribute follows.
StatusOr<Attribute> TakeFlaggedAttribute(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const uint8_t is_present, cursor.TakeByte());
  if (is_present == 0) return Attribute();
  return tables.TakeAttribute(cursor);
}

}  // namespace

StatusOr<Attribute> ReadStablehloAttribute(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const uint64_t code, cursor.TakeNumber());
  if (code < std::size(kStructs) && !kStructs[code].empty()) {
    return ReadStruct(tables, cursor, kStructs[code]);
  }
  if (code < std::size(kEnums) && !kEnums[code].empty()) {
    return ReadEnum(tables, cursor, kEnums[code]);
  }
  switch (code) {
    case kReplicaGroupMeshAxes: {
      ASSIGN_OR_RETURN(const Attribute mesh, tables.TakeAttribute(cursor));
      ASSIGN_OR_RETURN(const std::vector<Attribute> axes, tables.TakeAttributes(cursor));
      return MakeReplicaGroupMeshAxes(tables, mesh, tables.context().Array(axes), cursor);
    }
    case kSubAxisInfo:
      return ReadSubAxis(tables, cursor);
    case kAxisRef: {
      ASSIGN_OR_RETURN(const Attribute name, TakeName(tables, cursor));
      ASSIGN_OR_RETURN(const Attribute sub_axis, TakeFlaggedAttribute(tables, cursor));
      return MakeAxisRef(tables, name, sub_axis, cursor);
    }
    case kMeshAxis: {
      ASSIGN_OR_RETURN(const Attribute name, TakeName(tables, cursor));
      return ReadMeshAxis(tables, name, cursor);
    }
    case kMesh: {
      ASSIGN_OR_RETURN(const Attribute axes, tables.TakeAttribute(cursor));
      ASSIGN_OR_RETURN(const Attribute device_ids, TakeFlaggedAttribute(tables, cursor));
      return MakeMesh(tables, axes, device_ids, cursor);
    }
    default:
      return tables.NotUnderstood(cursor, StrCat("a StableHLO attribute of code ", code));
  }
}

// CHLO encodes two enumerations, which it numbers as StableHLO does; its other attributes are text.
StatusOr<Attribute> ReadChloAttribute(BytecodeTables& tables, ByteCursor& cursor) {
  constexpr std::string_view kChloEnums[] = {"comparison_direction", "comparison_type"};
  ASSIGN_OR_RETURN(const uint64_t code, cursor.TakeNumber());
  if (code >= std::size(kChloEnums)) {
    return tables.NotUnderstood(cursor, StrCat("a CHLO attribute of code ", code));
  }
  ASSIGN_OR_RETURN(const Attribute value,
                   ReadEnum(tables, cursor, StrCat("stablehlo.", kChloEnums[code])));
  return tables.MakeOpaque(StrCat("#chlo<", kChloEnums[code], " ", value.enumerator(), ">"),
                           cursor);
}

StatusOr<Type> ReadStablehloType(BytecodeTables& tables, ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const uint64_t code, cursor.TakeNumber());
  switch (code) {
    case 0:
      return tables.context().TokenType();
    case 1: {
      ASSIGN_OR_RETURN(const std::vector<Type> members, tables.TakeTypes(cursor));
      return tables.context().FutureType(members);
    }
    default:
      return tables.NotUnderstood(cursor, StrCat("a StableHLO type of code ", code));
  }
}

}  // namespace plimsoll
