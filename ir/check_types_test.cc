#include "ir/testing.h"

namespace plimsoll {
namespace {

class CheckTypesTest : public testing::TypesTest {
 protected:
  std::string Broadcast(std::string_view operand, std::initializer_list<int64_t> dimensions,
                        std::string_view result) {
    return Check(Opcode::kBroadcastInDim, {operand}, {{"broadcast_dimensions", Ints(dimensions)}},
                 {result});
  }
};

TEST_F(CheckTypesTest, TakesWhatIsInferred) {
  EXPECT_EQ(Check(Opcode::kAdd, {"2xf32", "2xf32"}, {}, {"2xf32"}), "");
}

TEST_F(CheckTypesTest, TakesSizesThatMayBe) {
  EXPECT_EQ(Check(Opcode::kAdd, {"2xf32", "2xf32"}, {}, {"?xf32"}), "");
  EXPECT_EQ(Check(Opcode::kNegate, {"<=4xf32"}, {}, {"3xf32"}), "");
  EXPECT_EQ(Check(Opcode::kNegate, {"<=4xf32"}, {}, {"5xf32"}),
            "stablehlo.negate: result 0 must be tensor<?xf32, #stablehlo.bounds<4>>, found "
            "tensor<5xf32>");
}

TEST_F(CheckTypesTest, RefusesOtherTypesAndNumbersOfResults) {
  EXPECT_EQ(Check(Opcode::kAdd, {"2xf32", "2xf32"}, {}, {"2xf64"}),
            "stablehlo.add: result 0 must be tensor<2xf32>, found tensor<2xf64>");
  EXPECT_EQ(Check(Opcode::kAdd, {"2xf32", "2xf32"}, {}, {}),
            "stablehlo.add: expected 1 result, found 0");
  EXPECT_EQ(Check(Opcode::kReturn, {}, {}, {"2xf32"}),
            "stablehlo.return: expected 0 results, found 1");
}

TEST_F(CheckTypesTest, TakesOtherScales) {
  EXPECT_EQ(Check(Opcode::kNegate, {"2x2xq8"}, {}, {"2x2xq8:1"}), "");
  EXPECT_EQ(Check(Opcode::kNegate, {"2x2xq8"}, {}, {"2x2xi8"}),
            "stablehlo.negate: result 0 must be tensor<2x2x!quant.uniform<i8:f32, 0.5>>, found "
            "tensor<2x2xi8>");
}

TEST_F(CheckTypesTest, ProductsMayHaveOtherElements) {
  EXPECT_EQ(Check(Opcode::kDot, {"2x3xi8", "3x4xi8"}, {}, {"2x4xi32"}), "");
  EXPECT_EQ(Check(Opcode::kDot, {"2x3xi8", "3x4xi8"}, {}, {"2x5xi32"}),
            "stablehlo.dot: result 0 must be tensor<2x4xi8>, found tensor<2x5xi32>");
}

TEST_F(CheckTypesTest, QuantizedConstantsAreWrittenAsStored) {
  const char bytes[] = {1, 2};
  const Properties value = {
      {"value", context_.DenseElements(testing::ParseType(context_, "2xi8"), bytes)}};
  EXPECT_EQ(Check(Opcode::kConstant, {}, value, {"2xq8"}), "");
  EXPECT_EQ(Check(Opcode::kConstant, {}, value, {"3xq8"}),
            "stablehlo.constant: result 0 must be tensor<2xi8>, found tensor<3x!quant.uniform<i8:"
            "f32, 0.5>>");
}

TEST_F(CheckTypesTest, ConstantsHaveSizes) {
  const char bytes[] = {1, 2};
  const Properties value = {
      {"value", context_.DenseElements(testing::ParseType(context_, "2xi8"), bytes)}};
  EXPECT_EQ(Check(Opcode::kConstant, {}, value, {"?xi8"}),
            "stablehlo.constant: result 0 must be tensor<2xi8>, found tensor<?xi8>");
}

TEST_F(CheckTypesTest, ConstantsThatAreNotUnderstoodAreCarried) {
  const Properties value = {{"value", context_.OpaqueAttribute("sparse<0, 1> : tensor<4xf32>")}};
  EXPECT_EQ(Check(Opcode::kConstant, {}, value, {"4xf32"}), "");
}

TEST_F(CheckTypesTest, ChloTakesTensorsWithoutRank) {
  EXPECT_EQ(Check(Opcode::kChloTopK, {"*xf32"}, {{"k", context_.I64(2)}}, {"*xf32", "*xi32"}), "");
  EXPECT_EQ(Check(Opcode::kNegate, {"*xf32"}, {}, {"*xf32"}),
            "stablehlo.negate: operand 0 must be a ranked tensor, found tensor<*xf32>");
}

TEST_F(CheckTypesTest, GatheredPartsAreOfAnyNumber) {
  const Properties along_0 = {{"all_gather_dim", context_.I64(0)}};
  EXPECT_EQ(Check(Opcode::kAllGather, {"2x3xf32"}, along_0, {"8x3xf32"}), "");
  EXPECT_EQ(Check(Opcode::kAllGather, {"2x3xf32"}, along_0, {"7x3xf32"}),
            "stablehlo.all_gather: result 0 must be tensor<?x3xf32>, found tensor<7x3xf32>");
  EXPECT_EQ(Check(Opcode::kAllGather, {"2x3xf32"}, along_0, {"8x4xf32"}),
            "stablehlo.all_gather: result 0 must be tensor<?x3xf32>, found tensor<8x4xf32>");
  EXPECT_EQ(Check(Opcode::kAllGather, {"0xf32"}, along_0, {"0xf32"}),
            "stablehlo.all_gather: result 0 must be tensor<?xf32>, found tensor<0xf32>");
  EXPECT_EQ(
      Check(Opcode::kReduceScatter, {"8xf32"}, {{"scatter_dimension", context_.I64(0)}}, {"2xf32"}),
      "");
  EXPECT_EQ(
      Check(Opcode::kReduceScatter, {"8xf32"}, {{"scatter_dimension", context_.I64(0)}}, {"3xf32"}),
      "stablehlo.reduce_scatter: result 0 must be tensor<?xf32>, found tensor<3xf32>");
}

TEST_F(CheckTypesTest, ResultMustHaveAType) {
  const Type none;
  const OpView view(context_, Opcode::kReplicaId, {});
  EXPECT_EQ(CheckResultTypes(view, none).message(), "stablehlo.replica_id: result 0 has no type");
}

TEST_F(CheckTypesTest, ConvertKeepsShape) {
  EXPECT_EQ(Check(Opcode::kConvert, {"2xf32"}, {}, {"2xi8"}), "");
  EXPECT_EQ(Check(Opcode::kConvert, {"2xf32"}, {}, {"3xi8"}),
            "stablehlo.convert: operand 0 and the result must have the same shape, found "
            "tensor<2xf32> and tensor<3xi8>");
  EXPECT_EQ(Check(Opcode::kConvert, {"2xf32"}, {}, {"token"}),
            "stablehlo.convert: the result must be a ranked tensor, found !stablehlo.token");
  EXPECT_EQ(Check(Opcode::kConvert, {}, {}, {"2xi8"}),
            "stablehlo.convert: expected 1 operand, found 0");
}

TEST_F(CheckTypesTest, ReshapeKeepsElements) {
  EXPECT_EQ(Check(Opcode::kReshape, {"2x6xf32"}, {}, {"3x4xf32"}), "");
  EXPECT_EQ(Check(Opcode::kReshape, {"?x6xf32"}, {}, {"3x4xf32"}), "");
  EXPECT_EQ(Check(Opcode::kReshape, {"2x6xf32"}, {}, {"3x5xf32"}),
            "stablehlo.reshape: operand 0, tensor<2x6xf32>, has 12 elements, and the result, "
            "tensor<3x5xf32>, has 15");
  EXPECT_EQ(Check(Opcode::kReshape, {"2x6xf32"}, {}, {"12xi32"}),
            "stablehlo.reshape: operand 0 and the result must have the same elements, found "
            "tensor<2x6xf32> and tensor<12xi32>");
}

TEST_F(CheckTypesTest, ReshapeOfTooManyElementsToCountIsTaken) {
  EXPECT_EQ(Check(Opcode::kReshape, {"4294967296x4294967296xi8"}, {}, {"1xi8"}), "");
}

TEST_F(CheckTypesTest, BitcastKeepsBits) {
  EXPECT_EQ(Check(Opcode::kBitcastConvert, {"2xf32"}, {}, {"2xi32"}), "");
  EXPECT_EQ(Check(Opcode::kBitcastConvert, {"2xf32"}, {}, {"2x4xi8"}), "");
  EXPECT_EQ(Check(Opcode::kBitcastConvert, {"2x4xui8"}, {}, {"2xf32"}), "");
  EXPECT_EQ(Check(Opcode::kBitcastConvert, {"2xf32"}, {}, {"2x2xi8"}),
            "stablehlo.bitcast_convert: operand 0 and the result must have as many bits, found "
            "tensor<2xf32> and tensor<2x2xi8>");
  EXPECT_EQ(Check(Opcode::kBitcastConvert, {"2xf32"}, {}, {"3xi32"}),
            "stablehlo.bitcast_convert: operand 0 and the result must have the same shape, found "
            "tensor<2xf32> and tensor<3xi32>");
  EXPECT_EQ(Check(Opcode::kBitcastConvert, {"2xcomplex<f32>"}, {}, {"2xi64"}),
            "stablehlo.bitcast_convert: operand 0 and the result must have either real or complex "
            "elements, found tensor<2xcomplex<f32>> and tensor<2xi64>");
  EXPECT_EQ(Check(Opcode::kBitcastConvert, {"2xf32"}, {}, {"2xi0"}),
            "stablehlo.bitcast_convert: operand 0 and the result must have as many bits, found "
            "tensor<2xf32> and tensor<2xi0>");
}

TEST_F(CheckTypesTest, BroadcastInDimStretchesOnes) {
  EXPECT_EQ(Broadcast("f32", {}, "2x3xf32"), "");
  EXPECT_EQ(Broadcast("1x3xf32", {0, 2}, "2x4x3xf32"), "");
  EXPECT_EQ(Broadcast("2x3xf32", {1, 0}, "3x2xf32"), "");
  EXPECT_EQ(Broadcast("?xf32", {0}, "3xf32"), "");
}

TEST_F(CheckTypesTest, BroadcastInDimRefuses) {
  EXPECT_EQ(Broadcast("2xf32", {0}, "4xf32"),
            "stablehlo.broadcast_in_dim: dimension 0 of operand 0 has size 2, dimension 0 of the "
            "result has size 4");
  EXPECT_EQ(Broadcast("2xf32", {1}, "2xf32"),
            "stablehlo.broadcast_in_dim: broadcast_dimensions names dimension 1 of a tensor with 1 "
            "dimension");
  EXPECT_EQ(Broadcast("2x2xf32", {0, 0}, "2x2xf32"),
            "stablehlo.broadcast_in_dim: broadcast_dimensions names dimension 0 twice");
  EXPECT_EQ(Broadcast("2xf32", {}, "2xf32"),
            "stablehlo.broadcast_in_dim: broadcast_dimensions must have 1 number, one for each "
            "dimension, found []");
  EXPECT_EQ(
      Broadcast("2xf32", {0}, "2xi32"),
      "stablehlo.broadcast_in_dim: operand 0 and the result must have the same elements, found "
      "tensor<2xf32> and tensor<2xi32>");
}

TEST_F(CheckTypesTest, SizesOrBoundsMustBeSaid) {
  EXPECT_EQ(Check(Opcode::kReshape, {"?xf32"}, {}, {"<=4xf32"}), "");
  EXPECT_EQ(Check(Opcode::kReshape, {"?xf32"}, {}, {"?x1xf32"}),
            "stablehlo.reshape: the result must have sizes or bounds, found tensor<?x1xf32>");
  EXPECT_EQ(
      Broadcast("f32", {}, "?xf32"),
      "stablehlo.broadcast_in_dim: the result must have sizes or bounds, found tensor<?xf32>");
  EXPECT_EQ(Check(Opcode::kIota, {}, {{"iota_dimension", context_.I64(0)}}, {"?xi32"}),
            "stablehlo.iota: the result must have sizes, found tensor<?xi32>");
  EXPECT_EQ(Check(Opcode::kDynamicReshape, {"?xf32", "1xi32"}, {}, {"?xf32"}), "");
}

TEST_F(CheckTypesTest, SizesAtRunTimeAreOneNumberADimension) {
  const Properties dimension_0 = {{"iota_dimension", context_.I64(0)}};
  EXPECT_EQ(Check(Opcode::kDynamicIota, {"2xi64"}, dimension_0, {"?x?xi32"}), "");
  EXPECT_EQ(Check(Opcode::kDynamicIota, {"3xi64"}, dimension_0, {"?x?xi32"}),
            "stablehlo.dynamic_iota: operand 0 must be 2 integers, found tensor<3xi64>");
  EXPECT_EQ(Check(Opcode::kDynamicReshape, {"?xf32", "1xf32"}, {}, {"?xf32"}),
            "stablehlo.dynamic_reshape: operand 1 must be 1 integers, found tensor<1xf32>");
  EXPECT_EQ(Check(Opcode::kDynamicPad, {"?xf32", "f32", "1xi32", "1xi32", "i32"}, {}, {"?xf32"}),
            "stablehlo.dynamic_pad: operand 4 must be 1 integers, found tensor<i32>");
  EXPECT_EQ(Check(Opcode::kRealDynamicSlice, {"?xf32", "1xi32", "1xi32", "1xi32"}, {}, {"?xf32"}),
            "");
  EXPECT_EQ(
      Check(Opcode::kRealDynamicSlice, {"?xf32", "1xi32", "1xi32", "1xi32"}, {}, {"?x?xf32"}),
      "stablehlo.real_dynamic_slice: operand 0 and the result must have as many dimensions, found "
      "tensor<?xf32> and tensor<?x?xf32>");
}

TEST_F(CheckTypesTest, IotaCountsAlongADimensionOfItsResult) {
  EXPECT_EQ(Check(Opcode::kIota, {}, {{"iota_dimension", context_.I64(1)}}, {"2x3xi32"}), "");
  EXPECT_EQ(Check(Opcode::kIota, {}, {{"iota_dimension", context_.I64(2)}}, {"2x3xi32"}),
            "stablehlo.iota: iota_dimension names dimension 2 of a tensor with 2 dimensions");
  EXPECT_EQ(Check(Opcode::kIota, {}, {{"iota_dimension", context_.I64(0)}}, {"2xi1"}),
            "stablehlo.iota: the result must hold numbers, found tensor<2xi1>");
}

TEST_F(CheckTypesTest, QuantizeExpressesItsOperand) {
  EXPECT_EQ(Check(Opcode::kUniformQuantize, {"2xf32"}, {}, {"2xq8"}), "");
  EXPECT_EQ(
      Check(Opcode::kUniformQuantize, {"2xf64"}, {}, {"2xq8"}),
      "stablehlo.uniform_quantize: operand 0 and the result must have the same numbers, found "
      "tensor<2xf64> and tensor<2x!quant.uniform<i8:f32, 0.5>>");
  EXPECT_EQ(Check(Opcode::kUniformQuantize, {"2xf32"}, {}, {"2xi8"}),
            "stablehlo.uniform_quantize: the result must be quantized, found tensor<2xi8>");
}

TEST_F(CheckTypesTest, RandomBitsComeWithTheNextState) {
  EXPECT_EQ(Check(Opcode::kRngBitGenerator, {"2xui64"}, {}, {"2xui64", "5xui32"}), "");
  EXPECT_EQ(Check(Opcode::kRngBitGenerator, {"2xui64"}, {}, {"3xui64", "5xui32"}),
            "stablehlo.rng_bit_generator: operand 0 and the result must have the same type, found "
            "tensor<2xui64> and tensor<3xui64>");
}

TEST_F(CheckTypesTest, ReceivingEndsWithAToken) {
  EXPECT_EQ(Check(Opcode::kInfeed, {"token"}, {}, {"2xf32", "token"}), "");
  EXPECT_EQ(Check(Opcode::kInfeed, {"token"}, {}, {"2xf32"}),
            "stablehlo.infeed: the last result must be a token");
}

TEST_F(CheckTypesTest, CallsOutMayGiveAnything) {
  EXPECT_EQ(Check(Opcode::kCustomCall, {"2xf32", "token"}, {}, {"3xi8", "token"}), "");
}

}  // namespace
}  // namespace plimsoll
