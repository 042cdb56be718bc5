#include "compile/plan_json.h"

#include <vector>

#include "compile/json.h"
#include "compile/user_rules.h"
#include "kernels/cpu/kernel_cost.h"
#include "kernels/cpu/kernel_times.h"
#include "llvm/ADT/STLExtras.h"
#include "rewrite/rule_table.h"

namespace plimsoll {
namespace {

// Of the planner and of algebra: kernels may be used, with so many threads.
constexpr std::string_view kKernelThreads = "kernel_threads";

Json NamedJson(const NamedValue& value) {
  return {{"bytes", value.bytes}, {"value", ToUtf8(value.type)}, {"source", ToUtf8(value.source)}};
}

Json WithReason(const NamedValue& value, const std::string& reason) {
  Json json = NamedJson(value);
  json["reason"] = ToUtf8(reason);
  return json;
}

Json LinesJson(const std::vector<std::string>& lines) {
  Json json = Json::array();
  for (const std::string& line : lines) json.push_back(ToUtf8(line));
  return json;
}

Json RuleCostJson(const RuleCost& cost) {
  return {{"seconds", cost.seconds}, {"flops", cost.flops}, {"largest", cost.largest_bytes}};
}

Json FiredJson(const std::vector<FiredRule>& rules) {
  Json json = Json::array();
  for (const FiredRule& fired : rules) {
    json.push_back({{"rule", ToUtf8(fired.rule)},
                    {"source", ToUtf8(fired.source)},
                    {"before", RuleCostJson(fired.before)},
                    {"after", RuleCostJson(fired.after)}});
  }
  return json;
}

Json RefusedJson(const std::vector<RefusedRule>& rules) {
  Json json = Json::array();
  for (const RefusedRule& refused : rules) {
    json.push_back({{"rule", ToUtf8(refused.rule)},
                    {"source", ToUtf8(refused.source)},
                    {"reason", ToUtf8(refused.reason)}});
  }
  return json;
}

// Options that the planner and algebra alone have in common: true if it is one of them.
StatusOr<bool> ReadRuleOption(const std::string& name, const Json& value, RuleOptions& options) {
  if (name == "strict") {
    if (!value.is_boolean()) return Status(ErrorCode::kBadArgument, "strict is true or false");
    options.is_strict = value.get<bool>();
    return true;
  }
  if (name != "disabled") return false;
  if (!value.is_array() ||
      !llvm::all_of(value, [](const Json& rule) { return rule.is_string(); })) {
    return Status(ErrorCode::kBadArgument, "disabled is a list of rules' names");
  }
  for (const Json& rule : value) {
    options.disabled.push_back(rule.get<std::string>());
    const std::string& name = options.disabled.back();
    const bool is_known =
        llvm::any_of(AllRules(), [&](const Rule& known) { return known.name == name; }) ||
        llvm::any_of(options.user_rules, [&](const auto& known) { return known->name() == name; });
    if (!is_known) {
      return Status(ErrorCode::kBadArgument,
                    StrCat("there is no rule called ", options.disabled.back()));
    }
  }
  return true;
}

Json KernelsJson(const KernelReport& report) {
  Json kernels = Json::array();
  for (const InsertedKernel& kernel : report.inserted) {
    kernels.push_back({{"bytes", kernel.spared_bytes},
                       {"source", ToUtf8(SourceLine(kernel.location))},
                       {"seconds", kernel.seconds},
                       {"program", ToUtf8(kernel.program)}});
  }
  return kernels;
}

Json RefusedJson(const KernelReport& report) {
  Json refused = Json::array();
  for (const RefusedKernel& kernel : report.refused) {
    refused.push_back({{"bytes", kernel.bytes},
                       {"value", ToUtf8(kernel.type)},
                       {"source", ToUtf8(SourceLine(kernel.location))},
                       {"reason", ToUtf8(kernel.reason)}});
  }
  return refused;
}

StatusOr<Json> ReadObject(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return Status(ErrorCode::kBadArgument, "the options are not a JSON object");
  return json;
}

}  // namespace

StatusOr<SpeedOptions> ReadSpeedOptions(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ReadObject(text));
  SpeedOptions options = {.rules = {.user_rules = UserRulesInForce()}, .kernel_costs = {}};
  for (const auto& [name, value] : json.items()) {
    ASSIGN_OR_RETURN(const bool is_known, ReadRuleOption(name, value, options.rules));
    if (is_known) continue;
    if (name != kKernelThreads || !value.is_number_integer()) {
      return Status(ErrorCode::kBadArgument, StrCat("algebra has no option called ", name));
    }
    options.kernel_costs = CostsOnCpu(value.get<int64_t>());
  }
  return options;
}

