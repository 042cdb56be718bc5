// Elementwise ops, products and reductions on one chunk, and how their parts are put together, text
// in and text out.

#include "split/chunk_ops.h"

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "split/testing.h"

namespace plimsoll::testing {
namespace {

// A reduction of 5x8 numbers to 5 by one op.
std::string ReduceText(std::string_view name, std::string_view element) {
  return StrCat("%r = \"stablehlo.reduce\"(%0, %1) <{dimensions = array<i64: 1>}> ({\n",
                "^bb1(%a: tensor<", element, ">, %b: tensor<", element, ">):\n",
                "%c = \"stablehlo.", name, "\"(%a, %b) : (tensor<", element, ">, tensor<", element,
                ">) -> tensor<", element, ">\n\"stablehlo.return\"(%c) : (tensor<", element,
                ">) -> ()\n}) : (tensor<5x8x", element, ">, tensor<", element, ">) -> tensor<5x",
                element, ">");
}

// What a chunk of two columns becomes.
std::string ReduceChunk(std::string_view name, std::string_view element) {
  return ChunkOf({StrCat("5x8x", element), element}, ReduceText(name, element), 1, 2);
}

// The start of the result, and the result after one more part (the last argument), for a factor of
// a program of one op.
std::string Combining(const std::vector<std::string_view>& arguments, std::string_view text,
                      size_t factor_number) {
  const std::unique_ptr<Module> module = OneOp(arguments, text);
  if (module == nullptr) return "";
  Context& context = module->context();
  Block& block = *module->main()->entry_block();
  Op& op = *block.first();
  const AxisRule rule = AxisRuleOf(op);
  EXPECT_LT(factor_number, rule.factors.size());
  if (factor_number >= rule.factors.size()) return "";
  const Factor& factor = rule.factors[factor_number];
  Builder builder(context, op);
  Builder::Values starts;
  Builder::Values parts;
  for (size_t i = 0; i < op.result_count(); ++i) {
    starts.push_back(InitialAccumulator(builder, op, factor, i, op.operands()));
    const Type type = AccumulatorType(context, op.result(i)->type(), factor.combination);
    parts.push_back(block.AddArgument(type, op.location()));
  }
  const StatusOr<Builder::Values> results = Combine(builder, op, factor, starts, parts);
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  if (!results.ok()) return "";
  block.last()->set_operands(*results);
  op.Erase();
  return BodyText(*module);
}

std::string ReduceCombining(std::string_view name, std::string_view element) {
  return Combining({StrCat("5x8x", element), element}, ReduceText(name, element), 1);
}

constexpr std::string_view kDot = R"(%r = "stablehlo.dot_general"(%0, %1)
    <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]>}>
    : (tensor<4x6xbf16>, tensor<6x3xbf16>) -> tensor<4x3xbf16>)";

TEST(ElementwiseChunkTest, OtherTypes) {
  EXPECT_EQ(
      ChunkOf({"4x6xf32", "4x6xf32"}, R"(%r = "stablehlo.add"(%0, %1)
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>)",
              1, 2),
      R"(^bb0(%arg0: tensor<4x6xf32>, %arg1: tensor<4x6xf32>, %arg2: tensor<i32>, %arg3: tensor<4x2xf32>, %arg4: tensor<4x2xf32>):
  %0 = "stablehlo.add"(%arg3, %arg4) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  "func.return"(%0) : (tensor<4x2xf32>) -> ()
)");
}

TEST(ElementwiseChunkTest, CoarseBlocks) {
  EXPECT_EQ(ChunkOf({"4x6xf32"},
                    R"(%r = "stablehlo.tanh"(%0) : (tensor<4x6xf32>) -> tensor<4x6xf32>)", 1, 2, 3),
            R"(^bb0(%arg0: tensor<4x6xf32>, %arg1: tensor<i32>, %arg2: tensor<4x4xf32>):
  %0 = "stablehlo.tanh"(%arg2) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  "func.return"(%0) : (tensor<4x4xf32>) -> ()
)");
}

