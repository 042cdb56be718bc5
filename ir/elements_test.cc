#include "ir/elements.h"

#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "ir/testing.h"

namespace plimsoll {
namespace {

class ElementsTest : public ::testing::Test {
 protected:
  // The bytes as numbers, or "none".
  template <typename Number>
  std::string Encode(std::string_view element, Number value) {
    const std::optional<std::string> bytes =
        EncodeElement(testing::ParseElement(context_, element), value);
    if (!bytes) return "none";
    std::string text;
    for (const char byte : *bytes) {
      if (!text.empty()) text += ' ';
      text += std::to_string(static_cast<uint8_t>(byte));
    }
    return text;
  }
  std::string Integer(std::string_view element, int64_t value) { return Encode(element, value); }
  std::string Double(std::string_view element, double value) { return Encode(element, value); }

  Context context_;
};

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

TEST_F(ElementsTest, IntegersAreLittleEndian) {
  EXPECT_EQ(Integer("i32", 258), "2 1 0 0");
  EXPECT_EQ(Integer("i16", -2), "254 255");
  EXPECT_EQ(Integer("i64", kSmallest), "0 0 0 0 0 0 0 128");
  EXPECT_EQ(Integer("index", 1), "1 0 0 0 0 0 0 0");
}

TEST_F(ElementsTest, SmallIntegersTakeAByte) {
  EXPECT_EQ(Integer("i1", 1), "1");
  EXPECT_EQ(Integer("i4", -1), "15");
  EXPECT_EQ(Integer("ui2", 3), "3");
}

TEST_F(ElementsTest, IntegersMustFit) {
  EXPECT_EQ(Integer("i8", 128), "none");
  EXPECT_EQ(Integer("i8", -129), "none");
  EXPECT_EQ(Integer("ui8", -1), "none");
  EXPECT_EQ(Integer("ui8", 256), "none");
  EXPECT_EQ(Integer("i1", -1), "none");
  EXPECT_EQ(Integer("ui64", -1), "none");
  EXPECT_EQ(Integer("i0", 0), "none");
}

TEST_F(ElementsTest, WideIntegersAreExtended) {
  EXPECT_EQ(Integer("i128", -1), "255 255 255 255 255 255 255 255 255 255 255 255 255 255 255 255");
}

TEST_F(ElementsTest, DoublesBecomeIntegersIfTheyAreWhole) {
  EXPECT_EQ(Double("i16", -2.0), "254 255");
  EXPECT_EQ(Double("i16", 0.5), "none");
  EXPECT_EQ(Double("i64", 0x1p63), "none");
  EXPECT_EQ(Double("i64", -0x1p63), "0 0 0 0 0 0 0 128");
  EXPECT_EQ(Double("i64", std::numeric_limits<double>::quiet_NaN()), "none");
  EXPECT_EQ(Double("i64", std::numeric_limits<double>::infinity()), "none");
}

TEST_F(ElementsTest, FloatsAreRoundedToNearest) {
  EXPECT_EQ(Double("f32", 1.0), "0 0 128 63");
  EXPECT_EQ(Double("bf16", 1.0 + 0x1p-9), "128 63");
  EXPECT_EQ(Double("f64", -0.0), "0 0 0 0 0 0 0 128");
  EXPECT_EQ(Double("f32", std::numeric_limits<double>::infinity()), "0 0 128 127");
  EXPECT_EQ(Double("f8E4M3FN", 1.0), "56");
  EXPECT_EQ(Integer("f32", 16777217), "0 0 128 75");
  EXPECT_EQ(Integer("f64", kLargest), "0 0 0 0 0 0 224 67");
}

TEST_F(ElementsTest, ComplexNumbersHaveNoImaginaryPart) {
  EXPECT_EQ(Double("complex<f32>", 1.0), "0 0 128 63 0 0 0 0");
  EXPECT_EQ(Integer("complex<f32>", 1), "0 0 128 63 0 0 0 0");
}

TEST_F(ElementsTest, OtherTypesHoldNoNumbers) {
  EXPECT_EQ(Double("q8", 1.0), "none");
  EXPECT_FALSE(EncodeElement(Type(), 1.0).has_value());
  EXPECT_FALSE(EncodeElement(context_.TokenType(), int64_t{1}).has_value());
}

}  // namespace
}  // namespace plimsoll
