#include "analysis/op_class.h"

#include <cstring>
#include <string_view>

#include "analysis/effects.h"
#include "ir/elements.h"
#include "ir/opcode.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// XLA sums more than this many numbers of a dimension in stages, with a kernel for each.
constexpr int64_t kStage = 32;

bool IsSplat(const Op& op) {
  const Attribute value = op.Get("value");
  return op.Is(Opcode::kConstant) && value && value.Is(AttributeKind::kDenseElements) &&
         value.is_splat();
}

// True if the value repeats other numbers, by which XLA multiplies once it has inverted them. With
// a single number it does so only if nothing else uses that number.
bool IsRepeated(const Value* value) {
  const Type type = value->type();
  if (!type.Is(TypeKind::kTensor) || type.element_type().Is(TypeKind::kInteger)) return false;
  const Op* op = value->defining_op();
  if (op == nullptr || (!op->Is(Opcode::kBroadcastInDim) && !IsSplat(*op))) return false;
  while (op != nullptr && op->Is(Opcode::kBroadcastInDim)) {
    value = op->operand(0);
    if (value->type().element_count().value_or(0) > 1) return true;
    op = value->defining_op();
  }
  return (op != nullptr && IsSplat(*op)) || value->has_one_use();
}

bool IsComplex(Type type) {
  return type.Is(TypeKind::kTensor) && type.element_type().Is(TypeKind::kComplex);
}

// The numbers of an attribute that is an array of them; none if it is absent or something else.
llvm::ArrayRef<int64_t> Integers(Attribute attribute) {
  return attribute && attribute.Is(AttributeKind::kDenseArray) ? attribute.integers()
                                                               : llvm::ArrayRef<int64_t>();
}

// True if the value is this number in all places.
bool IsNumber(const Value* value, double number) {
  const Op* op = value->defining_op();
  while (op != nullptr && op->Is(Opcode::kBroadcastInDim)) op = op->operand(0)->defining_op();
  if (op == nullptr || !IsSplat(*op)) return false;
  const llvm::ArrayRef<char> bytes = op->Get("value").bytes();
  const auto encoded = EncodeElement(value->type().element_type(), number);
  return encoded && std::string_view(bytes.data(), bytes.size()) == *encoded;
}

// True if the result is the first operand, because the second one changes nothing.
bool ChangesNothing(const Op& op) {
  switch (op.opcode()) {
    case Opcode::kMultiply:
    case Opcode::kDivide:
      return IsNumber(op.operand(1), 1.0);
    case Opcode::kAdd:
    case Opcode::kSubtract:
      return IsNumber(op.operand(1), 0.0);
    default:
      return false;
  }
}

// True if a tensor of that type is laid out in an order of dimensions other than the usual one.
// `layout` names the dimensions from the one whose elements are neighbours.
bool IsReordered(Type type, Attribute layout) {
  if (!type.Is(TypeKind::kTensor) || !layout.Is(AttributeKind::kDenseElements)) return false;
  const llvm::ArrayRef<char> bytes = layout.bytes();
  const size_t rank = type.rank();
  if (rank < 2 || bytes.size() != rank * sizeof(int64_t)) return false;
  std::vector<int64_t> dimensions(rank);
  std::memcpy(dimensions.data(), bytes.data(), bytes.size());
  llvm::erase_if(dimensions, [&](int64_t dimension) {
    return dimension < 0 || dimension >= static_cast<int64_t>(rank) || type.shape()[dimension] == 1;
  });
  return !llvm::is_sorted(dimensions, std::greater<>());
}

std::vector<bool> FindReordered(llvm::ArrayRef<Attribute> layouts, llvm::ArrayRef<Value*> values) {
  std::vector<bool> reordered(values.size());
  for (size_t i = 0; i < values.size() && i < layouts.size(); ++i) {
    reordered[i] = IsReordered(values[i]->type(), layouts[i]);
  }
  return reordered;
}

Reordered FindReorderedOfConvolution(const Op& op) {
  Reordered reordered = {{false, false}, {false}};
  const Attribute numbers = op.Get("dimension_numbers");
  if (!numbers || !numbers.Is(AttributeKind::kStruct)) return reordered;
  const auto order = [&](std::string_view first, std::string_view spatial, std::string_view second,
                         std::string_view last) {
    std::vector<int64_t> dimensions;
    if (!first.empty()) dimensions.push_back(numbers.Find(first).integer());
    llvm::append_range(dimensions, Integers(numbers.Find(spatial)));
    if (!second.empty()) dimensions.push_back(numbers.Find(second).integer());
    dimensions.push_back(numbers.Find(last).integer());
    return !llvm::is_sorted(dimensions);
  };
  reordered.operands[0] =
      order("input_batch_dimension", "input_spatial_dimensions", "", "input_feature_dimension");
  reordered.operands[1] = order("", "kernel_spatial_dimensions", "kernel_input_feature_dimension",
                                "kernel_output_feature_dimension");
  reordered.results[0] =
      order("output_batch_dimension", "output_spatial_dimensions", "", "output_feature_dimension");
  return reordered;
}

}  // namespace

