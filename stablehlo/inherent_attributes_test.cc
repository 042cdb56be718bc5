#include "stablehlo/inherent_attributes.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

class InherentAttributesTest : public testing::Test {
 protected:
  Context context_;
  Attribute name_ = context_.Dictionary({{"sym_name", context_.String("f")}});
};

TEST_F(InherentAttributesTest, MovesWhatTheTableOfOpsNames) {
  Attribute properties = name_;
  Attribute attributes =
      context_.Dictionary({{"no_inline", context_.Unit()}, {"my.mark", context_.I64(1)}});
  MoveInherentAttributes(context_, Opcode::kFunc, properties, attributes);
  EXPECT_EQ(properties.ToString(), "{no_inline, sym_name = \"f\"}");
  EXPECT_EQ(attributes.ToString(), "{my.mark = 1 : i64}");
}

TEST_F(InherentAttributesTest, LeavesNothingBehindWhenAllAreInherent) {
  Attribute properties;
  Attribute attributes = name_;
  MoveInherentAttributes(context_, Opcode::kFunc, properties, attributes);
  EXPECT_EQ(properties, name_);
  EXPECT_FALSE(attributes);
}

TEST_F(InherentAttributesTest, LeavesWhatIsSetAlready) {
  const Attribute other = context_.Dictionary({{"sym_name", context_.String("g")}});
  Attribute properties = name_;
  Attribute attributes = other;
  MoveInherentAttributes(context_, Opcode::kFunc, properties, attributes);
  EXPECT_EQ(properties, name_);
  EXPECT_EQ(attributes, other);
}

TEST_F(InherentAttributesTest, LeavesTheAttributesOfUnknownOps) {
  Attribute properties;
  Attribute attributes = name_;
  MoveInherentAttributes(context_, Opcode::kUnknown, properties, attributes);
  EXPECT_FALSE(properties);
  EXPECT_EQ(attributes, name_);
}

}  // namespace
}  // namespace plimsoll
