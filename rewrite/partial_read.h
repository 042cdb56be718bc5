// Gathers, slices and dynamic slices as one: which elements of a value they read.

#ifndef PLIMSOLL_REWRITE_PARTIAL_READ_H_
#define PLIMSOLL_REWRITE_PARTIAL_READ_H_

#include <optional>

#include "analysis/indexed_value.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// result[...] = operand[...], where the operand's indices are the result's, numbers that a gather
// computes, or are shifted and strided as slices do.
class PartialRead {
 public:
  // Nothing for other ops, for windows of a gather that are neither single elements nor all of a
  // dimension, and for results without elements.
  static std::optional<PartialRead> Of(const Op& op);

  // For each dimension of the operand: the result's dimension that it has the index of, or a number
  // behind these if it is read at computed places. None for dimensions of one element.
  llvm::ArrayRef<int> indices() const { return indices_; }
  // Larger numbers are nobody's.
  int index_end() const { return index_end_; }

  // The part of a value that depends on some of these indices, and maybe on others, which are left
  // alone. The result has indices of the result's dimensions.
  IndexedValue Read(Builder& builder, const IndexedValue& element) const;

 private:
  explicit PartialRead(const Op& op) : op_(&op) {}

  bool InitGather();
  IndexedValue ReadGathered(Builder& builder, const IndexedValue& element) const;
  IndexedValue ReadSlice(Builder& builder, const IndexedValue& element) const;
  IndexedValue ReadDynamicSlice(Builder& builder, const IndexedValue& element) const;

  const Op* op_;
  llvm::SmallVector<int> indices_;
  int index_end_ = 0;
  // Of a gather: the result's dimensions that its indices have.
  llvm::SmallVector<int> batch_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_PARTIAL_READ_H_