TEST(ElementwiseChunkTest, ScalarPredicate) {
  EXPECT_EQ(
      ChunkOf({"i1", "6xf32", "6xf32"}, R"(%r = "stablehlo.select"(%0, %1, %2)
    : (tensor<i1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>)",
              0, 2),
      R"(^bb0(%arg0: tensor<i1>, %arg1: tensor<6xf32>, %arg2: tensor<6xf32>, %arg3: tensor<i32>, %arg4: tensor<2xf32>, %arg5: tensor<2xf32>):
  %0 = "stablehlo.select"(%arg0, %arg4, %arg5) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "func.return"(%0) : (tensor<2xf32>) -> ()
)");
}

TEST(ConstantChunkTest, TheSameNumbers) {
  EXPECT_EQ(ChunkOf({}, R"(%r = "stablehlo.constant"() <{value = dense<7.0> : tensor<4x6xf32>}>
    : () -> tensor<4x6xf32>)",
                    0, 2),
            R"(^bb0(%arg0: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<7.0> : tensor<2x6xf32>}> : () -> tensor<2x6xf32>
  "func.return"(%0) : (tensor<2x6xf32>) -> ()
)");
}

TEST(IotaChunkTest, AlongAnotherDimension) {
  EXPECT_EQ(ChunkOf({}, R"(%r = "stablehlo.iota"() <{iota_dimension = 1 : i64}>
    : () -> tensor<4x6xf32>)",
                    0, 2),
            R"(^bb0(%arg0: tensor<i32>):
  %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x6xf32>
  "func.return"(%0) : (tensor<2x6xf32>) -> ()
)");
}

TEST(IotaChunkTest, CountsOnFromTheChunksStart) {
  EXPECT_EQ(ChunkOf({}, R"(%r = "stablehlo.iota"() <{iota_dimension = 1 : i64}>
    : () -> tensor<4x6xf32>)",
                    1, 2, 3),
            R"(^bb0(%arg0: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.multiply"(%arg0, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x4xi32>
  %3 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4x4xi32>
  %4 = "stablehlo.add"(%2, %3) : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  %5 = "stablehlo.convert"(%4) : (tensor<4x4xi32>) -> tensor<4x4xf32>
  "func.return"(%5) : (tensor<4x4xf32>) -> ()
)");
}

TEST(DotChunkTest, FreeDimension) {
  EXPECT_EQ(
      ChunkOf({"4x6xbf16", "6x3xbf16"}, kDot, 0, 2),
      R"(^bb0(%arg0: tensor<4x6xbf16>, %arg1: tensor<6x3xbf16>, %arg2: tensor<i32>, %arg3: tensor<2x6xbf16>):
  %0 = "stablehlo.dot_general"(%arg3, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x6xbf16>, tensor<6x3xbf16>) -> tensor<2x3xbf16>
  "func.return"(%0) : (tensor<2x3xbf16>) -> ()
)");
}

TEST(DotChunkTest, PartsOfShortNumbersAreLong) {
  EXPECT_EQ(
      ChunkOf({"4x6xbf16", "6x3xbf16"}, kDot, 2, 2),
      R"(^bb0(%arg0: tensor<4x6xbf16>, %arg1: tensor<6x3xbf16>, %arg2: tensor<i32>, %arg3: tensor<4x2xbf16>, %arg4: tensor<2x3xbf16>):
  %0 = "stablehlo.dot_general"(%arg3, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x2xbf16>, tensor<2x3xbf16>) -> tensor<4x3xf32>
  "func.return"(%0) : (tensor<4x3xf32>) -> ()
)");
}

