#include "rewrite/concatenate_rules.h"

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
using Lines = std::vector<std::string>;

TEST(SliceOfConcatenateTest, OneOperandIsReadItself) {
  const Rewritten rewritten = Rewrite(ConcatenateRules(), {"5x3xf32", "4x3xf32"},
                                      R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<9x3xf32>
  %b = "stablehlo.slice"(%a) <{limit_indices = array<i64: 9, 3>, start_indices = array<i64: 5, 0>, strides = array<i64: 1, 1>}> : (tensor<9x3xf32>) -> tensor<4x3xf32>)",
                                      {{"%b", "4x3xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<5x3xf32>, %arg1: tensor<4x3xf32>):
  "func.return"(%arg1) : (tensor<4x3xf32>) -> ()
)");
}

TEST(SliceOfConcatenateTest, AStrideMaySkipOperands) {
  const Rewritten rewritten = Rewrite(ConcatenateRules(), {"700xf32", "2xf32", "500xf32"},
                                      R"(
  %a = "stablehlo.concatenate"(%0, %1, %2) <{dimension = 0 : i64}> : (tensor<700xf32>, tensor<2xf32>, tensor<500xf32>) -> tensor<1202xf32>
  %b = "stablehlo.slice"(%a) <{limit_indices = array<i64: 1202>, start_indices = array<i64: 600>, strides = array<i64: 99>}> : (tensor<1202xf32>) -> tensor<7xf32>)",
                                      {{"%b", "7xf32"}});
  EXPECT_EQ(rewritten.body,
            R"(^bb0(%arg0: tensor<700xf32>, %arg1: tensor<2xf32>, %arg2: tensor<500xf32>):
  %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 700>, start_indices = array<i64: 600>, strides = array<i64: 99>}> : (tensor<700xf32>) -> tensor<2xf32>
  %1 = "stablehlo.slice"(%arg2) <{limit_indices = array<i64: 493>, start_indices = array<i64: 96>, strides = array<i64: 99>}> : (tensor<500xf32>) -> tensor<5xf32>
  %2 = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<2xf32>, tensor<5xf32>) -> tensor<7xf32>
  "func.return"(%2) : (tensor<7xf32>) -> ()
)");
}

TEST(SliceOfConcatenateTest, StacksAreReadThroughMoves) {
  const Rewritten rewritten = Rewrite(ConcatenateRules(), {"7xf32", "7xf32"},
                                      R"(
  %a = "stablehlo.reshape"(%0) : (tensor<7xf32>) -> tensor<7x1xf32>
  %b = "stablehlo.reshape"(%1) : (tensor<7xf32>) -> tensor<7x1xf32>
  %c = "stablehlo.concatenate"(%a, %b) <{dimension = 1 : i64}> : (tensor<7x1xf32>, tensor<7x1xf32>) -> tensor<7x2xf32>
  %d = "stablehlo.transpose"(%c) <{permutation = array<i64: 1, 0>}> : (tensor<7x2xf32>) -> tensor<2x7xf32>
  %e = "stablehlo.slice"(%d) <{limit_indices = array<i64: 2, 7>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x7xf32>) -> tensor<1x7xf32>)",
                                      {{"%e", "1x7xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<7xf32>, %arg1: tensor<7xf32>):
  %0 = "stablehlo.reshape"(%arg1) : (tensor<7xf32>) -> tensor<7x1xf32>
  %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<7x1xf32>) -> tensor<1x7xf32>
  "func.return"(%1) : (tensor<1x7xf32>) -> ()
)");
}

TEST(SliceOfConcatenateTest, DynamicSlicesAtConstants) {
  // The start is out of bounds and means 5.
  const Rewritten rewritten = Rewrite(ConcatenateRules(), {"5xi32", "4xi32"},
                                      R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<5xi32>, tensor<4xi32>) -> tensor<9xi32>
  %c = "stablehlo.constant"() <{value = dense<7> : tensor<i32>}> : () -> tensor<i32>
  %b = "stablehlo.dynamic_slice"(%a, %c) <{slice_sizes = array<i64: 4>}> : (tensor<9xi32>, tensor<i32>) -> tensor<4xi32>)",
                                      {{"%b", "4xi32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<5xi32>, %arg1: tensor<4xi32>):
  "func.return"(%arg1) : (tensor<4xi32>) -> ()
)");
}

