// Result types of ops that gather and scatter.

#include <algorithm>
#include <optional>

#include "ir/dimensions.h"
#include "ir/infer_rules.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// How indices and windows lie in a gather's or a scatter's tensors. The names are those of gather;
// a scatter is a gather whose result is what is written.
struct Indexing {
  llvm::ArrayRef<int64_t> window_dims;     // Of the result: what lies inside a window.
  llvm::ArrayRef<int64_t> collapsed_dims;  // Of the operand: windows have size 1 there.
  llvm::ArrayRef<int64_t> operand_batching_dims;
  llvm::ArrayRef<int64_t> indices_batching_dims;
  llvm::ArrayRef<int64_t> index_map;  // Of the operand: what each number of an index is for.
  int64_t index_vector_dim = 0;
};

StatusOr<Indexing> GatherIndexing(const OpView& op) {
  Indexing indexing;
  ASSIGN_OR_RETURN(const Attribute numbers, op.Struct("dimension_numbers", "stablehlo.gather"));
  ASSIGN_OR_RETURN(indexing.window_dims, op.IntegersField(numbers, "offset_dims"));
  ASSIGN_OR_RETURN(indexing.collapsed_dims, op.IntegersField(numbers, "collapsed_slice_dims"));
  ASSIGN_OR_RETURN(indexing.operand_batching_dims,
                   op.IntegersField(numbers, "operand_batching_dims"));
  ASSIGN_OR_RETURN(indexing.indices_batching_dims,
                   op.IntegersField(numbers, "start_indices_batching_dims"));
  ASSIGN_OR_RETURN(indexing.index_map, op.IntegersField(numbers, "start_index_map"));
  ASSIGN_OR_RETURN(indexing.index_vector_dim, op.IntegerField(numbers, "index_vector_dim"));
  return indexing;
}

StatusOr<Indexing> ScatterIndexing(const OpView& op) {
  Indexing indexing;
  ASSIGN_OR_RETURN(const Attribute numbers,
                   op.Struct("scatter_dimension_numbers", "stablehlo.scatter"));
  ASSIGN_OR_RETURN(indexing.window_dims, op.IntegersField(numbers, "update_window_dims"));
  ASSIGN_OR_RETURN(indexing.collapsed_dims, op.IntegersField(numbers, "inserted_window_dims"));
  ASSIGN_OR_RETURN(indexing.operand_batching_dims,
                   op.IntegersField(numbers, "input_batching_dims"));
  ASSIGN_OR_RETURN(indexing.indices_batching_dims,
                   op.IntegersField(numbers, "scatter_indices_batching_dims"));
  ASSIGN_OR_RETURN(indexing.index_map, op.IntegersField(numbers, "scatter_dims_to_operand_dims"));
  ASSIGN_OR_RETURN(indexing.index_vector_dim, op.IntegerField(numbers, "index_vector_dim"));
  return indexing;
}

