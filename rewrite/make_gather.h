// Gathers and scatters of values whose dimensions have indices.

#ifndef PLIMSOLL_REWRITE_MAKE_GATHER_H_
#define PLIMSOLL_REWRITE_MAKE_GATHER_H_

#include <cstdint>

#include "analysis/indexed_value.h"
#include "ir/builder.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// Integers that say where to read or to write. They have one dimension more than indices, the last,
// which holds a number for each dimension that is read.
using Places = IndexedValue;

// What `operand` is where its indices `read` are replaced by the numbers of `places`: the indices
// of `places`, and then those of the operand that are left. Each dimension of both has an index,
// none twice; what both have is read in step. The value is null after an error.
IndexedValue GatherAt(Builder& builder, const IndexedValue& operand, llvm::ArrayRef<int> read,
                      const Places& places);

// Zeros with `updates` added at `places`, which hold one number each: along an index `written` of
// that size. The first `batch_count` indices of both are kept, as are those of the updates alone;
// the others of `places`, which come next in both, are summed over. The result has the indices of
// the batch, `written`, and the rest of the updates'. Numbers out of range are left out.
IndexedValue ScatterAdd(Builder& builder, const IndexedValue& updates, const Places& places,
                        size_t batch_count, int written, int64_t size);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_MAKE_GATHER_H_
