#include "kernels/loop_text.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/count_turns.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kGrowth = R"(loop
operand f32[b, 2]
operand f32[t, b]
operand ui32[]
%0 = load 0 0
%1 = load 0 1
%2 = constant i32 0
%3 = state f32[b] %0
%4 = state i32 %2
%5 = constant i32 5
%6 = compare lt %4, %5
%7 = multiply %3, %1
%8 = load 1 0 at %4
%9 = add %7, %8
%10 = constant i32 1
%11 = add %4, %10
%12 = position i64
%13 = convert f32 %12
%14 = add %9, %13
%15 = load 2 0
%16 = constant f32 0
next %3 = %14
next %4 = %11
while %6
result f32[b, 2] = %3, %1
result f32[t, b] at %4 = %9
result i32[t] at %4 fill %2 = %11
result ui32[] = %15
result f32[b, t] at %4 fill %16 = %13
)";

std::string ErrorOf(std::string_view text) {
  const StatusOr<LoopProgram> program = ReadLoop(text);
  return program.ok() ? "" : std::string(program.status().message());
}

TEST(LoopText, ComesBackAsItWas) {
  const StatusOr<LoopProgram> program = ReadLoop(kGrowth);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_EQ(WriteLoop(*program), kGrowth);
  const StatusOr<LoopProgram> again = ReadLoop(WriteLoop(*program));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *program);
  EXPECT_TRUE(IsLoopText(kGrowth));
  EXPECT_FALSE(IsLoopText("axes r c\n"));
}

TEST(LoopText, SaysWhatIsWrong) {
  constexpr std::string_view kStart = "loop\noperand f32[b]\noperand i32[]\n%0 = load 0 0\n";
  const auto error_of = [&](std::string_view rest) { return ErrorOf(StrCat(kStart, rest)); };
  EXPECT_THAT(ErrorOf("axes r c\n"), HasSubstr("line 1: `loop` is missing"));
  EXPECT_THAT(ErrorOf("loop\noperand f32[b, b]\n"), HasSubstr("the batch or steps twice"));
  EXPECT_THAT(ErrorOf("loop\noperand f32[0]\n"), HasSubstr("a dimension of 0"));
  EXPECT_THAT(ErrorOf("loop\noperand f32[65536, 65536, 65536, 65536, 65536]\n"),
              HasSubstr("a dimension of 65536"));
  EXPECT_THAT(error_of("%1 = load 0 1\n"), HasSubstr("operand 0 has no element 1"));
  EXPECT_THAT(error_of("%1 = load 2 0\n"), HasSubstr("there is no operand 2"));
  EXPECT_THAT(error_of("%1 = load 1 0\n%2 = load 0 0 at %1\n"), HasSubstr("read at no step"));
  EXPECT_THAT(error_of("%1 = state f32 %0\n"), HasSubstr("does not fit the state that it begins"));
  EXPECT_THAT(error_of("%1 = state i32[b] %0\n"), HasSubstr("is of another type"));
  EXPECT_THAT(error_of("%1 = state f32[b] %0\n%2 = state f32[b] %1\nwhile %0\n"),
              HasSubstr("%1 is not there before the first turn"));
  EXPECT_THAT(error_of("next %0 = %0\n"), HasSubstr("%0 is no state"));
  EXPECT_THAT(error_of("while %0\n"), HasSubstr("does not say whether there is another turn"));
  EXPECT_THAT(error_of("%1 = compare lt %0, %0\n%2 = state f32[b] %0\n%3 = negate %2\n"
                       "next %2 = %3\nwhile %1\nresult f32[b] = %2\n"),
              HasSubstr("%2 changes for elements that are done"));
  EXPECT_THAT(error_of("%1 = compare lt %0, %0\n%2 = load 1 0\nwhile %1\n"
                       "result f32[t, b] at %2 = %0\n"),
              HasSubstr("write no steps"));
  EXPECT_THAT(error_of(""), HasSubstr("%-1 is used before it is made"));
  EXPECT_THAT(error_of("%1 = constant i1 1\n%2 = state f32[b] %0\n%3 = negate %2\nwhile %1\n"
                       "result f32[b] = %3\n"),
              HasSubstr("%3 is not there after the last turn"));
  EXPECT_THAT(error_of("%1 = constant i1 1\nwhile %1\nresult f32[] = %0\n"),
              HasSubstr("%0 does not fit its result"));
  EXPECT_THAT(error_of("%1 = constant i1 1\nwhile %1\nresult f32[b, 2] = %0\n"),
              HasSubstr("a result has 1 values"));
  EXPECT_THAT(error_of("%1 = constant i1 1\nwhile %1\nresult f32[t, b] = %0\n"),
              HasSubstr("%-1 is used before it is made"));
  EXPECT_THAT(error_of("%1 = frobnicate %0\n"), HasSubstr("there is no op `frobnicate`"));
}

TEST(LoopProgram, VerifyFindsWhatWasChanged) {
  StatusOr<LoopProgram> program = ReadLoop(kGrowth);
  ASSERT_TRUE(program.ok());
  program->ops[7].varies = false;
  EXPECT_THAT(std::string(Verify(*program).message()), HasSubstr("%7 is not what its operands"));
}

TEST(LoopProgram, LosesWhatIsNotUsed) {
  StatusOr<LoopProgram> program = ReadLoop(
      "loop\noperand f32[b]\n%0 = constant f32 0\n%1 = load 0 0\n%2 = constant i1 0\n"
      "%3 = state f32[b] %1\n%4 = state f32[b] %1\n%5 = negate %3\n%6 = exponential %4\n"
      "next %3 = %5\nnext %4 = %6\nwhile %2\nresult f32[b] = %3\n");
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_EQ(WriteLoop(WithoutUnusedOps(*program)),
            "loop\noperand f32[b]\n%0 = load 0 0\n%1 = constant i1 0\n%2 = state f32[b] %0\n"
            "%3 = negate %2\nnext %2 = %3\nwhile %1\nresult f32[b] = %2\n");
}

TEST(CountTurns, FollowsCounters) {
  const StatusOr<LoopProgram> program = ReadLoop(kGrowth);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(CountTurns(*program), 5);
  EXPECT_TRUE(WritesAllSteps(*program, 4, 5));
  EXPECT_FALSE(WritesAllSteps(*program, 4, 6));
  EXPECT_FALSE(WritesAllSteps(*program, 11, 5));
}

TEST(CountTurns, DoesNotGuess) {
  const StatusOr<LoopProgram> program = ReadLoop(
      "loop\noperand i32[]\n%0 = load 0 0\n%1 = constant i32 0\n%2 = state i32 %1\n"
      "%3 = compare lt %2, %0\n%4 = constant i32 1\n%5 = add %2, %4\nnext %2 = %5\nwhile %3\n");
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_EQ(CountTurns(*program), std::nullopt);
  EXPECT_FALSE(WritesAllSteps(*program, 2, 1));
}

}  // namespace
}  // namespace plimsoll
