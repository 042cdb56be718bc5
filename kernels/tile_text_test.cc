#include "kernels/tile_text.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kGaussian = R"(axes r c s0=3
operand f32[r, s0]
operand f32[c, s0]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = fold add s0 %3
%5 = negate %4
%6 = exponential %5
%7 = load 2
%8 = multiply %6, %7
result f32[r] = add c %8
)";

std::string ErrorOf(std::string_view text) {
  const StatusOr<TileProgram> program = ReadTiles(text);
  return program.ok() ? "" : std::string(program.status().message());
}

TEST(TileText, ComesBackAsItWas) {
  constexpr std::string_view kTexts[] = {
      kGaussian,
      R"(axes r c b0 b1 s0=2 s1=5
operand bf16[b0, r, b1, s0]
operand i1[c, r]
operand f32[1, c, s1]
%0 = load 0
%1 = convert f32 %0
%2 = load 1
%3 = load 2
%4 = constant f32 1065353216
%5 = select %2, %1, %4
%6 = multiply %5, %3
%7 = iota i32 c
%8 = iota i32 r
%9 = compare ge %8, %7
%10 = chlo.erf %6
%11 = select %9, %10, %4
%12 = fold maximum s1 %11
result f32[b0, b1, s0] = add r c %12
result f32[b1, b0, c, s0] = maximum r %12
result f32[r, c, b0, b1, s0] = %12
)",
      R"(axes r c t0=5
operand f32[r, c]
%0 = load 0
%1 = iota i32 c
result f32[r] = minimum c %0
result i32[r] = with 0 c %1
result f32[r, t0] = top c %0
result i32[r, t0] = with 2 c %1
)",
      R"(axes r c b0 s0=2 g0 g1
operand f32[b0, r, c, s0]
operand i32[r, 1]
operand ui8[b0, r]
%0 = load 0
%1 = load 1
%2 = load 2
result f32[b0, g0, s0, c] = add r by %1 %0
result f32[s0, b0, g1, c] = minimum r by %2 %0
result f32[b0, r, s0, c] = %0
)",
      R"(axes r c l0
operand f32[r, l0]
operand f32[l0, c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[r, c] = %3
)",
  };
  for (const std::string_view text : kTexts) {
    const StatusOr<TileProgram> program = ReadTiles(text);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    EXPECT_EQ(WriteTiles(*program), text);
    const StatusOr<TileProgram> again = ReadTiles(WriteTiles(*program));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, *program);
  }
}

TEST(TileText, InfersTypesAndAxes) {
  const StatusOr<TileProgram> program = ReadTiles(kGaussian);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_EQ(program->ops[2].axes, kRowBit | kColumnBit | AxisBit(2));
  EXPECT_EQ(program->ops[4].axes, kRowBit | kColumnBit);
  EXPECT_EQ(program->ShortCount(program->ops[2].axes), 3);
}

