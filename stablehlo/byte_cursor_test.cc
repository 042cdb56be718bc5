#include "stablehlo/byte_cursor.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ByteCursor MakeCursor(std::string_view bytes, size_t start = 0) {
  return {{bytes.data(), bytes.size()}, start, "input"};
}

uint64_t Number(std::string_view bytes) {
  ByteCursor cursor = MakeCursor(bytes);
  const StatusOr<uint64_t> number = cursor.TakeNumber();
  EXPECT_TRUE(number.ok()) << number.status().ToString();
  EXPECT_TRUE(cursor.AtEnd());
  return number.ok() ? *number : 0;
}

TEST(ByteCursorTest, ReadsNumbersOfEachLength) {
  EXPECT_EQ(Number("\x01"), 0U);
  EXPECT_EQ(Number("\xFF"), 127U);
  EXPECT_EQ(Number(std::string("\x02\x02", 2)), 128U);
  EXPECT_EQ(Number("\xFE\xFF"), 16383U);
  EXPECT_EQ(Number(std::string("\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 9)), ~uint64_t{0});
}

TEST(ByteCursorTest, ReadsSignedNumbers) {
  ByteCursor cursor = MakeCursor("\x03\x05\x07");
  EXPECT_EQ(*cursor.TakeSigned(), -1);
  EXPECT_EQ(*cursor.TakeSigned(), 1);
  EXPECT_EQ(*cursor.TakeSigned(), -2);
}

TEST(ByteCursorTest, RefusesANumberThatIsCutOff) {
  ByteCursor cursor = MakeCursor(std::string_view("\x02", 1), 40);
  EXPECT_EQ(cursor.TakeNumber().status().ToString(),
            "PL101: input: at byte 40: the input ends inside a number");
}

TEST(ByteCursorTest, RefusesACountThatTheRestCannotHold) {
  ByteCursor cursor = MakeCursor("\xFF\x01\x01");
  EXPECT_THAT(cursor.TakeCount().status().ToString(),
              HasSubstr("a list claims 127 entries, but only 2 bytes are left"));
}

TEST(ByteCursorTest, RefusesMoreBytesThanThereAre) {
  ByteCursor cursor = MakeCursor("ab");
  EXPECT_FALSE(cursor.TakeBytes(~uint64_t{0}).ok());
  EXPECT_THAT(*cursor.TakeBytes(2), ElementsAre('a', 'b'));
  EXPECT_FALSE(cursor.TakeByte().ok());
}

TEST(ByteCursorTest, ReadsStringsUpToTheirZero) {
  ByteCursor cursor = MakeCursor(std::string_view("ab\0c", 4));
  EXPECT_EQ(*cursor.TakeZeroTerminated(), "ab");
  EXPECT_FALSE(cursor.TakeZeroTerminated().ok());
}

TEST(ByteCursorTest, AlignsFromTheInputsStart) {
  ByteCursor cursor = MakeCursor("\xCB\xCBx", 6);
  EXPECT_TRUE(cursor.AlignTo(8).ok());
  EXPECT_EQ(*cursor.TakeByte(), 'x');
}

TEST(ByteCursorTest, RefusesOddAlignmentsAndOtherPadding) {
  EXPECT_FALSE(MakeCursor("\xCB", 1).AlignTo(3).ok());
  EXPECT_FALSE(MakeCursor("\xCB", 1).AlignTo(0).ok());
  EXPECT_FALSE(MakeCursor("x", 1).AlignTo(2).ok());
}

}  // namespace
}  // namespace plimsoll
