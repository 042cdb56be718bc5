// Result types of ops that move and reshape.

#include <algorithm>
#include <optional>

#include "ir/dimensions.h"
#include "ir/infer_rules.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace plimsoll {
namespace {

std::vector<Type> OneTensor(const OpView& op, llvm::ArrayRef<Dimension> dimensions, Type element) {
  return {TensorOf(op.context(), dimensions, element)};
}

// The dimension behind `a` and `b`, one after the other; nothing if the sum is too large.
std::optional<Dimension> Joined(const Dimension& a, const Dimension& b) {
  const int64_t most_a = a.is_static() ? a.size : a.bound;
  const int64_t most_b = b.is_static() ? b.size : b.bound;
  if (most_a == kDynamic || most_b == kDynamic) return Dimension{};
  const std::optional<int64_t> most = llvm::checkedAdd(most_a, most_b);
  if (!most) return std::nullopt;
  const bool is_static = a.is_static() && b.is_static();
  return is_static ? Dimension{*most, kDynamic} : Dimension{kDynamic, *most};
}

// The size after padding; nothing if it is negative or too large.
std::optional<int64_t> Padded(int64_t size, int64_t low, int64_t high, int64_t interior) {
  const std::optional<int64_t> holes = llvm::checkedMul(std::max<int64_t>(size - 1, 0), interior);
  const std::optional<int64_t> edges = llvm::checkedAdd(low, high);
  if (!holes || !edges) return std::nullopt;
  const std::optional<int64_t> inside = llvm::checkedAdd(size, *holes);
  const std::optional<int64_t> padded = inside ? llvm::checkedAdd(*inside, *edges) : std::nullopt;
  return padded && *padded >= 0 ? padded : std::nullopt;
}

}  // namespace

InferredTypes InferBroadcast(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> sizes, op.Integers("broadcast_sizes"));
  Dimensions result;
  for (const int64_t size : sizes) {
    if (size < 0) return op.Error("broadcast_sizes must not be negative, found ", ListText(sizes));
    result.push_back({size, kDynamic});
  }
  result.append(DimensionsOf(operand));
  return OneTensor(op, result, operand.element_type());
}

InferredTypes InferConcatenate(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperandsAtLeast(1));
  RETURN_IF_ERROR(op.ExpectTensors());
  const Type first = op.operands()[0];
  ASSIGN_OR_RETURN(const size_t along, op.DimensionNumber("dimension", first.rank()));
  Dimensions result = DimensionsOf(first);
  for (size_t i = 1; i < op.operands().size(); ++i) {
    const Type operand = op.operands()[i];
    RETURN_IF_ERROR(op.ExpectCompatibleElements(0, i));
    if (operand.rank() != first.rank()) {
      return op.Error("operands 0 and ", i, " must have as many dimensions, found ",
                      first.ToString(), " and ", operand.ToString());
    }
    const Dimensions dimensions = DimensionsOf(operand);
    for (size_t d = 0; d < result.size(); ++d) {
      const std::optional<Dimension> merged =
          d == along ? Joined(result[d], dimensions[d]) : MostSpecific(result[d], dimensions[d]);
      if (!merged && d == along) return op.Error("dimension ", d, " of the result is too large");
      if (!merged) {
        return op.Error("operands 0 and ", i, " differ in dimension ", d,
                        ", which is not the one that is joined (", along, "): found ",
                        first.ToString(), " and ", operand.ToString());
      }
      result[d] = *merged;
    }
  }
  return OneTensor(op, result, first.element_type());
}

InferredTypes InferDynamicSlice(const OpView& op) {
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  RETURN_IF_ERROR(op.ExpectOperands(1 + operand.rank()));
  RETURN_IF_ERROR(op.ExpectIndices(1));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> sizes,
                   op.IntegersOfRank("slice_sizes", operand.rank()));
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t size = operand.shape()[d];
    if (sizes[d] < 0 || (size != kDynamic && sizes[d] > size)) {
      return op.Error("slice_sizes wants ", sizes[d], " of dimension ", d, " of operand 0, ",
                      operand.ToString());
    }
  }
  return std::vector<Type>{op.context().TensorType(sizes, operand.element_type())};
}

