#include "compile/summary.h"

#include <string>

#include "compile/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "stablehlo/text_reader.h"

namespace plimsoll {
namespace {

Json Summarize(std::string_view text, size_t largest = 20) {
  const StatusOr<std::unique_ptr<Module>> module = ReadText(text, "t.mlir");
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return Json::parse(SummarizeAsJson(**module, largest));
}

constexpr std::string_view kProgram = R"("builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{function_type = (tensor<8xf32>, tensor<?xi8>) -> tensor<8x8xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<8xf32> loc("x"("train.py":3:1)), %arg1: tensor<?xi8> loc(unknown)):
    %0 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x8xf32> loc("b"("/home/me/train.py":41:5))
    %1 = "stablehlo.negate"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc(unknown)
    %2 = "stablehlo.negate"(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc(unknown)
    "func.return"(%2) : (tensor<8x8xf32>) -> () loc(unknown)
  }) : () -> () loc(unknown)
}) : () -> () loc(unknown))";

TEST(SummaryTest, DescribesArgumentsAndResults) {
  const Json summary = Summarize(kProgram);
  EXPECT_EQ(summary["module"], "m");
  EXPECT_EQ(summary["main"], "main");
  EXPECT_EQ(
      summary["arguments"][0],
      Json({{"name", "x"}, {"type", "tensor<8xf32>"}, {"bytes", 32}, {"source", "train.py:3"}}));
  EXPECT_EQ(summary["arguments"][1]["name"], "arg1");
  EXPECT_TRUE(summary["arguments"][1]["bytes"].is_null());
  EXPECT_EQ(summary["results"][0]["bytes"], 256);
}

TEST(SummaryTest, CountsOpsByKind) {
  const Json summary = Summarize(kProgram);
  EXPECT_EQ(summary["ops"], 5);
  EXPECT_EQ(summary["ops_by_kind"][0], Json({{"op", "stablehlo.negate"}, {"count", 2}}));
}

TEST(SummaryTest, OrdersTheLargestValuesAndKeepsTheProgramsOrder) {
  const Json summary = Summarize(kProgram, 2);
  ASSERT_EQ(summary["largest"].size(), 2U);
  EXPECT_EQ(summary["largest"][0]["op"], "stablehlo.broadcast_in_dim");
  EXPECT_EQ(summary["largest"][0]["source"], "train.py:41");
  EXPECT_EQ(summary["largest"][1]["op"], "stablehlo.negate");
  EXPECT_EQ(summary["total_bytes"], 32 + 3 * 256);
  EXPECT_EQ(summary["unknown_sizes"], 1);
}

TEST(SummaryTest, SurvivesSizesThatOverflow) {
  const Json summary = Summarize(
      "%0 = \"x.y\"() : () -> tensor<4611686018427387904xf32>\n"
      "%1:2 = \"x.y\"() : () -> (tensor<2305843009213693951xf32>, "
      "tensor<2305843009213693951xf32>)");
  EXPECT_EQ(summary["unknown_sizes"], 1);
  EXPECT_EQ(summary["total_bytes"], INT64_MAX);
}

TEST(SummaryTest, SurvivesAFunctionWithoutABody) {
  EXPECT_EQ(Summarize("\"func.func\"() <{sym_name = \"main\"}> : () -> ()")["main"], "main");
}

}  // namespace
}  // namespace plimsoll
