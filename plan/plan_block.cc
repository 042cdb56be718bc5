#include "plan/plan_block.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "analysis/block_view.h"
#include "analysis/cut.h"
#include "analysis/effects.h"
#include "analysis/peak.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "plan/axis_origin.h"
#include "split/cut_block.h"
#include "split/recompute_value.h"
#include "split/sink_into_loop.h"

namespace plimsoll {
namespace {

// A plan of more cuts than this has lost its way.
constexpr int kMostCuts = 64;
// And so has one that computes more values than this twice.
constexpr int kMostRecomputed = 16;

std::string Describe(const Value& value) {
  const NamedValue named = NameOf(value);
  return StrCat(named.type, named.source.empty() ? "" : StrCat(" (", named.source, ")"));
}

void AddOnce(std::vector<std::string>& lines, const std::string& line) {
  if (!line.empty() && !llvm::is_contained(lines, line)) lines.push_back(line);
}

// What becomes of the axis in an op's results.
std::string KindOf(const Factor& factor) {
  const bool is_partial = llvm::is_contained(factor.results, kPartial);
  const bool is_carried =
      llvm::any_of(factor.results, [](int dimension) { return dimension >= 0; });
  if (!is_partial) return is_carried ? "carried" : "same";
  return StrCat(Name(factor.combination), is_carried ? " and carried" : "");
}

// Of all cuts around one value, the best.
struct Candidate {
  Cut cut;
  CutCost cost;
};

bool IsBetter(const CutCost& a, const CutCost& b, bool cuts_again) {
  // Differences that estimates do not tell apart do not count.
  const int64_t most = std::max(a.excess, b.excess);
  if (!cuts_again && std::abs(a.excess - b.excess) > most / 10) return a.excess < b.excess;
  return a.seconds < b.seconds;
}

class BlockPlanner {
 public:
  BlockPlanner(Context& context, Block& block, const ChunkOptions& options)
      : context_(context), block_(block), options_(options) {
    for (size_t i = 0; i < block.argument_count(); ++i) existing_.insert(block.argument(i));
    for (const Value* value : block.last()->operands()) existing_.insert(value);
  }

  StatusOr<BlockPlan> Run() {
    for (int cuts = 0; cuts < kMostCuts; ++cuts) {
      // The block has changed.
      view_.reset();
      const Peak peak = PeakOf(block_);
      bool has_changed = false;
      if (peak.bytes > options_.budget) {
        ASSIGN_OR_RETURN(has_changed, Attack(peak.alive, peak));
      }
      if (!has_changed && options_.most_whole_bytes < INT64_MAX) {
        ASSIGN_OR_RETURN(has_changed, Attack(TooLargeValues(block_), peak));
      }
      if (!has_changed) break;
    }
    return std::move(plan_);
  }

 private:
  // Values that are larger than any may be, in the order of the block.
  std::vector<LiveValue> TooLargeValues(const Block& block) const {
    std::vector<LiveValue> values;
    const llvm::DenseSet<const Value*> materialized = MaterializedValues(block);
    for (const Op& op : block) {
      for (const Value* value : op.results()) {
        const int64_t bytes = BytesOf(*value);
        if (bytes > options_.most_whole_bytes && materialized.contains(value)) {
          values.push_back({.value = value, .bytes = bytes});
        }
      }
      if (op.Is(Opcode::kWhile)) {
        llvm::append_range(values, TooLargeValues(op.region(1).front()));
      }
    }
    return values;
  }

  // Cuts around one of the values. False if none can be cut. Rather something is computed twice
  // than something big kept, so values may be kept only after all others were tried.
  StatusOr<bool> Attack(const std::vector<LiveValue>& values, const Peak& peak) {
    const int64_t threshold = std::max<int64_t>(
        std::min(options_.budget / options_.big_share, options_.most_whole_bytes), 1);
    for (const bool may_keep : {false, true}) {
      for (const auto& [value, bytes] : values) {
        if (bytes <= threshold) break;
        ASSIGN_OR_RETURN(const bool has_changed, AttackOne(*value, threshold, peak, may_keep));
        if (has_changed) return true;
      }
    }
    return false;
  }

  StatusOr<bool> AttackOne(const Value& value, int64_t threshold, const Peak& peak, bool may_keep) {
    if (value.block() != &block_) {
      const Op* holder = HolderOf(value);
      if (holder == nullptr) return false;
      return AttackInside(*holder, peak.bytes);
    }
    if (existing_.contains(&value) || value.is_argument()) return false;
    if (!(may_keep ? tried_keeping_ : tried_).insert(&value).second) return false;
    Refusal conflict;
    const int64_t bytes = BytesOf(value);
    const int64_t kept = options_.kept_share > 0 ? bytes / options_.kept_share : 0;
    const int64_t most_given_up = may_keep ? bytes : std::max(options_.budget / 4, kept);
    ASSIGN_OR_RETURN(const bool has_changed,
                     CutAround(value, threshold, peak, most_given_up, conflict));
    if (has_changed) return true;
    if (!may_keep && (Sink(value, threshold) || Recompute(threshold, conflict))) {
      // What stood in the way of others may be gone.
      tried_.clear();
      return true;
    }
    if (may_keep) Refuse({.value = NameOf(value), .reason = conflict.reason});
    return false;
  }