TEST(ReduceChunkTest, OtherDimension) {
  EXPECT_EQ(
      ChunkOf({"5x8xf32", "f32"}, ReduceText("add", "f32"), 0, 2),
      R"(^bb0(%arg0: tensor<5x8xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<2x8xf32>):
  %0 = "stablehlo.reduce"(%arg3, %arg1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
    %1 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
  "func.return"(%0) : (tensor<2xf32>) -> ()
)");
}

// What the reduction starts from counts once, in the accumulator.
TEST(ReduceChunkTest, SumsStartFromZero) {
  EXPECT_EQ(
      ReduceChunk("add", "f32"),
      R"(^bb0(%arg0: tensor<5x8xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<5x2xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.reduce"(%arg3, %0) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
    %2 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<5x2xf32>, tensor<f32>) -> tensor<5xf32>
  "func.return"(%1) : (tensor<5xf32>) -> ()
)");
}

TEST(ReduceChunkTest, SumsOfShortNumbersAreLong) {
  EXPECT_EQ(
      ReduceChunk("add", "bf16"),
      R"(^bb0(%arg0: tensor<5x8xbf16>, %arg1: tensor<bf16>, %arg2: tensor<i32>, %arg3: tensor<5x2xbf16>):
  %0 = "stablehlo.convert"(%arg3) : (tensor<5x2xbf16>) -> tensor<5x2xf32>
  %1 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
    %3 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%3) : (tensor<f32>) -> ()
  }) : (tensor<5x2xf32>, tensor<f32>) -> tensor<5xf32>
  "func.return"(%2) : (tensor<5xf32>) -> ()
)");
}

TEST(ReduceChunkTest, ProductsStartFromOne) {
  EXPECT_EQ(
      ReduceChunk("multiply", "i32"),
      R"(^bb0(%arg0: tensor<5x8xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<5x2xi32>):
  %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.reduce"(%arg3, %0) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
    %2 = "stablehlo.multiply"(%arg4, %arg5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%2) : (tensor<i32>) -> ()
  }) : (tensor<5x2xi32>, tensor<i32>) -> tensor<5xi32>
  "func.return"(%1) : (tensor<5xi32>) -> ()
)");
}

TEST(ReduceChunkTest, SumsOfBooleansAreOred) {
  EXPECT_EQ(
      ReduceChunk("add", "i1"),
      R"(^bb0(%arg0: tensor<5x8xi1>, %arg1: tensor<i1>, %arg2: tensor<i32>, %arg3: tensor<5x2xi1>):
  %0 = "stablehlo.reduce"(%arg3, %arg1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg4: tensor<i1>, %arg5: tensor<i1>):
    %1 = "stablehlo.or"(%arg4, %arg5) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }) : (tensor<5x2xi1>, tensor<i1>) -> tensor<5xi1>
  "func.return"(%0) : (tensor<5xi1>) -> ()
)");
}

// Not every type has infinities or can say "all ones": these may start from the same number often.
TEST(ReduceChunkTest, ExtremesStartFromTheReductionsOwn) {
  for (const std::string_view name : {"maximum", "minimum"}) {
    EXPECT_EQ(
        ReduceChunk(name, "f8E4M3FN"),
        StrCat(
            R"(^bb0(%arg0: tensor<5x8xf8E4M3FN>, %arg1: tensor<f8E4M3FN>, %arg2: tensor<i32>, %arg3: tensor<5x2xf8E4M3FN>):
  %0 = "stablehlo.reduce"(%arg3, %arg1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg4: tensor<f8E4M3FN>, %arg5: tensor<f8E4M3FN>):
    %1 = "stablehlo.)",
            name, R"("(%arg4, %arg5) : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
    "stablehlo.return"(%1) : (tensor<f8E4M3FN>) -> ()
  }) : (tensor<5x2xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<5xf8E4M3FN>
  "func.return"(%0) : (tensor<5xf8E4M3FN>) -> ()
)"));
  }
}

TEST(ReduceChunkTest, OtherBodiesStayAsTheyAre) {
  EXPECT_EQ(
      ReduceChunk("xor", "i32"),
      R"(^bb0(%arg0: tensor<5x8xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<5x2xi32>):
  %0 = "stablehlo.reduce"(%arg3, %arg1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
    %1 = "stablehlo.xor"(%arg4, %arg5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%1) : (tensor<i32>) -> ()
  }) : (tensor<5x2xi32>, tensor<i32>) -> tensor<5xi32>
  "func.return"(%0) : (tensor<5xi32>) -> ()
)");
}

