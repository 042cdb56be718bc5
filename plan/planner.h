// The programs to try one after the other until one fits: each is cut into smaller pieces than the
// one before, with what XLA said of that one.

#ifndef PLIMSOLL_PLAN_PLANNER_H_
#define PLIMSOLL_PLAN_PLANNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/status.h"
#include "kernels/insert_kernels.h"
#include "plan/plan_block.h"
#include "plan/simplify.h"
#include "rewrite/apply_rules.h"

namespace plimsoll {

struct PlannerOptions {
  // What temporaries may take.
  int64_t budget = 0;
  // Chunks of about this size run fastest: what stays in the cache, or fills a GPU.
  int64_t best_chunk_bytes = 4 << 20;
  // Whether each run takes its temporaries from the system anew, as on a CPU, which takes time.
  bool has_fresh_temporaries = true;
  // No value may be larger, nor any value of a chunk.
  int64_t most_value_bytes = INT64_MAX;
  int64_t most_chunk_bytes = INT64_MAX;
  // What a kernel takes; null if there are to be none.
  KernelCosts kernel_costs = {};
  // Kernels are used wherever there can be one, to see how fast that is.
  bool wants_kernels = false;
  // Which algebra may be used.
  RuleOptions rules = {.goal = RuleGoal::kSpace};
};

// A value that lives at the worst moment, and why it is not cut.
struct HeldValue {
  NamedValue value;
  std::string reason;
};

struct PlannedModule {
  std::unique_ptr<Module> module;
  BlockPlan plan;
  // Why programs like this one are never cut; "" if they are.
  std::string reason;
  // The largest values that are left to hold memory, largest first.
  std::vector<HeldValue> held;
  // What the temporaries are thought to take.
  int64_t peak_before = 0;
  int64_t peak_after = 0;
  // How long it is thought to run.
  double seconds = 0;
  // Whether its reductions should be those of XLA's library.
  bool wants_library_sums = false;
  // True if it can be run on any numbers to see how long it takes (analysis/effects.h).
  bool can_be_tried = false;
  // What algebra did before the cuts, and what it almost did.
  std::vector<FiredRule> fired_rules;
  std::vector<RefusedRule> refused_rules;
  // What kernels do, and the largest values that they do not do without.
  KernelReport kernels;

  bool has_changes() const {
    return plan.has_changes() || !fired_rules.empty() || !kernels.inserted.empty();
  }
};

// How the planner looks for cuts (cut_cost.h).
struct Strategy {
  int64_t big_share = 8;
  int64_t kept_share = 0;
  bool cuts_again = false;
};

// Whoever compiles asks for the next program, compiles it, and tells what it needs, until it fits
// or there is none.
class Planner {
 public:
  // The program stays as it is and must outlive the planner.
  Planner(const Module& program, const PlannerOptions& options)
      : program_(program), options_(options), aim_(options) {}

  // Nothing (a null module) if there is no other program to try.
  StatusOr<PlannedModule> Next();
  // What the temporaries of the last program really need, and how much of that is scratch of
  // libraries.
  void Tell(int64_t needed, int64_t scratch) {
    needed_ = needed;
    scratch_ = scratch;
  }

 private:
  struct Base {
    SimplifiedModule simplified;
    // What its loops compute anew.
    std::vector<RecomputedValue> recomputed;
    KernelReport kernels;
  };

  // The plan that is thought to run fastest within the budget, or not far over it.
  StatusOr<PlannedModule> Fastest() const;
  // The plan that is thought to need the least.
  StatusOr<PlannedModule> Smallest();
  StatusOr<PlannedModule> Plan(const Base& base, const PlannerOptions& options,
                               const Strategy& strategy) const;
  Status MakeBases();
  // What one of them became, with kernels, if there are any.
  Status AddKernels(size_t number, const Module& module,
                    const std::vector<RecomputedValue>& recomputed);
  // One of them with kernels, which have at most so much scratch if they can do with that.
  StatusOr<Base> WithKernels(size_t number, const Module& module, const KernelCosts& costs,
                             int64_t most_scratch) const;
  StatusOr<PlannedModule> Finish(PlannedModule planned);
  void Tighten();

  const Module& program_;
  // The program without calls and what else would be in the way, and if algebra applies or kernels
  // can be used, what they make of it: which of them is cut better shows only then.
  std::vector<Base> bases_;
  std::vector<RefusedRule> refused_rules_;
  PlannerOptions options_;
  // What the next plan is made for, with what was learned.
  PlannerOptions aim_;
  int attempts_ = 0;
  int64_t needed_ = 0;
  int64_t scratch_ = 0;
  bool copies_operands_ = false;
  // Of the last program.
  std::vector<MadeCut> last_made_;
  int64_t last_estimate_ = INT64_MAX;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_PLAN_PLANNER_H_