  // The op of this block that the value is inside of; null if it comes from outside of the block.
  const Op* HolderOf(const Value& value) const {
    const Op* op = value.block()->parent();
    while (op != nullptr && op->block() != &block_) op = op->parent();
    return op;
  }

  // The values are inside of a loop that the program or an earlier cut made.
  StatusOr<bool> AttackInside(const Op& holder, int64_t peak) {
    const bool is_loop = holder.Is(Opcode::kWhile);
    const bool is_choice = holder.Is(Opcode::kCase) || holder.Is(Opcode::kIf);
    if ((!is_loop && !is_choice) || !planned_.insert(&holder).second) return false;
    bool has_changed = false;
    // A loop's first region is its condition, which makes nothing big.
    for (size_t r = is_loop ? 1 : 0; r < holder.region_count(); ++r) {
      Block& block = holder.region(r).front();
      const int64_t inside = PeakOf(block).bytes;
      ChunkOptions options = options_;
      options.budget = std::max<int64_t>(options_.budget - std::max<int64_t>(peak - inside, 0),
                                         options_.budget / 4);
      ASSIGN_OR_RETURN(BlockPlan plan, PlanBlock(context_, block, options));
      has_changed |= plan.has_changes();
      llvm::append_range(plan_.made, plan.made);
      llvm::append_range(plan_.recomputed, plan.recomputed);
      for (RefusedCut& refused : plan.refused) Refuse(std::move(refused));
    }
    return has_changed;
  }

  // What lives at the worst moment and would not be touched by the cut.
  int64_t Remaining(const Cut& cut, const Peak& peak) const {
    int64_t bytes = 0;
    for (const LiveValue& live : peak.alive) {
      const bool is_here = live.value->block() == &block_;
      const Op* maker = is_here ? live.value->defining_op() : HolderOf(*live.value);
      // The accumulators are among what the cut costs.
      const bool is_cut = cut.dimensions.contains(live.value) || cut.ops.contains(maker);
      const bool is_counted = llvm::is_contained(cut.given_up, live.value);
      if (!is_cut && !is_counted) bytes += live.bytes;
    }
    return bytes;
  }

  // At most `most_given_up` bytes of other values may stay whole for it. If there is no cut,
  // `conflict` says why, for each dimension, with the first conflict that a copy might mend.
  StatusOr<bool> CutAround(const Value& seed, int64_t threshold, const Peak& peak,
                           int64_t most_given_up, Refusal& conflict) {
    if (!view_) {
      view_.emplace(block_);
      materialized_ = MaterializedValues(block_);
    }
    BigValues big = {.threshold = threshold, .existing = existing_};
    std::optional<Candidate> best;
    conflict = {.value = &seed, .reason = "", .contested = nullptr, .user = nullptr};
    for (int d = 0; d < static_cast<int>(seed.type().rank()); ++d) {
      if (seed.type().shape()[d] < 2) continue;
      Refusal refusal;
      std::optional<Cut> cut = FindCut(*view_, seed, d, big, most_given_up, refusal);
      if (!cut) {
        conflict.reason +=
            StrCat(conflict.reason.empty() ? "" : "; ", "dimension ", d, ": ", refusal.reason,
                   refusal.value == &seed || refusal.value == nullptr
                       ? ""
                       : StrCat(", which is ", Describe(*refusal.value)));
        if (conflict.user == nullptr) {
          conflict.contested = refusal.contested;
          conflict.user = refusal.user;
        }
        continue;
      }
      const CutCost cost = CostOf(*cut, options_, materialized_, existing_, Remaining(*cut, peak));
      if (!best || IsBetter(cost, best->cost, options_.cuts_again))
        best = {.cut = std::move(*cut), .cost = cost};
    }
    if (!best) return false;
    RETURN_IF_ERROR(Make(*best));
    return true;
  }

  // Makes a copy of a value that is wanted along two axes, for the op that wants it otherwise.
  bool Recompute(int64_t threshold, const Refusal& conflict) {
    if (conflict.user == nullptr || ++recomputed_ > kMostRecomputed) return false;
    const BigValues big = {.threshold = threshold, .existing = existing_};
    Op* user = block_.first();
    while (user != conflict.user) user = user->next();
    Value* contested = conflict.contested->defining_op()->result(conflict.contested->index());
    if (!RecomputeFor(*user, *contested, [&](const Value& other) { return big.IsBig(other); })) {
      return false;
    }
    plan_.recomputed.push_back({.value = NameOf(*contested), .loops = 0});
    RemoveDead();
    return true;
  }

