#include "compile/plan_json.h"

#include <vector>

#include "compile/json.h"

namespace plimsoll {
namespace {

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

}  // namespace

StatusOr<PlannerOptions> ReadPlannerOptions(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return Status(ErrorCode::kBadArgument, "the planner's options are not a JSON object");
  }
  PlannerOptions options;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number_integer()) {
      return Status(ErrorCode::kBadArgument,
                    StrCat("the planner's option ", name, " is no number"));
    }
    const int64_t bytes = value.get<int64_t>();
    if (name == "budget") {
      options.budget = bytes;
    } else if (name == "best_chunk") {
      options.best_chunk_bytes = bytes;
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
                     {"reason", ToUtf8(planned.reason)},
                     {"made", std::move(made)},
                     {"recomputed", std::move(recomputed)},
                     {"refused", std::move(refused)},
                     {"held", std::move(held)}};
  return json.dump();
}

}  // namespace plimsoll
