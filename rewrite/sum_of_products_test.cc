#include "rewrite/sum_of_products.h"

#include <memory>
#include <optional>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

// Twice a sum over a dimension that nothing depends on, seven long.
TEST(SumOfProductsTest, WhatIsThereKeepsTheSumsThatItHas) {
  const std::unique_ptr<Module> module = testing::Program({"64xf32", "64xf32"}, R"(
  %a = "stablehlo.multiply"(%0, %1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %b = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x7xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %c = "stablehlo.reduce"(%b, %zero) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) : (tensor<64x7xf32>, tensor<f32>) -> tensor<64xf32>
  %d = "stablehlo.multiply"(%c, %c) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>)",
                                                          {{"%d", "64xf32"}});
  ASSERT_NE(module, nullptr);
  Op* product = module->main()->entry_block()->last()->operand(0)->defining_op();
  const std::optional<SumOfProducts> sum = CollectProducts(*product, {});
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->factors.size(), 4);
  EXPECT_EQ(sum->scale, 49);
  ASSERT_EQ(sum->given.size(), 2);
  for (const GivenProduct& given : sum->given) {
    EXPECT_EQ(given.scale, 7);
    EXPECT_TRUE(given.repeated.empty());
  }
}

TEST(SumOfProductsTest, WhatIsThereMayHaveBeenBroadcast) {
  const std::unique_ptr<Module> module =
      testing::Program({"64xf32", "64xf32", "64x11xf32"}, R"(
  %a = "stablehlo.multiply"(%0, %1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %b = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x11xf32>
  %c = "stablehlo.multiply"(%b, %2) : (tensor<64x11xf32>, tensor<64x11xf32>) -> tensor<64x11xf32>)",
                       {{"%b", "64x11xf32"}, {"%c", "64x11xf32"}});
  ASSERT_NE(module, nullptr);
  Op* product = module->main()->entry_block()->last()->operand(1)->defining_op();
  const std::optional<SumOfProducts> sum = CollectProducts(*product, {});
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->scale, 1);
  ASSERT_EQ(sum->given.size(), 1);
  EXPECT_EQ(sum->given[0].scale, 1);
  EXPECT_EQ(sum->given[0].repeated, (llvm::SmallVector<int, 2>{1}));
}

}  // namespace
}  // namespace plimsoll
