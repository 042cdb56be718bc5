#include "rewrite/gather_reads.h"

#include <algorithm>
#include <utility>

#include "analysis/constant_integers.h"
#include "analysis/indexed_value.h"
#include "analysis/indexing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "rewrite/pieces.h"

namespace plimsoll {

std::optional<GatherRead> GatherReadOf(const Op& op) {
  if (!op.Is(Opcode::kGather) || !op.operand(0)->type().has_static_shape() ||
      !op.operand(1)->type().has_static_shape()) {
    return std::nullopt;
  }
  const Indexing indexing = IndexingOf(op);
  if (indexing.index_map.size() != 1 || !indexing.operand_batching_dims.empty() ||
      indexing.collapsed_dims != indexing.index_map) {
    return std::nullopt;
  }
  const auto dimension = static_cast<size_t>(indexing.index_map.front());
  const llvm::ArrayRef<int64_t> shape = op.operand(0)->type().shape();
  const llvm::ArrayRef<int64_t> sizes = op.Get("slice_sizes").integers();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d != dimension && sizes[d] != shape[d]) return std::nullopt;
  }
  // One dimension of indices at most, beside the one that holds an index's numbers.
  const Type indices = op.operand(1)->type();
  const size_t vectors = indexing.index_vector_dim < static_cast<int64_t>(indices.rank()) ? 1 : 0;
  if (indices.rank() - vectors > 1 || shape[dimension] == 0) return std::nullopt;
  std::optional<std::vector<int64_t>> numbers = ConstantIntegers(*op.operand(1));
  if (!numbers) return std::nullopt;
  // An index out of bounds means the nearest one inside.
  for (int64_t& number : *numbers) number = std::clamp<int64_t>(number, 0, shape[dimension] - 1);
  return GatherRead{.dimension = dimension, .indices = *std::move(numbers)};
}

Value* ArrangeAsGathered(Builder& builder, const Op& gather, const GatherRead& read, Value& value) {
  const Indexing indexing = IndexingOf(gather);
  IndexedValue element = {.value = &value,
                          .indices = indexing.WindowDimensions(value.type().rank())};
  for (const int dimension : indexing.BatchDimensions(gather.operand(1)->type().rank())) {
    if (dimension != -1) element.indices[read.dimension] = dimension;
  }
  const llvm::ArrayRef<int64_t> shape = gather.result(0)->type().shape();
  return Arrange(builder, element, llvm::to_vector(llvm::seq(static_cast<int>(shape.size()))),
                 shape);
}

}  // namespace plimsoll
