// Axis rules of convolutions, poolings and their gradients. Along a dimension in which windows
// overlap a chunk would need its neighbours: no factor.

#include <string>
#include <utility>

#include "analysis/axis_rules_internal.h"
#include "analysis/windows.h"
#include "ir/status.h"

namespace plimsoll {
namespace {

// How many blocks do not need each other, one for each window. If there are none, the reason why is
// kept, unless there is one already.
int64_t IndependentBlocks(const WindowStep& step, int64_t length, int dimension,
                          std::string& reason) {
  if (step.StaysInBlock() && length % step.stride == 0) return length / step.stride;
  if (reason.empty()) {
    reason = step.StaysInBlock()
                 ? StrCat("the windows along dimension ", dimension, " leave a rest")
                 : StrCat("a window needs its neighbours along dimension ", dimension);
  }
  return 0;
}

}  // namespace

AxisRule ConvolutionRule(const Op& op) {
  const ConvolutionDimensions dimensions = ConvolutionDimensionsOf(op);
  const auto& [input, kernel, output, feature_groups, batch_groups] = dimensions;
  RuleMaker maker(op);
  std::string reason;
  const auto add = [&](int64_t size, int of_input, int of_kernel, int of_output) {
    Factor factor = maker.Blank(size, of_output);
    factor.operands = {of_input, of_kernel};
    if (of_output == kPartial) factor.combination = Combination::kSum;
    maker.Add(std::move(factor));
  };

  if (batch_groups == 1) {
    add(maker.OperandSize(0, input.first), input.first, kWhole, output.first);
  } else {
    add(batch_groups, input.first, kernel.second, output.second);
    reason = StrCat("a chunk must hold whole groups of dimension ", input.first);
  }
  if (feature_groups == 1) {
    add(maker.OperandSize(0, input.second), input.second, kernel.first, kPartial);
    if (batch_groups == 1) {
      add(maker.OperandSize(1, kernel.second), kWhole, kernel.second, output.second);
    }
  } else {
    add(feature_groups, input.second, kernel.second, output.second);
    reason = StrCat("a chunk must hold whole groups of dimension ", input.second);
  }
  const llvm::SmallVector<WindowStep, 4> window = WindowOf(op);
  for (size_t i = 0; i < window.size(); ++i) {
    const auto from = static_cast<int>(input.spatial[i]);
    const int64_t length = maker.OperandSize(0, from);
    if (window[i].Covers(length)) {
      // One window over all of it: a contraction like that of the features.
      add(length, from, static_cast<int>(kernel.spatial[i]), kPartial);
    } else {
      add(IndependentBlocks(window[i], length, from, reason), from, kWhole,
          static_cast<int>(output.spatial[i]));
    }
  }
  return std::move(maker).Finish(std::move(reason));
}

AxisRule ReduceWindowRule(const Op& op) {
  RuleMaker maker(op);
  std::string reason;
  const llvm::SmallVector<WindowStep, 4> window = WindowOf(op);
  for (int d = 0; d < static_cast<int>(window.size()); ++d) {
    Factor factor =
        maker.Blank(IndependentBlocks(window[d], maker.OperandSize(0, d), d, reason), d);
    // The second half of the operands are what the reductions start from.
    for (size_t i = 0; i < op.result_count(); ++i) factor.operands[i] = d;
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish(std::move(reason));
}

AxisRule SelectAndScatterRule(const Op& op) {
  RuleMaker maker(op);
  std::string reason;
  const llvm::SmallVector<WindowStep, 4> window = WindowOf(op);
  for (int d = 0; d < static_cast<int>(window.size()); ++d) {
    Factor factor =
        maker.Blank(IndependentBlocks(window[d], maker.OperandSize(0, d), d, reason), d);
    factor.operands = {d, d, kWhole};
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish(std::move(reason));
}

}  // namespace plimsoll
