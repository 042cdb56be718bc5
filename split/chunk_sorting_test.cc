// sort and top_k on one chunk, text in and text out.

#include "gtest/gtest.h"
#include "split/testing.h"

namespace plimsoll::testing {
namespace {

// The lists of two chunks put together.
std::string CombinedLists() {
  const std::unique_ptr<Module> module =
      OneOp({"5x8xf32", "5x3xf32", "5x3xi32", "5x3xf32", "5x3xi32"}, R"(%r:2 = "chlo.top_k"(%0)
    <{k = 3 : i64}>
    : (tensor<5x8xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>))");
  if (module == nullptr) return "";
  Block& block = *module->main()->entry_block();
  Op& op = *block.first();
  Builder builder(module->context(), op);
  const StatusOr<Builder::Values> lists =
      Combine(builder, op, AxisRuleOf(op).factors[1], {block.argument(1), block.argument(2)},
              {block.argument(3), block.argument(4)});
  EXPECT_TRUE(lists.ok()) << lists.status().ToString();
  if (!lists.ok()) return "";
  block.last()->set_operands(*lists);
  op.Erase();
  return BodyText(*module);
}

TEST(SortChunkTest, SeveralOperands) {
  EXPECT_EQ(
      ChunkOf({"5x8x3xf32", "5x8x3xi32"}, R"(%r:2 = "stablehlo.sort"(%0, %1) ({
^bb1(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
  %c = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}>
      : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%c) : (tensor<i1>) -> ()
}) : (tensor<5x8x3xf32>, tensor<5x8x3xi32>) -> (tensor<5x8x3xf32>, tensor<5x8x3xi32>))",
              1, 2),
      R"(^bb0(%arg0: tensor<5x8x3xf32>, %arg1: tensor<5x8x3xi32>, %arg2: tensor<i32>, %arg3: tensor<5x2x3xf32>, %arg4: tensor<5x2x3xi32>):
  %0:2 = "stablehlo.sort"(%arg3, %arg4) ({
  ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<i32>, %arg8: tensor<i32>):
    %1 = "stablehlo.compare"(%arg5, %arg6) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }) : (tensor<5x2x3xf32>, tensor<5x2x3xi32>) -> (tensor<5x2x3xf32>, tensor<5x2x3xi32>)
  "func.return"(%0#0, %0#1) : (tensor<5x2x3xf32>, tensor<5x2x3xi32>) -> ()
)");
}

TEST(TopKChunkTest, OtherDimension) {
  EXPECT_EQ(ChunkOf({"5x8xf32"}, R"(%r:2 = "chlo.top_k"(%0) <{k = 3 : i64}>
    : (tensor<5x8xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>))",
                    0, 2),
            R"(^bb0(%arg0: tensor<5x8xf32>, %arg1: tensor<i32>, %arg2: tensor<2x8xf32>):
  %0:2 = "chlo.top_k"(%arg2) <{k = 3 : i64}> : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  "func.return"(%0#0, %0#1) : (tensor<2x3xf32>, tensor<2x3xi32>) -> ()
)");
}

TEST(TopKChunkTest, PlacesBecomeIndices) {
  EXPECT_EQ(ChunkOf({"5x8xf32"}, R"(%r:2 = "chlo.top_k"(%0) <{k = 3 : i64}>
    : (tensor<5x8xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>))",
                    1, 4),
            R"(^bb0(%arg0: tensor<5x8xf32>, %arg1: tensor<i32>, %arg2: tensor<5x4xf32>):
  %0:2 = "chlo.top_k"(%arg2) <{k = 3 : i64}> : (tensor<5x4xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>)
  %1 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<5x3xi32>
  %2 = "stablehlo.add"(%0#1, %1) : (tensor<5x3xi32>, tensor<5x3xi32>) -> tensor<5x3xi32>
  "func.return"(%0#0, %2) : (tensor<5x3xf32>, tensor<5x3xi32>) -> ()
)");
}

TEST(TopKChunkTest, ShortChunkIsFilledUp) {
  EXPECT_EQ(ChunkOf({"5x8xf32"}, R"(%r:2 = "chlo.top_k"(%0) <{k = 3 : i64}>
    : (tensor<5x8xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>))",
                    1, 2),
            R"(^bb0(%arg0: tensor<5x8xf32>, %arg1: tensor<i32>, %arg2: tensor<5x2xf32>):
  %0:2 = "chlo.top_k"(%arg2) <{k = 2 : i64}> : (tensor<5x2xf32>) -> (tensor<5x2xf32>, tensor<5x2xi32>)
  %1 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<5x2xi32>
  %2 = "stablehlo.add"(%0#1, %1) : (tensor<5x2xi32>, tensor<5x2xi32>) -> tensor<5x2xi32>
  %3 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %4 = "stablehlo.pad"(%0#0, %3) <{edge_padding_high = array<i64: 0, 1>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<5x2xf32>, tensor<f32>) -> tensor<5x3xf32>
  %5 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
  %6 = "stablehlo.pad"(%2, %5) <{edge_padding_high = array<i64: 0, 1>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<5x2xi32>, tensor<i32>) -> tensor<5x3xi32>
  "func.return"(%4, %6) : (tensor<5x3xf32>, tensor<5x3xi32>) -> ()
)");
}

TEST(TopKChunkTest, ListsAreMerged) {
  EXPECT_EQ(
      CombinedLists(),
      R"(^bb0(%arg0: tensor<5x8xf32>, %arg1: tensor<5x3xf32>, %arg2: tensor<5x3xi32>, %arg3: tensor<5x3xf32>, %arg4: tensor<5x3xi32>):
  %0 = "stablehlo.concatenate"(%arg1, %arg3) <{dimension = 1 : i64}> : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x6xf32>
  %1 = "stablehlo.concatenate"(%arg2, %arg4) <{dimension = 1 : i64}> : (tensor<5x3xi32>, tensor<5x3xi32>) -> tensor<5x6xi32>
  %2:2 = "stablehlo.sort"(%0, %1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<i32>, %arg8: tensor<i32>):
    %3 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.compare"(%arg7, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = "stablehlo.compare"(%arg8, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = "stablehlo.compare"(%arg5, %arg6) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %7 = "stablehlo.compare"(%4, %5) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = "stablehlo.select"(%7, %6, %4) : (tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%8) : (tensor<i1>) -> ()
  }) : (tensor<5x6xf32>, tensor<5x6xi32>) -> (tensor<5x6xf32>, tensor<5x6xi32>)
  %9 = "stablehlo.slice"(%2#0) <{limit_indices = array<i64: 5, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<5x6xf32>) -> tensor<5x3xf32>
  %10 = "stablehlo.slice"(%2#1) <{limit_indices = array<i64: 5, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<5x6xi32>) -> tensor<5x3xi32>
  "func.return"(%9, %10) : (tensor<5x3xf32>, tensor<5x3xi32>) -> ()
)");
}

}  // namespace
}  // namespace plimsoll::testing
