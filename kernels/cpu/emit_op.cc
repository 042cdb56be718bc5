#include "kernels/cpu/emit_op.h"

#include <bit>
#include <utility>

#include "kernels/cpu/vector_math.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Intrinsics.h"

namespace plimsoll {
namespace {

llvm::Type* Like(llvm::Value* value, llvm::Type* element) {
  return value->getType()->getWithNewType(element);
}

// The upper half of an f32, rounded to nearest even. NaN stays NaN.
llvm::Value* RoundToBF16(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* i32 = Like(value, builder.getInt32Ty());
  const auto number = [&](uint64_t bits) { return llvm::ConstantInt::get(i32, bits); };
  llvm::Value* bits = builder.CreateBitCast(value, i32);
  llvm::Value* last = builder.CreateAnd(builder.CreateLShr(bits, 16), number(1));
  llvm::Value* rounded = builder.CreateAdd(bits, builder.CreateAdd(last, number(0x7FFF)));
  llvm::Value* is_nan = builder.CreateFCmpUNO(value, value);
  llvm::Value* quiet = builder.CreateOr(bits, number(0x400000));
  llvm::Value* upper = builder.CreateLShr(builder.CreateSelect(is_nan, quiet, rounded), 16);
  return builder.CreateTrunc(upper, Like(value, builder.getInt16Ty()));
}

using Make = llvm::function_ref<llvm::Value*(llvm::Value*, llvm::Value*)>;

Bundle Compare(Comparison comparison, ScalarType type, const Bundle& left, const Bundle& right) {
  using llvm::CmpInst;
  struct Predicates {
    CmpInst::Predicate floats, signed_integers, unsigned_integers;
  };
  constexpr Predicates kPredicates[] = {
      {CmpInst::FCMP_OEQ, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ},
      {CmpInst::FCMP_UNE, CmpInst::ICMP_NE, CmpInst::ICMP_NE},
      {CmpInst::FCMP_OLT, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT},
      {CmpInst::FCMP_OLE, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE},
      {CmpInst::FCMP_OGT, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT},
      {CmpInst::FCMP_OGE, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE},
  };
  const Predicates& predicates = kPredicates[static_cast<size_t>(comparison)];
  const bool is_signed = InfoOf(type).kind == ScalarKind::kSigned;
  const CmpInst::Predicate predicate = IsFloat(type) ? predicates.floats
                                       : is_signed   ? predicates.signed_integers
                                                     : predicates.unsigned_integers;
  return left.Map(right, [&](llvm::Value* a, llvm::Value* b) {
    return left.builder().CreateCmp(predicate, a, b);
  });
}

// NaN wins.
Bundle Extreme(bool is_maximum, ScalarType type, const Bundle& left, const Bundle& right) {
  const Comparison comparison = is_maximum ? Comparison::kGreaterEqual : Comparison::kLessEqual;
  if (!IsFloat(type)) return Select(Compare(comparison, type, left, right), left, right);
  // Which of two zeros it is does not matter.
  llvm::FastMathFlags flags = left.builder().getFastMathFlags();
  flags.setNoSignedZeros();
  const llvm::IRBuilderBase::FastMathFlagGuard guard(left.builder());
  left.builder().setFastMathFlags(flags);
  return left.Map(right, [&](llvm::Value* a, llvm::Value* b) {
    return left.builder().CreateBinaryIntrinsic(
        is_maximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, a, b);
  });
}

Bundle Convert(ScalarType from, ScalarType to, const Bundle& operand) {
  llvm::IRBuilder<>& builder = operand.builder();
  llvm::Type* type = operand.type()->getWithNewType(RegisterType(builder.getContext(), to));
  return operand.Map([&](llvm::Value* value) -> llvm::Value* {
    if (to == ScalarType::kI1) {
      llvm::Value* zero = llvm::Constant::getNullValue(value->getType());
      return IsFloat(from) ? builder.CreateFCmpUNE(value, zero) : builder.CreateICmpNE(value, zero);
    }
    if (IsFloat(from) && IsFloat(to)) {
      llvm::Value* converted = builder.CreateFPCast(value, type);
      if (!IsHalf(to)) return converted;
      return FromMemory(operand.emitter(), to, ToMemory(operand.emitter(), to, converted));
    }
    if (IsFloat(from)) {
      // As XLA does: what does not fit becomes the nearest number that does, NaN becomes 0.
      const llvm::Intrinsic::ID id =
          IsUnsigned(to) ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
      return builder.CreateIntrinsic(id, {type, value->getType()}, {value});
    }
    const bool is_signed = InfoOf(from).kind == ScalarKind::kSigned;
    if (!IsFloat(to)) return builder.CreateIntCast(value, type, is_signed);
    llvm::Value* converted =
        is_signed ? builder.CreateSIToFP(value, type) : builder.CreateUIToFP(value, type);
    if (!IsHalf(to)) return converted;
    return FromMemory(operand.emitter(), to, ToMemory(operand.emitter(), to, converted));
  });
}

Bundle Bitcast(ScalarType from, ScalarType to, const Bundle& operand) {
  Emitter& emitter = operand.emitter();
  llvm::Type* memory = operand.type()->getWithNewType(MemoryType(emitter.builder.getContext(), to));
  return operand.Map([&](llvm::Value* value) {
    llvm::Value* bits = emitter.builder.CreateBitCast(ToMemory(emitter, from, value), memory);
    return FromMemory(emitter, to, bits);
  });
}

// As XLA does: a constant divides by way of its reciprocal, if that is a number like others.
Bundle DivideFloats(const Bundle& left, const Bundle& right) {
  return left.Map(right, [&](llvm::Value* a, llvm::Value* b) -> llvm::Value* {
    llvm::IRBuilder<>& builder = left.builder();
    const auto* constant = llvm::dyn_cast<llvm::Constant>(b);
    if (constant != nullptr && b->getType()->isVectorTy()) constant = constant->getSplatValue();
    if (const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant)) {
      llvm::APFloat reciprocal(number->getValueAPF().getSemantics(), 1);
      reciprocal.divide(number->getValueAPF(), llvm::APFloat::rmNearestTiesToEven);
      if (reciprocal.isNormal()) {
        return builder.CreateFMul(a, llvm::ConstantFP::get(b->getType(), reciprocal));
      }
    }
    return builder.CreateFDiv(a, b);
  });
}

// As XLA does: x / 0 = -1, x % 0 = x, and the one quotient that does not fit wraps around.
Bundle DivideIntegers(Opcode opcode, ScalarType type, const Bundle& left, const Bundle& right) {
  llvm::IRBuilder<>& builder = left.builder();
  const bool is_signed = !IsUnsigned(type);
  const bool is_quotient = opcode == Opcode::kDivide;
  return left.Map(right, [&](llvm::Value* a, llvm::Value* b) -> llvm::Value* {
    llvm::Constant* zero = llvm::Constant::getNullValue(b->getType());
    llvm::Constant* one = llvm::ConstantInt::get(b->getType(), 1);
    llvm::Constant* minus_one = llvm::Constant::getAllOnesValue(b->getType());
    llvm::Value* by_zero = builder.CreateICmpEQ(b, zero);
    llvm::Value* unsafe = by_zero;
    llvm::Value* by_minus_one = nullptr;
    if (is_signed) {
      by_minus_one = builder.CreateICmpEQ(b, minus_one);
      unsafe = builder.CreateOr(unsafe, by_minus_one);
    }
    llvm::Value* divisor = builder.CreateSelect(unsafe, one, b);
    if (is_quotient) {
      llvm::Value* quotient =
          is_signed ? builder.CreateSDiv(a, divisor) : builder.CreateUDiv(a, divisor);
      if (is_signed) {
        quotient = builder.CreateSelect(by_minus_one, builder.CreateNeg(a), quotient);
      }
      return builder.CreateSelect(by_zero, minus_one, quotient);
    }
    llvm::Value* rest = is_signed ? builder.CreateSRem(a, divisor) : builder.CreateURem(a, divisor);
    return builder.CreateSelect(by_zero, a, rest);
  });
}

// Shifts by more than the width give what a shift of endless width would.
Bundle Shift(Opcode opcode, const Bundle& left, const Bundle& right) {
  llvm::IRBuilder<>& builder = left.builder();
  const unsigned width = left.type()->getScalarSizeInBits();
  return left.Map(right, [&](llvm::Value* a, llvm::Value* b) -> llvm::Value* {
    llvm::Constant* last = llvm::ConstantInt::get(b->getType(), width - 1);
    llvm::Value* is_wide = builder.CreateICmpUGT(b, last);
    llvm::Value* bounded = builder.CreateSelect(is_wide, last, b);
    if (opcode == Opcode::kShiftRightArithmetic) return builder.CreateAShr(a, bounded);
    llvm::Value* shifted = opcode == Opcode::kShiftLeft ? builder.CreateShl(a, bounded)
                                                        : builder.CreateLShr(a, bounded);
    return builder.CreateSelect(is_wide, llvm::Constant::getNullValue(a->getType()), shifted);
  });
}

Bundle Sign(ScalarType type, const Bundle& x) {
  llvm::IRBuilder<>& builder = x.builder();
  if (IsFloat(type)) {
    const Bundle zero = x.Number(0);
    // Zeros and NaN are their own sign.
    const Bundle is_number = x.Map([&](llvm::Value* value) {
      return builder.CreateFCmpONE(value, llvm::Constant::getNullValue(value->getType()));
    });
    return Select(is_number, CopySign(x.Number(1), x), x);
  }
  return x.Map([&](llvm::Value* value) {
    llvm::Constant* zero = llvm::Constant::getNullValue(value->getType());
    llvm::Value* positive = builder.CreateZExt(
        IsUnsigned(type) ? builder.CreateICmpNE(value, zero) : builder.CreateICmpSGT(value, zero),
        value->getType());
    if (IsUnsigned(type)) return positive;
    llvm::Value* negative =
        builder.CreateSExt(builder.CreateICmpSLT(value, zero), value->getType());
    return builder.CreateOr(positive, negative);
  });
}

Bundle Remainder(const Bundle& left, const Bundle& right) {
  return left.Map(right,
                  [&](llvm::Value* a, llvm::Value* b) { return left.builder().CreateFRem(a, b); });
}

// Ops of one float.
Bundle EmitFunction(Opcode opcode, const Bundle& x) {
  using llvm::Intrinsic::ID;
  switch (opcode) {
    case Opcode::kCeil:
      return Intrinsic(llvm::Intrinsic::ceil, x);
    case Opcode::kCosine:
      return Cosine(x);
    case Opcode::kExponential:
      return Exp(x);
    case Opcode::kExponentialMinusOne:
      return ExpMinusOne(x);
    case Opcode::kFloor:
      return Intrinsic(llvm::Intrinsic::floor, x);
    case Opcode::kIsFinite:
      return Absolute(x) < x.Number(std::numeric_limits<double>::infinity());
    case Opcode::kChloIsInf:
      return Absolute(x) == x.Number(std::numeric_limits<double>::infinity());
    case Opcode::kLog:
      return Log(x);
    case Opcode::kLogPlusOne:
      return LogPlusOne(x);
    case Opcode::kLogistic:
      return Logistic(x);
    case Opcode::kRoundNearestAwayFromZero:
      return Intrinsic(llvm::Intrinsic::round, x);
    case Opcode::kRoundNearestEven:
      return Intrinsic(llvm::Intrinsic::roundeven, x);
    case Opcode::kRsqrt:
      return x.Number(1) / Intrinsic(llvm::Intrinsic::sqrt, x);
    case Opcode::kSine:
      return Sine(x);
    case Opcode::kSqrt:
      return Intrinsic(llvm::Intrinsic::sqrt, x);
    case Opcode::kTanh:
      return Tanh(x);
    case Opcode::kChloErf:
      return ErrorFunction(x);
    case Opcode::kChloErfInv:
      return InverseErrorFunction(x);
    case Opcode::kCbrt:
      return CallLibrary("cbrt", x);
    case Opcode::kTan:
    case Opcode::kChloTan:
      return CallLibrary("tan", x);
    case Opcode::kChloAcos:
      return CallLibrary("acos", x);
    case Opcode::kChloAcosh:
      return CallLibrary("acosh", x);
    case Opcode::kChloAsin:
      return CallLibrary("asin", x);
    case Opcode::kChloAsinh:
      return CallLibrary("asinh", x);
    case Opcode::kChloAtan:
      return CallLibrary("atan", x);
    case Opcode::kChloAtanh:
      return CallLibrary("atanh", x);
    case Opcode::kChloCosh:
      return CallLibrary("cosh", x);
    case Opcode::kChloErfc:
      return CallLibrary("erfc", x);
    case Opcode::kChloLgamma:
      return CallLibrary("lgamma", x);
    case Opcode::kChloSinh:
      return CallLibrary("sinh", x);
    default:
      llvm_unreachable("not in tile_ops.def");
  }
}

Bundle Absolute(ScalarType type, const Bundle& x) {
  if (IsFloat(type)) return Absolute(x);
  if (IsUnsigned(type)) return x;
  return x.Map([&](llvm::Value* value) {
    return x.builder().CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, x.builder().getFalse());
  });
}

