#include "rewrite/apply_rules.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/block_view.h"
#include "analysis/only_for.h"
#include "analysis/run_time.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/merge_equal_ops.h"
#include "rewrite/remove_dead_ops.h"

namespace plimsoll {
namespace {

// Rules feed each other, but not forever.
constexpr int kMostRounds = 16;
// What is thought to take less time must take this much less: the model is no better.
constexpr double kLeastGain = 1.02;
// How much larger the largest value of a part may get: it may never be in memory, and what lives at
// once is looked at in the end.
constexpr double kMostLarger = 1.5;
// How much longer a part may take if its largest value gets smaller.
constexpr double kMostLoss = 2;

bool IsFree(const Op& op) {
  return op.Is(Opcode::kConstant) || op.Is(Opcode::kIota) || op.Is(Opcode::kBroadcastInDim) ||
         op.Is(Opcode::kReshape);
}

class CostCounter {
 public:
  void Add(const Op& op) {
    cost_.seconds += SecondsOf(op) + (IsFree(op) ? 0 : kSecondsPerOp);
    cost_.flops += FlopsOf(op);
    if (IsFree(op)) return;
    for (const Value* result : op.results()) {
      cost_.largest_bytes = std::max(cost_.largest_bytes, BytesOf(*result));
    }
  }
  void AddSeconds(double seconds) { cost_.seconds += seconds; }
  const RuleCost& cost() const { return cost_; }

 private:
  RuleCost cost_;
};

// Values and what takes their places.
using Replaced = std::vector<std::pair<Value*, Value*>>;

class RuleApplier {
 public:
  RuleApplier(Module& module, const RuleOptions& options) : module_(module), options_(options) {}

  StatusOr<RuleReport> Run(llvm::ArrayRef<Rule> rules) {
    for (const std::shared_ptr<const UserRule>& rule : options_.user_rules) {
      user_rules_.push_back(std::make_unique<UserRuleUse>(*rule));
      Add(user_rules_.back()->rule());
    }
    // What the user stated is looked for before other rules make something else of it.
    if (!rules_.empty()) RETURN_IF_ERROR(RunRounds());
    for (const Rule& rule : rules) Add(rule);
    RETURN_IF_ERROR(RunRounds());
    return std::move(report_);
  }

 private:
  Status RunRounds() {
    for (int round = 0; round < kMostRounds; ++round) {
      has_changed_ = false;
      report_.refused.clear();
      RETURN_IF_ERROR(RunInside(module_.op()));
      if (!has_changed_) break;
      MergeEqualOps(module_.op());
      RemoveDeadOps(module_.op());
      properties_.Forget();
    }
    return OkStatus();
  }

  void Add(const Rule& rule) {
    if (llvm::is_contained(options_.disabled, rule.name)) return;
    if (options_.is_strict && rule.numerics == Numerics::kRewrites) return;
    rules_.push_back(&rule);
  }

  // Bodies of reductions, sorts and the like compute single numbers and are left alone.
  static bool HasPrograms(const Op& op) {
    return op.Is(Opcode::kModule) || op.Is(Opcode::kFunc) || op.Is(Opcode::kWhile) ||
           op.Is(Opcode::kCase) || op.Is(Opcode::kIf);
  }

  Status RunInside(Op& op) {
    if (!HasPrograms(op)) return OkStatus();
    for (size_t r = 0; r < op.region_count(); ++r) {
      for (size_t b = 0; b < op.region(r).block_count(); ++b) {
        RETURN_IF_ERROR(RunOn(op.region(r).block(b)));
      }
    }
    return OkStatus();
  }

  Status RunOn(Block& block) {
    Op* op = block.first();
    while (op != nullptr) {
      RETURN_IF_ERROR(RunInside(*op));
      Op* next = nullptr;
      for (const Rule* rule : rules_) {
        ASSIGN_OR_RETURN(next, Try(*rule, *op));
        if (next != nullptr) break;
      }
      op = next == nullptr ? op->next() : next;
    }
    return OkStatus();
  }

