#include "plan/simplify.h"

#include <optional>
#include <string>
#include <utility>

#include "analysis/effects.h"
#include "analysis/peak.h"
#include "analysis/run_time.h"
#include "ir/verify.h"
#include "rewrite/drop_assumptions.h"
#include "rewrite/normalize.h"
#include "rewrite/rule_table.h"

namespace plimsoll {
namespace {

// Below this, a program that fits is left as it is.
constexpr double kSureGain = 1.1;
// The same for kernels, whose time is compared with that of XLA's code: the estimates have less in
// common.
constexpr double kSureGainOfKernels = 1.5;
// A peak may be larger by so much and turn out to be the same or less: both are estimates, and what
// XLA needs for both programs decides.
constexpr int64_t kDoubtfulBytes = 64 << 10;
constexpr double kDoubtfulRatio = 1.5;

bool IsSurelyLarger(int64_t peak, int64_t than) {
  return static_cast<double>(peak) > static_cast<double>(than) * kDoubtfulRatio + kDoubtfulBytes;
}

// Where they are surely faster.
Status AddKernels(SimplifiedModule& simplified, const KernelCosts& costs) {
  Module& module = *simplified.module;
  Block& body = *module.main()->entry_block();
  ASSIGN_OR_RETURN(
      simplified.kernels,
      InsertKernels(module.context(), body, {.least_gain = kSureGainOfKernels, .costs = costs}));
  if (simplified.kernels.inserted.empty()) return OkStatus();
  RETURN_IF_ERROR(Verify(module));
  simplified.peak_after = PeakOf(body).bytes;
  simplified.seconds_after = SecondsOf(body);
  simplified.flops_after = FlopsOf(body);
  return OkStatus();
}

}  // namespace

RuleOptions WithoutRules(RuleOptions options) {
  for (const Rule& rule : AllRules()) options.disabled.emplace_back(rule.name);
  options.user_rules.clear();
  return options;
}

bool SimplifiedModule::IsSurelyFaster() const {
  return !kernels.inserted.empty() ||
         (!report.fired.empty() && seconds_after * kSureGain <= seconds_before);
}

StatusOr<SimplifiedModule> Simplify(const Module& program, const RuleOptions& options) {
  SimplifiedModule simplified;
  simplified.module = program.Clone();
  Normalize(*simplified.module);
  std::unique_ptr<Module> rewritten = simplified.module->Clone();
  DropAssumptions(simplified.module->op());
  const Op* main = simplified.module->main();
  if (main == nullptr || main->entry_block() == nullptr) return simplified;
  simplified.peak_before = simplified.peak_after = PeakOf(*main->entry_block()).bytes;
  simplified.seconds_before = simplified.seconds_after = SecondsOf(*main->entry_block());
  simplified.can_be_tried = CanBeTried(*main->entry_block());
  simplified.flops_before = simplified.flops_after = FlopsOf(*main->entry_block());
  ASSIGN_OR_RETURN(simplified.report, ApplyRules(*rewritten, AllRules(), options));
  DropAssumptions(rewritten->op());
  if (simplified.report.fired.empty()) return simplified;
  RETURN_IF_ERROR(Verify(*rewritten));
  const Block& body = *rewritten->main()->entry_block();
  const int64_t peak = PeakOf(body).bytes;
  if (IsSurelyLarger(peak, simplified.peak_before)) {
    for (const FiredRule& fired : simplified.report.fired) {
      simplified.report.refused.push_back({.rule = fired.rule,
                                           .source = fired.source,
                                           .reason = "more would live at once than before"});
    }
    simplified.report.fired.clear();
    return simplified;
  }
  simplified.peak_after = peak;
  simplified.seconds_after = SecondsOf(body);
  simplified.flops_after = FlopsOf(body);
  simplified.module = std::move(rewritten);
  return simplified;
}

StatusOr<SimplifiedModule> SpeedUp(const Module& program, const SpeedOptions& options) {
  ASSIGN_OR_RETURN(SimplifiedModule simplified, Simplify(program, options.rules));
  const bool has_kernels = options.kernel_costs.tiles != nullptr;
  if (!has_kernels || simplified.module->main() == nullptr) return simplified;
  // What algebra is worth may show only with kernels: what spares memory may spare one of them.
  RuleOptions for_space = options.rules;
  for_space.goal = RuleGoal::kSpace;
  std::optional<SimplifiedModule> fastest;
  for (const RuleOptions& rules : {WithoutRules(options.rules), options.rules, for_space}) {
    ASSIGN_OR_RETURN(SimplifiedModule made, Simplify(program, rules));
    if (fastest && made.report.fired.empty()) continue;
    RETURN_IF_ERROR(AddKernels(made, options.kernel_costs));
    if (!fastest || made.seconds_after * kSureGain <= fastest->seconds_after) {
      fastest = std::move(made);
    }
  }
  if (!fastest->IsSurelyFaster()) {
    simplified.kernels = std::move(fastest->kernels);
    return simplified;
  }
  // Those that were left out are told of in any case.
  if (fastest->report.fired.empty()) fastest->report.refused = std::move(simplified.report.refused);
  return *std::move(fastest);
}

}  // namespace plimsoll
