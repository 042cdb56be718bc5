#include "ir/verify.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/testing.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using testing::MakeBody;
using testing::ParseType;
using testing::ParseTypes;
using testing::TypeTexts;

// A module with @main(tensor<4xf32>) -> tensor<4xf32>, which returns its argument.
class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
    main_ = AddFunction("main", {"4xf32"}, {"4xf32"});
    argument_ = main_->region(0).front().argument(0);
    return_ = Append(main_, "func.return", {}, {argument_});
  }

  Context& context() { return *context_; }
  Location Line(uint32_t line) { return context().FileLocation("src/train.py", line, 1, line, 1); }

  // A function with a block that takes its inputs and has no ops yet.
  Op* AddFunction(std::string_view name, const TypeTexts& inputs, const TypeTexts& outputs) {
    const Type type =
        context().FunctionType(ParseTypes(context(), inputs), ParseTypes(context(), outputs));
    const Attribute properties = context().Dictionary(
        {{"sym_name", context().String(name)}, {"function_type", context().TypeAttribute(type)}});
    Op* function =
        module_.body().Append(Op::Create("func.func", Line(1), {}, {}, properties, {}, 1));
    Block& block = function->region(0).AddBlock();
    for (const Type input : type.inputs()) block.AddArgument(input, Line(1));
    return function;
  }

  Op* Make(Block& block, Op* before, std::string_view name, const TypeTexts& results,
           llvm::ArrayRef<Value*> operands, Attribute properties = {}, size_t regions = 0) {
    return block.InsertBefore(before, Op::Create(name, Line(41), ParseTypes(context(), results),
                                                 operands, properties, {}, regions));
  }
  Op* Append(Op* function, std::string_view name, const TypeTexts& results,
             llvm::ArrayRef<Value*> operands, Attribute properties = {}) {
    return Make(function->region(0).front(), nullptr, name, results, operands, properties);
  }
  // Before @main's return.
  Op* Insert(std::string_view name, const TypeTexts& results, llvm::ArrayRef<Value*> operands,
             Attribute properties = {}, size_t regions = 0) {
    return Make(main_->region(0).front(), return_, name, results, operands, properties, regions);
  }

  // Of a constant tensor<i1>.
  Attribute BoolValue() {
    const char yes[] = {1};
    return context().Dictionary(
        {{"value", context().DenseElements(ParseType(context(), "i1"), yes)}});
  }

  std::string Problem() { return std::string(Verify(module_).message()); }

  std::shared_ptr<Context> context_ = std::make_shared<Context>();
  Module module_{context_};
  Op* main_ = nullptr;
  Value* argument_ = nullptr;
  Op* return_ = nullptr;
};

TEST_F(VerifyTest, TakesAGoodModule) {
  Insert("stablehlo.add", {"4xf32"}, {argument_, argument_});
  EXPECT_EQ(Problem(), "");
}

TEST_F(VerifyTest, TakesAnEmptyModule) { EXPECT_TRUE(Verify(Module(context_)).ok()); }

TEST_F(VerifyTest, SaysWhatAndWhere) {
  Insert("stablehlo.tanh", {"5xf32"}, {argument_});
  const Status status = Verify(module_);
  EXPECT_EQ(status.code(), ErrorCode::kInvalidProgram);
  EXPECT_EQ(status.message(),
            "stablehlo.tanh: result 0 must be tensor<4xf32>, found tensor<5xf32> (in @main, at "
            "train.py:41)");
}

TEST_F(VerifyTest, RefusesMissingOperand) {
  Insert("stablehlo.tanh", {"4xf32"}, {nullptr});
  EXPECT_EQ(Problem(), "stablehlo.tanh: operand 0 is missing (in @main, at train.py:41)");
}

TEST_F(VerifyTest, RefusesMissingType) {
  Op* op = Insert("test.op", {"4xf32"}, {});
  op->result(0)->set_type({});
  EXPECT_EQ(Problem(),
            "test.op: result 0 has type <<null type>>: it is null (in @main, at train.py:41)");
}

