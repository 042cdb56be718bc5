#include "kernels/insert_kernels.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/verify.h"

namespace plimsoll {
namespace {

using testing::BodyText;
using ::testing::HasSubstr;
using testing::NamedType;
using ::testing::Not;
using testing::Program;

StatusOr<KernelCost> AnyCost(const TileProgram&, llvm::ArrayRef<int64_t>, int64_t) {
  return KernelCost{.scratch_bytes = 64, .seconds = 0.5};
}

StatusOr<KernelCost> AnyCostOfStages(const StagedProgram&, llvm::ArrayRef<llvm::ArrayRef<int64_t>>,
                                     llvm::ArrayRef<llvm::ArrayRef<int64_t>>, int64_t) {
  return KernelCost{.scratch_bytes = 64, .seconds = 0.7};
}

struct Inserted {
  std::unique_ptr<Module> module;
  KernelReport report;
  std::string body;
};

Inserted Insert(const std::vector<std::string_view>& arguments, std::string_view ops,
                const std::vector<NamedType>& results, int64_t least_bytes = 100,
                double least_gain = 0) {
  Inserted inserted;
  inserted.module = Program(arguments, ops, results);
  if (inserted.module == nullptr) return inserted;
  Block& block = *inserted.module->main()->entry_block();
  StatusOr<KernelReport> report =
      InsertKernels(inserted.module->context(), block,
                    {.least_bytes = least_bytes,
                     .least_gain = least_gain,
                     .costs = {.tiles = AnyCost, .stages = AnyCostOfStages}});
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  if (!report.ok()) return inserted;
  EXPECT_TRUE(Verify(*inserted.module).ok()) << Verify(*inserted.module).ToString();
  inserted.report = *std::move(report);
  inserted.body = BodyText(*inserted.module);
  return inserted;
}

constexpr std::string_view kGaussian = R"(
  %x = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x3xf32>) -> tensor<8x9x3xf32>
  %y = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<9x3xf32>) -> tensor<8x9x3xf32>
  %d = "stablehlo.subtract"(%x, %y) : (tensor<8x9x3xf32>, tensor<8x9x3xf32>) -> tensor<8x9x3xf32>
  %s = "stablehlo.multiply"(%d, %d) : (tensor<8x9x3xf32>, tensor<8x9x3xf32>) -> tensor<8x9x3xf32>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %q = "stablehlo.reduce"(%s, %z) <{dimensions = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<8x9x3xf32>, tensor<f32>) -> tensor<8x9xf32>
  %n = "stablehlo.negate"(%q) : (tensor<8x9xf32>) -> tensor<8x9xf32>
  %e = "stablehlo.exponential"(%n) : (tensor<8x9xf32>) -> tensor<8x9xf32>
)";

constexpr std::string_view kProduct = R"(
  %r = "stablehlo.dot_general"(%e, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x9xf32>, tensor<9xf32>) -> tensor<8xf32>
)";

TEST(InsertKernels, MakesOneOfAGaussianProduct) {
  const Inserted inserted =
      Insert({"8x3xf32", "9x3xf32", "9xf32"}, StrCat(kGaussian, kProduct), {{"%r", "8xf32"}});
  ASSERT_EQ(inserted.report.inserted.size(), 1U);
  EXPECT_EQ(inserted.report.inserted[0].program, R"(axes r c s0=3
operand f32[r, s0]
operand f32[c, s0]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = fold add s0 %3
%5 = negate %4
%6 = exponential %5
%7 = load 2
%8 = multiply %6, %7
result f32[r] = add c %8
)");
  EXPECT_THAT(inserted.body, HasSubstr("plimsoll_kernel"));
  EXPECT_THAT(inserted.body, Not(HasSubstr("8x9x")));
}

TEST(InsertKernels, KeepsWhatIsNeededWhole) {
  const Inserted inserted = Insert({"8x3xf32", "9x3xf32", "9xf32"}, StrCat(kGaussian, kProduct),
                                   {{"%r", "8xf32"}, {"%e", "8x9xf32"}});
  ASSERT_EQ(inserted.report.inserted.size(), 1U);
  EXPECT_THAT(inserted.report.inserted[0].program, HasSubstr("result f32[r, c] = %6\n"));
  EXPECT_THAT(inserted.report.inserted[0].program, HasSubstr("result f32[r] = add c %8\n"));
}

