#include "ir/dimensions.h"

#include "gtest/gtest.h"
#include "ir/testing.h"

namespace plimsoll {
namespace {

class DimensionsTest : public ::testing::Test {
 protected:
  Type T(std::string_view text) { return testing::ParseType(context_, text); }
  bool Compatible(std::string_view a, std::string_view b) {
    // The order must not matter.
    EXPECT_EQ(AreCompatible(T(a), T(b)), AreCompatible(T(b), T(a)));
    return AreCompatible(T(a), T(b));
  }

  Context context_;
};

TEST_F(DimensionsTest, TensorOfGivesBackWhatDimensionsOfTook) {
  for (const std::string_view text : {"f32", "2x3xf32", "2x?xf32", "<=4x?x3xf32"}) {
    const Type type = T(text);
    EXPECT_EQ(TensorOf(context_, DimensionsOf(type), type.element_type()), type) << text;
  }
}

TEST_F(DimensionsTest, BoundsThatDoNotFitAreNone) {
  const Attribute bounds =
      context_.Struct("stablehlo.bounds", {{"bounds", context_.I64Array({4, 5})}});
  const Type type = context_.TensorType({kDynamic}, context_.IntegerType(8), bounds);
  EXPECT_EQ(DimensionsOf(type)[0], Dimension());
  const Attribute no_list = context_.Struct("stablehlo.bounds", {{"bounds", context_.Unit()}});
  EXPECT_EQ(DimensionsOf(context_.TensorType({kDynamic}, context_.IntegerType(8), no_list))[0],
            Dimension());
}

TEST_F(DimensionsTest, UnknownSizesFitAll) {
  EXPECT_TRUE(Compatible("2x3xf32", "?x3xf32"));
  EXPECT_FALSE(Compatible("2x3xf32", "?x4xf32"));
  EXPECT_FALSE(Compatible("2x3xf32", "?xf32"));
  EXPECT_TRUE(Compatible("4xf32", "<=4xf32"));
  EXPECT_FALSE(Compatible("5xf32", "<=4xf32"));
  EXPECT_TRUE(Compatible("<=3xf32", "<=4xf32"));
  EXPECT_TRUE(Compatible("*xf32", "2xf32"));
  EXPECT_FALSE(Compatible("*xf32", "2xf64"));
}

TEST_F(DimensionsTest, OnlyScalesOfElementsMayDiffer) {
  EXPECT_TRUE(Compatible("2xq8", "2xq8:0"));
  EXPECT_FALSE(Compatible("2xq8", "2xi8"));
  EXPECT_FALSE(Compatible("2xi8", "2xui8"));
}

TEST_F(DimensionsTest, MembersMustBeCompatible) {
  const Type a = context_.TupleType({T("2xf32"), T("token")});
  const Type b = context_.TupleType({T("?xf32"), T("token")});
  const Type c = context_.TupleType({T("?xf32")});
  EXPECT_TRUE(AreCompatible(a, b));
  EXPECT_FALSE(AreCompatible(a, c));
  EXPECT_FALSE(AreCompatible(a, context_.FutureType({T("2xf32"), T("token")})));
  EXPECT_EQ(MostSpecific(context_, a, b), a);
  EXPECT_EQ(LeastSpecific(context_, a, b), b);
}

TEST_F(DimensionsTest, NullTypesAreCompatibleWithNothing) {
  EXPECT_FALSE(AreCompatible(Type(), T("2xf32")));
  EXPECT_EQ(MostSpecific(context_, Type(), T("2xf32")), std::nullopt);
}

TEST_F(DimensionsTest, MostSpecificKeepsOtherEncodings) {
  const Type sparse =
      context_.TensorType({2}, context_.IntegerType(8), context_.OpaqueAttribute("#sparse"));
  EXPECT_EQ(MostSpecific(context_, sparse, T("?xi8")), sparse);
}

TEST_F(DimensionsTest, TextOfDimensions) {
  EXPECT_EQ(Text({3, kDynamic}), "3");
  EXPECT_EQ(Text({}), "?");
  EXPECT_EQ(Text({kDynamic, 4}), "? (at most 4)");
  EXPECT_EQ(ListText({2, kDynamic}), "[2, ?]");
  EXPECT_EQ(ListText({}), "[]");
}

}  // namespace
}  // namespace plimsoll
