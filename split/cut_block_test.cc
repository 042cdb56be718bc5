// Whole programs before and after a cut.

#include "split/cut_block.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cut.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "split/testing.h"

namespace plimsoll::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The program, cut in chunks of `chunk` blocks along a dimension of the first result of `maker`.
// Values of more than 60 bytes are big, unless they are arguments or results.
std::string AfterCut(const std::vector<std::string_view>& arguments, std::string_view ops,
                     const std::vector<NamedType>& results, std::string_view maker, int dimension,
                     int64_t chunk, size_t loops = 1) {
  const std::unique_ptr<Module> module = Program(arguments, ops, results);
  if (module == nullptr) return "";
  Block& block = *module->main()->entry_block();
  BigValues big = {.threshold = 60, .existing = {}};
  for (size_t i = 0; i < block.argument_count(); ++i) big.existing.insert(block.argument(i));
  for (const Value* value : block.last()->operands()) big.existing.insert(value);
  const Op* seed = block.first();
  while (seed->name() != StrCat("stablehlo.", maker)) seed = seed->next();
  Refusal refusal;
  const std::optional<Cut> cut =
      FindCut(BlockView(block), *seed->result(0), dimension, big, 0, refusal);
  if (!cut) return refusal.reason;
  const StatusOr<std::vector<Op*>> made = CutBlock(module->context(), block, *cut, chunk);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  if (!made.ok()) return "";
  EXPECT_EQ(made->size(), loops);
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module).ToString();
  return BodyText(*module);
}

// The outer product %k of %0 with itself, 5 x 5 numbers (100 bytes).
constexpr std::string_view kOuter = R"(
  %a = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}>
      : (tensor<5xf32>) -> tensor<5x5xf32>
  %b = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 1>}>
      : (tensor<5xf32>) -> tensor<5x5xf32>
  %k = "stablehlo.multiply"(%a, %b) : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
)";

// The product of the matrix with the vector %1.
constexpr std::string_view kProduct = R"(
  %d = "stablehlo.dot_general"(%k, %1) <{dot_dimension_numbers = #stablehlo.dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
      : (tensor<5x5xf32>, tensor<5xf32>) -> tensor<5xf32>
)";

// The sum of all numbers, from 7 on.
std::string Sum(std::string_view name, std::string_view value, std::string_view type) {
  return StrCat(name, "z = \"stablehlo.constant\"() <{value = dense<7.0> : tensor<f32>}>",
                " : () -> tensor<f32>\n", name, " = \"stablehlo.reduce\"(", value, ", ", name,
                "z) <{dimensions = array<i64: 0", type == "5xf32" ? "" : ", 1", R"(>}> ({
  ^bb1(%x: tensor<f32>, %y: tensor<f32>):
    %o = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%o) : (tensor<f32>) -> ()
  }) : (tensor<)",
                type, ">, tensor<f32>) -> tensor<f32>\n");
}

