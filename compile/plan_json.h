// Options, plans and algebra as JSON.

#ifndef PLIMSOLL_COMPILE_PLAN_JSON_H_
#define PLIMSOLL_COMPILE_PLAN_JSON_H_

#include <string>
#include <string_view>

#include "ir/status.h"
#include "plan/planner.h"
#include "plan/simplify.h"

namespace plimsoll {

StatusOr<PlannerOptions> ReadPlannerOptions(std::string_view text);
StatusOr<SpeedOptions> ReadSpeedOptions(std::string_view text);

std::string PlanAsJson(const PlannedModule& planned);
std::string SimplificationAsJson(const SimplifiedModule& simplified);
// How long kernels took in this process.
std::string KernelTimesAsJson();
// The table of rules.
std::string RulesAsJson();

}  // namespace plimsoll

#endif  // PLIMSOLL_COMPILE_PLAN_JSON_H_
