// The axis rules of elementwise ops and of what makes values from nothing, and what is asked of
// reductions, text in and text out.

#include "analysis/axis_rules.h"

#include <string>
#include <string_view>

#include "analysis/testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

constexpr std::string_view kUnary = R"(operands 0 results 0 blocks 5
operands 1 results 1 blocks 3
)";
constexpr std::string_view kBinary = R"(operands 0 0 results 0 blocks 5
operands 1 1 results 1 blocks 3
)";

std::string UnaryRule(std::string_view name, std::string_view from, std::string_view to,
                      std::string_view properties = "") {
  return RuleOf({StrCat("5x3x", from)},
                StrCat("%r = \"", name, "\"(%0) ", properties, " : (tensor<5x3x", from,
                       ">) -> tensor<5x3x", to, ">"));
}

std::string BinaryRule(std::string_view name, std::string_view from, std::string_view to) {
  const std::string operand = StrCat("5x3x", from);
  return RuleOf({operand, operand}, StrCat("%r = \"", name, "\"(%0, %1) : (tensor<", operand,
                                           ">, tensor<", operand, ">) -> tensor<5x3x", to, ">"));
}

TEST(ElementwiseRuleTest, UnaryOpsOfFloats) {
  for (const std::string_view name :
       {"abs", "cbrt", "ceil", "cosine", "exponential", "exponential_minus_one", "floor", "log",
        "log_plus_one", "logistic", "negate", "round_nearest_afz", "round_nearest_even", "rsqrt",
        "sign", "sine", "sqrt", "tan", "tanh"}) {
    EXPECT_EQ(UnaryRule(StrCat("stablehlo.", name), "f32", "f32"), kUnary) << name;
  }
}

TEST(ElementwiseRuleTest, UnaryOpsOfIntegers) {
  for (const std::string_view name : {"count_leading_zeros", "not", "popcnt"}) {
    EXPECT_EQ(UnaryRule(StrCat("stablehlo.", name), "i32", "i32"), kUnary) << name;
  }
}

TEST(ElementwiseRuleTest, UnaryOpsThatChangeTheElementType) {
  EXPECT_EQ(UnaryRule("stablehlo.convert", "f32", "i8"), kUnary);
  EXPECT_EQ(UnaryRule("stablehlo.is_finite", "f32", "i1"), kUnary);
  EXPECT_EQ(UnaryRule("stablehlo.real", "complex<f32>", "f32"), kUnary);
  EXPECT_EQ(UnaryRule("stablehlo.imag", "complex<f32>", "f32"), kUnary);
  EXPECT_EQ(UnaryRule("stablehlo.bitcast_convert", "f32", "i32"), kUnary);
}

TEST(ElementwiseRuleTest, ReducePrecision) {
  EXPECT_EQ(UnaryRule("stablehlo.reduce_precision", "f32", "f32",
                      "<{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}>"),
            kUnary);
}

TEST(ElementwiseRuleTest, UnaryOpsOfChlo) {
  for (const std::string_view name :
       {"acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "conj", "cosh", "digamma",
        "erf", "erf_inv", "erfc", "lgamma", "sinh", "square", "tan"}) {
    EXPECT_EQ(UnaryRule(StrCat("chlo.", name), "f32", "f32"), kUnary) << name;
  }
  for (const std::string_view name : {"is_inf", "is_neg_inf", "is_pos_inf"}) {
    EXPECT_EQ(UnaryRule(StrCat("chlo.", name), "f32", "i1"), kUnary) << name;
  }
}

TEST(ElementwiseRuleTest, BinaryOpsOfFloats) {
  for (const std::string_view name : {"add", "atan2", "divide", "maximum", "minimum", "multiply",
                                      "power", "remainder", "subtract"}) {
    EXPECT_EQ(BinaryRule(StrCat("stablehlo.", name), "f32", "f32"), kBinary) << name;
  }
  EXPECT_EQ(BinaryRule("stablehlo.complex", "f32", "complex<f32>"), kBinary);
}

TEST(ElementwiseRuleTest, BinaryOpsOfIntegers) {
  for (const std::string_view name :
       {"and", "or", "shift_left", "shift_right_arithmetic", "shift_right_logical", "xor"}) {
    EXPECT_EQ(BinaryRule(StrCat("stablehlo.", name), "i32", "i32"), kBinary) << name;
  }
}

TEST(ElementwiseRuleTest, BinaryOpsOfChlo) {
  for (const std::string_view name : {"next_after", "polygamma", "zeta"}) {
    EXPECT_EQ(BinaryRule(StrCat("chlo.", name), "f32", "f32"), kBinary) << name;
  }
  EXPECT_EQ(BinaryRule("chlo.mulhi", "i32", "i32"), kBinary);
}