Bundle Negate(ScalarType type, const Bundle& x) {
  return x.Map([&](llvm::Value* value) {
    return IsFloat(type) ? x.builder().CreateFNeg(value) : x.builder().CreateNeg(value);
  });
}

Bundle MapBits(const Bundle& left, const Bundle& right, llvm::Instruction::BinaryOps instruction) {
  return left.Map(right, [&](llvm::Value* a, llvm::Value* b) {
    return left.builder().CreateBinOp(instruction, a, b);
  });
}

}  // namespace

llvm::Type* RegisterType(llvm::LLVMContext& context, ScalarType type) {
  if (type == ScalarType::kI1) return llvm::Type::getInt1Ty(context);
  if (type == ScalarType::kF64) return llvm::Type::getDoubleTy(context);
  if (IsFloat(type)) return llvm::Type::getFloatTy(context);
  return MemoryType(context, type);
}

llvm::Type* MemoryType(llvm::LLVMContext& context, ScalarType type) {
  if (type == ScalarType::kF64) return llvm::Type::getDoubleTy(context);
  if (type == ScalarType::kF32) return llvm::Type::getFloatTy(context);
  if (type == ScalarType::kF16) return llvm::Type::getHalfTy(context);
  return llvm::Type::getIntNTy(context, 8 * static_cast<unsigned>(BytesOf(type)));
}

