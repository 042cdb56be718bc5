// A program as algebra and kernels make it, with what that is thought to be worth.

#ifndef PLIMSOLL_PLAN_SIMPLIFY_H_
#define PLIMSOLL_PLAN_SIMPLIFY_H_

#include <cstdint>
#include <memory>

#include "ir/graph.h"
#include "ir/status.h"
#include "kernels/insert_kernels.h"
#include "rewrite/apply_rules.h"

namespace plimsoll {

struct SimplifiedModule {
  // In normal form (rewrite/normalize.h), with rules applied.
  std::unique_ptr<Module> module;
  RuleReport report;
  // Kernels that do a part of it.
  KernelReport kernels;
  // What temporaries are thought to take, how long it is thought to run, and how many numbers it
  // computes: in normal form, and with rules applied.
  int64_t peak_before = 0;
  int64_t peak_after = 0;
  double seconds_before = 0;
  double seconds_after = 0;
  double flops_before = 0;
  double flops_after = 0;
  // True if it can be run on any numbers to see how long it takes (analysis/effects.h).
  bool can_be_tried = false;

  // True if the gain in time is beyond the estimate's error, and the peak no larger. Kernels are
  // used only where they are.
  bool IsSurelyFaster() const;
};

// The options of a program in normal form.
RuleOptions WithoutRules(RuleOptions options);

// The program stays as it is. Where rules would make the peak larger, none is applied, which the
// report tells.
StatusOr<SimplifiedModule> Simplify(const Module& program, const RuleOptions& options);

struct SpeedOptions {
  RuleOptions rules;
  // What a kernel takes; null if there are to be none.
  KernelCosts kernel_costs;
};

// The same with kernels where they are surely faster, and with those rules that are, by themselves
// or for what they spare the kernels.
StatusOr<SimplifiedModule> SpeedUp(const Module& program, const SpeedOptions& options);

}  // namespace plimsoll

#endif  // PLIMSOLL_PLAN_SIMPLIFY_H_
