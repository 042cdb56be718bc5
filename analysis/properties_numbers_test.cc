// Which values are known to be positive, whole, bounded, sorted, or equal along a dimension.

#include <memory>
#include <optional>
#include <string>

#include "analysis/properties.h"
#include "analysis/properties_testing.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {
namespace {

constexpr NamedType kResult = {"%r", "4xf32"};
constexpr NamedType kScalar = {"%r", "f32"};

bool IsNonNegative(std::string_view ops, NamedType result = kResult) {
  return Holds({"4xf32", "4xf32"}, ops, result, Property::kNonNegative);
}

bool IsPositive(std::string_view ops, NamedType result = kResult) {
  return Holds({"4xf32", "4xf32"}, ops, result, Property::kPositive);
}

bool IsIntegerValued(std::string_view ops, NamedType result = kResult) {
  return Holds({"4xf32", "4xi32"}, ops, result, Property::kIntegerValued);
}

bool IsSorted(std::string_view ops, NamedType result = kResult) {
  return Holds({"4xf32", "4xf32"}, ops, result, Property::kSorted);
}

std::string Of(std::string_view op) { return Unary("%r", op, "%0", "4xf32"); }

// %square and %power: one that is not negative, and one that is positive.
std::string SquareAndPower() {
  return Binary("%square", "multiply", "%0", "%0", "4xf32") +
         Unary("%power", "stablehlo.exponential", "%1", "4xf32");
}

TEST(NonNegativeTest, Functions) {
  for (const std::string_view op : {"stablehlo.abs", "stablehlo.exponential", "stablehlo.sqrt",
                                    "stablehlo.logistic", "stablehlo.rsqrt", "chlo.square"}) {
    EXPECT_TRUE(IsNonNegative(Of(op))) << op;
  }
  for (const std::string_view op : {"stablehlo.sine", "stablehlo.tanh", "stablehlo.negate",
                                    "stablehlo.log", "stablehlo.cosine"}) {
    EXPECT_FALSE(IsNonNegative(Of(op))) << op;
  }
  EXPECT_FALSE(Holds({"4xf32"}, "", {"%0", "4xf32"}, Property::kNonNegative));
}

TEST(NonNegativeTest, Squares) {
  EXPECT_TRUE(IsNonNegative(Binary("%r", "multiply", "%0", "%0", "4xf32")));
  EXPECT_FALSE(IsNonNegative(Binary("%r", "multiply", "%0", "%1", "4xf32")));
  EXPECT_TRUE(IsNonNegative(
      Dot("%r", {"%0", "4xf32"}, {"%0", "4xf32"}, kColumnsTimesColumns, "f32"), kScalar));
  EXPECT_FALSE(IsNonNegative(
      Dot("%r", {"%0", "4xf32"}, {"%1", "4xf32"}, kColumnsTimesColumns, "f32"), kScalar));
  // (x * y) * (y * x)
  EXPECT_TRUE(IsNonNegative(Binary("%a", "multiply", "%0", "%1", "4xf32") +
                            Binary("%b", "multiply", "%1", "%0", "4xf32") +
                            Binary("%r", "multiply", "%a", "%b", "4xf32")));
  // The square of an integer may overflow.
  EXPECT_FALSE(Holds({"4xi32"}, Binary("%r", "multiply", "%0", "%0", "4xi32"), {"%r", "4xi32"},
                     Property::kNonNegative));
}

TEST(NonNegativeTest, Powers) {
  const auto power = [](std::string_view exponent) {
    return Constant("%e", exponent, "4xf32") + Binary("%r", "power", "%0", "%e", "4xf32");
  };
  EXPECT_TRUE(IsNonNegative(power("4.0")));
  EXPECT_FALSE(IsNonNegative(power("3.0")));
}

TEST(NonNegativeTest, SumsProductsAndQuotients) {
  EXPECT_TRUE(IsNonNegative(SquareAndPower() + Binary("%r", "add", "%square", "%power", "4xf32")));
  EXPECT_FALSE(
      IsNonNegative(SquareAndPower() + Binary("%r", "subtract", "%square", "%power", "4xf32")));
  EXPECT_FALSE(IsNonNegative(SquareAndPower() + Binary("%r", "add", "%square", "%1", "4xf32")));
  EXPECT_TRUE(
      IsNonNegative(SquareAndPower() + Binary("%r", "divide", "%square", "%power", "4xf32")));
  EXPECT_FALSE(IsNonNegative(SquareAndPower() + Binary("%r", "divide", "%square", "%0", "4xf32")));
  EXPECT_TRUE(IsNonNegative(SquareAndPower() + Binary("%r", "maximum", "%square", "%1", "4xf32")));
  EXPECT_FALSE(IsNonNegative(SquareAndPower() + Binary("%r", "minimum", "%square", "%1", "4xf32")));
}

TEST(NonNegativeTest, Reductions) {
  const auto reduced = [](std::string_view reducer, std::string_view operand,
                          std::string_view initial) {
    return SquareAndPower() + Constant("%i", initial, "f32") +
           Reduce("%r", reducer, {operand, "4xf32"}, "%i", "0", "f32");
  };
  EXPECT_TRUE(IsNonNegative(reduced("add", "%square", "0.0"), kScalar));
  EXPECT_FALSE(IsNonNegative(reduced("add", "%square", "-1.0"), kScalar));
  EXPECT_FALSE(IsNonNegative(reduced("add", "%0", "0.0"), kScalar));
  EXPECT_TRUE(IsNonNegative(reduced("maximum", "%square", "0xFF800000"), kScalar));
  EXPECT_TRUE(IsNonNegative(reduced("maximum", "%0", "0.0"), kScalar));
  EXPECT_FALSE(IsNonNegative(reduced("minimum", "%0", "0.0"), kScalar));
}

TEST(NonNegativeTest, Types) {
  EXPECT_TRUE(Holds({"4xui32"}, "", {"%0", "4xui32"}, Property::kNonNegative));
  EXPECT_TRUE(
      Holds({"4xi1"}, Convert("%r", "%0", "4xi1", "4xf32"), kResult, Property::kNonNegative));
  EXPECT_FALSE(
      Holds({"4xi32"}, Convert("%r", "%0", "4xi32", "4xf32"), kResult, Property::kNonNegative));
}

TEST(NonNegativeTest, MovedElements) {
  EXPECT_TRUE(IsNonNegative(
      SquareAndPower() + "%r = \"stablehlo.concatenate\"(%square, %power) <{dimension = 0 : i64}> "
                         ": (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>\n",
      {"%r", "8xf32"}));
  EXPECT_FALSE(IsNonNegative(
      SquareAndPower() + "%r = \"stablehlo.concatenate\"(%square, %1) <{dimension = 0 : i64}> : "
                         "(tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>\n",
      {"%r", "8xf32"}));
  EXPECT_TRUE(IsNonNegative(SquareAndPower() + Broadcast("%r", "%square", "4xf32", "1", "3x4xf32"),
                            {"%r", "3x4xf32"}));
}

TEST(PositiveTest, Functions) {
  EXPECT_TRUE(IsPositive(Of("stablehlo.exponential")));
  EXPECT_TRUE(IsPositive(Of("stablehlo.logistic")));
  EXPECT_FALSE(IsPositive(Of("stablehlo.abs")));
  EXPECT_FALSE(IsPositive(Of("stablehlo.sqrt")));
  EXPECT_TRUE(IsPositive(SquareAndPower() + Unary("%r", "stablehlo.sqrt", "%power", "4xf32")));
}

TEST(PositiveTest, SumsAndProducts) {
  EXPECT_TRUE(IsPositive(SquareAndPower() + Binary("%r", "add", "%square", "%power", "4xf32")));
  EXPECT_FALSE(IsPositive(SquareAndPower() + Binary("%r", "add", "%square", "%square", "4xf32")));
  EXPECT_FALSE(
      IsPositive(SquareAndPower() + Binary("%r", "multiply", "%square", "%power", "4xf32")));
  EXPECT_TRUE(IsPositive(SquareAndPower() + Binary("%r", "divide", "%power", "%power", "4xf32")));
  EXPECT_TRUE(IsPositive(SquareAndPower() + Constant("%one", "1.0", "4xf32") +
                         Binary("%r", "add", "%square", "%one", "4xf32")));
}

TEST(PositiveTest, Conversions) {
  EXPECT_TRUE(
      IsPositive(SquareAndPower() + Convert("%r", "%power", "4xf32", "4xf64"), {"%r", "4xf64"}));
  // It may round to zero.
  EXPECT_FALSE(
      IsPositive(SquareAndPower() + Convert("%r", "%power", "4xf32", "4xf16"), {"%r", "4xf16"}));
  EXPECT_TRUE(
      IsNonNegative(SquareAndPower() + Convert("%r", "%power", "4xf32", "4xf16"), {"%r", "4xf16"}));
}

TEST(IntegerValuedTest, FunctionsAndConversions) {
  EXPECT_TRUE(IsIntegerValued(Of("stablehlo.floor")));
  EXPECT_TRUE(IsIntegerValued(Of("stablehlo.sign")));
  EXPECT_FALSE(IsIntegerValued(Of("stablehlo.sqrt")));
  const std::string converted = Convert("%f", "%1", "4xi32", "4xf32");
  EXPECT_TRUE(IsIntegerValued(converted + Binary("%r", "multiply", "%f", "%f", "4xf32")));
  EXPECT_FALSE(IsIntegerValued(converted + Binary("%r", "multiply", "%f", "%0", "4xf32")));
  EXPECT_FALSE(IsIntegerValued(converted + Binary("%r", "divide", "%f", "%f", "4xf32")));
  EXPECT_TRUE(IsIntegerValued(Constant("%r", "[1.0, 2.0, -3.0, 0.0]", "4xf32")));
  EXPECT_FALSE(IsIntegerValued(Constant("%r", "[1.0, 2.5, -3.0, 0.0]", "4xf32")));
}

TEST(SortedTest, IotasAndConstants) {
  EXPECT_TRUE(IsSorted(Iota("%r", 1, "3x4xf32"), {"%r", "3x4xf32"}));
  // All the same along the last dimension.
  EXPECT_TRUE(IsSorted(Iota("%r", 0, "3x4xf32"), {"%r", "3x4xf32"}));
  EXPECT_TRUE(IsSorted(Constant("%r", "[[1.0, 2.0], [0.0, 5.0]]", "2x2xf32"), {"%r", "2x2xf32"}));
  EXPECT_FALSE(IsSorted(Constant("%r", "[[2.0, 1.0], [0.0, 5.0]]", "2x2xf32"), {"%r", "2x2xf32"}));
  const auto affine = [](std::string_view op) {
    return Iota("%i", 0, "4xi32") + Constant("%c", "7", "4xi32") +
           Binary("%r", op, "%c", "%i", "4xi32");
  };
  EXPECT_TRUE(IsSorted(affine("add"), {"%r", "4xi32"}));
  EXPECT_FALSE(IsSorted(affine("subtract"), {"%r", "4xi32"}));
}

std::string Sort(std::string_view name, std::string_view direction, int dimension,
                 std::string_view type) {
  return StrCat(name, " = \"stablehlo.sort\"(%0) <{dimension = ", dimension,
                " : i64}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n",
                Constant("%z", "0.0", "f32"), Compare("%a_zero", "EQ", "%a", "%z", "f32", "i1"),
                Select("%a_one", "%a_zero", "i1", "%z", "%a", "f32"),
                Compare("%b_zero", "EQ", "%b", "%z", "f32", "i1"),
                Select("%b_one", "%b_zero", "i1", "%z", "%b", "f32"),
                Compare("%s", direction, "%a_one", "%b_one", "f32", "i1"),
                "\"stablehlo.return\"(%s) : (tensor<i1>) -> () }) : (tensor<", type,
                ">) -> tensor<", type, ">\n");
}

TEST(SortedTest, Sorts) {
  EXPECT_TRUE(Holds({"4xf32"}, Sort("%r", "LT", 0, "4xf32"), kResult, Property::kSorted));
  EXPECT_FALSE(Holds({"4xf32"}, Sort("%r", "GT", 0, "4xf32"), kResult, Property::kSorted));
  constexpr NamedType rows = {"%r", "3x4xf32"};
  EXPECT_TRUE(Holds({"3x4xf32"}, Sort("%r", "LT", 1, "3x4xf32"), rows, Property::kSorted));
  EXPECT_FALSE(Holds({"3x4xf32"}, Sort("%r", "LT", 0, "3x4xf32"), rows, Property::kSorted));
}

TEST(SortedTest, FunctionsOfSorted) {
  const std::string sorted = Sort("%s", "LT", 0, "4xf32");
  EXPECT_TRUE(IsSorted(sorted + Unary("%r", "stablehlo.exponential", "%s", "4xf32")));
  EXPECT_FALSE(IsSorted(sorted + Unary("%r", "stablehlo.negate", "%s", "4xf32")));
  const auto scaled = [&](std::string_view scale) {
    return sorted + Constant("%c", scale, "4xf32") + Binary("%r", "multiply", "%s", "%c", "4xf32");
  };
  EXPECT_TRUE(IsSorted(scaled("2.0")));
  EXPECT_FALSE(IsSorted(scaled("-2.0")));
  EXPECT_TRUE(IsSorted(sorted + Broadcast("%r", "%s", "4xf32", "1", "3x4xf32"), {"%r", "3x4xf32"}));
  EXPECT_FALSE(
      IsSorted("%t = \"stablehlo.slice\"(%0) <{start_indices = array<i64: 1>, limit_indices = "
               "array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<2xf32>\n",
               {"%t", "2xf32"}));
}

std::optional<Bounds> BoundsOf(const std::vector<std::string_view>& arguments, std::string_view ops,
                               NamedType result = kResult) {
  const std::unique_ptr<Module> module = Program(arguments, ops, {result});
  if (module == nullptr) return std::nullopt;
  Properties properties;
  return properties.BoundsOf(ReturnedValue(*module));
}

TEST(BoundsTest, Functions) {
  EXPECT_EQ(BoundsOf({"4xf32"}, ""  // The argument itself.
                     ,
                     {"%0", "4xf32"}),
            std::nullopt);
  EXPECT_EQ(BoundsOf({"4xf32"}, Of("stablehlo.tanh")), (Bounds{.least = -1, .most = 1}));
  EXPECT_EQ(BoundsOf({"4xf32"}, Of("stablehlo.cosine")), (Bounds{.least = -1, .most = 1}));
  EXPECT_EQ(BoundsOf({"4xf32"}, Of("stablehlo.logistic")), (Bounds{.least = 0, .most = 1}));
  EXPECT_EQ(BoundsOf({"4xf32"}, Of("stablehlo.abs")), (Bounds{.least = 0}));
  EXPECT_EQ(BoundsOf({"4xf32"}, Of("stablehlo.log")), std::nullopt);
}

TEST(BoundsTest, Arithmetic) {
  const std::string tanh = Unary("%t", "stablehlo.tanh", "%0", "4xf32");
  const std::string three = Constant("%c", "3.0", "4xf32");
  EXPECT_EQ(BoundsOf({"4xf32"}, tanh + three + Binary("%r", "add", "%t", "%c", "4xf32")),
            (Bounds{.least = 2, .most = 4}));
  EXPECT_EQ(BoundsOf({"4xf32"}, tanh + three + Binary("%r", "subtract", "%t", "%c", "4xf32")),
            (Bounds{.least = -4, .most = -2}));
  EXPECT_EQ(BoundsOf({"4xf32"}, tanh + three + Binary("%r", "multiply", "%t", "%c", "4xf32")),
            (Bounds{.least = -3, .most = 3}));
  EXPECT_EQ(BoundsOf({"4xf32"}, tanh + Binary("%r", "multiply", "%t", "%t", "4xf32")),
            (Bounds{.least = 0, .most = 1}));
  EXPECT_EQ(BoundsOf({"4xf32"}, three + Binary("%r", "maximum", "%0", "%c", "4xf32")),
            (Bounds{.least = 3}));
  EXPECT_EQ(BoundsOf({"4xf32"},
                     tanh + Constant("%zero", "0.0", "f32") +
                         Reduce("%r", "add", {"%t", "4xf32"}, "%zero", "0", "f32"),
                     kScalar),
            (Bounds{.least = -4, .most = 4}));
  EXPECT_EQ(BoundsOf({"4xf32"}, Constant("%low", "-1.0", "f32") + Constant("%high", "2.0", "f32") +
                                    "%r = \"stablehlo.clamp\"(%low, %0, %high) : (tensor<f32>, "
                                    "tensor<4xf32>, tensor<f32>) -> tensor<4xf32>\n"),
            (Bounds{.least = -1, .most = 2}));
}

TEST(BoundsTest, RemaindersAreSmallerThanTheDivisor) {
  const std::string three = Constant("%c", "3", "4xi32");
  const std::string remainder = Binary("%r", "remainder", "%0", "%c", "4xi32");
  EXPECT_EQ(BoundsOf({"4xi32"}, three + remainder, {"%r", "4xi32"}),
            (Bounds{.least = -2, .most = 2}));
  EXPECT_EQ(
      BoundsOf({}, three + Iota("%i", 0, "4xi32") + Binary("%r", "remainder", "%i", "%c", "4xi32"),
               {"%r", "4xi32"}),
      (Bounds{.least = 0, .most = 2}));
  // By 0 it is the dividend.
  EXPECT_EQ(
      BoundsOf({"4xi8"}, Iota("%c", 0, "4xi8") + Binary("%r", "remainder", "%0", "%c", "4xi8"),
               {"%r", "4xi8"}),
      (Bounds{.least = -128, .most = 127}));
}

TEST(BoundsTest, IntegersThatMayOverflow) {
  const std::string sum = Binary("%r", "add", "%0", "%0", "4xi8");
  EXPECT_EQ(BoundsOf({"4xi8"}, sum, {"%r", "4xi8"}), (Bounds{.least = -128, .most = 127}));
  EXPECT_EQ(
      BoundsOf({}, Iota("%i", 0, "4xi8") + Binary("%r", "add", "%i", "%i", "4xi8"), {"%r", "4xi8"}),
      (Bounds{.least = 0, .most = 6}));
}

TEST(BoundsTest, ConversionsRound) {
  EXPECT_EQ(BoundsOf({}, Constant("%c", "0.7", "4xf32") + Convert("%r", "%c", "4xf32", "4xi32"),
                     {"%r", "4xi32"}),
            (Bounds{.least = 0, .most = 0}));
  EXPECT_EQ(BoundsOf({"4xf32"}, Convert("%r", "%0", "4xf32", "4xi1"), {"%r", "4xi1"}),
            (Bounds{.least = 0, .most = 1}));
}

bool IsConstantAlong(const std::vector<std::string_view>& arguments, std::string_view ops,
                     NamedType result, size_t dimension) {
  const std::unique_ptr<Module> module = Program(arguments, ops, {result});
  if (module == nullptr) return false;
  Properties properties;
  return properties.IsConstantAlong(ReturnedValue(*module), dimension);
}

TEST(ConstantAlongTest, BroadcastsThroughElementwiseOps) {
  constexpr NamedType result = {"%r", "3x4xf32"};
  const std::string ops = Broadcast("%a", "%0", "4xf32", "1", "3x4xf32") +
                          Unary("%r", "stablehlo.exponential", "%a", "3x4xf32");
  EXPECT_TRUE(IsConstantAlong({"4xf32"}, ops, result, 0));
  EXPECT_FALSE(IsConstantAlong({"4xf32"}, ops, result, 1));
  const std::string both = Broadcast("%a", "%0", "4xf32", "1", "3x4xf32") +
                           Broadcast("%b", "%1", "3xf32", "0", "3x4xf32") +
                           Binary("%r", "add", "%a", "%b", "3x4xf32");
  EXPECT_FALSE(IsConstantAlong({"4xf32", "3xf32"}, both, result, 0));
  EXPECT_FALSE(IsConstantAlong({"4xf32", "3xf32"}, both, result, 1));
}

TEST(ConstantAlongTest, OtherOps) {
  EXPECT_TRUE(IsConstantAlong({}, Iota("%r", 0, "3x4xi32"), {"%r", "3x4xi32"}, 1));
  EXPECT_FALSE(IsConstantAlong({}, Iota("%r", 0, "3x4xi32"), {"%r", "3x4xi32"}, 0));
  EXPECT_TRUE(IsConstantAlong({}, Constant("%r", "1.0", "3x4xf32"), {"%r", "3x4xf32"}, 0));
  const std::string reduced = Broadcast("%a", "%0", "4xf32", "2", "3x5x4xf32") +
                              Constant("%zero", "0.0", "f32") +
                              Unary("%e", "stablehlo.exponential", "%a", "3x5x4xf32") +
                              Reduce("%r", "add", {"%e", "3x5x4xf32"}, "%zero", "1", "3x4xf32");
  EXPECT_TRUE(IsConstantAlong({"4xf32"}, reduced, {"%r", "3x4xf32"}, 0));
  EXPECT_FALSE(IsConstantAlong({"4xf32"}, reduced, {"%r", "3x4xf32"}, 1));
  const std::string product =
      Broadcast("%a", "%0", "4xf32", "1", "3x4xf32") +
      Dot("%r", {"%a", "3x4xf32"}, {"%1", "4x5xf32"}, kRowsTimesColumns, "3x5xf32");
  EXPECT_TRUE(IsConstantAlong({"4xf32", "4x5xf32"}, product, {"%r", "3x5xf32"}, 0));
  EXPECT_FALSE(IsConstantAlong({"4xf32", "4x5xf32"}, product, {"%r", "3x5xf32"}, 1));
}

}  // namespace
}  // namespace plimsoll::testing
