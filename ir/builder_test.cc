#include "ir/builder.h"

#include <limits>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/testing.h"
#include "ir/verify.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using testing::ParseType;

// Builds into a function that takes tensor<4x3xf32>, tensor<3xf32> and tensor<i32>.
class BuilderTest : public ::testing::Test {
 protected:
  BuilderTest() {
    Builder top(context(), module_.body(), context().UnknownLocation());
    function_ = top.Func("main", {T("4x3xf32"), T("3xf32"), T("i32")}, {});
    matrix_ = block().argument(0);
    vector_ = block().argument(1);
    index_ = block().argument(2);
    builder_ = std::make_unique<Builder>(context(), block(), context().UnknownLocation());
  }

  Context& context() { return *context_; }
  Block& block() { return function_->region(0).front(); }
  Type T(std::string_view text) { return ParseType(context(), text); }

  // "stablehlo.add -> tensor<f32>" of the op that made the value, or the error.
  std::string Made(const Value* value) {
    if (value == nullptr) return std::string(builder_->status().message());
    return std::string(value->defining_op()->name()) + " -> " + value->type().ToString();
  }

  // What is wrong with the module once the function returns.
  std::string Problem() {
    builder_->Return({});
    if (!builder_->status().ok()) return std::string(builder_->status().message());
    return std::string(Verify(module_).message());
  }

  std::shared_ptr<Context> context_ = std::make_shared<Context>();
  Module module_{context_};
  Op* function_ = nullptr;
  Value* matrix_ = nullptr;
  Value* vector_ = nullptr;
  Value* index_ = nullptr;
  std::unique_ptr<Builder> builder_;
};

TEST_F(BuilderTest, CreateInfersTypes) {
  const StatusOr<Op*> op = builder_->Create(Opcode::kMultiply, {matrix_, matrix_});
  ASSERT_TRUE(op.ok());
  EXPECT_EQ(Made((*op)->result(0)), "stablehlo.multiply -> tensor<4x3xf32>");
  EXPECT_EQ(block().last(), *op);
}

TEST_F(BuilderTest, CreateGivesErrorsAsValues) {
  const StatusOr<Op*> op = builder_->Create(Opcode::kMultiply, {matrix_, vector_});
  EXPECT_EQ(
      op.status().message(),
      "stablehlo.multiply: operands 0 and 1 must have the same type, found tensor<4x3xf32> and "
      "tensor<3xf32>");
  EXPECT_TRUE(builder_->status().ok());
  EXPECT_TRUE(block().empty());
}

TEST_F(BuilderTest, CreateRefusesNullOperand) {
  EXPECT_EQ(builder_->Create(Opcode::kNegate, {nullptr}).status().ToString(),
            "PL901: stablehlo.negate: operand 0 is null");
}

TEST_F(BuilderTest, CreateRefusesSizesThatDoNotFollow) {
  const Type type = T("1x2xi64");
  const Attribute groups = context().DenseElements(type, std::vector<char>(16, 0));
  const Attribute channel = context().Struct(
      "stablehlo.channel_handle", {{"handle", context().I64(1)}, {"type", context().I64(1)}});
  const StatusOr<Op*> op = builder_->Create(Opcode::kAllGather, vector_,
                                            {{"replica_groups", groups},
                                             {"channel_handle", channel},
                                             {"all_gather_dim", context().I64(0)}});
  EXPECT_EQ(op.status().message(),
            "stablehlo.all_gather: a size of its result does not follow from its operands");
}

TEST_F(BuilderTest, CreateWithTypesChecksThem) {
  EXPECT_TRUE(builder_->CreateWithTypes(Opcode::kReshape, T("12xf32"), matrix_).ok());
  EXPECT_EQ(builder_->CreateWithTypes(Opcode::kReshape, T("11xf32"), matrix_).status().message(),
            "stablehlo.reshape: operand 0, tensor<4x3xf32>, has 12 elements, and the result, "
            "tensor<11xf32>, has 11");
}

