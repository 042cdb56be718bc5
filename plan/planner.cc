#include "plan/planner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/library_sums.h"
#include "analysis/peak.h"
#include "analysis/run_time.h"
#include "ir/verify.h"
#include "kernels/staged_program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "plan/sink_invariants.h"
#include "rewrite/remove_dead_ops.h"
#include "split/clamp_slices.h"

namespace plimsoll {
namespace {

// With the whole program's own compilation these are five in all. The last is the smallest program
// that is known, whatever the budget, so that what fits a limit fits every larger one.
constexpr int kMostAttempts = 4;
// Budgets for the smallest program, of which the one counts that leaves the least: with a small one
// more values are in the way of each other. It depends on nothing that was learned from the
// attempts before, so that the limit which it needs is one that it fits.
constexpr int64_t kLeastBudgets[] = {256 << 10, 4 << 20, 64 << 20};
// Its chunks, as a part of the budget.
constexpr int64_t kLeastChunkShare = 4;
// Of two such programs, a ratio of memory to this power counts as much as one of times.
constexpr double kSmallPower = 4;
// How many values are told that hold the memory.
constexpr size_t kMostHeld = 5;
// How far below the budget the next attempt aims, after one that was over it: with smaller chunks,
// or with a smaller budget for all.
constexpr double kChunkCaution = 0.85;
constexpr double kBudgetCaution = 0.6;
// Chunks that would have to shrink to less than this part are not what takes the memory.
constexpr double kLeastChunkScale = 0.1;
// Which values are worth a cut, and what may stay whole for one: no choice is the best for all
// programs.
constexpr Strategy kStrategies[] = {
    {.big_share = 8, .kept_share = 0, .cuts_again = false},
    {.big_share = 8, .kept_share = 0, .cuts_again = true},
    {.big_share = 64, .kept_share = 0, .cuts_again = false},
    {.big_share = 8, .kept_share = 8, .cuts_again = false},
    {.big_share = 3, .kept_share = 0, .cuts_again = false},
};
// The first of them leave the least whole.
constexpr size_t kLeastStrategies = 3;
// The step between smaller budgets, from that of one chunk on, for which plans are made as well:
// what is cut more stays in the cache, and a program that runs fast under a small limit should do
// so under every larger one.
constexpr int64_t kBudgetStep = 4;
// With more ops there are fewer plans, so that planning takes no longer than XLA does.
constexpr int64_t kManyOps = 1000;
// A kernel that takes longer than XLA takes longer than a loop of chunks, too.
constexpr double kLeastGain = 1;
// Times of kernels and of XLA's code are estimated in two ways, which err by some percent: a plan
// with kernels is to be faster by this factor.
constexpr double kKernelCaution = 1.2;
// Smaller values that loops read stay in the caches.
constexpr int64_t kLeastSunk = 256 << 10;
// A plan that fits and takes at most this much longer than the whole program is good enough.
constexpr double kGoodEnough = 1.1;
// Estimates are off by some percent, so being somewhat over the budget is traded for time: the
// ratio to this power counts as much as a ratio of times.
constexpr double kOverPower = 8;
// The estimated times are off as well: beyond what a few chunks take, a tenth of the memory counts
// as much as a seventh of the time.
constexpr double kUnderPower = 1.0 / 16;
constexpr int64_t kFewChunks = 16;

// How many devices the program is for.
int64_t DeviceCount(const Module& module) {
  int64_t count = 1;
  for (const std::string_view name : {"mhlo.num_partitions", "mhlo.num_replicas"}) {
    const Attribute number = module.op().Get(name);
    if (number && number.Is(AttributeKind::kInteger)) count *= number.integer();
  }
  return count;
}

std::string WhyHeld(const Value& value, const Block& body, const BlockPlan& plan) {
  const NamedValue named = NameOf(value);
  for (const RefusedCut& refused : plan.refused) {
    if (refused.value == named) return refused.reason;
  }
  if (value.block() != &body) return "it lives inside of a loop, whose turns are small already";
  const Op* op = value.defining_op();
  if (op != nullptr && op->Is(Opcode::kWhile)) return "a loop makes it, and it is needed whole";
  return "it is too small for a cut to help";
}

std::vector<HeldValue> HeldValues(const Peak& peak, const Block& body, const BlockPlan& plan) {
  std::vector<HeldValue> held;
  for (size_t i = 0; i < body.argument_count(); ++i) {
    held.push_back({.value = NameOf(*body.argument(i)),
                    .reason = StrCat("it is the argument ", ArgumentName(*body.argument(i)))});
  }
  for (const Value* result : body.last()->operands()) {
    if (result->is_argument()) continue;
    held.push_back({.value = NameOf(*result), .reason = "it is a result"});
  }
  for (const LiveValue& live : peak.alive) {
    NamedValue named = NameOf(*live.value);
    named.bytes = live.bytes;
    held.push_back({.value = std::move(named), .reason = WhyHeld(*live.value, body, plan)});
  }
  const size_t count = std::min(held.size(), kMostHeld);
  std::partial_sort(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(count), held.end(),
                    [](const HeldValue& a, const HeldValue& b) {
                      return std::tie(b.value.bytes, a.value.type, a.value.source, a.reason) <
                             std::tie(a.value.bytes, b.value.type, b.value.source, b.reason);
                    });
  held.resize(count);
  return held;
}

double SecondsWith(const PlannerOptions& options, const Block& body, int64_t temporary_bytes) {
  return SecondsOfProgram(body, options.has_fresh_temporaries ? temporary_bytes : 0);
}

// What speaks against a plan: the time that it takes, far more what it is over the budget, and a
// little what it needs within it.
double Badness(const PlannedModule& planned, const PlannerOptions& options) {
  const auto share = [&](int64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(1, options.budget));
  };
  const double over = std::pow(std::max(1.0, share(planned.peak_after)), kOverPower);
  const int64_t little = kFewChunks * options.best_chunk_bytes;
  const double caution = planned.kernels.inserted.empty() ? 1 : kKernelCaution;
  return caution * planned.seconds * over *
         std::pow(share(std::max(planned.peak_after, little)), kUnderPower);
}

// What speaks against a plan that is to be small: a little less memory is not worth any time.
double Cost(const PlannedModule& planned) {
  return std::pow(static_cast<double>(planned.peak_after), kSmallPower) * planned.seconds;
}

bool HaveSameAxes(const std::vector<MadeCut>& a, const std::vector<MadeCut>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const MadeCut& x, const MadeCut& y) {
    return x.value == y.value && x.dimension == y.dimension;
  });
}

