#include "plan/cut_cost.h"

#include <algorithm>
#include <cmath>

#include "analysis/peak.h"
#include "analysis/run_time.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "split/cut_block.h"

namespace plimsoll {
namespace {

constexpr double kBytesPerSecond = 5e9;
// Chunks smaller than this, or this part of the budget, save nothing that counts.
constexpr int64_t kSmallChunk = 128 << 10;
constexpr int64_t kSmallShare = 16;
// Lists of the best that are merged chunk by chunk take this much longer than one list.
constexpr double kMergedLists = 1.5;

// Whether a turn of the loop reads or writes only a slice of the value at this place.
bool IsSlicedInside(const Op& loop, size_t place) {
  const Block& body = loop.region(1).front();
  for (const Operand* use = body.argument(place)->first_use(); use != nullptr;
       use = use->next_use()) {
    const Op& user = *use->owner();
    const bool slices = user.Is(Opcode::kDynamicSlice) || user.Is(Opcode::kDynamicUpdateSlice);
    if ((!slices || user.operand(0) != body.argument(place)) && &user != body.last()) return false;
  }
  return true;
}

// Whether loops make or read the value slice by slice: then it need not stay in the cache.
bool PassesBy(const Value& value) {
  const Op& maker = *value.defining_op();
  if (maker.Is(Opcode::kWhile)) return IsSlicedInside(maker, value.index());
  if (!value.has_uses()) return false;
  for (const Operand* use = value.first_use(); use != nullptr; use = use->next_use()) {
    const Op& user = *use->owner();
    if (!user.Is(Opcode::kWhile) || user.block() != maker.block()) return false;
    for (size_t i = 0; i < user.operand_count(); ++i) {
      if (user.operand(i) == &value && !IsSlicedInside(user, i)) return false;
    }
  }
  return true;
}

// What a chunk of one block lives on in a pass.
class PassMemory {
 public:
  PassMemory(const Cut& cut, const CutPass& pass, const llvm::DenseSet<const Value*>& materialized)
      : cut_(cut),
        pass_(pass),
        materialized_(materialized),
        ops_(pass.ops.begin(), pass.ops.end()) {}

  void Run() {
    for (const Op* op : pass_.ops) {
      for (const Value* operand : op->operands()) last_use_[operand] = op;
    }
    for (const Op* op : pass_.ops) {
      const Factor& factor = cut_.ops.find(op)->second.factor;
      const bool is_loop = op->Is(Opcode::kWhile);
      const int64_t inside = is_loop ? PeakOf(op->region(1).front()).bytes / cut_.blocks : 0;
      int64_t reused = 0;
      for (size_t i = 0; i < op->result_count(); ++i) {
        if (factor.results[i] < 0) continue;
        const int64_t bytes = BlockBytes(*op->result(i));
        live_ += bytes;
        if (!PassesBy(*op->result(i))) largest_ = std::max(largest_, bytes);
        // A loop's result takes the place of what it starts from.
        if (is_loop && EndsAt(*op->operand(i), *op)) {
          reused += std::min(bytes, BlockBytes(*op->operand(i)));
        }
      }
      most_ = std::max(most_, live_ - reused + inside);
      largest_ = std::max(largest_, inside);
      llvm::DenseSet<const Value*> seen;
      for (const Value* operand : op->operands()) {
        if (EndsAt(*operand, *op) && seen.insert(operand).second) live_ -= BlockBytes(*operand);
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

  // Whether the value is the chunk's own, and the op is the last one to read it.
  bool EndsAt(const Value& value, const Op& op) const {
    return last_use_.lookup(&value) == &op && cut_.dimensions.contains(&value) &&
           ops_.contains(value.defining_op());
  }

  const Cut& cut_;
  const CutPass& pass_;
  const llvm::DenseSet<const Value*>& materialized_;
  llvm::DenseSet<const Op*> ops_;
  llvm::DenseMap<const Value*, const Op*> last_use_;
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

// With what is known of its blocks.
void ChooseChunk(const Cut& cut, const ChunkOptions& options, int64_t remaining,
                 int64_t accumulators, CutCost& cost) {
  const int64_t room = options.budget - remaining - cost.whole_bytes;
  cost.excess = std::max<int64_t>(0, cost.block_bytes - room);
  const int64_t best = std::max(options.best_bytes, 4 * accumulators) / cost.largest_bytes;
  // Other cuts will make room as well, so what lives beside is not all held against this one.
  const int64_t share = std::max(room, (options.budget - cost.whole_bytes) / 2);
  const int64_t least = std::min(kSmallChunk, options.budget / kSmallShare) / cost.block_bytes;
  const int64_t most =
      std::min(std::max(share / cost.block_bytes, least), options.most_bytes / cost.largest_bytes);
  // A cut is made because there is too much at once: at least two chunks of one size, or there
  // would be no loop.
  cost.chunk = std::clamp<int64_t>(std::min(best, most), 1, cut.blocks / 2);
  // What is left over for the end may live beside a chunk.
  while (cost.chunk > 1 && cost.chunk + cut.blocks % cost.chunk > most) --cost.chunk;
  cost.chunk = RoundToDivisor(cost.chunk, cut.blocks);
}

}  // namespace

CutCost CostOf(const Cut& cut, const ChunkOptions& options,
               const llvm::DenseSet<const Value*>& materialized,
               const llvm::DenseSet<const Value*>& existing, int64_t remaining) {
  CutCost cost;
  for (const Value* value : cut.given_up) cost.whole_bytes += BytesOf(*value);
  int64_t accumulators = 0;
  int64_t compensations = 0;
  int64_t copied = 0;
  cost.largest_bytes = 1;
  double seconds = 0;
  size_t ops = 0;
  llvm::DenseSet<const Op*> seen;
  for (const CutPass& pass : cut.passes) {
    if (pass.ops.empty()) continue;
    int64_t accumulated = 0;
    for (const Op* op : pass.accumulated) {
      const Factor& factor = cut.ops.find(op)->second.factor;
      for (const Value* result : op->results()) {
        if (factor.results[result->index()] != kPartial) continue;
        accumulated += BytesOf(*result);
        if (!existing.contains(result)) cost.whole_bytes += BytesOf(*result);
        if (IsSumOfFloats(*op, factor, result->index())) compensations += BytesOf(*result);
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
    cost.largest_bytes = std::max(cost.largest_bytes, memory.largest());
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
  ChooseChunk(cut, options, remaining, accumulators, cost);
  if (compensations > 0 && cut.blocks / cost.chunk > kManyTurns) {
    cost.whole_bytes += compensations;
    accumulators += compensations;
    ChooseChunk(cut, options, remaining, accumulators, cost);
  }
  const double turns = std::ceil(static_cast<double>(cut.blocks) / static_cast<double>(cost.chunk));
  const double traffic = turns * static_cast<double>(accumulators) / kBytesPerSecond;
  cost.seconds = seconds + traffic + turns * kSecondsPerOp * static_cast<double>(ops);
  return cost;
}

}  // namespace plimsoll