TEST(ElementwiseRuleTest, Compare) {
  EXPECT_EQ(RuleOf({"5x3xf32", "5x3xf32"}, R"(%r = "stablehlo.compare"(%0, %1)
    <{comparison_direction = #stablehlo<comparison_direction LT>}>
    : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xi1>)"),
            kBinary);
}

TEST(ElementwiseRuleTest, Map) {
  EXPECT_EQ(RuleOf({"5x3xf32", "5x3xf32"},
                   R"(%r = "stablehlo.map"(%0, %1) <{dimensions = array<i64: 0, 1>}> ({
^bb1(%a: tensor<f32>, %b: tensor<f32>):
  %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%c) : (tensor<f32>) -> ()
}) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>)"),
            kBinary);
}

TEST(ElementwiseRuleTest, PredicateOfFullShape) {
  EXPECT_EQ(RuleOf({"5x3xi1", "5x3xf32", "5x3xf32"}, R"(%r = "stablehlo.select"(%0, %1, %2)
    : (tensor<5x3xi1>, tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>)"),
            R"(operands 0 0 0 results 0 blocks 5
operands 1 1 1 results 1 blocks 3
)");
}

TEST(ElementwiseRuleTest, ScalarPredicateIsWhole) {
  EXPECT_EQ(RuleOf({"i1", "5x3xf32", "5x3xf32"}, R"(%r = "stablehlo.select"(%0, %1, %2)
    : (tensor<i1>, tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>)"),
            R"(operands whole 0 0 results 0 blocks 5
operands whole 1 1 results 1 blocks 3
)");
}

TEST(ElementwiseRuleTest, ScalarBoundsAreWhole) {
  EXPECT_EQ(RuleOf({"f32", "5x3xf32", "f32"}, R"(%r = "stablehlo.clamp"(%0, %1, %2)
    : (tensor<f32>, tensor<5x3xf32>, tensor<f32>) -> tensor<5x3xf32>)"),
            R"(operands whole 0 whole results 0 blocks 5
operands whole 1 whole results 1 blocks 3
)");
}

TEST(ElementwiseRuleTest, DimensionsOfSizesOneAndZeroAreOnNoAxis) {
  EXPECT_EQ(RuleOf({"1x3x0xf32"}, R"(%r = "stablehlo.negate"(%0)
    : (tensor<1x3x0xf32>) -> tensor<1x3x0xf32>)"),
            "operands 1 results 1 blocks 3\n");
}

TEST(ElementwiseRuleTest, ScalarsHaveNoAxes) {
  EXPECT_EQ(RuleOf({"f32"}, R"(%r = "stablehlo.negate"(%0) : (tensor<f32>) -> tensor<f32>)"), "");
}

TEST(BitcastRuleTest, ChangeOfRankIsNotCut) {
  EXPECT_EQ(RuleOf({"5x3xf32"}, R"(%r = "stablehlo.bitcast_convert"(%0)
    : (tensor<5x3xf32>) -> tensor<5x3x2xi16>)"),
            "otherwise: a bitcast that changes the number of dimensions is not cut\n");
}

TEST(BarrierRuleTest, OneValue) {
  EXPECT_EQ(UnaryRule("stablehlo.optimization_barrier", "f32", "f32"), kUnary);
}

TEST(BarrierRuleTest, SeveralValuesAreNotCut) {
  EXPECT_EQ(RuleOf({"5xf32", "5xf32"}, R"(%r:2 = "stablehlo.optimization_barrier"(%0, %1)
    : (tensor<5xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>))"),
            "otherwise: a barrier of several values is not cut\n");
}

TEST(ConstantRuleTest, OneNumberForAllElements) {
  EXPECT_EQ(RuleOf({}, R"(%r = "stablehlo.constant"() <{value = dense<1.0> : tensor<5x3xf32>}>
    : () -> tensor<5x3xf32>)"),
            "operands results 0 blocks 5\noperands results 1 blocks 3\n");
}

TEST(ConstantRuleTest, OtherConstantsAreWhole) {
  EXPECT_EQ(RuleOf({}, R"(%r = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xi32>}>
    : () -> tensor<2xi32>)"),
            "otherwise: a constant is there as a whole\n");
}

TEST(IotaRuleTest, AlongAllDimensions) {
  EXPECT_EQ(RuleOf({}, R"(%r = "stablehlo.iota"() <{iota_dimension = 1 : i64}>
    : () -> tensor<5x3xi32>)"),
            "operands results 0 blocks 5\noperands results 1 blocks 3\n");
}

TEST(UnknownRuleTest, RandomBitsAreNotCut) {
  EXPECT_EQ(RuleOf({"2xui64"}, R"(%r:2 = "stablehlo.rng_bit_generator"(%0)
    <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}>
    : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>))"),
            "otherwise: random bits would not be the same\n");
}