// What a plan without kernels tells of them.
std::vector<RefusedKernel> LeftOut(const KernelReport& report) {
  std::vector<RefusedKernel> left_out = report.refused;
  for (const InsertedKernel& kernel : report.inserted) {
    if (kernel.spared_bytes == 0) continue;
    left_out.push_back({.bytes = kernel.spared_bytes,
                        .type = kernel.spared_type,
                        .location = kernel.location,
                        .reason = "a program without kernels is thought to be as fast"});
  }
  return left_out;
}

int64_t LargestScratch(const std::vector<InsertedKernel>& kernels) {
  int64_t largest = 0;
  for (const InsertedKernel& kernel : kernels) largest = std::max(largest, kernel.scratch_bytes);
  return largest;
}

}  // namespace

StatusOr<PlannedModule> Planner::Next() {
  PlannedModule planned;
  if (attempts_ == kMostAttempts) return planned;
  if (DeviceCount(program_) > 1) {
    attempts_ = kMostAttempts;
    planned.reason = "programs for several devices are not cut yet";
    planned.module = program_.Clone();
    return planned;
  }
  if (bases_.empty()) RETURN_IF_ERROR(MakeBases());
  if (bases_.front().simplified.module->main() == nullptr) return planned;
  ++attempts_;
  if (attempts_ == kMostAttempts) {
    ASSIGN_OR_RETURN(planned, Smallest());
    return Finish(std::move(planned));
  }
  if (!copies_operands_ && scratch_ > 0 && needed_ - scratch_ <= options_.budget) {
    // It would fit but for the scratch, which a cut along other axes may need less of.
    copies_operands_ = true;
    ASSIGN_OR_RETURN(planned, Fastest());
    if (!HaveSameAxes(planned.plan.made, last_made_)) return Finish(std::move(planned));
  }
  if (needed_ > 0) Tighten();
  ASSIGN_OR_RETURN(planned, Fastest());
  return Finish(std::move(planned));
}

Status Planner::MakeBases() {
  ASSIGN_OR_RETURN(SimplifiedModule normal, Simplify(program_, WithoutRules(options_.rules)));
  ASSIGN_OR_RETURN(SimplifiedModule simplified, Simplify(program_, options_.rules));
  bases_.push_back({.simplified = std::move(normal), .recomputed = {}, .kernels = {}});
  refused_rules_ = std::move(simplified.report.refused);
  if (!simplified.report.fired.empty()) {
    bases_.push_back({.simplified = std::move(simplified), .recomputed = {}, .kernels = {}});
  }
  if (options_.kernel_costs.tiles == nullptr ||
      bases_.front().simplified.module->main() == nullptr) {
    return OkStatus();
  }
  for (size_t i = 0, count = bases_.size(); i < count; ++i) {
    const std::unique_ptr<Module> module = bases_[i].simplified.module->Clone();
    RETURN_IF_ERROR(AddKernels(i, *module, {}));
    const std::vector<RecomputedValue> recomputed =
        SinkInvariants(module->context(), *module->main()->entry_block(),
                       std::max(options_.budget / kStrategies[0].big_share, kLeastSunk));
    if (recomputed.empty()) continue;
    RemoveDeadOps(module->op());
    RETURN_IF_ERROR(AddKernels(i, *module, recomputed));
  }
  return OkStatus();
}

