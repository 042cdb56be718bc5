#include "kernels/masked_columns.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/staged_program.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Attention whose scores are masked; `weights` stands for what becomes of them.
std::string Attention(std::string_view masked, std::string_view weights, std::string_view sum) {
  return StrCat(R"(stages
stage r argument 0, argument 1, argument 2, argument 3 -> result 0, panel 0
axes r c l0
operand i32[r]
operand i32[c]
operand f32[r, l0]
operand f32[c, l0]
%0 = load 0
%1 = load 1
%2 = compare ge %0, %1
%3 = load 2
%4 = load 3
%5 = multiply %3, %4
%6 = fold add l0 %5
%7 = constant f32 4286578688
%8 = )",
                masked, R"(
result f32[r] = maximum c %8
result f32[r, c] = %8
stage r panel 0, result 0 -> result 1, panel 1
axes r c
operand f32[r, c]
operand f32[r]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = exponential %2
%4 = )",
                weights, R"(
result f32[r] = )",
                sum, R"( c %4
result f32[r, c] = %4
stage r panel 1, argument 4 -> result 2
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

StagedProgram Read(std::string_view text) {
  StatusOr<StagedProgram> program = ReadStages(text);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return program.ok() ? *program : StagedProgram();
}

// Where no row sees a column: what compares rows and columns is false.
std::optional<MaskConditions> ConditionsFor(std::string_view text) {
  const StagedProgram program = Read(text);
  std::vector<KnownPredicates> known;
  for (const Stage& stage : program.stages) {
    known.emplace_back();
    for (const TileOp& op : stage.program.ops) {
      const bool is_predicate = op.opcode == Opcode::kCompare;
      known.back().push_back(is_predicate ? std::optional(false) : std::nullopt);
    }
  }
  return ConditionsToSkip(program, known);
}

constexpr std::string_view kMasked = "select %2, %6, %7";
constexpr std::string_view kSame = "negate %3";

TEST(ConditionsToSkip, WantsWeightsOfHiddenColumnsToBeZero) {
  const std::optional<MaskConditions> found = ConditionsFor(Attention(kMasked, kSame, "add"));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (MaskConditions{.zero_panels = {1}, .bounded_arguments = {4}}));
}

TEST(ConditionsToSkip, LeavesColumnsThatNoMaskHides) {
  EXPECT_FALSE(ConditionsFor(Attention("negate %6", kSame, "add")));
  // The hidden ones are those that count.
  EXPECT_FALSE(ConditionsFor(Attention("select %2, %7, %6", kSame, "add")));
}

TEST(ConditionsToSkip, LeavesColumnsThatAreMultiplied) {
  EXPECT_FALSE(ConditionsFor(Attention(kMasked, kSame, "multiply")));
}

TEST(ConditionsToSkip, LeavesColumnsThatAreWritten) {
  EXPECT_FALSE(ConditionsFor(R"(stages
stage r argument 0, argument 1 -> panel 0, result 0
axes r c
operand i32[r]
operand i32[c]
%0 = load 0
%1 = load 1
%2 = compare ge %0, %1
%3 = constant f32 0
%4 = constant f32 1065353216
%5 = select %2, %4, %3
result f32[r, c] = %5
result f32[r, c] = %5
stage r panel 0 -> result 1
axes r c
operand f32[r, c]
%0 = load 0
result f32[r] = add c %0
)"));
}

TEST(ConditionsToSkip, WantsNothingWhereTheMaskItselfGivesZero) {
  const std::optional<MaskConditions> found = ConditionsFor(R"(stages
stage r argument 0, argument 1, argument 2 -> panel 0
axes r c
operand i32[r]
operand i32[c]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = compare ge %0, %1
%3 = load 2
%4 = constant f32 2147483648
%5 = select %2, %3, %4
result f32[r, c] = %5
stage r panel 0 -> result 0
axes r c
operand f32[r, c]
%0 = load 0
%1 = constant f32 1077936128
%2 = divide %0, %1
result f32[r] = add c %2
)");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, MaskConditions());
}

TEST(ConditionsToSkip, LeavesZerosTimesWhatMayBeInfinite) {
  constexpr std::string_view kText = R"(stages
stage r argument 0, argument 1, argument 2 -> panel 0
axes r c
operand i32[r]
operand i32[c]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = compare ge %0, %1
%3 = load 2
%4 = constant f32 0
%5 = select %2, %3, %4
%6 = WHAT %3
%7 = multiply %5, %6
result f32[r, c] = %7
stage r panel 0 -> result 0
axes r c
operand f32[r, c]
%0 = load 0
result f32[r] = add c %0
)";
  const auto with = [&](std::string_view what) {
    std::string text(kText);
    return text.replace(text.find("WHAT"), 4, what);
  };
  EXPECT_FALSE(ConditionsFor(with("exponential")));
  const std::optional<MaskConditions> found = ConditionsFor(with("negate"));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (MaskConditions{.zero_panels = {}, .bounded_arguments = {2}}));
}

TEST(PanelColumns, FollowsPanelsIntoSums) {
  const std::optional<std::vector<int>> found =
      PanelColumns(Read(Attention(kMasked, kSame, "add")));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (std::vector<int>{kColumnAxis, kColumnAxis, 2}));
}

}  // namespace
}  // namespace plimsoll