TEST_F(VerifyTest, RefusesUseBeforeDefinition) {
  Op* first = Insert("stablehlo.tanh", {"4xf32"}, {argument_});
  Op* second = Insert("stablehlo.tanh", {"4xf32"}, {argument_});
  first->set_operand(0, second->result(0));
  EXPECT_EQ(Problem(),
            "stablehlo.tanh: operand 0 is used before it is defined (in @main, at train.py:41)");
}

TEST_F(VerifyTest, RefusesUseOfOwnResult) {
  Op* op = Insert("stablehlo.tanh", {"4xf32"}, {argument_});
  op->set_operand(0, op->result(0));
  EXPECT_EQ(Problem(),
            "stablehlo.tanh: operand 0 is used before it is defined (in @main, at train.py:41)");
}

TEST_F(VerifyTest, TakesValuesOfEnclosingRegions) {
  Op* choice = Insert("stablehlo.constant", {"i1"}, {}, BoolValue());
  Op* branches = Insert("stablehlo.if", {"4xf32"}, {choice->result(0)}, {}, 2);
  for (size_t r = 0; r < 2; ++r) {
    Block& block = branches->region(r).AddBlock();
    Make(block, nullptr, "stablehlo.return", {}, {argument_});
  }
  EXPECT_EQ(Problem(), "");
}

TEST_F(VerifyTest, RefusesValuesOfOtherRegions) {
  Op* unknown = Insert("test.op", {}, {}, {}, 1);
  Op* inner =
      Make(unknown->region(0).AddBlock(), nullptr, "stablehlo.tanh", {"4xf32"}, {argument_});
  return_->set_operand(0, inner->result(0));
  EXPECT_EQ(Problem(),
            "func.return: operand 0 is not defined here or in an enclosing region (in @main, at "
            "train.py:41)");
}

TEST_F(VerifyTest, RefusesValuesOfOtherFunctions) {
  Op* other = AddFunction("other", {}, {"4xf32"});
  Append(other, "func.return", {}, {argument_});
  EXPECT_EQ(Problem(),
            "func.return: operand 0 is not defined here or in an enclosing region (in @other, at "
            "train.py:41)");
}

TEST_F(VerifyTest, RefusesValuesFromOutsideAnIsolatedOp) {
  const Attribute properties = context().Dictionary({{"in_shardings", context().Unit()},
                                                     {"manual_axes", context().Unit()},
                                                     {"out_shardings", context().Unit()}});
  Op* manual = Insert("sdy.manual_computation", {"4xf32"}, {}, properties, 1);
  Make(manual->region(0).AddBlock(), nullptr, "sdy.return", {}, {argument_});
  EXPECT_EQ(Problem(),
            "sdy.return: operand 0 is defined outside of what this op can see (in @main, at "
            "train.py:41)");
}

TEST_F(VerifyTest, RefusesValuesOfAnotherProgram) {
  Module other(context_);
  Op* stranger =
      other.body().Append(Op::Create("test.op", Line(1), ParseType(context(), "4xf32"), {}));
  Op* op = Insert("stablehlo.tanh", {"4xf32"}, {stranger->result(0)});
  EXPECT_EQ(Problem(),
            "stablehlo.tanh: operand 0 is a value of another program (in @main, at train.py:41)");
  op->Erase();
}

TEST_F(VerifyTest, RefusesUsesByOpsThatAreNotInTheModule) {
  const std::unique_ptr<Op> removed = Insert("stablehlo.tanh", {"4xf32"}, {argument_})->Remove();
  EXPECT_EQ(
      Problem(),
      "func.func: argument 0 is used by stablehlo.tanh, which is not in the module (in @main, "
      "at train.py:1)");
}