// A loop over two chunks of two columns, then one over a single column.
TEST(CutBlockTest, PartsAreAddedUpAndWhatRemainsIsAddedToThem) {
  EXPECT_EQ(
      AfterCut({"5xf32", "5xf32"}, StrCat(kOuter, kProduct), {{"%d", "5xf32"}}, "multiply", 1, 2),
      R"(^bb0(%arg0: tensor<5xf32>, %arg1: tensor<5xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<5xf32>}> : () -> tensor<5xf32>
  %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %2:2 = "stablehlo.while"(%1, %0) ({
  ^bb0(%arg2: tensor<i32>, %arg3: tensor<5xf32>):
    %3 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.compare"(%arg2, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%4) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg4: tensor<i32>, %arg5: tensor<5xf32>):
    %5 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %6 = "stablehlo.add"(%arg4, %5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %7:2 = "stablehlo.optimization_barrier"(%arg0, %arg4) : (tensor<5xf32>, tensor<i32>) -> (tensor<5xf32>, tensor<i32>)
    %8 = "stablehlo.broadcast_in_dim"(%7#0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x2xf32>
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %10 = "stablehlo.dynamic_slice"(%arg0, %arg4) <{slice_sizes = array<i64: 2>}> : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<5x2xf32>
    %12 = "stablehlo.multiply"(%8, %11) : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
    %13 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.dynamic_slice"(%arg1, %arg4) <{slice_sizes = array<i64: 2>}> : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
    %15 = "stablehlo.dot_general"(%12, %14) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<5x2xf32>, tensor<2xf32>) -> tensor<5xf32>
    %16 = "stablehlo.add"(%arg5, %15) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    "stablehlo.return"(%6, %16) : (tensor<i32>, tensor<5xf32>) -> ()
  }) : (tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>)
  %17 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
  %18 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x1xf32>
  %19 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %20 = "stablehlo.dynamic_slice"(%arg0, %17) <{slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
  %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64: 1>}> : (tensor<1xf32>) -> tensor<5x1xf32>
  %22 = "stablehlo.multiply"(%18, %21) : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x1xf32>
  %23 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %24 = "stablehlo.dynamic_slice"(%arg1, %17) <{slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
  %25 = "stablehlo.dot_general"(%22, %24) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<5x1xf32>, tensor<1xf32>) -> tensor<5xf32>
  %26 = "stablehlo.add"(%2#1, %25) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  "func.return"(%26) : (tensor<5xf32>) -> ()
)");
}

TEST(CutBlockTest, ChunksOfTheResultAreWritten) {
  EXPECT_EQ(
      AfterCut({"5xf32", "5xf32"}, StrCat(kOuter, kProduct), {{"%d", "5xf32"}}, "multiply", 0, 1),
      R"(^bb0(%arg0: tensor<5xf32>, %arg1: tensor<5xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
  %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %3:2 = "stablehlo.while"(%2, %1) ({
  ^bb0(%arg2: tensor<i32>, %arg3: tensor<5xf32>):
    %4 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.compare"(%arg2, %4) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%5) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg4: tensor<i32>, %arg5: tensor<5xf32>):
    %6 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.add"(%arg4, %6) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.dynamic_slice"(%arg0, %arg4) <{slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x5xf32>
    %11:2 = "stablehlo.optimization_barrier"(%arg0, %arg4) : (tensor<5xf32>, tensor<i32>) -> (tensor<5xf32>, tensor<i32>)
    %12 = "stablehlo.broadcast_in_dim"(%11#0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<5xf32>) -> tensor<1x5xf32>
    %13 = "stablehlo.multiply"(%10, %12) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %14 = "stablehlo.dot_general"(%13, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1x5xf32>, tensor<5xf32>) -> tensor<1xf32>
    %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.dynamic_update_slice"(%arg5, %14, %arg4) : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    "stablehlo.return"(%7, %16) : (tensor<i32>, tensor<5xf32>) -> ()
  }) : (tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>)
  "func.return"(%3#1) : (tensor<5xf32>) -> ()
)");
}

// The sum starts from 7 once. What runs outside keeps its place between its operands and users.
TEST(CutBlockTest, SeveralResultsOfOneLoop) {
  EXPECT_EQ(AfterCut({"5xf32", "5xf32"}, StrCat(kOuter, kProduct, Sum("%s", "%k", "5x5xf32"), R"(
  %n = "stablehlo.negate"(%s) : (tensor<f32>) -> tensor<f32>
)"),
                     {{"%d", "5xf32"}, {"%n", "f32"}}, "multiply", 0, 1),
            R"(^bb0(%arg0: tensor<5xf32>, %arg1: tensor<5xf32>):
  %0 = "stablehlo.constant"() <{value = dense<7.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
  %2 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
  %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %5:3 = "stablehlo.while"(%4, %1, %3) ({
  ^bb0(%arg2: tensor<i32>, %arg3: tensor<f32>, %arg4: tensor<5xf32>):
    %6 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.compare"(%arg2, %6) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%7) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<f32>, %arg7: tensor<5xf32>):
    %8 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.add"(%arg5, %8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.dynamic_slice"(%arg0, %arg5) <{slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x5xf32>
    %13:2 = "stablehlo.optimization_barrier"(%arg0, %arg5) : (tensor<5xf32>, tensor<i32>) -> (tensor<5xf32>, tensor<i32>)
    %14 = "stablehlo.broadcast_in_dim"(%13#0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<5xf32>) -> tensor<1x5xf32>
    %15 = "stablehlo.multiply"(%12, %14) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %16 = "stablehlo.dot_general"(%15, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1x5xf32>, tensor<5xf32>) -> tensor<1xf32>
    %17 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.reduce"(%15, %17) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %19 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%19) : (tensor<f32>) -> ()
    }) : (tensor<1x5xf32>, tensor<f32>) -> tensor<f32>
    %20 = "stablehlo.add"(%arg6, %18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %21 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %22 = "stablehlo.dynamic_update_slice"(%arg7, %16, %arg5) : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    "stablehlo.return"(%9, %20, %22) : (tensor<i32>, tensor<f32>, tensor<5xf32>) -> ()
  }) : (tensor<i32>, tensor<f32>, tensor<5xf32>) -> (tensor<i32>, tensor<f32>, tensor<5xf32>)
  %23 = "stablehlo.negate"(%5#1) : (tensor<f32>) -> tensor<f32>
  "func.return"(%5#2, %23) : (tensor<5xf32>, tensor<f32>) -> ()
)");
}

// The sums of the rows are written in the first pass and read in the second.
TEST(CutBlockTest, AValueIsKeptForALaterPass) {
  EXPECT_EQ(AfterCut({"5xf32", "5xf32"}, StrCat(kOuter, kProduct, Sum("%s", "%d", "5xf32"), R"(
  %n = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64>}>
      : (tensor<f32>) -> tensor<5x5xf32>
  %c = "stablehlo.subtract"(%k, %n) : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %e = "stablehlo.dot_general"(%c, %d) <{dot_dimension_numbers = #stablehlo.dot<
      lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}>
      : (tensor<5x5xf32>, tensor<5xf32>) -> tensor<5xf32>
)"),
                     {{"%e", "5xf32"}}, "multiply", 0, 1, 2),
            R"(^bb0(%arg0: tensor<5xf32>, %arg1: tensor<5xf32>):
  %0 = "stablehlo.constant"() <{value = dense<7.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
  %2 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
  %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %5:3 = "stablehlo.while"(%4, %1, %3) ({
  ^bb0(%arg2: tensor<i32>, %arg3: tensor<f32>, %arg4: tensor<5xf32>):
    %6 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.compare"(%arg2, %6) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%7) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<f32>, %arg7: tensor<5xf32>):
    %8 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.add"(%arg5, %8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.dynamic_slice"(%arg0, %arg5) <{slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x5xf32>
    %13:2 = "stablehlo.optimization_barrier"(%arg0, %arg5) : (tensor<5xf32>, tensor<i32>) -> (tensor<5xf32>, tensor<i32>)
    %14 = "stablehlo.broadcast_in_dim"(%13#0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<5xf32>) -> tensor<1x5xf32>
    %15 = "stablehlo.multiply"(%12, %14) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %16 = "stablehlo.dot_general"(%15, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<1x5xf32>, tensor<5xf32>) -> tensor<1xf32>
    %17 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.reduce"(%16, %17) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %19 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%19) : (tensor<f32>) -> ()
    }) : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
    %20 = "stablehlo.add"(%arg6, %18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %21 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %22 = "stablehlo.dynamic_update_slice"(%arg7, %16, %arg5) : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    "stablehlo.return"(%9, %20, %22) : (tensor<i32>, tensor<f32>, tensor<5xf32>) -> ()
  }) : (tensor<i32>, tensor<f32>, tensor<5xf32>) -> (tensor<i32>, tensor<f32>, tensor<5xf32>)
  %23 = "stablehlo.constant"() <{value = dense<0.0> : tensor<5xf32>}> : () -> tensor<5xf32>
  %24 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %25:2 = "stablehlo.while"(%24, %23) ({
  ^bb0(%arg10: tensor<i32>, %arg11: tensor<5xf32>):
    %26 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %27 = "stablehlo.compare"(%arg10, %26) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%27) : (tensor<i1>) -> ()
  }, {
  ^bb0(%arg12: tensor<i32>, %arg13: tensor<5xf32>):
    %28 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %29 = "stablehlo.add"(%arg12, %28) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %30 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %31 = "stablehlo.dynamic_slice"(%arg0, %arg12) <{slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x5xf32>
    %33:2 = "stablehlo.optimization_barrier"(%arg0, %arg12) : (tensor<5xf32>, tensor<i32>) -> (tensor<5xf32>, tensor<i32>)
    %34 = "stablehlo.broadcast_in_dim"(%33#0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<5xf32>) -> tensor<1x5xf32>
    %35 = "stablehlo.multiply"(%32, %34) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %36:2 = "stablehlo.optimization_barrier"(%5#1, %arg12) : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    %37 = "stablehlo.broadcast_in_dim"(%36#0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5xf32>
    %38 = "stablehlo.subtract"(%35, %37) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %39 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %40 = "stablehlo.dynamic_slice"(%5#2, %arg12) <{slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
    %41 = "stablehlo.dot_general"(%38, %40) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<1x5xf32>, tensor<1xf32>) -> tensor<5xf32>
    %42 = "stablehlo.add"(%arg13, %41) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    "stablehlo.return"(%29, %42) : (tensor<i32>, tensor<5xf32>) -> ()
  }) : (tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>)
  "func.return"(%25#1) : (tensor<5xf32>) -> ()
)");
}

// The sum of 40 numbers that are made of %0, one by one or in twos.
std::string LongSum(std::string_view element, std::string_view maker, int64_t chunk) {
  const std::string type = StrCat("40x", element);
  const std::string zero = element == "i32" ? "0" : "0.0";
  return AfterCut(
      {type},
      StrCat("%m = \"stablehlo.", maker, "\"(%0) : (tensor<", type, ">) -> tensor<", type,
             ">\n%z = \"stablehlo.constant\"() <{value = dense<", zero, "> : tensor<", element,
             ">}> : () -> tensor<", element,
             ">\n%s = \"stablehlo.reduce\"(%m, %z) <{dimensions = array<i64: 0>}> "
             "({\n^bb1(%a: tensor<",
             element, ">, %b: tensor<", element, ">):\n%c = \"stablehlo.add\"(%a, %b) : (tensor<",
             element, ">, tensor<", element, ">) -> tensor<", element,
             ">\n\"stablehlo.return\"(%c) : (tensor<", element, ">) -> ()\n}) : (tensor<", type,
             ">, tensor<", element, ">) -> tensor<", element, ">"),
      {{"%s", element}}, maker, 0, chunk);
}

TEST(CutBlockTest, LongSumsCarryTheirRoundingErrorsAlong) {
  const std::string text = LongSum("f32", "sine", 1);
  EXPECT_THAT(text, HasSubstr(R"(
    %16 = "stablehlo.add"(%14, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %17 = "stablehlo.add"(%arg5, %16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %18 = "stablehlo.subtract"(%17, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %19 = "stablehlo.subtract"(%16, %18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %20 = "stablehlo.is_finite"(%17) : (tensor<f32>) -> tensor<i1>
)"));
}

TEST(CutBlockTest, ShortSumsAndExactOnesDoNot) {
  EXPECT_THAT(LongSum("f32", "sine", 2), Not(HasSubstr("is_finite")));
  EXPECT_THAT(LongSum("i32", "negate", 1), Not(HasSubstr("is_finite")));
}

// Each row of the transposed %0 is compared with each number of the others.
TEST(CutBlockTest, ATransposeThatIsReadAgainAndAgainIsMadeInMemory) {
  const std::string ops = StrCat(R"(
  %t = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<3x6xf32>) -> tensor<6x3xf32>
  %u = "stablehlo.reshape"(%t) : (tensor<6x3xf32>) -> tensor<6x1x3xf32>
  %a = "stablehlo.broadcast_in_dim"(%u) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<6x1x3xf32>) -> tensor<6x4x3xf32>
  %k = "stablehlo.sine"(%a) : (tensor<6x4x3xf32>) -> tensor<6x4x3xf32>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %d = "stablehlo.reduce"(%k, %z) <{dimensions = array<i64: 1, 2>}> ({
  ^bb1(%x: tensor<f32>, %y: tensor<f32>):
    %o = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%o) : (tensor<f32>) -> ()
  }) : (tensor<6x4x3xf32>, tensor<f32>) -> tensor<6xf32>
)");
  EXPECT_THAT(AfterCut({"3x6xf32"}, ops, {{"%d", "6xf32"}}, "sine", 0, 2),
              HasSubstr("\"stablehlo.optimization_barrier\"(%11) : (tensor<2x3xf32>)"));
}

TEST(CutBlockTest, OneChunkNeedsNoLoop) {
  EXPECT_EQ(AfterCut({"5xf32", "5xf32"}, StrCat(kOuter, kProduct), {{"%d", "5xf32"}}, "multiply", 1,
                     5, 0),
            R"(^bb0(%arg0: tensor<5xf32>, %arg1: tensor<5xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<5xf32>}> : () -> tensor<5xf32>
  %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %2 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<5xf32>) -> tensor<5x5xf32>
  %3 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %4 = "stablehlo.dynamic_slice"(%arg0, %1) <{slice_sizes = array<i64: 5>}> : (tensor<5xf32>, tensor<i32>) -> tensor<5xf32>
  %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 1>}> : (tensor<5xf32>) -> tensor<5x5xf32>
  %6 = "stablehlo.multiply"(%2, %5) : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %8 = "stablehlo.dynamic_slice"(%arg1, %1) <{slice_sizes = array<i64: 5>}> : (tensor<5xf32>, tensor<i32>) -> tensor<5xf32>
  %9 = "stablehlo.dot_general"(%6, %8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<5x5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %10 = "stablehlo.add"(%0, %9) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  "func.return"(%10) : (tensor<5xf32>) -> ()
)");
}

}  // namespace
}  // namespace plimsoll::testing
