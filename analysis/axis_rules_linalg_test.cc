// The axis rules of linear algebra, transforms, batch normalization and custom calls, text in and
// text out.

#include <string>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

TEST(FftRuleTest, TransformedDimensionsAreWhole) {
  EXPECT_EQ(
      RuleOf(
          {"4x6x8xcomplex<f32>"},
          R"(%r = "stablehlo.fft"(%0) <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type FFT>}>
    : (tensor<4x6x8xcomplex<f32>>) -> tensor<4x6x8xcomplex<f32>>)"),
      R"(operands 0 results 0 blocks 4
operands 1 results 1 blocks 6
otherwise: fft needs all of dimension 2
)");
}

TEST(FftRuleTest, TwoTransformedDimensions) {
  EXPECT_EQ(
      RuleOf(
          {"4x6x8xf32"},
          R"(%r = "stablehlo.fft"(%0) <{fft_length = array<i64: 6, 8>, fft_type = #stablehlo<fft_type RFFT>}>
    : (tensor<4x6x8xf32>) -> tensor<4x6x5xcomplex<f32>>)"),
      R"(operands 0 results 0 blocks 4
otherwise: fft needs all of dimension 1 and dimension 2
)");
}

TEST(CholeskyRuleTest, BatchesOfMatrices) {
  EXPECT_EQ(RuleOf({"4x6x6xf32"},
                   R"(%r = "stablehlo.cholesky"(%0) <{lower = true}>
    : (tensor<4x6x6xf32>) -> tensor<4x6x6xf32>)"),
            R"(operands 0 results 0 blocks 4
otherwise: cholesky needs all of dimension 1 and dimension 2
)");
}

TEST(TriangularSolveRuleTest, MatrixOnTheLeft) {
  EXPECT_EQ(RuleOf({"4x6x6xf32", "4x6x9xf32"},
                   R"(%r = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
    : (tensor<4x6x6xf32>, tensor<4x6x9xf32>) -> tensor<4x6x9xf32>)"),
            R"(operands 0 0 results 0 blocks 4
operands whole 2 results 2 blocks 9
otherwise: triangular_solve needs all of its matrix and dimension 1 of the right-hand sides
)");
}

TEST(TriangularSolveRuleTest, MatrixOnTheRight) {
  EXPECT_EQ(RuleOf({"4x6x6xf32", "4x9x6xf32"},
                   R"(%r = "stablehlo.triangular_solve"(%0, %1) <{left_side = false, lower = true,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
    : (tensor<4x6x6xf32>, tensor<4x9x6xf32>) -> tensor<4x9x6xf32>)"),
            R"(operands 0 0 results 0 blocks 4
operands whole 1 results 1 blocks 9
otherwise: triangular_solve needs all of its matrix and dimension 2 of the right-hand sides
)");
}

