#include "ir/testing.h"

namespace plimsoll {
namespace {

using CheckRegionsTest = testing::TypesTest;

TEST_F(CheckRegionsTest, OpsHaveTheirNumberOfRegions) {
  EXPECT_EQ(CheckBodies(Opcode::kWhile, {"i32"}), "stablehlo.while: expected 2 regions, found 0");
  AddBody({}, {});
  EXPECT_EQ(CheckBodies(Opcode::kAdd, {"f32", "f32"}),
            "stablehlo.add: expected 0 regions, found 1");
}

TEST_F(CheckRegionsTest, WhileTakesAndReturnsItsOperands) {
  AddBody({"i32", "2xf32"}, {"i1"});
  AddBody({"i32", "?xf32"}, {"i32", "2xf32"});
  EXPECT_EQ(CheckBodies(Opcode::kWhile, {"i32", "2xf32"}), "");
}

TEST_F(CheckRegionsTest, WhileRefuses) {
  AddBody({"i64"}, {"i1"});
  AddBody({"i32"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kWhile, {"i32"}),
            "stablehlo.while: region 0 must take (tensor<i32>), found (tensor<i64>)");
  AddBody({"i32"}, {"i32"});
  AddBody({"i32"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kWhile, {"i32"}),
            "stablehlo.while: region 0 must return (tensor<i1>), found (tensor<i32>)");
  AddBody({"i32"}, {"i1"});
  AddBody({"i32"}, {"i32", "i32"});
  EXPECT_EQ(CheckBodies(Opcode::kWhile, {"i32"}),
            "stablehlo.while: region 1 must return (tensor<i32>), found (tensor<i32>, "
            "tensor<i32>)");
}

TEST_F(CheckRegionsTest, BranchesTakeNothing) {
  AddBody({}, {"f32"});
  AddBody({"f32"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kIf, {"i1"}),
            "stablehlo.if: region 1 must take (), found (tensor<f32>)");
}

TEST_F(CheckRegionsTest, BranchesAreChosenByAScalar) {
  AddBody({}, {"f32"});
  AddBody({}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kIf, {"i32"}),
            "stablehlo.if: operand 0 must be tensor<i1>, found tensor<i32>");
  AddBody({}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kCase, {"1xi32"}),
            "stablehlo.case: operand 0 must be tensor<i32>, found tensor<1xi32>");
}

TEST_F(CheckRegionsTest, ReducersMayWiden) {
  AddBody({"f32", "bf16"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kReduce, {"4xbf16", "bf16"}), "");
  AddBody({"i64", "i64"}, {"i64"});
  EXPECT_EQ(CheckBodies(Opcode::kReduce, {"4xi32", "i32"}), "");
}

TEST_F(CheckRegionsTest, ReducersRefuse) {
  AddBody({"f32"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kReduce, {"4xf32", "f32"}),
            "stablehlo.reduce: region 0 must take 2 values, found (tensor<f32>)");
  AddBody({"f32", "f32"}, {});
  EXPECT_EQ(CheckBodies(Opcode::kReduce, {"4xf32", "f32"}),
            "stablehlo.reduce: region 0 must return 1 values, found ()");
  AddBody({"f32", "f32"}, {"f64"});
  EXPECT_EQ(CheckBodies(Opcode::kReduce, {"4xf32", "f32"}),
            "stablehlo.reduce: region 0 must return what it takes, found tensor<f32> and "
            "tensor<f64>");
  AddBody({"i32", "i64"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kReduce, {"4xi32", "i32"}),
            "stablehlo.reduce: region 0 must take two of the same type, found tensor<i32> and "
            "tensor<i64>");
  AddBody({"i32", "i32"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kReduce, {"4xi64", "i32"}),
            "stablehlo.reduce: region 0 must take elements of tensor<4xi64>, found tensor<i32>");
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kReduce, {"4xf32", "i32"}),
            "stablehlo.reduce: region 0 must take an initial value of type tensor<i32>, found "
            "tensor<f32>");
  AddBody({"token", "token"}, {"token"});
  EXPECT_EQ(CheckBodies(Opcode::kReduce, {"4xf32", "f32"}),
            "stablehlo.reduce: region 0 must reduce tensors, found !stablehlo.token");
}

