// Result types of reductions, sorting and batch normalization.

#include <optional>

#include "ir/dimensions.h"
#include "ir/infer_rules.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// That all operands have the shape of the first.
Status ExpectOneShape(const OpView& op, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    if (!HaveCompatibleShapes(op.operands()[0], op.operands()[i])) {
      return op.Error("operands 0 and ", i, " must have the same shape, found ",
                      op.operands()[0].ToString(), " and ", op.operands()[i].ToString());
    }
  }
  return OkStatus();
}

// The dimension that features lie in. `vectors` are the operands with one number a feature.
StatusOr<Dimension> Features(const OpView& op, llvm::ArrayRef<size_t> vectors) {
  RETURN_IF_ERROR(op.ExpectTensors());
  const Type element = op.operands()[0].element_type();
  if (!element.Is(TypeKind::kFloat) && !IsQuantized(element)) {
    return op.Error("operand 0 must hold floats, found ", op.operands()[0].ToString());
  }
  const Dimensions dimensions = DimensionsOf(op.operands()[0]);
  ASSIGN_OR_RETURN(const size_t index, op.DimensionNumber("feature_index", dimensions.size()));
  for (const size_t i : vectors) {
    const Type vector = op.operands()[i];
    if (vector.rank() != 1 || !AreCompatible(DimensionsOf(vector)[0], dimensions[index])) {
      return op.Error("operand ", i, " must have one number for each of ", Text(dimensions[index]),
                      " features, found ", vector.ToString());
    }
  }
  return dimensions[index];
}

}  // namespace

InferredTypes AccumulatorElements(const OpView& op, size_t region, size_t count) {
  std::vector<Type> types(op.operands().take_front(count));
  if (op.HasBody(region)) {
    ASSIGN_OR_RETURN(types, op.ReturnedTypes(region));
  }
  if (types.size() != count) {
    return op.Error("region ", region, " must return ", count, " values, found ", types.size());
  }
  for (Type& type : types) {
    if (!type.Is(TypeKind::kTensor)) {
      return op.Error("region ", region, " must return tensors, found ", type.ToString());
    }
    type = type.element_type();
  }
  return types;
}

InferredTypes InferReduce(const OpView& op) {
  const size_t count = op.operands().size() / 2;
  if (count == 0 || op.operands().size() % 2 != 0) {
    return op.Error("expected as many initial values as inputs, found ", op.operands().size(),
                    " operands");
  }
  RETURN_IF_ERROR(op.ExpectTensors());
  RETURN_IF_ERROR(ExpectOneShape(op, count));
  const Dimensions dimensions = DimensionsOf(op.operands()[0]);
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> reduced, op.Integers("dimensions"));
  RETURN_IF_ERROR(op.ExpectDimensions("dimensions", reduced, dimensions.size()));
  Dimensions kept;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (!llvm::is_contained(reduced, static_cast<int64_t>(d))) kept.push_back(dimensions[d]);
  }
  ASSIGN_OR_RETURN(const std::vector<Type> elements, AccumulatorElements(op, 0, count));
  std::vector<Type> results;
  for (const Type element : elements) results.push_back(TensorOf(op.context(), kept, element));
  return results;
}

InferredTypes InferMap(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperandsAtLeast(1));
  RETURN_IF_ERROR(op.ExpectTensors());
  RETURN_IF_ERROR(ExpectOneShape(op, op.operands().size()));
  const Type operand = op.operands()[0];
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> dimensions,
                   op.IntegersOfRank("dimensions", operand.rank()));
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] != static_cast<int64_t>(d)) {
      return op.Error("dimensions must be all in order, found ", ListText(dimensions));
    }
  }
  ASSIGN_OR_RETURN(const std::vector<Type> elements, AccumulatorElements(op, 0, 1));
  return std::vector<Type>{WithElement(op.context(), operand, elements[0])};
}

InferredTypes InferSort(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperandsAtLeast(1));
  RETURN_IF_ERROR(op.ExpectTensors());
  RETURN_IF_ERROR(ExpectOneShape(op, op.operands().size()));
  // Negative numbers count from the end.
  ASSIGN_OR_RETURN(const int64_t dimension, op.IntegerOr("dimension", -1));
  const auto rank = static_cast<int64_t>(op.operands()[0].rank());
  if (dimension < -rank || dimension >= rank) {
    return op.Error("dimension is ", dimension, ", but the operands are ",
                    op.operands()[0].ToString());
  }
  return std::vector<Type>(op.operands());
}

InferredTypes InferTopK(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  ASSIGN_OR_RETURN(const int64_t k, op.Integer("k"));
  Dimensions result = DimensionsOf(operand);
  if (result.empty() || k < 0 || (result.back().is_static() && result.back().size < k)) {
    return op.Error("the ", k, " largest are wanted along the last dimension of ",
                    operand.ToString());
  }
  result.back() = {k, kDynamic};
  return std::vector<Type>{TensorOf(op.context(), result, operand.element_type()),
                           TensorOf(op.context(), result, op.context().IntegerType(32))};
}

InferredTypes InferBatchNormInference(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(5));
  ASSIGN_OR_RETURN(const Dimension features, Features(op, {1, 2, 3, 4}));
  static_cast<void>(features);
  return std::vector<Type>{op.operands()[0]};
}

InferredTypes InferBatchNormTraining(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(3));
  ASSIGN_OR_RETURN(const Dimension features, Features(op, {1, 2}));
  const Type operand = op.operands()[0];
  const Type vector = TensorOf(op.context(), features, operand.element_type());
  return std::vector<Type>{operand, vector, vector};
}

InferredTypes InferBatchNormGrad(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(5));
  ASSIGN_OR_RETURN(const Dimension features, Features(op, {1, 2, 3}));
  const Type operand = op.operands()[0];
  if (!HaveCompatibleShapes(operand, op.operands()[4])) {
    return op.Error("operands 0 and 4 must have the same shape, found ", operand.ToString(),
                    " and ", op.operands()[4].ToString());
  }
  const Type vector = TensorOf(op.context(), features, operand.element_type());
  return std::vector<Type>{operand, vector, vector};
}

}  // namespace plimsoll