TEST_F(VerifyTest, TakesAnyOrderInsideUnknownOps) {
  Op* unknown = Insert("test.graph", {}, {}, {}, 1);
  Block& block = unknown->region(0).AddBlock();
  Op* first = Make(block, nullptr, "stablehlo.tanh", {"4xf32"}, {argument_});
  Op* second = Make(block, nullptr, "stablehlo.tanh", {"4xf32"}, {argument_});
  first->set_operand(0, second->result(0));
  EXPECT_EQ(Problem(), "");
}

TEST_F(VerifyTest, RefusesMissingAttribute) {
  Insert("stablehlo.transpose", {"4xf32"}, {argument_});
  EXPECT_EQ(Problem(),
            "stablehlo.transpose: attribute permutation is missing (in @main, at train.py:41)");
}

TEST_F(VerifyTest, RefusesUnknownInherentAttribute) {
  Insert("stablehlo.tanh", {"4xf32"}, {argument_},
         context().Dictionary({{"speed", context().Unit()}}));
  EXPECT_EQ(Problem(),
            "stablehlo.tanh: it has no attribute of the name speed (in @main, at train.py:41)");
}

TEST_F(VerifyTest, TakesAnyOtherAttributesAndUnknownOps) {
  Op* op = Insert("stablehlo.tanh", {"4xf32"}, {argument_});
  op->set_attributes(context().Dictionary({{"mhlo.frontend", context().Unit()}}));
  Insert("test.op", {"token"}, {argument_}, context().Dictionary({{"anything", context().Unit()}}));
  EXPECT_EQ(Problem(), "");
}

TEST_F(VerifyTest, RefusesPropertiesThatAreNoDictionary) {
  Insert("stablehlo.tanh", {"4xf32"}, {argument_}, context().I64(1));
  EXPECT_EQ(Problem(),
            "stablehlo.tanh: its attributes are not a dictionary (in @main, at train.py:41)");
}

TEST_F(VerifyTest, RefusesNullAndRepeatedAttributes) {
  Op* op = Insert("test.op", {}, {}, context().Dictionary({{"a", Attribute()}}));
  EXPECT_EQ(Problem(), "test.op: attribute a is null (in @main, at train.py:41)");
  op->set_properties(context().Dictionary({{"a", context().Unit()}, {"a", context().Bool(true)}}));
  EXPECT_EQ(Problem(), "test.op: attribute a is there twice (in @main, at train.py:41)");
}

TEST_F(VerifyTest, RefusesMissingTerminator) {
  return_->Erase();
  EXPECT_EQ(Problem(),
            "func.func: region 0 must end with func.return, found nothing (in @main, at "
            "train.py:1)");
  Append(main_, "stablehlo.tanh", {"4xf32"}, {argument_});
  EXPECT_EQ(Problem(),
            "func.func: region 0 must end with func.return, found stablehlo.tanh (in @main, at "
            "train.py:1)");
}

TEST_F(VerifyTest, RefusesTerminatorInTheMiddle) {
  Insert("func.return", {}, {argument_});
  EXPECT_EQ(Problem(),
            "func.return: it must be the last op of its block (in @main, at train.py:41)");
}

TEST_F(VerifyTest, RefusesTerminatorOfAnotherKind) {
  Op* choice = Insert("stablehlo.constant", {"i1"}, {}, BoolValue());
  Op* branches = Insert("stablehlo.if", {}, {choice->result(0)}, {}, 2);
  for (size_t r = 0; r < 2; ++r) {
    Make(branches->region(r).AddBlock(), nullptr, "func.return", {}, {});
  }
  EXPECT_EQ(
      Problem(),
      "stablehlo.if: region 0 must end with stablehlo.return, found func.return (in @main, at "
      "train.py:41)");
}

TEST_F(VerifyTest, TakesFunctionsThatEndWithStablehloReturn) {
  Op* comparator = AddFunction("comparator", {"i1"}, {"i1"});
  Append(comparator, "stablehlo.return", {}, {comparator->region(0).front().argument(0)});
  EXPECT_EQ(Problem(), "");
}

