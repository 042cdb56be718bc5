#include "stablehlo/text_reader.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "stablehlo/testing.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using testing::ReadError;
using testing::ReadTestData;
using testing::Rewrite;

TEST(TextReaderTest, WritingWhatWasReadChangesNothing) {
  for (const char* name : {"program.mlir", "mixed.mlir"}) {
    const std::string once = Rewrite(ReadTestData(name), Locations::kWrite);
    EXPECT_THAT(once, HasSubstr("\"func.return\""));
    EXPECT_EQ(Rewrite(once, Locations::kWrite), once);
  }
}

TEST(TextReaderTest, WrapsOpsWithoutAModule) {
  EXPECT_EQ(Rewrite(R"("x.y"() : () -> ())"),
            "\"builtin.module\"() ({\n  \"x.y\"() : () -> ()\n}) : () -> ()\n");
}

TEST(TextReaderTest, FindsAliasesBehindTheirUses) {
  const std::string text = Rewrite(
      "\"x.y\"() {a = #m, t = !t} : () -> () loc(#loc1)\n"
      "#loc1 = loc(\"b\"(#loc))\n#loc = loc(\"f\":1:2)\n#m = [1]\n!t = tensor<2xf32>\n",
      Locations::kWrite);
  EXPECT_THAT(text, HasSubstr("{a = [1 : i64], t = tensor<2xf32>}"));
  EXPECT_THAT(text, HasSubstr("#loc0 = loc(\"f\":1:2)\n#loc1 = loc(\"b\"(#loc0))\n"));
}

TEST(TextReaderTest, ReplacesAliasesInsideOpaqueAttributes) {
  EXPECT_THAT(Rewrite("\"x.y\"() {a = #z.w<#m, \"#m\", !t>} : () -> ()\n#m = [1]\n!t = i1\n"),
              HasSubstr("#z.w<[1 : i64], \"#m\", i1>"));
}

TEST(TextReaderTest, NamesMayBeUsedAgainInOtherRegions) {
  EXPECT_EQ(ReadError(R"(
    %0 = "x.a"() : () -> i1
    "x.b"() ({ ^bb0(%x: i1): %1 = "x.c"(%0, %x) : (i1, i1) -> i1 },
             { ^bb0(%x: i1): %1 = "x.c"(%0, %x) : (i1, i1) -> i1 }) : () -> ())"),
            "ok");
}

