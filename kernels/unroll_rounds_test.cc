#include "kernels/unroll_rounds.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::BodyText;
using ::plimsoll::testing::Program;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kType = "200x300xui32";
constexpr int64_t kLeastBytes = int64_t{200} * 300 * 4;

// A loop of some turns, each of which shifts %1 by the next of these numbers and adds it.
std::string Rounds(std::string_view turns, std::string_view body) {
  return StrCat(R"(
  %z = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %a = "stablehlo.constant"() <{value = dense<[13, 15]> : tensor<2xui32>}> : () -> tensor<2xui32>
  %b = "stablehlo.constant"() <{value = dense<[17, 29]> : tensor<2xui32>}> : () -> tensor<2xui32>
  %l:4 = "stablehlo.while"(%z, %0, %a, %b) ({
  ^bb0(%i: tensor<i32>, %s: tensor<200x300xui32>, %c: tensor<2xui32>, %d: tensor<2xui32>):
    %m = "stablehlo.constant"() <{value = dense<)",
                turns, R"(> : tensor<i32>}> : () -> tensor<i32>
    %t = "stablehlo.compare"(%i, %m) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%t) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<200x300xui32>, %c: tensor<2xui32>, %d: tensor<2xui32>):
    %e = "stablehlo.slice"(%c) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %f = "stablehlo.reshape"(%e) : (tensor<1xui32>) -> tensor<ui32>
    %g = "stablehlo.broadcast_in_dim"(%f) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<200x300xui32>
)",
                body, R"(
    %o = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %o) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%j, %n, %d, %c) : (tensor<i32>, tensor<200x300xui32>, tensor<2xui32>, tensor<2xui32>) -> ()
  }) : (tensor<i32>, tensor<200x300xui32>, tensor<2xui32>, tensor<2xui32>) -> (tensor<i32>, tensor<200x300xui32>, tensor<2xui32>, tensor<2xui32>)
)");
}

constexpr std::string_view kShift =
    R"(%n = "stablehlo.shift_left"(%s, %g) : (tensor<200x300xui32>, tensor<200x300xui32>) -> tensor<200x300xui32>)";

// The program's loop; null if there is none.
Op* LoopOf(const Module& module) {
  for (Op& op : *module.main()->entry_block()) {
    if (op.Is(Opcode::kWhile)) return &op;
  }
  return nullptr;
}

std::unique_ptr<Module> Make(std::string_view turns, std::string_view body = kShift) {
  return Program({kType}, Rounds(turns, body), {{"%l#1", kType}});
}

TEST(UnrolledRounds, ArePutOneAfterTheOther) {
  const std::unique_ptr<Module> module = Make("3");
  ASSERT_NE(module, nullptr);
  Op* loop = LoopOf(*module);
  ASSERT_TRUE(UnrolledRounds::CanUnroll(*loop, kLeastBytes));
  UnrolledRounds rounds(module->context());
  ASSERT_TRUE(rounds.Unroll(*loop));
  const std::string text = BodyText(*module);
  EXPECT_THAT(text, Not(HasSubstr("while")));
  // By 15, 29 and 15 again: the numbers are known.
  const size_t first = text.find("dense<15> : tensor<ui32>");
  const size_t second = text.find("dense<29> : tensor<ui32>");
  EXPECT_LT(first, second);
  EXPECT_NE(second, std::string::npos);
  EXPECT_NE(text.find("dense<15> : tensor<ui32>", second), std::string::npos);
}

TEST(UnrolledRounds, AreALoopAgain) {
  const std::unique_ptr<Module> module = Make("3");
  ASSERT_NE(module, nullptr);
  const std::string before = BodyText(*module);
  UnrolledRounds rounds(module->context());
  ASSERT_TRUE(rounds.Unroll(*LoopOf(*module)));
  EXPECT_THAT(rounds.RollUp(), SizeIs(1));
  EXPECT_EQ(BodyText(*module), before);
}

TEST(UnrolledRounds, AreGoneWhereNobodyUsesThemAnyMore) {
  const std::unique_ptr<Module> module = Make("3");
  ASSERT_NE(module, nullptr);
  UnrolledRounds rounds(module->context());
  ASSERT_TRUE(rounds.Unroll(*LoopOf(*module)));
  Block& block = *module->main()->entry_block();
  block.last()->set_operand(0, block.argument(0));
  EXPECT_THAT(rounds.RollUp(), IsEmpty());
  EXPECT_EQ(block.first(), block.last());
}

TEST(UnrolledRounds, OfNoTurnsAreWhatTheyBeganWith) {
  const std::unique_ptr<Module> module = Make("0");
  ASSERT_NE(module, nullptr);
  UnrolledRounds rounds(module->context());
  ASSERT_TRUE(rounds.Unroll(*LoopOf(*module)));
  EXPECT_THAT(rounds.RollUp(), IsEmpty());
  EXPECT_THAT(BodyText(*module), HasSubstr("\"func.return\"(%arg0)"));
}

TEST(UnrolledRounds, AreFew) {
  const std::unique_ptr<Module> module = Make("9");
  ASSERT_NE(module, nullptr);
  const std::string before = BodyText(*module);
  UnrolledRounds rounds(module->context());
  EXPECT_FALSE(rounds.Unroll(*LoopOf(*module)));
  EXPECT_EQ(BodyText(*module), before);
}

TEST(UnrolledRounds, ChangeEachIntegerByItself) {
  constexpr std::string_view kReverse =
      R"(%n = "stablehlo.reverse"(%s) <{dimensions = array<i64: 0>}> : (tensor<200x300xui32>) -> tensor<200x300xui32>)";
  const std::unique_ptr<Module> reversed = Make("3", kReverse);
  ASSERT_NE(reversed, nullptr);
  EXPECT_FALSE(UnrolledRounds::CanUnroll(*LoopOf(*reversed), kLeastBytes));
  const std::unique_ptr<Module> module = Make("3");
  ASSERT_NE(module, nullptr);
  EXPECT_FALSE(UnrolledRounds::CanUnroll(*LoopOf(*module), kLeastBytes + 1));
}

}  // namespace
}  // namespace plimsoll