TEST_F(BuilderTest, FirstErrorStaysAndNothingFollows) {
  Value* wrong = builder_->Add(matrix_, vector_);
  EXPECT_EQ(wrong, nullptr);
  EXPECT_EQ(builder_->Negate(builder_->Multiply(wrong, matrix_)), nullptr);
  EXPECT_EQ(builder_->Negate(matrix_), nullptr);
  EXPECT_EQ(builder_->status().message().substr(0, 14), "stablehlo.add:");
  EXPECT_TRUE(block().empty());
}

TEST_F(BuilderTest, InsertsBeforeAnOpWithItsLocation) {
  builder_->set_location(context().FileLocation("a.py", 3, 1, 3, 1));
  Value* last = builder_->Negate(matrix_);
  Builder before(context(), *last->defining_op());
  Value* first = before.Negate(matrix_);
  Value* second = before.Negate(first);
  EXPECT_EQ(block().first(), first->defining_op());
  EXPECT_EQ(first->defining_op()->next(), second->defining_op());
  EXPECT_EQ(SourceLine(second->location()), "a.py:3");
}

TEST_F(BuilderTest, ConstantsAreSplats) {
  EXPECT_EQ(builder_->Constant(T("2x3xf32"), 0.5)->defining_op()->Get("value").ToString(),
            "dense<0.5> : tensor<2x3xf32>");
  EXPECT_EQ(builder_->IntegerConstant(T("2xi8"), -3)->defining_op()->Get("value").ToString(),
            "dense<-3> : tensor<2xi8>");
  EXPECT_EQ(builder_->I64(7)->defining_op()->Get("value").ToString(), "dense<7> : tensor<i64>");
  EXPECT_EQ(builder_->I32(-7)->defining_op()->Get("value").ToString(), "dense<-7> : tensor<i32>");
}

TEST_F(BuilderTest, ConstantRefusesNumbersThatDoNotFit) {
  EXPECT_EQ(builder_->Constant(T("2xi8"), 128), nullptr);
  EXPECT_EQ(builder_->status().ToString(),
            "PL901: stablehlo.constant: the number does not fit tensor<2xi8>");
}

TEST_F(BuilderTest, ConstantRefusesWhatIsNoTensor) {
  EXPECT_EQ(Made(builder_->Constant(T("token"), 1)),
            "stablehlo.constant: the number does not fit !stablehlo.token");
}

TEST_F(BuilderTest, Iota) {
  EXPECT_EQ(Made(builder_->Iota(T("2x3xi32"), 1)), "stablehlo.iota -> tensor<2x3xi32>");
  EXPECT_EQ(Made(builder_->Iota(T("2x3xi32"), 2)),
            "stablehlo.iota: iota_dimension names dimension 2 of a tensor with 2 dimensions");
}

TEST_F(BuilderTest, CompareSaysHowNumbersAreCompared) {
  Value* floats = builder_->Compare(Comparison::kLess, vector_, vector_);
  EXPECT_EQ(Made(floats), "stablehlo.compare -> tensor<3xi1>");
  EXPECT_EQ(floats->defining_op()->properties().ToString(),
            "{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = "
            "#stablehlo<comparison_direction LT>}");
  Value* integers = builder_->Compare(Comparison::kGreaterEqual, index_, index_);
  EXPECT_EQ(integers->defining_op()->Get("compare_type").enumerator(), "SIGNED");
  EXPECT_EQ(integers->defining_op()->Get("comparison_direction").enumerator(), "GE");
  Value* booleans = builder_->Compare(Comparison::kEqual, floats, floats);
  EXPECT_EQ(booleans->defining_op()->Get("compare_type").enumerator(), "UNSIGNED");
}

TEST_F(BuilderTest, SelectAndConvert) {
  Value* less = builder_->Compare(Comparison::kLess, vector_, vector_);
  EXPECT_EQ(Made(builder_->Select(less, vector_, vector_)), "stablehlo.select -> tensor<3xf32>");
  EXPECT_EQ(Made(builder_->Convert(vector_, context().IntegerType(8))),
            "stablehlo.convert -> tensor<3xi8>");
}

