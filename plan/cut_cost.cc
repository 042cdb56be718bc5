#include "plan/cut_cost.h"

#include <algorithm>
#include <cmath>

#include "analysis/peak.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Rates of a plain processor core or two. Only ratios matter.
constexpr double kProductsPerSecond = 5e10;
constexpr double kElementsPerSecond = 1e9;
constexpr double kBytesPerSecond = 5e9;
// What each op of a loop's body takes even if it has next to nothing to do.
constexpr double kSecondsPerOp = 1e-6;
// Chunks smaller than this, or this part of the budget, save nothing that counts.
constexpr int64_t kSmallChunk = 128 << 10;
constexpr int64_t kSmallShare = 16;
// Lists of the best that are merged chunk by chunk take this much longer than one list.
constexpr double kMergedLists = 1.5;

double ElementCount(const Value& value) {
  return static_cast<double>(value.type().element_count().value_or(0));
}

// How long the op takes as a whole.
double SecondsOf(const Op& op) {
  double elements = 0;
  for (const Value* result : op.results()) elements += ElementCount(*result);
  switch (op.opcode()) {
    case Opcode::kDotGeneral: {
      // Each element of the result is a sum over what both operands share.
      double contracted = 1;
      const auto dimensions =
          op.Get("dot_dimension_numbers").Find("lhs_contracting_dimensions").integers();
      for (const int64_t d : dimensions) {
        contracted *= static_cast<double>(op.operand(0)->type().shape()[d]);
      }
      return elements * contracted / kProductsPerSecond;
    }
    case Opcode::kConvolution: {
      const double kernel = ElementCount(*op.operand(1));
      const int64_t features =
          op.Get("dimension_numbers").Find("output_feature_dimension").integer();
      return elements * kernel /
             static_cast<double>(std::max<int64_t>(1, op.result(0)->type().shape()[features])) /
             kProductsPerSecond;
    }
    case Opcode::kExponential:
    case Opcode::kLog:
    case Opcode::kTanh:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kSine:
    case Opcode::kCosine:
      return elements * 4 / kElementsPerSecond;
    case Opcode::kReduce:
      return ElementCount(*op.operand(0)) / kElementsPerSecond;
    case Opcode::kSort:
    case Opcode::kChloTopK:
      return ElementCount(*op.operand(0)) * 20 / kElementsPerSecond;
    case Opcode::kWhile: {
      // How often it runs is not known; what matters is that it is not for nothing.
      double seconds = 0;
      for (const Op& inner : op.region(1).front()) seconds += SecondsOf(inner);
      return seconds * 10;
    }
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kBroadcastInDim:
    case Opcode::kReshape:
      return 0;
    default:
      return elements / kElementsPerSecond;
  }
}

// What a chunk of one block lives on in a pass.
class PassMemory {
 public:
  PassMemory(const Cut& cut, const CutPass& pass, const llvm::DenseSet<const Value*>& materialized)
      : cut_(cut), pass_(pass), materialized_(materialized) {}

  void Run() {
    llvm::DenseMap<const Value*, const Op*> last_use;
    const llvm::DenseSet<const Op*> ops(pass_.ops.begin(), pass_.ops.end());
    for (const Op* op : pass_.ops) {
      for (const Value* operand : op->operands()) last_use[operand] = op;
    }
    for (const Op* op : pass_.ops) {
      const Factor& factor = cut_.ops.find(op)->second.factor;
      int64_t inside = 0;
      if (op->Is(Opcode::kWhile)) {
        inside = PeakOf(op->region(1).front()).bytes / cut_.blocks;
      }
      for (size_t i = 0; i < op->result_count(); ++i) {
        if (factor.results[i] < 0) continue;
        const int64_t bytes = BlockBytes(*op->result(i));
        live_ += bytes;
        largest_ = std::max(largest_, bytes);
      }
      most_ = std::max(most_, live_ + inside);
      largest_ = std::max(largest_, inside);
      llvm::DenseSet<const Value*> seen;
      for (const Value* operand : op->operands()) {
        const auto last = last_use.find(operand);
        const bool is_made_here = ops.contains(operand->defining_op());
        if (last->second == op && is_made_here && seen.insert(operand).second &&
            cut_.dimensions.contains(operand)) {
          live_ -= BlockBytes(*operand);
        }
      }
    }
  }

  int64_t most() const { return most_; }
  int64_t largest() const { return largest_; }

 private:
  // Fused values may still be made here and there: they count a quarter.
  int64_t BlockBytes(const Value& value) const {
    const int64_t bytes = BytesOf(value) / cut_.blocks;
    return materialized_.contains(&value) ? bytes : bytes / 4;
  }