bool IsUniform(const Value* value) {
  const Op* op = value->defining_op();
  while (op != nullptr && op->Is(Opcode::kBroadcastInDim)) op = op->operand(0)->defining_op();
  return op != nullptr && IsSplat(*op);
}

bool IsZero(const Value* value) { return IsNumber(value, 0.0); }

bool ReducesInStages(const Op& op) {
  if (!op.Is(Opcode::kReduce) || op.result_count() != 1) return false;
  for (const int64_t dimension : Integers(op.Get("dimensions"))) {
    if (op.operand(0)->type().shape()[dimension] > kStage) return true;
  }
  return false;
}

int64_t StageBytes(const Op& op) {
  const Type type = op.operand(0)->type();
  int64_t bytes = type.element_type().bytes_per_element().value_or(0);
  const llvm::ArrayRef<int64_t> reduced = Integers(op.Get("dimensions"));
  for (size_t i = 0; i < type.rank(); ++i) {
    const int64_t size = type.shape()[i];
    const bool is_reduced = llvm::is_contained(reduced, static_cast<int64_t>(i));
    bytes *= is_reduced ? (size + kStage - 1) / kStage : size;
  }
  return bytes;
}

bool IsCumulative(const Op& op, size_t& dimension) {
  if (!op.Is(Opcode::kReduceWindow) || op.result_count() != 1) return false;
  const Type type = op.operand(0)->type();
  const llvm::ArrayRef<int64_t> window = Integers(op.Get("window_dimensions"));
  if (type != op.result(0)->type() || window.size() != type.rank()) return false;
  size_t found = 0;
  for (size_t i = 0; i < window.size(); ++i) {
    if (window[i] == 1) continue;
    if (window[i] != type.shape()[i]) return false;
    dimension = i;
    ++found;
  }
  return found == 1;
}

bool IsOuterProduct(const Op& op) {
  if (!op.Is(Opcode::kDotGeneral)) return false;
  const Attribute numbers = op.Get("dot_dimension_numbers");
  if (!numbers || !numbers.Is(AttributeKind::kStruct)) return false;
  const Type left = op.operand(0)->type();
  return llvm::all_of(Integers(numbers.Find("lhs_contracting_dimensions")),
                      [&](int64_t dimension) { return left.shape()[dimension] == 1; });
}

namespace {

// How the dimensions of a product's operand stand; those of one element are left out.
struct ProductOrder {
  bool is_inner_last = true;   // Batch, free, contracted.
  bool is_inner_first = true;  // Batch, contracted, free.
  size_t contracted = 0;
  size_t batch = 0;
};

ProductOrder OrderOf(const Op& op, size_t operand) {
  const Attribute numbers = op.Get("dot_dimension_numbers");
  if (!numbers || !numbers.Is(AttributeKind::kStruct)) return {};
  const bool is_left = operand == 0;
  const llvm::ArrayRef<int64_t> batch =
      Integers(numbers.Find(is_left ? "lhs_batching_dimensions" : "rhs_batching_dimensions"));
  const llvm::ArrayRef<int64_t> contracted =
      Integers(numbers.Find(is_left ? "lhs_contracting_dimensions" : "rhs_contracting_dimensions"));
  const llvm::ArrayRef<int64_t> shape = op.operand(operand)->type().shape();
  ProductOrder order;
  std::vector<int> last;
  std::vector<int> first;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    const int64_t dimension = static_cast<int64_t>(i);
    const bool is_batch = llvm::is_contained(batch, dimension);
    const bool is_contracted = llvm::is_contained(contracted, dimension);
    order.batch += is_batch ? 1 : 0;
    order.contracted += is_contracted ? 1 : 0;
    last.push_back(is_batch ? 0 : is_contracted ? 2 : 1);
    first.push_back(is_batch ? 0 : is_contracted ? 1 : 2);
  }
  order.is_inner_last = llvm::is_sorted(last);
  order.is_inner_first = llvm::is_sorted(first);
  return order;
}

}  // namespace

bool IsReorderedForProduct(const Op& op, size_t operand) {
  const ProductOrder orders[2] = {OrderOf(op, 0), OrderOf(op, 1)};
  const ProductOrder& order = orders[operand];
  const bool is_usual = operand == 0 ? order.is_inner_last : order.is_inner_first;
  if (is_usual) return false;
  // Several contracted dimensions are made one. Batches are brought into the usual order if one of
  // the operands has to be; a single matrix may be transposed.
  if (order.contracted > 1 || (!order.is_inner_last && !order.is_inner_first)) return true;
  const ProductOrder& other = orders[1 - operand];
  return order.batch > 0 && !other.is_inner_last && !other.is_inner_first;
}

