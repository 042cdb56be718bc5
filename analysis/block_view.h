// What is asked again and again of the ops of one block, computed once.

#ifndef PLIMSOLL_ANALYSIS_BLOCK_VIEW_H_
#define PLIMSOLL_ANALYSIS_BLOCK_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/axis_rules.h"
#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace plimsoll {

// The block must not change while the view is used.
class BlockView {
 public:
  explicit BlockView(const Block& block);

  const Block& block() const { return block_; }
  llvm::ArrayRef<const Op*> ops() const { return ops_; }
  // The op's place in the block.
  size_t Position(const Op& op) const { return positions_.lookup(&op); }
  // The op of this block that `op` is, or is inside of; null if it is elsewhere.
  const Op* OpHere(const Op& op) const;
  // Values from outside of an op that ops in its regions use.
  llvm::ArrayRef<Value*> Captured(const Op& op) const;
  // Loops are not known here (axis_loops.h).
  const AxisRule& RuleOf(const Op& op) const;
  // The ops of this block that use the value, each once, in order.
  std::vector<const Op*> UsersOf(const Value& value) const;

 private:
  const Block& block_;
  std::vector<const Op*> ops_;
  llvm::DenseMap<const Op*, size_t> positions_;
  llvm::DenseMap<const Op*, std::vector<Value*>> captured_;
  mutable llvm::DenseMap<const Op*, std::unique_ptr<AxisRule>> rules_;
};

// The bytes of a value; 0 for tokens and what is not known.
int64_t BytesOf(const Value& value);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_BLOCK_VIEW_H_
