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

// exp(A B^T) v, with two million elements in between.
std::unique_ptr<Module> KernelProduct() {
  return Program({"1000x3xf32", "2000x3xf32", "2000xf32"}, R"(
  %p = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<1000x3xf32>, tensor<2000x3xf32>) -> tensor<1000x2000xf32>
  %e = "stablehlo.exponential"(%p) : (tensor<1000x2000xf32>) -> tensor<1000x2000xf32>
  %r = "stablehlo.dot_general"(%e, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1000x2000xf32>, tensor<2000xf32>) -> tensor<1000xf32>
)",
                 {{"%r", "1000xf32"}});
}

SimplifiedModule SpedUp(const Module& program, double seconds_of_op) {
  const auto cost = [=](const TileProgram& kernel, llvm::ArrayRef<int64_t>, int64_t) {
    const double seconds = seconds_of_op * static_cast<double>(kernel.ops.size());
    return StatusOr<KernelCost>(KernelCost{.scratch_bytes = 64, .seconds = seconds});
  };
  StatusOr<SimplifiedModule> made =
      SpeedUp(program, {.rules = {}, .kernel_costs = {.tiles = cost}});
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? *std::move(made) : SimplifiedModule{};
}

TEST(SpeedUpTest, UsesKernelsThatAreFaster) {
  const std::unique_ptr<Module> program = KernelProduct();
  const SimplifiedModule made = SpedUp(*program, 1e-5);
  EXPECT_THAT(made.kernels.inserted, SizeIs(1));
  EXPECT_TRUE(made.IsSurelyFaster());
  EXPECT_LT(made.peak_after, made.peak_before / 100);
  EXPECT_THAT(WriteText(*made.module->main()), Not(HasSubstr("1000x2000")));
}

TEST(SpeedUpTest, LeavesAloneWhatIsNotSurelyFaster) {
  const SimplifiedModule made = SpedUp(*KernelProduct(), 1);
  EXPECT_THAT(made.kernels.inserted, IsEmpty());
  EXPECT_THAT(made.kernels.refused, Not(IsEmpty()));
  EXPECT_FALSE(made.IsSurelyFaster());
}

TEST(SpeedUpTest, UsesRulesThatMakeKernelsFaster) {
  // Of exp(A B^T) the sums of rows, each times a number of its own. By itself the rule saves no
  // time.
  const std::unique_ptr<Module> program = Program({"1000x3xf32", "2000x3xf32", "1000xf32"}, R"(
  %p = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<1000x3xf32>, tensor<2000x3xf32>) -> tensor<1000x2000xf32>
  %e = "stablehlo.exponential"(%p) : (tensor<1000x2000xf32>) -> tensor<1000x2000xf32>
  %w = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000xf32>) -> tensor<1000x2000xf32>
  %m = "stablehlo.multiply"(%e, %w) : (tensor<1000x2000xf32>, tensor<1000x2000xf32>) -> tensor<1000x2000xf32>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %r = "stablehlo.reduce"(%m, %z) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<1000x2000xf32>, tensor<f32>) -> tensor<1000xf32>
)",
                                                  {{"%r", "1000xf32"}});
  const SimplifiedModule made = SpedUp(*program, 1e-5);
  ASSERT_THAT(made.report.fired, SizeIs(1));
  EXPECT_EQ(made.report.fired[0].rule, "sum_through_product");
  ASSERT_THAT(made.kernels.inserted, SizeIs(1));
  EXPECT_THAT(made.kernels.inserted[0].program, Not(HasSubstr("%5 = load")));
}

TEST(SpeedUpTest, UsesRulesWithoutKernels) {
  const std::unique_ptr<Module> program = Chain();
  const SimplifiedModule made = SpedUp(*program, 1);
  EXPECT_THAT(made.report.fired, SizeIs(1));
  EXPECT_THAT(made.kernels.inserted, IsEmpty());
  EXPECT_TRUE(made.IsSurelyFaster());
}

}  // namespace
}  // namespace plimsoll::testing