bool IsProductInFloat(const Op& op) {
  const Type element = op.operand(0)->type().element_type();
  if (!element.Is(TypeKind::kFloat) || op.result(0)->type().element_type() != element) return false;
  if (element.float_kind() == FloatKind::kF16) return true;
  return element.float_kind() == FloatKind::kBF16 && !OrderOf(op, 0).is_inner_last;
}

bool IsReshapedProduct(const Op& op, size_t which) {
  if (!op.Is(Opcode::kDotGeneral)) return false;
  const Attribute numbers = op.Get("dot_dimension_numbers");
  if (!numbers || !numbers.Is(AttributeKind::kStruct)) return false;
  const size_t batch = Integers(numbers.Find("lhs_batching_dimensions")).size();
  const size_t contracted = Integers(numbers.Find("lhs_contracting_dimensions")).size();
  const auto has_many = [&](size_t operand) {
    return op.operand(operand)->type().rank() > batch + contracted + 1;
  };
  if (which < 2) return contracted > 1 || has_many(which);
  return has_many(0) || has_many(1);
}

bool HasInvariants(const Block& body) {
  for (size_t i = 0; i < body.argument_count(); ++i) {
    if (body.last()->operand(i) == body.argument(i)) return true;
  }
  for (const Op& op : body) {
    for (size_t i = 0; i < op.operand_count(); ++i) {
      const Value* value = op.operand(i);
      if (value->block() == &body) continue;
      if (value->is_argument() || !value->defining_op()->Is(Opcode::kConstant)) return true;
    }
  }
  return false;
}

Opcode BodyOf(const Op& op) {
  const Block* body = op.region_count() == 1 ? op.entry_block() : nullptr;
  const bool is_simple = body != nullptr && !body->empty() && body->first()->next() == body->last();
  return is_simple ? body->first()->opcode() : Opcode::kUnknown;
}

bool IsElementwise(const Op& op) {
  switch (GetOpInfo(op.opcode()).result_rule) {
    case ResultRule::kUnary:
    case ResultRule::kRealPart:
    case ResultRule::kPredicate:
    case ResultRule::kBinary:
    case ResultRule::kClamp:
    case ResultRule::kCompare:
    case ResultRule::kComplex:
    case ResultRule::kSelect:
      return true;
    default:
      return op.Is(Opcode::kConvert);
  }
}

bool MapsElements(const Op& op) {
  if (!IsElementwise(op)) return false;
  const Type type = op.result(0)->type();
  return type.has_static_shape() && llvm::all_of(op.operands(), [&](const Value* operand) {
           return operand->type().rank() == 0 || operand->type().shape() == type.shape();
         });
}

bool IsReshape(const Op& op) {
  if (op.Is(Opcode::kReshape)) return true;
  return op.Is(Opcode::kBroadcastInDim) && op.result(0)->type().has_static_shape() &&
         op.result(0)->type().element_count() == op.operand(0)->type().element_count() &&
         llvm::is_sorted(op.Get("broadcast_dimensions").integers());
}