  // Values that are alike are refused alike; it is told once.
  void Refuse(RefusedCut refused) {
    if (!llvm::is_contained(plan_.refused, refused)) plan_.refused.push_back(std::move(refused));
  }

  // Computes the value anew inside of the loops that read it.
  bool Sink(const Value& value, int64_t threshold) {
    if (!sunk_.insert(&value).second) return false;
    const BigValues big = {.threshold = threshold, .existing = existing_};
    for (const Op* user : BlockView(block_).UsersOf(value)) {
      if (!user->Is(Opcode::kWhile)) continue;
      planned_.erase(user);
      for (const Value* result : user->results()) Forget(*result);
    }
    const int changed = SinkIntoLoops(context_, block_, *value.defining_op()->result(value.index()),
                                      [&](const Value& other) { return big.IsBig(other); });
    for (const Value* result : block_.last()->operands()) existing_.insert(result);
    if (changed == 0) return false;
    // Without the loops in its way it may be cut after all.
    tried_.erase(&value);
    plan_.recomputed.push_back({.value = NameOf(value), .loops = changed});
    RemoveDead();
    return true;
  }

  // What only the loop had read is not made outside of it any more.
  void RemoveDead() {
    Op* op = block_.last()->previous();
    while (op != nullptr) {
      Op* previous = op->previous();
      const bool is_used =
          llvm::any_of(op->results(), [](const Value* result) { return result->has_uses(); });
      if (!is_used && !HasEffects(*op)) {
        planned_.erase(op);
        for (const Value* result : op->results()) Forget(*result);
        op->Erase();
      }
      op = previous;
    }
  }

  // The value may go, and another take its place in memory.
  void Forget(const Value& value) {
    existing_.erase(&value);
    tried_.erase(&value);
    tried_keeping_.erase(&value);
    sunk_.erase(&value);
  }

  Status Make(const Candidate& candidate) {
    const Cut& cut = candidate.cut;
    MadeCut made = {.value = NameOf(*cut.seed),
                    .dimension = cut.dimension,
                    .axis = AxisOrigin(cut),
                    .blocks = cut.blocks,
                    .chunk = candidate.cost.chunk,
                    .chunk_bytes = candidate.cost.chunk * candidate.cost.block_bytes,
                    .largest_bytes = candidate.cost.chunk * candidate.cost.largest_bytes,
                    .loops = 0,
                    .sources = {},
                    .repeated = 0,
                    .repeated_sources = {},
                    .ops = {}};
    llvm::DenseMap<const Op*, int> runs;
    for (const CutPass& pass : cut.passes) {
      made.loops += pass.ops.empty() ? 0 : 1;
      for (const Op* op : pass.ops) {
        const std::string line = SourceLine(op->location());
        AddOnce(made.sources, line);
        const int run = ++runs[op];
        if (run == 1) ++made.ops[StrCat(op->name(), " ", KindOf(cut.ops.find(op)->second.factor))];
        if (run != 2) continue;
        ++made.repeated;
        AddOnce(made.repeated_sources, line);
      }
    }
    // What the cut takes away may not be asked for again.
    for (const auto& [op, entry] : cut.ops) {
      planned_.erase(op);
      for (const Value* result : op->results()) Forget(*result);
    }
    ASSIGN_OR_RETURN(const std::vector<Op*> loops,
                     CutBlock(context_, block_, cut, candidate.cost.chunk));
    for (const Value* value : block_.last()->operands()) existing_.insert(value);
    plan_.made.push_back(std::move(made));
    return OkStatus();
  }

  Context& context_;
  Block& block_;
  const ChunkOptions& options_;
  // Of the block as it is now; none if it was not asked for.
  std::optional<BlockView> view_;
  llvm::DenseSet<const Value*> materialized_;
  llvm::DenseSet<const Value*> existing_;
  llvm::DenseSet<const Value*> tried_;
  llvm::DenseSet<const Value*> tried_keeping_;
  llvm::DenseSet<const Value*> sunk_;
  llvm::DenseSet<const Op*> planned_;
  int recomputed_ = 0;
  BlockPlan plan_;
};

}  // namespace

NamedValue NameOf(const Value& value) {
  std::string source = SourceLine(value.location());
  // What a framework makes on its own is best known by where it is used.
  for (const Operand* use = value.first_use(); source.empty() && use != nullptr;
       use = use->next_use()) {
    source = SourceLine(use->owner()->location());
  }
  return {.bytes = BytesOf(value), .type = value.type().ToString(), .source = std::move(source)};
}

StatusOr<BlockPlan> PlanBlock(Context& context, Block& block, const ChunkOptions& options) {
  return BlockPlanner(context, block, options).Run();
}

}  // namespace plimsoll
