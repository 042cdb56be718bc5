// Whether given result types can be right: against what is inferred, and, where the op's types must
// be said, against what the operands allow.

#include <optional>

#include "ir/dimensions.h"
#include "ir/infer_types.h"

namespace plimsoll {
namespace {

// How many operands an op takes whose result types must be said; nothing if any number.
std::optional<size_t> OperandCount(Opcode opcode) {
  switch (opcode) {
    case Opcode::kIota:
      return 0;
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcastInDim:
    case Opcode::kConvert:
    case Opcode::kDynamicIota:
    case Opcode::kInfeed:
    case Opcode::kRecv:
    case Opcode::kReshape:
    case Opcode::kRngBitGenerator:
    case Opcode::kUnaryEinsum:
    case Opcode::kUniformQuantize:
      return 1;
    case Opcode::kDynamicBroadcastInDim:
    case Opcode::kDynamicReshape:
    case Opcode::kEinsum:
    case Opcode::kTorchIndexSelect:
      return 2;
    case Opcode::kChloRaggedDot:
    case Opcode::kRng:
      return 3;
    case Opcode::kRealDynamicSlice:
      return 4;
    case Opcode::kDynamicPad:
      return 5;
    default:
      return std::nullopt;
  }
}

Status ExpectResults(const OpView& op, llvm::ArrayRef<Type> results, size_t count) {
  if (results.size() == count) return OkStatus();
  return op.Error("expected ", count, count == 1 ? " result" : " results", ", found ",
                  results.size());
}

StatusOr<Type> OneTensor(const OpView& op, llvm::ArrayRef<Type> results) {
  RETURN_IF_ERROR(ExpectResults(op, results, 1));
  if (results[0].Is(TypeKind::kTensor)) return results[0];
  return op.Error("the result must be a ranked tensor, found ", results[0].ToString());
}

Status Mismatch(const OpView& op, std::string_view what, Type operand, Type result) {
  return op.Error("operand 0 and the result must have ", what, ", found ", operand.ToString(),
                  " and ", result.ToString());
}

// How many bits an element has; nothing if it is not a number.
std::optional<unsigned> Bits(Type element) {
  switch (element ? element.kind() : TypeKind::kNone) {
    case TypeKind::kInteger:
      return element.integer_width();
    case TypeKind::kIndex:
      return 64;
    case TypeKind::kFloat:
      return llvm::APFloat::getSizeInBits(FloatSemantics(element.float_kind()));
    case TypeKind::kComplex: {
      const std::optional<unsigned> part = Bits(element.element_type());
      return part ? std::optional<unsigned>(2 * *part) : std::nullopt;
    }
    case TypeKind::kQuantized:
      return Bits(element.data()->quantized->storage);
    default:
      return std::nullopt;
  }
}

Status CheckBitcast(const OpView& op, Type operand, Type result) {
  const bool from_complex = operand.element_type().Is(TypeKind::kComplex);
  if (from_complex != result.element_type().Is(TypeKind::kComplex)) {
    return Mismatch(op, "either real or complex elements", operand, result);
  }
  const std::optional<unsigned> from = Bits(operand.element_type());
  const std::optional<unsigned> to = Bits(result.element_type());
  if (!from || !to) return OkStatus();
  if (*from == *to) {
    if (HaveCompatibleShapes(operand, result)) return OkStatus();
    return Mismatch(op, "the same shape", operand, result);
  }
  // The narrow elements that make one wide element lie along one more dimension.
  const Type narrow = *from < *to ? operand : result;
  const Type wide = *from < *to ? result : operand;
  const unsigned narrow_bits = std::min(*from, *to);
  bool fits = narrow.rank() == wide.rank() + 1 && narrow_bits != 0;
  if (fits) {
    Dimensions dimensions = DimensionsOf(narrow);
    const Dimension parts = {std::max(*from, *to) / narrow_bits, kDynamic};
    fits = std::max(*from, *to) % narrow_bits == 0 && AreCompatible(dimensions.back(), parts);
    dimensions.pop_back();
    fits =
        fits && HaveCompatibleShapes(TensorOf(op.context(), dimensions, wide.element_type()), wide);
  }
  return fits ? OkStatus() : Mismatch(op, "as many bits", operand, result);
}

// Some ops must say how large their result is, or at least how large it can be.
Status ExpectBounded(const OpView& op, Type result) {
  for (const Dimension& dimension : DimensionsOf(result)) {
    if (dimension.is_static() || dimension.is_bounded()) continue;
    return op.Error("the result must have sizes or bounds, found ", result.ToString());
  }
  return OkStatus();
}

Status CheckBroadcast(const OpView& op, Type operand, Type result) {
  if (!AreCompatibleElements(operand.element_type(), result.element_type())) {
    return Mismatch(op, "the same elements", operand, result);
  }
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> map,
                   op.IntegersOfRank("broadcast_dimensions", operand.rank()));
  RETURN_IF_ERROR(op.ExpectDimensions("broadcast_dimensions", map, result.rank()));
  const Dimensions from = DimensionsOf(operand);
  const Dimensions to = DimensionsOf(result);
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d].size == 1 || AreCompatible(from[d], to[map[d]])) continue;
    return op.Error("dimension ", d, " of operand 0 has size ", Text(from[d]), ", dimension ",
                    map[d], " of the result has size ", Text(to[map[d]]));
  }
  return OkStatus();
}

