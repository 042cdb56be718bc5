// Result types of ops that slide a window: convolutions, pooling and its gradient.

#include <optional>

#include "ir/dimensions.h"
#include "ir/infer_rules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"

namespace plimsoll {
namespace {

// How a window moves along one dimension.
struct WindowStep {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t base_dilation = 1;
  int64_t window_dilation = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
};

using Window = llvm::SmallVector<WindowStep, 4>;

// The size with holes between elements; nothing if it is too large.
std::optional<int64_t> Dilated(int64_t size, int64_t dilation) {
  if (size == 0) return 0;
  return llvm::checkedMulAdd<int64_t>(size - 1, dilation, 1);
}

// How many places a window has in `size` elements; nothing if a number is too large.
std::optional<int64_t> Places(int64_t size, const WindowStep& step) {
  const std::optional<int64_t> dilated = Dilated(size, step.base_dilation);
  const std::optional<int64_t> window = Dilated(step.size, step.window_dilation);
  const std::optional<int64_t> edges = llvm::checkedAdd(step.padding_low, step.padding_high);
  if (!dilated || !window || !edges) return std::nullopt;
  const std::optional<int64_t> padded = llvm::checkedAdd(*dilated, *edges);
  if (!padded) return std::nullopt;
  if (*padded <= 0 || *padded < *window) return 0;
  return (*padded - *window) / step.stride + 1;
}

StatusOr<Dimension> Slide(const OpView& op, const Dimension& base, const WindowStep& step) {
  if (step.size == kDynamic) return Dimension{};
  Dimension result;
  const int64_t most = base.is_static() ? base.size : base.bound;
  if (most == kDynamic) return result;
  const std::optional<int64_t> places = Places(most, step);
  if (!places) return op.Error("the window's places are too many to count");
  (base.is_static() ? result.size : result.bound) = *places;
  return result;
}

// An attribute with one number for each of the window's dimensions, which may be absent.
Status ReadPositive(const OpView& op, std::string_view name, Window& window,
                    int64_t WindowStep::* field) {
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> numbers, op.IntegersOrEmpty(name));
  if (numbers.empty()) return OkStatus();
  if (numbers.size() != window.size()) {
    return op.Error(name, " must have ", window.size(), " numbers, found ", ListText(numbers));
  }
  for (size_t d = 0; d < numbers.size(); ++d) {
    if (numbers[d] < 1) return op.Error(name, " must be positive, found ", ListText(numbers));
    window[d].*field = numbers[d];
  }
  return OkStatus();
}

Status ReadPadding(const OpView& op, Window& window) {
  const Attribute padding = op.Find("padding");
  if (!padding) return OkStatus();
  const Type type = padding.Is(AttributeKind::kDenseElements) ? padding.type() : Type();
  if (!type.Is(TypeKind::kTensor) || type.rank() != 2 || !type.element_type().IsInteger(64) ||
      type.shape()[1] != 2) {
    return op.Error("padding must be pairs of i64, found ", type ? type.ToString() : "no constant");
  }
  // No pairs at all stand for no padding.
  if (type.shape()[0] == 0) return OkStatus();
  const size_t expected = padding.is_splat() ? 1 : 2 * window.size();
  if (type.shape()[0] != static_cast<int64_t>(window.size()) ||
      padding.bytes().size() != expected * sizeof(int64_t)) {
    return op.Error("padding must be ", window.size(), " pairs, found ", type.ToString());
  }
  const auto number = [&](size_t index) {
    const size_t at = padding.is_splat() ? 0 : index * sizeof(int64_t);
    return llvm::support::endian::read<int64_t, llvm::endianness::little>(padding.bytes().data() +
                                                                          at);
  };
  for (size_t d = 0; d < window.size(); ++d) {
    window[d].padding_low = number(2 * d);
    window[d].padding_high = number(2 * d + 1);
  }
  return OkStatus();
}

StatusOr<Window> ReadWindow(const OpView& op, llvm::ArrayRef<int64_t> sizes,
                            std::string_view base_dilations, std::string_view window_dilations) {
  Window window(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != kDynamic && sizes[d] < 1) {
      return op.Error("the window must have positive sizes, found ", ListText(sizes));
    }
    window[d].size = sizes[d];
  }
  RETURN_IF_ERROR(ReadPositive(op, "window_strides", window, &WindowStep::stride));
  RETURN_IF_ERROR(ReadPositive(op, base_dilations, window, &WindowStep::base_dilation));
  RETURN_IF_ERROR(ReadPositive(op, window_dilations, window, &WindowStep::window_dilation));
  RETURN_IF_ERROR(ReadPadding(op, window));
  return window;
}