TEST(UnknownRuleTest, OpsOfOtherDialectsAreNotCut) {
  EXPECT_EQ(RuleOf({"5xf32"}, R"(%r = "other.op"(%0) : (tensor<5xf32>) -> tensor<5xf32>)"),
            "otherwise: nothing is known of how other.op can be cut\n");
}

TEST(UnknownRuleTest, KnownOpsWithoutARuleAreNotCut) {
  EXPECT_EQ(RuleOf({"5xf32"}, R"(%r = "stablehlo.all_reduce"(%0)
    <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
^bb1(%a: tensor<f32>, %b: tensor<f32>):
  %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%c) : (tensor<f32>) -> ()
}) : (tensor<5xf32>) -> tensor<5xf32>)"),
            "otherwise: nothing is known of how stablehlo.all_reduce can be cut\n");
}

TEST(UnknownRuleTest, DynamicShapesAreNotCut) {
  EXPECT_EQ(RuleOf({"?x3xf32"}, R"(%r = "stablehlo.negate"(%0)
    : (tensor<?x3xf32>) -> tensor<?x3xf32>)"),
            "otherwise: its shape is not known\n");
}

TEST(UnknownRuleTest, TokensAreNotCut) {
  EXPECT_EQ(RuleOf({}, R"(%r = "stablehlo.create_token"() : () -> !stablehlo.token)"),
            "otherwise: its shape is not known\n");
}

// What a reduction with this body does; the body's arguments are %a and %b, its result %c.
Combination BodyCombination(std::string_view element, std::string_view body) {
  const std::unique_ptr<Module> module =
      OneOp({StrCat("5x", element), element},
            StrCat("%r = \"stablehlo.reduce\"(%0, %1) <{dimensions = array<i64: 0>}> ({\n",
                   "^bb1(%a: tensor<", element, ">, %b: tensor<", element, ">):\n", body,
                   "\n\"stablehlo.return\"(%c) : (tensor<", element, ">) -> ()\n}) : (tensor<5x",
                   element, ">, tensor<", element, ">) -> tensor<", element, ">"));
  if (module == nullptr) return Combination::kNone;
  return CombinationOf(module->main()->entry_block()->first()->region(0));
}

Combination BinaryCombination(std::string_view element, std::string_view name,
                              std::string_view operands = "%a, %b") {
  return BodyCombination(element,
                         StrCat("%c = \"stablehlo.", name, "\"(", operands, ") : (tensor<", element,
                                ">, tensor<", element, ">) -> tensor<", element, ">"));
}

TEST(CombinationOfTest, BodiesOfOneOp) {
  EXPECT_EQ(BinaryCombination("f32", "add"), Combination::kSum);
  EXPECT_EQ(BinaryCombination("f32", "add", "%b, %a"), Combination::kSum);
  EXPECT_EQ(BinaryCombination("f32", "multiply"), Combination::kProduct);
  EXPECT_EQ(BinaryCombination("f32", "maximum"), Combination::kMaximum);
  EXPECT_EQ(BinaryCombination("f32", "minimum"), Combination::kMinimum);
  EXPECT_EQ(BinaryCombination("i32", "and"), Combination::kAnd);
  EXPECT_EQ(BinaryCombination("i32", "or"), Combination::kOr);
}

TEST(CombinationOfTest, BooleansAreAddedByOr) {
  EXPECT_EQ(BinaryCombination("i1", "add"), Combination::kOr);
  EXPECT_EQ(BinaryCombination("i1", "multiply"), Combination::kAnd);
}

TEST(CombinationOfTest, ComplexNumbersHaveNoOneExtreme) {
  EXPECT_EQ(BinaryCombination("complex<f32>", "add"), Combination::kSum);
  EXPECT_EQ(BinaryCombination("complex<f32>", "maximum"), Combination::kBody);
  EXPECT_EQ(BinaryCombination("complex<f32>", "minimum"), Combination::kBody);
}

TEST(CombinationOfTest, OtherOpsAreTheBody) {
  EXPECT_EQ(BinaryCombination("i32", "xor"), Combination::kBody);
  EXPECT_EQ(BinaryCombination("f32", "subtract"), Combination::kBody);
}

TEST(CombinationOfTest, OneArgumentTwiceIsTheBody) {
  EXPECT_EQ(BinaryCombination("f32", "add", "%a, %a"), Combination::kBody);
}