TEST_F(VerifyTest, RefusesTerminatorOfAModule) {
  module_.body().Append(Op::Create("func.return", Line(7), {}, {}));
  EXPECT_EQ(Problem(), "func.return: it has no place in builtin.module (at train.py:7)");
}

TEST_F(VerifyTest, RefusesSeveralBlocks) {
  main_->region(0).AddBlock();
  EXPECT_EQ(Problem(), "func.func: region 0 must have 1 block, found 2 (in @main, at train.py:1)");
}

TEST_F(VerifyTest, RefusesSignatureThatDiffersFromBody) {
  argument_->set_type(ParseType(context(), "5xf32"));
  EXPECT_EQ(
      Problem(),
      "func.func: it is said to take (tensor<4xf32>), but takes (tensor<5xf32>) (in @main, at "
      "train.py:1)");
}

TEST_F(VerifyTest, TakesDeclarations) {
  const Attribute properties = context().Dictionary(
      {{"sym_name", context().String("extern")},
       {"function_type", context().TypeAttribute(context().FunctionType({}, {}))}});
  module_.body().Append(Op::Create("func.func", Line(1), {}, {}, properties, {}, 1));
  EXPECT_EQ(Problem(), "");
}

TEST_F(VerifyTest, RefusesNamesThatAreTaken) {
  Op* again = AddFunction("main", {}, {});
  Append(again, "func.return", {}, {});
  EXPECT_EQ(Problem(), "func.func: the name @main is taken already (in @main, at train.py:1)");
}

class VerifyCallTest : public VerifyTest {
 protected:
  VerifyCallTest() {
    Op* callee = AddFunction("callee", {"4xf32"}, {"4xf32"});
    Append(callee, "func.return", {}, {callee->region(0).front().argument(0)});
  }
  Attribute Callee(std::string_view name) {
    return context().Dictionary({{"callee", context().Symbol(name)}});
  }
};

TEST_F(VerifyCallTest, TakesRightSignature) {
  Insert("func.call", {"4xf32"}, {argument_}, Callee("callee"));
  EXPECT_EQ(Problem(), "");
}

TEST_F(VerifyCallTest, RefusesMissingFunction) {
  Insert("func.call", {"4xf32"}, {argument_}, Callee("calle"));
  EXPECT_EQ(Problem(), "func.call: there is no function @calle (in @main, at train.py:41)");
}

TEST_F(VerifyCallTest, RefusesOtherSignature) {
  Insert("func.call", {"5xf32"}, {argument_}, Callee("callee"));
  EXPECT_EQ(Problem(),
            "func.call: @callee has type (tensor<4xf32>) -> tensor<4xf32>, called as "
            "(tensor<4xf32>) -> tensor<5xf32> (in @main, at train.py:41)");
}

TEST_F(VerifyCallTest, RefusesCalleeThatIsNoName) {
  Insert("func.call", {"4xf32"}, {argument_},
         context().Dictionary({{"callee", context().String("callee")}}));
  EXPECT_EQ(Problem(),
            "func.call: attribute callee must be the name of a function (in @main, at "
            "train.py:41)");
}

TEST_F(VerifyCallTest, ChecksDecompositionOfComposites) {
  Insert("stablehlo.composite", {"4xf32"}, {argument_},
         context().Dictionary(
             {{"name", context().String("a.b")}, {"decomposition", context().Symbol("nothing")}}));
  EXPECT_EQ(Problem(),
            "stablehlo.composite: there is no function @nothing (in @main, at train.py:41)");
}

TEST_F(VerifyCallTest, NestedModulesHaveNamesOfTheirOwn) {
  Op* nested = module_.body().Append(Op::Create("builtin.module", Line(5), {}, {}, {}, {}, 1));
  Block& body = nested->region(0).AddBlock();
  std::unique_ptr<Op> moved = main_->Remove();
  body.Append(std::move(moved));
  EXPECT_EQ(Problem(), "");
  Insert("func.call", {"4xf32"}, {argument_}, Callee("callee"));
  EXPECT_EQ(Problem(), "func.call: there is no function @callee (in @main, at train.py:41)");
}