StatusOr<PlannerOptions> ReadPlannerOptions(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ReadObject(text));
  PlannerOptions options;
  options.rules.user_rules = UserRulesInForce();
  for (const auto& [name, value] : json.items()) {
    ASSIGN_OR_RETURN(const bool is_known, ReadRuleOption(name, value, options.rules));
    if (is_known) continue;
    if (!value.is_number_integer()) {
      return Status(ErrorCode::kBadArgument,
                    StrCat("the planner's option ", name, " is no number"));
    }
    const int64_t bytes = value.get<int64_t>();
    if (name == "budget") {
      options.budget = bytes;
    } else if (name == "best_chunk") {
      options.best_chunk_bytes = bytes;
    } else if (name == "fresh_temporaries") {
      options.has_fresh_temporaries = bytes != 0;
    } else if (name == kKernelThreads) {
      options.kernel_costs = CostsOnCpu(bytes);
    } else if (name == "wants_kernels") {
      options.wants_kernels = bytes != 0;
    } else if (name == "most_value") {
      options.most_value_bytes = bytes;
    } else if (name == "most_chunk") {
      options.most_chunk_bytes = bytes;
    } else {
      return Status(ErrorCode::kBadArgument, StrCat("the planner has no option called ", name));
    }
  }
  return options;
}

std::string PlanAsJson(const PlannedModule& planned) {
  Json made = Json::array();
  for (const MadeCut& cut : planned.plan.made) {
    Json entry = NamedJson(cut.value);
    entry.update({{"dimension", cut.dimension},
                  {"axis", ToUtf8(cut.axis)},
                  {"blocks", cut.blocks},
                  {"chunk", cut.chunk},
                  {"loops", cut.loops},
                  {"sources", LinesJson(cut.sources)},
                  {"repeated", cut.repeated},
                  {"repeated_sources", LinesJson(cut.repeated_sources)},
                  {"ops", cut.ops}});
    made.push_back(std::move(entry));
  }
  Json recomputed = Json::array();
  for (const RecomputedValue& value : planned.plan.recomputed) {
    Json entry = NamedJson(value.value);
    entry["loops"] = value.loops;
    recomputed.push_back(std::move(entry));
  }
  Json refused = Json::array();
  for (const RefusedCut& cut : planned.plan.refused) {
    refused.push_back(WithReason(cut.value, cut.reason));
  }
  Json held = Json::array();
  for (const HeldValue& value : planned.held) held.push_back(WithReason(value.value, value.reason));
  const Json json = {{"peak_before", planned.peak_before},
                     {"peak_after", planned.peak_after},
                     {"seconds", planned.seconds},
                     {"wants_library_sums", planned.wants_library_sums},
                     {"can_be_tried", planned.can_be_tried},
                     {"reason", ToUtf8(planned.reason)},
                     {"made", std::move(made)},
                     {"recomputed", std::move(recomputed)},
                     {"refused", std::move(refused)},
                     {"held", std::move(held)},
                     {"kernels", KernelsJson(planned.kernels)},
                     {"refused_kernels", RefusedJson(planned.kernels)},
                     {"rules", FiredJson(planned.fired_rules)},
                     {"refused_rules", RefusedJson(planned.refused_rules)}};
  return json.dump();
}

std::string SimplificationAsJson(const SimplifiedModule& simplified) {
  const Json json = {{"is_surely_faster", simplified.IsSurelyFaster()},
                     {"peak_before", simplified.peak_before},
                     {"peak_after", simplified.peak_after},
                     {"seconds_before", simplified.seconds_before},
                     {"seconds_after", simplified.seconds_after},
                     {"flops_before", simplified.flops_before},
                     {"flops_after", simplified.flops_after},
                     {"can_be_tried", simplified.can_be_tried},
                     {"kernels", KernelsJson(simplified.kernels)},
                     {"refused_kernels", RefusedJson(simplified.kernels)},
                     {"rules", FiredJson(simplified.report.fired)},
                     {"refused_rules", RefusedJson(simplified.report.refused)}};
  return json.dump();
}

std::string KernelTimesAsJson() {
  Json calls = Json::array();
  for (const KernelTime& time : KernelTimes()) {
    calls.push_back({{"program", ToUtf8(time.program)},
                     {"seconds", time.expected_seconds},
                     {"calls", time.calls},
                     {"least_seconds", time.least_seconds}});
  }
  Json made = Json::array();
  for (const MadeKernel& kernel : MadeKernels()) {
    made.push_back({{"program", ToUtf8(kernel.program)},
                    {"seconds", kernel.seconds},
                    {"from_disk", kernel.is_from_disk}});
  }
  return Json({{"calls", std::move(calls)}, {"made", std::move(made)}}).dump();
}

std::string RulesAsJson() {
  Json json = Json::array();
  for (const Rule& rule : AllRules()) {
    json.push_back({{"name", rule.name},
                    {"pattern", rule.pattern},
                    {"result", rule.result},
                    {"guard", rule.guard},
                    {"strict", rule.numerics != Numerics::kRewrites}});
  }
  for (const auto& rule : UserRulesInForce()) {
    json.push_back({{"name", ToUtf8(rule->name())},
                    {"pattern", "as the user stated it"},
                    {"result", "as the user stated it"},
                    {"guard", "as the user stated it"},
                    {"strict", false}});
  }
  return json.dump();
}

}  // namespace plimsoll
