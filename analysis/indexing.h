// How indices and windows lie in the tensors of a gather or a scatter.

#ifndef PLIMSOLL_ANALYSIS_INDEXING_H_
#define PLIMSOLL_ANALYSIS_INDEXING_H_

#include <cstddef>
#include <cstdint>

#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// The names are those of gather; a scatter is a gather whose result is what is written. The lists
// belong to the op's attributes.
struct Indexing {
  llvm::ArrayRef<int64_t> window_dims;     // Of the result: what lies inside a window.
  llvm::ArrayRef<int64_t> collapsed_dims;  // Of the operand: windows have size 1 there.
  llvm::ArrayRef<int64_t> operand_batching_dims;
  llvm::ArrayRef<int64_t> indices_batching_dims;
  llvm::ArrayRef<int64_t> index_map;  // Of the operand: what each number of an index is for.
  int64_t index_vector_dim = 0;

  // For each dimension of the operand the result's dimension inside a window; -1 if it has none.
  llvm::SmallVector<int> WindowDimensions(size_t operand_rank) const;
  // For each dimension of the indices the result's; -1 for the one that holds an index's numbers.
  llvm::SmallVector<int> BatchDimensions(size_t indices_rank) const;
  // Which number of an index is for that dimension of the operand; -1 if none is.
  int NumberFor(int operand_dimension) const;
};

Indexing IndexingOf(const Op& gather_or_scatter);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_INDEXING_H_
