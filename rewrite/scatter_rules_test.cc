#include "rewrite/scatter_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rewrite/testing.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::Rewrite;
using ::plimsoll::testing::Rewritten;
using Names = std::vector<std::string_view>;

// %s = a scatter into 1000 rows of 100 columns, each %initial.
std::string Scatter(std::string_view indices, std::string_view updates, std::string_view numbers,
                    std::string_view reducer = "add", std::string_view initial = "0.0") {
  return StrCat(R"(
  %z = "stablehlo.constant"() <{value = dense<)",
                initial, R"(> : tensor<1000x100xf32>}> : () -> tensor<1000x100xf32>
  %s = "stablehlo.scatter"(%z, )",
                indices.substr(0, 2), ", ", updates.substr(0, 2),
                ") <{scatter_dimension_numbers = #stablehlo.scatter<", numbers, R"(>}> ({
  ^bb1(%x: tensor<f32>, %y: tensor<f32>):)",
                reducer.empty() ? ""
                                : StrCat("\n    %a = \"stablehlo.", reducer,
                                         "\"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>"),
                "\n    \"stablehlo.return\"(", reducer.empty() ? "%y" : "%a",
                ") : (tensor<f32>) -> ()\n  }) : (tensor<1000x100xf32>, tensor<", indices.substr(3),
                ">, tensor<", updates.substr(3), ">) -> tensor<1000x100xf32>");
}

constexpr std::string_view kBatch =
    "inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], "
    "scatter_dims_to_operand_dims = [1], index_vector_dim = 2";
constexpr std::string_view kPairs =
    "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1";

Names FiredFor(std::string_view labels, const std::string& ops) {
  return Rewrite(ScatterRules(), {labels, "1000x1xf32", "1000xf32"}, ops, {{"%s", "1000x100xf32"}})
      .fired();
}

TEST(ScatterAsSelectTest, OneElementOfEachRow) {
  const Rewritten rewritten =
      Rewrite(ScatterRules(), {"1000x1x1xi32", "1000x1xf32"},
              Scatter("%0 1000x1x1xi32", "%1 1000x1xf32", kBatch), {{"%s", "1000x100xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<1000x1x1xi32>, %arg1: tensor<1000x1xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<1000x100xf32>}> : () -> tensor<1000x100xf32>
  %1 = "stablehlo.reshape"(%arg0) : (tensor<1000x1x1xi32>) -> tensor<1000xi32>
  %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000xi32>) -> tensor<1000x100xi32>
  %3 = "stablehlo.reshape"(%arg1) : (tensor<1000x1xf32>) -> tensor<1000xf32>
  %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1000xf32>) -> tensor<1000x100xf32>
  %5 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1000x100xi32>
  %6 = "stablehlo.compare"(%5, %2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<1000x100xi32>, tensor<1000x100xi32>) -> tensor<1000x100xi1>
  %7 = "stablehlo.select"(%6, %4, %0) : (tensor<1000x100xi1>, tensor<1000x100xf32>, tensor<1000x100xf32>) -> tensor<1000x100xf32>
  "func.return"(%7) : (tensor<1000x100xf32>) -> ()
)");
}

// Indices as x[jnp.arange(1000), labels] has them.
std::string Pairs(std::string_view first) {
  return StrCat(R"(
  %r = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1000x1xi32>
  %i = "stablehlo.concatenate"()",
                first,
                ") <{dimension = 1 : i64}> : (tensor<1000x1xi32>, tensor<1000x1xi32>)"
                " -> tensor<1000x2xi32>");
}

TEST(ScatterAsSelectTest, RowsThatAreCounted) {
  EXPECT_EQ(FiredFor("1000x1xi32",
                     StrCat(Pairs("%r, %0"), Scatter("%i 1000x2xi32", "%2 1000xf32", kPairs))),
            Names{"scatter_as_select"});
}

TEST(ScatterAsSelectTest, ValuesThatAreSet) {
  EXPECT_EQ(FiredFor("1000x1x1xi32", Scatter("%0 1000x1x1xi32", "%1 1000x1xf32", kBatch, "")),
            Names{"scatter_as_select"});
}

TEST(ScatterAsSelectTest, NarrowLabelsAreWidened) {
  const Rewritten rewritten =
      Rewrite(ScatterRules(), {"1000x1x1xui8", "1000x1xf32"},
              Scatter("%0 1000x1x1xui8", "%1 1000x1xf32", kBatch), {{"%s", "1000x100xf32"}});
  EXPECT_EQ(rewritten.fired(), Names{"scatter_as_select"});
  EXPECT_NE(rewritten.body.find("-> tensor<1000x1x1xi32>"), std::string::npos);
}

TEST(ScatterAsSelectTest, LeavesOtherScattersAlone) {
  const std::string_view labels = "%0 1000x1x1xi32";
  const std::string_view updates = "%1 1000x1xf32";
  // On top of something, or with what zeros are not neutral for.
  EXPECT_EQ(FiredFor("1000x1x1xi32", Scatter(labels, updates, kBatch, "add", "1.0")), Names{});
  EXPECT_EQ(FiredFor("1000x1x1xi32", Scatter(labels, updates, kBatch, "maximum")), Names{});
  // Rows by number, which may be the same.
  EXPECT_EQ(FiredFor("1000x1xi32",
                     StrCat(Pairs("%0, %0"), Scatter("%i 1000x2xi32", "%2 1000xf32", kPairs))),
            Names{});
  // What is counted are not the columns.
  EXPECT_EQ(FiredFor("1000x1xi32",
                     StrCat(Pairs("%0, %r"), Scatter("%i 1000x2xi32", "%2 1000xf32", kPairs))),
            Names{});
}

}  // namespace
}  // namespace plimsoll
