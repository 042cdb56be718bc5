// Algebra: replaces parts of a program by others that give the same numbers with fewer bytes or
// less time.

#ifndef PLIMSOLL_REWRITE_APPLY_RULES_H_
#define PLIMSOLL_REWRITE_APPLY_RULES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "rewrite/rule.h"
#include "rewrite/user_rules.h"

namespace plimsoll {

enum class RuleGoal : uint8_t {
  // Only what is thought to take less time.
  kTime,
  // Also what takes more, if the largest value that it makes is smaller.
  kSpace,
};

struct RuleOptions {
  RuleGoal goal = RuleGoal::kTime;
  // Only rules that change no more than the order of sums and products.
  bool is_strict = false;
  // Names of rules that are switched off.
  std::vector<std::string> disabled = {};
  // The user's own rules, which are tried first.
  UserRules user_rules = {};
};

// What ops take together: time, and the bytes of the largest value that they make.
struct RuleCost {
  double seconds = 0;
  double flops = 0;
  int64_t largest_bytes = 0;
};

struct FiredRule {
  std::string_view rule;
  // The user's line.
  std::string source;
  RuleCost before;
  RuleCost after;
};

struct RefusedRule {
  std::string_view rule;
  std::string source;
  std::string reason;

  bool operator==(const RefusedRule&) const = default;
};

struct RuleReport {
  std::vector<FiredRule> fired;
  // Of what is left in the end, each once.
  std::vector<RefusedRule> refused;
};

// Applies rules to all ops, inside of loops and branches too, until none applies. Calls must have
// been inlined (inline_calls.h). What nobody uses any more is removed.
StatusOr<RuleReport> ApplyRules(Module& module, llvm::ArrayRef<Rule> rules,
                                const RuleOptions& options);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_APPLY_RULES_H_