TEST(CombineTest, SumsStartFromWhatTheReductionDoes) {
  EXPECT_EQ(ReduceCombining("add", "f32"),
            R"(^bb0(%arg0: tensor<5x8xf32>, %arg1: tensor<f32>, %arg2: tensor<5xf32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
  %1 = "stablehlo.add"(%0, %arg2) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  "func.return"(%1) : (tensor<5xf32>) -> ()
)");
}

TEST(CombineTest, SumsOfShortNumbersAreLong) {
  EXPECT_EQ(ReduceCombining("add", "bf16"),
            R"(^bb0(%arg0: tensor<5x8xbf16>, %arg1: tensor<bf16>, %arg2: tensor<5xf32>):
  %0 = "stablehlo.convert"(%arg1) : (tensor<bf16>) -> tensor<f32>
  %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
  %2 = "stablehlo.add"(%1, %arg2) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  "func.return"(%2) : (tensor<5xf32>) -> ()
)");
}

TEST(CombineTest, Products) {
  EXPECT_EQ(ReduceCombining("multiply", "f32"),
            R"(^bb0(%arg0: tensor<5x8xf32>, %arg1: tensor<f32>, %arg2: tensor<5xf32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
  %1 = "stablehlo.multiply"(%0, %arg2) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  "func.return"(%1) : (tensor<5xf32>) -> ()
)");
}

TEST(CombineTest, Extremes) {
  EXPECT_EQ(ReduceCombining("maximum", "f32"),
            R"(^bb0(%arg0: tensor<5x8xf32>, %arg1: tensor<f32>, %arg2: tensor<5xf32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
  %1 = "stablehlo.maximum"(%0, %arg2) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  "func.return"(%1) : (tensor<5xf32>) -> ()
)");
}

TEST(CombineTest, AndOfIntegers) {
  EXPECT_EQ(ReduceCombining("and", "i32"),
            R"(^bb0(%arg0: tensor<5x8xi32>, %arg1: tensor<i32>, %arg2: tensor<5xi32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<5xi32>
  %1 = "stablehlo.and"(%0, %arg2) : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  "func.return"(%1) : (tensor<5xi32>) -> ()
)");
}

TEST(CombineTest, ByTheBodyWithTheResultSoFarFirst) {
  EXPECT_EQ(ReduceCombining("xor", "i32"),
            R"(^bb0(%arg0: tensor<5x8xi32>, %arg1: tensor<i32>, %arg2: tensor<5xi32>):
  %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<5xi32>
  %1 = "stablehlo.reshape"(%0) : (tensor<5xi32>) -> tensor<1x5xi32>
  %2 = "stablehlo.reshape"(%arg2) : (tensor<5xi32>) -> tensor<1x5xi32>
  %3 = "stablehlo.concatenate"(%1, %2) <{dimension = 0 : i64}> : (tensor<1x5xi32>, tensor<1x5xi32>) -> tensor<2x5xi32>
  %4 = "stablehlo.reduce"(%3, %arg1) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
    %5 = "stablehlo.xor"(%arg3, %arg4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%5) : (tensor<i32>) -> ()
  }) : (tensor<2x5xi32>, tensor<i32>) -> tensor<5xi32>
  "func.return"(%4) : (tensor<5xi32>) -> ()
)");
}