// As x[:, [2, 0]] is written: negative indices count from the end.
TEST(SliceOfConcatenateTest, GathersAtConstants) {
  const Rewritten rewritten = Rewrite(ConcatenateRules(), {"5x1xf32", "5x1xf32", "5x1xf32"},
                                      R"(
  %a = "stablehlo.concatenate"(%0, %1, %2) <{dimension = 1 : i64}> : (tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x3xf32>
  %b = "stablehlo.constant"() <{value = dense<[2, -3]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %c = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %d = "stablehlo.broadcast_in_dim"(%c) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2xi32>
  %e = "stablehlo.compare"(%b, %d) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  %f = "stablehlo.constant"() <{value = dense<3> : tensor<2xi32>}> : () -> tensor<2xi32>
  %g = "stablehlo.add"(%b, %f) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %h = "stablehlo.select"(%e, %g, %b) : (tensor<2xi1>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %i = "stablehlo.broadcast_in_dim"(%h) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xi32>) -> tensor<2x1xi32>
  %j = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 5, 1>}> : (tensor<5x3xf32>, tensor<2x1xi32>) -> tensor<5x2xf32>)",
                                      {{"%j", "5x2xf32"}});
  EXPECT_EQ(rewritten.body,
            R"(^bb0(%arg0: tensor<5x1xf32>, %arg1: tensor<5x1xf32>, %arg2: tensor<5x1xf32>):
  %0 = "stablehlo.concatenate"(%arg2, %arg0) <{dimension = 1 : i64}> : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x2xf32>
  "func.return"(%0) : (tensor<5x2xf32>) -> ()
)");
}

TEST(SliceOfConcatenateTest, LeavesOtherDimensionsAndDynamicStarts) {
  EXPECT_TRUE(Rewrite(ConcatenateRules(), {"5x3xf32", "4x3xf32", "i32"},
                      R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<9x3xf32>
  %b = "stablehlo.slice"(%a) <{limit_indices = array<i64: 9, 2>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<9x3xf32>) -> tensor<9x1xf32>
  %c = "stablehlo.dynamic_slice"(%a, %2, %2) <{slice_sizes = array<i64: 4, 3>}> : (tensor<9x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>)",
                      {{"%b", "9x1xf32"}, {"%c", "4x3xf32"}})
                  .fired()
                  .empty());
}

constexpr std::string_view kComputedOnBoth = R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<5000xf32>, tensor<4000xf32>) -> tensor<9000xf32>
  %b = "stablehlo.constant"() <{value = dense<2.0> : tensor<9000xf32>}> : () -> tensor<9000xf32>
  %c = "stablehlo.multiply"(%a, %b) : (tensor<9000xf32>, tensor<9000xf32>) -> tensor<9000xf32>
  %d = "stablehlo.add"(%c, %2) : (tensor<9000xf32>, tensor<9000xf32>) -> tensor<9000xf32>
  %e = "stablehlo.slice"(%d) <{limit_indices = array<i64: 5000>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<9000xf32>) -> tensor<5000xf32>
  %f = "stablehlo.slice"(%d) <{limit_indices = array<i64: 9000>, start_indices = array<i64: 5000>, strides = array<i64: 1>}> : (tensor<9000xf32>) -> tensor<4000xf32>)";

TEST(ElementwiseOfConcatenateTest, AllSlicesChangeAtOnce) {
  const Rewritten rewritten = Rewrite(ConcatenateRules(), {"5000xf32", "4000xf32", "9000xf32"},
                                      kComputedOnBoth, {{"%e", "5000xf32"}, {"%f", "4000xf32"}});
  EXPECT_EQ(rewritten.body,
            R"(^bb0(%arg0: tensor<5000xf32>, %arg1: tensor<4000xf32>, %arg2: tensor<9000xf32>):
  %0 = "stablehlo.constant"() <{value = dense<2.0> : tensor<4000xf32>}> : () -> tensor<4000xf32>
  %1 = "stablehlo.multiply"(%arg1, %0) : (tensor<4000xf32>, tensor<4000xf32>) -> tensor<4000xf32>
  %2 = "stablehlo.slice"(%arg2) <{limit_indices = array<i64: 9000>, start_indices = array<i64: 5000>, strides = array<i64: 1>}> : (tensor<9000xf32>) -> tensor<4000xf32>
  %3 = "stablehlo.add"(%1, %2) : (tensor<4000xf32>, tensor<4000xf32>) -> tensor<4000xf32>
  %4 = "stablehlo.constant"() <{value = dense<2.0> : tensor<5000xf32>}> : () -> tensor<5000xf32>
  %5 = "stablehlo.multiply"(%arg0, %4) : (tensor<5000xf32>, tensor<5000xf32>) -> tensor<5000xf32>
  %6 = "stablehlo.slice"(%arg2) <{limit_indices = array<i64: 5000>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<9000xf32>) -> tensor<5000xf32>
  %7 = "stablehlo.add"(%5, %6) : (tensor<5000xf32>, tensor<5000xf32>) -> tensor<5000xf32>
  "func.return"(%7, %3) : (tensor<5000xf32>, tensor<4000xf32>) -> ()
)");
  EXPECT_EQ(rewritten.fired(), Names{"elementwise_of_concatenate"});
}

