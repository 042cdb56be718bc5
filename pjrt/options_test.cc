#include "pjrt/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string ErrorOf(std::string_view json) {
  const auto options = OptionsFromJson(json);
  EXPECT_FALSE(options.ok()) << json;
  EXPECT_EQ(options.status().code(), ErrorCode::kBadArgument);
  return std::string(options.status().message());
}

TEST(OptionsTest, ReadsEveryKindOfValue) {
  const auto options = OptionsFromJson(
      R"({"a": "text", "b": true, "c": -7, "d": 0.5, "e": [1, 2], "f": 9223372036854775807})");
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_THAT(*options,
              ElementsAre(Option{"a", "text"}, Option{"b", true}, Option{"c", int64_t{-7}},
                          Option{"d", 0.5}, Option{"e", std::vector<int64_t>{1, 2}},
                          Option{"f", int64_t{9223372036854775807}}));
}

TEST(OptionsTest, NothingIsNoOptions) {
  EXPECT_THAT(*OptionsFromJson(""), IsEmpty());
  EXPECT_THAT(*OptionsFromJson("{}"), IsEmpty());
}

TEST(OptionsTest, RefusesWhatIsNoObject) {
  for (const std::string_view json : {"{", "[1]", "1", "\"text\"", "{\"a\": 1} 2", "\xff"}) {
    EXPECT_THAT(ErrorOf(json), HasSubstr("expected a JSON object"));
  }
}

TEST(OptionsTest, RefusesValuesOfOtherKinds) {
  EXPECT_EQ(ErrorOf(R"({"a": null})"),
            "option a: expected text, a boolean, a number or a list of integers, found null");
  EXPECT_THAT(ErrorOf(R"({"a": {"b": 1}})"), HasSubstr("found {\"b\":1}"));
  EXPECT_THAT(ErrorOf(R"({"a": [1, "b"]})"), HasSubstr("found [1,\"b\"]"));
  // One more than the largest integer, which must not turn negative.
  EXPECT_THAT(ErrorOf(R"({"a": 9223372036854775808})"), HasSubstr("found 9223372036854775808"));
}

}  // namespace
}  // namespace plimsoll
