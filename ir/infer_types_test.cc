#include "ir/infer_types.h"

#include "ir/testing.h"

namespace plimsoll {
namespace {

using InferTypesTest = testing::TypesTest;

TEST_F(InferTypesTest, RefusesTypesThatMustBeSaid) {
  EXPECT_EQ(Infer(Opcode::kReshape, {"2xf32"}),
            "stablehlo.reshape: its result types do not follow from its operands");
}

TEST_F(InferTypesTest, TerminatorsHaveNoResult) {
  EXPECT_EQ(Infer(Opcode::kReturn, {"2xf32"}), "");
}

TEST_F(InferTypesTest, OneResultAnOperand) {
  EXPECT_EQ(Infer(Opcode::kOptimizationBarrier, {"2xf32", "token"}),
            "tensor<2xf32>, !stablehlo.token");
  EXPECT_EQ(Infer(Opcode::kWhile, {}), "");
  EXPECT_EQ(Infer(Opcode::kSdyReshard, {"2xf32"}), "tensor<2xf32>");
  EXPECT_EQ(Infer(Opcode::kSdyReshard, {}), "sdy.reshard: expected 1 operand, found 0");
}

TEST_F(InferTypesTest, BranchesGiveWhatEitherReturns) {
  AddBody({}, {"2xf32", "?xf32"});
  AddBody({}, {"2xf32", "3xf32"});
  EXPECT_EQ(Infer(Opcode::kIf, {"i1"}), "tensor<2xf32>, tensor<?xf32>");
}

TEST_F(InferTypesTest, BranchesMayBeAsLargeAsTheLargest) {
  AddBody({}, {"<=4xf32"});
  AddBody({}, {"6xf32"});
  EXPECT_EQ(Infer(Opcode::kCase, {"i32"}), "tensor<?xf32, #stablehlo.bounds<6>>");
}

TEST_F(InferTypesTest, BranchesMustAgree) {
  AddBody({}, {"2xf32"});
  AddBody({}, {"3xf32"});
  EXPECT_EQ(Infer(Opcode::kIf, {"i1"}),
            "stablehlo.if: value 0 that region 0 returns has type tensor<2xf32>, that of region 1 "
            "has type tensor<3xf32>");
  AddBody({}, {"2xf32"});
  AddBody({}, {});
  EXPECT_EQ(Infer(Opcode::kIf, {"i1"}),
            "stablehlo.if: region 0 returns 1 values, region 1 returns 0");
  EXPECT_EQ(Infer(Opcode::kCase, {"i32"}),
            "stablehlo.case: expected at least 1 region, found none");
}

TEST_F(InferTypesTest, RegionsMayBeEmptyWithoutCrash) {
  const Region empty;
  Region without_ops;
  without_ops.AddBlock();
  const Region* regions[] = {&empty};
  EXPECT_EQ(InferResultTypes(OpView(context_, Opcode::kIf, {}, {}, regions)).status().message(),
            "stablehlo.if: region 0 is empty");
  regions[0] = &without_ops;
  EXPECT_EQ(InferResultTypes(OpView(context_, Opcode::kIf, {}, {}, regions)).status().message(),
            "stablehlo.if: region 0 returns nothing: its block is empty");
}

TEST_F(InferTypesTest, AsyncOpsWrapFutures) {
  AddBody({"2xf32"}, {"8xf32"});
  EXPECT_EQ(Infer(Opcode::kAsyncStart, {"2xf32"}), "!stablehlo.future<tensor<8xf32>>");
  const Type future = context_.FutureType(testing::ParseType(context_, "8xf32"));
  EXPECT_EQ(InferResultTypes(OpView(context_, Opcode::kAsyncDone, future)).value(),
            std::vector<Type>{testing::ParseType(context_, "8xf32")});
  EXPECT_EQ(Infer(Opcode::kAsyncDone, {"2xf32"}),
            "stablehlo.async_done: operand 0 must be a future, found tensor<2xf32>");
}

TEST_F(InferTypesTest, TuplesHoldTheirOperands) {
  EXPECT_EQ(Infer(Opcode::kTuple, {"2xf32", "token"}), "tuple<tensor<2xf32>, !stablehlo.token>");
}

TEST_F(InferTypesTest, TupleElementIsAMember) {
  const Type tuple = context_.TupleType(testing::ParseTypes(context_, {"2xf32", "token"}));
  const auto element = [&](int64_t index) {
    const Attribute properties = context_.Dictionary({{"index", context_.I64(index)}});
    return InferResultTypes(OpView(context_, Opcode::kGetTupleElement, tuple, properties));
  };
  EXPECT_EQ(element(1).value(), std::vector<Type>{context_.TokenType()});
  EXPECT_EQ(element(2).status().message(),
            "stablehlo.get_tuple_element: index is 2, but operand 0 has 2 members");
  EXPECT_EQ(element(-1).status().message(),
            "stablehlo.get_tuple_element: index is -1, but operand 0 has 2 members");
}

TEST_F(InferTypesTest, TokensAndDeviceNumbers) {
  EXPECT_EQ(Infer(Opcode::kAfterAll, {"token", "token"}), "!stablehlo.token");
  EXPECT_EQ(Infer(Opcode::kPartitionId, {}), "tensor<ui32>");
}

TEST_F(InferTypesTest, ErrorsAreTheProgramsFault) {
  EXPECT_EQ(InferResultTypes(OpView(context_, Opcode::kAdd, {})).status().code(),
            ErrorCode::kInvalidProgram);
}

TEST_F(InferTypesTest, PropertiesThatAreNoDictionaryHoldNothing) {
  const Type operand = testing::ParseType(context_, "2xf32");
  const OpView view(context_, Opcode::kReverse, operand, context_.I64(1));
  EXPECT_EQ(InferResultTypes(view).status().message(),
            "stablehlo.reverse: attribute dimensions is missing");
}

}  // namespace
}  // namespace plimsoll