TEST_F(CheckRegionsTest, ReducersOfCollectivesTakeOneOperandAtATime) {
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kAllReduce, {"4xf32", "5xf32"}), "");
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kCollectiveReduce, {"4xf32", "1xi32"},
                        {{"has_dynamic_root", context_.Unit()}}),
            "");
  AddBody({"i32", "i32"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kReduceScatter, {"4xf32"}),
            "stablehlo.reduce_scatter: region 0 must take an initial value of type tensor<f32>, "
            "found tensor<i32>");
}

TEST_F(CheckRegionsTest, ScatterReducesUpdates) {
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kScatter, {"4xf32", "1xi32", "1xf32"}), "");
  AddBody({"i32", "i32"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kScatter, {"4xf32", "1xi32", "1xf32"}),
            "stablehlo.scatter: region 0 must take an initial value of type tensor<f32>, found "
            "tensor<i32>");
}

TEST_F(CheckRegionsTest, SelectAndScatterSelectsAndReduces) {
  AddBody({"f32", "f32"}, {"i1"});
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kSelectAndScatter, {"10xf32", "5xf32", "f32"}), "");
  AddBody({"f32", "i32"}, {"i1"});
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kSelectAndScatter, {"10xf32", "5xf32", "f32"}),
            "stablehlo.select_and_scatter: region 0 must take two of tensor<f32>, found "
            "(tensor<f32>, tensor<i32>)");
}

TEST_F(CheckRegionsTest, SortComparesPairs) {
  AddBody({"f32", "f32", "i32", "i32"}, {"i1"});
  EXPECT_EQ(CheckBodies(Opcode::kSort, {"4xf32", "4xi32"}), "");
  AddBody({"f32", "i32", "f32", "i32"}, {"i1"});
  EXPECT_EQ(CheckBodies(Opcode::kSort, {"4xf32", "4xi32"}),
            "stablehlo.sort: region 0 must take (tensor<f32>, tensor<f32>, tensor<i32>, "
            "tensor<i32>), found (tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>)");
}

TEST_F(CheckRegionsTest, MapTakesOneElementAnOperand) {
  AddBody({"f32", "i32"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kMap, {"4xf32", "4xi32"}), "");
  AddBody({"f32"}, {"f32"});
  EXPECT_EQ(CheckBodies(Opcode::kMap, {"4xf32", "4xi32"}),
            "stablehlo.map: region 0 must take (tensor<f32>, tensor<i32>), found (tensor<f32>)");
}

TEST_F(CheckRegionsTest, FunctionTakesAndReturnsWhatItsTypeSays) {
  const auto function = [&](const testing::TypeTexts& inputs, const testing::TypeTexts& outputs) {
    return Properties{{"function_type", context_.TypeAttribute(context_.FunctionType(
                                            testing::ParseTypes(context_, inputs),
                                            testing::ParseTypes(context_, outputs)))}};
  };
  AddBody({"f32"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kFunc, {}, function({"f32"}, {"i32"})), "");
  AddBody({"f32"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kFunc, {}, function({"f64"}, {"i32"})),
            "func.func: it is said to take (tensor<f64>), but takes (tensor<f32>)");
  AddBody({"f32"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kFunc, {}, function({"f32"}, {})),
            "func.func: it is said to return (), but returns (tensor<i32>)");
  AddBody({"f32"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kFunc, {}, {{"function_type", context_.Unit()}}),
            "func.func: attribute function_type must be a function type");
}

TEST_F(CheckRegionsTest, ManualComputationKeepsNumbersOfValues) {
  AddBody({"1xf32"}, {"1xf32"});
  EXPECT_EQ(CheckBodies(Opcode::kSdyManualComputation, {"4xf32"}, {}, {"4xf32"}), "");
  AddBody({"1xf32"}, {"1xf32"});
  EXPECT_EQ(CheckBodies(Opcode::kSdyManualComputation, {"4xf32"}, {}, {}),
            "sdy.manual_computation: region 0 must return 0 values, found 1");
}

TEST_F(CheckRegionsTest, UnknownOpsMayHaveAnyRegions) {
  AddBody({"f32"}, {"i32"});
  EXPECT_EQ(CheckBodies(Opcode::kUnknown, {}), "");
}

}  // namespace
}  // namespace plimsoll
