#include "kernels/signs.h"

#include <string_view>

#include "gtest/gtest.h"
#include "ir/status.h"
#include "kernels/tile_text.h"

namespace plimsoll {
namespace {

// Of the last op of a program with two operands, %0 and %1, of which nothing is known.
Sign SignOf(std::string_view ops) {
  const StatusOr<TileProgram> program =
      ReadTiles(StrCat("axes r c s0=3\noperand f32[r, s0]\noperand f32[c, s0]\n%0 = load 0\n",
                       "%1 = load 1\n", ops));
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return program.ok() ? SignsOf(*program).back() : Sign::kAny;
}

TEST(SignsTest, DistancesAreNotNegative) {
  constexpr std::string_view kSquares =
      "%2 = subtract %0, %1\n%3 = multiply %2, %2\n%4 = fold add s0 %3\n";
  EXPECT_EQ(SignOf(kSquares), Sign::kNeverNegative);
  EXPECT_EQ(SignOf(StrCat(kSquares, "%5 = negate %4\n")), Sign::kNeverPositive);
  EXPECT_EQ(SignOf(StrCat(kSquares, "%5 = sqrt %4\n")), Sign::kNeverNegative);
  EXPECT_EQ(SignOf(StrCat(kSquares, "%5 = constant f32 3204448256\n%6 = multiply %4, %5\n")),
            Sign::kNeverPositive);
  EXPECT_EQ(SignOf("%2 = subtract %0, %1\n%3 = abs %2\n%4 = negate %3\n"), Sign::kNeverPositive);
}

TEST(SignsTest, OfSeveral) {
  constexpr std::string_view kBoth = "%2 = abs %0\n%3 = abs %1\n%4 = negate %3\n";
  EXPECT_EQ(SignOf(StrCat(kBoth, "%5 = add %2, %3\n")), Sign::kNeverNegative);
  EXPECT_EQ(SignOf(StrCat(kBoth, "%5 = add %2, %4\n")), Sign::kAny);
  EXPECT_EQ(SignOf(StrCat(kBoth, "%5 = subtract %2, %4\n")), Sign::kNeverNegative);
  EXPECT_EQ(SignOf(StrCat(kBoth, "%5 = subtract %4, %2\n")), Sign::kNeverPositive);
  EXPECT_EQ(SignOf(StrCat(kBoth, "%5 = divide %4, %2\n")), Sign::kNeverPositive);
  EXPECT_EQ(SignOf(StrCat(kBoth, "%5 = maximum %0, %2\n")), Sign::kNeverNegative);
  EXPECT_EQ(SignOf(StrCat(kBoth, "%5 = minimum %0, %2\n")), Sign::kAny);
  EXPECT_EQ(SignOf(StrCat(kBoth, "%5 = minimum %0, %4\n")), Sign::kNeverPositive);
  EXPECT_EQ(SignOf(StrCat(kBoth, "%5 = fold multiply s0 %4\n")), Sign::kAny);
}

TEST(SignsTest, NothingIsKnownOfOthers) {
  EXPECT_EQ(SignOf("%2 = multiply %0, %1\n"), Sign::kAny);
  EXPECT_EQ(SignOf("%2 = sine %0\n"), Sign::kAny);
  EXPECT_EQ(SignOf("%2 = convert i32 %0\n%3 = multiply %2, %2\n"), Sign::kAny);
}

}  // namespace
}  // namespace plimsoll
