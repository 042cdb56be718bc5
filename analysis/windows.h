// How the windows of a convolution, a pooling or its gradient move, and what a convolution's
// dimensions are.

#ifndef PLIMSOLL_ANALYSIS_WINDOWS_H_
#define PLIMSOLL_ANALYSIS_WINDOWS_H_

#include <cstddef>
#include <cstdint>

#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// How a window moves along one dimension.
struct WindowStep {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t base_dilation = 1;
  int64_t window_dilation = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
  bool is_reversed = false;  // Of a convolution: the kernel's last element meets the first one.

  // True if no window reaches over the beginning of the next or out of the elements: those at one
  // stride's distance are blocks that do not need each other.
  bool StaysInBlock() const;
  // True if there is one window, and it covers `length` elements, each once.
  bool Covers(int64_t length) const;
};

// Of reduce_window and select_and_scatter: one step for each dimension of the operand. Of a
// convolution: one for each spatial dimension.
llvm::SmallVector<WindowStep, 4> WindowOf(const Op& op);

// Which dimension of a convolution's tensor is what.
struct ConvolutionSide {
  int first = 0;   // Batch, or the kernel's input features.
  int second = 0;  // Features, or the kernel's output features.
  llvm::ArrayRef<int64_t> spatial;
};

struct ConvolutionDimensions {
  ConvolutionSide input;
  ConvolutionSide kernel;
  ConvolutionSide output;
  int64_t feature_groups = 1;
  int64_t batch_groups = 1;
};

ConvolutionDimensions ConvolutionDimensionsOf(const Op& op);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_WINDOWS_H_