TEST_F(BuilderTest, ConvertToTheSameElementsIsTheOperand) {
  EXPECT_EQ(builder_->Convert(vector_, context().FloatType(FloatKind::kF32)), vector_);
}

TEST_F(BuilderTest, Moving) {
  EXPECT_EQ(Made(builder_->Reshape(matrix_, {2, 6})), "stablehlo.reshape -> tensor<2x6xf32>");
  EXPECT_EQ(Made(builder_->BroadcastInDim(vector_, {4, 3}, {1})),
            "stablehlo.broadcast_in_dim -> tensor<4x3xf32>");
  EXPECT_EQ(Made(builder_->Transpose(matrix_, {1, 0})), "stablehlo.transpose -> tensor<3x4xf32>");
  EXPECT_EQ(Made(builder_->Slice(matrix_, {1, 0}, {3, 3})), "stablehlo.slice -> tensor<2x3xf32>");
  EXPECT_EQ(Made(builder_->Slice(matrix_, {0, 0}, {4, 3}, {2, 1})),
            "stablehlo.slice -> tensor<2x3xf32>");
  EXPECT_EQ(Made(builder_->Concatenate({matrix_, matrix_}, 0)),
            "stablehlo.concatenate -> tensor<8x3xf32>");
  Value* zero = builder_->Constant(T("f32"), 0);
  EXPECT_EQ(Made(builder_->Pad(matrix_, zero, {0, 1}, {2, 1})), "stablehlo.pad -> tensor<6x5xf32>");
  EXPECT_EQ(Problem(), "");
}

TEST_F(BuilderTest, MovingAtAnIndex) {
  Value* zero = builder_->I32(0);
  Value* row = builder_->DynamicSlice(matrix_, {index_, zero}, {1, 3});
  EXPECT_EQ(Made(row), "stablehlo.dynamic_slice -> tensor<1x3xf32>");
  EXPECT_EQ(Made(builder_->DynamicUpdateSlice(matrix_, row, {index_, zero})),
            "stablehlo.dynamic_update_slice -> tensor<4x3xf32>");
  EXPECT_EQ(Problem(), "");
}

TEST_F(BuilderTest, MovingRefusesWhatIsNoTensor) {
  EXPECT_EQ(Made(builder_->Reshape(nullptr, {2})),
            "stablehlo.reshape: expected a ranked tensor, found nothing");
}

TEST_F(BuilderTest, DotGeneral) {
  const DotDimensions dimensions = {.left_contracted = {1}, .right_contracted = {0}};
  EXPECT_EQ(Made(builder_->DotGeneral(matrix_, vector_, dimensions)),
            "stablehlo.dot_general -> tensor<4xf32>");
  EXPECT_EQ(Made(builder_->DotGeneral(matrix_, vector_, dimensions,
                                      context().FloatType(FloatKind::kF64))),
            "stablehlo.dot_general -> tensor<4xf64>");
  EXPECT_EQ(Problem(), "");
}

TEST_F(BuilderTest, DotGeneralWithPrecision) {
  const Attribute highest = context().Enum("stablehlo.precision", "HIGHEST");
  const Attribute precision = context().Array({highest, highest});
  Value* product = builder_->DotGeneral(
      matrix_, vector_, {.left_contracted = {1}, .right_contracted = {0}}, {}, precision);
  EXPECT_EQ(product->defining_op()->Get("precision_config"), precision);
  EXPECT_EQ(Problem(), "");
}

TEST_F(BuilderTest, DotGeneralRefusesSizesThatDiffer) {
  EXPECT_EQ(
      Made(builder_->DotGeneral(matrix_, vector_,
                                {.left_contracted = {0}, .right_contracted = {0}})),
      "stablehlo.dot_general: contracted dimension 0 of the left operand has size 4, dimension "
      "0 of the right has size 3");
}

