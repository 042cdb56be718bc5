#include "kernels/mirror_program.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/tile_text.h"

namespace plimsoll {
namespace {

// What the program of tiles becomes, as text; "" if nothing does.
std::string Mirror(std::string_view text, const std::vector<ArgumentPair>& equal) {
  const StatusOr<TileProgram> program = ReadTiles(text);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  const std::optional<StagedProgram> mirrored = MirrorProgram(AsStages(*program), equal);
  if (!mirrored) return "";
  EXPECT_EQ(mirrored->stages.size(), 1);
  const TileProgram& made = mirrored->stages[0].program;
  EXPECT_TRUE(Verify(made).ok()) << Verify(made).ToString();
  return WriteTiles(made);
}

constexpr std::string_view kKernelMatrix = R"(axes r c s0=3
operand f32[r, 1, s0]
operand f32[1, c, s0]
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
)";

TEST(MirrorProgram, MakesSymmetricValuesOnce) {
  const std::string text(kKernelMatrix);
  EXPECT_EQ(Mirror(text + "result f32[r] = add c %8\n", {{0, 1}}), R"(axes r c s0=3
operand f32[r, 1, s0]
operand f32[1, c, s0]
operand f32[c]
operand f32[r]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = fold add s0 %3
%5 = negate %4
%6 = exponential %5
%7 = load 2
%8 = multiply %6, %7
%9 = load 3
%10 = multiply %6, %9
result f32[r] = add c %8
result f32[c] = add r %10
)");
}

TEST(MirrorProgram, KnowsValuesThatAreTheirNegatives) {
  EXPECT_EQ(Mirror(R"(axes r c s0=2
operand f32[r, s0]
operand f32[c, s0]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = fold add s0 %3
%5 = multiply %4, %2
result f32[r, s0] = add c %5
)",
                   {{0, 1}}),
            R"(axes r c s0=2
operand f32[r, s0]
operand f32[c, s0]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = fold add s0 %3
%5 = multiply %4, %2
%6 = negate %5
result f32[r, s0] = add c %5
result f32[s0, c] = add r %6
)");
}

TEST(MirrorProgram, ComputesAnewWhatIsNotSymmetric) {
  // The arrays of the pair are not equal: both sides are read along the other axis.
  const std::string text(kKernelMatrix);
  const std::string mirrored = Mirror(text + "result f32[r] = add c %8\n", {});
  EXPECT_NE(mirrored.find("operand f32[c, 1, s0]"), std::string::npos) << mirrored;
  EXPECT_NE(mirrored.find("operand f32[1, r, s0]"), std::string::npos) << mirrored;
}

TEST(MirrorProgram, KnowsTheSamePointsButForAFactor) {
  const std::string_view text = R"(axes r c l0
operand f32[r, l0]
operand f32[c, l0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
%4 = exponential %3
result f32[r] = add c %4
)";
  EXPECT_EQ(Mirror(text, {{.rows = 0, .columns = 1, .factor = -2}}),
            StrCat(text, "result f32[c] = add r %4\n"));
  EXPECT_NE(Mirror(R"(axes r c
operand f32[r]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = add %0, %1
result f32[r] = add c %2
)",
                   {{.rows = 0, .columns = 1, .factor = 2}})
                .find(R"(%3 = constant f32 1073741824
%4 = multiply %3, %1
%5 = constant f32 1056964608
%6 = multiply %5, %0
%7 = add %4, %6
)"),
            std::string::npos);
}

TEST(MirrorProgram, TurnsPositions) {
  EXPECT_EQ(Mirror(R"(axes r c
operand f32[r]
operand f32[c]
%0 = iota i32 r
%1 = iota i32 c
%2 = compare lt %0, %1
%3 = load 0
%4 = load 1
%5 = select %2, %3, %4
result f32[r] = maximum c %5
)",
                   {{0, 1}}),
            R"(axes r c
operand f32[r]
operand f32[c]
%0 = iota i32 r
%1 = iota i32 c
%2 = compare lt %0, %1
%3 = load 0
%4 = load 1
%5 = select %2, %3, %4
%6 = compare lt %1, %0
%7 = select %6, %4, %3
result f32[r] = maximum c %5
result f32[c] = maximum r %7
)");
}

TEST(MirrorProgram, LeavesAloneWhatHasOtherResults) {
  const std::string text(kKernelMatrix);
  // Sums over rows, values that are written, positions of the best.
  EXPECT_EQ(Mirror(text + "result f32[c] = add r %8\n", {{0, 1}}), "");
  EXPECT_EQ(Mirror(text + "result f32[r, c] = %8\n", {{0, 1}}), "");
  EXPECT_EQ(Mirror(text + "%9 = iota i32 c\nresult f32[r] = maximum c %8\n"
                          "result i32[r] = with 0 c %9\n",
                   {{0, 1}}),
            "");
}

TEST(MirrorProgram, LeavesAloneMatricesAndSignsOfZeros) {
  EXPECT_EQ(Mirror("axes r c\noperand f32[r, c]\n%0 = load 0\nresult f32[r] = add c %0\n", {}), "");
  EXPECT_EQ(Mirror(R"(axes r c
operand f32[r]
operand f32[c]
operand f32[]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = load 2
%4 = divide %3, %2
result f32[r] = add c %4
)",
                   {{0, 1}}),
            "");
}

// A panel of the difference or the product of two points, times a matrix.
std::string Staged(std::string_view op, std::string_view value) {
  return StrCat(R"(stages
stage r argument 0, argument 1 -> panel 0
axes r c
operand f32[r]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = )",
                op, R"( %0, %1
result f32[r, c] = )",
                value, R"(
stage r panel 0, argument 2 -> result 0
axes r c l0
operand f32[r, l0]
operand f32[l0, c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[r, c] = add %3
)");
}

std::optional<StagedProgram> MirrorStages(std::string_view text,
                                          const std::vector<ArgumentPair>& equal) {
  const StatusOr<StagedProgram> program = ReadStages(text);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return MirrorProgram(*program, equal);
}

TEST(MirrorProgram, MultipliesPanelsFromTheOtherSide) {
  const std::optional<StagedProgram> even = MirrorStages(Staged("multiply", "%2"), {{0, 1}});
  ASSERT_TRUE(even);
  ASSERT_EQ(even->stages.size(), 3);
  const Stage& stage = even->stages[2];
  EXPECT_EQ(WriteTiles(stage.program), R"(axes r c l0
operand f32[l0, c]
operand f32[l0, r]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[r, c] = add %3
)");
  EXPECT_EQ(stage.rows, 2);
  EXPECT_EQ(stage.results[0], (StagePlace{.kind = StagePlaceKind::kResult, .number = 1}));
  const std::optional<StagedProgram> odd = MirrorStages(Staged("subtract", "%2"), {{0, 1}});
  ASSERT_TRUE(odd);
  EXPECT_NE(WriteTiles(odd->stages[2].program).find("negate"), std::string::npos);
}

TEST(MirrorProgram, LeavesAlonePanelsThatAreNotSymmetric) {
  EXPECT_FALSE(MirrorStages(Staged("multiply", "%2"), {}));
  EXPECT_FALSE(MirrorStages(Staged("multiply", "%0"), {{0, 1}}));
}

TEST(MirrorProgram, FindsPairsOfArguments) {
  const StatusOr<TileProgram> program =
      ReadTiles(std::string(kKernelMatrix) + "result f32[r] = add c %8\n");
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(PairsOfArguments(AsStages(*program)), (std::vector<ArgumentPair>{{0, 1}}));
}

}  // namespace
}  // namespace plimsoll
