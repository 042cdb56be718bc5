#include "ir/testing.h"

namespace plimsoll {
namespace {

using InferElementwiseTest = testing::TypesTest;

TEST_F(InferElementwiseTest, ResultHasOperandsType) {
  EXPECT_EQ(Infer(Opcode::kTanh, {"2x3xf32"}), "tensor<2x3xf32>");
  EXPECT_EQ(Infer(Opcode::kAdd, {"2x3xi64", "2x3xi64"}), "tensor<2x3xi64>");
}

TEST_F(InferElementwiseTest, KnownSizesWinOverUnknownOnes) {
  EXPECT_EQ(Infer(Opcode::kMultiply, {"?x3xf32", "2x?xf32"}), "tensor<2x3xf32>");
}

TEST_F(InferElementwiseTest, TighterBoundWins) {
  EXPECT_EQ(Infer(Opcode::kAdd, {"<=8xf32", "<=4xf32"}), "tensor<?xf32, #stablehlo.bounds<4>>");
  EXPECT_EQ(Infer(Opcode::kAdd, {"?xf32", "<=4xf32"}), "tensor<?xf32, #stablehlo.bounds<4>>");
}

TEST_F(InferElementwiseTest, RefusesSizeAboveBound) {
  EXPECT_EQ(Infer(Opcode::kAdd, {"5xf32", "<=4xf32"}),
            "stablehlo.add: operands 0 and 1 must have the same type, found tensor<5xf32> and "
            "tensor<?xf32, #stablehlo.bounds<4>>");
}

TEST_F(InferElementwiseTest, RefusesOtherShapes) {
  EXPECT_EQ(Infer(Opcode::kAdd, {"2xf32", "3xf32"}),
            "stablehlo.add: operands 0 and 1 must have the same type, found tensor<2xf32> and "
            "tensor<3xf32>");
  EXPECT_EQ(Infer(Opcode::kAdd, {"2xf32", "2x1xf32"}),
            "stablehlo.add: operands 0 and 1 must have the same type, found tensor<2xf32> and "
            "tensor<2x1xf32>");
}

TEST_F(InferElementwiseTest, RefusesOtherElements) {
  EXPECT_EQ(Infer(Opcode::kAdd, {"2xf32", "2xf64"}),
            "stablehlo.add: operands 0 and 1 must have the same type, found tensor<2xf32> and "
            "tensor<2xf64>");
}

TEST_F(InferElementwiseTest, RefusesElementsWithoutMeaning) {
  EXPECT_EQ(Infer(Opcode::kTanh, {"2xi32"}),
            "stablehlo.tanh: operand 0 has elements of type i32, expected floats, complex numbers, "
            "quantized numbers");
  EXPECT_EQ(
      Infer(Opcode::kNot, {"2xf32"}),
      "stablehlo.not: operand 0 has elements of type f32, expected booleans, signed integers, "
      "unsigned integers");
  EXPECT_EQ(Infer(Opcode::kSubtract, {"2xi1", "2xi1"}),
            "stablehlo.subtract: operand 0 has elements of type i1, expected signed integers, "
            "unsigned integers, floats, complex numbers, quantized numbers");
  EXPECT_EQ(Infer(Opcode::kChloErf, {"2xi32"}),
            "chlo.erf: operand 0 has elements of type i32, expected floats");
  EXPECT_EQ(Infer(Opcode::kAbs, {"2xui8"}),
            "stablehlo.abs: operand 0 has elements of type ui8, expected signed integers, floats, "
            "complex numbers, quantized numbers");
}

TEST_F(InferElementwiseTest, RefusesWrongNumberOfOperands) {
  EXPECT_EQ(Infer(Opcode::kAdd, {"2xf32"}), "stablehlo.add: expected 2 operands, found 1");
  EXPECT_EQ(Infer(Opcode::kNegate, {}), "stablehlo.negate: expected 1 operand, found 0");
}

TEST_F(InferElementwiseTest, RefusesWhatIsNoRankedTensor) {
  EXPECT_EQ(Infer(Opcode::kNegate, {"token"}),
            "stablehlo.negate: operand 0 must be a ranked tensor, found !stablehlo.token");
  EXPECT_EQ(Infer(Opcode::kNegate, {"*xf32"}),
            "stablehlo.negate: operand 0 must be a ranked tensor, found tensor<*xf32>");
}

TEST_F(InferElementwiseTest, RefusesOperandWithoutType) {
  const Type none;
  EXPECT_EQ(InferResultTypes(OpView(context_, Opcode::kNegate, none)).status().message(),
            "stablehlo.negate: operand 0 has no type");
}

TEST_F(InferElementwiseTest, SumOfManyScalesHasManyScales) {
  EXPECT_EQ(Infer(Opcode::kAdd, {"2x2xq8", "2x2xq8:1"}),
            "tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>");
}

TEST_F(InferElementwiseTest, RealPartOfComplexNumbers) {
  EXPECT_EQ(Infer(Opcode::kAbs, {"2xcomplex<f64>"}), "tensor<2xf64>");
  EXPECT_EQ(Infer(Opcode::kAbs, {"2xi8"}), "tensor<2xi8>");
  EXPECT_EQ(Infer(Opcode::kReal, {"<=3xcomplex<f32>"}), "tensor<?xf32, #stablehlo.bounds<3>>");
  EXPECT_EQ(Infer(Opcode::kImag, {"2xf32"}), "tensor<2xf32>");
}

TEST_F(InferElementwiseTest, ComplexOfTwoFloats) {
  EXPECT_EQ(Infer(Opcode::kComplex, {"2xf32", "2xf32"}), "tensor<2xcomplex<f32>>");
  EXPECT_EQ(Infer(Opcode::kComplex, {"2xi32", "2xi32"}),
            "stablehlo.complex: operand 0 has elements of type i32, expected floats");
}

TEST_F(InferElementwiseTest, PredicatesAreBooleans) {
  EXPECT_EQ(Infer(Opcode::kIsFinite, {"2xf32"}), "tensor<2xi1>");
  EXPECT_EQ(Infer(Opcode::kChloIsInf, {"2xf32"}), "tensor<2xi1>");
}

TEST_F(InferElementwiseTest, CompareGivesBooleans) {
  const Properties less = {
      {"comparison_direction", context_.Enum("stablehlo.comparison_direction", "LT")}};
  EXPECT_EQ(Infer(Opcode::kCompare, {"2xf32", "2xf32"}, less), "tensor<2xi1>");
  EXPECT_EQ(Infer(Opcode::kCompare, {"2xf32", "2xi32"}, less),
            "stablehlo.compare: operands 0 and 1 must have the same type, found tensor<2xf32> and "
            "tensor<2xi32>");
}

TEST_F(InferElementwiseTest, CompareWantsDirection) {
  EXPECT_EQ(Infer(Opcode::kCompare, {"f32", "f32"}),
            "stablehlo.compare: attribute comparison_direction is missing");
  EXPECT_EQ(Infer(Opcode::kCompare, {"f32", "f32"}, {{"comparison_direction", context_.I64(1)}}),
            "stablehlo.compare: attribute comparison_direction must be one of "
            "stablehlo.comparison_direction, found 1 : i64");
}

TEST_F(InferElementwiseTest, SelectTakesScalarOrTensorOfBooleans) {
  EXPECT_EQ(Infer(Opcode::kSelect, {"i1", "2xf32", "2xf32"}), "tensor<2xf32>");
  EXPECT_EQ(Infer(Opcode::kSelect, {"2xi1", "?xf32", "2xf32"}), "tensor<2xf32>");
}

TEST_F(InferElementwiseTest, SelectRefuses) {
  EXPECT_EQ(Infer(Opcode::kSelect, {"2xi8", "2xf32", "2xf32"}),
            "stablehlo.select: operand 0 must be a tensor of i1, found tensor<2xi8>");
  EXPECT_EQ(Infer(Opcode::kSelect, {"3xi1", "2xf32", "2xf32"}),
            "stablehlo.select: operand 0 must be a scalar or have the shape of the others, found "
            "tensor<3xi1> beside tensor<2xf32>");
  EXPECT_EQ(Infer(Opcode::kSelect, {"2xi1", "2xf32", "2xf64"}),
            "stablehlo.select: operands 1 and 2 must have the same type, found tensor<2xf32> and "
            "tensor<2xf64>");
}

TEST_F(InferElementwiseTest, ClampTakesScalarLimits) {
  EXPECT_EQ(Infer(Opcode::kClamp, {"f32", "2xf32", "2xf32"}), "tensor<2xf32>");
  EXPECT_EQ(Infer(Opcode::kClamp, {"3xf32", "2xf32", "f32"}),
            "stablehlo.clamp: operand 0 must be a scalar or have the shape of operand 1, found "
            "tensor<3xf32> beside tensor<2xf32>");
  EXPECT_EQ(Infer(Opcode::kClamp, {"f32", "2xf32", "f64"}),
            "stablehlo.clamp: operands 2 and 1 must have the same element type, found tensor<f64> "
            "and tensor<2xf32>");
}

TEST_F(InferElementwiseTest, DequantizedNumbersAreExpressed) {
  EXPECT_EQ(Infer(Opcode::kUniformDequantize, {"2xq8"}), "tensor<2xf32>");
  EXPECT_EQ(Infer(Opcode::kUniformDequantize, {"2xf32"}),
            "stablehlo.uniform_dequantize: operand 0 must be quantized, found tensor<2xf32>");
}

TEST_F(InferElementwiseTest, ConstantHasItsValuesType) {
  const char bytes[] = {1, 2};
  const Type type = testing::ParseType(context_, "2xi8");
  EXPECT_EQ(Infer(Opcode::kConstant, {}, {{"value", context_.DenseElements(type, bytes)}}),
            "tensor<2xi8>");
  EXPECT_EQ(Infer(Opcode::kConstant, {}, {{"value", context_.DenseResource(type, "key")}}),
            "tensor<2xi8>");
}

TEST_F(InferElementwiseTest, ConstantMayRepeatOneElement) {
  const char byte[] = {1};
  const Type type = testing::ParseType(context_, "1000000x1000000xi8");
  EXPECT_EQ(Infer(Opcode::kConstant, {}, {{"value", context_.DenseElements(type, byte)}}),
            "tensor<1000000x1000000xi8>");
}

TEST_F(InferElementwiseTest, ConstantRefuses) {
  const char bytes[] = {1, 2};
  const auto value = [&](std::string_view type) {
    return Properties{{"value", context_.DenseElements(testing::ParseType(context_, type), bytes)}};
  };
  EXPECT_EQ(Infer(Opcode::kConstant, {}, value("3xi8")),
            "stablehlo.constant: a constant of type tensor<3xi8> takes 3 bytes, found 2");
  EXPECT_EQ(Infer(Opcode::kConstant, {}, value("?xi8")),
            "stablehlo.constant: a constant must be a tensor whose shape is known, found "
            "tensor<?xi8>");
  EXPECT_EQ(Infer(Opcode::kConstant, {}, {{"value", context_.I64(1)}}),
            "stablehlo.constant: attribute value must be a dense constant");
  EXPECT_EQ(Infer(Opcode::kConstant, {}),
            "stablehlo.constant: attribute value must be a dense constant");
}

TEST_F(InferElementwiseTest, ConstantLikeHasItsOperandsShape) {
  const Type f32 = context_.FloatType(FloatKind::kF32);
  EXPECT_EQ(Infer(Opcode::kChloConstantLike, {"2x?xi8"}, {{"value", context_.Float(f32, 0)}}),
            "tensor<2x?xf32>");
  EXPECT_EQ(Infer(Opcode::kChloConstantLike, {"2xi8"}, {{"value", context_.Unit()}}),
            "chlo.constant_like: attribute value must be a number");
}

}  // namespace
}  // namespace plimsoll