TEST(InsertKernels, LeavesAloneWhatNothingReduces) {
  const Inserted inserted = Insert({"8x3xf32", "9x3xf32"}, kGaussian, {{"%e", "8x9xf32"}});
  EXPECT_TRUE(inserted.report.inserted.empty());
  EXPECT_THAT(inserted.body, Not(HasSubstr("plimsoll_kernel")));
  ASSERT_FALSE(inserted.report.refused.empty());
}

TEST(InsertKernels, LeavesAloneWhatIsSmall) {
  const Inserted inserted = Insert({"8x3xf32", "9x3xf32", "9xf32"}, StrCat(kGaussian, kProduct),
                                   {{"%r", "8xf32"}}, /*least_bytes=*/10000);
  EXPECT_TRUE(inserted.report.inserted.empty());
  EXPECT_TRUE(inserted.report.refused.empty());
}

TEST(InsertKernels, LeavesAloneWhatXlaDoesAsFast) {
  const auto inserted_with = [](double least_gain) {
    return Insert({"8x3xf32", "9x3xf32", "9xf32"}, StrCat(kGaussian, kProduct), {{"%r", "8xf32"}},
                  /*least_bytes=*/100, least_gain);
  };
  // The kernel is said to take half a second, and this takes XLA some microseconds.
  const Inserted slow = inserted_with(1);
  EXPECT_TRUE(slow.report.inserted.empty());
  ASSERT_FALSE(slow.report.refused.empty());
  EXPECT_EQ(slow.report.refused[0].reason, "XLA is thought to be as fast");
  EXPECT_THAT(slow.body, Not(HasSubstr("plimsoll_kernel")));
  EXPECT_EQ(inserted_with(1e-8).report.inserted.size(), 1U);
}

// The same points twice: rows and columns are still two axes.
TEST(InsertKernels, ReadsOneArrayAlongTwoAxes) {
  const Inserted inserted = Insert({"9x3xf32", "9xf32"},
                                   R"(
  %g = "stablehlo.dot_general"(%0, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<9x3xf32>, tensor<9x3xf32>) -> tensor<9x9xf32>
  %e = "stablehlo.exponential"(%g) : (tensor<9x9xf32>) -> tensor<9x9xf32>
  %r = "stablehlo.dot_general"(%e, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<9x9xf32>, tensor<9xf32>) -> tensor<9xf32>
)",
                                   {{"%r", "9xf32"}});
  ASSERT_EQ(inserted.report.inserted.size(), 1U);
  EXPECT_EQ(inserted.report.inserted[0].program, R"(axes r c s0=3
operand f32[c, s0]
operand f32[r, s0]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add s0 %2
%4 = exponential %3
%5 = load 2
%6 = multiply %4, %5
result f32[r] = add c %6
)");
}

// A softmax needs the maximum before the sum, and both before the product: three passes over rows.
TEST(InsertKernels, MakesOneKernelOfLevelsThatNeedRowsOnly) {
  constexpr std::string_view kReduce = R"( <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.)";
  constexpr std::string_view kEnd = R"("(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<8x9xf32>, tensor<f32>) -> tensor<8xf32>
)";
  const Inserted inserted = Insert({"8x3xf32", "9x3xf32", "9xf32"},
                                   StrCat(R"(
  %g = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<8x3xf32>, tensor<9x3xf32>) -> tensor<8x9xf32>
  %i = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %m = "stablehlo.reduce"(%g, %i))",
                                          kReduce, "maximum", kEnd, R"(
  %w = "stablehlo.broadcast_in_dim"(%m) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x9xf32>
  %d = "stablehlo.subtract"(%g, %w) : (tensor<8x9xf32>, tensor<8x9xf32>) -> tensor<8x9xf32>
  %e = "stablehlo.exponential"(%d) : (tensor<8x9xf32>) -> tensor<8x9xf32>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %s = "stablehlo.reduce"(%e, %z))",
                                          kReduce, "add", kEnd, R"(
  %v = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x9xf32>
  %p = "stablehlo.divide"(%e, %v) : (tensor<8x9xf32>, tensor<8x9xf32>) -> tensor<8x9xf32>
  %r = "stablehlo.dot_general"(%p, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x9xf32>, tensor<9xf32>) -> tensor<8xf32>
)"),
                                   {{"%r", "8xf32"}});
  ASSERT_EQ(inserted.report.inserted.size(), 1U);
  EXPECT_EQ(inserted.report.inserted[0].program, R"(stages
stage r argument 0, argument 1 -> result 0
axes r c s0=3
operand f32[r, s0]
operand f32[c, s0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add s0 %2
result f32[r] = maximum c %3
stage r argument 0, argument 1, result 0 -> result 1, panel 0
axes r c s0=3
operand f32[r, s0]
operand f32[c, s0]
operand f32[r]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add s0 %2
%4 = load 2
%5 = subtract %3, %4
%6 = exponential %5
result f32[r] = add c %6
result f32[r, c] = %6
stage r panel 0, result 1, argument 2 -> result 2
axes r c
operand f32[r, c]
operand f32[r]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = divide %0, %1
%3 = load 2
%4 = multiply %2, %3
result f32[r] = add c %4
)");
  EXPECT_THAT(inserted.body, Not(HasSubstr("8x9x")));
}

