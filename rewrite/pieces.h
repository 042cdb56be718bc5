// Values taken apart along one dimension.

#ifndef PLIMSOLL_REWRITE_PIECES_H_
#define PLIMSOLL_REWRITE_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// Which elements a slice reads, along each dimension.
struct SliceBounds {
  llvm::SmallVector<int64_t> starts;
  llvm::SmallVector<int64_t> limits;
  llvm::SmallVector<int64_t> strides;
};

// Of a slice, or of a dynamic slice whose starts are constants. Nothing for other ops and for
// values of dynamic shape.
std::optional<SliceBounds> BoundsOfSlice(const Op& op);

// The only dimension along which a slice leaves out elements; nothing if there is none or more.
std::optional<size_t> SlicedDimension(const SliceBounds& bounds, llvm::ArrayRef<int64_t> shape);

// A slice; the value itself if that is all of it.
Value* SliceOf(Builder& builder, Value* value, const SliceBounds& bounds);

// The same op on other operands; its result has the shape of those that are not single numbers.
Value* CloneElementwise(Builder& builder, const Op& op, llvm::ArrayRef<Value*> operands,
                        llvm::ArrayRef<int64_t> shape);

// True for a constant whose elements are all the same.
bool IsSplatConstant(const Op& op);
// The same number in another shape, which has elements.
Value* SplatOfShape(Builder& builder, const Op& constant, llvm::ArrayRef<int64_t> shape);

// The value with another shape of as many elements, without undoing what was done just before.
Value* ReshapeTo(Builder& builder, Value* value, llvm::ArrayRef<int64_t> shape);

// True for a concatenate of values of static shape.
bool IsConcatenate(const Op* op);
// The sizes of a concatenate's operands along its dimension, without those of no elements.
llvm::SmallVector<int64_t> PieceSizes(const Op& concatenate);

// Reads parts of values along one dimension, from where they come from: the operands of
// concatenates, numbers that are broadcast, and elementwise ops of these.
class Pieces {
 public:
  // Ops are made by the builder. Of elementwise ops, those in `through` are computed for the part
  // alone; null stands for all that are made of pieces.
  Pieces(Builder& builder, size_t dimension, const llvm::DenseSet<const Op*>* through = nullptr)
      : builder_(builder), dimension_(dimension), through_(through) {}

  // The elements start, start + stride, ... below the limit.
  Value* Get(Value* value, int64_t start, int64_t limit, int64_t stride = 1);
  // True if parts of the value can be had without slices of it: some of it is concatenated, and the
  // rest is the same along the dimension.
  bool IsMadeOfPieces(const Value& value);

 private:
  Value* Make(Value* value, int64_t start, int64_t limit, int64_t stride);
  Value* Concatenated(llvm::ArrayRef<Value*> parts, int64_t start, int64_t limit, int64_t stride);
  bool IsMadeOfPieces(const Op& op);
  bool IsSameAlong(const Value& value) const;
  Value* Smaller(const Value& value, int64_t size);

  Builder& builder_;
  size_t dimension_;
  const llvm::DenseSet<const Op*>* through_;
  llvm::DenseMap<std::tuple<Value*, int64_t, int64_t, int64_t>, Value*> made_;
  llvm::DenseMap<const Value*, bool> is_made_of_pieces_;
  // How many ops are looked through at the moment.
  int depth_ = 0;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_PIECES_H_
