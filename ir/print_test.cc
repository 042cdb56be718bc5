#include "ir/print.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/context.h"
#include "ir/print_parts.h"
#include "ir/testing.h"

namespace plimsoll {
namespace {

class PrintTest : public ::testing::Test {
 protected:
  Type T(std::string_view text) { return testing::ParseType(context_, text); }
  Type E(std::string_view text) { return testing::ParseElement(context_, text); }

  // A number of that float type as text.
  std::string Float(std::string_view element, uint64_t bits) {
    std::string out;
    PrintFloat(E(element), bits, out);
    return out;
  }
  std::string F32(float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return Float("f32", bits);
  }
  std::string F64(double value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return Float("f64", bits);
  }

  template <typename Number>
  std::string Dense(std::string_view type, const std::vector<Number>& numbers) {
    return context_
        .DenseElements(T(type), {reinterpret_cast<const char*>(numbers.data()),
                                 numbers.size() * sizeof(Number)})
        .ToString();
  }
  std::string DenseBytes(std::string_view type, const std::vector<char>& bytes) {
    return Dense<char>(type, bytes);
  }

  std::string String(std::string_view text) {
    std::string out;
    PrintString(text, out);
    return out;
  }
  std::string Symbol(std::string_view name) {
    std::string out;
    PrintSymbol(name, out);
    return out;
  }

