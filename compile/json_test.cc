#include "compile/json.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/context.h"

namespace plimsoll {
namespace {

TEST(JsonTest, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(ToUtf8("a\xC3\xA4"), "a\xC3\xA4");
  EXPECT_EQ(ToUtf8("a\xC3"), "a\xEF\xBF\xBD");
  EXPECT_EQ(ToUtf8("\xFF\xFEz"), "\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(ToUtf8(""), "");
}

TEST(JsonTest, GivesTypesTheirShape) {
  Context context;
  const Type type = context.TensorType({2, kDynamic}, context.FloatType(FloatKind::kF32));
  EXPECT_EQ(
      ToJson(type).dump(),
      R"({"kind":"tensor","text":"tensor<2x?xf32>","shape":[2,null],"element_type":"f32","bytes":null})");
}

TEST(JsonTest, GivesAttributesAsJsonsOwnKinds) {
  Context context;
  const Type f64 = context.FloatType(FloatKind::kF64);
  EXPECT_EQ(ToJson(context.Unit()), true);
  EXPECT_EQ(ToJson(context.Bool(false)), false);
  EXPECT_EQ(ToJson(context.I64(-3)), -3);
  EXPECT_EQ(ToJson(context.Integer(context.IntegerType(64, Signedness::kUnsigned), -1)),
            18446744073709551615U);
  EXPECT_EQ(ToJson(context.Float(f64, 0x3FF8000000000000)), 1.5);
  EXPECT_EQ(ToJson(context.Float(f64, 0x7FF0000000000000)), "0x7FF0000000000000 : f64");
  EXPECT_EQ(ToJson(context.String("x")), "x");
  EXPECT_EQ(ToJson(context.I64Array({1, 2})), Json({1, 2}));
  EXPECT_EQ(ToJson(context.Enum("stablehlo.precision", "HIGH")), "HIGH");
  EXPECT_EQ(ToJson(context.Dictionary(NamedAttribute("a", context.Array(context.I64(1))))).dump(),
            R"({"a":[1]})");
  EXPECT_EQ(ToJson(context.Symbol("f")), "@f");
}

}  // namespace
}  // namespace plimsoll
