#include "plan/simplify.h"

#include <memory>
#include <utility>

#include "analysis/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "stablehlo/text_writer.h"

namespace plimsoll::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// (A B) v
std::unique_ptr<Module> Chain() {
  return Program({"300x300xf32", "300x300xf32", "300xf32"}, R"(
  %p = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<300x300xf32>, tensor<300x300xf32>) -> tensor<300x300xf32>
  %r = "stablehlo.dot_general"(%p, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<300x300xf32>, tensor<300xf32>) -> tensor<300xf32>
)",
                 {{"%r", "300xf32"}});
}

SimplifiedModule Simplified(const Module& program, const RuleOptions& options = {}) {
  StatusOr<SimplifiedModule> simplified = Simplify(program, options);
  EXPECT_TRUE(simplified.ok()) << simplified.status().ToString();
  return simplified.ok() ? *std::move(simplified) : SimplifiedModule{};
}

TEST(SimplifyTest, SaysWhatWasGained) {
  const std::unique_ptr<Module> program = Chain();
  const SimplifiedModule simplified = Simplified(*program);
  ASSERT_THAT(simplified.report.fired, SizeIs(1));
  EXPECT_EQ(simplified.report.fired[0].rule, "reorder_products");
  EXPECT_TRUE(simplified.IsSurelyFaster());
  EXPECT_EQ(simplified.flops_before, 2 * (300. * 300 * 300 + 300 * 300));
  EXPECT_EQ(simplified.flops_after, 2 * (2. * 300 * 300));
  EXPECT_LT(simplified.peak_after, simplified.peak_before);
  // The program itself stays as it was.
  EXPECT_THAT(WriteText(*program->main()), HasSubstr("-> tensor<300x300xf32>"));
  EXPECT_THAT(WriteText(*simplified.module->main()), Not(HasSubstr("-> tensor<300x300xf32>")));
}

TEST(SimplifyTest, RulesThatAreSwitchedOffAreNotUsed) {
  const SimplifiedModule simplified = Simplified(
      *Chain(), {.disabled = {"reorder_products", "diagonal_products", "kronecker_products"}});
  EXPECT_THAT(simplified.report.fired, IsEmpty());
  EXPECT_FALSE(simplified.IsSurelyFaster());
  EXPECT_EQ(simplified.seconds_after, simplified.seconds_before);
}

TEST(SimplifyTest, LeavesWhatIsSimpleAlone) {
  const std::unique_ptr<Module> program = Program({"300xf32"}, R"(
  %r = "stablehlo.tanh"(%0) : (tensor<300xf32>) -> tensor<300xf32>
)",
                                                  {{"%r", "300xf32"}});
  const SimplifiedModule simplified = Simplified(*program);
  EXPECT_THAT(simplified.report.fired, IsEmpty());
  EXPECT_THAT(simplified.report.refused, IsEmpty());
  EXPECT_EQ(WriteText(*simplified.module->main()), WriteText(*program->main()));
}

}  // namespace
}  // namespace plimsoll::testing
