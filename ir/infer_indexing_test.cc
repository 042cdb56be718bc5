#include "ir/testing.h"

namespace plimsoll {
namespace {

class InferIndexingTest : public testing::TypesTest {
 protected:
  using Numbers = std::initializer_list<int64_t>;

  Attribute GatherNumbers(Numbers offset, Numbers collapsed, Numbers operand_batching,
                          Numbers indices_batching, Numbers map, int64_t vector_dim) {
    return context_.Struct("stablehlo.gather",
                           {{"offset_dims", Ints(offset)},
                            {"collapsed_slice_dims", Ints(collapsed)},
                            {"operand_batching_dims", Ints(operand_batching)},
                            {"start_indices_batching_dims", Ints(indices_batching)},
                            {"start_index_map", Ints(map)},
                            {"index_vector_dim", context_.I64(vector_dim)}});
  }

  std::string Gather(std::string_view operand, std::string_view indices, Attribute numbers,
                     Numbers sizes) {
    return Infer(Opcode::kGather, {operand, indices},
                 {{"dimension_numbers", numbers}, {"slice_sizes", Ints(sizes)}});
  }

  // Rows of a matrix.
  Attribute Rows() { return GatherNumbers({1}, {0}, {}, {}, {0}, 1); }

  Attribute ScatterNumbers(Numbers window, Numbers inserted, Numbers map, int64_t vector_dim) {
    return context_.Struct("stablehlo.scatter", {{"update_window_dims", Ints(window)},
                                                 {"inserted_window_dims", Ints(inserted)},
                                                 {"input_batching_dims", Ints({})},
                                                 {"scatter_indices_batching_dims", Ints({})},
                                                 {"scatter_dims_to_operand_dims", Ints(map)},
                                                 {"index_vector_dim", context_.I64(vector_dim)}});
  }

