#include "rewrite/rule_table.h"

#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "rewrite/factor_rules.h"
#include "rewrite/solve_rules.h"

namespace plimsoll {

llvm::ArrayRef<Rule> AllRules() {
  // Families of rules, each from its own file.
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    llvm::append_range(all, SolveRules());
    llvm::append_range(all, FactorRules());
    return all;
  }();
  return rules;
}

}  // namespace plimsoll
