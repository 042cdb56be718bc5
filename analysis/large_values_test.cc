#include "analysis/large_values.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

// As XLA writes it, shortened: a fusion whose inside is larger than its result, and a loop.
constexpr std::string_view kProgram = R"(HloModule jit_f, is_scheduled=true

FileNames
1 "/home/user/train.py"
2 "/home/user/model.py"

FunctionNames
1 "<module>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=6 end_line=6 column=2 end_column=25}
2 {file_name_id=2 function_name_id=2 line=41 end_line=42 column=6 end_column=44}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  ROOT %sum = f32[] add(%a, %a)
}

%fused (p: f32[8]) -> f32[8,8] {
  %p = f32[8]{0} parameter(0)
  %big = f32[8,8,1000]{2,1,0} broadcast(%p), dimensions={0}
  ROOT %r = f32[8,8]{1,0} reduce(%big, %p), dimensions={2}, to_apply=%add
}

%body (state: (s32[], f32[4])) -> (s32[], f32[4]) {
  %state = (s32[], f32[400]{0}) parameter(0)
  %i = s32[] get-tuple-element(%state), index=0
  %row = f32[6]{0} negate(%i), metadata={op_name="jit(f)/while/neg" source_file="old.py" source_line=7}
  ROOT %next = (s32[], f32[400]{0}) tuple(%i, %row)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0), metadata={op_name="x"}
  %fusion = f32[8,8]{1,0} fusion(%x), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/jit(main)/exp" stack_frame_id=2}
  %view = f32[64]{0} bitcast(%fusion)
  %sorted = f32[64]{0} sort(%view), dimensions={0}, to_apply=%add
  %loop = (s32[], f32[400]{0}) while(%view), condition=%add, body=%body
  ROOT %out = f32[8]{0} copy(%x)
}
)";

TEST(LargeValuesTest, FindsWhatIsReallyMade) {
  const std::vector<LargeValue> values = FindLargestValues(kProgram, 4);
  ASSERT_EQ(values.size(), 4);
  EXPECT_EQ(values[0].bytes, 256);
  EXPECT_EQ(values[0].type, "f32[8,8]");
  EXPECT_EQ(values[0].operation, "exp");
  EXPECT_EQ(values[0].source, "model.py:41");
  EXPECT_EQ(values[1].type, "f32[64]");
  EXPECT_EQ(values[1].operation, "sort");
  EXPECT_EQ(values[1].source, "");
  EXPECT_EQ(values[2].operation, "argument x");
  EXPECT_EQ(values[3].operation, "copy");
}

TEST(LargeValuesTest, LooksIntoLoopsAndReadsSourceLinesOfOlderText) {
  const std::vector<LargeValue> values = FindLargestValues(kProgram, 100);
  ASSERT_EQ(values.size(), 5);
  EXPECT_EQ(values[4].operation, "neg");
  EXPECT_EQ(values[4].source, "old.py:7");
}

TEST(LargeValuesTest, SurvivesAnyText) {
  EXPECT_TRUE(FindLargestValues("", 5).empty());
  EXPECT_TRUE(
      FindLargestValues("HloModule\nFileNames\n1\n999999999999 x\nStackFrames\n1 {", 5).empty());
  for (size_t size = 0; size < kProgram.size(); ++size) {
    (void)FindLargestValues(kProgram.substr(0, size), 5);
    (void)FindLargestValues(kProgram.substr(size), 5);
  }
}

}  // namespace
}  // namespace plimsoll