bool IsCommutative(const Op& op) {
  switch (op.opcode()) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kOr:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

OpClass ClassOf(const Op& op) {
  if (op.result_count() == 0) return OpClass::kOpaque;
  switch (op.opcode()) {
    case Opcode::kConstant:
      // One number for many elements is spread where it is used.
      return IsSplat(op) && op.result(0)->type().rank() > 0 ? OpClass::kCheap : OpClass::kConstant;
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kBroadcastInDim:
    case Opcode::kCeil:
    case Opcode::kClamp:
    case Opcode::kCompare:
    case Opcode::kComplex:
    case Opcode::kConcatenate:
    case Opcode::kConvert:
    case Opcode::kCountLeadingZeros:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kIota:
    case Opcode::kIsFinite:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kPad:
    case Opcode::kPopulationCount:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kRoundNearestAwayFromZero:
    case Opcode::kRoundNearestEven:
    case Opcode::kSelect:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kSlice:
    case Opcode::kSubtract:
    case Opcode::kTranspose:
    case Opcode::kXor:
    case Opcode::kChloSquare:
    case Opcode::kChloConj:
    case Opcode::kChloIsInf:
    case Opcode::kChloIsNegInf:
    case Opcode::kChloIsPosInf:
      return OpClass::kCheap;
    case Opcode::kAbs:
    case Opcode::kSign:
    case Opcode::kCosine:
    case Opcode::kSine:
    case Opcode::kTan:
    case Opcode::kChloTan:
      return IsComplex(op.operand(0)->type()) ? OpClass::kExpensive : OpClass::kCheap;
    case Opcode::kDivide:
    case Opcode::kRemainder:
      return op.operand_count() == 2 && IsRepeated(op.operand(1)) ? OpClass::kCheap
                                                                  : OpClass::kExpensive;
    case Opcode::kAtan2:
    case Opcode::kCbrt:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
    case Opcode::kTanh:
    case Opcode::kGather:
    case Opcode::kMap:
      return OpClass::kExpensive;
    case Opcode::kReduce:
      return ReducesInStages(op) ? OpClass::kOpaque : OpClass::kExpensive;
    case Opcode::kDotGeneral:
      return IsOuterProduct(op) ? OpClass::kCheap : OpClass::kOpaque;
    default:
      // CHLO's functions become chains of elementwise ops.
      return GetOpInfo(op.opcode()).result_rule == ResultRule::kUnary &&
                     op.name().starts_with("chlo.")
                 ? OpClass::kExpensive
                 : OpClass::kOpaque;
  }
}

bool IsView(const Op& op) {
  if (op.operand_count() == 0) return false;
  if (ChangesNothing(op)) return true;
  if (op.result_count() != op.operand_count()) return false;
  const Type from = op.operand(0)->type();
  const Type to = op.result(0)->type();
  switch (op.opcode()) {
    case Opcode::kReshape:
    case Opcode::kOptimizationBarrier:
    case Opcode::kSdyShardingConstraint:
    case Opcode::kSdyPropagationBarrier:
      return true;
    case Opcode::kConvert:
    case Opcode::kSlice:
      return from == to;
    case Opcode::kBroadcastInDim:
      return from.element_count() == to.element_count();
    case Opcode::kBitcastConvert:
      return from.bytes() == to.bytes();
    case Opcode::kTranspose: {
      // Only dimensions of size 1 move.
      int64_t last = -1;
      for (const int64_t dimension : Integers(op.Get("permutation"))) {
        if (from.shape()[dimension] == 1) continue;
        if (dimension < last) return false;
        last = dimension;
      }
      return true;
    }
    case Opcode::kCustomCall: {
      const Attribute target = op.Get("call_target_name");
      return target && target.Is(AttributeKind::kString) &&
             (target.text() == "Sharding" || target.text() == "annotate_device_placement");
    }
    default:
      return false;
  }
}

bool IsWorthHoisting(const Op& op) {
  switch (op.opcode()) {
    case Opcode::kConstant:
    case Opcode::kBroadcast:
    case Opcode::kBroadcastInDim:
    case Opcode::kIota:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return false;
    default:
      return !HasEffects(op);
  }
}

int OperandInPlace(const Op& op, int result) {
  switch (op.opcode()) {
    case Opcode::kWhile:
    case Opcode::kSort:
    case Opcode::kScatter:
      return result;
    case Opcode::kTriangularSolve:
      return 1;
    case Opcode::kCholesky:
      return 0;
    case Opcode::kCustomCall: {
      const Attribute aliases = op.Get("output_operand_aliases");
      if (!aliases || !aliases.Is(AttributeKind::kArray)) return -1;
      for (const Attribute alias : aliases.items()) {
        if (!alias.Is(AttributeKind::kStruct)) continue;
        const llvm::ArrayRef<int64_t> output = Integers(alias.Find("output_tuple_indices"));
        if ((output.empty() ? 0 : output[0]) != result) continue;
        return static_cast<int>(alias.Find("operand_index").integer());
      }
      return -1;
    }
    default:
      return -1;
  }
}

Reordered FindReordered(const Op& op) {
  const std::vector<Value*> operands = op.operands();
  const std::vector<Value*> results = op.results();
  Reordered reordered = {std::vector<bool>(operands.size()), std::vector<bool>(results.size())};
  switch (op.opcode()) {
    case Opcode::kConvolution:
      return FindReorderedOfConvolution(op);
    // LAPACK wants columns.
    case Opcode::kTriangularSolve:
    case Opcode::kCholesky:
      reordered.operands.assign(operands.size(), true);
      reordered.results.assign(results.size(), true);
      return reordered;
    case Opcode::kCustomCall: {
      const Attribute of_operands = op.Get("operand_layouts");
      const Attribute of_results = op.Get("result_layouts");
      if (of_operands && of_operands.Is(AttributeKind::kArray)) {
        reordered.operands = FindReordered(of_operands.items(), operands);
      }
      if (of_results && of_results.Is(AttributeKind::kArray)) {
        reordered.results = FindReordered(of_results.items(), results);
      }
      return reordered;
    }
    default:
      return reordered;
  }
}

}  // namespace plimsoll
