#include "analysis/axis_rules.h"

#include <limits>
#include <utility>

#include "analysis/axis_rules_internal.h"
#include "ir/elements.h"
#include "ir/status.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

bool HasStaticTensors(const Op& op) {
  const auto is_static = [](const Value* value) {
    return value->type().Is(TypeKind::kTensor) && value->type().has_static_shape();
  };
  return llvm::all_of(op.operands(), is_static) && llvm::all_of(op.results(), is_static);
}

AxisRule Refuse(std::string otherwise) {
  return {.factors = {}, .otherwise = std::move(otherwise)};
}

// A constant whose elements are all the same, or an iota, can be made for any chunk.
AxisRule ConstantRule(const Op& op) {
  if (!op.Get("value").is_splat()) return Refuse("a constant is there as a whole");
  return ElementwiseRule(op);
}

bool HoldsNumber(Attribute constant, double number) {
  const std::optional<std::string> bytes = EncodeElement(constant.type().element_type(), number);
  return bytes && llvm::ArrayRef<char>(bytes->data(), bytes->size()) == constant.bytes();
}

bool HoldsInteger(Attribute constant, int64_t number) {
  const std::optional<std::string> bytes = EncodeElement(constant.type().element_type(), number);
  return bytes && llvm::ArrayRef<char>(bytes->data(), bytes->size()) == constant.bytes();
}

// The least or greatest number of a type.
bool HoldsExtreme(Attribute constant, bool greatest) {
  const Type element = constant.type().element_type();
  if (element.Is(TypeKind::kFloat)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return HoldsNumber(constant, greatest ? infinity : -infinity);
  }
  if (!element.Is(TypeKind::kInteger)) return false;
  const unsigned width = element.integer_width();
  if (element.signedness() == Signedness::kUnsigned || width == 1) {
    return llvm::all_of(constant.bytes(), [&](char byte) {
      return static_cast<unsigned char>(byte) == (!greatest   ? 0
                                                  : width < 8 ? (1 << width) - 1
                                                              : 255);
    });
  }
  const int64_t most = static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1);
  return HoldsInteger(constant, greatest ? most : -most - 1);
}

}  // namespace

Factor RuleMaker::Blank(int64_t size, int result) const {
  Factor factor;
  factor.size = size;
  factor.operands.assign(op_.operand_count(), kWhole);
  factor.results.assign(op_.result_count(), result);
  return factor;
}

void RuleMaker::Add(Factor factor) {
  if (factor.size > 1) rule_.factors.push_back(std::move(factor));
}

AxisRule RuleMaker::Finish(std::string otherwise) && {
  rule_.otherwise = std::move(otherwise);
  return std::move(rule_);
}

int64_t RuleMaker::OperandSize(size_t operand, int dimension) const {
  return op_.operand(operand)->type().shape()[dimension];
}

int64_t RuleMaker::ResultSize(size_t result, int dimension) const {
  return op_.result(result)->type().shape()[dimension];
}

