#include "ir/testing.h"

namespace plimsoll {
namespace {

using InferReductionsTest = testing::TypesTest;

TEST_F(InferReductionsTest, ReduceRemovesDimensions) {
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(Infer(Opcode::kReduce, {"2x3x4xf32", "f32"}, {{"dimensions", Ints({0, 2})}}),
            "tensor<3xf32>");
}

TEST_F(InferReductionsTest, ReduceKeepsBounds) {
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(Infer(Opcode::kReduce, {"<=2x3xf32", "f32"}, {{"dimensions", Ints({1})}}),
            "tensor<?xf32, #stablehlo.bounds<2>>");
}

TEST_F(InferReductionsTest, ReduceHasTheElementsThatItsRegionReturns) {
  AddBody({"f32", "i64", "f32", "i64"}, {"f32", "i64"});
  EXPECT_EQ(Infer(Opcode::kReduce, {"4xbf16", "4xi32", "bf16", "i32"}, {{"dimensions", Ints({0})}}),
            "tensor<f32>, tensor<i64>");
}

TEST_F(InferReductionsTest, ReduceWithoutBodyKeepsElements) {
  EXPECT_EQ(Infer(Opcode::kReduce, {"4xbf16", "bf16"}, {{"dimensions", Ints({0})}}),
            "tensor<bf16>");
}

TEST_F(InferReductionsTest, ReduceRefuses) {
  EXPECT_EQ(Infer(Opcode::kReduce, {"4xf32"}, {{"dimensions", Ints({0})}}),
            "stablehlo.reduce: expected as many initial values as inputs, found 1 operands");
  EXPECT_EQ(Infer(Opcode::kReduce, {}, {{"dimensions", Ints({0})}}),
            "stablehlo.reduce: expected as many initial values as inputs, found 0 operands");
  EXPECT_EQ(Infer(Opcode::kReduce, {"4xf32", "f32"}, {{"dimensions", Ints({1})}}),
            "stablehlo.reduce: dimensions names dimension 1 of a tensor with 1 dimension");
  EXPECT_EQ(Infer(Opcode::kReduce, {"4xf32", "5xf32", "f32", "f32"}, {{"dimensions", Ints({0})}}),
            "stablehlo.reduce: operands 0 and 1 must have the same shape, found tensor<4xf32> and "
            "tensor<5xf32>");
  AddBody({"f32", "f32"}, {"f32", "f32"});
  EXPECT_EQ(Infer(Opcode::kReduce, {"4xf32", "f32"}, {{"dimensions", Ints({0})}}),
            "stablehlo.reduce: region 0 must return 1 values, found 2");
  AddBody({"f32", "f32"}, {"token"});
  EXPECT_EQ(Infer(Opcode::kReduce, {"4xf32", "f32"}, {{"dimensions", Ints({0})}}),
            "stablehlo.reduce: region 0 must return tensors, found !stablehlo.token");
}

TEST_F(InferReductionsTest, MapHasTheElementsThatItsRegionReturns) {
  AddBody({"f32", "f32"}, {"i1"});
  EXPECT_EQ(Infer(Opcode::kMap, {"2x3xf32", "2x3xf32"}, {{"dimensions", Ints({0, 1})}}),
            "tensor<2x3xi1>");
}

TEST_F(InferReductionsTest, MapRefusesSomeDimensionsOnly) {
  EXPECT_EQ(Infer(Opcode::kMap, {"2x3xf32"}, {{"dimensions", Ints({1, 0})}}),
            "stablehlo.map: dimensions must be all in order, found [1, 0]");
  EXPECT_EQ(Infer(Opcode::kMap, {"2x3xf32"}, {{"dimensions", Ints({0})}}),
            "stablehlo.map: dimensions must have 2 numbers, one for each dimension, found [0]");
}

TEST_F(InferReductionsTest, SortKeepsTypes) {
  EXPECT_EQ(Infer(Opcode::kSort, {"2x3xf32", "2x3xi32"}, {{"dimension", context_.I64(-2)}}),
            "tensor<2x3xf32>, tensor<2x3xi32>");
  EXPECT_EQ(Infer(Opcode::kSort, {"3xf32"}), "tensor<3xf32>");
}

TEST_F(InferReductionsTest, SortRefuses) {
  EXPECT_EQ(Infer(Opcode::kSort, {"2x3xf32"}, {{"dimension", context_.I64(2)}}),
            "stablehlo.sort: dimension is 2, but the operands are tensor<2x3xf32>");
  EXPECT_EQ(Infer(Opcode::kSort, {"2x3xf32"}, {{"dimension", context_.I64(-3)}}),
            "stablehlo.sort: dimension is -3, but the operands are tensor<2x3xf32>");
  EXPECT_EQ(Infer(Opcode::kSort, {"2xf32", "3xf32"}),
            "stablehlo.sort: operands 0 and 1 must have the same shape, found tensor<2xf32> and "
            "tensor<3xf32>");
}

TEST_F(InferReductionsTest, TopKGivesValuesAndIndices) {
  EXPECT_EQ(Infer(Opcode::kChloTopK, {"2x9xf32"}, {{"k", context_.I64(4)}}),
            "tensor<2x4xf32>, tensor<2x4xi32>");
}

TEST_F(InferReductionsTest, TopKRefuses) {
  EXPECT_EQ(Infer(Opcode::kChloTopK, {"2x3xf32"}, {{"k", context_.I64(4)}}),
            "chlo.top_k: the 4 largest are wanted along the last dimension of tensor<2x3xf32>");
  EXPECT_EQ(Infer(Opcode::kChloTopK, {"f32"}, {{"k", context_.I64(0)}}),
            "chlo.top_k: the 0 largest are wanted along the last dimension of tensor<f32>");
}

TEST_F(InferReductionsTest, BatchNormGivesOneNumberForEachFeature) {
  const Properties last = {{"feature_index", context_.I64(1)}};
  EXPECT_EQ(Infer(Opcode::kBatchNormTraining, {"8x3xf32", "3xf32", "3xf32"}, last),
            "tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>");
  EXPECT_EQ(Infer(Opcode::kBatchNormGrad, {"8x3xf32", "3xf32", "3xf32", "3xf32", "8x3xf32"}, last),
            "tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>");
  EXPECT_EQ(
      Infer(Opcode::kBatchNormInference, {"8x3xf32", "3xf32", "3xf32", "3xf32", "3xf32"}, last),
      "tensor<8x3xf32>");
}

TEST_F(InferReductionsTest, BatchNormRefuses) {
  EXPECT_EQ(Infer(Opcode::kBatchNormTraining, {"8x3xi32", "3xi32", "3xi32"},
                  {{"feature_index", context_.I64(1)}}),
            "stablehlo.batch_norm_training: operand 0 must hold floats, found tensor<8x3xi32>");
  EXPECT_EQ(Infer(Opcode::kBatchNormTraining, {"8x3xf32", "3xf32", "3xf32"},
                  {{"feature_index", context_.I64(0)}}),
            "stablehlo.batch_norm_training: operand 1 must have one number for each of 8 features, "
            "found tensor<3xf32>");
  EXPECT_EQ(Infer(Opcode::kBatchNormGrad, {"8x3xf32", "3xf32", "3xf32", "3xf32", "7x3xf32"},
                  {{"feature_index", context_.I64(1)}}),
            "stablehlo.batch_norm_grad: operands 0 and 4 must have the same shape, found "
            "tensor<8x3xf32> and tensor<7x3xf32>");
}

}  // namespace
}  // namespace plimsoll
