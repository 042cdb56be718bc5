// Result types of ops that many devices do together.

#include <optional>

#include "ir/dimensions.h"
#include "ir/infer_rules.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace plimsoll {
namespace {

// How many devices work together, where the attributes say: replica groups that list devices, not
// replicas which have all partitions each, or mesh axes whose sizes stand elsewhere.
StatusOr<std::optional<int64_t>> GroupSize(const OpView& op) {
  const Attribute groups = op.Find("replica_groups");
  if (!groups.Is(AttributeKind::kDenseElements)) return std::optional<int64_t>();
  const Type type = groups.type();
  if (!type.Is(TypeKind::kTensor) || type.rank() != 2) {
    return op.Error("replica_groups must have two dimensions, found ", type.ToString());
  }
  const bool lists_devices = op.HasFlag("use_global_device_ids");
  const bool lists_replicas = !op.Find("channel_handle");
  if ((!lists_devices && !lists_replicas) || type.shape()[0] < 1 || type.shape()[1] < 1) {
    return std::optional<int64_t>();
  }
  return std::optional<int64_t>(type.shape()[1]);
}

// The dimension times `factor`; nothing if it is too large.
std::optional<Dimension> Times(Dimension dimension, int64_t factor) {
  int64_t& most = dimension.is_static() ? dimension.size : dimension.bound;
  if (most == kDynamic) return dimension;
  const std::optional<int64_t> product = llvm::checkedMul(most, factor);
  if (!product) return std::nullopt;
  most = *product;
  return dimension;
}

// The dimension cut into `parts` equal ones; nothing if that cannot be.
std::optional<Dimension> CutInto(Dimension dimension, int64_t parts) {
  if (dimension.is_static() && dimension.size % parts != 0) return std::nullopt;
  int64_t& most = dimension.is_static() ? dimension.size : dimension.bound;
  if (most != kDynamic) most /= parts;
  return dimension;
}

// The operands that hold data: all but the last if that one says where the root is.
StatusOr<llvm::ArrayRef<Type>> DataOperands(const OpView& op) {
  const size_t roots = op.HasFlag("has_dynamic_root") ? 1 : 0;
  RETURN_IF_ERROR(op.ExpectOperandsAtLeast(1 + roots));
  return op.operands().drop_back(roots);
}

// Reduces each operand by itself with the one region.
InferredTypes ReducedAlone(const OpView& op, llvm::ArrayRef<Type> operands) {
  std::vector<Type> results;
  for (const Type operand : operands) {
    Type element = operand.element_type();
    if (op.HasBody(0)) {
      ASSIGN_OR_RETURN(const std::vector<Type> elements, AccumulatorElements(op, 0, 1));
      element = elements[0];
    }
    results.push_back(WithElement(op.context(), operand, element));
  }
  return results;
}

}  // namespace

InferredTypes InferAllReduce(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperandsAtLeast(1));
  RETURN_IF_ERROR(op.ExpectTensors());
  return ReducedAlone(op, op.operands());
}

InferredTypes InferCollectiveReduce(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectTensors());
  ASSIGN_OR_RETURN(const llvm::ArrayRef<Type> operands, DataOperands(op));
  return ReducedAlone(op, operands);
}

InferredTypes InferCollectiveBroadcast(const OpView& op) {
  ASSIGN_OR_RETURN(const llvm::ArrayRef<Type> operands, DataOperands(op));
  return std::vector<Type>(operands);
}

InferredTypes InferAllGather(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperandsAtLeast(1));
  RETURN_IF_ERROR(op.ExpectTensors());
  ASSIGN_OR_RETURN(const std::optional<int64_t> devices, GroupSize(op));
  std::vector<Type> results;
  for (const Type operand : op.operands()) {
    ASSIGN_OR_RETURN(const size_t along, op.DimensionNumber("all_gather_dim", operand.rank()));
    Dimensions result = DimensionsOf(operand);
    const std::optional<Dimension> gathered =
        devices ? Times(result[along], *devices) : Dimension{};
    if (!gathered) return op.Error("dimension ", along, " of the result is too large");
    result[along] = *gathered;
    results.push_back(TensorOf(op.context(), result, operand.element_type()));
  }
  return results;
}

InferredTypes InferReduceScatter(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  ASSIGN_OR_RETURN(const std::optional<int64_t> devices, GroupSize(op));
  ASSIGN_OR_RETURN(const size_t along, op.DimensionNumber("scatter_dimension", operand.rank()));
  Dimensions result = DimensionsOf(operand);
  const std::optional<Dimension> scattered =
      devices ? CutInto(result[along], *devices) : Dimension{};
  if (!scattered) {
    return op.Error("dimension ", along, " of ", operand.ToString(),
                    " cannot be cut into equal parts for ", *devices, " devices");
  }
  result[along] = *scattered;
  ASSIGN_OR_RETURN(const std::vector<Type> elements, AccumulatorElements(op, 0, 1));
  return std::vector<Type>{TensorOf(op.context(), result, elements[0])};
}

InferredTypes InferAllToAll(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperandsAtLeast(1));
  RETURN_IF_ERROR(op.ExpectTensors());
  ASSIGN_OR_RETURN(const int64_t parts, op.Integer("split_count"));
  if (parts < 1) return op.Error("split_count must be positive, found ", parts);
  std::vector<Type> results;
  for (const Type operand : op.operands()) {
    ASSIGN_OR_RETURN(const size_t split, op.DimensionNumber("split_dimension", operand.rank()));
    ASSIGN_OR_RETURN(const size_t joined, op.DimensionNumber("concat_dimension", operand.rank()));
    Dimensions result = DimensionsOf(operand);
    const std::optional<Dimension> part = CutInto(result[split], parts);
    if (!part) {
      return op.Error("dimension ", split, " of ", operand.ToString(), " cannot be cut into ",
                      parts, " equal parts");
    }
    result[split] = *part;
    const std::optional<Dimension> whole = Times(result[joined], parts);
    if (!whole) return op.Error("dimension ", joined, " of the result is too large");
    result[joined] = *whole;
    results.push_back(TensorOf(op.context(), result, operand.element_type()));
  }
  return results;
}

}  // namespace plimsoll
