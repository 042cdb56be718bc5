#include "rewrite/solve_sides.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace plimsoll {

Value* SolveSides::ToMatrices(const IndexedValue& element, int row,
                              llvm::ArrayRef<int> columns) const {
  const llvm::SmallVector<int> order = Order(row, columns);
  const llvm::SmallVector<int64_t> shape = SizesOf(order);
  Value* arranged = Arrange(builder_, element, order, shape);
  const size_t leading = batches_.size() + 1;
  llvm::SmallVector<int64_t> matrices(shape.begin(), shape.begin() + leading);
  int64_t count = 1;
  for (const int64_t size : llvm::ArrayRef(shape).drop_front(leading)) count *= size;
  matrices.push_back(count);
  return matrices == shape ? arranged : builder_.Reshape(arranged, matrices);
}

Value* SolveSides::FromMatrices(Value* matrices, int row, llvm::ArrayRef<int> columns,
                                Type result) const {
  if (matrices == nullptr) return nullptr;
  const llvm::SmallVector<int> order = Order(row, columns);
  const llvm::SmallVector<int64_t> shape = SizesOf(order);
  if (matrices->type().shape() != llvm::ArrayRef(shape)) {
    matrices = builder_.Reshape(matrices, shape);
  }
  IndexedValue element = {.value = matrices, .indices = {}};
  for (const auto [index, size] : llvm::zip_equal(order, shape)) {
    element.indices.push_back(size == 1 ? kNoIndex : index);
  }
  const auto all = llvm::to_vector(llvm::seq(static_cast<int>(result.rank())));
  return Arrange(builder_, element, all, result.shape());
}

llvm::SmallVector<int> SolveSides::Order(int row, llvm::ArrayRef<int> columns) const {
  llvm::SmallVector<int> order;
  // Batches of one element need an index of their own here.
  int unused = kNoIndex;
  for (const int batch : batches_) order.push_back(batch == kNoIndex ? --unused : batch);
  order.push_back(row);
  order.append(columns.begin(), columns.end());
  return order;
}

llvm::SmallVector<int64_t> SolveSides::SizesOf(llvm::ArrayRef<int> order) const {
  llvm::SmallVector<int64_t> sizes;
  for (const int index : order) sizes.push_back(index < 0 ? 1 : sizes_[index]);
  return sizes;
}

llvm::SmallVector<int> ColumnsOf(const IndexedValue& element, int row,
                                 llvm::ArrayRef<int> batches) {
  llvm::SmallVector<int> columns;
  for (const int index : element.indices) {
    if (index != kNoIndex && index != row && !llvm::is_contained(batches, index)) {
      columns.push_back(index);
    }
  }
  return columns;
}

}  // namespace plimsoll