TEST(CombinationOfTest, SeveralOpsAreTheBody) {
  EXPECT_EQ(BodyCombination("f32", R"(
    %n = "stablehlo.negate"(%b) : (tensor<f32>) -> tensor<f32>
    %c = "stablehlo.add"(%a, %n) : (tensor<f32>, tensor<f32>) -> tensor<f32>)"),
            Combination::kBody);
}

// Whether the last op of this text leaves the other operand of the combination as it is.
bool IsIdentityText(std::string_view ops, Combination combination) {
  const std::unique_ptr<Module> module = OneOp({"f32"}, ops);
  if (module == nullptr) return false;
  return IsIdentity(*module->main()->entry_block()->last()->previous()->result(0), combination);
}

bool IsConstantIdentity(std::string_view number, std::string_view type, Combination combination) {
  return IsIdentityText(StrCat("%c = \"stablehlo.constant\"() <{value = dense<", number,
                               "> : tensor<", type, ">}> : () -> tensor<", type, ">"),
                        combination);
}

TEST(IsIdentityTest, ZeroOfSums) {
  EXPECT_TRUE(IsConstantIdentity("0.0", "f32", Combination::kSum));
  EXPECT_TRUE(IsConstantIdentity("-0.0", "f32", Combination::kSum));
  EXPECT_TRUE(IsConstantIdentity("0", "5xi32", Combination::kSum));
  EXPECT_TRUE(IsConstantIdentity("false", "i1", Combination::kOr));
  EXPECT_FALSE(IsConstantIdentity("1.0", "f32", Combination::kSum));
  EXPECT_FALSE(IsConstantIdentity("0.0", "f32", Combination::kProduct));
}

TEST(IsIdentityTest, OneOfProducts) {
  EXPECT_TRUE(IsConstantIdentity("1.0", "f32", Combination::kProduct));
  EXPECT_TRUE(IsConstantIdentity("1", "i8", Combination::kProduct));
  EXPECT_TRUE(IsConstantIdentity("true", "i1", Combination::kAnd));
  EXPECT_TRUE(IsConstantIdentity("-1", "i32", Combination::kAnd));
  EXPECT_FALSE(IsConstantIdentity("1", "i32", Combination::kAnd));
}

TEST(IsIdentityTest, ExtremesOfMaximumAndMinimum) {
  EXPECT_TRUE(IsConstantIdentity("0xFF800000", "f32", Combination::kMaximum));
  EXPECT_TRUE(IsConstantIdentity("0x7F800000", "f32", Combination::kMinimum));
  EXPECT_FALSE(IsConstantIdentity("0x7F800000", "f32", Combination::kMaximum));
  EXPECT_TRUE(IsConstantIdentity("-128", "i8", Combination::kMaximum));
  EXPECT_TRUE(IsConstantIdentity("127", "i8", Combination::kMinimum));
  EXPECT_TRUE(IsConstantIdentity("0", "ui8", Combination::kMaximum));
  EXPECT_TRUE(IsConstantIdentity("255", "ui8", Combination::kMinimum));
  EXPECT_TRUE(IsConstantIdentity("true", "i1", Combination::kMinimum));
  EXPECT_FALSE(IsConstantIdentity("0", "i8", Combination::kMaximum));
}

TEST(IsIdentityTest, NothingIsKnownOfOtherCombinations) {
  EXPECT_FALSE(IsConstantIdentity("0.0", "f32", Combination::kBody));
}

TEST(IsIdentityTest, SeesThroughShapesAndConversions) {
  EXPECT_TRUE(IsIdentityText(R"(
    %c = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %d = "stablehlo.convert"(%c) : (tensor<i32>) -> tensor<f32>
    %e = "stablehlo.broadcast_in_dim"(%d) <{broadcast_dimensions = array<i64>}>
        : (tensor<f32>) -> tensor<6xf32>
    %f = "stablehlo.reshape"(%e) : (tensor<6xf32>) -> tensor<2x3xf32>)",
                             Combination::kSum));
}

TEST(IsIdentityTest, ExtremesAreOthersInOtherTypes) {
  EXPECT_FALSE(IsIdentityText(R"(
    %c = "stablehlo.constant"() <{value = dense<-128> : tensor<i8>}> : () -> tensor<i8>
    %d = "stablehlo.convert"(%c) : (tensor<i8>) -> tensor<f32>)",
                              Combination::kMaximum));
}

TEST(IsIdentityTest, SeveralNumbersAndOtherValuesAreNone) {
  EXPECT_FALSE(IsConstantIdentity("[0.0, 1.0]", "2xf32", Combination::kSum));
  EXPECT_FALSE(IsIdentityText(R"(%c = "stablehlo.negate"(%0) : (tensor<f32>) -> tensor<f32>)",
                              Combination::kSum));
}

}  // namespace
}  // namespace plimsoll::testing
