// Linear algebra and custom calls on one chunk, text in and text out.

#include "gtest/gtest.h"
#include "split/testing.h"

namespace plimsoll::testing {
namespace {

TEST(TriangularSolveChunkTest, RightHandSides) {
  EXPECT_EQ(
      ChunkOf({"4x6x6xf32", "4x6x9xf32"},
              R"(%r = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
    : (tensor<4x6x6xf32>, tensor<4x6x9xf32>) -> tensor<4x6x9xf32>)",
              1, 3),
      R"(^bb0(%arg0: tensor<4x6x6xf32>, %arg1: tensor<4x6x9xf32>, %arg2: tensor<i32>, %arg3: tensor<4x6x3xf32>):
  %0 = "stablehlo.triangular_solve"(%arg0, %arg3) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x6x6xf32>, tensor<4x6x3xf32>) -> tensor<4x6x3xf32>
  "func.return"(%0) : (tensor<4x6x3xf32>) -> ()
)");
}

TEST(CustomCallChunkTest, ShardingRuleIsDropped) {
  EXPECT_EQ(ChunkOf({"4x6x6xf32"},
                    R"(%r = "stablehlo.custom_call"(%0) <{call_target_name = "lapack_sgeqrf_ffi"}>
    {mhlo.frontend_attributes = {num_batch_dims = "1"},
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m]) {i=4, j=6, k=6, l=6, m=6}>}
    : (tensor<4x6x6xf32>) -> tensor<4x6x6xf32>)",
                    0, 2),
            R"(^bb0(%arg0: tensor<4x6x6xf32>, %arg1: tensor<i32>, %arg2: tensor<2x6x6xf32>):
  %0 = "stablehlo.custom_call"(%arg2) <{call_target_name = "lapack_sgeqrf_ffi"}> {mhlo.frontend_attributes = {num_batch_dims = "1"}} : (tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  "func.return"(%0) : (tensor<2x6x6xf32>) -> ()
)");
}

}  // namespace
}  // namespace plimsoll::testing
