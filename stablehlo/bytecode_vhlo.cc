// How VHLO, StableHLO's versioned dialect, encodes its attributes and types. They are read as what
// they stand for today.

#include "stablehlo/bytecode_parts.h"
#include "stablehlo/bytecode_tables.h"

namespace plimsoll {
namespace {

enum VhloAttributeCode : uint64_t {
  kArray = 1,
  kBoolean = 2,
  kComparisonDirection = 3,
  kComparisonType = 4,
  kCustomCallApiVersion = 5,
  kDictionary = 6,
  kFftType = 7,
  kFloat = 8,
  kInteger = 9,
  kOutputOperandAlias = 10,
  kPrecision = 11,
  kRngAlgorithm = 12,
  kRngDistribution = 13,
  kString = 14,
  kTensor = 15,
  kTranspose = 16,
  kType = 17,
  kTypeExtensions = 18,
  kResultAccuracyMode = 19,
  kResultAccuracy = 20,
  kSubAxisInfo = 21,
  kAxisRef = 22,
  kReplicaGroupMeshAxes = 23,
  kMeshAxis = 24,
  kMesh = 25,
};

enum VhloTypeCode : uint64_t {
  kBooleanType = 0,
  kComplexType = 1,
  kFunctionType = 8,
  kIndexType = 9,
  kTensorType = 20,
  kTensorTypeWithEncoding = 21,
  kTokenType = 22,
  kTupleType = 23,
  kQuantizedType = 24,
  kUnrankedTensorType = 25,
  kWitnessType = 26,
  kQuantizedPerAxisType = 30,
  kNoneType = 33,
  kBufferType = 41,
  kFutureType = 42,
};

// Types without parameters.
struct FloatCode {
  uint64_t code;
  FloatKind kind;
};
constexpr FloatCode kFloatCodes[] = {
    {2, FloatKind::kBF16},        {3, FloatKind::kF16},         {4, FloatKind::kF32},
    {5, FloatKind::kF64},         {6, FloatKind::kF8E4M3FN},    {7, FloatKind::kF8E5M2},
    {27, FloatKind::kF8E4M3FNUZ}, {28, FloatKind::kF8E5M2FNUZ}, {29, FloatKind::kF8E4M3B11FNUZ},
    {34, FloatKind::kTF32},       {35, FloatKind::kF8E4M3},     {36, FloatKind::kF8E3M4},
    {37, FloatKind::kF4E2M1FN},   {38, FloatKind::kF6E2M3FN},   {39, FloatKind::kF6E3M2FN},
    {40, FloatKind::kF8E8M0FNU},
};
struct IntegerCode {
  uint64_t code;
  unsigned width;
  Signedness signedness;
};
constexpr IntegerCode kIntegerCodes[] = {
    {31, 2, Signedness::kSignless},  {10, 4, Signedness::kSignless},
    {11, 8, Signedness::kSignless},  {12, 16, Signedness::kSignless},
    {13, 32, Signedness::kSignless}, {14, 64, Signedness::kSignless},
    {32, 2, Signedness::kUnsigned},  {15, 4, Signedness::kUnsigned},
    {16, 8, Signedness::kUnsigned},  {17, 16, Signedness::kUnsigned},
    {18, 32, Signedness::kUnsigned}, {19, 64, Signedness::kUnsigned},
};

}  // namespace

StatusOr<Attribute> ReadVhloAttribute(BytecodeTables& tables, ByteCursor& cursor) {
  Context& context = tables.context();
  ASSIGN_OR_RETURN(const uint64_t code, cursor.TakeNumber());
  switch (code) {
    case kArray: {
      ASSIGN_OR_RETURN(const std::vector<Attribute> items, tables.TakeAttributes(cursor));
      return context.Array(items);
    }
    case kBoolean: {
      ASSIGN_OR_RETURN(const uint64_t value, cursor.TakeNumber());
      if (value > 1) return cursor.Error("a boolean is neither 0 nor 1");
      return context.Bool(value == 1);
    }
    case kComparisonDirection:
      return ReadEnum(tables, cursor, "stablehlo.comparison_direction");
    case kComparisonType:
      return ReadEnum(tables, cursor, "stablehlo.comparison_type");
    case kCustomCallApiVersion: {
      ASSIGN_OR_RETURN(const uint64_t version, cursor.TakeNumber());
      if (version > 4) {
        return tables.NotUnderstood(cursor, StrCat("custom call API version ", version));
      }
      return context.Integer(context.IntegerType(32), static_cast<int64_t>(version));
    }
    case kDictionary:
      return ReadDictionary(tables, cursor);
    case kFftType:
      return ReadEnum(tables, cursor, "stablehlo.fft_type");
    case kFloat:
    case kInteger:
      return ReadTypedNumber(tables, cursor);
    case kOutputOperandAlias:
      return ReadStruct(tables, cursor, "stablehlo.output_operand_alias");
    case kPrecision:
      return ReadEnum(tables, cursor, "stablehlo.precision");
    case kRngAlgorithm:
      return ReadEnum(tables, cursor, "stablehlo.rng_algorithm");
    case kRngDistribution:
      return ReadEnum(tables, cursor, "stablehlo.rng_distribution");
    case kString: {
      ASSIGN_OR_RETURN(const std::string_view text, tables.TakeString(cursor));
      return context.String(text);
    }
    case kTensor:
      return ReadDenseElements(tables, cursor);
    case kTranspose:
      return ReadEnum(tables, cursor, "stablehlo.transpose");
    case kType: {
      ASSIGN_OR_RETURN(const Type type, tables.TakeType(cursor));
      return context.TypeAttribute(type);
    }
    case kTypeExtensions:
      return ReadStruct(tables, cursor, "stablehlo.bounds");
    case kResultAccuracyMode:
      return ReadEnum(tables, cursor, "stablehlo.result_accuracy_mode");
    case kResultAccuracy:
      return ReadStruct(tables, cursor, "stablehlo.result_accuracy");
    case kSubAxisInfo:
      return ReadSubAxis(tables, cursor);
    case kAxisRef: {
      ASSIGN_OR_RETURN(const Attribute name, tables.TakeAttribute(cursor));
      ASSIGN_OR_RETURN(const uint64_t has_sub_axis, cursor.TakeNumber());
      Attribute sub_axis;
      if (has_sub_axis != 0) {
        ASSIGN_OR_RETURN(sub_axis, tables.TakeAttribute(cursor));
      }
      return MakeAxisRef(tables, name, sub_axis, cursor);
    }
    case kReplicaGroupMeshAxes: {
      ASSIGN_OR_RETURN(Attribute mesh, tables.TakeAttribute(cursor));
      ASSIGN_OR_RETURN(const Attribute axes, tables.TakeAttribute(cursor));
      // VHLO has no symbols: a name stands for one.
      if (mesh.Is(AttributeKind::kString)) mesh = context.Symbol(mesh.text());
      return MakeReplicaGroupMeshAxes(tables, mesh, axes, cursor);
    }
    case kMeshAxis: {
      ASSIGN_OR_RETURN(const Attribute name, tables.TakeAttribute(cursor));
      return ReadMeshAxis(tables, name, cursor);
    }
    case kMesh: {
      ASSIGN_OR_RETURN(const Attribute axes, tables.TakeAttribute(cursor));
      ASSIGN_OR_RETURN(const Attribute device_ids, tables.TakeOptionalAttribute(cursor));
      return MakeMesh(tables, axes, device_ids, cursor);
    }
    default:
      return tables.NotUnderstood(cursor, StrCat("a VHLO attribute of code ", code));
  }
}

StatusOr<Type> ReadVhloType(BytecodeTables& tables, ByteCursor& cursor) {
  Context& context = tables.context();
  ASSIGN_OR_RETURN(const uint64_t code, cursor.TakeNumber());
  for (const FloatCode& row : kFloatCodes) {
    if (row.code == code) return context.FloatType(row.kind);
  }
  for (const IntegerCode& row : kIntegerCodes) {
    if (row.code == code) return context.IntegerType(row.width, row.signedness);
  }
  switch (code) {
    case kBooleanType:
      return context.IntegerType(1);
    case kComplexType:
      return ReadComplexType(tables, cursor);
    case kFunctionType:
      return ReadFunctionType(tables, cursor);
    case kIndexType:
      return context.IndexType();
    case kTensorType:
    case kTensorTypeWithEncoding:
      return ReadTensorType(tables, cursor, code == kTensorTypeWithEncoding);
    case kTokenType:
      return context.TokenType();
    case kTupleType:
      return ReadTupleType(tables, cursor);
    case kQuantizedType:
      return ReadQuantized(tables, cursor, /*per_axis=*/false);
    case kQuantizedPerAxisType:
      return ReadQuantized(tables, cursor, /*per_axis=*/true);
    case kUnrankedTensorType:
      return ReadUnrankedTensorType(tables, cursor);
    case kWitnessType:
      return context.WitnessType();
    case kNoneType:
      return context.NoneType();
    case kBufferType: {
      ASSIGN_OR_RETURN(const std::vector<int64_t> shape, tables.TakeShape(cursor));
      ASSIGN_OR_RETURN(const Type element, tables.TakeElementType(cursor));
      return context.MemrefType(shape, element);
    }
    case kFutureType: {
      ASSIGN_OR_RETURN(const std::vector<Type> members, tables.TakeTypes(cursor));
      return context.FutureType(members);
    }
    default:
      return tables.NotUnderstood(cursor, StrCat("a VHLO type of code ", code));
  }
}

}  // namespace plimsoll
