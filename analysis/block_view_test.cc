#include "analysis/block_view.h"

#include <memory>
#include <string>
#include <vector>

#include "analysis/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// tanh(x), a loop that adds it up and looks at a limit, and the negated sum.
std::unique_ptr<Module> LoopProgram() {
  return OneOp({"8xf32", "f32"}, R"(
  %t = "stablehlo.tanh"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %n = "stablehlo.sine"(%1) : (tensor<f32>) -> tensor<f32>
  %r = "stablehlo.while"(%0) ({
  ^bb1(%x: tensor<8xf32>):
    %m = "stablehlo.cosine"(%n) : (tensor<f32>) -> tensor<f32>
    %c = "stablehlo.compare"(%m, %1) <{comparison_direction = #stablehlo<comparison_direction LT>}>
        : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb1(%x: tensor<8xf32>):
    %s = "stablehlo.add"(%x, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %u = "stablehlo.add"(%s, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "stablehlo.return"(%u) : (tensor<8xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  %d = "stablehlo.add"(%r, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>)");
}

TEST(BlockViewTest, OpsInOrder) {
  const std::unique_ptr<Module> module = LoopProgram();
  const BlockView view(*module->main()->entry_block());
  ASSERT_EQ(view.ops().size(), 5);
  for (size_t i = 0; i < view.ops().size(); ++i) EXPECT_EQ(view.Position(*view.ops()[i]), i);
}

TEST(BlockViewTest, CapturedValuesOnce) {
  const std::unique_ptr<Module> module = LoopProgram();
  const Block& block = *module->main()->entry_block();
  const BlockView view(block);
  const auto ops = view.ops();
  const std::vector<Value*> captured(view.Captured(*ops[2]));
  EXPECT_THAT(captured, ElementsAre(ops[1]->result(0), block.argument(1), ops[0]->result(0)));
  EXPECT_THAT(std::vector<Value*>(view.Captured(*ops[0])), IsEmpty());
}

TEST(BlockViewTest, UsersOnceInTheBlocksOrder) {
  const std::unique_ptr<Module> module = LoopProgram();
  const BlockView view(*module->main()->entry_block());
  const auto ops = view.ops();
  EXPECT_THAT(view.UsersOf(*ops[0]->result(0)), ElementsAre(ops[2], ops[3]));
  EXPECT_THAT(view.UsersOf(*ops[3]->result(0)), IsEmpty());
}

TEST(BlockViewTest, OpsInsideOfOthersAndElsewhere) {
  const std::unique_ptr<Module> module = LoopProgram();
  const BlockView view(*module->main()->entry_block());
  const Op& loop = *view.ops()[2];
  const Block& body = loop.region(1).front();
  EXPECT_EQ(view.OpHere(loop), &loop);
  EXPECT_EQ(view.OpHere(*body.first()), &loop);
  EXPECT_EQ(BlockView(body).OpHere(loop), nullptr);
}

TEST(BlockViewTest, RulesAreThoseOfTheOps) {
  const std::unique_ptr<Module> module = LoopProgram();
  const BlockView view(*module->main()->entry_block());
  EXPECT_EQ(ToString(view.RuleOf(*view.ops()[0])), "operands 0 results 0 blocks 8\n");
}

TEST(BytesOfTest, TokensHaveNone) {
  const std::unique_ptr<Module> module =
      OneOp({"8xf32", "?xf32"}, R"(%t = "stablehlo.create_token"() : () -> !stablehlo.token)");
  const Block& block = *module->main()->entry_block();
  EXPECT_EQ(BytesOf(*block.argument(0)), 32);
  EXPECT_EQ(BytesOf(*block.argument(1)), 0);
  EXPECT_EQ(BytesOf(*block.first()->result(0)), 0);
}

}  // namespace
}  // namespace plimsoll::testing