TEST(ElementwiseOfConcatenateTest, LeavesWhatIsReadWhole) {
  const Rewritten rewritten = Rewrite(ConcatenateRules(), {"500xf32", "400xf32"},
                                      R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<500xf32>, tensor<400xf32>) -> tensor<900xf32>
  %c = "stablehlo.multiply"(%a, %a) : (tensor<900xf32>, tensor<900xf32>) -> tensor<900xf32>
  %d = "stablehlo.sine"(%c) : (tensor<900xf32>) -> tensor<900xf32>
  %e = "stablehlo.slice"(%c) <{limit_indices = array<i64: 500>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<900xf32>) -> tensor<500xf32>)",
                                      {{"%e", "500xf32"}, {"%d", "900xf32"}});
  EXPECT_TRUE(rewritten.fired().empty());
}

constexpr std::string_view kSum = R"( ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) )";

TEST(ReduceOfConcatenateTest, AlongTheDimensionPiecesAreTakenTogether) {
  const Rewritten rewritten =
      Rewrite(ConcatenateRules(), {"500x3xf32", "400x3xf32"},
              StrCat(R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<500x3xf32>, tensor<400x3xf32>) -> tensor<900x3xf32>
  %i = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %b = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 0>}>)",
                     kSum, R"(: (tensor<900x3xf32>, tensor<f32>) -> tensor<3xf32>)"),
              {{"%b", "3xf32"}});
  EXPECT_EQ(rewritten.body, R"(^bb0(%arg0: tensor<500x3xf32>, %arg1: tensor<400x3xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %2 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<500x3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = "stablehlo.reduce"(%arg1, %0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
    %4 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%4) : (tensor<f32>) -> ()
  }) : (tensor<400x3xf32>, tensor<f32>) -> tensor<3xf32>
  %5 = "stablehlo.add"(%1, %3) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  "func.return"(%5) : (tensor<3xf32>) -> ()
)");
}

TEST(ReduceOfConcatenateTest, AlongOthersPiecesAreConcatenatedLater) {
  const Rewritten rewritten =
      Rewrite(ConcatenateRules(), {"5000x3xf32", "4000x3xf32", "f32"},
              StrCat(R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<5000x3xf32>, tensor<4000x3xf32>) -> tensor<9000x3xf32>
  %c = "stablehlo.multiply"(%a, %a) : (tensor<9000x3xf32>, tensor<9000x3xf32>) -> tensor<9000x3xf32>
  %b = "stablehlo.reduce"(%c, %2) <{dimensions = array<i64: 1>}>)",
                     kSum, R"(: (tensor<9000x3xf32>, tensor<f32>) -> tensor<9000xf32>)"),
              {{"%b", "9000xf32"}});
  EXPECT_EQ(rewritten.body,
            R"(^bb0(%arg0: tensor<5000x3xf32>, %arg1: tensor<4000x3xf32>, %arg2: tensor<f32>):
  %0 = "stablehlo.multiply"(%arg0, %arg0) : (tensor<5000x3xf32>, tensor<5000x3xf32>) -> tensor<5000x3xf32>
  %1 = "stablehlo.reduce"(%0, %arg2) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %2 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<5000x3xf32>, tensor<f32>) -> tensor<5000xf32>
  %3 = "stablehlo.multiply"(%arg1, %arg1) : (tensor<4000x3xf32>, tensor<4000x3xf32>) -> tensor<4000x3xf32>
  %4 = "stablehlo.reduce"(%3, %arg2) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
    %5 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%5) : (tensor<f32>) -> ()
  }) : (tensor<4000x3xf32>, tensor<f32>) -> tensor<4000xf32>
  %6 = "stablehlo.concatenate"(%1, %4) <{dimension = 0 : i64}> : (tensor<5000xf32>, tensor<4000xf32>) -> tensor<9000xf32>
  "func.return"(%6) : (tensor<9000xf32>) -> ()
)");
}

