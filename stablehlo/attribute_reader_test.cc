#include "stablehlo/attribute_reader.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

// The attribute read and written again, or the error.
std::string Attr(std::string_view text) {
  Context context;
  const StatusOr<Attribute> attribute = ReadAttributeText(context, text, "a");
  return attribute.ok() ? attribute->ToString() : attribute.status().ToString();
}

std::string TypeOf(std::string_view text) {
  Context context;
  const StatusOr<Type> type = ReadTypeText(context, text, "t");
  return type.ok() ? type->ToString() : type.status().ToString();
}

class SameAttributeTest : public ::testing::TestWithParam<const char*> {};
TEST_P(SameAttributeTest, IsWrittenAsItWasRead) { EXPECT_EQ(Attr(GetParam()), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    All, SameAttributeTest,
    ::testing::Values(
        "unit", "true", "false", "1 : i64", "-1 : i8", "255 : ui8", "18446744073709551615 : ui64",
        "-9223372036854775808 : i64", "7 : index", "1.5 : f32", "-0.0 : f64", "0x7FC00001 : f32",
        "0x7F : f8E4M3FN", "1.0e+10 : f64", "\"a\\22b\\\\c\\0A\"", "\"typed\" : !x.string", "f32",
        "tensor<2x?xf32>", "[1 : i64, \"a\", []]", "{}", "{a = 1 : i64, \"b c\" = \"d\", e}",
        "@main", "@\"odd name\"", "@a::@b::@\"c d\"", "array<i64>", "array<i64: 1, -2>",
        "array<i1: true, false>", "array<f32: 1.0, 0x7F800000>", "dense<> : tensor<0xf32>",
        "dense<1> : tensor<2x3xi32>", "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>",
        "dense<[true, false]> : tensor<2xi1>", "dense<(1.0,-2.0)> : tensor<complex<f32>>",
        "dense<[-8, 7]> : tensor<2xi4>", "dense<[255, 0]> : tensor<2xui8>",
        "dense<[1.0, 0x7FC0]> : tensor<2xbf16>", "dense_resource<key> : tensor<4xf32>",
        "dense_resource<\"odd key\"> : tensor<4xf32>", "#stablehlo<precision HIGHEST>",
        "#stablehlo.result_accuracy_mode<TOLERANCE>",
        "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>",
        "#stablehlo.gather<offset_dims = [1], index_vector_dim = 1>", "#stablehlo.scatter<>",
        "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>",
        "#stablehlo.conv<[f, b]x[o, i]->[b, f]>", "#stablehlo.channel_handle<handle = 1, type = 0>",
        "#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, "
        "operand_tuple_indices = [1]>",
        "#stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, "
        "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
        "num_primitive_operations = 1, allow_imprecise_accumulation = false>",
        "#stablehlo.result_accuracy<atol = 1.0e-05, rtol = 0.0, ulps = 2, mode = "
        "#stablehlo.result_accuracy_mode<TOLERANCE>>",
        "#stablehlo.bounds<4, ?>", "#stablehlo.newer<a = [1], b -> {c}>", "#stablehlo<newer X>",
        "#sdy.sharding<@mesh, [{\"x\"}, {?}]>", "#sdy<manual_axes{\"x\"}>", "#x.bare",
        "affine_map<(d0, d1) -> (d1)>", "affine_set<(d0) : (d0 - 3 >= 0)>", "distinct[0]<unit>",
        "123456789012345678901 : i128", "dense<(1, 2)> : tensor<complex<i128>>", "loc(unknown)",
        "loc(\"f.py\":1:2)", "loc(\"f.py\":1:2 to :9)", "loc(\"f.py\":1:2 to 3:4)",
        "loc(\"name\"(\"f.py\":1:2))", "loc(callsite(\"a\" at \"b\"))",
        "loc(fused<\"m\">[\"a\", unknown])"));

class SameTypeTest : public ::testing::TestWithParam<const char*> {};
TEST_P(SameTypeTest, IsWrittenAsItWasRead) { EXPECT_EQ(TypeOf(GetParam()), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    All, SameTypeTest,
    ::testing::Values("i1", "ui4", "si8", "i32", "f4E2M1FN", "f8E8M0FNU", "bf16", "tf32", "f128",
                      "index", "none", "complex<f64>", "tensor<f32>", "tensor<0x0xi32>",
                      "tensor<2x?x3xcomplex<f32>>", "tensor<?xf32, #stablehlo.bounds<4>>",
                      "tensor<*xf32>", "tensor<2x!x.y<z>>", "memref<2x3xf32>",
                      "memref<2xf32, strided<[1]>>", "tuple<>", "tuple<f32, tuple<i1>>",
                      "!stablehlo.token", "!stablehlo.future<tensor<2xf32>>", "!shape.witness",
                      "!quant.uniform<i8:f32, 0.5:-3>", "!quant.uniform<u4<1:7>:f32, 2.0>",
                      "tensor<2x!quant.uniform<i8:f32:0, {0.5:1, 0.25}>>", "!other.type<a, \">\">",
                      "vector<4x[2]xf32>", "() -> ()", "(f32, i1) -> (f32, f32)",
                      "(f32) -> ((f32) -> f32)"));

TEST(AttributeReaderTest, SortsDictionaries) { EXPECT_EQ(Attr("{b = unit, a}"), "{a, b}"); }

TEST(AttributeReaderTest, NumbersWithoutTypesAreOf64Bits) {
  EXPECT_EQ(Attr("5"), "5 : i64");
  EXPECT_EQ(Attr("5.0"), "5.0 : f64");
  EXPECT_EQ(Attr("0x10"), "16 : i64");
}

TEST(AttributeReaderTest, ReadsTheLongFormOfBounds) {
  EXPECT_EQ(Attr("#stablehlo.type_extensions<bounds = [4, ?]>"), "#stablehlo.bounds<4, ?>");
}

TEST(AttributeReaderTest, ReadsBytesOfConstants) {
  EXPECT_EQ(Attr("dense<\"0x0000803F00000040\"> : tensor<2xf32>"),
            "dense<[1.0, 2.0]> : tensor<2xf32>");
  EXPECT_EQ(Attr("dense<\"0x01\"> : tensor<9xi1>"), "dense<true> : tensor<9xi1>");
}

TEST(AttributeReaderTest, WritesLongConstantsAsBytes) {
  std::string list;
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    list += i == 0 ? "3" : ", 3";
    bytes += "03";
  }
  EXPECT_EQ(Attr("dense<[4" + list.substr(1) + "]> : tensor<40xi8>"),
            "dense<\"0x04" + bytes.substr(2) + "\"> : tensor<40xi8>");
}

TEST(AttributeReaderTest, RoundsDecimalsLikeMlir) {
  EXPECT_EQ(Attr("0.1 : f32"), "0.1 : f32");
  EXPECT_EQ(Attr("1.0e+400 : f64"), "0x7FF0000000000000 : f64");
  EXPECT_EQ(Attr("1.0e-400 : f64"), "0.0 : f64");
  EXPECT_EQ(Attr("65520.0 : f16"), "0x7C00 : f16");
}

struct Refusal {
  const char* text;
  const char* error;
};
class RefusalTest : public ::testing::TestWithParam<Refusal> {};
TEST_P(RefusalTest, SaysWhereAndWhy) {
  EXPECT_THAT(Attr(GetParam().text), HasSubstr(GetParam().error));
}
INSTANTIATE_TEST_SUITE_P(
    All, RefusalTest,
    ::testing::Values(
        Refusal{"", "a:1:1: expected a type, found the end"},
        Refusal{"{a = 1, a = 2}", "a:1:10: the attribute `a` is given twice"},
        Refusal{"{a = 1,\n b = $}", "a:2:6: expected a type, found `$}`"},
        Refusal{"\"abc", "a:1:1: this string has no end"}, Refusal{"\"a\\qb\"", "escape"},
        Refusal{"256 : i8", "`256` does not fit in i8"}, Refusal{"-1 : ui8", "does not fit"},
        Refusal{"1.5 : i32", "`1.5` is not a number of type i32"},
        Refusal{"1 : none", "a number cannot have the type none"},
        Refusal{"0x123456789 : f32", "are not the bits of a f32"},
        Refusal{"99999999999999999999", "is not a number of type i64"},
        Refusal{"dense<[1, 2]> : tensor<3xi32>", "expected `,`"},
        Refusal{"dense<[1, 2, 3]> : tensor<2xi32>", "expected `]`"},
        Refusal{"dense<\"0x01\"> : tensor<2xi32>", "has 1 bytes, expected 2 times 4, or once 4"},
        Refusal{"dense<\"0x0Q\"> : tensor<2xi8>", "hexadecimal digits"},
        Refusal{"dense<> : tensor<2xi32>", "expected the constant's elements"},
        Refusal{"tensor<2x3>", "`x`"},
        Refusal{"tensor<2xtensor<f32>>", "tensors hold numbers, not tensor<f32>"},
        Refusal{"i0", "`i0` is not a type"}, Refusal{"i99999999", "integers cannot be this wide"},
        Refusal{"#x", "a:1:1: the alias `#x` is not defined"},
        Refusal{"!x", "a:1:1: the alias `!x` is not defined"},
        Refusal{"#x.y<[#z]>", "a:1:7: the alias `#z` is not defined"},
        Refusal{"#x.y<(]>", "the brackets do not match"},
        Refusal{"#x.y<(", "this bracket is never closed"},
        Refusal{
            "#stablehlo.dot<lhs_contracting_dimensions = [1], lhs_contracting_dimensions = [1]>",
            "`lhs_contracting_dimensions` is given twice"},
        Refusal{"#stablehlo.conv<[b, 1, f]x[0, i, o]->[b, 0, f]>", "numbered from 0 without gaps"},
        Refusal{"loc(\"f\":4294967296:1)", "this line number is too large"},
        Refusal{"1 2", "expected the end, found `2`"}));

TEST(AttributeReaderTest, BoundsTheDepth) {
  const std::string deep = std::string(2000, '[') + std::string(2000, ']');
  EXPECT_THAT(Attr(deep), HasSubstr("PL104: "));
  std::string type;
  for (int i = 0; i < 2000; ++i) type += "tuple<";
  EXPECT_THAT(TypeOf(type), HasSubstr("PL104: "));
}

}  // namespace
}  // namespace plimsoll
