#include "ir/testing.h"

namespace plimsoll {
namespace {

class InferContractionsTest : public testing::TypesTest {
 protected:
  using Numbers = std::initializer_list<int64_t>;

  std::string DotGeneral(std::string_view left, std::string_view right, Numbers left_batch,
                         Numbers right_batch, Numbers left_contracted, Numbers right_contracted) {
    return Infer(Opcode::kDotGeneral, {left, right},
                 {{"dot_dimension_numbers",
                   context_.Struct("stablehlo.dot",
                                   {{"lhs_batching_dimensions", Ints(left_batch)},
                                    {"rhs_batching_dimensions", Ints(right_batch)},
                                    {"lhs_contracting_dimensions", Ints(left_contracted)},
                                    {"rhs_contracting_dimensions", Ints(right_contracted)}})}});
  }

  std::string Fft(std::string_view operand, std::string_view kind, Numbers lengths) {
    return Infer(
        Opcode::kFft, {operand},
        {{"fft_type", context_.Enum("stablehlo.fft_type", kind)}, {"fft_length", Ints(lengths)}});
  }

  std::string Solve(std::string_view matrices, std::string_view sides, bool left_side) {
    return Infer(Opcode::kTriangularSolve, {matrices, sides},
                 {{"left_side", context_.Bool(left_side)}});
  }
};

TEST_F(InferContractionsTest, ProductOfMatrices) {
  EXPECT_EQ(DotGeneral("2x3xf32", "3x4xf32", {}, {}, {1}, {0}), "tensor<2x4xf32>");
  EXPECT_EQ(DotGeneral("2x3xf32", "4x3xf32", {}, {}, {1}, {1}), "tensor<2x4xf32>");
}

TEST_F(InferContractionsTest, BatchComesFirst) {
  EXPECT_EQ(DotGeneral("2x3x8xf32", "3x8x4xf32", {2}, {1}, {1}, {0}), "tensor<8x2x4xf32>");
}

TEST_F(InferContractionsTest, SizesOfBatchesAreMerged) {
  EXPECT_EQ(DotGeneral("?x3xf32", "8x3xf32", {0}, {0}, {1}, {1}), "tensor<8xf32>");
  EXPECT_EQ(DotGeneral("<=5x?xf32", "3x<=4xf32", {}, {}, {1}, {0}),
            "tensor<?x?xf32, #stablehlo.bounds<5, 4>>");
}

TEST_F(InferContractionsTest, OuterProduct) {
  EXPECT_EQ(DotGeneral("2xf32", "3xf32", {}, {}, {}, {}), "tensor<2x3xf32>");
}

TEST_F(InferContractionsTest, WiderElementsWin) {
  EXPECT_EQ(DotGeneral("2x3xbf16", "3x4xf32", {}, {}, {1}, {0}), "tensor<2x4xf32>");
}

TEST_F(InferContractionsTest, RefusesSizesThatDiffer) {
  EXPECT_EQ(DotGeneral("2x3xf32", "4x5xf32", {}, {}, {1}, {0}),
            "stablehlo.dot_general: contracted dimension 1 of the left operand has size 3, "
            "dimension 0 of the right has size 4");
  EXPECT_EQ(DotGeneral("2x3xf32", "4x3xf32", {0}, {0}, {1}, {1}),
            "stablehlo.dot_general: batching dimension 0 of the left operand has size 2, dimension "
            "0 of the right has size 4");
}

TEST_F(InferContractionsTest, RefusesListsThatDoNotFit) {
  EXPECT_EQ(DotGeneral("2x3xf32", "3x4xf32", {}, {}, {1}, {}),
            "stablehlo.dot_general: the left operand has 1 contracted dimensions, the right has 0");
  EXPECT_EQ(DotGeneral("2x3xf32", "3x4xf32", {0}, {}, {1}, {0}),
            "stablehlo.dot_general: the left operand has 1 batching dimensions, the right has 0");
  EXPECT_EQ(DotGeneral("2x3xf32", "3x4xf32", {1}, {0}, {1}, {0}),
            "stablehlo.dot_general: the left operand's list names dimension 1 twice");
  EXPECT_EQ(DotGeneral("2x3xf32", "3x4xf32", {}, {}, {1}, {-2}),
            "stablehlo.dot_general: the right operand's list names dimension -2 of a tensor with 2 "
            "dimensions");
}

TEST_F(InferContractionsTest, DotOfVectorsAndMatrices) {
  EXPECT_EQ(Infer(Opcode::kDot, {"3xf32", "3xf32"}), "tensor<f32>");
  EXPECT_EQ(Infer(Opcode::kDot, {"2x3xf32", "3xf32"}), "tensor<2xf32>");
  EXPECT_EQ(Infer(Opcode::kDot, {"3xf32", "3x4xf32"}), "tensor<4xf32>");
  EXPECT_EQ(Infer(Opcode::kDot, {"2x3xf32", "3x4xf32"}), "tensor<2x4xf32>");
}

TEST_F(InferContractionsTest, DotRefuses) {
  EXPECT_EQ(Infer(Opcode::kDot, {"2x3x4xf32", "4xf32"}),
            "stablehlo.dot: operands must be vectors or matrices, found tensor<2x3x4xf32> and "
            "tensor<4xf32>");
  EXPECT_EQ(Infer(Opcode::kDot, {"2x3xf32", "4xf32"}),
            "stablehlo.dot: contracted dimension 1 of the left operand has size 3, dimension 0 of "
            "the right has size 4");
}

TEST_F(InferContractionsTest, CholeskyOfSquareMatrices) {
  EXPECT_EQ(Infer(Opcode::kCholesky, {"5x3x3xf32"}), "tensor<5x3x3xf32>");
  EXPECT_EQ(Infer(Opcode::kCholesky, {"3x4xf32"}),
            "stablehlo.cholesky: operand 0 must be square matrices, found tensor<3x4xf32>");
  EXPECT_EQ(Infer(Opcode::kCholesky, {"3xf32"}),
            "stablehlo.cholesky: operand 0 must be square matrices, found tensor<3xf32>");
  EXPECT_EQ(Infer(Opcode::kCholesky, {"3x3xi32"}),
            "stablehlo.cholesky: operand 0 must hold floats or complex numbers, found "
            "tensor<3x3xi32>");
}

TEST_F(InferContractionsTest, TriangularSolveHasItsSidesType) {
  EXPECT_EQ(Solve("5x3x3xf32", "5x3x2xf32", true), "tensor<5x3x2xf32>");
  EXPECT_EQ(Solve("3x3xf32", "2x3xf32", false), "tensor<2x3xf32>");
}

TEST_F(InferContractionsTest, TriangularSolveRefuses) {
  EXPECT_EQ(
      Solve("3x3xf32", "2x3xf32", true),
      "stablehlo.triangular_solve: the matrices of operand 0, tensor<3x3xf32>, do not fit the "
      "columns of operand 1, tensor<2x3xf32>");
  EXPECT_EQ(Solve("5x3x3xf32", "4x3x2xf32", true),
            "stablehlo.triangular_solve: the matrices of operand 0, tensor<5x3x3xf32>, do not fit "
            "the columns of operand 1, tensor<4x3x2xf32>");
  EXPECT_EQ(
      Solve("3x3xf32", "3xf32", true),
      "stablehlo.triangular_solve: the matrices of operand 0, tensor<3x3xf32>, do not fit the "
      "columns of operand 1, tensor<3xf32>");
}

TEST_F(InferContractionsTest, FftKeepsHalfOfARealSpectrum) {
  EXPECT_EQ(Fft("4x9xcomplex<f32>", "FFT", {9}), "tensor<4x9xcomplex<f32>>");
  EXPECT_EQ(Fft("4x9xf32", "RFFT", {9}), "tensor<4x5xcomplex<f32>>");
  EXPECT_EQ(Fft("4x5xcomplex<f64>", "IRFFT", {9}), "tensor<4x9xf64>");
  EXPECT_EQ(Fft("3x4x8xf32", "RFFT", {4, 8}), "tensor<3x4x5xcomplex<f32>>");
}

TEST_F(InferContractionsTest, FftRefuses) {
  EXPECT_EQ(Fft("4x9xf32", "FFT", {9}),
            "stablehlo.fft: FFT takes complex numbers, found tensor<4x9xf32>");
  EXPECT_EQ(Fft("4x9xcomplex<f32>", "RFFT", {9}),
            "stablehlo.fft: RFFT takes floats, found tensor<4x9xcomplex<f32>>");
  EXPECT_EQ(Fft("4x9xf32", "RFFT", {8}),
            "stablehlo.fft: RFFT with fft_length [8] wants size 8 in dimension 1, found "
            "tensor<4x9xf32>");
  EXPECT_EQ(Fft("4x9xcomplex<f32>", "IRFFT", {9}),
            "stablehlo.fft: IRFFT with fft_length [9] wants size 5 in dimension 1, found "
            "tensor<4x9xcomplex<f32>>");
  EXPECT_EQ(Fft("4xf32", "RFFT", {4, 4}),
            "stablehlo.fft: fft_length must have one to three sizes, and no more than the operand "
            "has dimensions, found [4, 4] for tensor<4xf32>");
  EXPECT_EQ(Fft("1xcomplex<f32>", "IRFFT", {-1}),
            "stablehlo.fft: fft_length must have one to three sizes, and no more than the operand "
            "has dimensions, found [-1] for tensor<1xcomplex<f32>>");
}

}  // namespace
}  // namespace plimsoll
