#include "analysis/indexing.h"

#include "llvm/ADT/STLExtras.h"

namespace plimsoll {

llvm::SmallVector<int> Indexing::WindowDimensions(size_t operand_rank) const {
  llvm::SmallVector<int> dimensions(operand_rank, -1);
  const int64_t* next = window_dims.begin();
  for (size_t d = 0; d < operand_rank; ++d) {
    const auto number = static_cast<int64_t>(d);
    if (llvm::is_contained(collapsed_dims, number) ||
        llvm::is_contained(operand_batching_dims, number)) {
      continue;
    }
    dimensions[d] = static_cast<int>(*next++);
  }
  return dimensions;
}

llvm::SmallVector<int> Indexing::BatchDimensions(size_t indices_rank) const {
  llvm::SmallVector<int> dimensions(indices_rank, -1);
  int next = 0;
  for (size_t d = 0; d < indices_rank; ++d) {
    if (static_cast<int64_t>(d) == index_vector_dim) continue;
    while (llvm::is_contained(window_dims, next)) ++next;
    dimensions[d] = next++;
  }
  return dimensions;
}

int Indexing::NumberFor(int operand_dimension) const {
  const int64_t* found = llvm::find(index_map, operand_dimension);
  return found == index_map.end() ? -1 : static_cast<int>(found - index_map.begin());
}

Indexing IndexingOf(const Op& gather_or_scatter) {
  const bool is_scatter = gather_or_scatter.Is(Opcode::kScatter);
  const Attribute numbers =
      gather_or_scatter.Get(is_scatter ? "scatter_dimension_numbers" : "dimension_numbers");
  const auto list = [&](std::string_view of_gather, std::string_view of_scatter) {
    return numbers.Find(is_scatter ? of_scatter : of_gather).integers();
  };
  return {
      .window_dims = list("offset_dims", "update_window_dims"),
      .collapsed_dims = list("collapsed_slice_dims", "inserted_window_dims"),
      .operand_batching_dims = list("operand_batching_dims", "input_batching_dims"),
      .indices_batching_dims = list("start_indices_batching_dims", "scatter_indices_batching_dims"),
      .index_map = list("start_index_map", "scatter_dims_to_operand_dims"),
      .index_vector_dim = numbers.Find("index_vector_dim").integer()};
}

}  // namespace plimsoll
