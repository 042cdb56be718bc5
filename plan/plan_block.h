// Cuts a block until what lives in it at once fits a budget.

#ifndef PLIMSOLL_PLAN_PLAN_BLOCK_H_
#define PLIMSOLL_PLAN_PLAN_BLOCK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/context.h"
#include "ir/graph.h"
#include "ir/status.h"
#include "plan/cut_cost.h"

namespace plimsoll {

// A value as it is told to people.
struct NamedValue {
  int64_t bytes = 0;
  std::string type;    // "tensor<8x8xf32>"
  std::string source;  // The user's line, "train.py:41"; "" if it is not known.

  bool operator==(const NamedValue&) const = default;
};

NamedValue NameOf(const Value& value);

// One cut that was made.
struct MadeCut {
  NamedValue value;   // The one that it was made for.
  int dimension = 0;  // Along which that was cut.
  std::string axis;   // Where that axis comes from: "axis 0 of x".
  int64_t blocks = 0;
  int64_t chunk = 0;
  // What a chunk is thought to take, and its largest value.
  int64_t chunk_bytes = 0;
  int64_t largest_bytes = 0;
  int loops = 0;
  std::vector<std::string> sources;  // The user's lines that run in the loops, each once.
  int repeated = 0;                  // Ops that run in more than one loop.
  std::vector<std::string> repeated_sources;
  // How often an op was cut in which way: "stablehlo.dot_general sum", "stablehlo.add carried".
  std::map<std::string, int> ops;
};

// A value that is computed anew in each turn of the loops that read it.
struct RecomputedValue {
  NamedValue value;
  int loops = 0;
};

// A value that could not be cut, and why.
struct RefusedCut {
  NamedValue value;
  std::string reason;

  bool operator==(const RefusedCut&) const = default;
};

struct BlockPlan {
  std::vector<MadeCut> made;
  std::vector<RecomputedValue> recomputed;
  std::vector<RefusedCut> refused;

  bool has_changes() const { return !made.empty() || !recomputed.empty(); }
};

// Changes the block in place. The budget is for temporaries alone. What could not be cut is in the
// plan; whether the result fits is for XLA to say.
StatusOr<BlockPlan> PlanBlock(Context& context, Block& block, const ChunkOptions& options);

}  // namespace plimsoll

#endif  // PLIMSOLL_PLAN_PLAN_BLOCK_H_
