// What tests of rules share: small programs before and after.

#ifndef PLIMSOLL_REWRITE_TESTING_H_
#define PLIMSOLL_REWRITE_TESTING_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing.h"
#include "ir/verify.h"
#include "llvm/ADT/ArrayRef.h"
#include "rewrite/apply_rules.h"

namespace plimsoll::testing {

// What the rules made of a program, and what they said.
struct Rewritten {
  std::string body;
  RuleReport report;

  // The names of the rules that fired, in order.
  std::vector<std::string_view> fired() const {
    std::vector<std::string_view> names;
    for (const FiredRule& fired : report.fired) names.push_back(fired.rule);
    return names;
  }
  // "rule: reason" for each rule that almost fired.
  std::vector<std::string> refused() const {
    std::vector<std::string> lines;
    for (const RefusedRule& refused : report.refused) {
      lines.push_back(StrCat(refused.rule, ": ", refused.reason));
    }
    return lines;
  }
};

// A program whose arguments %0, %1, ... have these types ("8x8xf32"), with ops in generic text.
inline Rewritten Rewrite(llvm::ArrayRef<Rule> rules, const std::vector<std::string_view>& arguments,
                         std::string_view ops, const std::vector<NamedType>& results,
                         const RuleOptions& options = {}) {
  const std::unique_ptr<Module> module = Program(arguments, ops, results);
  if (module == nullptr) return {};
  StatusOr<RuleReport> report = ApplyRules(*module, rules, options);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module).ToString();
  if (!report.ok()) return {};
  return {.body = BodyText(*module), .report = *std::move(report)};
}

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_REWRITE_TESTING_H_
