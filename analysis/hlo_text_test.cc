#include "analysis/hlo_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kText[] = R"(HloModule jit_f, is_scheduled=true

FileNames
1 "train.py"

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum.1 = f32[] add(%a, %b)
}

ENTRY %main (x: f32[4,3]) -> (f32[4], s32[2]) {
  %x = f32[4,3]{1,0} parameter(0), metadata={op_name="x, dimensions={7}"}
  %zero = f32[] constant(0)
  %total = f32[4]{0} reduce(%x, %zero), dimensions={1}, to_apply=%add
  %pair = (f32[4]{0}, /*index=1*/s32[2]{0}) custom-call(%total), custom_call_target="both"
  ROOT %out = (f32[4]{0}, s32[2]{0}) copy(%pair)
}
)";

TEST(HloTextTest, ReadsComputationsAndInstructions) {
  const HloText hlo = ReadHloText(kText);
  ASSERT_EQ(hlo.computations.size(), 2U);
  EXPECT_EQ(hlo.computations[0].name, "add");
  EXPECT_EQ(hlo.computations[0].root, 2U);
  const HloComputation& main = hlo.computations[1];
  EXPECT_EQ(main.name, "main");
  ASSERT_EQ(main.instructions.size(), 5U);
  EXPECT_EQ(main.root, 4U);
  EXPECT_THAT(main.instructions[2].operands, ElementsAre(0, 1));
}

TEST(HloTextTest, ReadsShapes) {
  const HloText hlo = ReadHloText(kText);
  const HloShape& array = hlo.computations[1].instructions[0].shape;
  EXPECT_EQ(array.element_type, "f32");
  EXPECT_THAT(array.dimensions, ElementsAre(4, 3));
  EXPECT_THAT(array.minor_to_major, ElementsAre(1, 0));
  EXPECT_EQ(array.bytes, 48);
  EXPECT_EQ(hlo.computations[1].instructions[3].shape.bytes, 24);
}

TEST(HloTextTest, FindsAttributesOutsideOfQuotes) {
  const HloText hlo = ReadHloText(kText);
  const std::vector<HloInstruction>& main = hlo.computations[1].instructions;
  EXPECT_THAT(main[0].Numbers("dimensions"), IsEmpty());
  EXPECT_THAT(main[2].Numbers("dimensions"), ElementsAre(1));
  EXPECT_EQ(hlo.Called(main[2], "to_apply"), hlo.computations.data());
  EXPECT_EQ(main[3].Attribute("custom_call_target"), "\"both\"");
  EXPECT_EQ(main[3].Attribute("absent"), "");
}

TEST(HloTextTest, NoTextIsAnError) {
  const std::string text = kText;
  for (size_t length = 0; length <= text.size(); ++length) ReadHloText(text.substr(0, length));
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'(', '}', '"', '%', '\0', '9', '\n'}) {
      std::string changed = text;
      changed[at] = c;
      ReadHloText(changed);
    }
  }
}

TEST(HloTextTest, LeavesOutWhatNoMachineHolds) {
  const HloText hlo = ReadHloText(R"(ENTRY %f () -> f32[] {
  %a = f32[4000000000,4000000000,8]{2,1,0} iota()
  %b = f32[99999999999999999999,0]{1,0} iota()
  %c = f32[3]{0} iota()
}
)");
  ASSERT_EQ(hlo.computations.size(), 1U);
  ASSERT_EQ(hlo.computations[0].instructions.size(), 1U);
  EXPECT_EQ(hlo.computations[0].instructions[0].name, "c");
}

}  // namespace
}  // namespace plimsoll
