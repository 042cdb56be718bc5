#include "kernels/make_staged_program.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/block_view.h"
#include "analysis/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using testing::NamedType;
using testing::Program;

// Ops of a program in short form.
std::string Dot(std::string_view name, std::string_view left, std::string_view right,
                std::string_view contracted, std::string_view types) {
  return StrCat("  ", name, " = \"stablehlo.dot_general\"(", left, ", ", right,
                ") <{dot_dimension_numbers = #stablehlo.dot<", contracted, ">}> : ", types, "\n");
}

std::string Reduce(std::string_view name, std::string_view operand, std::string_view initial,
                   std::string_view op, int dimension, std::string_view result) {
  return StrCat("  ", name, " = \"stablehlo.reduce\"(", operand, ", ", initial,
                ") <{dimensions = array<i64: ", dimension, ">}> ({\n",
                "    ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %c = \"stablehlo.", op,
                "\"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n",
                "    \"stablehlo.return\"(%c) : (tensor<f32>) -> ()\n",
                "  }) : (tensor<80x90xf32>, tensor<f32>) -> tensor<", result, "xf32>\n");
}

std::string Spread(std::string_view name, std::string_view operand) {
  return StrCat("  ", name, " = \"stablehlo.broadcast_in_dim\"(", operand,
                ") <{broadcast_dimensions = array<i64: 0>}> : (tensor<80xf32>) -> ",
                "tensor<80x90xf32>\n");
}

std::string Binary(std::string_view name, std::string_view op, std::string_view left,
                   std::string_view right) {
  return StrCat("  ", name, " = \"stablehlo.", op, "\"(", left, ", ", right,
                ") : (tensor<80x90xf32>, tensor<80x90xf32>) -> tensor<80x90xf32>\n");
}

// Scores of 80 queries and 90 keys, and their exponentials.
std::string Softmax() {
  return StrCat(
      Dot("%s", "%0", "%1", "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]",
          "(tensor<80x20xf32>, tensor<90x20xf32>) -> tensor<80x90xf32>"),
      R"(  %i = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
)",
      Reduce("%m", "%s", "%i", "maximum", 1, "80"),
      "  %n = \"stablehlo.negate\"(%m) : (tensor<80xf32>) -> tensor<80xf32>\n", Spread("%w", "%n"),
      Binary("%d", "add", "%s", "%w"),
      "  %e = \"stablehlo.exponential\"(%d) : (tensor<80x90xf32>) -> tensor<80x90xf32>\n",
      Reduce("%t", "%e", "%z", "add", 1, "80"));
}

std::string WithValues() {
  return Dot("%o", "%e", "%2", "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]",
             "(tensor<80x90xf32>, tensor<90x30xf32>) -> tensor<80x30xf32>");
}

struct Made {
  std::string text;
  std::string error;
  size_t level_count = 0;
};

Made MakeAll(const std::vector<std::string_view>& arguments, std::string_view ops,
             const std::vector<NamedType>& results) {
  Made made;
  const std::unique_ptr<Module> module = Program(arguments, ops, results);
  EXPECT_NE(module, nullptr);
  if (module == nullptr) return made;
  const Block& block = *module->main()->entry_block();
  const BlockView view(block);
  const Value* seed = block.first()->result(0);
  std::string reason;
  const std::optional<TileRegion> region = TileRegions(view).Find(*seed, reason);
  EXPECT_TRUE(region.has_value()) << reason;
  if (!region) return made;
  const RegionLevels levels = FindRegionLevels(view, *region);
  made.level_count = levels.levels.size();
  const StatusOr<StagedKernel> kernel = MakeStagedProgram(*region, levels, 0, levels.levels.size());
  if (kernel.ok()) {
    made.text = WriteStages(kernel->program);
  } else {
    made.error = kernel.status().message();
  }
  return made;
}

constexpr std::string_view kScoresAndExponentials =
    R"(stages
stage r argument 0, argument 1 -> result 0, panel 0
axes r c l0
operand f32[r, l0]
operand f32[c, l0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[r] = maximum c %3
result f32[r, c] = %3
)";