TEST_F(VerifyCallTest, NamesInsideUnknownOpsAreNotLookedUp) {
  Op* unknown = Insert("test.scope", {}, {}, {}, 1);
  Make(unknown->region(0).AddBlock(), nullptr, "func.call", {"4xf32"}, {argument_},
       Callee("elsewhere"));
  EXPECT_EQ(Problem(), "");
}

TEST_F(VerifyTest, BlamesTheInnermostOp) {
  Op* op = Insert("stablehlo.reduce", {"f32"}, {argument_, argument_},
                  context().Dictionary({{"dimensions", context().I64Array({0})}}), 1);
  op->region(0).TakeBlocks(*MakeBody(context(), {"f32", "f32"}, {"f32"}));
  Block& block = op->region(0).front();
  Make(block, block.first(), "stablehlo.tanh", {"i32"}, {block.argument(0)});
  EXPECT_THAT(Problem(), HasSubstr("stablehlo.tanh: result 0 must be tensor<f32>"));
}

TEST_F(VerifyTest, RefusesRegionsThatDoNotFitTheirOp) {
  Op* initial = Insert("stablehlo.constant", {"i1"}, {}, BoolValue());
  Op* loop = Insert("stablehlo.while", {"i1"}, {initial->result(0)}, {}, 2);
  loop->region(0).TakeBlocks(*MakeBody(context(), {"i1"}, {"i32"}));
  loop->region(1).TakeBlocks(*MakeBody(context(), {"i1"}, {"i1"}));
  EXPECT_EQ(Problem(),
            "stablehlo.while: region 0 must return (tensor<i1>), found (tensor<i32>) (in @main, at "
            "train.py:41)");
}

TEST_F(VerifyTest, RefusesTypesThatAreNotWhole) {
  const auto with = [&](Type type) {
    Op* op = Insert("test.op", {"f32"}, {});
    op->result(0)->set_type(type);
    const std::string problem = Problem();
    op->Erase();
    return problem;
  };
  const Type f32 = context().FloatType(FloatKind::kF32);
  const Attribute one_bound =
      context().Struct("stablehlo.bounds", {{"bounds", context().I64Array({4})}});
  EXPECT_THAT(with(context().TensorType({-1}, f32)), HasSubstr("a size is -1"));
  EXPECT_THAT(with(context().TensorType({2}, Type())), HasSubstr("it is null"));
  EXPECT_THAT(with(context().TensorType({kDynamic, kDynamic}, f32, one_bound)),
              HasSubstr("it must have one bound for each dimension"));
  EXPECT_THAT(with(context().TensorType({4}, f32, one_bound)),
              HasSubstr("dimension 0 has a size and a bound"));
  EXPECT_THAT(with(context().TupleType({f32, Type()})), HasSubstr("it is null"));
  EXPECT_THAT(with(context().QuantizedType(f32, QuantizedData())),
              HasSubstr("it has not one zero point a scale"));
}

TEST_F(VerifyTest, RefusesAnotherOutermostOp) {
  Module module(context_);
  module.set_op(Op::Create("func.func", Line(3), {}, {}, {}, {}, 0));
  EXPECT_EQ(Verify(module).message(),
            "func.func: the outermost op must be builtin.module (in @, at train.py:3)");
}

TEST_F(VerifyTest, TakesSegmentSizesBesideAttributes) {
  Op* scan = Insert("chlo.scan", {"4xf32"}, {argument_},
                    context().Dictionary({{"dimension", context().I64(0)},
                                          {"operandSegmentSizes", context().Unit()},
                                          {"resultSegmentSizes", context().Unit()}}),
                    1);
  scan->region(0).TakeBlocks(*MakeBody(context(), {"f32"}, {"f32"}));
  EXPECT_EQ(Problem(), "");
}

}  // namespace
}  // namespace plimsoll