TEST_F(BuilderTest, ReduceWithOneOp) {
  Value* zero = builder_->Constant(T("f32"), 0);
  Value* sums = builder_->Reduce(matrix_, zero, {1}, Opcode::kAdd);
  EXPECT_EQ(Made(sums), "stablehlo.reduce -> tensor<4xf32>");
  const Block& body = sums->defining_op()->region(0).front();
  EXPECT_EQ(body.first()->name(), "stablehlo.add");
  EXPECT_EQ(body.last()->name(), "stablehlo.return");
  EXPECT_EQ(Problem(), "");
}

TEST_F(BuilderTest, ReduceRefusesInitialValueOfAnotherType) {
  EXPECT_EQ(Made(builder_->Reduce(matrix_, index_, {1}, Opcode::kAdd)),
            "stablehlo.reduce: region 0 must take an initial value of type tensor<i32>, found "
            "tensor<f32>");
}

TEST_F(BuilderTest, WhileWithCallbacks) {
  const std::vector<Value*> results = builder_->While(
      {builder_->I32(0), vector_},
      [&](Builder& inside, llvm::ArrayRef<Value*> values) {
        return inside.Compare(Comparison::kLess, values[0], inside.I32(10));
      },
      [&](Builder& inside, llvm::ArrayRef<Value*> values) {
        return std::vector<Value*>{inside.Add(values[0], inside.I32(1)),
                                   inside.Add(values[1], vector_)};
      });
  ASSERT_EQ(results.size(), 2);
  EXPECT_EQ(Made(results[0]), "stablehlo.while -> tensor<i32>");
  EXPECT_EQ(Made(results[1]), "stablehlo.while -> tensor<3xf32>");
  EXPECT_EQ(Problem(), "");
}

TEST_F(BuilderTest, ErrorInsideALoopIsTheLoopsError) {
  const std::vector<Value*> results = builder_->While(
      {vector_},
      [&](Builder& inside, llvm::ArrayRef<Value*> values) {
        return inside.Add(values[0], matrix_);
      },
      [&](Builder&, llvm::ArrayRef<Value*> values) { return values.vec(); });
  EXPECT_THAT(results, ElementsAre(nullptr));
  EXPECT_EQ(builder_->status().message().substr(0, 14), "stablehlo.add:");
  EXPECT_TRUE(block().empty());
  EXPECT_FALSE(vector_->has_uses());
}

TEST_F(BuilderTest, LoopMustGoOnWithTheSameTypes) {
  builder_->While(
      {vector_},
      [&](Builder& inside, llvm::ArrayRef<Value*>) {
        return inside.Compare(Comparison::kLess, index_, index_);
      },
      [&](Builder&, llvm::ArrayRef<Value*>) { return std::vector<Value*>{matrix_}; });
  EXPECT_EQ(builder_->status().message(),
            "stablehlo.while: region 1 must return (tensor<3xf32>), found (tensor<4x3xf32>)");
}

TEST_F(BuilderTest, OptimizationBarrier) {
  const std::vector<Value*> results = builder_->OptimizationBarrier({vector_, index_});
  ASSERT_EQ(results.size(), 2);
  EXPECT_EQ(Made(results[1]), "stablehlo.optimization_barrier -> tensor<i32>");
  EXPECT_EQ(Problem(), "");
}

TEST_F(BuilderTest, FunctionsAreMadeAndCalled) {
  Builder top(context(), module_.body(), context().UnknownLocation());
  Op* twice = top.Func("twice", T("3xf32"), T("3xf32"));
  Block& body = twice->region(0).front();
  Builder inside(context(), body, context().UnknownLocation());
  inside.Return(inside.Add(body.argument(0), body.argument(0)));
  const std::vector<Value*> results = builder_->Call(*twice, vector_);
  ASSERT_EQ(results.size(), 1);
  EXPECT_EQ(Made(results[0]), "func.call -> tensor<3xf32>");
  EXPECT_EQ(body.last()->name(), "func.return");
  EXPECT_EQ(SymbolName(*twice), "twice");
  EXPECT_EQ(twice->Get("sym_visibility").text(), "private");
  EXPECT_EQ(Problem(), "");
}

}  // namespace
}  // namespace plimsoll
