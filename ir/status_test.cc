#include "ir/status.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

Status Fail() { return {ErrorCode::kBrokenText, "it broke"}; }

StatusOr<int> Half(int number) {
  if (number % 2 != 0) return Fail();
  return number / 2;
}

StatusOr<int> Quarter(int number) {
  ASSIGN_OR_RETURN(const int half, Half(number));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status Check(bool good) {
  RETURN_IF_ERROR(good ? OkStatus() : Fail());
  return {ErrorCode::kInternal, "reached the end"};
}

TEST(StatusTest, OkHasNoMessage) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.ToString(), "ok");
}

TEST(StatusTest, ErrorHasCodeAndMessage) {
  EXPECT_FALSE(Fail().ok());
  EXPECT_EQ(Fail().ToString(), "PL102: it broke");
}

TEST(StatusTest, CopiesAreIndependent) {
  Status first = Fail();
  const Status second = first;
  first = OkStatus();
  EXPECT_TRUE(first.ok());
  EXPECT_EQ(second.message(), "it broke");
  first = second;
  EXPECT_EQ(first.message(), "it broke");
}

TEST(StatusTest, CodesHaveNames) {
  EXPECT_EQ(ErrorCodeName(ErrorCode::kOk), "");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kNotAProgram), "PL100");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kInternal), "PL901");
}

TEST(StatusTest, MistakesOfTheUserAreToldFromFailures) {
  EXPECT_TRUE(IsUserMistake(ErrorCode::kInvalidProgram));
  EXPECT_FALSE(IsUserMistake(ErrorCode::kEngineFailure));
  EXPECT_FALSE(IsUserMistake(ErrorCode::kInternal));
}

TEST(StatusOrTest, HoldsValueOrError) {
  EXPECT_EQ(*Half(8), 4);
  EXPECT_FALSE(Half(7).ok());
  EXPECT_EQ(Half(7).status().message(), "it broke");
}

TEST(StatusOrTest, MovesValuesOut) {
  StatusOr<std::unique_ptr<int>> holder(std::make_unique<int>(3));
  const std::unique_ptr<int> taken = *std::move(holder);
  EXPECT_EQ(*taken, 3);
}

TEST(StatusOrTest, AssignOrReturnGivesTheFirstError) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(7).status().message(), "it broke");
  EXPECT_EQ(Quarter(6).status().message(), "it broke");
}

TEST(StatusTest, ReturnIfErrorGoesOnWhenOk) {
  EXPECT_EQ(Check(false).message(), "it broke");
  EXPECT_EQ(Check(true).message(), "reached the end");
}

TEST(StrCatTest, JoinsStringsCharactersAndNumbers) {
  const std::string_view view = "view";
  EXPECT_EQ(StrCat("text ", view, ' ', std::string("string "), 'c', -3, ' ', size_t{7}),
            "text view string c-3 7");
}

}  // namespace
}  // namespace plimsoll