// A product with many columns is a stage. Without stages, as many as can be unrolled are.
TEST(InsertKernels, UnrollsProductsThatCannotBeStages) {
  constexpr std::string_view kWide = R"(
  %r = "stablehlo.dot_general"(%e, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x9xf32>, tensor<9xWxf32>) -> tensor<8xWxf32>
)";
  for (const std::string_view width : {"12", "20"}) {
    std::string product(kWide);
    for (size_t at = product.find('W'); at != std::string::npos; at = product.find('W')) {
      product.replace(at, 1, width);
    }
    const std::string values = StrCat("9x", width, "xf32");
    const std::string made = StrCat("8x", width, "xf32");
    const auto module =
        Program({"8x3xf32", "9x3xf32", values}, StrCat(kGaussian, product), {{"%r", made}});
    ASSERT_NE(module, nullptr);
    const StatusOr<KernelReport> report =
        InsertKernels(module->context(), *module->main()->entry_block(),
                      {.least_bytes = 100, .costs = {.tiles = AnyCost}});
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->inserted.size(), width == "12" ? 1U : 0U);
    const Inserted staged =
        Insert({"8x3xf32", "9x3xf32", values}, StrCat(kGaussian, product), {{"%r", made}});
    ASSERT_EQ(staged.report.inserted.size(), 1U);
    EXPECT_THAT(staged.report.inserted[0].program, HasSubstr(width == "12" ? "s1=12" : "stages\n"));
  }
}

// Sums of products of rows and columns in each of three batches, where the row is not behind the
// column.
constexpr std::string_view kMasked = R"(
  %x = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x8xf32>) -> tensor<3x8x9xf32>
  %y = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<3x9xf32>) -> tensor<3x8x9xf32>
  %p = "stablehlo.multiply"(%x, %y) : (tensor<3x8x9xf32>, tensor<3x8x9xf32>) -> tensor<3x8x9xf32>
  %r = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x9xi32>
  %c = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x9xi32>
  %m = "stablehlo.compare"(%r, %c) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<8x9xi32>, tensor<8x9xi32>) -> tensor<8x9xi1>
  %all = "stablehlo.broadcast_in_dim"(%m) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x9xi1>) -> tensor<3x8x9xi1>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %zeros = "stablehlo.broadcast_in_dim"(%z) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8x9xf32>
  %kept = "stablehlo.select"(%all, %p, %zeros) : (tensor<3x8x9xi1>, tensor<3x8x9xf32>, tensor<3x8x9xf32>) -> tensor<3x8x9xf32>
  %sum = "stablehlo.reduce"(%kept, %z) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<3x8x9xf32>, tensor<f32>) -> tensor<3x8xf32>)";

TEST(InsertKernels, EachElementOfABatchMakesTheMaskThatAllHave) {
  const Inserted inserted = Insert({"3x8xf32", "3x9xf32"}, kMasked, {{"%sum", "3x8xf32"}});
  ASSERT_EQ(inserted.report.inserted.size(), 1);
  EXPECT_THAT(inserted.report.inserted[0].program, HasSubstr("axes r c b0\n"));
}

