#include "analysis/library_sums.h"

#include <memory>
#include <string>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

// Sums along the last dimension of squares, which something else may need as well.
bool WantsFor(int rows, int length, bool is_kept = false) {
  const std::string type = StrCat("tensor<", rows, "x", length, "xf32>");
  const std::unique_ptr<Module> module = OneOp(
      {StrCat(rows, "x", length, "xf32")},
      StrCat(
          R"(%zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
      %squares = "stablehlo.multiply"(%0, %0) : ()",
          type, ", ", type, ") -> ", type, "\n",
          is_kept ? StrCat("%other = \"stablehlo.negate\"(%squares) : (", type, ") -> ", type) : "",
          R"(
      %s = "stablehlo.reduce"(%squares, %zero) <{dimensions = array<i64: 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %sum = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%sum) : (tensor<f32>) -> ()
      }) : ()",
          type, ", tensor<f32>) -> tensor<", rows, "xf32>"));
  return module != nullptr && WantsLibrarySums(*module->main()->entry_block());
}

TEST(LibrarySums, LongSumsOfWhatNeedNotExistAreTheLibrarys) {
  EXPECT_TRUE(WantsFor(10000, 64));
  EXPECT_TRUE(WantsFor(1000, 1000));
}

TEST(LibrarySums, SmallOnesShortOnesAndThoseOfWhatExistsAnywayAreNot) {
  EXPECT_FALSE(WantsFor(10, 64));
  EXPECT_FALSE(WantsFor(200000, 3));
  EXPECT_FALSE(WantsFor(200000, 32));
  EXPECT_FALSE(WantsFor(10000, 64, /*is_kept=*/true));
}

}  // namespace
}  // namespace plimsoll::testing
