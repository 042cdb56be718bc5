#include "plan/planner.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/peak.h"
#include "ir/verify.h"
#include "rewrite/fold_transposes.h"
#include "rewrite/inline_calls.h"
#include "rewrite/merge_equal_ops.h"
#include "rewrite/remove_dead_ops.h"
#include "rewrite/resolve_cases.h"
#include "rewrite/split_barriers.h"
#include "split/clamp_slices.h"

namespace plimsoll {
namespace {

// With the whole program's own compilation these are four in all. The last is the smallest program
// that is known, whatever the budget, so that what fits a limit fits every larger one.
constexpr int kMostAttempts = 3;
// Budgets for the smallest program, of which the one counts that leaves the least: with a small one
// more values are in the way of each other. It depends on nothing that was learned from the
// attempts before, so that the limit which it needs is one that it fits.
constexpr int64_t kLeastBudgets[] = {1 << 20, 4 << 20, 16 << 20, 64 << 20};
// Its chunks, as a part of the budget.
constexpr int64_t kLeastChunkShare = 4;
// How many values are told that hold the memory.
constexpr size_t kMostHeld = 5;
// How far below the budget the next attempt aims, after one that was over it.
constexpr double kCaution = 0.6;

void Normalize(Module& module) {
  InlineCalls(module);
  ResolveCases(module.op());
  SplitBarriers(module.op());
  FoldTransposes(module.context(), module.op());
  MergeEqualOps(module.op());
  RemoveDeadOps(module.op());
}

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

bool HaveSameAxes(const std::vector<MadeCut>& a, const std::vector<MadeCut>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const MadeCut& x, const MadeCut& y) {
    return x.value == y.value && x.dimension == y.dimension;
  });
}

}  // namespace

StatusOr<PlannedModule> Planner::Next() {
  PlannedModule planned;
  if (attempts_ == kMostAttempts) return planned;
  ++attempts_;
  if (attempts_ < kMostAttempts) {
    if (!copies_operands_ && scratch_ > 0 && needed_ - scratch_ <= options_.budget) {
      // It would fit but for the scratch, which a cut along other axes may need less of.
      copies_operands_ = true;
      ASSIGN_OR_RETURN(planned, Plan(options_));
      if (!HaveSameAxes(planned.plan.made, last_made_)) return Keep(std::move(planned));
    }
    if (needed_ > 0) Tighten();
    ASSIGN_OR_RETURN(planned, Plan(options_));
    return Keep(std::move(planned));
  }
  copies_operands_ = true;
  for (const int64_t budget : kLeastBudgets) {
    PlannerOptions options = options_;
    options.budget = budget;
    options.best_chunk_bytes = budget / kLeastChunkShare;
    ASSIGN_OR_RETURN(PlannedModule other, Plan(options));
    const bool is_smaller = other.plan.has_changes() && other.peak_after < planned.peak_after;
    if (planned.module == nullptr || is_smaller) {
      planned = std::move(other);
    }
  }
  return planned;
}

PlannedModule Planner::Keep(PlannedModule planned) {
  last_made_ = planned.plan.made;
  last_estimate_ = planned.peak_after;
  return planned;
}

void Planner::Tighten() {
  const auto scaled = [this](int64_t bytes, int64_t aimed) {
    const double scale = std::min(1.0, static_cast<double>(aimed) / static_cast<double>(needed_));
    return std::max<int64_t>(1,
                             static_cast<int64_t>(static_cast<double>(bytes) * scale * kCaution));
  };
  options_.best_chunk_bytes = scaled(options_.best_chunk_bytes, options_.budget);
  // What was thought of the last program and what it needs tell how far off the next one may be.
  options_.budget = scaled(options_.budget, std::min(options_.budget, last_estimate_));
}

StatusOr<PlannedModule> Planner::Plan(const PlannerOptions& options) {
  PlannedModule planned;
  std::unique_ptr<Module> module = program_.Clone();
  if (DeviceCount(*module) > 1) {
    planned.reason = "programs for several devices are not cut yet";
    planned.module = std::move(module);
    attempts_ = kMostAttempts;
    return planned;
  }
  Normalize(*module);
  Op* main = module->main();
  if (main == nullptr || main->entry_block() == nullptr) return planned;
  Block& body = *main->entry_block();
  planned.peak_before = PeakOf(body).bytes;
  const ChunkOptions chunk_options = {
      .budget = options.budget,
      .best_bytes = options.best_chunk_bytes,
      .most_bytes = std::min(options.most_chunk_bytes, options.most_value_bytes),
      .most_whole_bytes = options.most_value_bytes,
      .copies_operands = copies_operands_};
  ASSIGN_OR_RETURN(planned.plan, PlanBlock(module->context(), body, chunk_options));
  if (planned.plan.has_changes()) {
    RETURN_IF_ERROR(ClampSlices(module->context(), module->op()));
  }
  RemoveDeadOps(module->op());
  RETURN_IF_ERROR(Verify(*module));
  const Peak peak = PeakOf(body);
  planned.peak_after = peak.bytes;
  planned.held = HeldValues(peak, body, planned.plan);
  planned.module = std::move(module);
  return planned;
}

}  // namespace plimsoll
