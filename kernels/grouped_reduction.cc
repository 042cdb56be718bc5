#include "kernels/grouped_reduction.h"

#include <cstdint>
#include <optional>

#include "analysis/indexing.h"
#include "analysis/reducers.h"
#include "kernels/refuse.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

StatusOr<GroupedReduction> GroupedReductionOf(const Op& scatter) {
  if (scatter.result_count() != 1) return Refuse("a scatter of several values");
  const std::optional<Opcode> reducer = ReducerOfBody(scatter);
  if (!reducer) return Refuse("a scatter that does not add up, multiply or keep the best");
  const Indexing indexing = IndexingOf(scatter);
  const llvm::ArrayRef<int64_t> shape = scatter.operand(0)->type().shape();
  const llvm::ArrayRef<int64_t> indices = scatter.operand(1)->type().shape();
  const llvm::ArrayRef<int64_t> updates = scatter.operand(2)->type().shape();
  if (indexing.index_map.size() != 1) return Refuse("a scatter by more than one number");
  GroupedReduction found = {.reducer = *reducer,
                            .segment = static_cast<size_t>(indexing.index_map[0])};
  for (const auto [d, window] : llvm::enumerate(indexing.WindowDimensions(shape.size()))) {
    if (window < 0) continue;
    if (updates[static_cast<size_t>(window)] != (d == found.segment ? 1 : shape[d])) {
      return Refuse("a scatter of windows that may lie anywhere");
    }
  }
  int count = 0;
  for (const auto [d, to] : llvm::enumerate(indexing.BatchDimensions(indices.size()))) {
    const bool is_batch =
        llvm::is_contained(indexing.indices_batching_dims, static_cast<int64_t>(d));
    if (to < 0 || is_batch || indices[d] == 1) continue;
    found.grouped = static_cast<size_t>(to);
    ++count;
  }
  if (count != 1) return Refuse("a scatter along none or several of its dimensions");
  return found;
}

}  // namespace plimsoll