TEST(MakeStagedProgram, HandsScoresOn) {
  const Made made = MakeAll({"80x20xf32", "90x20xf32"}, Softmax(), {{"%t", "80xf32"}});
  EXPECT_EQ(made.level_count, 2U);
  EXPECT_EQ(made.text, StrCat(kScoresAndExponentials, R"(stage r panel 0, result 0 -> result 1
axes r c
operand f32[r, c]
operand f32[r]
%0 = load 0
%1 = load 1
%2 = negate %1
%3 = add %0, %2
%4 = exponential %3
result f32[r] = add c %4
)"));
}

TEST(MakeStagedProgram, MultipliesWhatIsInAPanel) {
  const Made made =
      MakeAll({"80x20xf32", "90x20xf32", "90x30xf32"}, StrCat(Softmax(), WithValues()),
              {{"%t", "80xf32"}, {"%o", "80x30xf32"}});
  EXPECT_EQ(made.text,
            StrCat(kScoresAndExponentials, R"(stage r panel 0, result 0 -> result 1, panel 1
axes r c
operand f32[r, c]
operand f32[r]
%0 = load 0
%1 = load 1
%2 = negate %1
%3 = add %0, %2
%4 = exponential %3
result f32[r] = add c %4
result f32[r, c] = %4
stage r panel 1, argument 2 -> result 2
axes r c l0
operand f32[r, l0]
operand f32[l0, c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[r, c] = add %3
)"));
}

// The gradient with respect to the values: a product that sums over rows.
TEST(MakeStagedProgram, SumsOverRows) {
  const Made made = MakeAll(
      {"80x20xf32", "90x20xf32", "80x30xf32"},
      StrCat(Softmax(), Dot("%o", "%e", "%2",
                            "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]",
                            "(tensor<80x90xf32>, tensor<80x30xf32>) -> tensor<90x30xf32>")),
      {{"%t", "80xf32"}, {"%o", "90x30xf32"}});
  EXPECT_THAT(made.text, HasSubstr(R"(stage l0 panel 1, argument 2 -> result 2
axes r c l0
operand f32[l0, c]
operand f32[l0, r]
)"));
  EXPECT_THAT(made.text, HasSubstr("result f32[r, c] = add"));
}

// The product's columns come first in its result: the kernel writes them last.
TEST(MakeStagedProgram, WritesColumnsOfProductsLast) {
  const Made made = MakeAll(
      {"80x20xf32", "90x20xf32", "90x30xf32"},
      StrCat(Softmax(), Dot("%o", "%2", "%e",
                            "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]",
                            "(tensor<90x30xf32>, tensor<80x90xf32>) -> tensor<30x80xf32>")),
      {{"%t", "80xf32"}, {"%o", "30x80xf32"}});
  EXPECT_THAT(made.text, HasSubstr("stage r argument 2, panel 1 -> result 2\n"));
  EXPECT_THAT(made.text, HasSubstr("result f32[r, c] = add"));
}

TEST(MakeStagedProgram, LeavesAloneWhatIsOneStage) {
  const Made made =
      MakeAll({"80x20xf32", "90x20xf32"}, StrCat(Softmax().substr(0, Softmax().find("  %n = "))),
              {{"%m", "80xf32"}});
  EXPECT_THAT(made.error, HasSubstr("nothing is handed on"));
}

// A kernel of stages leaves out what a mask hides, even if there is but one of them.
TEST(MakeStagedProgram, MakesOneStageWithAMask) {
  std::string ops = Softmax().substr(0, Softmax().find("  %n = "));
  const size_t maximum = ops.find("  %m = ");
  const std::string masked = StrCat(
      R"(  %row = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<80x90xi32>
  %column = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<80x90xi32>
  %seen = "stablehlo.compare"(%row, %column) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<80x90xi32>, tensor<80x90xi32>) -> tensor<80x90xi1>
  %hidden = "stablehlo.broadcast_in_dim"(%i) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<80x90xf32>
  %x = "stablehlo.select"(%seen, %s, %hidden) : (tensor<80x90xi1>, tensor<80x90xf32>, tensor<80x90xf32>) -> tensor<80x90xf32>
)",
      Reduce("%m", "%x", "%i", "maximum", 1, "80"));
  ops.replace(maximum, std::string::npos, masked);
  const Made made = MakeAll({"80x20xf32", "90x20xf32"}, ops, {{"%m", "80xf32"}});
  EXPECT_THAT(made.text,
              ::testing::StartsWith("stages\nstage r argument 0, argument 1 -> result 0\n"));
  EXPECT_THAT(made.text, HasSubstr("result f32[r] = maximum c "));
}

// The sum of all maxima is there only when all rows were seen.
TEST(MakeStagedProgram, RefusesWhatNeedsOtherRows) {
  std::string ops = Softmax();
  const std::string_view negation =
      "%n = \"stablehlo.negate\"(%m) : (tensor<80xf32>) -> tensor<80xf32>\n";
  ops.replace(ops.find(negation), negation.size(),
              "%n = \"stablehlo.reverse\"(%m) <{dimensions = array<i64: 0>}> : (tensor<80xf32>) -> "
              "tensor<80xf32>\n");
  const Made made = MakeAll({"80x20xf32", "90x20xf32"}, ops, {{"%t", "80xf32"}});
  EXPECT_EQ(made.level_count, 2U);
  EXPECT_THAT(made.error, HasSubstr("needs more than its rows"));
}

}  // namespace
}  // namespace plimsoll