InferredTypes InferDynamicUpdateSlice(const OpView& op) {
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  RETURN_IF_ERROR(op.ExpectOperands(2 + operand.rank()));
  RETURN_IF_ERROR(op.ExpectCompatibleElements(0, 1));
  RETURN_IF_ERROR(op.ExpectIndices(2));
  const Type update = op.operands()[1];
  bool fits = update.rank() == operand.rank();
  for (size_t d = 0; fits && d < update.rank(); ++d) {
    const int64_t size = operand.shape()[d];
    fits = size == kDynamic || update.shape()[d] == kDynamic || update.shape()[d] <= size;
  }
  if (!fits) {
    return op.Error("operand 1, ", update.ToString(), ", does not fit into operand 0, ",
                    operand.ToString());
  }
  return std::vector<Type>{operand};
}

InferredTypes InferDimensionSize(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  if (auto number = op.DimensionNumber("dimension", operand.rank()); !number.ok()) {
    return number.status();
  }
  return std::vector<Type>{op.context().TensorType({}, op.context().IntegerType(32))};
}

InferredTypes InferSetDimensionSize(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(2));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  RETURN_IF_ERROR(op.ExpectIndices(1));
  ASSIGN_OR_RETURN(const size_t number, op.DimensionNumber("dimension", operand.rank()));
  Dimensions result = DimensionsOf(operand);
  if (result[number].is_static()) result[number] = {kDynamic, result[number].size};
  return OneTensor(op, result, operand.element_type());
}

InferredTypes InferPad(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(2));
  RETURN_IF_ERROR(op.ExpectCompatibleElements(0, 1));
  const Type operand = op.operands()[0];
  if (op.operands()[1].rank() != 0) {
    return op.Error("operand 1 must be a scalar, found ", op.operands()[1].ToString());
  }
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> low,
                   op.IntegersOfRank("edge_padding_low", operand.rank()));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> high,
                   op.IntegersOfRank("edge_padding_high", operand.rank()));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> interior,
                   op.IntegersOfRank("interior_padding", operand.rank()));
  Dimensions result = DimensionsOf(operand);
  for (size_t d = 0; d < result.size(); ++d) {
    if (interior[d] < 0) {
      return op.Error("interior_padding must not be negative, found ", ListText(interior));
    }
    int64_t& most = result[d].is_static() ? result[d].size : result[d].bound;
    if (most == kDynamic) continue;
    const std::optional<int64_t> padded = Padded(most, low[d], high[d], interior[d]);
    if (!padded) {
      return op.Error("padding of ", low[d], ", ", high[d], " and ", interior[d],
                      " between elements does not fit dimension ", d, " of ", operand.ToString());
    }
    most = *padded;
  }
  return OneTensor(op, result, operand.element_type());
}

InferredTypes InferReverse(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> dimensions, op.Integers("dimensions"));
  RETURN_IF_ERROR(op.ExpectDimensions("dimensions", dimensions, operand.rank()));
  return std::vector<Type>{operand};
}

InferredTypes InferSlice(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> starts,
                   op.IntegersOfRank("start_indices", operand.rank()));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> limits,
                   op.IntegersOfRank("limit_indices", operand.rank()));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> strides,
                   op.IntegersOfRank("strides", operand.rank()));
  Dimensions result = DimensionsOf(operand);
  for (size_t d = 0; d < result.size(); ++d) {
    const int64_t most = result[d].is_static() ? result[d].size : result[d].bound;
    if (starts[d] < 0 || limits[d] < starts[d] || (most != kDynamic && limits[d] > most)) {
      return op.Error("slice ", starts[d], ":", limits[d], " is not within dimension ", d, " of ",
                      operand.ToString());
    }
    if (strides[d] < 1) return op.Error("strides must be positive, found ", ListText(strides));
    const int64_t length = limits[d] - starts[d];
    result[d] = {length / strides[d] + (length % strides[d] != 0 ? 1 : 0), kDynamic};
  }
  return OneTensor(op, result, operand.element_type());
}

InferredTypes InferTranspose(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> permutation,
                   op.IntegersOfRank("permutation", operand.rank()));
  RETURN_IF_ERROR(op.ExpectDimensions("permutation", permutation, operand.rank()));
  const Dimensions dimensions = DimensionsOf(operand);
  Type element = operand.element_type();
  Dimensions result;
  for (size_t d = 0; d < permutation.size(); ++d) {
    result.push_back(dimensions[permutation[d]]);
    // Scales follow the dimension which they belong to.
    if (IsQuantizedPerAxis(operand.element_type()) &&
        *operand.element_type().data()->quantized->axis == permutation[d]) {
      QuantizedData moved = *operand.element_type().data()->quantized;
      moved.axis = static_cast<int32_t>(d);
      element = op.context().QuantizedType(element.element_type(), moved);
    }
  }
  return OneTensor(op, result, element);
}

}  // namespace plimsoll
