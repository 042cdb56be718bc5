#include "ir/type.h"

#include <optional>

#include "gtest/gtest.h"
#include "ir/context.h"
#include "ir/testing.h"

namespace plimsoll {
namespace {

class TypeTest : public ::testing::Test {
 protected:
  Type T(std::string_view text) { return testing::ParseType(context_, text); }
  Type E(std::string_view text) { return testing::ParseElement(context_, text); }

  Context context_;
};

TEST_F(TypeTest, NullTypeIsNothing) {
  const Type none;
  EXPECT_FALSE(none);
  EXPECT_FALSE(none.Is(TypeKind::kTensor));
  EXPECT_FALSE(none.IsInteger(32));
  EXPECT_EQ(none.bytes(), std::nullopt);
  EXPECT_EQ(none.bytes_per_element(), std::nullopt);
}

TEST_F(TypeTest, FloatKindsHaveNamesAndSizes) {
  EXPECT_EQ(FloatName(FloatKind::kBF16), "bf16");
  EXPECT_EQ(FloatKindFromName("f8E4M3FNUZ"), FloatKind::kF8E4M3FNUZ);
  EXPECT_EQ(FloatKindFromName("f33"), std::nullopt);
  EXPECT_EQ(llvm::APFloat::getSizeInBits(FloatSemantics(FloatKind::kF6E2M3FN)), 6U);
}

TEST_F(TypeTest, IntegersHaveWidthAndSign) {
  EXPECT_TRUE(E("i32").IsInteger(32));
  EXPECT_FALSE(E("i32").IsInteger(64));
  EXPECT_TRUE(E("ui32").IsInteger(32));
  EXPECT_EQ(E("ui32").signedness(), Signedness::kUnsigned);
  EXPECT_FALSE(E("f32").IsInteger(32));
}

TEST_F(TypeTest, ElementCounts) {
  EXPECT_EQ(T("f32").element_count(), 1);
  EXPECT_EQ(T("2x3xf32").element_count(), 6);
  EXPECT_EQ(T("2x0xf32").element_count(), 0);
  EXPECT_EQ(T("2x?xf32").element_count(), std::nullopt);
  EXPECT_EQ(context_.TokenType().element_count(), std::nullopt);
}

TEST_F(TypeTest, ElementCountDoesNotDependOnOrder) {
  EXPECT_EQ(T("0x?xf32").element_count(), std::nullopt);
  EXPECT_EQ(T("?x0xf32").element_count(), std::nullopt);
}

TEST_F(TypeTest, ElementCountThatOverflowsIsNothing) {
  EXPECT_EQ(T("4294967296x4294967296xf32").element_count(), std::nullopt);
  EXPECT_EQ(T("4294967296x4294967296x0xf32").element_count(), 0);
}

TEST_F(TypeTest, BytesOfElements) {
  EXPECT_EQ(E("i1").bytes_per_element(), 1);
  EXPECT_EQ(E("i4").bytes_per_element(), 1);
  EXPECT_EQ(E("ui64").bytes_per_element(), 8);
  EXPECT_EQ(E("f8E5M2").bytes_per_element(), 1);
  EXPECT_EQ(E("f4E2M1FN").bytes_per_element(), 1);
  EXPECT_EQ(E("tf32").bytes_per_element(), 3);
  EXPECT_EQ(E("f80").bytes_per_element(), 10);
  EXPECT_EQ(E("complex<f64>").bytes_per_element(), 16);
  EXPECT_EQ(E("index").bytes_per_element(), 8);
  EXPECT_EQ(E("q8").bytes_per_element(), 1);
  EXPECT_EQ(context_.TokenType().bytes_per_element(), std::nullopt);
}

TEST_F(TypeTest, BytesOfValues) {
  EXPECT_EQ(T("2x3xf32").bytes(), 24);
  EXPECT_EQ(T("10xi1").bytes(), 10);
  EXPECT_EQ(T("?xf32").bytes(), std::nullopt);
  EXPECT_EQ(T("4611686018427387904xf32").bytes(), std::nullopt);
  EXPECT_EQ(context_.TokenType().bytes(), 0);
  EXPECT_EQ(context_.TupleType({T("2xf32"), T("3xi8"), context_.TokenType()}).bytes(), 11);
  EXPECT_EQ(context_.TupleType({T("2xf32"), T("?xi8")}).bytes(), std::nullopt);
}

TEST_F(TypeTest, FunctionsHaveInputsAndOutputs) {
  const Type type = context_.FunctionType({T("2xf32"), T("i1")}, {T("3xf32")});
  EXPECT_EQ(type.inputs().size(), 2);
  EXPECT_EQ(type.inputs()[1], T("i1"));
  EXPECT_EQ(type.outputs().size(), 1);
  EXPECT_EQ(type.outputs()[0], T("3xf32"));
}

TEST_F(TypeTest, StaticShapes) {
  EXPECT_TRUE(T("2x3xf32").has_static_shape());
  EXPECT_TRUE(T("f32").has_static_shape());
  EXPECT_FALSE(T("2x?xf32").has_static_shape());
}

}  // namespace
}  // namespace plimsoll