  Context context_;
};

// Types

TEST_F(PrintTest, ScalarTypes) {
  EXPECT_EQ(E("i1").ToString(), "i1");
  EXPECT_EQ(E("ui64").ToString(), "ui64");
  EXPECT_EQ(context_.IntegerType(8, Signedness::kSigned).ToString(), "si8");
  EXPECT_EQ(E("index").ToString(), "index");
  EXPECT_EQ(E("complex<f64>").ToString(), "complex<f64>");
  EXPECT_EQ(context_.NoneType().ToString(), "none");
}

TEST_F(PrintTest, EveryFloatTypeByItsName) {
  for (const std::string_view name :
       {"f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ",
        "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "bf16", "f16", "tf32", "f32", "f64",
        "f80", "f128"}) {
    EXPECT_EQ(E(name).ToString(), name);
  }
}

TEST_F(PrintTest, TensorTypes) {
  EXPECT_EQ(T("f32").ToString(), "tensor<f32>");
  EXPECT_EQ(T("2x?x0xi8").ToString(), "tensor<2x?x0xi8>");
  EXPECT_EQ(T("<=4x?xf32").ToString(), "tensor<?x?xf32, #stablehlo.bounds<4, ?>>");
  EXPECT_EQ(T("*xf32").ToString(), "tensor<*xf32>");
  EXPECT_EQ(context_.MemrefType({2, kDynamic}, E("f32")).ToString(), "memref<2x?xf32>");
  EXPECT_EQ(context_.TensorType({2}, E("f32"), context_.OpaqueAttribute("#x.y<z>")).ToString(),
            "tensor<2xf32, #x.y<z>>");
}

TEST_F(PrintTest, GroupsOfTypes) {
  EXPECT_EQ(context_.TupleType({}).ToString(), "tuple<>");
  EXPECT_EQ(context_.TupleType({T("2xf32"), context_.TokenType()}).ToString(),
            "tuple<tensor<2xf32>, !stablehlo.token>");
  EXPECT_EQ(context_.FutureType({T("f32")}).ToString(), "!stablehlo.future<tensor<f32>>");
  EXPECT_EQ(context_.WitnessType().ToString(), "!shape.witness");
  EXPECT_EQ(context_.OpaqueType("!x.y<z>").ToString(), "!x.y<z>");
  EXPECT_EQ(Type().ToString(), "<<null type>>");
}

TEST_F(PrintTest, FunctionTypes) {
  const Type none = context_.FunctionType({}, {});
  EXPECT_EQ(none.ToString(), "() -> ()");
  EXPECT_EQ(context_.FunctionType({E("i1"), E("i2")}, {E("i3")}).ToString(), "(i1, i2) -> i3");
  EXPECT_EQ(context_.FunctionType({}, {E("i1"), E("i2")}).ToString(), "() -> (i1, i2)");
  EXPECT_EQ(context_.FunctionType({}, {none}).ToString(), "() -> (() -> ())");
}

TEST_F(PrintTest, QuantizedTypes) {
  EXPECT_EQ(E("q8").ToString(), "!quant.uniform<i8:f32, 0.5>");
  EXPECT_EQ(E("q8:1").ToString(), "!quant.uniform<i8:f32:1, {0.5, 0.25}>");
}

TEST_F(PrintTest, QuantizedTypesWithZeroPointAndRange) {
  const double scales[] = {0.1};
  const int64_t zero_points[] = {-3};
  QuantizedData data;
  data.storage = E("i8");
  data.flags = 1;
  data.storage_min = -127;
  data.storage_max = 127;
  data.scales = scales;
  data.zero_points = zero_points;
  EXPECT_EQ(context_.QuantizedType(E("f32"), data).ToString(),
            "!quant.uniform<i8<-127:127>:f32, 0.1:-3>");
  data.flags = 0;
  data.storage_min = 0;
  data.storage_max = 255;
  EXPECT_EQ(context_.QuantizedType(E("f32"), data).ToString(), "!quant.uniform<u8:f32, 0.1:-3>");
}

TEST_F(PrintTest, QuantizedTypesOfAbsurdWidthDoNotCrash) {
  const double scales[] = {0.5};
  QuantizedData data;
  data.storage = E("i4000");
  data.scales = scales;
  EXPECT_EQ(context_.QuantizedType(E("f32"), data).ToString(),
            "!quant.uniform<u4000<0:0>:f32, 0.5>");
}

// Floats

TEST_F(PrintTest, FloatsAreShortest) {
  EXPECT_EQ(F32(1.0F), "1.0");
  EXPECT_EQ(F32(0.1F), "0.1");
  EXPECT_EQ(F32(-2.5F), "-2.5");
  EXPECT_EQ(F32(3.0e38F), "3.0e+38");
  EXPECT_EQ(F32(16777216.0F), "16777216.0");
  EXPECT_EQ(F64(0.1), "0.1");
  EXPECT_EQ(F64(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(F64(1e22), "1.0e+22");
}

TEST_F(PrintTest, ZerosKeepTheirSign) {
  EXPECT_EQ(F32(0.0F), "0.0");
  EXPECT_EQ(F32(-0.0F), "-0.0");
  EXPECT_EQ(F64(-0.0), "-0.0");
  EXPECT_EQ(Float("bf16", 0x8000), "-0.0");
}

TEST_F(PrintTest, InfinitiesAndNansAreBits) {
  EXPECT_EQ(F32(std::numeric_limits<float>::infinity()), "0x7F800000");
  EXPECT_EQ(F64(-std::numeric_limits<double>::infinity()), "0xFFF0000000000000");
  EXPECT_EQ(Float("f32", 0x7FC00000), "0x7FC00000");
  EXPECT_EQ(Float("f32", 0xFFC01234), "0xFFC01234");
  EXPECT_EQ(Float("f32", 0x7F800001), "0x7F800001");
  EXPECT_EQ(Float("f16", 0x7E00), "0x7E00");
  EXPECT_EQ(Float("bf16", 0x7F80), "0x7F80");
  EXPECT_EQ(Float("f8E4M3FN", 0x7F), "0x7F");
  EXPECT_EQ(Float("f8E4M3FNUZ", 0x80), "0x80");
  EXPECT_EQ(Float("f8E8M0FNU", 0xFF), "0xFF");
}

TEST_F(PrintTest, SubnormalsReadBack) {
  EXPECT_EQ(F32(std::numeric_limits<float>::denorm_min()), "1.0e-45");
  EXPECT_EQ(F64(std::numeric_limits<double>::denorm_min()), "5.0e-324");
  EXPECT_EQ(Float("f16", 0x0001), "5.9604645e-08");
}

TEST_F(PrintTest, SmallFloats) {
  EXPECT_EQ(Float("bf16", 0x3F80), "1.0");
  EXPECT_EQ(Float("f16", 0x3555), "0.33325195");
  EXPECT_EQ(Float("f8E5M2", 0x3C), "1.0");
  EXPECT_EQ(Float("f8E4M3FN", 0x7E), "448.0");
  EXPECT_EQ(Float("f4E2M1FN", 0x7), "6.0");
  EXPECT_EQ(Float("f6E2M3FN", 0x1F), "7.5");
  EXPECT_EQ(Float("f8E8M0FNU", 0x7F), "1.0");
  EXPECT_EQ(Float("tf32", 0x1FC00), "1.0");
}

// All numbers of a type must read back to their bits, as MLIR reads them: as doubles, rounded
// again.
TEST_F(PrintTest, EveryNumberOfSixteenBitsReadsBack) {
  for (const std::string_view name : {"f16", "bf16", "f8E4M3", "f8E5M2FNUZ", "f6E3M2FN"}) {
    const llvm::fltSemantics& semantics = FloatSemantics(*FloatKindFromName(name));
    const unsigned width = llvm::APFloat::getSizeInBits(semantics);
    for (uint64_t bits = 0; bits < (uint64_t{1} << width); ++bits) {
      const std::string text = Float(name, bits);
      if (text.starts_with("0x")) {
        ASSERT_EQ(std::stoull(text, nullptr, 16), bits) << name;
        continue;
      }
      llvm::APFloat number(std::stod(text));
      bool loses_information = false;
      number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses_information);
      ASSERT_EQ(number.bitcastToAPInt().getZExtValue(), bits) << name << " " << text;
    }
  }
}

// Attributes

TEST_F(PrintTest, Numbers) {
  EXPECT_EQ(context_.I64(-3).ToString(), "-3 : i64");
  EXPECT_EQ(context_.Bool(true).ToString(), "true");
  EXPECT_EQ(context_.Bool(false).ToString(), "false");
  EXPECT_EQ(context_.Integer(E("ui64"), -1).ToString(), "18446744073709551615 : ui64");
  EXPECT_EQ(context_.Integer(E("index"), 7).ToString(), "7 : index");
  EXPECT_EQ(context_.Float(E("f32"), 0x3F000000).ToString(), "0.5 : f32");
}

TEST_F(PrintTest, Strings) {
  EXPECT_EQ(String("plain text"), "\"plain text\"");
  EXPECT_EQ(String("a\"b\\c"), "\"a\\22b\\\\c\"");
  EXPECT_EQ(String("line\nend\t"), "\"line\\0Aend\\09\"");
  EXPECT_EQ(String(std::string_view("\0\xFF", 2)), "\"\\00\\FF\"");
  EXPECT_EQ(String("\xC3\xA9"), "\"\\C3\\A9\"");
  EXPECT_EQ(context_.String("x", E("i8")).ToString(), "\"x\" : i8");
}

TEST_F(PrintTest, Symbols) {
  EXPECT_EQ(Symbol("main"), "@main");
  EXPECT_EQ(Symbol("_a.b$1"), "@_a.b$1");
  EXPECT_EQ(Symbol("1a"), "@\"1a\"");
  EXPECT_EQ(Symbol("a b"), "@\"a b\"");
  EXPECT_EQ(context_.Symbol("a", {context_.Symbol("b c")}).ToString(), "@a::@\"b c\"");
}

TEST_F(PrintTest, GroupsOfAttributes) {
  EXPECT_EQ(context_.Unit().ToString(), "unit");
  EXPECT_EQ(context_.TypeAttribute(T("2xf32")).ToString(), "tensor<2xf32>");
  EXPECT_EQ(context_.Array({context_.I64(1), context_.Unit()}).ToString(), "[1 : i64, unit]");
  EXPECT_EQ(context_.Array({}).ToString(), "[]");
  EXPECT_EQ(
      context_
          .Dictionary(
              {{"b", context_.Unit()}, {"a.b", context_.I64(1)}, {"x y", context_.Bool(true)}})
          .ToString(),
      "{a.b = 1 : i64, b, \"x y\" = true}");
  EXPECT_EQ(context_.Dictionary({}).ToString(), "{}");
  EXPECT_EQ(context_.OpaqueAttribute("#x.y<1>").ToString(), "#x.y<1>");
  EXPECT_EQ(Attribute().ToString(), "<<null attribute>>");
}

TEST_F(PrintTest, Lists) {
  EXPECT_EQ(context_.I64Array({1, -2}).ToString(), "array<i64: 1, -2>");
  EXPECT_EQ(context_.I64Array({}).ToString(), "array<i64>");
  EXPECT_EQ(context_.DenseArray(E("i1"), std::vector<char>{1, 0}).ToString(),
            "array<i1: true, false>");
  EXPECT_EQ(context_.DenseArray(E("i8"), std::vector<char>{-1}).ToString(), "array<i8: -1>");
}

TEST_F(PrintTest, DenseIntegers) {
  EXPECT_EQ(Dense<int32_t>("2x2xi32", {1, -2, 3, 4}), "dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>");
  EXPECT_EQ(Dense<int32_t>("i32", {7}), "dense<7> : tensor<i32>");
  EXPECT_EQ(Dense<int32_t>("5xi32", {7}), "dense<7> : tensor<5xi32>");
  EXPECT_EQ(Dense<uint64_t>("2xui64", {~uint64_t{0}, 1}),
            "dense<[18446744073709551615, 1]> : tensor<2xui64>");
  EXPECT_EQ(DenseBytes("2xi1", {1, 0}), "dense<[true, false]> : tensor<2xi1>");
  EXPECT_EQ(DenseBytes("2xi4", {15, 7}), "dense<[-1, 7]> : tensor<2xi4>");
  EXPECT_EQ(DenseBytes("2xui4", {15, 7}), "dense<[15, 7]> : tensor<2xui4>");
}

TEST_F(PrintTest, DenseFloats) {
  EXPECT_EQ(Dense<float>("2xf32", {0.5F, -0.0F}), "dense<[0.5, -0.0]> : tensor<2xf32>");
  EXPECT_EQ(Dense<float>("2xcomplex<f32>", {1, 2, 3, -4}),
            "dense<[(1.0,2.0), (3.0,-4.0)]> : tensor<2xcomplex<f32>>");
  EXPECT_EQ(Dense<double>("2xcomplex<f64>", {1, 0}), "dense<(1.0,0.0)> : tensor<2xcomplex<f64>>");
}

TEST_F(PrintTest, EmptyConstantsHoldNothing) {
  EXPECT_EQ(DenseBytes("0xf32", {}), "dense<> : tensor<0xf32>");
  EXPECT_EQ(DenseBytes("2x0x3xi1", {}), "dense<> : tensor<2x0x3xi1>");
}

TEST_F(PrintTest, LongConstantsAreHexadecimal) {
  std::vector<char> bytes(kLongestElementList, 1);
  EXPECT_EQ(DenseBytes("32xi8", bytes).substr(0, 10), "dense<[1, ");
  bytes.push_back(-85);
  const std::string text = DenseBytes("33xi8", bytes);
  EXPECT_EQ(text.substr(0, 13), "dense<\"0x0101");
  EXPECT_EQ(text.substr(text.size() - 22), "01AB\"> : tensor<33xi8>");
}

TEST_F(PrintTest, NumbersTooWideForDigitsAreHexadecimal) {
  EXPECT_EQ(DenseBytes("2xi128", std::vector<char>(32, 1)).substr(0, 12), "dense<\"0x010");
}

TEST_F(PrintTest, LongConstantsOfBooleansAreWords) {
  std::string words = "true";
  for (int i = 1; i < 40; ++i) words += i % 2 == 0 ? ", true" : ", false";
  std::vector<char> bytes(40, 0);
  for (size_t i = 0; i < bytes.size(); i += 2) bytes[i] = 1;
  EXPECT_EQ(DenseBytes("40xi1", bytes), "dense<[" + words + "]> : tensor<40xi1>");
}

TEST_F(PrintTest, OneElementCanStandForNone) {
  EXPECT_EQ(DenseBytes("4x0xi8", {7}), "dense<7> : tensor<4x0xi8>");
  EXPECT_EQ(DenseBytes("4x0xi8", {}), "dense<> : tensor<4x0xi8>");
}

TEST_F(PrintTest, ConstantsThatCannotBeAreNotReadOutside) {
  EXPECT_EQ(DenseBytes("4294967296x4294967296xi8", {1, 2}),
            "dense<\"0x0102\"> : tensor<4294967296x4294967296xi8>");
  EXPECT_EQ(DenseBytes("2xi0", {}), "dense<> : tensor<2xi0>");
}

TEST_F(PrintTest, Resources) {
  EXPECT_EQ(context_.DenseResource(T("2xf32"), "weights_1").ToString(),
            "dense_resource<weights_1> : tensor<2xf32>");
  EXPECT_EQ(context_.DenseResource(T("2xf32"), "a b").ToString(),
            "dense_resource<\"a b\"> : tensor<2xf32>");
}

TEST_F(PrintTest, Enumerators) {
  EXPECT_EQ(context_.Enum("stablehlo.precision", "HIGHEST").ToString(),
            "#stablehlo<precision HIGHEST>");
  EXPECT_EQ(context_.Enum("stablehlo.result_accuracy_mode", "DEFAULT").ToString(),
            "#stablehlo.result_accuracy_mode<DEFAULT>");
}

TEST_F(PrintTest, StructsLeaveOutDefaults) {
  const auto list = [&](std::initializer_list<int64_t> numbers) {
    return context_.I64Array(std::vector<int64_t>(numbers));
  };
  EXPECT_EQ(
      context_
          .Struct("stablehlo.dot", {{"lhs_batching_dimensions", list({})},
                                    {"rhs_batching_dimensions", list({})},
                                    {"lhs_contracting_dimensions", list({1, 2})},
                                    {"rhs_contracting_dimensions", list({0})}})
          .ToString(),
      "#stablehlo.dot<lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [0]>");
  EXPECT_EQ(context_
                .Struct("stablehlo.channel_handle",
                        {{"handle", context_.I64(0)}, {"type", context_.I64(1)}})
                .ToString(),
            "#stablehlo.channel_handle<handle = 0, type = 1>");
}

TEST_F(PrintTest, ConvolutionNumbers) {
  const auto number = [&](int64_t value) { return context_.I64(value); };
  EXPECT_EQ(
      context_
          .Struct("stablehlo.conv", {{"input_batch_dimension", number(0)},
                                     {"input_feature_dimension", number(3)},
                                     {"input_spatial_dimensions", context_.I64Array({1, 2})},
                                     {"kernel_input_feature_dimension", number(2)},
                                     {"kernel_output_feature_dimension", number(3)},
                                     {"kernel_spatial_dimensions", context_.I64Array({1, 0})},
                                     {"output_batch_dimension", number(3)},
                                     {"output_feature_dimension", number(2)},
                                     {"output_spatial_dimensions", context_.I64Array({0, 1})}})
          .ToString(),
      "#stablehlo.conv<[b, 0, 1, f]x[1, 0, i, o]->[0, 1, f, b]>");
}

TEST_F(PrintTest, StructsWithOtherFields) {
  const auto type = [&](std::string_view name) { return context_.TypeAttribute(E(name)); };
  const Attribute one = context_.I64(1);
  EXPECT_EQ(context_
                .Struct("stablehlo.dot_algorithm",
                        {{"lhs_precision_type", type("bf16")},
                         {"rhs_precision_type", type("bf16")},
                         {"accumulation_type", type("f32")},
                         {"lhs_component_count", one},
                         {"rhs_component_count", one},
                         {"num_primitive_operations", one},
                         {"allow_imprecise_accumulation", context_.Bool(false)}})
                .ToString(),
            "#stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, "
            "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
            "num_primitive_operations = 1, allow_imprecise_accumulation = false>");
  EXPECT_EQ(context_
                .Struct("stablehlo.result_accuracy",
                        {{"atol", context_.Float(E("f64"), 0)},
                         {"rtol", context_.Float(E("f64"), 0)},
                         {"ulps", context_.I64(10)},
                         {"mode", context_.Enum("stablehlo.result_accuracy_mode", "TOLERANCE")}})
                .ToString(),
            "#stablehlo.result_accuracy<atol = 0.0, rtol = 0.0, ulps = 10, mode = "
            "#stablehlo.result_accuracy_mode<TOLERANCE>>");
}

TEST_F(PrintTest, StructsWithoutTheirFieldsDoNotCrash) {
  EXPECT_EQ(context_.Struct("stablehlo.bounds", {}).ToString(), "#stablehlo.bounds<<<malformed>>>");
  EXPECT_EQ(context_.Struct("stablehlo.bounds", {{"bounds", context_.Unit()}}).ToString(),
            "#stablehlo.bounds<<<malformed>>>");
  EXPECT_EQ(context_.Struct("stablehlo.unknown", {{"a", context_.Unit()}}).ToString(),
            "#stablehlo.unknown<<<malformed>>>");
}

// Locations

class PrintLocationTest : public PrintTest {
 protected:
  Location File(uint32_t line, uint32_t column) {
    return context_.FileLocation("a.py", line, column, line, column);
  }
};

TEST_F(PrintLocationTest, Unknown) {
  EXPECT_EQ(context_.UnknownLocation().ToString(), "loc(unknown)");
}

TEST_F(PrintLocationTest, Files) {
  EXPECT_EQ(File(3, 5).ToString(), "loc(\"a.py\":3:5)");
  EXPECT_EQ(context_.FileLocation("a.py", 3, 5, 3, 9).ToString(), "loc(\"a.py\":3:5 to :9)");
  EXPECT_EQ(context_.FileLocation("a.py", 3, 5, 4, 1).ToString(), "loc(\"a.py\":3:5 to 4:1)");
  EXPECT_EQ(context_.FileLocation("a\"b.py", 0, 0, 0, 0).ToString(), "loc(\"a\\22b.py\":0:0)");
}

TEST_F(PrintLocationTest, Names) {
  EXPECT_EQ(context_.NameLocation("jit(f)", File(3, 5)).ToString(),
            "loc(\"jit(f)\"(\"a.py\":3:5))");
  EXPECT_EQ(context_.NameLocation("x", context_.UnknownLocation()).ToString(), "loc(\"x\")");
}

TEST_F(PrintLocationTest, Calls) {
  EXPECT_EQ(
      context_.CallSiteLocation(File(1, 2), context_.NameLocation("f", File(3, 4))).ToString(),
      "loc(callsite(\"a.py\":1:2 at \"f\"(\"a.py\":3:4)))");
}

TEST_F(PrintLocationTest, Fusions) {
  EXPECT_EQ(context_.FusedLocation({File(1, 2), File(3, 4)}).ToString(),
            "loc(fused[\"a.py\":1:2, \"a.py\":3:4])");
  EXPECT_EQ(context_.FusedLocation({File(1, 2)}, context_.String("why")).ToString(),
            "loc(fused<\"why\">[\"a.py\":1:2])");
}

TEST_F(PrintLocationTest, AliasesStandForLocations) {
  const Location inner = File(1, 2);
  const Location outer = context_.NameLocation("f", inner);
  LocationAliases aliases;
  aliases[inner.data()] = 3;
  aliases[outer.data()] = 4;
  std::string text;
  PrintLocation(outer, text, &aliases);
  EXPECT_EQ(text, "#loc4");
  text.clear();
  PrintLocation(outer, text, &aliases, /*expand=*/true);
  EXPECT_EQ(text, "\"f\"(#loc3)");
}

TEST_F(PrintLocationTest, MissingLocationIsUnknown) {
  std::string text;
  PrintLocation({}, text, nullptr);
  EXPECT_EQ(text, "unknown");
}

}  // namespace
}  // namespace plimsoll
