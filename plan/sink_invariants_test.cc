#include "plan/sink_invariants.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/verify.h"

namespace plimsoll::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// A matrix %k of a vector, and a loop that multiplies it with a vector five times.
std::string Loop(std::string_view making) {
  return StrCat(making, R"(
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %r:2 = "stablehlo.while"(%zero, %0) ({
  ^bb1(%i: tensor<i32>, %x: tensor<1000xf32>):
    %n = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb1(%i: tensor<i32>, %x: tensor<1000xf32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %y = "stablehlo.dot_general"(%k, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1000x1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
    "stablehlo.return"(%j, %y) : (tensor<i32>, tensor<1000xf32>) -> ()
  }) : (tensor<i32>, tensor<1000xf32>) -> (tensor<i32>, tensor<1000xf32>)
)");
}

constexpr std::string_view kMatrix = R"(
  %w = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %k = "stablehlo.tanh"(%w) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
)";

struct Sunk {
  std::unique_ptr<Module> module;
  std::vector<RecomputedValue> recomputed;
};

Sunk SinkOf(std::string_view body, const std::vector<NamedType>& results, int64_t threshold) {
  Sunk sunk;
  sunk.module = Program({"1000xf32"}, body, results);
  if (sunk.module == nullptr) return sunk;
  sunk.recomputed =
      SinkInvariants(sunk.module->context(), *sunk.module->main()->entry_block(), threshold);
  EXPECT_TRUE(Verify(*sunk.module).ok());
  return sunk;
}

// Tests that a matrix which a loop reads is made in it, and nothing that it is made of besides.
TEST(SinkInvariantsTest, MakesWhatLoopsReadInsideOfThem) {
  const Sunk sunk = SinkOf(Loop(kMatrix), {{"%r#1", "1000xf32"}}, 1'000'000);
  ASSERT_THAT(sunk.recomputed, SizeIs(1));
  EXPECT_EQ(sunk.recomputed[0].value.type, "tensor<1000x1000xf32>");
  EXPECT_EQ(sunk.recomputed[0].loops, 1);
}

TEST(SinkInvariantsTest, LeavesSmallValues) {
  EXPECT_THAT(SinkOf(Loop(kMatrix), {{"%r#1", "1000xf32"}}, 4'000'000).recomputed, IsEmpty());
}

TEST(SinkInvariantsTest, LeavesResults) {
  EXPECT_THAT(
      SinkOf(Loop(kMatrix), {{"%r#1", "1000xf32"}, {"%k", "1000x1000xf32"}}, 1'000'000).recomputed,
      IsEmpty());
}

TEST(SinkInvariantsTest, LeavesWhatHasEffects) {
  const Sunk sunk = SinkOf(Loop(R"(
  %k = "stablehlo.custom_call"() <{call_target_name = "draw", has_side_effect = true}> : () -> tensor<1000x1000xf32>
)"),
                           {{"%r#1", "1000xf32"}}, 1'000'000);
  EXPECT_THAT(sunk.recomputed, IsEmpty());
}

}  // namespace
}  // namespace plimsoll::testing