AxisRule ElementwiseRule(const Op& op) {
  RuleMaker maker(op);
  const Type type = op.result(0)->type();
  for (int d = 0; d < static_cast<int>(type.rank()); ++d) {
    Factor factor = maker.Blank(type.shape()[d], d);
    for (size_t i = 0; i < op.operand_count(); ++i) {
      // A scalar stands for all elements: a predicate of select, the bounds of clamp.
      if (op.operand(i)->type().rank() == type.rank()) factor.operands[i] = d;
    }
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish("");
}

AxisRule AxisRuleOf(const Op& op) {
  if (op.result_count() == 0 || !HasStaticTensors(op)) return Refuse("its shape is not known");
  switch (op.opcode()) {
    case Opcode::kConstant:
      return ConstantRule(op);
    case Opcode::kBroadcastInDim:
      return BroadcastInDimRule(op);
    case Opcode::kConcatenate:
      return ConcatenateRule(op);
    case Opcode::kDynamicSlice:
      return DynamicSliceRule(op);
    case Opcode::kDynamicUpdateSlice:
      return DynamicUpdateSliceRule(op);
    case Opcode::kPad:
      return PadRule(op);
    case Opcode::kReshape:
      return ReshapeRule(op);
    case Opcode::kReverse:
      return ReverseRule(op);
    case Opcode::kSlice:
      return SliceRule(op);
    case Opcode::kTranspose:
      return TransposeRule(op);
    case Opcode::kDotGeneral:
      return DotGeneralRule(op);
    case Opcode::kReduce:
      return ReduceRule(op);
    case Opcode::kGather:
      return GatherRule(op);
    case Opcode::kScatter:
      return ScatterRule(op);
    case Opcode::kConvolution:
      return ConvolutionRule(op);
    case Opcode::kReduceWindow:
      return ReduceWindowRule(op);
    case Opcode::kSelectAndScatter:
      return SelectAndScatterRule(op);
    case Opcode::kSort:
      return SortRule(op);
    case Opcode::kChloTopK:
      return TopKRule(op);
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      return BatchNormRule(op);
    case Opcode::kCholesky:
      return CholeskyRule(op);
    case Opcode::kCustomCall:
      return CustomCallRule(op);
    case Opcode::kFft:
      return FftRule(op);
    case Opcode::kTriangularSolve:
      return TriangularSolveRule(op);
    case Opcode::kIota:
    case Opcode::kAbs:
    case Opcode::kCbrt:
    case Opcode::kCeil:
    case Opcode::kConvert:
    case Opcode::kCountLeadingZeros:
    case Opcode::kCosine:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kIsFinite:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kPopulationCount:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kRoundNearestAwayFromZero:
    case Opcode::kRoundNearestEven:
    case Opcode::kRsqrt:
    case Opcode::kSign:
    case Opcode::kSine:
    case Opcode::kSqrt:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kAtan2:
    case Opcode::kClamp:
    case Opcode::kCompare:
    case Opcode::kComplex:
    case Opcode::kDivide:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kOr:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kSelect:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kSubtract:
    case Opcode::kXor:
    case Opcode::kChloAcos:
    case Opcode::kChloAcosh:
    case Opcode::kChloAsin:
    case Opcode::kChloAsinh:
    case Opcode::kChloAtan:
    case Opcode::kChloAtanh:
    case Opcode::kChloBesselI1e:
    case Opcode::kChloConj:
    case Opcode::kChloCosh:
    case Opcode::kChloDigamma:
    case Opcode::kChloErf:
    case Opcode::kChloErfInv:
    case Opcode::kChloErfc:
    case Opcode::kChloIsInf:
    case Opcode::kChloIsNegInf:
    case Opcode::kChloIsPosInf:
    case Opcode::kChloLgamma:
    case Opcode::kChloMulhi:
    case Opcode::kChloNextAfter:
    case Opcode::kChloPolygamma:
    case Opcode::kChloSinh:
    case Opcode::kChloSquare:
    case Opcode::kChloTan:
    case Opcode::kChloZeta:
      return ElementwiseRule(op);
    case Opcode::kBitcastConvert:
      if (op.operand(0)->type().rank() == op.result(0)->type().rank()) return ElementwiseRule(op);
      return Refuse("a bitcast that changes the number of dimensions is not cut");
    case Opcode::kOptimizationBarrier:
      if (op.operand_count() == 1) return ElementwiseRule(op);
      return Refuse("a barrier of several values is not cut");
    case Opcode::kMap:
      return ElementwiseRule(op);
    case Opcode::kRngBitGenerator:
    case Opcode::kRng:
      return Refuse("random bits would not be the same");
    default:
      return Refuse(StrCat("nothing is known of how ", op.name(), " can be cut"));
  }
}

std::string_view Name(Combination combination) {
  switch (combination) {
    case Combination::kNone:
      return "none";
    case Combination::kSum:
      return "sum";
    case Combination::kProduct:
      return "product";
    case Combination::kMaximum:
      return "maximum";
    case Combination::kMinimum:
      return "minimum";
    case Combination::kAnd:
      return "and";
    case Combination::kOr:
      return "or";
    case Combination::kBody:
      return "body";
    case Combination::kTopK:
      return "top-k";
    case Combination::kFold:
      return "fold";
  }
  llvm_unreachable("a combination that is not in the list");
}

std::string ToString(const AxisRule& rule) {
  std::string text;
  for (const Factor& factor : rule.factors) {
    const auto add = [&](std::string_view what, llvm::ArrayRef<int> places) {
      text += what;
      for (const int place : places) {
        text += place == kWhole     ? " whole"
                : place == kSame    ? " same"
                : place == kPartial ? StrCat(" ", Name(factor.combination))
                                    : StrCat(" ", place);
      }
    };
    add("operands", factor.operands);
    add(" results", factor.results);
    text += StrCat(" blocks ", factor.size, "\n");
  }
  if (!rule.otherwise.empty()) text += StrCat("otherwise: ", rule.otherwise, "\n");
  return text;
}

Combination CombinationOf(const Region& body) {
  if (body.block_count() != 1) return Combination::kBody;
  const Block& block = body.front();
  const Op* op = block.first();
  const bool is_one_op =
      block.argument_count() == 2 && op != nullptr && op->next() == block.last() &&
      op->operand_count() == 2 && op->result_count() == 1 && block.last()->operand_count() == 1 &&
      block.last()->operand(0) == op->result(0) && op->operand(0) != op->operand(1) &&
      op->operand(0)->block() == &block && op->operand(1)->block() == &block;
  if (!is_one_op) return Combination::kBody;
  const Type element = op->result(0)->type().element_type();
  const bool is_boolean = element.IsInteger(1);
  switch (op->opcode()) {
    case Opcode::kAdd:
      return is_boolean ? Combination::kOr : Combination::kSum;
    case Opcode::kMultiply:
      return is_boolean ? Combination::kAnd : Combination::kProduct;
    case Opcode::kMaximum:
      return element.Is(TypeKind::kComplex) ? Combination::kBody : Combination::kMaximum;
    case Opcode::kMinimum:
      return element.Is(TypeKind::kComplex) ? Combination::kBody : Combination::kMinimum;
    case Opcode::kAnd:
      return Combination::kAnd;
    case Opcode::kOr:
      return Combination::kOr;
    default:
      return Combination::kBody;
  }
}

bool IsIdentity(const Value& value, Combination combination) {
  const Op* op = value.defining_op();
  if (op != nullptr &&
      (op->Is(Opcode::kConvert) || op->Is(Opcode::kBroadcastInDim) || op->Is(Opcode::kReshape))) {
    // Zero and one stay what they are; extremes may not.
    const bool keeps = !op->Is(Opcode::kConvert) || combination == Combination::kSum ||
                       combination == Combination::kProduct;
    return keeps && IsIdentity(*op->operand(0), combination);
  }
  if (op == nullptr || !op->Is(Opcode::kConstant)) return false;
  const Attribute constant = op->Get("value");
  if (!constant.Is(AttributeKind::kDenseElements)) return false;
  if (!constant.is_splat() && constant.type().element_count() != 1) return false;
  switch (combination) {
    case Combination::kSum:
    case Combination::kOr:
      return llvm::all_of(constant.bytes(), [](char byte) { return byte == 0; }) ||
             HoldsNumber(constant, -0.0);
    case Combination::kProduct:
      return HoldsNumber(constant, 1.0) || HoldsInteger(constant, 1);
    case Combination::kMaximum:
      return HoldsExtreme(constant, /*greatest=*/false);
    case Combination::kMinimum:
      return HoldsExtreme(constant, /*greatest=*/true);
    case Combination::kAnd: {
      const Type element = constant.type().element_type();
      return element.IsInteger(1) ? HoldsInteger(constant, 1) : HoldsInteger(constant, -1);
    }
    default:
      return false;
  }
}

}  // namespace plimsoll
