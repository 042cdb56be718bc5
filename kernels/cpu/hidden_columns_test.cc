#include "kernels/cpu/hidden_columns.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

// Sums of what rows see: columns up to their own, and of the same group.
constexpr std::string_view kText = R"(stages
stage r argument 0, argument 1, argument 2, argument 3 -> panel 0
axes r c
operand i32[r]
operand i32[c]
operand f32[c]
operand f32[]
%0 = iota i64 r
%1 = iota i64 c
%2 = constant i64 10
%3 = add %0, %2
%4 = compare ge %3, %1
%5 = load 0
%6 = load 1
%7 = compare eq %5, %6
%8 = and %4, %7
%9 = load 2
%10 = load 3
%11 = select %8, %9, %10
result f32[r, c] = %11
stage r panel 0, argument 2 -> result 0
axes r c
operand f32[r, c]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
result f32[r] = add c %2
)";

class HiddenColumnsTest : public ::testing::Test {
 protected:
  static constexpr int64_t kSize = 1000;

  HiddenColumnsTest() : program_(*ReadStages(kText)), groups_(kSize), numbers_(kSize, 1.5F) {
    layout_.stages.resize(2);
    layout_.column_axes = {kColumnAxis, kColumnAxis};
    layout_.columns = kSize;
  }

  SeenColumns Seen(int64_t row_begin, int64_t row_end) {
    arguments_ = {{.data = groups_.data(), .shape = shape_},
                  {.data = groups_.data(), .shape = shape_},
                  {.data = numbers_.data(), .shape = shape_},
                  {.data = &hidden_, .shape = {}}};
    hidden_columns_.emplace(program_, layout_, llvm::ArrayRef(arguments_));
    EXPECT_TRUE(hidden_columns_->may_hide());
    return hidden_columns_->SeenBy(row_begin, row_end, [&](size_t, size_t operand) {
      return StageOperand{.first = static_cast<const char*>(arguments_[operand].data),
                          .row_stride = 1,
                          .column_stride = 1};
    });
  }

  StagedProgram program_;
  StagesLayout layout_;
  std::vector<int64_t> shape_ = {kSize};
  std::vector<int32_t> groups_;
  std::vector<float> numbers_;
  float hidden_ = 0;
  std::vector<KernelArray> arguments_;
  std::optional<HiddenColumns> hidden_columns_;
};

TEST_F(HiddenColumnsTest, EndBehindTheLastRowsPosition) {
  // Columns are looked at by 64; one more stands for the others.
  EXPECT_EQ(Seen(0, 8).end, 65);
  EXPECT_EQ(Seen(0, 54).end, 65);
  EXPECT_EQ(Seen(0, 55).end, 129);
  EXPECT_EQ(Seen(500, 600).end, 641);
}

TEST_F(HiddenColumnsTest, AreNoneForTheLastRows) {
  const SeenColumns seen = Seen(900, 1000);
  EXPECT_EQ(seen.begin, 0);
  EXPECT_EQ(seen.end, kSize);
  EXPECT_EQ(seen.behind, nullptr);
}

TEST_F(HiddenColumnsTest, FollowGroupsThatAreKnownAtRunTime) {
  for (int64_t i = 0; i < kSize; ++i) groups_[static_cast<size_t>(i)] = i < 300 ? 1 : 2;
  // Of the second condition alone it would be 321; the last columns are hidden by both.
  EXPECT_EQ(Seen(700, 800).end, 833);
  // Column 255 stands for the group before.
  EXPECT_EQ(Seen(700, 800).begin, 255);
  EXPECT_EQ(Seen(200, 290).begin, 0);
  groups_.assign(kSize, 7);
  groups_[999] = 8;
  EXPECT_EQ(Seen(0, 8).end, 961);
}

// What lies between two groups of one kind is hidden from none of them on its own.
TEST_F(HiddenColumnsTest, LieBeforeAndBehind) {
  for (int64_t i = 0; i < kSize; ++i) groups_[static_cast<size_t>(i)] = i < 640 || i >= 700 ? 1 : 2;
  const SeenColumns seen = Seen(640, 700);
  EXPECT_EQ(seen.begin, 639);
  EXPECT_EQ(seen.end, 769);
  ASSERT_NE(seen.before, nullptr);
  EXPECT_EQ(seen.before->zero_panels, std::vector<int>{0});
  EXPECT_EQ(Seen(700, 750).begin, 0);
}

TEST_F(HiddenColumnsTest, AreAllIfNoneIsSeen) {
  groups_.assign(kSize, 1);
  groups_[0] = 2;
  const SeenColumns seen = Seen(0, 1);
  EXPECT_EQ(seen.begin, 0);
  EXPECT_EQ(seen.end, 65);
}

TEST_F(HiddenColumnsTest, AreNoneIfWhatTheyAreTimesIsNotFinite) {
  numbers_[3] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Seen(0, 8).end, kSize);
  numbers_[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Seen(0, 8).end, kSize);
  numbers_[3] = 1e30F;
  EXPECT_EQ(Seen(0, 8).end, kSize);
  numbers_[3] = 1e10F;
  EXPECT_EQ(Seen(0, 8).end, 65);
}

TEST_F(HiddenColumnsTest, HaveToBeZeroInThePanel) {
  const SeenColumns seen = Seen(0, 8);
  ASSERT_NE(seen.behind, nullptr);
  EXPECT_EQ(seen.behind->zero_panels, std::vector<int>{0});
}

TEST_F(HiddenColumnsTest, AreNoneWithoutAMask) {
  program_.stages[0].program.ops[4].kind = TileOpKind::kLoad;
  program_.stages[0].program.ops[4].index = 0;
  program_.stages[0].program.ops[7] = program_.stages[0].program.ops[4];
  const HiddenColumns hidden(program_, layout_, llvm::ArrayRef(arguments_));
  EXPECT_FALSE(hidden.may_hide());
}

// Sums of the columns before each row's own.
constexpr std::string_view kCausalText = R"(stages
stage r argument 0 -> result 0
axes r c
operand f32[c]
%0 = iota i32 r
%1 = iota i32 c
%2 = compare gt %0, %1
%3 = load 0
%4 = constant f32 0
%5 = select %2, %3, %4
result f32[r] = add c %5
)";

StagesLayout CausalLayout(int64_t size) {
  StagesLayout layout;
  layout.stages.resize(1);
  layout.column_axes = {kColumnAxis};
  layout.rows = size;
  layout.columns = size;
  layout.rows_of_piece = 10;
  layout.pieces = size / 10;
  return layout;
}

TEST(ShareOfSeen, IsAHalfOfACausalMask) {
  EXPECT_NEAR(ShareOfSeen(*ReadStages(kCausalText), CausalLayout(100000)), 0.5, 0.01);
  EXPECT_NEAR(ShareOfSeen(*ReadStages(kCausalText), CausalLayout(1000)), 0.54, 0.03);
}

TEST(ShareOfSeen, IsAllWhereArgumentsTell) {
  StagesLayout layout = CausalLayout(1000);
  layout.stages.resize(2);
  layout.column_axes = {kColumnAxis, kColumnAxis};
  EXPECT_EQ(ShareOfSeen(*ReadStages(kText), layout), 1);
}

}  // namespace
}  // namespace plimsoll
