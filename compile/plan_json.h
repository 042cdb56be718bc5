// A planner's options and plans as JSON.

#ifndef PLIMSOLL_COMPILE_PLAN_JSON_H_
#define PLIMSOLL_COMPILE_PLAN_JSON_H_

#include <string>
#include <string_view>

#include "ir/status.h"
#include "plan/planner.h"

namespace plimsoll {

StatusOr<PlannerOptions> ReadPlannerOptions(std::string_view text);

std::string PlanAsJson(const PlannedModule& planned);

}  // namespace plimsoll

#endif  // PLIMSOLL_COMPILE_PLAN_JSON_H_
