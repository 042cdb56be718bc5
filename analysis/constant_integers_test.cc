#include "analysis/constant_integers.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// Of what the last of these ops gives.
std::optional<std::vector<int64_t>> Found(std::string_view ops,
                                          const std::vector<std::string_view>& arguments = {}) {
  const std::unique_ptr<Module> module = Program(arguments, ops, {});
  if (module == nullptr) return std::nullopt;
  const Op* last = nullptr;
  for (const Op& op : *module->main()->entry_block()) {
    if (op.result_count() == 1) last = &op;
  }
  return last == nullptr ? std::nullopt : ConstantIntegers(*last->result(0));
}

TEST(ConstantIntegersTest, KnowsConstantsAndPositions) {
  EXPECT_THAT(Found(R"(%a = "stablehlo.constant"() <{value = dense<[3, -1]> : tensor<2xi32>}> :
      () -> tensor<2xi32>)"),
              Optional(ElementsAre(3, -1)));
  EXPECT_THAT(Found(R"(%a = "stablehlo.constant"() <{value = dense<7> : tensor<3xi64>}> :
      () -> tensor<3xi64>)"),
              Optional(ElementsAre(7, 7, 7)));
  EXPECT_THAT(Found(R"(%a = "stablehlo.iota"() <{iota_dimension = 0 : i64}> :
      () -> tensor<4xi32>)"),
              Optional(ElementsAre(0, 1, 2, 3)));
}

TEST(ConstantIntegersTest, KnowsWhatIsComputedOfThem) {
  EXPECT_THAT(Found(R"(%a = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<5xi32>
      %b = "stablehlo.multiply"(%a, %a) : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
      %c = "stablehlo.slice"(%b) <{start_indices = array<i64: 1>, limit_indices = array<i64: 5>,
          strides = array<i64: 2>}> : (tensor<5xi32>) -> tensor<2xi32>
      %d = "stablehlo.convert"(%c) : (tensor<2xi32>) -> tensor<2xi64>)"),
              Optional(ElementsAre(1, 9)));
}

TEST(ConstantIntegersTest, KnowsNothingOfArgumentsFloatsAndManyNumbers) {
  EXPECT_EQ(Found(R"(%a = "stablehlo.negate"(%0) : (tensor<2xi32>) -> tensor<2xi32>)", {"2xi32"}),
            std::nullopt);
  EXPECT_EQ(Found(R"(%a = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> :
      () -> tensor<f32>)"),
            std::nullopt);
  EXPECT_EQ(Found(R"(%a = "stablehlo.iota"() <{iota_dimension = 0 : i64}> :
      () -> tensor<100000xi32>)"),
            std::nullopt);
}

TEST(ConstantIntegersTest, KnowsNothingOfWhatWrapsAround) {
  EXPECT_EQ(Found(R"(%a = "stablehlo.constant"() <{value = dense<100> : tensor<i8>}> :
      () -> tensor<i8>
      %b = "stablehlo.add"(%a, %a) : (tensor<i8>, tensor<i8>) -> tensor<i8>)"),
            std::nullopt);
  // 2^52 squared is more than 64 bits hold.
  EXPECT_EQ(Found(R"(%a = "stablehlo.constant"() <{value = dense<4503599627370496> : tensor<i64>}> :
      () -> tensor<i64>
      %b = "stablehlo.multiply"(%a, %a) : (tensor<i64>, tensor<i64>) -> tensor<i64>)"),
            std::nullopt);
}

}  // namespace
}  // namespace plimsoll::testing