  // Rows of a matrix.
  Properties ScatterRows() {
    return {{"scatter_dimension_numbers", ScatterNumbers({1}, {0}, {0}, 1)}};
  }
};

TEST_F(InferIndexingTest, GatherRows) {
  EXPECT_EQ(Gather("10x4xf32", "7x1xi32", Rows(), {1, 4}), "tensor<7x4xf32>");
}

TEST_F(InferIndexingTest, GatherTakesIndicesWithoutTheirOwnDimension) {
  EXPECT_EQ(Gather("10x4xf32", "7xi32", Rows(), {1, 4}), "tensor<7x4xf32>");
}

TEST_F(InferIndexingTest, GatherPutsWindowsWhereSaid) {
  EXPECT_EQ(
      Gather("10x4x5xf32", "7x8x2xi32", GatherNumbers({0, 2}, {0}, {}, {}, {0, 1}, 2), {1, 3, 5}),
      "tensor<3x7x5x8xf32>");
}

TEST_F(InferIndexingTest, GatherInBatches) {
  EXPECT_EQ(Gather("6x10xf32", "6x7x1xi32", GatherNumbers({}, {1}, {0}, {0}, {1}, 2), {1, 1}),
            "tensor<6x7xf32>");
}

TEST_F(InferIndexingTest, GatherKeepsBoundsOfIndices) {
  EXPECT_EQ(Gather("10x4xf32", "<=7x1xi32", Rows(), {1, 4}),
            "tensor<?x4xf32, #stablehlo.bounds<7, ?>>");
}

TEST_F(InferIndexingTest, GatherRefusesNumbersThatDoNotFit) {
  EXPECT_EQ(Gather("10x4x2xf32", "7x1xi32", Rows(), {1, 4, 2}),
            "stablehlo.gather: window, collapsed and batching dimensions are 2 in all, but the "
            "operand is tensor<10x4x2xf32>");
  EXPECT_EQ(Gather("10x4xf32", "7x1xi32", GatherNumbers({1}, {0}, {}, {}, {0}, 3), {1, 4}),
            "stablehlo.gather: index_vector_dim is 3, but the indices are tensor<7x1xi32>");
  EXPECT_EQ(Gather("10x4xf32", "7x2xi32", Rows(), {1, 4}),
            "stablehlo.gather: an index has 2 numbers, but 1 dimensions are mapped to them");
  EXPECT_EQ(
      Gather("10x4xf32", "7x1xi32", GatherNumbers({1}, {2}, {}, {}, {0}, 1), {1, 4}),
      "stablehlo.gather: the list of collapsed and batching dimensions names dimension 2 of a "
      "tensor with 2 dimensions");
  EXPECT_EQ(Gather("10x4xf32", "7x1xi32", GatherNumbers({5}, {0}, {}, {}, {0}, 1), {1, 4}),
            "stablehlo.gather: the list of window dimensions names dimension 5 of a tensor with 2 "
            "dimensions");
  EXPECT_EQ(Gather("10x4xf32", "7x1xi32", GatherNumbers({1, 0}, {}, {}, {}, {0}, 1), {1, 4}),
            "stablehlo.gather: the list of window dimensions must be sorted, found [1, 0]");
}

TEST_F(InferIndexingTest, GatherRefusesIndicesThatAreNoIntegers) {
  EXPECT_EQ(Gather("10x4xf32", "7x1xf32", Rows(), {1, 4}),
            "stablehlo.gather: the indices must be integers, found tensor<7x1xf32>");
}

TEST_F(InferIndexingTest, GatherRefusesBatchesThatDoNotFit) {
  EXPECT_EQ(Gather("6x10xf32", "5x7x1xi32", GatherNumbers({}, {1}, {0}, {0}, {1}, 2), {1, 1}),
            "stablehlo.gather: batching dimension 0 of the operand has size 6, dimension 0 of the "
            "indices has size 5");
  EXPECT_EQ(Gather("6x10xf32", "6x7x1xi32", GatherNumbers({}, {1}, {0}, {}, {1}, 2), {1, 1}),
            "stablehlo.gather: the operand has 1 batching dimensions, the indices have 0");
  EXPECT_EQ(Gather("6x10xf32", "7x1xi32", GatherNumbers({}, {1}, {0}, {1}, {1}, 1), {1, 1}),
            "stablehlo.gather: dimension 1 of the indices cannot be both batching and the indices' "
            "own");
}

TEST_F(InferIndexingTest, GatherRefusesSlicesThatDoNotFit) {
  EXPECT_EQ(Gather("10x4xf32", "7x1xi32", Rows(), {1, 5}),
            "stablehlo.gather: slice_sizes wants 5 of dimension 1 of operand 0, tensor<10x4xf32>");
  EXPECT_EQ(Gather("10x4xf32", "7x1xi32", Rows(), {2, 4}),
            "stablehlo.gather: slice_sizes has 2 in dimension 0 of the operand, expected at most 1 "
            "there");
  EXPECT_EQ(Gather("10x4xf32", "7x1xi32", Rows(), {1}),
            "stablehlo.gather: slice_sizes must have 2 numbers, one for each dimension, found [1]");
}

TEST_F(InferIndexingTest, GatherRefusesOtherAttributes) {
  EXPECT_EQ(Gather("10x4xf32", "7x1xi32", context_.I64(1), {1, 4}),
            "stablehlo.gather: attribute dimension_numbers must be #stablehlo.gather, found 1 : "
            "i64");
  EXPECT_EQ(Gather("10x4xf32", "7x1xi32",
                   context_.Struct("stablehlo.gather", {{"offset_dims", context_.Unit()}}), {1, 4}),
            "stablehlo.gather: offset_dims of #stablehlo.gather must be a list of i64, found "
            "another kind of attribute");
  EXPECT_EQ(Gather("10x4xf32", "7x1xi32", context_.Struct("stablehlo.gather", {}), {1, 4}),
            "stablehlo.gather: offset_dims of #stablehlo.gather must be a list of i64, found "
            "nothing");
}

TEST_F(InferIndexingTest, DynamicGatherDoesNotKnowItsWindows) {
  EXPECT_EQ(Infer(Opcode::kDynamicGather, {"10x4xf32", "7x1xi32", "2xi32"},
                  {{"dimension_numbers", Rows()}}),
            "tensor<7x?xf32>");
}

TEST_F(InferIndexingTest, ScatterHasItsInputsType) {
  AddBody({"f32", "f32"}, {"f32"});
  EXPECT_EQ(Infer(Opcode::kScatter, {"10x4xf32", "7x1xi32", "7x4xf32"}, ScatterRows()),
            "tensor<10x4xf32>");
}

TEST_F(InferIndexingTest, ScatterHasTheElementsThatItsRegionReturns) {
  AddBody({"f64", "f64"}, {"f64"});
  EXPECT_EQ(Infer(Opcode::kScatter, {"10x4xf32", "7x1xi32", "7x4xf32"}, ScatterRows()),
            "tensor<10x4xf64>");
}

TEST_F(InferIndexingTest, ScatterTakesSmallerWindows) {
  EXPECT_EQ(Infer(Opcode::kScatter, {"10x4xf32", "7x1xi32", "7x3xf32"}, ScatterRows()),
            "tensor<10x4xf32>");
}

TEST_F(InferIndexingTest, ScatterRefuses) {
  EXPECT_EQ(Infer(Opcode::kScatter, {"10x4xf32", "7x1xi32"}, ScatterRows()),
            "stablehlo.scatter: expected as many updates as inputs, and the indices, found 2 "
            "operands");
  EXPECT_EQ(Infer(Opcode::kScatter, {"7x1xi32"}, ScatterRows()),
            "stablehlo.scatter: expected as many updates as inputs, and the indices, found 1 "
            "operands");
  EXPECT_EQ(Infer(Opcode::kScatter, {"10x4xf32", "7x1xi32", "7x5xf32"}, ScatterRows()),
            "stablehlo.scatter: update 0 must fit into tensor<7x4xf32>, found tensor<7x5xf32>");
  EXPECT_EQ(Infer(Opcode::kScatter, {"10x4xf32", "7x1xi32", "6x4xf32"}, ScatterRows()),
            "stablehlo.scatter: update 0 must fit into tensor<7x4xf32>, found tensor<6x4xf32>");
  EXPECT_EQ(
      Infer(Opcode::kScatter, {"10x4xf32", "9x4xf32", "7x1xi32", "7x4xf32", "7x4xf32"},
            ScatterRows()),
      "stablehlo.scatter: inputs 0 and 1 must have the same shape, found tensor<10x4xf32> and "
      "tensor<9x4xf32>");
}

}  // namespace
}  // namespace plimsoll