  // If the rule applied and the op is gone, the next one that is left. A block's last op always is.
  StatusOr<Op*> Try(const Rule& rule, Op& op) {
    Op* before = op.previous();
    RuleScope scope(module_, rule, op, properties_);
    const Builder::Values replacements = rule.rewrite(scope);
    RETURN_IF_ERROR(scope.builder().status());
    if (replacements.empty()) {
      Undo(op, before);
      if (!scope.refusal().empty()) Refuse(rule, op, scope.refusal());
      return nullptr;
    }
    ASSIGN_OR_RETURN(const Replaced replaced, AllReplaced(rule, scope, replacements));
    CostCounter made;
    for (Op* other = op.previous(); other != before; other = other->previous()) made.Add(*other);
    const llvm::SmallVector<Op*> unneeded = UnneededAfter(replaced);
    CostCounter gone;
    for (const Op* other : unneeded) gone.Add(*other);
    gone.AddSeconds(scope.expected_seconds());
    if (!IsWorthIt(gone.cost(), made.cost(), op)) {
      Undo(op, before);
      Refuse(rule, op, "it would not take less time or memory");
      return nullptr;
    }
    report_.fired.push_back({.rule = rule.name,
                             .source = SourceLine(op.location()),
                             .before = gone.cost(),
                             .after = made.cost()});
    for (const auto& [value, replacement] : replaced) value->ReplaceAllUsesWith(replacement);
    Op* next = op.next();
    while (llvm::is_contained(unneeded, next)) next = next->next();
    for (Op* other : unneeded) other->Erase();
    properties_.Forget();
    has_changed_ = true;
    return next;
  }

  // A replacement that was there before is needed, though no op that was made uses it.
  static llvm::SmallVector<Op*> UnneededAfter(const Replaced& replaced) {
    llvm::SmallVector<Op*> roots;
    for (const auto& [value, replacement] : replaced) {
      if (!llvm::is_contained(roots, value->defining_op())) roots.push_back(value->defining_op());
    }
    llvm::SmallVector<Op*> kept;
    for (const auto& [value, replacement] : replaced) {
      if (Op* definition = replacement->defining_op()) kept.push_back(definition);
    }
    return OpsOnlyFor(roots, kept);
  }

  // The op's own results first.
  static StatusOr<Replaced> AllReplaced(const Rule& rule, const RuleScope& scope,
                                        const Builder::Values& replacements) {
    const Op& op = scope.op();
    Replaced replaced;
    for (size_t i = 0; i < std::min(op.result_count(), replacements.size()); ++i) {
      replaced.emplace_back(op.result(i), replacements[i]);
    }
    llvm::append_range(replaced, scope.also_replaced());
    const bool is_right =
        replacements.size() == op.result_count() && llvm::all_of(replaced, [](const auto& pair) {
          return pair.first->type() == pair.second->type();
        });
    if (is_right) return replaced;
    return Status(ErrorCode::kInternal,
                  StrCat("the rule ", rule.name, " gave other types for ", op.name()));
  }

  bool IsWorthIt(const RuleCost& before, const RuleCost& after, const Op& op) const {
    // The results are there in both.
    int64_t least = before.largest_bytes;
    for (const Value* result : op.results()) least = std::max(least, BytesOf(*result));
    const double most = kMostLarger * static_cast<double>(least);
    if (static_cast<double>(after.largest_bytes) > most) return false;
    if (after.seconds * kLeastGain <= before.seconds) return true;
    return options_.goal == RuleGoal::kSpace && after.largest_bytes < before.largest_bytes &&
           after.seconds <= kMostLoss * before.seconds;
  }

  void Undo(Op& op, const Op* before) {
    if (op.previous() == before) return;
    while (op.previous() != before) op.previous()->Erase();
    // The rule may have asked of what is gone.
    properties_.Forget();
  }

  void Refuse(const Rule& rule, const Op& op, std::string reason) {
    RefusedRule refused = {
        .rule = rule.name, .source = SourceLine(op.location()), .reason = std::move(reason)};
    if (!llvm::is_contained(report_.refused, refused)) report_.refused.push_back(refused);
  }

  Module& module_;
  const RuleOptions& options_;
  std::vector<std::unique_ptr<UserRuleUse>> user_rules_;
  std::vector<const Rule*> rules_;
  Properties properties_;
  RuleReport report_;
  bool has_changed_ = false;
};

}  // namespace

StatusOr<RuleReport> ApplyRules(Module& module, llvm::ArrayRef<Rule> rules,
                                const RuleOptions& options) {
  return RuleApplier(module, options).Run(rules);
}

}  // namespace plimsoll
