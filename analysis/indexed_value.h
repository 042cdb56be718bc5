// Values as functions of indices: what a matcher sees when it looks through transposes, broadcasts
// and reshapes.

#ifndef PLIMSOLL_ANALYSIS_INDEXED_VALUE_H_
#define PLIMSOLL_ANALYSIS_INDEXED_VALUE_H_

#include <optional>

#include "ir/builder.h"
#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// For dimensions of one element, which need no index.
inline constexpr int kNoIndex = -1;

// The element of `value` at these indices, one for each dimension. Indices are numbers that the
// user of this chooses; two dimensions may have the same one, which reads a diagonal.
struct IndexedValue {
  Value* value = nullptr;
  llvm::SmallVector<int, 6> indices;

  bool Has(int index) const;
  bool operator==(const IndexedValue&) const = default;
};

// The value with an index for each of its dimensions: 0, 1, 2, ..., and none for those of one
// element.
IndexedValue AllIndices(Value& value);

// The same elements as they lie before transposes, broadcasts, reshapes that add or remove
// dimensions of one element, and barriers that do nothing else.
IndexedValue SeeThrough(IndexedValue element);

// Whether one step of that is possible, and what it leads to.
std::optional<IndexedValue> SeeThroughOne(const IndexedValue& element);

// What `value` is as a tensor with a dimension for each of these indices, of these sizes (an index
// that `element` does not have is broadcast along). Each index of `element` must be among them, and
// only once in `element`.
Value* Arrange(Builder& builder, const IndexedValue& element, llvm::ArrayRef<int> indices,
               llvm::ArrayRef<int64_t> sizes);

// The number that all elements are, if it is a constant: through broadcasts, reshapes and
// conversions. Not for complex numbers.
std::optional<double> ConstantNumber(const Value& value);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_INDEXED_VALUE_H_