  const Cut& cut_;
  const CutPass& pass_;
  const llvm::DenseSet<const Value*>& materialized_;
  int64_t live_ = 0;
  int64_t most_ = 0;
  int64_t largest_ = 0;
};

// The largest operand of a product that every chunk needs the whole of. Only what comes from
// outside counts: other operands can be cut themselves.
int64_t LargestWholeOperand(const Cut& cut, const CutPass& pass) {
  int64_t bytes = 0;
  for (const Op* op : pass.ops) {
    if (!op->Is(Opcode::kDotGeneral)) continue;
    const Factor& factor = cut.ops.find(op)->second.factor;
    for (size_t i = 0; i < op->operand_count(); ++i) {
      const Value& operand = *op->operand(i);
      const bool is_from_outside = operand.is_argument() || operand.block() != op->block();
      if (factor.operands[i] == kWhole && is_from_outside) {
        bytes = std::max(bytes, BytesOf(operand));
      }
    }
  }
  return bytes;
}

// A chunk that divides the axis needs no loop's rest; a somewhat smaller one is worth it.
int64_t RoundToDivisor(int64_t chunk, int64_t blocks) {
  for (int64_t c = chunk; c > chunk / 2 && c > 0; --c) {
    if (blocks % c == 0) return c;
  }
  return chunk;
}

}  // namespace

CutCost CostOf(const Cut& cut, const ChunkOptions& options,
               const llvm::DenseSet<const Value*>& materialized,
               const llvm::DenseSet<const Value*>& existing, int64_t remaining) {
  CutCost cost;
  for (const Value* value : cut.given_up) cost.whole_bytes += BytesOf(*value);
  int64_t accumulators = 0;
  int64_t copied = 0;
  int64_t largest = 1;
  double seconds = 0;
  size_t ops = 0;
  llvm::DenseSet<const Op*> seen;
  for (const CutPass& pass : cut.passes) {
    if (pass.ops.empty()) continue;
    int64_t accumulated = 0;
    for (const Op* op : pass.accumulated) {
      for (const Value* result : op->results()) {
        if (cut.ops.find(op)->second.factor.results[result->index()] == kPartial) {
          accumulated += BytesOf(*result);
          if (!existing.contains(result)) cost.whole_bytes += BytesOf(*result);
        }
      }
    }
    accumulators = std::max(accumulators, accumulated);
    for (const Value* value : pass.written) {
      if (!existing.contains(value)) cost.whole_bytes += BytesOf(*value);
    }
    if (options.copies_operands) copied = std::max(copied, LargestWholeOperand(cut, pass));
    PassMemory memory(cut, pass, materialized);
    memory.Run();
    cost.block_bytes = std::max(cost.block_bytes, memory.most());
    largest = std::max(largest, memory.largest());
    for (const Op* op : pass.ops) {
      const bool merges = cut.ops.find(op)->second.factor.combination == Combination::kTopK;
      // Without the cut it would run once as well.
      const double runs = (merges ? kMergedLists : 1) - (seen.insert(op).second ? 1 : 0);
      seconds += SecondsOf(*op) * runs;
    }
    ops += pass.ops.size();
  }
  cost.whole_bytes += copied;
  cost.block_bytes = std::max<int64_t>(cost.block_bytes, 1);
  const int64_t room = options.budget - remaining - cost.whole_bytes;
  cost.excess = std::max<int64_t>(0, cost.block_bytes - room);
  const int64_t best = std::max(options.best_bytes, 4 * accumulators) / largest;
  // Other cuts will make room as well, so what lives beside is not all held against this one.
  const int64_t share = std::max(room, (options.budget - cost.whole_bytes) / 2);
  const int64_t least = std::min(kSmallChunk, options.budget / kSmallShare) / cost.block_bytes;
  const int64_t most =
      std::min(std::max(share / cost.block_bytes, least), options.most_bytes / largest);
  // A cut is made because there is too much at once: at least two chunks of one size, or there
  // would be no loop.
  cost.chunk = std::clamp<int64_t>(std::min(best, most), 1, cut.blocks / 2);
  cost.chunk = RoundToDivisor(cost.chunk, cut.blocks);
  const double turns = std::ceil(static_cast<double>(cut.blocks) / static_cast<double>(cost.chunk));
  const double traffic = turns * static_cast<double>(accumulators) / kBytesPerSecond;
  cost.seconds = seconds + traffic + turns * kSecondsPerOp * static_cast<double>(ops);
  return cost;
}

}  // namespace plimsoll
