#include "ir/context.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;

class ContextTest : public ::testing::Test {
 protected:
  Context context_;
  const Type i8_ = context_.IntegerType(8);
  const Type f32_ = context_.FloatType(FloatKind::kF32);
};

TEST_F(ContextTest, EqualTypesAreOne) {
  EXPECT_EQ(context_.TensorType({2, 3}, f32_), context_.TensorType({2, 3}, f32_));
  EXPECT_EQ(context_.TupleType({f32_, i8_}), context_.TupleType({f32_, i8_}));
  EXPECT_EQ(context_.FunctionType({f32_}, {i8_}), context_.FunctionType({f32_}, {i8_}));
}

TEST_F(ContextTest, DifferentTypesAreNot) {
  EXPECT_NE(context_.TensorType({2, 3}, f32_), context_.TensorType({3, 2}, f32_));
  EXPECT_NE(context_.TensorType({2}, f32_), context_.TensorType({2}, i8_));
  EXPECT_NE(context_.TensorType({2}, f32_), context_.TensorType({2}, f32_, context_.Unit()));
  EXPECT_NE(context_.TensorType({2}, f32_), context_.MemrefType({2}, f32_));
  EXPECT_NE(context_.TupleType({f32_}), context_.FutureType({f32_}));
  EXPECT_NE(context_.FunctionType({f32_}, {}), context_.FunctionType({}, {f32_}));
  EXPECT_NE(context_.IntegerType(8), context_.IntegerType(8, Signedness::kUnsigned));
  EXPECT_NE(context_.IntegerType(8), context_.IntegerType(8, Signedness::kSigned));
}

TEST_F(ContextTest, QuantizedTypesDifferByBitsOfTheirScales) {
  const auto with_scale = [&](double scale) {
    const double scales[] = {scale};
    const int64_t zero_points[] = {0};
    QuantizedData data;
    data.storage = i8_;
    data.scales = scales;
    data.zero_points = zero_points;
    return context_.QuantizedType(f32_, data);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with_scale(0.5), with_scale(0.5));
  EXPECT_NE(with_scale(0.5), with_scale(0.25));
  EXPECT_NE(with_scale(0.0), with_scale(-0.0));
  EXPECT_EQ(with_scale(nan), with_scale(nan));
  EXPECT_EQ(context_.QuantizedType(f32_, {}), context_.QuantizedType(f32_, {}));
}

TEST_F(ContextTest, EqualAttributesAreOne) {
  EXPECT_EQ(context_.I64(3), context_.I64(3));
  EXPECT_NE(context_.I64(3), context_.Integer(i8_, 3));
  EXPECT_EQ(context_.String("a"), context_.String("a"));
  EXPECT_NE(context_.String("a"), context_.Symbol("a"));
  EXPECT_NE(context_.String("a"), context_.String("a", i8_));
  EXPECT_EQ(context_.Array({context_.I64(1)}), context_.Array({context_.I64(1)}));
  EXPECT_NE(context_.I64Array({1, 2}), context_.I64Array({2, 1}));
  EXPECT_NE(context_.FileLocation("a", 1, 2, 1, 2), context_.FileLocation("a", 1, 2, 1, 3));
  EXPECT_NE(context_.FusedLocation({}, context_.Unit()), context_.FusedLocation({}));
}

TEST_F(ContextTest, LongConstantsAreComparedInFull) {
  const Type type = context_.TensorType({4096}, i8_);
  std::vector<char> bytes(4096, 0);
  const Attribute zeros = context_.DenseElements(type, bytes);
  bytes[2048] = 1;
  EXPECT_NE(context_.DenseElements(type, bytes), zeros);
  bytes[2048] = 0;
  EXPECT_EQ(context_.DenseElements(type, bytes), zeros);
}

TEST_F(ContextTest, ConstantsAreCopiedUnlessBorrowed) {
  const Type type = context_.TensorType({3}, i8_);
  const std::vector<char> bytes = {1, 2, 3};
  EXPECT_NE(context_.DenseElements(type, bytes).bytes().data(), bytes.data());
  const std::vector<char> others = {4, 5, 6};
  EXPECT_EQ(context_.DenseElements(type, others, /*borrow=*/true).bytes().data(), others.data());
}

TEST_F(ContextTest, DictionariesAreSortedByName) {
  const Attribute one = context_.I64(1);
  const Attribute two = context_.I64(2);
  const Attribute dictionary = context_.Dictionary({{"b", two}, {"a", one}, {"B", two}});
  EXPECT_THAT(dictionary.names(), ElementsAre("B", "a", "b"));
  EXPECT_THAT(dictionary.items(), ElementsAre(two, one, two));
  EXPECT_EQ(dictionary, context_.Dictionary({{"B", two}, {"a", one}, {"b", two}}));
}

TEST_F(ContextTest, StructsKeepTheOrderOfTheirFields) {
  const Attribute value = context_.Unit();
  EXPECT_THAT(context_.Struct("x.y", {{"b", value}, {"a", value}}).names(), ElementsAre("b", "a"));
}

TEST_F(ContextTest, IntegersAreCutToTheirWidth) {
  EXPECT_EQ(context_.Integer(i8_, 300).integer(), 44);
  EXPECT_EQ(context_.Integer(i8_, 200).integer(), -56);
  EXPECT_EQ(context_.Integer(context_.IntegerType(8, Signedness::kUnsigned), 200).integer(), 200);
  EXPECT_EQ(context_.Integer(context_.IntegerType(8, Signedness::kUnsigned), -1).integer(), 255);
  EXPECT_EQ(context_.I64(-1).integer(), -1);
  EXPECT_EQ(context_.Integer(context_.IndexType(), -1).integer(), -1);
  EXPECT_EQ(context_.Integer(context_.IntegerType(0), 5).integer(), 0);
}

TEST_F(ContextTest, BooleansAreZeroOrOne) {
  EXPECT_EQ(context_.Bool(true).integer(), 1);
  EXPECT_EQ(context_.Integer(context_.IntegerType(1), -1), context_.Bool(true));
  EXPECT_EQ(context_.Integer(context_.IntegerType(1), 2), context_.Bool(false));
}

TEST_F(ContextTest, StringsAreKept) {
  std::string text = "a string that is long enough to be on the heap";
  const std::string_view kept = context_.Intern(text);
  EXPECT_EQ(context_.Intern(text).data(), kept.data());
  text.assign(text.size(), 'x');
  EXPECT_EQ(kept, "a string that is long enough to be on the heap");
}

TEST_F(ContextTest, NamesOfDictionariesAreKept) {
  std::string name = "a name that is long enough to be on the heap";
  const Attribute dictionary = context_.Dictionary({{name, context_.Unit()}});
  name.assign(name.size(), 'x');
  EXPECT_EQ(dictionary.names()[0], "a name that is long enough to be on the heap");
}

TEST_F(ContextTest, BuffersLiveAsLongAsTheContext) {
  const auto buffer = std::make_shared<int>(1);
  {
    Context context;
    context.KeepAlive(buffer);
    EXPECT_EQ(buffer.use_count(), 2);
  }
  EXPECT_EQ(buffer.use_count(), 1);
}

}  // namespace
}  // namespace plimsoll