TEST(TileText, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf("axes r c\n%0 = load 0\n"), HasSubstr("there is no operand 0"));
  EXPECT_THAT(ErrorOf("axes c r\n"), HasSubstr("line 1: `c` is not the name of an axis here"));
  EXPECT_THAT(ErrorOf("axes r\n"), HasSubstr("the axes are not a row, a column"));
  EXPECT_THAT(ErrorOf("axes r c s0\n"), HasSubstr("`s0` has no length"));
  EXPECT_THAT(ErrorOf("axes r c\n%1 = iota i32 c\n"), HasSubstr("%1 is the op number 0"));
  EXPECT_THAT(ErrorOf("axes r c\n%0 = iota i32 c %0\n"), HasSubstr("`%0` is too much"));
  EXPECT_THAT(ErrorOf("axes r c\n%0 = frobnicate %0\n"), HasSubstr("there is no op `frobnicate`"));
  EXPECT_THAT(ErrorOf("axes r c\n%0 = negate %0\n"), HasSubstr("%0 is used before it is made"));
  EXPECT_THAT(ErrorOf("axes r c\n%0 = iota i32 c\n%1 = exponential %0\n"),
              HasSubstr("kernels do not compute exponential of i32"));
  EXPECT_THAT(ErrorOf("axes r c\n%0 = iota i32 c\n%1 = iota f32 c\n%2 = add %0, %1\n"),
              HasSubstr("operand 0 of add is i32"));
  EXPECT_THAT(ErrorOf("axes r c b0\n%0 = iota i32 b0\n"), HasSubstr("not counted"));
  EXPECT_THAT(ErrorOf("axes r c\n%0 = iota i32 c\nresult i32[r, c] = add c %0\n"),
              HasSubstr("other axes than its value"));
  EXPECT_THAT(ErrorOf("axes r c\n%0 = iota bf16 c\nresult bf16[r] = add c %0\n"),
              HasSubstr("a result is bf16, its value bf16"));
  EXPECT_THAT(ErrorOf("axes r c\n%0 = iota i32 c\nresult i32[c] = %0\n"),
              HasSubstr("has the row and the column"));
  for (const std::string_view reducer : {"top", "with 0", "with -2", "subtract"}) {
    EXPECT_THAT(ErrorOf(StrCat("axes r c\n%0 = iota i32 c\nresult i32[r, c] = ", reducer, " %0\n")),
                HasSubstr("added by a reducer or not"));
  }
  EXPECT_THAT(ErrorOf("axes r c\n%0 = iota bf16 c\nresult bf16[r, c] = add %0\n"),
              HasSubstr("a result is bf16, its value bf16"));
  EXPECT_THAT(ErrorOf("axes r c\noperand f32[r, r]\n"), HasSubstr("one axis twice"));
  EXPECT_THAT(ErrorOf("hello\n"), HasSubstr("line 1: `hello` is neither"));
  EXPECT_THAT(ErrorOf("axes r c\noperand f32[r\n"), HasSubstr("`]` is missing"));
  EXPECT_THAT(ErrorOf("axes r c\n%0 = constant f32 99999999999999999999999\n"),
              HasSubstr("is not a number that fits here"));
}

TEST(TileText, SaysWhatIsWrongWithSegments) {
  const auto error_of = [](std::string_view result) {
    return ErrorOf(
        StrCat("axes r c b0 g0\noperand f32[b0, r, c]\noperand i32[r]\n%0 = load 0\n"
               "%1 = load 1\n%2 = iota i32 c\n%3 = iota f32 r\nresult ",
               result));
  };
  EXPECT_EQ(error_of("f32[b0, g0, c] = add r by %1 %0\n"), "");
  for (const std::string_view result :
       {"f32[b0, c] = add r by %1 %0\n", "f32[b0, g0, c] = add r %0\n",
        "f32[b0, r, g0, c] = %0\n"}) {
    EXPECT_THAT(error_of(result), HasSubstr("have one axis of segments")) << result;
  }
  for (const std::string_view result :
       {"f32[b0, c, g0] = add r by %1 %0\n", "f32[b0, g0] = add r c by %1 %0\n",
        "f32[b0, r, g0] = add c by %1 %0\n", "f32[g0, c] = add r by %1 %3\n"}) {
    EXPECT_THAT(error_of(result), HasSubstr("only rows are grouped")) << result;
  }
  for (const std::string_view number : {"2", "3"}) {
    EXPECT_THAT(error_of(StrCat("f32[b0, g0, c] = add r by %", number, " %0\n")),
                HasSubstr("is not the number of a row's segment"));
  }
  EXPECT_THAT(error_of("f32[b0, g0, c] = add r by %9 %0\n"), HasSubstr("%9 is used before"));
  EXPECT_THAT(error_of("f32[b0, g0, c] = add r by %1 %0\nresult f32[b0, r] = add c %0\n"),
              HasSubstr("reduced beside results of segments"));
  EXPECT_THAT(ErrorOf("axes r c g0\noperand f32[r, g0]\n"),
              HasSubstr("an operand has an axis of segments"));
  EXPECT_THAT(ErrorOf("axes r c g0\n%0 = iota i32 g0\n"), HasSubstr("not counted"));
}

TEST(TileProgram, VerifyFindsWhatWasChanged) {
  StatusOr<TileProgram> program = ReadTiles(kGaussian);
  ASSERT_TRUE(program.ok());
  program->ops[4].axes = kRowBit;
  EXPECT_THAT(std::string(Verify(*program).message()), HasSubstr("%4 has another type"));
}

}  // namespace
}  // namespace plimsoll