// Which dimension of a convolution's tensor is what.
struct ConvolutionSide {
  size_t first = 0;   // Batch, or the kernel's input features.
  size_t second = 0;  // Features, or the kernel's output features.
  llvm::ArrayRef<int64_t> spatial;
};

StatusOr<ConvolutionSide> ReadSide(const OpView& op, Attribute numbers, std::string_view first,
                                   std::string_view second, std::string_view spatial, size_t rank) {
  ConvolutionSide side;
  ASSIGN_OR_RETURN(const int64_t first_number, op.IntegerField(numbers, first));
  ASSIGN_OR_RETURN(const int64_t second_number, op.IntegerField(numbers, second));
  ASSIGN_OR_RETURN(side.spatial, op.IntegersField(numbers, spatial));
  llvm::SmallVector<int64_t> all = {first_number, second_number};
  llvm::append_range(all, side.spatial);
  RETURN_IF_ERROR(op.ExpectDimensions(StrCat("the list of ", first, ", ", second, " and ", spatial),
                                      all, rank));
  if (all.size() != rank) {
    return op.Error(spatial, " must name ", rank - 2, " dimensions, found ",
                    ListText(side.spatial));
  }
  side.first = static_cast<size_t>(first_number);
  side.second = static_cast<size_t>(second_number);
  return side;
}

// That `whole` is `part` times `groups`, as far as the sizes are known.
Status CheckGroups(const OpView& op, std::string_view what, int64_t whole, int64_t groups,
                   int64_t part = kDynamic) {
  if (whole == kDynamic) return OkStatus();
  if (whole % groups == 0 && (part == kDynamic || whole / groups == part)) return OkStatus();
  return op.Error(what, " of size ", whole, " cannot be ", groups, " groups",
                  part == kDynamic ? std::string() : StrCat(" of ", part));
}

InferredTypes Convolve(const OpView& op, bool knows_padding) {
  const Type input = op.operands()[0];
  const Type kernel = op.operands()[1];
  const size_t rank = input.rank();
  if (rank < 2 || kernel.rank() != rank) {
    return op.Error("operands must have as many dimensions, at least 2, found ", input.ToString(),
                    " and ", kernel.ToString());
  }
  ASSIGN_OR_RETURN(const Attribute numbers, op.Struct("dimension_numbers", "stablehlo.conv"));
  ASSIGN_OR_RETURN(const ConvolutionSide from,
                   ReadSide(op, numbers, "input_batch_dimension", "input_feature_dimension",
                            "input_spatial_dimensions", rank));
  ASSIGN_OR_RETURN(const ConvolutionSide with,
                   ReadSide(op, numbers, "kernel_input_feature_dimension",
                            "kernel_output_feature_dimension", "kernel_spatial_dimensions", rank));
  ASSIGN_OR_RETURN(const ConvolutionSide to,
                   ReadSide(op, numbers, "output_batch_dimension", "output_feature_dimension",
                            "output_spatial_dimensions", rank));
  ASSIGN_OR_RETURN(const int64_t feature_groups, op.Integer("feature_group_count"));
  ASSIGN_OR_RETURN(const int64_t batch_groups, op.Integer("batch_group_count"));
  if (feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1)) {
    return op.Error(
        "feature_group_count and batch_group_count must be positive and one of them 1, found ",
        feature_groups, " and ", batch_groups);
  }
  const int64_t batch = input.shape()[from.first];
  const int64_t features = kernel.shape()[with.second];
  RETURN_IF_ERROR(CheckGroups(op, "the input's batch", batch, batch_groups));
  RETURN_IF_ERROR(CheckGroups(op, "the input's features", input.shape()[from.second],
                              feature_groups, kernel.shape()[with.first]));
  RETURN_IF_ERROR(CheckGroups(op, "the output's features", features, batch_groups));
  RETURN_IF_ERROR(CheckGroups(op, "the output's features", features, feature_groups));

  Dimensions result(rank);
  if (batch != kDynamic) result[to.first].size = batch / batch_groups;
  result[to.second].size = features;
  if (knows_padding) {
    llvm::SmallVector<int64_t> sizes;
    for (const int64_t d : with.spatial) sizes.push_back(kernel.shape()[d]);
    ASSIGN_OR_RETURN(const Window window, ReadWindow(op, sizes, "lhs_dilation", "rhs_dilation"));
    const Dimensions base = DimensionsOf(input);
    for (size_t i = 0; i < window.size(); ++i) {
      ASSIGN_OR_RETURN(result[to.spatial[i]], Slide(op, base[from.spatial[i]], window[i]));
    }
  }
  return std::vector<Type>{TensorOf(op.context(), result, input.element_type())};
}

}  // namespace