// The sum of the mask itself is one for the whole batch.
TEST(InsertKernels, AMaskThatIsNeededByItselfIsNotMadeForEachElement) {
  const std::string ops = std::string(kMasked) + R"(
  %n = "stablehlo.convert"(%m) : (tensor<8x9xi1>) -> tensor<8x9xf32>
  %count = "stablehlo.reduce"(%n, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<8x9xf32>, tensor<f32>) -> tensor<8xf32>)";
  const Inserted inserted =
      Insert({"3x8xf32", "3x9xf32"}, ops, {{"%sum", "3x8xf32"}, {"%count", "8xf32"}});
  for (const InsertedKernel& kernel : inserted.report.inserted) {
    EXPECT_THAT(kernel.program, Not(HasSubstr("axes r c b0\n")));
  }
}

// Values of the Gaussian scattered by labels: the axes of the operand and of the updates, and what
// the scatter combines by.
std::string Scatter(std::string_view numbers, std::string_view updates, std::string_view operand,
                    std::string_view combine = "add", std::string_view from = "%e",
                    std::string_view indices = "8x1xi32") {
  const std::string types = StrCat("(tensor<", operand, ">, tensor<", indices, ">, tensor<",
                                   updates, ">) -> tensor<", operand, ">");
  return StrCat(R"(
  %zeros = "stablehlo.broadcast_in_dim"(%z) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<)",
                operand, R"(>
  %r = "stablehlo.scatter"(%zeros, %2, )",
                from, ") <{scatter_dimension_numbers = #stablehlo.scatter<", numbers, R"(>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.)",
                combine, R"("(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : )",
                types, "\n");
}

constexpr std::string_view kOfRows =
    "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    "index_vector_dim = 1";
constexpr std::string_view kOfColumns =
    "update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], "
    "index_vector_dim = 1";

TEST(InsertKernels, AddsRowsOfOneSegment) {
  const Inserted inserted =
      Insert({"8x3xf32", "9x3xf32", "8x1xi32"},
             StrCat(kGaussian, Scatter(kOfRows, "8x9xf32", "5x9xf32")), {{"%r", "5x9xf32"}});
  ASSERT_EQ(inserted.report.inserted.size(), 1U);
  EXPECT_EQ(inserted.report.inserted[0].program, R"(axes r c s0=3 g0
operand f32[r, s0]
operand f32[c, s0]
operand i32[r, 1]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = fold add s0 %3
%5 = negate %4
%6 = exponential %5
%7 = load 2
result f32[g0, c] = add r by %7 %6
)");
  EXPECT_THAT(inserted.body, Not(HasSubstr("8x9x")));
  EXPECT_THAT(inserted.body, Not(HasSubstr("scatter")));
  EXPECT_THAT(inserted.body, Not(HasSubstr("stablehlo.add")));
}

// What is grouped is the row of the kernel, whichever axis it is, and what is there before is
// added.
TEST(InsertKernels, KeepsTheBestOfColumnsOfOneSegment) {
  const Inserted inserted = Insert(
      {"8x3xf32", "9x3xf32", "9x1xi32"},
      StrCat(kGaussian, Scatter(kOfColumns, "8x9xf32", "8x5xf32", "maximum", "%e", "9x1xi32")),
      {{"%r", "8x5xf32"}});
  ASSERT_EQ(inserted.report.inserted.size(), 1U);
  EXPECT_THAT(inserted.report.inserted[0].program, HasSubstr("operand f32[c, s0]\n"
                                                             "operand f32[r, s0]\n"
                                                             "operand i32[r, 1]\n"));
  EXPECT_THAT(inserted.report.inserted[0].program,
              HasSubstr("result f32[g0, c] = maximum r by %7 %6\n"));
  EXPECT_THAT(inserted.body, HasSubstr(R"("stablehlo.maximum")"));
  EXPECT_THAT(inserted.body, HasSubstr(R"("stablehlo.transpose")"));
}