// That the dimension numbers fit the operand and the indices.
Status Check(const OpView& op, const Indexing& indexing, Type operand, Type indices) {
  const Type number = indices.element_type();
  if (!number.Is(TypeKind::kInteger) && !number.Is(TypeKind::kIndex)) {
    return op.Error("the indices must be integers, found ", indices.ToString());
  }
  const size_t named = indexing.window_dims.size() + indexing.collapsed_dims.size() +
                       indexing.operand_batching_dims.size();
  if (named != operand.rank()) {
    return op.Error("window, collapsed and batching dimensions are ", named,
                    " in all, but the operand is ", operand.ToString());
  }
  if (indexing.index_vector_dim < 0 ||
      static_cast<uint64_t>(indexing.index_vector_dim) > indices.rank()) {
    return op.Error("index_vector_dim is ", indexing.index_vector_dim, ", but the indices are ",
                    indices.ToString());
  }
  const size_t vector_dim = static_cast<size_t>(indexing.index_vector_dim);
  const int64_t index_size = vector_dim == indices.rank() ? 1 : indices.shape()[vector_dim];
  if (index_size != kDynamic && static_cast<uint64_t>(index_size) != indexing.index_map.size()) {
    return op.Error("an index has ", index_size, " numbers, but ", indexing.index_map.size(),
                    " dimensions are mapped to them");
  }
  llvm::SmallVector<int64_t> windowless(indexing.collapsed_dims);
  llvm::append_range(windowless, indexing.operand_batching_dims);
  llvm::SmallVector<int64_t> indexed(indexing.index_map);
  llvm::append_range(indexed, indexing.operand_batching_dims);
  RETURN_IF_ERROR(op.ExpectSorted("the list of window dimensions", indexing.window_dims));
  RETURN_IF_ERROR(op.ExpectSorted("the list of collapsed dimensions", indexing.collapsed_dims));
  RETURN_IF_ERROR(
      op.ExpectSorted("the list of batching dimensions", indexing.operand_batching_dims));
  RETURN_IF_ERROR(op.ExpectDimensions("the list of collapsed and batching dimensions", windowless,
                                      operand.rank()));
  RETURN_IF_ERROR(
      op.ExpectDimensions("the list of mapped and batching dimensions", indexed, operand.rank()));
  RETURN_IF_ERROR(op.ExpectDimensions("the list of the indices' batching dimensions",
                                      indexing.indices_batching_dims, indices.rank()));
  if (llvm::is_contained(indexing.indices_batching_dims, indexing.index_vector_dim)) {
    return op.Error("dimension ", indexing.index_vector_dim,
                    " of the indices cannot be both batching and the indices' own");
  }
  if (indexing.operand_batching_dims.size() != indexing.indices_batching_dims.size()) {
    return op.Error("the operand has ", indexing.operand_batching_dims.size(),
                    " batching dimensions, the indices have ",
                    indexing.indices_batching_dims.size());
  }
  const Dimensions of_operand = DimensionsOf(operand);
  const Dimensions of_indices = DimensionsOf(indices);
  for (size_t i = 0; i < indexing.operand_batching_dims.size(); ++i) {
    const int64_t a = indexing.operand_batching_dims[i];
    const int64_t b = indexing.indices_batching_dims[i];
    if (!AreCompatible(of_operand[a], of_indices[b])) {
      return op.Error("batching dimension ", a, " of the operand has size ", Text(of_operand[a]),
                      ", dimension ", b, " of the indices has size ", Text(of_indices[b]));
    }
  }
  return OkStatus();
}

// The dimensions of what is gathered or written: those of the indices without the index itself,
// and the windows' where `window_dims` says. `windows` are the windows' sizes in all of the
// operand's dimensions.
StatusOr<Dimensions> WindowsByIndex(const OpView& op, const Indexing& indexing, Type indices,
                                    llvm::ArrayRef<Dimension> windows) {
  Dimensions batch = DimensionsOf(indices);
  if (static_cast<size_t>(indexing.index_vector_dim) < batch.size()) {
    batch.erase(batch.begin() + indexing.index_vector_dim);
  }
  Dimensions window;
  for (size_t d = 0; d < windows.size(); ++d) {
    const auto number = static_cast<int64_t>(d);
    if (!llvm::is_contained(indexing.collapsed_dims, number) &&
        !llvm::is_contained(indexing.operand_batching_dims, number)) {
      window.push_back(windows[d]);
    }
  }
  const size_t rank = batch.size() + window.size();
  RETURN_IF_ERROR(op.ExpectDimensions("the list of window dimensions", indexing.window_dims, rank));
  Dimensions result;
  const Dimension* next_window = window.begin();
  const Dimension* next_batch = batch.begin();
  for (size_t d = 0; d < rank; ++d) {
    const bool in_window = llvm::is_contained(indexing.window_dims, static_cast<int64_t>(d));
    result.push_back(in_window ? *next_window++ : *next_batch++);
  }
  return result;
}

