#include "compile/user_rules.h"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/c_api.h"
#include "compile/c_api_internal.h"
#include "compile/json.h"
#include "llvm/ADT/STLExtras.h"
#include "rewrite/rule_table.h"
#include "stablehlo/read.h"

struct PlimsollRule {
  std::shared_ptr<const plimsoll::UserRule> rule;
};

struct PlimsollRuleAnswer {
  std::shared_ptr<plimsoll::Context> context;
  plimsoll::LoweredRule lowered;
};

namespace plimsoll {
namespace {

struct RulesInForce {
  std::mutex mutex;
  UserRules rules;
};

RulesInForce& InForce() {
  static auto& in_force = *new RulesInForce;
  return in_force;
}

// The context keeps the bytes, which constants are not copied from.
StatusOr<std::unique_ptr<Module>> ReadCopy(std::string_view program,
                                           const std::shared_ptr<Context>& context) {
  auto copy = std::make_shared<const std::string>(program);
  context->KeepAlive(copy);
  return ReadModule(*copy, "a rule", context);
}

std::unique_ptr<Module> ReadSide(PlimsollRuleAnswer& answer, const char* program, size_t size) {
  StatusOr<std::unique_ptr<Module>> module = ReadCopy({program, size}, answer.context);
  if (module.ok()) return *std::move(module);
  answer.lowered.refusal = module.status().ToString();
  return nullptr;
}

LoweredRule Lower(PlimsollRuleLower lower, void* data, const Module& program,
                  llvm::ArrayRef<Type> types) {
  Json json = Json::array();
  for (const Type type : types) json.push_back(ToJson(type));
  PlimsollRuleAnswer answer = {.context = program.shared_context(), .lowered = {}};
  lower(data, json.dump().c_str(), &answer);
  return std::move(answer.lowered);
}

StatusOr<std::shared_ptr<const UserRule>> Add(std::string_view name,
                                              std::vector<std::unique_ptr<Module>> samples,
                                              UserRule::Lower lower) {
  ASSIGN_OR_RETURN(std::shared_ptr<const UserRule> rule,
                   UserRule::Make(name, std::move(samples), std::move(lower)));
  RulesInForce& in_force = InForce();
  const std::scoped_lock lock(in_force.mutex);
  const bool is_taken =
      llvm::any_of(AllRules(), [&](const Rule& other) { return other.name == name; }) ||
      llvm::any_of(in_force.rules, [&](const auto& other) { return other->name() == name; });
  if (is_taken) {
    return Status(ErrorCode::kBadArgument, StrCat("there is a rule called ", name, " already"));
  }
  in_force.rules.push_back(rule);
  return rule;
}

}  // namespace

UserRules UserRulesInForce() {
  RulesInForce& in_force = InForce();
  const std::scoped_lock lock(in_force.mutex);
  return in_force.rules;
}

}  // namespace plimsoll

void plimsoll_rule_answer(PlimsollRuleAnswer* answer, const char* pattern, size_t pattern_size,
                          const char* result, size_t result_size) {
  answer->lowered.pattern = plimsoll::ReadSide(*answer, pattern, pattern_size);
  answer->lowered.result = plimsoll::ReadSide(*answer, result, result_size);
}

void plimsoll_rule_refuse(PlimsollRuleAnswer* answer, const char* pattern, size_t pattern_size,
                          const char* reason) {
  answer->lowered.pattern = plimsoll::ReadSide(*answer, pattern, pattern_size);
  answer->lowered.refusal = reason;
}

PlimsollError* plimsoll_rule_add(const char* name, const char* const* samples, const size_t* sizes,
                                 size_t count, PlimsollRuleLower lower, void* data,
                                 PlimsollRule** rule) {
  std::vector<std::unique_ptr<plimsoll::Module>> modules;
  for (size_t i = 0; i < count; ++i) {
    plimsoll::StatusOr<std::unique_ptr<plimsoll::Module>> module =
        plimsoll::ReadCopy({samples[i], sizes[i]}, std::make_shared<plimsoll::Context>());
    if (!module.ok()) return plimsoll::MakeError(module.status());
    modules.push_back(*std::move(module));
  }
  plimsoll::StatusOr<std::shared_ptr<const plimsoll::UserRule>> made = plimsoll::Add(
      name, std::move(modules),
      [lower, data](const plimsoll::Module& program, llvm::ArrayRef<plimsoll::Type> types) {
        return plimsoll::Lower(lower, data, program, types);
      });
  if (!made.ok()) return plimsoll::MakeError(made.status());
  *rule = new PlimsollRule{*std::move(made)};
  return nullptr;
}

void plimsoll_rule_remove(PlimsollRule* rule) {
  plimsoll::RulesInForce& in_force = plimsoll::InForce();
  {
    const std::scoped_lock lock(in_force.mutex);
    llvm::erase(in_force.rules, rule->rule);
  }
  delete rule;
}