TEST(BatchNormRuleTest, Inference) {
  EXPECT_EQ(RuleOf({"5x6x4xf32", "6xf32", "6xf32", "6xf32", "6xf32"},
                   R"(%r = "stablehlo.batch_norm_inference"(%0, %1, %2, %3, %4)
    <{epsilon = 0.01 : f32, feature_index = 1 : i64}>
    : (tensor<5x6x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<5x6x4xf32>)"),
            R"(operands 1 0 0 0 0 results 1 blocks 6
operands 0 whole whole whole whole results 0 blocks 5
operands 2 whole whole whole whole results 2 blocks 4
)");
}

TEST(BatchNormRuleTest, Training) {
  EXPECT_EQ(RuleOf({"5x6x4xf32", "6xf32", "6xf32"},
                   R"(%r:3 = "stablehlo.batch_norm_training"(%0, %1, %2)
    <{epsilon = 0.01 : f32, feature_index = 1 : i64}>
    : (tensor<5x6x4xf32>, tensor<6xf32>, tensor<6xf32>)
    -> (tensor<5x6x4xf32>, tensor<6xf32>, tensor<6xf32>))"),
            R"(operands 1 0 0 results 1 0 0 blocks 6
otherwise: batch normalization needs the statistics of the whole batch
)");
}

TEST(BatchNormRuleTest, Gradient) {
  EXPECT_EQ(RuleOf({"5x6x4xf32", "6xf32", "6xf32", "6xf32", "5x6x4xf32"},
                   R"(%r:3 = "stablehlo.batch_norm_grad"(%0, %1, %2, %3, %4)
    <{epsilon = 0.01 : f32, feature_index = 1 : i64}>
    : (tensor<5x6x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<5x6x4xf32>)
    -> (tensor<5x6x4xf32>, tensor<6xf32>, tensor<6xf32>))"),
            R"(operands 1 0 0 0 1 results 1 0 0 blocks 6
otherwise: batch normalization needs the statistics of the whole batch
)");
}

TEST(CustomCallRuleTest, Unknown) {
  EXPECT_EQ(RuleOf({"4x6xf32"},
                   R"(%r = "stablehlo.custom_call"(%0) <{call_target_name = "mine"}>
    : (tensor<4x6xf32>) -> tensor<4x6xf32>)"),
            R"(otherwise: the custom call mine is not known
)");
}

TEST(CustomCallRuleTest, SideEffects) {
  EXPECT_EQ(
      RuleOf(
          {"4x6xf32"},
          R"(%r = "stablehlo.custom_call"(%0) <{call_target_name = "mine", has_side_effect = true}>
    {mhlo.frontend_attributes = {num_batch_dims = "1"}} : (tensor<4x6xf32>) -> tensor<4x6xf32>)"),
      R"(otherwise: the custom call mine has side effects
)");
}

TEST(CustomCallRuleTest, BatchesThatItSpeaksOf) {
  EXPECT_EQ(RuleOf({"3x4x6x6xf32"},
                   R"(%r:2 = "stablehlo.custom_call"(%0) <{call_target_name = "lapack_spotrf_ffi"}>
    {mhlo.frontend_attributes = {num_batch_dims = "2"}}
    : (tensor<3x4x6x6xf32>) -> (tensor<3x4x6x6xf32>, tensor<3x4xi32>))"),
            R"(operands 0 results 0 0 blocks 3
operands 1 results 1 1 blocks 4
otherwise: only the batches of the custom call lapack_spotrf_ffi are known
)");
}

TEST(CustomCallRuleTest, BatchesThatAreNotThere) {
  EXPECT_EQ(RuleOf({"3x4xf32", "f32"},
                   R"(%r = "stablehlo.custom_call"(%0, %1) <{call_target_name = "mine"}>
    {mhlo.frontend_attributes = {num_batch_dims = "1"}}
    : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>)"),
            R"(otherwise: only the batches of the custom call mine are known
)");
}

TEST(CustomCallRuleTest, MatrixWithoutBatches) {
  EXPECT_EQ(RuleOf({"6x6xf32"},
                   R"(%r = "stablehlo.custom_call"(%0) <{call_target_name = "lapack_sgeqrf_ffi"}>
    {mhlo.frontend_attributes = {num_batch_dims = "0"}} : (tensor<6x6xf32>) -> tensor<6x6xf32>)"),
            R"(otherwise: only the batches of the custom call lapack_sgeqrf_ffi are known
)");
}

TEST(CustomCallRuleTest, RightHandSidesOfAMatrixOnTheLeft) {
  EXPECT_EQ(RuleOf({"4x6x6xf32", "4x6x9xf32"},
                   R"(%r = "stablehlo.custom_call"(%0, %1) <{call_target_name = "lapack_strsm_ffi"}>
    {mhlo.backend_config = {side = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}}
    : (tensor<4x6x6xf32>, tensor<4x6x9xf32>) -> tensor<4x6x9xf32>)"),
            R"(operands 0 0 results 0 blocks 4
operands whole 2 results 2 blocks 9
otherwise: a triangular solve needs all of its matrix
)");
}

TEST(CustomCallRuleTest, RightHandSidesOfAMatrixOnTheRight) {
  EXPECT_EQ(RuleOf({"4x6x6xf32", "4x9x6xf32"},
                   R"(%r = "stablehlo.custom_call"(%0, %1) <{call_target_name = "lapack_strsm_ffi"}>
    {mhlo.backend_config = {side = 82 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}}
    : (tensor<4x6x6xf32>, tensor<4x9x6xf32>) -> tensor<4x9x6xf32>)"),
            R"(operands 0 0 results 0 blocks 4
operands whole 1 results 1 blocks 9
otherwise: a triangular solve needs all of its matrix
)");
}

TEST(CustomCallRuleTest, ApproximateTopK) {
  EXPECT_EQ(
      RuleOf({"4x50xf32", "4x50xi32", "f32", "i32"},
             R"(%r:2 = "stablehlo.custom_call"(%0, %1, %2, %3) <{call_target_name = "ApproxTopK"}>
    {mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 3 : i64}}
    : (tensor<4x50xf32>, tensor<4x50xi32>, tensor<f32>, tensor<i32>)
    -> (tensor<4x3xf32>, tensor<4x3xi32>))"),
      R"(operands 0 0 whole whole results 0 0 blocks 4
otherwise: an approximate top_k needs all of dimension 1
)");
}

TEST(CustomCallRuleTest, ApproximateTopKOfUnknownDimension) {
  EXPECT_EQ(RuleOf({"4x50xf32"},
                   R"(%r = "stablehlo.custom_call"(%0) <{call_target_name = "ApproxTopK"}>
    : (tensor<4x50xf32>) -> tensor<4x3xf32>)"),
            R"(otherwise: the custom call ApproxTopK has no reduction_dim
)");
}

}  // namespace
}  // namespace plimsoll::testing