Status Planner::AddKernels(size_t number, const Module& module,
                           const std::vector<RecomputedValue>& recomputed) {
  // Kernels of stages are faster and take more scratch, so that others may fit where they do not.
  KernelCosts without_stages = options_.kernel_costs;
  without_stages.stages = nullptr;
  for (const KernelCosts* costs : {&options_.kernel_costs, &without_stages}) {
    ASSIGN_OR_RETURN(Base base, WithKernels(number, module, *costs, INT64_MAX));
    // Why there are none is told with the plan that does without.
    const bool is_first = recomputed.empty() && costs == &options_.kernel_costs;
    if (is_first) bases_[number].kernels.refused = LeftOut(base.kernels);
    const std::vector<InsertedKernel>& inserted = base.kernels.inserted;
    if (inserted.empty()) break;
    const bool has_stages =
        llvm::any_of(inserted, [](const auto& kernel) { return IsStagesText(kernel.program); });
    // With fewer threads there may be room for their scratch.
    const int64_t scratch = LargestScratch(inserted);
    const int64_t room = options_.budget - (base.simplified.peak_after - scratch);
    base.recomputed = recomputed;
    bases_.push_back(std::move(base));
    if (room < scratch) {
      ASSIGN_OR_RETURN(Base smaller, WithKernels(number, module, *costs, room));
      smaller.recomputed = recomputed;
      if (LargestScratch(smaller.kernels.inserted) < scratch) bases_.push_back(std::move(smaller));
    }
    if (!has_stages) break;
  }
  return OkStatus();
}

StatusOr<Planner::Base> Planner::WithKernels(size_t number, const Module& module,
                                             const KernelCosts& costs, int64_t most_scratch) const {
  Base base;
  base.simplified.module = module.Clone();
  base.simplified.report = bases_[number].simplified.report;
  base.simplified.peak_before = bases_[number].simplified.peak_before;
  Block& body = *base.simplified.module->main()->entry_block();
  ASSIGN_OR_RETURN(base.kernels,
                   InsertKernels(base.simplified.module->context(), body,
                                 {.least_gain = options_.wants_kernels ? 0 : kLeastGain,
                                  .most_scratch = most_scratch,
                                  .costs = costs}));
  if (base.kernels.inserted.empty()) return base;
  RETURN_IF_ERROR(Verify(*base.simplified.module));
  base.simplified.peak_after = PeakOf(body).bytes;
  return base;
}

void Planner::Tighten() {
  const auto scaled = [](int64_t bytes, double scale) {
    return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(bytes) * scale));
  };
  const auto budget = static_cast<double>(aim_.budget);
  const auto needed = static_cast<double>(needed_);
  const auto largest = llvm::max_element(
      last_made_, [](const MadeCut& a, const MadeCut& b) { return a.chunk_bytes < b.chunk_bytes; });
  if (largest != last_made_.end() && largest->chunk_bytes > last_estimate_ / 2) {
    // What was not thought to be in its chunks stays. They take the rest, and can be made smaller.
    const MadeCut& cut = *largest;
    const auto fixed = static_cast<double>(std::max<int64_t>(0, last_estimate_ - cut.chunk_bytes));
    const double scale = (budget * kChunkCaution - fixed) / std::max(1.0, needed - fixed);
    if (scale >= kLeastChunkScale) {
      aim_.most_chunk_bytes = scaled(cut.largest_bytes, std::min(1.0, scale));
      return;
    }
  }
  // What was thought of the last program and what it needs tell how far off the next one may be.
  const double off = std::min(budget, static_cast<double>(last_estimate_)) / needed;
  aim_.best_chunk_bytes =
      scaled(aim_.best_chunk_bytes, std::min(1.0, budget / needed) * kBudgetCaution);
  aim_.budget = scaled(aim_.budget, std::min(1.0, off) * kBudgetCaution);
}

