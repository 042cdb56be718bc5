#include "ir/attribute.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/context.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;

class AttributeTest : public ::testing::Test {
 protected:
  Location File(std::string_view file, uint32_t line) {
    return context_.FileLocation(file, line, 5, line, 5);
  }

  Context context_;
};

TEST_F(AttributeTest, NullAttributeIsNothing) {
  const Attribute none;
  EXPECT_FALSE(none);
  EXPECT_FALSE(none.Is(AttributeKind::kUnit));
}

TEST_F(AttributeTest, DictionariesFindByName) {
  const Attribute dictionary =
      context_.Dictionary({{"b", context_.I64(2)}, {"a", context_.I64(1)}});
  EXPECT_EQ(dictionary.Find("a"), context_.I64(1));
  EXPECT_EQ(dictionary.Find("b"), context_.I64(2));
  EXPECT_FALSE(dictionary.Find("c"));
  EXPECT_FALSE(dictionary.Find(""));
  EXPECT_FALSE(context_.Dictionary({}).Find("a"));
}

TEST_F(AttributeTest, StructsFindByNameInAnyOrder) {
  const Attribute handle = context_.Struct(
      "stablehlo.channel_handle", {{"type", context_.I64(1)}, {"handle", context_.I64(7)}});
  EXPECT_EQ(handle.Find("handle").integer(), 7);
  EXPECT_FALSE(handle.Find("other"));
}

TEST_F(AttributeTest, FloatsHaveBitsAndValue) {
  const Attribute half = context_.Float(context_.FloatType(FloatKind::kF16), 0x3800);
  EXPECT_EQ(half.float_bits(), 0x3800);
  EXPECT_EQ(half.float_value(), 0.5);
  const Attribute brain = context_.Float(context_.FloatType(FloatKind::kBF16), 0xC000);
  EXPECT_EQ(brain.float_value(), -2.0);
}

TEST_F(AttributeTest, ListsOfI64AreNumbers) {
  EXPECT_THAT(context_.I64Array({3, -1}).integers(), ElementsAre(3, -1));
  EXPECT_TRUE(context_.I64Array({}).integers().empty());
}

TEST_F(AttributeTest, OneElementIsASplat) {
  const Type type = context_.TensorType({4}, context_.IntegerType(16));
  EXPECT_TRUE(context_.DenseElements(type, std::vector<char>{1, 0}).is_splat());
  EXPECT_FALSE(context_.DenseElements(type, std::vector<char>{1, 0, 2, 0, 3, 0, 4, 0}).is_splat());
}

TEST_F(AttributeTest, LocationsAreTold) {
  EXPECT_TRUE(context_.UnknownLocation().is_location());
  EXPECT_TRUE(File("a.py", 1).is_location());
  EXPECT_FALSE(context_.Unit().is_location());
}

TEST_F(AttributeTest, SourceLineIsTheFilesOwnName) {
  EXPECT_EQ(SourceLine(File("/home/me/train.py", 41)), "train.py:41");
  EXPECT_EQ(SourceLine(File("train.py", 41)), "train.py:41");
  EXPECT_EQ(SourceLine(File("-", 41)), "line 41 of the text");
}

TEST_F(AttributeTest, SourceLineLooksThroughNamesCallsAndFusions) {
  const Location named = context_.NameLocation("jit(f)", File("a.py", 1));
  EXPECT_EQ(SourceLine(named), "a.py:1");
  EXPECT_EQ(SourceLine(context_.CallSiteLocation(named, File("b.py", 2))), "a.py:1");
  // What is called may have no line, and then the call's is best.
  EXPECT_EQ(SourceLine(context_.CallSiteLocation(context_.UnknownLocation(), File("b.py", 2))),
            "b.py:2");
  EXPECT_EQ(SourceLine(context_.FusedLocation({context_.UnknownLocation(), File("c.py", 3)})),
            "c.py:3");
}

TEST_F(AttributeTest, NoFileGivesNoLine) {
  EXPECT_EQ(SourceLine({}), "");
  EXPECT_EQ(SourceLine(context_.UnknownLocation()), "");
  EXPECT_EQ(SourceLine(context_.NameLocation("x", context_.UnknownLocation())), "");
  EXPECT_EQ(SourceLine(context_.FusedLocation({})), "");
}

}  // namespace
}  // namespace plimsoll
