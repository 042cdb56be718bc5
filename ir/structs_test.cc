#include "ir/structs.h"

#include "gtest/gtest.h"
#include "ir/context.h"

namespace plimsoll {
namespace {

TEST(StructsTest, RowsAreFoundByMnemonic) {
  const StructInfo* dot = FindStruct("stablehlo.dot");
  ASSERT_NE(dot, nullptr);
  EXPECT_EQ(dot->mnemonic, "stablehlo.dot");
  EXPECT_TRUE(dot->omits_defaults);
  ASSERT_EQ(dot->fields.size(), 4);
  EXPECT_EQ(dot->fields[2].name, "lhs_contracting_dimensions");
  EXPECT_EQ(dot->fields[2].kind, FieldKind::kInts);
}

TEST(StructsTest, OtherMnemonicsAreNotFound) {
  EXPECT_EQ(FindStruct("stablehlo.do"), nullptr);
  EXPECT_EQ(FindStruct("dot"), nullptr);
  EXPECT_EQ(FindStruct(""), nullptr);
}

TEST(StructsTest, FieldsMustBeThereAndOfTheirKind) {
  Context context;
  const Attribute number = context.I64(1);
  const std::string_view name = "stablehlo.channel_handle";
  EXPECT_TRUE(HasItsFields(context.Struct(name, {{"handle", number}, {"type", number}})));
  EXPECT_FALSE(HasItsFields(context.Struct(name, {{"type", number}, {"handle", number}})));
  EXPECT_FALSE(HasItsFields(context.Struct(name, {{"handle", number}})));
  EXPECT_FALSE(HasItsFields(context.Struct(name, {{"handle", number}, {"type", Attribute()}})));
  EXPECT_FALSE(HasItsFields(context.Struct(name, {{"handle", number}, {"type", context.Unit()}})));
  EXPECT_FALSE(HasItsFields(context.Struct("stablehlo.other", {{"handle", number}})));
}

TEST(StructsTest, OnlyAccuracyModesHaveAngleBrackets) {
  EXPECT_TRUE(EnumHasAngleBrackets("stablehlo.result_accuracy_mode"));
  EXPECT_FALSE(EnumHasAngleBrackets("stablehlo.precision"));
}

}  // namespace
}  // namespace plimsoll