StatusOr<PlannedModule> Planner::Fastest() const {
  PlannedModule best;
  const auto consider = [&](PlannedModule planned) {
    const bool is_first = best.module == nullptr || !best.has_changes();
    const bool is_better =
        planned.has_changes() && (is_first || Badness(planned, aim_) < Badness(best, aim_));
    if (best.module == nullptr || is_better) best = std::move(planned);
  };
  const bool has_bound = options_.most_value_bytes != INT64_MAX;
  // Those with kernels come last.
  const bool has_kernels = !bases_.back().kernels.inserted.empty();
  for (const Base& base : llvm::reverse(bases_)) {
    if (options_.wants_kernels && has_kernels && base.kernels.inserted.empty()) break;
    const Block& body = *base.simplified.module->main()->entry_block();
    const double seconds = SecondsWith(options_, body, base.simplified.peak_after);
    for (const Strategy& strategy : kStrategies) {
      ASSIGN_OR_RETURN(PlannedModule planned, Plan(base, aim_, strategy));
      consider(std::move(planned));
      const bool fits = best.peak_after <= aim_.budget;
      if (fits && best.seconds <= seconds * kGoodEnough) break;
    }
    // What fits is cut no more than a bound on single values asks for.
    if (has_bound && base.simplified.peak_after <= aim_.budget) continue;
    const llvm::ArrayRef<Strategy> all(kStrategies);
    const bool is_long = std::distance(body.begin(), body.end()) > kManyOps;
    const llvm::ArrayRef<Strategy> strategies = is_long ? all.take_front() : all;
    for (int64_t budget = options_.best_chunk_bytes; budget < aim_.budget; budget *= kBudgetStep) {
      PlannerOptions options = aim_;
      options.budget = budget;
      for (const Strategy& strategy : strategies) {
        ASSIGN_OR_RETURN(PlannedModule planned, Plan(base, options, strategy));
        consider(std::move(planned));
      }
    }
  }
  return best;
}

StatusOr<PlannedModule> Planner::Smallest() {
  copies_operands_ = true;
  PlannedModule smallest;
  for (const int64_t budget : kLeastBudgets) {
    PlannerOptions options = options_;
    options.budget = budget;
    options.best_chunk_bytes = budget / kLeastChunkShare;
    for (const Base& base : bases_) {
      for (const Strategy& strategy : llvm::ArrayRef(kStrategies).take_front(kLeastStrategies)) {
        ASSIGN_OR_RETURN(PlannedModule planned, Plan(base, options, strategy));
        const bool is_smaller = smallest.has_changes() ? Cost(planned) < Cost(smallest)
                                                       : planned.peak_after < smallest.peak_after;
        if (smallest.module == nullptr || (planned.has_changes() && is_smaller)) {
          smallest = std::move(planned);
        }
      }
    }
  }
  return smallest;
}

StatusOr<PlannedModule> Planner::Plan(const Base& base, const PlannerOptions& options,
                                      const Strategy& strategy) const {
  PlannedModule planned;
  planned.module = base.simplified.module->Clone();
  planned.kernels = base.kernels;
  planned.fired_rules = base.simplified.report.fired;
  planned.refused_rules = refused_rules_;
  Module& module = *planned.module;
  Block& body = *module.main()->entry_block();
  const ChunkOptions chunk_options = {
      .budget = options.budget,
      .best_bytes = options.best_chunk_bytes,
      .most_bytes = std::min(options.most_chunk_bytes, options.most_value_bytes),
      .most_whole_bytes = options.most_value_bytes,
      .copies_operands = copies_operands_,
      .big_share = strategy.big_share,
      .kept_share = strategy.kept_share,
      .cuts_again = strategy.cuts_again};
  ASSIGN_OR_RETURN(planned.plan, PlanBlock(module.context(), body, chunk_options));
  planned.plan.recomputed.insert(planned.plan.recomputed.begin(), base.recomputed.begin(),
                                 base.recomputed.end());
  RemoveDeadOps(module.op());
  planned.peak_after = PeakOf(body).bytes;
  planned.seconds = SecondsWith(options, body, planned.peak_after);
  return planned;
}

StatusOr<PlannedModule> Planner::Finish(PlannedModule planned) {
  last_made_ = planned.plan.made;
  last_estimate_ = planned.peak_after;
  planned.peak_before = bases_.front().simplified.peak_before;
  Module& module = *planned.module;
  if (planned.plan.has_changes()) {
    RETURN_IF_ERROR(ClampSlices(module.context(), module.op()));
  }
  RETURN_IF_ERROR(Verify(module));
  const Block& body = *module.main()->entry_block();
  planned.wants_library_sums = WantsLibrarySums(body);
  planned.can_be_tried = bases_.front().simplified.can_be_tried;
  planned.held = HeldValues(PeakOf(body), body, planned.plan);
  return planned;
}

}  // namespace plimsoll