TEST(CombineTest, ProductsOfMatricesStartFromNothing) {
  EXPECT_EQ(Combining({"4x6xbf16", "6x3xbf16"}, kDot, 2),
            R"(^bb0(%arg0: tensor<4x6xbf16>, %arg1: tensor<6x3xbf16>, %arg2: tensor<4x3xf32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<4x3xf32>}> : () -> tensor<4x3xf32>
  %1 = "stablehlo.add"(%0, %arg2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  "func.return"(%1) : (tensor<4x3xf32>) -> ()
)");
}

TEST(AccumulatorTypeTest, OnlySumsOfShortFloatsAreLong) {
  Context context;
  const auto accumulator = [&](Type element, Combination combination) {
    return AccumulatorType(context, context.TensorType({2}, element), combination).ToString();
  };
  const Type bf16 = context.FloatType(FloatKind::kBF16);
  EXPECT_EQ(accumulator(bf16, Combination::kSum), "tensor<2xf32>");
  EXPECT_EQ(accumulator(context.FloatType(FloatKind::kF16), Combination::kSum), "tensor<2xf32>");
  EXPECT_EQ(accumulator(bf16, Combination::kMaximum), "tensor<2xbf16>");
  EXPECT_EQ(accumulator(context.FloatType(FloatKind::kF64), Combination::kSum), "tensor<2xf64>");
  EXPECT_EQ(accumulator(context.IntegerType(8), Combination::kSum), "tensor<2xi8>");
  EXPECT_EQ(accumulator(context.ComplexType(context.FloatType(FloatKind::kF32)), Combination::kSum),
            "tensor<2xcomplex<f32>>");
}

// What is made of the two arguments, a value and its chunk of two of three blocks along
// dimension 1.
std::string WithChunk(llvm::function_ref<Value*(Builder&, Value*, Value*, const Chunk&)> make) {
  const std::unique_ptr<Module> module = Program({"4x6xf32", "4x4xf32", "i32"}, "", {});
  if (module == nullptr) return "";
  Block& block = *module->main()->entry_block();
  Builder builder(module->context(), *block.last());
  const Chunk chunk = {.blocks = 3, .size = 2, .first = block.argument(2)};
  Value* made = make(builder, block.argument(0), block.argument(1), chunk);
  EXPECT_TRUE(builder.status().ok()) << builder.status().ToString();
  block.last()->set_operands(made);
  return BodyText(*module);
}

TEST(ChunkTest, IsSlicedOutOfTheWhole) {
  EXPECT_EQ(WithChunk([](Builder& builder, Value* whole, Value*, const Chunk& chunk) {
              return SliceChunk(builder, whole, 1, chunk);
            }),
            R"(^bb0(%arg0: tensor<4x6xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.multiply"(%arg2, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %3 = "stablehlo.dynamic_slice"(%arg0, %2, %1) <{slice_sizes = array<i64: 4, 4>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  "func.return"(%3) : (tensor<4x4xf32>) -> ()
)");
}

TEST(ChunkTest, IsWrittenIntoTheWhole) {
  EXPECT_EQ(WithChunk([](Builder& builder, Value* whole, Value* part, const Chunk& chunk) {
              return UpdateChunk(builder, whole, part, 1, chunk);
            }),
            R"(^bb0(%arg0: tensor<4x6xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.multiply"(%arg2, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %3 = "stablehlo.dynamic_update_slice"(%arg0, %arg1, %2, %1) : (tensor<4x6xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  "func.return"(%3) : (tensor<4x6xf32>) -> ()
)");
}

TEST(ChunkTest, CountsInTheFirstChunkOnly) {
  EXPECT_EQ(WithChunk([](Builder& builder, Value* whole, Value*, const Chunk& chunk) {
              return FirstChunkOnly(builder, whole, chunk);
            }),
            R"(^bb0(%arg0: tensor<4x6xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.compare"(%arg2, %0) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %2 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
  %4 = "stablehlo.select"(%1, %arg0, %3) : (tensor<i1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  "func.return"(%4) : (tensor<4x6xf32>) -> ()
)");
}

TEST(ChunkTest, ZerosCountInEveryChunk) {
  EXPECT_EQ(WithChunk([](Builder& builder, Value* whole, Value*, const Chunk& chunk) {
              return FirstChunkOnly(builder, ZerosLike(builder, whole->type()), chunk);
            }),
            R"(^bb0(%arg0: tensor<4x6xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<i32>):
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
  "func.return"(%1) : (tensor<4x6xf32>) -> ()
)");
}

}  // namespace
}  // namespace plimsoll::testing
