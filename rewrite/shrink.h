// Values that are the same along some dimensions, without these.

#ifndef PLIMSOLL_REWRITE_SHRINK_H_
#define PLIMSOLL_REWRITE_SHRINK_H_

#include <cstdint>
#include <optional>

#include "analysis/indexed_value.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// All values that are asked of have one static shape.
class Shrinker {
 public:
  Shrinker(Builder& builder, llvm::ArrayRef<int64_t> dimensions)
      : builder_(builder), dimensions_(dimensions) {}

  // True if all elements along these dimensions are equal, and it can be seen how to have one of
  // them: dimensions of one element, broadcasts, constants, and what is computed of these.
  bool CanShrink(Value& value);
  // The value without these dimensions; only if that can be.
  Value* Shrink(Value& value);

 private:
  bool Look(Value& value);
  Value* Make(Value& value);
  // Where the value comes from without these dimensions, if it was broadcast along them.
  std::optional<IndexedValue> BeforeBroadcast(Value& value) const;
  bool Has(int64_t dimension) const;
  llvm::SmallVector<int64_t> ShapeWithout(const Value& value) const;

  Builder& builder_;
  llvm::SmallVector<int64_t> dimensions_;
  llvm::DenseMap<const Value*, bool> can_shrink_;
  llvm::DenseMap<const Value*, Value*> shrunk_;
  // How many ops are looked through at the moment.
  int depth_ = 0;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_SHRINK_H_
