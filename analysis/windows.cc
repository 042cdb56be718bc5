#include "analysis/windows.h"

#include <string_view>

#include "llvm/Support/Endian.h"

namespace plimsoll {
namespace {

using Window = llvm::SmallVector<WindowStep, 4>;

// One number a dimension; an attribute that is absent leaves what is usual.
void Read(const Op& op, std::string_view name, Window& window, int64_t WindowStep::* field) {
  const Attribute numbers = op.Get(name);
  if (!numbers) return;
  for (size_t d = 0; d < numbers.integers().size(); ++d) window[d].*field = numbers.integers()[d];
}

void ReadPadding(const Op& op, Window& window) {
  const Attribute padding = op.Get("padding");
  // No pairs at all stand for no padding.
  if (!padding || padding.type().shape()[0] == 0) return;
  const auto number = [&](size_t index) {
    const size_t at = padding.is_splat() ? 0 : index * sizeof(int64_t);
    return llvm::support::endian::read<int64_t, llvm::endianness::little>(padding.bytes().data() +
                                                                          at);
  };
  for (size_t d = 0; d < window.size(); ++d) {
    window[d].padding_low = number(2 * d);
    window[d].padding_high = number(2 * d + 1);
  }
}

ConvolutionSide SideOf(Attribute numbers, std::string_view first, std::string_view second,
                       std::string_view spatial) {
  return {.first = static_cast<int>(numbers.Find(first).integer()),
          .second = static_cast<int>(numbers.Find(second).integer()),
          .spatial = numbers.Find(spatial).integers()};
}

}  // namespace

bool WindowStep::StaysInBlock() const {
  return (size - 1) * window_dilation < stride && base_dilation == 1 && padding_low == 0 &&
         padding_high == 0;
}

bool WindowStep::Covers(int64_t length) const {
  return size == length && base_dilation == 1 && window_dilation == 1 && padding_low == 0 &&
         padding_high == 0 && !is_reversed;
}

Window WindowOf(const Op& op) {
  const bool is_convolution = op.Is(Opcode::kConvolution);
  Window window;
  if (is_convolution) {
    const ConvolutionSide kernel = ConvolutionDimensionsOf(op).kernel;
    window.resize(kernel.spatial.size());
    for (size_t d = 0; d < window.size(); ++d) {
      window[d].size = op.operand(1)->type().shape()[kernel.spatial[d]];
    }
  } else {
    window.resize(op.operand(0)->type().rank());
    Read(op, "window_dimensions", window, &WindowStep::size);
  }
  Read(op, "window_strides", window, &WindowStep::stride);
  Read(op, is_convolution ? "lhs_dilation" : "base_dilations", window, &WindowStep::base_dilation);
  Read(op, is_convolution ? "rhs_dilation" : "window_dilations", window,
       &WindowStep::window_dilation);
  ReadPadding(op, window);
  if (const Attribute reversal = op.Get("window_reversal")) {
    // Booleans take a byte each.
    for (size_t d = 0; d < window.size(); ++d) window[d].is_reversed = reversal.bytes()[d] != 0;
  }
  return window;
}

ConvolutionDimensions ConvolutionDimensionsOf(const Op& op) {
  const Attribute numbers = op.Get("dimension_numbers");
  return {.input = SideOf(numbers, "input_batch_dimension", "input_feature_dimension",
                          "input_spatial_dimensions"),
          .kernel = SideOf(numbers, "kernel_input_feature_dimension",
                           "kernel_output_feature_dimension", "kernel_spatial_dimensions"),
          .output = SideOf(numbers, "output_batch_dimension", "output_feature_dimension",
                           "output_spatial_dimensions"),
          .feature_groups = op.Get("feature_group_count").integer(),
          .batch_groups = op.Get("batch_group_count").integer()};
}

}  // namespace plimsoll