llvm::Value* FromMemory(Emitter& emitter, ScalarType type, llvm::Value* value) {
  llvm::IRBuilder<>& builder = emitter.builder;
  if (type == ScalarType::kI1) {
    return builder.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  }
  if (type == ScalarType::kF16)
    return builder.CreateFPExt(value, Like(value, builder.getFloatTy()));
  if (type == ScalarType::kBF16) {
    llvm::Value* wide = builder.CreateZExt(value, Like(value, builder.getInt32Ty()));
    return builder.CreateBitCast(builder.CreateShl(wide, 16), Like(value, builder.getFloatTy()));
  }
  return value;
}

llvm::Value* ToMemory(Emitter& emitter, ScalarType type, llvm::Value* value) {
  llvm::IRBuilder<>& builder = emitter.builder;
  if (type == ScalarType::kI1) return builder.CreateZExt(value, Like(value, builder.getInt8Ty()));
  if (type == ScalarType::kF16) {
    return builder.CreateFPTrunc(value, Like(value, builder.getHalfTy()));
  }
  if (type == ScalarType::kBF16) return RoundToBF16(builder, value);
  return value;
}

llvm::Value* EmitConstant(Emitter& emitter, ScalarType type, uint64_t bits) {
  llvm::IRBuilder<>& builder = emitter.builder;
  if (type == ScalarType::kF64)
    return llvm::ConstantFP::get(builder.getDoubleTy(), std::bit_cast<double>(bits));
  if (type == ScalarType::kF32) {
    return llvm::ConstantFP::get(builder.getContext(),
                                 llvm::APFloat(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  }
  llvm::Constant* integer =
      llvm::ConstantInt::get(builder.getIntNTy(8 * static_cast<unsigned>(BytesOf(type))), bits);
  if (type == ScalarType::kF16) {
    return FromMemory(emitter, type, builder.CreateBitCast(integer, builder.getHalfTy()));
  }
  return FromMemory(emitter, type, integer);
}

Bundle EmitCompute(const TileOp& op, ScalarType operand_type, llvm::ArrayRef<Bundle> operands) {
  const Bundle& x = operands[0];
  const auto count = [&](llvm::Intrinsic::ID id) {
    return x.Map([&](llvm::Value* value) {
      return id == llvm::Intrinsic::ctpop
                 ? x.builder().CreateUnaryIntrinsic(id, value)
                 : x.builder().CreateBinaryIntrinsic(id, value, x.builder().getFalse());
    });
  };
  switch (op.opcode) {
    case Opcode::kAbs:
      return Absolute(operand_type, x);
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kOr:
      return EmitReducer(op.opcode, operand_type, x, operands[1]);
    case Opcode::kAtan2:
      return CallLibrary("atan2", x, &operands[1]);
    case Opcode::kBitcastConvert:
      return Bitcast(operand_type, op.type, x);
    case Opcode::kChloSquare:
      return x * x;
    case Opcode::kClamp:
      return Extreme(/*is_maximum=*/false, operand_type,
                     Extreme(/*is_maximum=*/true, operand_type, operands[1], x), operands[2]);
    case Opcode::kCompare:
      return Compare(op.comparison, operand_type, x, operands[1]);
    case Opcode::kConvert:
      return Convert(operand_type, op.type, x);
    case Opcode::kCountLeadingZeros:
      return count(llvm::Intrinsic::ctlz);
    case Opcode::kPopulationCount:
      return count(llvm::Intrinsic::ctpop);
    case Opcode::kDivide:
      if (IsFloat(operand_type)) return DivideFloats(x, operands[1]);
      return DivideIntegers(op.opcode, operand_type, x, operands[1]);
    case Opcode::kNegate:
      return Negate(operand_type, x);
    case Opcode::kNot:
      return x.Map([&](llvm::Value* value) { return x.builder().CreateNot(value); });
    case Opcode::kPower:
      return Power(x, operands[1]);
    case Opcode::kRemainder:
      if (IsFloat(operand_type)) return Remainder(x, operands[1]);
      return DivideIntegers(op.opcode, operand_type, x, operands[1]);
    case Opcode::kSelect:
      return Select(x, operands[1], operands[2]);
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return Shift(op.opcode, x, operands[1]);
    case Opcode::kSign:
      return Sign(operand_type, x);
    case Opcode::kSubtract:
      return x - operands[1];
    case Opcode::kXor:
      return MapBits(x, operands[1], llvm::Instruction::Xor);
    default:
      return EmitFunction(op.opcode, x);
  }
}

Bundle EmitReducer(Opcode reducer, ScalarType type, const Bundle& left, const Bundle& right) {
  switch (reducer) {
    case Opcode::kAdd:
      return left + right;
    case Opcode::kMultiply:
      return left * right;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return Extreme(reducer == Opcode::kMaximum, type, left, right);
    case Opcode::kAnd:
      return MapBits(left, right, llvm::Instruction::And);
    case Opcode::kOr:
      return MapBits(left, right, llvm::Instruction::Or);
    default:
      llvm_unreachable("not a reducer");
  }
}

}  // namespace plimsoll
