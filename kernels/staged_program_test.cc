#include "kernels/staged_program.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kScores = R"(stage r argument 0, argument 1 -> result 0, panel 0
axes r c b0 l0
operand f32[b0, r, l0]
operand f32[b0, c, l0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[b0, r] = maximum c %3
result f32[b0, r, c] = %3
)";

constexpr std::string_view kProduct = R"(axes r c b0 l0
operand f32[b0, r, l0]
operand f32[b0, l0, c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[b0, r, c] = add %3
)";

constexpr std::string_view kProductOverRows = R"(axes r c b0 l0
operand f32[b0, l0, r]
operand f32[b0, l0, c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[b0, r, c] = add %3
)";

std::string Stages(std::string_view line, std::string_view program) {
  return StrCat("stages\n", kScores, line, "\n", program);
}

std::string ErrorOf(std::string_view text) {
  const StatusOr<StagedProgram> program = ReadStages(text);
  EXPECT_FALSE(program.ok());
  return std::string(program.status().message());
}

TEST(StagedProgram, ComesBackAsItWas) {
  for (const std::string& text :
       {Stages("stage r panel 0, argument 2 -> result 1", kProduct),
        Stages("stage l0 panel 0, argument 2 -> result 1", kProductOverRows)}) {
    const StatusOr<StagedProgram> program = ReadStages(text);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    EXPECT_EQ(WriteStages(*program), text);
    EXPECT_EQ(program->CountOf(StagePlaceKind::kArgument), 3);
    EXPECT_EQ(program->CountOf(StagePlaceKind::kPanel), 1);
    EXPECT_EQ(program->CountOf(StagePlaceKind::kResult), 2);
  }
}

TEST(StagedProgram, SaysWhatIsWrongInText) {
  EXPECT_THAT(ErrorOf("axes r c\n"), HasSubstr("does not begin with `stages`"));
  EXPECT_THAT(ErrorOf("stages\n"), HasSubstr("there is no stage"));
  EXPECT_THAT(ErrorOf("stages\naxes r c\n"), HasSubstr("`stage` is missing"));
  EXPECT_THAT(ErrorOf("stages\nstage r\naxes r c\n"), HasSubstr("`->` is missing"));
  EXPECT_THAT(ErrorOf(Stages("stage l7 panel 0, argument 2 -> result 1", kProduct)),
              HasSubstr("there is no axis `l7`"));
  EXPECT_THAT(ErrorOf(Stages("stage r panel 0, thing 2 -> result 1", kProduct)),
              HasSubstr("`thing 2` is no argument, panel or result"));
  EXPECT_THAT(ErrorOf(Stages("stage r panel 0, argument x -> result 1", kProduct)),
              HasSubstr("`argument x` is no argument, panel or result"));
}

TEST(StagedProgram, ReadsOnlyWhatIsThere) {
  EXPECT_THAT(ErrorOf(Stages("stage r panel 1, argument 2 -> result 1", kProduct)),
              HasSubstr("panel 1 is read before it is written"));
  EXPECT_THAT(ErrorOf(Stages("stage r panel 0, argument 3 -> result 1", kProduct)),
              HasSubstr("argument 3 is not the next one"));
  EXPECT_THAT(ErrorOf(Stages("stage r panel 0, argument 2 -> result 0", kProduct)),
              HasSubstr("result 0 is not the next one to be written"));
  EXPECT_THAT(ErrorOf(Stages("stage r result 0, argument 2 -> result 1", kProduct)),
              HasSubstr("along other axes"));
  EXPECT_THAT(ErrorOf(Stages("stage r panel 0 -> result 1", kProduct)),
              HasSubstr("other operands or results than its program"));
  // The panel's columns as rows.
  EXPECT_THAT(ErrorOf(Stages("stage r panel 0, argument 2 -> result 1", kProductOverRows)),
              HasSubstr("along other axes"));
}

// A sum over rows is whole only after the last piece of them.
TEST(StagedProgram, DoesNotReadSumsOverRows) {
  const std::string text =
      StrCat(Stages("stage l0 panel 0, argument 2 -> result 1", kProductOverRows),
             "stage r result 1, argument 2 -> result 2\n", kProduct);
  EXPECT_THAT(ErrorOf(text), HasSubstr("result 1 is not there before the last row is"));
}

TEST(StagedProgram, RefusesWhatStagesDoNot) {
  EXPECT_THAT(ErrorOf(Stages("stage r panel 0, argument 2 -> panel 1", kProduct)),
              HasSubstr("a panel is not written as it is"));
  EXPECT_THAT(ErrorOf(Stages("stage c panel 0, argument 2 -> result 1", kProduct)),
              HasSubstr("neither its rows nor summed"));
  EXPECT_THAT(ErrorOf(Stages("stage r argument 2 -> result 1",
                             "axes r c b0\noperand f32[b0, r, c]\n%0 = load 0\n"
                             "result f32[b0, c] = add r %0\n")),
              HasSubstr("rows are reduced in a stage"));
  EXPECT_THAT(
      ErrorOf(Stages("stage r argument 2 -> result 1",
                     "axes r c\noperand f32[r, c]\n%0 = load 0\nresult f32[r] = add c %0\n")),
      HasSubstr("stages have different batches"));
}

TEST(SummedAxis, IsOfSumsThatAreAddedUp) {
  const StatusOr<StagedProgram> program =
      ReadStages(Stages("stage r panel 0, argument 2 -> result 1", kProduct));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(SummedAxis(program->stages[0].program), kNoAxis);
  EXPECT_EQ(SummedAxis(program->stages[1].program), 3);
}

}  // namespace
}  // namespace plimsoll
