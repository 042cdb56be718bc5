// A part of a block that is to be computed chunk by chunk along one axis: which ops belong to it,
// and in how many passes over the axis.

#ifndef PLIMSOLL_ANALYSIS_CUT_H_
#define PLIMSOLL_ANALYSIS_CUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/axis_rules.h"
#include "analysis/block_view.h"
#include "ir/graph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace plimsoll {

struct CutOp {
  Factor factor;
  // The pass in which the op can run first: it needs results of the passes before.
  int level = 0;
};

// One pass over the axis.
struct CutPass {
  // In the block's order. Ops of earlier passes whose results were too big to keep run again.
  std::vector<const Op*> ops;
  // Ops whose results are put together from those of the chunks.
  std::vector<const Op*> accumulated;
  // Values of which each chunk is written into the whole.
  std::vector<const Value*> written;
};

struct Cut {
  const Value* seed = nullptr;
  int dimension = 0;
  int64_t blocks = 0;
  llvm::MapVector<const Op*, CutOp> ops;
  // The dimensions along which values are cut.
  llvm::DenseMap<const Value*, int> dimensions;
  // Big values that stay whole after all.
  std::vector<const Value*> given_up;
  // Of the block's other ops: the pass before which they can run.
  llvm::DenseMap<const Op*, int> outside;
  std::vector<CutPass> passes;

  bool IsWritten(const Value& value) const;
};

// Which values a cut is to keep from being whole.
struct BigValues {
  int64_t threshold = 0;
  // Values that are there as a whole anyway: arguments, results, and those given up before.
  llvm::DenseSet<const Value*> existing;

  bool IsBig(const Value& value) const {
    return BytesOf(value) > threshold && !existing.contains(&value);
  }
};

struct Refusal {
  const Value* value = nullptr;
  std::string reason;
  // A value that is cut along one axis, and an op that wants it along another: a copy for this op
  // alone might help. Null if that was not the trouble.
  const Value* contested = nullptr;
  const Op* user = nullptr;
};

// The cut around `seed` along one of its dimensions; nothing, and why, if there is none. Of the
// other big values, at most `most_given_up` bytes may stay whole.
std::optional<Cut> FindCut(const BlockView& view, const Value& seed, int dimension,
                           const BigValues& big, int64_t most_given_up, Refusal& refusal);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_CUT_H_