InferredTypes InferConvolution(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(2));
  RETURN_IF_ERROR(op.ExpectTensors());
  return Convolve(op, /*knows_padding=*/true);
}

InferredTypes InferDynamicConvolution(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(3));
  RETURN_IF_ERROR(op.ExpectTensors());
  return Convolve(op, /*knows_padding=*/false);
}

InferredTypes InferReduceWindow(const OpView& op) {
  const size_t count = op.operands().size() / 2;
  if (count == 0 || op.operands().size() % 2 != 0) {
    return op.Error("expected as many initial values as inputs, found ", op.operands().size(),
                    " operands");
  }
  RETURN_IF_ERROR(op.ExpectTensors());
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> sizes,
                   op.IntegersOfRank("window_dimensions", op.operands()[0].rank()));
  ASSIGN_OR_RETURN(const Window window,
                   ReadWindow(op, sizes, "base_dilations", "window_dilations"));
  ASSIGN_OR_RETURN(const std::vector<Type> elements, AccumulatorElements(op, 0, count));
  std::vector<Type> results;
  for (size_t i = 0; i < count; ++i) {
    const Type input = op.operands()[i];
    if (!HaveCompatibleShapes(input, op.operands()[0])) {
      return op.Error("operands 0 and ", i, " must have the same shape, found ",
                      op.operands()[0].ToString(), " and ", input.ToString());
    }
    Dimensions result = DimensionsOf(input);
    for (size_t d = 0; d < result.size(); ++d) {
      ASSIGN_OR_RETURN(result[d], Slide(op, result[d], window[d]));
    }
    results.push_back(TensorOf(op.context(), result, elements[i]));
  }
  return results;
}

InferredTypes InferSelectAndScatter(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(3));
  RETURN_IF_ERROR(op.ExpectTensors());
  const Type operand = op.operands()[0];
  const Type source = op.operands()[1];
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> sizes, op.IntegersOrEmpty("window_dimensions"));
  if (sizes.size() != operand.rank()) {
    return op.Error("window_dimensions must have ", operand.rank(), " numbers, found ",
                    ListText(sizes));
  }
  ASSIGN_OR_RETURN(const Window window, ReadWindow(op, sizes, "", ""));
  Dimensions places = DimensionsOf(operand);
  for (size_t d = 0; d < places.size(); ++d) {
    ASSIGN_OR_RETURN(places[d], Slide(op, places[d], window[d]));
  }
  const Type expected = TensorOf(op.context(), places, source.element_type());
  if (!HaveCompatibleShapes(expected, source)) {
    return op.Error("operand 1 must have one element for each place of the window, ",
                    expected.ToString(), ", found ", source.ToString());
  }
  // Region 0 selects; region 1 is the reduction.
  ASSIGN_OR_RETURN(const std::vector<Type> elements, AccumulatorElements(op, 1, 1));
  return std::vector<Type>{WithElement(op.context(), operand, elements[0])};
}

}  // namespace plimsoll