InferredTypes GatherWindows(const OpView& op, llvm::ArrayRef<Dimension> windows) {
  const Type operand = op.operands()[0];
  const Type indices = op.operands()[1];
  ASSIGN_OR_RETURN(const Indexing indexing, GatherIndexing(op));
  RETURN_IF_ERROR(Check(op, indexing, operand, indices));
  for (const llvm::ArrayRef<int64_t> dims :
       {indexing.collapsed_dims, indexing.operand_batching_dims}) {
    for (const int64_t d : dims) {
      if (windows[d].is_static() && windows[d].size > 1) {
        return op.Error("slice_sizes has ", windows[d].size, " in dimension ", d,
                        " of the operand, expected at most 1 there");
      }
    }
  }
  ASSIGN_OR_RETURN(const Dimensions result, WindowsByIndex(op, indexing, indices, windows));
  return std::vector<Type>{TensorOf(op.context(), result, operand.element_type())};
}

}  // namespace

InferredTypes InferGather(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(2));
  RETURN_IF_ERROR(op.ExpectTensors());
  const Type operand = op.operands()[0];
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> sizes,
                   op.IntegersOfRank("slice_sizes", operand.rank()));
  Dimensions windows;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t size = operand.shape()[d];
    if (sizes[d] < 0 || (size != kDynamic && sizes[d] > size)) {
      return op.Error("slice_sizes wants ", sizes[d], " of dimension ", d, " of operand 0, ",
                      operand.ToString());
    }
    windows.push_back({sizes[d], kDynamic});
  }
  return GatherWindows(op, windows);
}

InferredTypes InferDynamicGather(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(3));
  RETURN_IF_ERROR(op.ExpectTensors());
  return GatherWindows(op, Dimensions(op.operands()[0].rank()));
}

InferredTypes InferScatter(const OpView& op) {
  const size_t count = op.operands().size() / 2;
  if (count == 0 || op.operands().size() % 2 == 0) {
    return op.Error("expected as many updates as inputs, and the indices, found ",
                    op.operands().size(), " operands");
  }
  RETURN_IF_ERROR(op.ExpectTensors());
  const Type indices = op.operands()[count];
  ASSIGN_OR_RETURN(const Indexing indexing, ScatterIndexing(op));
  ASSIGN_OR_RETURN(const std::vector<Type> elements, AccumulatorElements(op, 0, count));
  std::vector<Type> results;
  for (size_t i = 0; i < count; ++i) {
    const Type input = op.operands()[i];
    const Type update = op.operands()[count + 1 + i];
    if (!HaveCompatibleShapes(input, op.operands()[0])) {
      return op.Error("inputs 0 and ", i, " must have the same shape, found ",
                      op.operands()[0].ToString(), " and ", input.ToString());
    }
    RETURN_IF_ERROR(Check(op, indexing, input, indices));
    // A window of updates may be smaller than the input, but lies within it.
    ASSIGN_OR_RETURN(const Dimensions largest,
                     WindowsByIndex(op, indexing, indices, DimensionsOf(input)));
    const Dimensions found = DimensionsOf(update);
    bool fits = found.size() == largest.size();
    for (size_t d = 0; fits && d < found.size(); ++d) {
      const bool in_window = llvm::is_contained(indexing.window_dims, static_cast<int64_t>(d));
      const bool is_known = found[d].is_static() && largest[d].is_static();
      fits = in_window ? !is_known || found[d].size <= largest[d].size
                       : AreCompatible(found[d], largest[d]);
    }
    if (!fits) {
      return op.Error("update ", i, " must fit into ",
                      TensorOf(op.context(), largest, update.element_type()).ToString(), ", found ",
                      update.ToString());
    }
    results.push_back(WithElement(op.context(), input, elements[i]));
  }
  return results;
}

}  // namespace plimsoll