Status CheckReshape(const OpView& op, Type operand, Type result) {
  if (!AreCompatibleElements(operand.element_type(), result.element_type())) {
    return Mismatch(op, "the same elements", operand, result);
  }
  const std::optional<int64_t> before = operand.element_count();
  const std::optional<int64_t> after = result.element_count();
  if (!before || !after || *before == *after) return OkStatus();
  return op.Error("operand 0, ", operand.ToString(), ", has ", *before,
                  " elements, and the result, ", result.ToString(), ", has ", *after);
}

Status CheckQuantize(const OpView& op, Type operand, Type result) {
  if (!HaveCompatibleShapes(operand, result)) {
    return Mismatch(op, "the same shape", operand, result);
  }
  const Type from = operand.element_type();
  const Type to = result.element_type();
  if (!IsQuantized(to)) {
    return op.Error("the result must be quantized, found ", result.ToString());
  }
  const Type expressed = IsQuantized(from) ? from.element_type() : from;
  return expressed == to.element_type() ? OkStatus()
                                        : Mismatch(op, "the same numbers", operand, result);
}

Status CheckIota(const OpView& op, Type result) {
  if (result.element_type().IsInteger(1)) {
    return op.Error("the result must hold numbers, found ", result.ToString());
  }
  const auto dimension = op.DimensionNumber("iota_dimension", result.rank());
  return dimension.ok() ? OkStatus() : dimension.status();
}

// That an operand which says sizes or places has one number for each of `rank` dimensions.
Status ExpectNumbers(const OpView& op, size_t operand, size_t rank) {
  const Type numbers = op.operands()[operand];
  const Type element = numbers.element_type();
  const bool are_integers = element.Is(TypeKind::kInteger) || element.Is(TypeKind::kIndex);
  const Dimension expected = {static_cast<int64_t>(rank), kDynamic};
  if (are_integers && numbers.rank() == 1 && AreCompatible(DimensionsOf(numbers)[0], expected)) {
    return OkStatus();
  }
  return op.Error("operand ", operand, " must be ", rank, " integers, found ", numbers.ToString());
}

// Ops that receive give data and a token.
Status CheckReceived(const OpView& op, llvm::ArrayRef<Type> results) {
  if (!results.empty() && results.back().Is(TypeKind::kToken)) return OkStatus();
  return op.Error("the last result must be a token");
}

// Types that must be said can still be wrong.
Status CheckExplicit(const OpView& op, llvm::ArrayRef<Type> results) {
  const std::optional<size_t> count = OperandCount(op.opcode());
  if (!count) return OkStatus();
  RETURN_IF_ERROR(op.ExpectOperands(*count));
  if (op.opcode() == Opcode::kInfeed || op.opcode() == Opcode::kRecv) {
    return CheckReceived(op, results);
  }
  RETURN_IF_ERROR(op.ExpectTensors());
  if (op.opcode() == Opcode::kRngBitGenerator) {
    RETURN_IF_ERROR(ExpectResults(op, results, 2));
    return AreCompatible(op.operands()[0], results[0])
               ? OkStatus()
               : Mismatch(op, "the same type", op.operands()[0], results[0]);
  }
  ASSIGN_OR_RETURN(const Type result, OneTensor(op, results));
  const Type operand = *count == 0 ? Type() : op.operands()[0];
  switch (op.opcode()) {
    case Opcode::kBitcastConvert:
      return CheckBitcast(op, operand, result);
    case Opcode::kBroadcastInDim:
      RETURN_IF_ERROR(ExpectBounded(op, result));
      return CheckBroadcast(op, operand, result);
    case Opcode::kDynamicBroadcastInDim:
      RETURN_IF_ERROR(ExpectNumbers(op, 1, result.rank()));
      return CheckBroadcast(op, operand, result);
    case Opcode::kConvert:
      return HaveCompatibleShapes(operand, result)
                 ? OkStatus()
                 : Mismatch(op, "the same shape", operand, result);
    case Opcode::kDynamicIota:
      RETURN_IF_ERROR(ExpectNumbers(op, 0, result.rank()));
      return CheckIota(op, result);
    case Opcode::kDynamicPad:
    case Opcode::kRealDynamicSlice:
      // The last three operands: edges and holes, or starts, limits and strides.
      for (size_t i = *count - 3; i < *count; ++i) {
        RETURN_IF_ERROR(ExpectNumbers(op, i, operand.rank()));
      }
      return operand.rank() == result.rank() ? OkStatus()
                                             : Mismatch(op, "as many dimensions", operand, result);
    case Opcode::kDynamicReshape:
      RETURN_IF_ERROR(ExpectNumbers(op, 1, result.rank()));
      return CheckReshape(op, operand, result);
    case Opcode::kIota:
      if (!result.has_static_shape()) {
        return op.Error("the result must have sizes, found ", result.ToString());
      }
      return CheckIota(op, result);
    case Opcode::kReshape:
      RETURN_IF_ERROR(ExpectBounded(op, result));
      return CheckReshape(op, operand, result);
    case Opcode::kUniformQuantize:
      return CheckQuantize(op, operand, result);
    default:
      return OkStatus();
  }
}