TEST(ReduceOfConcatenateTest, RefusesSumsOfFewDigits) {
  const Rewritten rewritten = Rewrite(ConcatenateRules(), {"500xbf16", "400xbf16"},
                                      R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<500xbf16>, tensor<400xbf16>) -> tensor<900xbf16>
  %i = "stablehlo.constant"() <{value = dense<0.0> : tensor<bf16>}> : () -> tensor<bf16>
  %b = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %s = "stablehlo.add"(%x, %y) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
    "stablehlo.return"(%s) : (tensor<bf16>) -> ()
  }) : (tensor<900xbf16>, tensor<bf16>) -> tensor<bf16>)",
                                      {{"%b", "bf16"}});
  EXPECT_EQ(rewritten.refused(),
            Lines{"reduce_of_concatenate: sums of pieces would be rounded to few digits"});
}

TEST(ReduceOfConcatenateTest, LeavesSumsThatStartAtAnyNumber) {
  EXPECT_TRUE(Rewrite(ConcatenateRules(), {"500xf32", "400xf32", "f32"},
                      StrCat(
                          R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<500xf32>, tensor<400xf32>) -> tensor<900xf32>
  %b = "stablehlo.reduce"(%a, %2) <{dimensions = array<i64: 0>}>)",
                          kSum, R"(: (tensor<900xf32>, tensor<f32>) -> tensor<f32>)"),
                      {{"%b", "f32"}})
                  .fired()
                  .empty());
}

// [A B] [x; y] for each of three matrices.
std::string Dot(std::string_view pieces, std::string_view element) {
  return StrCat(
      R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 2 : i64}> : (tensor<3x40x30x)",
      element, ">, tensor<3x40x20x", element, ">) -> tensor<3x40x50x", element, R"(>
  %b = "stablehlo.concatenate"()",
      pieces, R"() <{dimension = 1 : i64}> : (tensor<3x30x2x)", element, ">, tensor<3x20x2x",
      element, ">) -> tensor<3x50x2x", element, R"(>
  %c = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<3x40x50x)",
      element, ">, tensor<3x50x2x", element, ">) -> tensor<3x40x2x", element, ">");
}

TEST(DotOfConcatenateTest, PiecesAreMultipliedEach) {
  const Rewritten rewritten =
      Rewrite(ConcatenateRules(), {"3x40x30xf32", "3x40x20xf32", "3x30x2xf32", "3x20x2xf32"},
              Dot("%2, %3", "f32"), {{"%c", "3x40x2xf32"}});
  EXPECT_EQ(
      rewritten.body,
      R"(^bb0(%arg0: tensor<3x40x30xf32>, %arg1: tensor<3x40x20xf32>, %arg2: tensor<3x30x2xf32>, %arg3: tensor<3x20x2xf32>):
  %0 = "stablehlo.dot_general"(%arg0, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<3x40x30xf32>, tensor<3x30x2xf32>) -> tensor<3x40x2xf32>
  %1 = "stablehlo.dot_general"(%arg1, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<3x40x20xf32>, tensor<3x20x2xf32>) -> tensor<3x40x2xf32>
  %2 = "stablehlo.add"(%0, %1) : (tensor<3x40x2xf32>, tensor<3x40x2xf32>) -> tensor<3x40x2xf32>
  "func.return"(%2) : (tensor<3x40x2xf32>) -> ()
)");
}

TEST(DotOfConcatenateTest, RefusesResultsOfFewDigits) {
  const Rewritten rewritten =
      Rewrite(ConcatenateRules(), {"3x40x30xbf16", "3x40x20xbf16", "3x30x2xbf16", "3x20x2xbf16"},
              Dot("%2, %3", "bf16"), {{"%c", "3x40x2xbf16"}});
  EXPECT_EQ(rewritten.refused(),
            Lines{"dot_of_concatenate: products of pieces would be rounded to few digits"});
}

TEST(DotOfConcatenateTest, LeavesOtherPieces) {
  EXPECT_TRUE(Rewrite(ConcatenateRules(), {"40x30xf32", "40x20xf32", "20x2xf32", "30x2xf32"},
                      R"(
  %a = "stablehlo.concatenate"(%0, %1) <{dimension = 1 : i64}> : (tensor<40x30xf32>, tensor<40x20xf32>) -> tensor<40x50xf32>
  %b = "stablehlo.concatenate"(%2, %3) <{dimension = 0 : i64}> : (tensor<20x2xf32>, tensor<30x2xf32>) -> tensor<50x2xf32>
  %c = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<40x50xf32>, tensor<50x2xf32>) -> tensor<40x2xf32>)",
                      {{"%c", "40x2xf32"}})
                  .fired()
                  .empty());
}

}  // namespace
}  // namespace plimsoll