TEST(InsertKernels, OneSegmentIsAnAxisToo) {
  const Inserted inserted =
      Insert({"8x3xf32", "9x3xf32", "8x1xi32"},
             StrCat(kGaussian, Scatter(kOfRows, "8x9xf32", "1x9xf32")), {{"%r", "1x9xf32"}});
  ASSERT_EQ(inserted.report.inserted.size(), 1U);
  EXPECT_THAT(inserted.report.inserted[0].program,
              HasSubstr("result f32[g0, c] = add r by %7 %6\n"));
}

// Threads share out the columns where rows are grouped: what else is reduced has its own kernel.
TEST(InsertKernels, ReducesInSegmentsAlone) {
  const Inserted inserted = Insert({"8x3xf32", "9x3xf32", "8x1xi32", "9xf32"},
                                   StrCat(kGaussian, Scatter(kOfRows, "8x9xf32", "5x9xf32"), R"(
  %s = "stablehlo.dot_general"(%e, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x9xf32>, tensor<9xf32>) -> tensor<8xf32>
)"),
                                   {{"%r", "5x9xf32"}, {"%s", "8xf32"}, {"%e", "8x9xf32"}});
  ASSERT_EQ(inserted.report.inserted.size(), 2U);
  EXPECT_THAT(inserted.report.inserted[0].program, HasSubstr("result f32[r] = add c %8\n"
                                                             "result f32[r, c] = %6\n"));
  EXPECT_THAT(inserted.report.inserted[1].program,
              HasSubstr("%7 = load 2\nresult f32[g0, c] = add r by %7 %6\n"));
}

TEST(InsertKernels, SaysWhyAScatterNeedsAllOfAValue) {
  const auto reason_of = [](std::string_view scatter, std::string_view indices,
                            std::string_view result) {
    const Inserted inserted = Insert({"8x3xf32", "9x3xf32", indices}, StrCat(kGaussian, scatter),
                                     {{"%r", result}}, /*least_bytes=*/280);
    EXPECT_TRUE(inserted.report.inserted.empty());
    for (const RefusedKernel& refused : inserted.report.refused) {
      if (refused.type == "tensor<8x9xf32>") return refused.reason;
    }
    return std::string();
  };
  EXPECT_EQ(reason_of(Scatter(kOfRows, "8x9xf32", "5x9xf32", "subtract"), "8x1xi32", "5x9xf32"),
            "needed whole by a scatter that does not add up, multiply or keep the best");
  EXPECT_EQ(reason_of(Scatter("inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = "
                              "[0, 1], index_vector_dim = 2",
                              "8x9xf32", "5x9xf32", "add", "%e", "8x9x2xi32"),
                      "8x9x2xi32", "5x9xf32"),
            "needed whole by a scatter by more than one number");
  EXPECT_EQ(reason_of(Scatter(kOfRows, "8x9xf32", "5x11xf32"), "8x1xi32", "5x11xf32"),
            "needed whole by a scatter of windows that may lie anywhere");
  EXPECT_EQ(reason_of(Scatter("inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                              "index_vector_dim = 2",
                              "8x9xf32", "5xf32", "add", "%e", "8x9x1xi32"),
                      "8x9x1xi32", "5xf32"),
            "needed whole by a scatter along none or several of its dimensions");
}

TEST(InsertKernels, WorksInsideLoops) {
  const Inserted inserted = Insert({"8x3xf32", "9x3xf32", "9xf32"},
                                   StrCat(R"(
  %i = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %h = "stablehlo.constant"() <{value = dense<0.0> : tensor<8xf32>}> : () -> tensor<8xf32>
  %w:2 = "stablehlo.while"(%i, %h) ({
    ^bb0(%j: tensor<i32>, %k: tensor<8xf32>):
    %f = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %t = "stablehlo.compare"(%j, %f) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%t) : (tensor<i1>) -> ()
  }, {
    ^bb0(%j: tensor<i32>, %k: tensor<8xf32>):
)",
                                          kGaussian, kProduct, R"(
    %o = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %p = "stablehlo.add"(%j, %o) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %u = "stablehlo.add"(%k, %r) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "stablehlo.return"(%p, %u) : (tensor<i32>, tensor<8xf32>) -> ()
  }) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
)"),
                                   {{"%w#1", "8xf32"}});
  EXPECT_EQ(inserted.report.inserted.size(), 1U);
}

}  // namespace
}  // namespace plimsoll
