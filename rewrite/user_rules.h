// Rules that users state while the program runs: two functions that give the same.

#ifndef PLIMSOLL_REWRITE_USER_RULES_H_
#define PLIMSOLL_REWRITE_USER_RULES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "rewrite/match_expression.h"
#include "rewrite/rule.h"

namespace plimsoll {

// Both sides of a rule for arguments of certain types.
struct LoweredRule {
  // Null if there is none for these types.
  std::unique_ptr<Module> pattern;
  // Null if the rule must not be used, and why.
  std::unique_ptr<Module> result;
  std::string refusal;
};

class UserRule {
 public:
  // Makes both sides for arguments of these types, as modules of the program's context. It may be
  // called by several threads at once.
  using Lower = std::function<LoweredRule(const Module& program, llvm::ArrayRef<Type> types)>;

  // `samples` are the pattern for arguments of some types, which say in what forms it is looked
  // for.
  static StatusOr<std::shared_ptr<const UserRule>> Make(
      std::string_view name, std::vector<std::unique_ptr<Module>> samples, Lower lower);

  // Lives as long as the process, because reports hold it.
  std::string_view name() const { return name_; }
  llvm::ArrayRef<Pattern> patterns() const { return patterns_; }
  const Lower& lower() const { return lower_; }

 private:
  UserRule() = default;

  std::string_view name_;
  std::vector<std::unique_ptr<Module>> samples_;
  std::vector<Pattern> patterns_;
  Lower lower_;
};

using UserRules = std::vector<std::shared_ptr<const UserRule>>;

// A rule of the user while one program is rewritten.
class UserRuleUse {
 public:
  explicit UserRuleUse(const UserRule& rule);
  UserRuleUse(const UserRuleUse&) = delete;
  UserRuleUse& operator=(const UserRuleUse&) = delete;

  const Rule& rule() const { return rule_; }
  Builder::Values Rewrite(RuleScope& scope);

 private:
  // What was lowered for one list of types. Patterns are looked at only in normal form.
  struct Lowered {
    LoweredRule sides;
    Pattern pattern;
    Pattern result;
  };

  const Lowered& For(const Module& program, llvm::ArrayRef<Type> types);

  const UserRule& user_rule_;
  Rule rule_;
  std::map<std::vector<const TypeData*>, Lowered> lowered_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_USER_RULES_H_
