#include "rewrite/fold_transposes.h"

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "ir/status.h"
#include "ir/verify.h"
#include "rewrite/remove_dead_ops.h"
#include "stablehlo/text_reader.h"
#include "stablehlo/text_writer.h"

namespace plimsoll {
namespace {

// The ops that are left of a function with these ops, which takes two matrices.
std::string Fold(std::string_view ops, std::string_view result) {
  const std::string head = StrCat(R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf32>, tensor<4x3x5xf32>) -> )",
                                  result, R"(, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<4x3x5xf32>):
)");
  const std::string text = StrCat(head, ops, "  }) : () -> ()\n}) : () -> ()\n");
  StatusOr<std::unique_ptr<Module>> module = ReadText(text, "test");
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  if (!module.ok()) return "";
  FoldTransposes((*module)->context(), (*module)->op());
  RemoveDeadOps((*module)->op());
  EXPECT_TRUE(Verify(**module).ok()) << Verify(**module).ToString();
  const std::string written = WriteText(**module, Locations::kOmit);
  return written.substr(head.size(), written.rfind("  }) : () -> ()\n})") - head.size());
}

TEST(FoldTransposesTest, AProductReadsTheOperandItself) {
  EXPECT_EQ(
      Fold(
          R"(    %0 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = "stablehlo.dot_general"(%arg0, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    "func.return"(%1) : (tensor<2x2xf32>) -> ()
)",
          "tensor<2x2xf32>"),
      R"(    %0 = "stablehlo.dot_general"(%arg0, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
    "func.return"(%0) : (tensor<2x2xf32>) -> ()
)");
}

// The free dimensions of the result would change places.
TEST(FoldTransposesTest, AnotherOrderOfFreeDimensionsStays) {
  constexpr std::string_view kOps =
      R"(    %0 = "stablehlo.transpose"(%arg1) <{permutation = array<i64: 2, 0, 1>}> : (tensor<4x3x5xf32>) -> tensor<5x4x3xf32>
    %1 = "stablehlo.dot_general"(%arg0, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>}> : (tensor<2x3xf32>, tensor<5x4x3xf32>) -> tensor<2x5x4xf32>
    "func.return"(%1) : (tensor<2x5x4xf32>) -> ()
)";
  EXPECT_EQ(Fold(kOps, "tensor<2x5x4xf32>"), kOps);
}

}  // namespace
}  // namespace plimsoll
