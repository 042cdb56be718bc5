#include "kernels/cpu/find_mirrored.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

constexpr std::string_view kKernelMatrix = R"(axes r c l0
operand f32[r, l0]
operand f32[c, l0]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
%4 = exponential %3
%5 = load 2
%6 = multiply %4, %5
result f32[r] = add c %6
)";

constexpr int64_t kPoints = 2000;
constexpr int64_t kWidth = 4;
constexpr int64_t kEnough = 4 << 20;

class FindMirroredTest : public ::testing::Test {
 protected:
  FindMirroredTest() {
    for (int64_t i = 0; i < kPoints * kWidth; ++i) rows_.push_back(static_cast<float>(i % 17 - 8));
    columns_ = rows_;
  }

  // Of the columns only some, if there are to be fewer.
  bool IsMirrored(int64_t columns = kPoints, int64_t scratch = kEnough) {
    const std::vector<int64_t> row_shape = {kPoints, kWidth};
    const std::vector<int64_t> column_shape = {columns, kWidth};
    const std::vector<int64_t> factor_shape = {columns};
    const std::vector<int64_t> result_shape = {kPoints};
    std::vector<float> factors(static_cast<size_t>(columns), 1);
    std::vector<float> result(kPoints);
    const std::vector<KernelArray> operands = {{.data = rows_.data(), .shape = row_shape},
                                               {.data = columns_.data(), .shape = column_shape},
                                               {.data = factors.data(), .shape = factor_shape}};
    return FindMirrored(kKernelMatrix, operands, {{.data = result.data(), .shape = result_shape}},
                        scratch)
        .has_value();
  }

  std::vector<float> rows_;
  std::vector<float> columns_;
};

TEST_F(FindMirroredTest, KnowsTheSamePoints) { EXPECT_TRUE(IsMirrored()); }

TEST_F(FindMirroredTest, KnowsThemTimesAPowerOfTwo) {
  for (const float factor : {2.0F, -0.25F}) {
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i] = factor * columns_[i];
    EXPECT_TRUE(IsMirrored());
  }
  for (size_t i = 0; i < rows_.size(); ++i) rows_[i] = 3 * columns_[i];
  EXPECT_FALSE(IsMirrored());
}

TEST_F(FindMirroredTest, LeavesAloneOtherPoints) {
  columns_.back() += 1;
  EXPECT_FALSE(IsMirrored());
  columns_.assign(columns_.size(), 0);
  EXPECT_FALSE(IsMirrored());
}

TEST_F(FindMirroredTest, LeavesAloneOtherSizes) { EXPECT_FALSE(IsMirrored(kPoints - 1)); }

TEST_F(FindMirroredTest, WantsScratch) { EXPECT_FALSE(IsMirrored(kPoints, 1000)); }

TEST_F(FindMirroredTest, LeavesAloneProgramsOfAnotherKind) {
  EXPECT_FALSE(FindMirrored("not a program", {}, {}, kEnough).has_value());
}

}  // namespace
}  // namespace plimsoll
