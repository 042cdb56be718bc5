// The rules of single kinds of ops, one file a family; axis_rules.cc says which op has which.

#ifndef PLIMSOLL_ANALYSIS_AXIS_RULES_INTERNAL_H_
#define PLIMSOLL_ANALYSIS_AXIS_RULES_INTERNAL_H_

#include <cstdint>

#include "analysis/axis_rules.h"
#include "ir/graph.h"

namespace plimsoll {

// Fills a rule factor by factor. Factors of one block are left out.
class RuleMaker {
 public:
  explicit RuleMaker(const Op& op) : op_(op) {}

  // A factor with all operands whole and all results `result`, to be filled in.
  Factor Blank(int64_t size, int result = kPartial) const;
  void Add(Factor factor);
  AxisRule Finish(std::string otherwise) &&;

  int64_t OperandSize(size_t operand, int dimension) const;
  int64_t ResultSize(size_t result, int dimension) const;

 private:
  const Op& op_;
  AxisRule rule_;
};

// axis_rules.cc: every dimension of equal operands and results is an axis of its own.
AxisRule ElementwiseRule(const Op& op);
// axis_rules_moving.cc
AxisRule BroadcastInDimRule(const Op& op);
AxisRule ConcatenateRule(const Op& op);
AxisRule DynamicSliceRule(const Op& op);
AxisRule DynamicUpdateSliceRule(const Op& op);
AxisRule PadRule(const Op& op);
AxisRule ReshapeRule(const Op& op);
AxisRule ReverseRule(const Op& op);
AxisRule SliceRule(const Op& op);
AxisRule TransposeRule(const Op& op);
// axis_rules_contractions.cc
AxisRule DotGeneralRule(const Op& op);
AxisRule ReduceRule(const Op& op);
// axis_rules_indexing.cc
AxisRule GatherRule(const Op& op);
AxisRule ScatterRule(const Op& op);
// axis_rules_windows.cc
AxisRule ConvolutionRule(const Op& op);
AxisRule ReduceWindowRule(const Op& op);
AxisRule SelectAndScatterRule(const Op& op);
// axis_rules_sorting.cc
AxisRule SortRule(const Op& op);
AxisRule TopKRule(const Op& op);
// axis_rules_linalg.cc
AxisRule BatchNormRule(const Op& op);
AxisRule CholeskyRule(const Op& op);
AxisRule CustomCallRule(const Op& op);
AxisRule FftRule(const Op& op);
AxisRule TriangularSolveRule(const Op& op);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_AXIS_RULES_INTERNAL_H_
