// What a rule of algebra is, and what it may ask while it looks at an op.

#ifndef PLIMSOLL_REWRITE_RULE_H_
#define PLIMSOLL_REWRITE_RULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/properties.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// How a rule's result differs from what the program says, in numbers of limited precision.
enum class Numerics : uint8_t {
  // Not at all: the same numbers are moved, or are not made.
  kSame,
  // Sums and products are taken in another order.
  kReassociates,
  // By other formulas, as exact as the first (the rule's guard sees to that).
  kRewrites,
};

class UserRuleUse;
struct Rule;

// An op that a rule looks at.
class RuleScope {
 public:
  RuleScope(Module& module, const Rule& rule, Op& op, Properties& properties)
      : module_(module),
        rule_(rule),
        op_(op),
        builder_(module.context(), op),
        properties_(properties) {}

  Module& module() const { return module_; }
  const Rule& rule() const { return rule_; }

  Op& op() const { return op_; }
  // Makes ops before the one at hand, with its location. They are taken away again if the rule does
  // not apply in the end.
  Builder& builder() { return builder_; }
  Properties& properties() { return properties_; }

  // For a rule that would apply but for this reason, which `explain` tells: "x may be far from the
  // origin". To be returned from the rule.
  Builder::Values Refuse(std::string reason) {
    refusal_ = std::move(reason);
    return {};
  }
  const std::string& refusal() const { return refusal_; }

  // Also puts another value in place of one that an op of the same block gives, for rules that are
  // of use only if several ops change at once. Whatever uses it must come after the op at hand.
  void AlsoReplace(Value* value, Value* replacement) {
    also_replaced_.emplace_back(value, replacement);
  }
  llvm::ArrayRef<std::pair<Value*, Value*>> also_replaced() const { return also_replaced_; }

  // What is saved beyond the ops that nobody needs any more, once the rule has applied to others
  // as well: its share of a value that all of them can do without.
  void Expect(double seconds) { expected_seconds_ = seconds; }
  double expected_seconds() const { return expected_seconds_; }

 private:
  Module& module_;
  const Rule& rule_;
  Op& op_;
  Builder builder_;
  Properties& properties_;
  std::string refusal_;
  std::vector<std::pair<Value*, Value*>> also_replaced_;
  double expected_seconds_ = 0;
};

// One rule: if it applies to the op, it makes other ops that give the same results. Whether that is
// worth it is not for the rule to say: ops that are made and ops that nobody needs any more are
// weighed against each other (apply_rules.h). A rule must not apply to what it has made.
struct Rule {
  // As users write it in PLIMSOLL_DISABLE: "distance_expand".
  std::string_view name;
  // For docs/rules.md: what it finds, what it makes of it, and when it does not.
  std::string_view pattern = {};
  std::string_view result = {};
  std::string_view guard = {};
  Numerics numerics = Numerics::kSame;
  // Values to take the place of the op's results, one each and of the same types; none if the rule
  // does not apply. After an error of the builder what is returned does not matter.
  Builder::Values (*rewrite)(RuleScope& scope);
  // Of a rule that the user stated (user_rules.h).
  UserRuleUse* user = nullptr;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_RULE_H_