// Whether `whole` is several of `part` along one dimension, as far as sizes are known. How many,
// StableHLO does not check against the groups of devices.
bool IsMultiple(Type whole, Type part, size_t along) {
  const Dimensions of_whole = DimensionsOf(whole);
  const Dimensions of_part = DimensionsOf(part);
  if (of_whole.size() != of_part.size()) return false;
  for (size_t d = 0; d < of_whole.size(); ++d) {
    if (d != along && !AreCompatible(of_whole[d], of_part[d])) return false;
  }
  const bool is_known = of_whole[along].is_static() && of_part[along].is_static();
  const int64_t size = of_part[along].size;
  return !is_known || (size > 0 && of_whole[along].size % size == 0);
}

bool Fits(const OpView& op, size_t index, Type inferred, Type result) {
  const ResultRule rule = GetOpInfo(op.opcode()).result_rule;
  const bool are_tensors = inferred.Is(TypeKind::kTensor) && result.Is(TypeKind::kTensor);
  switch (rule) {
    case ResultRule::kAllGather:
    case ResultRule::kReduceScatter: {
      if (!are_tensors || inferred.element_type() != result.element_type()) return false;
      const bool gathers = rule == ResultRule::kAllGather;
      const Type operand = op.operands()[index];
      const auto along =
          static_cast<size_t>(op.Find(gathers ? "all_gather_dim" : "scatter_dimension").integer());
      return gathers ? IsMultiple(result, operand, along) : IsMultiple(operand, result, along);
    }
    case ResultRule::kConvolution:
    case ResultRule::kDot:
    case ResultRule::kDotGeneral:
    case ResultRule::kDynamicConvolution:
      // Products may be accumulated and kept in other elements.
      return are_tensors && HaveCompatibleShapes(inferred, result);
    case ResultRule::kConstant:
      // Quantized constants are written as what is stored.
      if (are_tensors && IsQuantized(result.element_type())) {
        return HaveCompatibleShapes(inferred, result) &&
               inferred.element_type() == result.element_type().data()->quantized->storage;
      }
      return are_tensors && result.has_static_shape() && AreCompatible(inferred, result);
    default:
      return AreCompatible(inferred, result);
  }
}

// Types that are legal but cannot be followed: constants in a form that is not understood, and
// CHLO's ops on tensors without a rank.
bool IsBeyondInference(const OpView& op) {
  const ResultRule rule = GetOpInfo(op.opcode()).result_rule;
  const bool is_constant = rule == ResultRule::kConstant || rule == ResultRule::kConstantLike;
  if (is_constant && op.Find("value").Is(AttributeKind::kOpaque)) return true;
  return op.name().starts_with("chlo.") && llvm::any_of(op.operands(), [](Type operand) {
           return operand.Is(TypeKind::kUnrankedTensor);
         });
}

}  // namespace

Status CheckResultTypes(const OpView& op, llvm::ArrayRef<Type> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) return op.Error("result ", i, " has no type");
  }
  const ResultRule rule = GetOpInfo(op.opcode()).result_rule;
  if (rule == ResultRule::kExplicit) return CheckExplicit(op, results);
  if (IsBeyondInference(op)) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Type> inferred, InferResultTypes(op));
  RETURN_IF_ERROR(ExpectResults(op, results, inferred.size()));
  for (size_t i = 0; i < results.size(); ++i) {
    if (Fits(op, i, inferred[i], results[i])) continue;
    return op.Error("result ", i, " must be ", inferred[i].ToString(), ", found ",
                    results[i].ToString());
  }
  return OkStatus();
}

}  // namespace plimsoll