TEST(TextReaderTest, ReadsGroupsOfResults) {
  EXPECT_EQ(Rewrite(R"(%a:2, %b = "x.a"() : () -> (i1, i2, i3)
                       "x.b"(%a#1, %b) : (i2, i3) -> ())"),
            "\"builtin.module\"() ({\n  %0:3 = \"x.a\"() : () -> (i1, i2, i3)\n"
            "  \"x.b\"(%0#1, %0#2) : (i2, i3) -> ()\n}) : () -> ()\n");
}

TEST(TextReaderTest, MovesInherentAttributesWhereTheyBelong) {
  EXPECT_EQ(Rewrite(R"(%0 = "x.a"() : () -> tensor<2xf32>
                       %1 = "stablehlo.reverse"(%0) {dimensions = array<i64: 0>, a} : (tensor<2xf32>) -> tensor<2xf32>
                       "x.b"() {dimensions = array<i64: 0>} : () -> ())"),
            "\"builtin.module\"() ({\n  %0 = \"x.a\"() : () -> tensor<2xf32>\n"
            "  %1 = \"stablehlo.reverse\"(%0) <{dimensions = array<i64: 0>}> {a} : "
            "(tensor<2xf32>) -> tensor<2xf32>\n"
            "  \"x.b\"() {dimensions = array<i64: 0>} : () -> ()\n}) : () -> ()\n");
}

TEST(TextReaderTest, KeepsResources) {
  const std::string text =
      "\"x.y\"() {a = dense_resource<k> : tensor<1xf32>} : () -> ()\n"
      "{-# dialect_resources: { builtin: { k: \"0x0400000000000000\", \"l m\": \"0x0400000001\" } "
      "},\n"
      "    external_resources: { tool: { flag: true, note: \"hi\" } } #-}";
  EXPECT_THAT(Rewrite(text), HasSubstr("dialect_resources: {\n    builtin: {\n"
                                       "      k: \"0x0400000000000000\",\n"
                                       "      \"l m\": \"0x0400000001\"}},\n"
                                       "  external_resources: {\n    tool: {\n"
                                       "      flag: true,\n      note: \"hi\"}}\n#-}\n"));
  EXPECT_EQ(Rewrite(Rewrite(text)), Rewrite(text));
}

TEST(TextReaderTest, SkipsComments) {
  EXPECT_EQ(ReadError("// first\n\"x.y\"() : () -> () // last"), "ok");
}

struct Refusal {
  const char* text;
  const char* error;
};
class TextRefusalTest : public ::testing::TestWithParam<Refusal> {};
TEST_P(TextRefusalTest, SaysWhereAndWhy) {
  EXPECT_THAT(ReadError(GetParam().text), HasSubstr(GetParam().error));
}
INSTANTIATE_TEST_SUITE_P(
    All, TextRefusalTest,
    ::testing::Values(
        Refusal{"  \n", "PL102: t.mlir:2:1: the text holds no program"},
        Refusal{"module {}",
                "t.mlir:1:1: expected an op in generic form, such as \"stablehlo.add\""
                "(%0, %1), found `module`"},
        Refusal{"\"x.y\"(%0) : (i1) -> ()", "1:7: the value `%0` is not defined here"},
        Refusal{"%0 = \"x.y\"() : () -> i1\n\"x.z\"(%0#1) : (i1) -> ()",
                "2:7: `%0` has 1 values, not 2"},
        Refusal{"%0 = \"x.y\"() : () -> i1\n\"x.z\"(%0) : (i2) -> ()",
                "operand 0 has type i1, but is used as i2"},
        Refusal{"%0 = \"x.y\"() : () -> i1\n\"x.z\"(%0) : () -> ()",
                "the op has 1 operands, but its type names 0"},
        Refusal{"%0:2 = \"x.y\"() : () -> i1", "which its names do not match"},
        Refusal{"%0 = \"x.y\"() : () -> (i1, i1)", "the op has 2 results, but 1 names"},
        Refusal{"%0:0 = \"x.y\"() : () -> ()", "which its names do not match"},
        Refusal{"\"\"() : () -> ()", "an op's name is empty"},
        Refusal{"\"x.y\"() ({ \"x.z\"() : () -> ()", "expected an op in generic form"},
        Refusal{"\"x.y\"()[^bb1] : () -> ()", "PL103: t.mlir:1:8: not understood: x.y jumps"},
        Refusal{"\"x.y\"() : () -> () loc(#loc)\n#loc = loc(callsite(#loc at #loc))",
                "this alias is defined by itself"},
        Refusal{"#a = 1\n#a = 2\n", "the alias `#a` is defined twice"},
        Refusal{"\"x.y\"() : () -> () loc(#a)\n#a = 1", "this is not a location"},
        Refusal{"\"builtin.module\"() : () -> ()", "builtin.module must have one region"}));

TEST(TextReaderTest, BoundsTheDepthOfRegions) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "\"x.y\"() ({ ";
  EXPECT_THAT(ReadError(text), HasSubstr("PL104: "));
}

TEST(TextReaderTest, BoundsWhatAliasesStandFor) {
  // Each alias stands for two of the one before: 2^60 texts.
  std::string text = "\"x.y\"() {a = #a60} : () -> ()\n#a0 = \"some text\"\n";
  for (int i = 1; i <= 60; ++i) {
    text += StrCat("#a", i, " = [#a", i - 1, ", #a", i - 1, "]\n");
  }
  EXPECT_THAT(ReadError(text), HasSubstr("PL104: "));
}

TEST(TextReaderTest, SurvivesEveryTruncation) {
  const std::string text = ReadTestData("program.mlir");
  for (size_t size = 0; size < text.size(); size += 3) {
    // What is cut off inside the last line's location may still be a program.
    (void)ReadText(std::string_view(text).substr(0, size), "t.mlir").ok();
  }
}

}  // namespace
}  // namespace plimsoll
