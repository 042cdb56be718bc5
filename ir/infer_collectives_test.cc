#include "ir/testing.h"

namespace plimsoll {
namespace {

class InferCollectivesTest : public testing::TypesTest {
 protected:
  // Two groups of four devices.
  NamedAttribute Groups() {
    const Type type = testing::ParseType(context_, "2x4xi64");
    const std::vector<char> bytes(64, 0);
    return {"replica_groups", context_.DenseElements(type, bytes)};
  }

  NamedAttribute Channel() {
    return {"channel_handle",
            context_.Struct("stablehlo.channel_handle",
                            {{"handle", context_.I64(1)}, {"type", context_.I64(1)}})};
  }

  NamedAttribute Global() { return {"use_global_device_ids", context_.Unit()}; }
  NamedAttribute Number(std::string_view name, int64_t value) {
    return {name, context_.I64(value)};
  }
};

TEST_F(InferCollectivesTest, AllGatherMultipliesByGroupSize) {
  EXPECT_EQ(
      Infer(Opcode::kAllGather, {"2x3xf32", "<=5x3xi8"}, {Groups(), Number("all_gather_dim", 0)}),
      "tensor<8x3xf32>, tensor<?x3xi8, #stablehlo.bounds<20, ?>>");
  EXPECT_EQ(Infer(Opcode::kAllGather, {"2x3xf32"},
                  {Groups(), Channel(), Global(), Number("all_gather_dim", 1)}),
            "tensor<2x12xf32>");
}

TEST_F(InferCollectivesTest, GroupsOfReplicasWithAllPartitionsHaveNoKnownSize) {
  EXPECT_EQ(
      Infer(Opcode::kAllGather, {"2x3xf32"}, {Groups(), Channel(), Number("all_gather_dim", 0)}),
      "tensor<?x3xf32>");
}

TEST_F(InferCollectivesTest, GroupsAsMeshAxesHaveNoKnownSize) {
  EXPECT_EQ(Infer(Opcode::kAllGather, {"2xf32"},
                  {{"replica_groups", context_.OpaqueAttribute("#stablehlo.axes<x>")},
                   Number("all_gather_dim", 0)}),
            "tensor<?xf32>");
}

TEST_F(InferCollectivesTest, AllGatherRefuses) {
  EXPECT_EQ(Infer(Opcode::kAllGather, {"2xf32"}, {Groups(), Number("all_gather_dim", 1)}),
            "stablehlo.all_gather: all_gather_dim names dimension 1 of a tensor with 1 dimension");
  EXPECT_EQ(Infer(Opcode::kAllGather, {"4611686018427387904xf32"},
                  {Groups(), Number("all_gather_dim", 0)}),
            "stablehlo.all_gather: dimension 0 of the result is too large");
  const Type flat = testing::ParseType(context_, "4xi64");
  EXPECT_EQ(Infer(Opcode::kAllGather, {"2xf32"},
                  {{"replica_groups", context_.DenseElements(flat, std::vector<char>(32, 0))},
                   Number("all_gather_dim", 0)}),
            "stablehlo.all_gather: replica_groups must have two dimensions, found tensor<4xi64>");
}

TEST_F(InferCollectivesTest, ReduceScatterDividesByGroupSize) {
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(Infer(Opcode::kReduceScatter, {"8x3xbf16"}, {Groups(), Number("scatter_dimension", 0)}),
            "tensor<2x3xf32>");
  EXPECT_EQ(Infer(Opcode::kReduceScatter, {"6xf32"}, {Groups(), Number("scatter_dimension", 0)}),
            "stablehlo.reduce_scatter: dimension 0 of tensor<6xf32> cannot be cut into equal parts "
            "for 4 devices");
}

TEST_F(InferCollectivesTest, AllReduceKeepsShapes) {
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(Infer(Opcode::kAllReduce, {"2xf32", "3x4xf32"}, {Groups()}),
            "tensor<2xf32>, tensor<3x4xf32>");
  EXPECT_EQ(Infer(Opcode::kAllReduce, {}, {Groups()}),
            "stablehlo.all_reduce: expected at least 1 operand, found 0");
}

TEST_F(InferCollectivesTest, AllToAllCutsAndJoins) {
  EXPECT_EQ(Infer(Opcode::kAllToAll, {"8x3xf32"},
                  {Groups(), Number("split_dimension", 0), Number("concat_dimension", 1),
                   Number("split_count", 4)}),
            "tensor<2x12xf32>");
  EXPECT_EQ(Infer(Opcode::kAllToAll, {"8xf32"},
                  {Groups(), Number("split_dimension", 0), Number("concat_dimension", 0),
                   Number("split_count", 4)}),
            "tensor<8xf32>");
}

TEST_F(InferCollectivesTest, AllToAllRefuses) {
  EXPECT_EQ(Infer(Opcode::kAllToAll, {"6xf32"},
                  {Groups(), Number("split_dimension", 0), Number("concat_dimension", 0),
                   Number("split_count", 4)}),
            "stablehlo.all_to_all: dimension 0 of tensor<6xf32> cannot be cut into 4 equal parts");
  EXPECT_EQ(Infer(Opcode::kAllToAll, {"6xf32"},
                  {Groups(), Number("split_dimension", 0), Number("concat_dimension", 0),
                   Number("split_count", 0)}),
            "stablehlo.all_to_all: split_count must be positive, found 0");
}

TEST_F(InferCollectivesTest, RootIsNoData) {
  const NamedAttribute root = {"has_dynamic_root", context_.Unit()};
  EXPECT_EQ(Infer(Opcode::kCollectiveBroadcast, {"2xf32", "1xi32"}, {Groups(), root}),
            "tensor<2xf32>");
  EXPECT_EQ(Infer(Opcode::kCollectiveBroadcast, {"2xf32", "1xi32"}, {Groups()}),
            "tensor<2xf32>, tensor<1xi32>");
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(Infer(Opcode::kCollectiveReduce, {"2xf32", "1xi32"}, {Groups(), root}),
            "tensor<2xf32>");
  EXPECT_EQ(Infer(Opcode::kCollectiveBroadcast, {"1xi32"}, {Groups(), root}),
            "stablehlo.collective_broadcast: expected at least 2 operands, found 1");
}

}  // namespace
}  // namespace plimsoll
