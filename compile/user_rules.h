// The user's own rules, as they come through the C interface.

#ifndef PLIMSOLL_COMPILE_USER_RULES_H_
#define PLIMSOLL_COMPILE_USER_RULES_H_

#include "rewrite/user_rules.h"

namespace plimsoll {

// Those that are in force now.
UserRules UserRulesInForce();

}  // namespace plimsoll

#endif  // PLIMSOLL_COMPILE_USER_RULES_H_
