#include "rewrite/drop_assumptions.h"

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

std::string Drop(std::string_view op) {
  const std::unique_ptr<Module> module = testing::Program({"8x8xf32"}, op, {{"%a", "8x8xf32"}});
  if (module == nullptr) return "";
  DropAssumptions(module->op());
  return testing::BodyText(*module);
}

TEST(DropAssumptionsTest, AStatementGivesItsOperand) {
  EXPECT_EQ(
      Drop(
          R"(%a = "stablehlo.composite"(%0) <{composite_attributes = {property = "symmetric"}, decomposition = @main, name = "plimsoll.assume"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>)"),
      R"(^bb0(%arg0: tensor<8x8xf32>):
  "func.return"(%arg0) : (tensor<8x8xf32>) -> ()
)");
}

TEST(DropAssumptionsTest, OtherCompositesStay) {
  const std::string body = Drop(
      R"(%a = "stablehlo.composite"(%0) <{composite_attributes = {property = "symmetric"}, decomposition = @main, name = "another.one"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>)");
  EXPECT_NE(body.find("stablehlo.composite"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll
