#include "kernels/cpu/vector_math.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>

#include "ir/status.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace plimsoll {
namespace {

#include "kernels/cpu/erf_inv.inc"
#include "kernels/cpu/polynomials.inc"

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// What a format's bits mean, and constants that are split so that products with small integers are
// exact: the first parts have trailing zeros.
struct Format {
  int mantissa_bits;
  int64_t exponent_bias;
  double least_normal;
  // Added to a number, its last bits are those of the nearest integer.
  double rounder;
  int64_t rounder_bits;
  double log2_high, log2_low;
  double half_pi_high, half_pi_middle, half_pi_low;
  // Where the exponential is 0, and where it is infinite.
  double exp_least, exp_most;
  // Where the hyperbolic tangent is 1.
  double tanh_most;
  // The largest argument whose sine keeps its digits.
  double sine_most;
  // The bits of sqrt(1/2).
  int64_t sqrt_half_bits;
};

constexpr Format kF32 = {
    .mantissa_bits = 23,
    .exponent_bias = 127,
    .least_normal = 0x1p-126,
    .rounder = 0x1.8p23,
    .rounder_bits = 0x4B400000,
    .log2_high = 0x1.62ep-1,
    .log2_low = 0x1.0bfbe8e7bcd5ep-15,
    .half_pi_high = 0x1.92p0,
    .half_pi_middle = 0x1.fb4p-12,
    .half_pi_low = 0x1.4442d18469899p-24,
    .exp_least = -104,
    .exp_most = 89,
    .tanh_most = 10,
    .sine_most = 1500,
    .sqrt_half_bits = 0x3F3504F3,
};

constexpr Format kF64 = {
    .mantissa_bits = 52,
    .exponent_bias = 1023,
    .least_normal = 0x1p-1022,
    .rounder = 0x1.8p52,
    .rounder_bits = 0x4338000000000000,
    .log2_high = 0x1.62e42fee00000p-1,
    .log2_low = 0x1.a39ef35793c76p-33,
    .half_pi_high = 0x1.921fb544p0,
    .half_pi_middle = 0x1.0b4611a6p-34,
    .half_pi_low = 0x1.3198a2e037073p-69,
    .exp_least = -746,
    .exp_most = 710,
    .tanh_most = 20,
    .sine_most = 1e5,
    .sqrt_half_bits = 0x3FE6A09E667F3BCD,
};

const Format& FormatOf(const Bundle& x) { return x.is_f64() ? kF64 : kF32; }

Bundle Polynomial(const Bundle& x, llvm::ArrayRef<double> coefficients) {
  Bundle sum = x.Number(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) {
    sum = MultiplyAdd(sum, x, x.Number(coefficients[i]));
  }
  return sum;
}

// Clamps that keep NaN.
Bundle AtMost(const Bundle& x, double most) {
  const Bundle bound = x.Number(most);
  return Select(x > bound, bound, x);
}

Bundle AtLeast(const Bundle& x, double least) {
  const Bundle bound = x.Number(least);
  return Select(x < bound, bound, x);
}

// The same as AtLeast, with a sign that changes in the end: products take that in for nothing.
Bundle AtLeastThrough(const Bundle& x, double least) {
  llvm::SmallVector<llvm::Value*, 8> negated;
  for (llvm::Value* value : x.values()) {
    auto* op = llvm::dyn_cast<llvm::UnaryOperator>(value);
    if (op == nullptr || op->getOpcode() != llvm::Instruction::FNeg) return AtLeast(x, least);
    negated.push_back(op->getOperand(0));
  }
  return AtMost(Bundle(x.emitter(), negated), -least).Map([&](llvm::Value* value) {
    return x.builder().CreateFNeg(value);
  });
}

Bundle ShiftLeft(const Bundle& x, int bits) {
  return x.Map([&](llvm::Value* value) { return x.builder().CreateShl(value, bits); });
}

Bundle ShiftRight(const Bundle& x, int bits) {
  return x.Map([&](llvm::Value* value) { return x.builder().CreateLShr(value, bits); });
}

Bundle And(const Bundle& x, int64_t mask) {
  return x.Map(x.Integer(mask), [&](llvm::Value* value, llvm::Value* bits) {
    return x.builder().CreateAnd(value, bits);
  });
}

Bundle Or(const Bundle& x, const Bundle& y) {
  return x.Map(y, [&](llvm::Value* a, llvm::Value* b) { return x.builder().CreateOr(a, b); });
}

// 2 to the power of small integers.
Bundle PowerOfTwo(const Bundle& integers, const Format& format) {
  return ShiftLeft(integers + integers.Integer(format.exponent_bias), format.mantissa_bits)
      .AsFloats();
}

// One instruction does it.
bool HasScale(const Bundle& x) {
  return x.emitter().machine.vector_bytes == 64 &&
         x.type()->getPrimitiveSizeInBits().getFixedValue() == 512;
}

// An integer, as a float and as an integer.
struct Rounded {
  Bundle number;
  Bundle integer;
};

// x times 2 to the power of integers, where the factor itself may not be a number of the format.
Bundle Scale(const Bundle& x, const Rounded& n, const Format& format) {
  if (HasScale(x)) {
    llvm::IRBuilder<>& builder = x.builder();
    const llvm::Intrinsic::ID id = x.is_f64() ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_512
                                              : llvm::Intrinsic::x86_avx512_mask_scalef_ps_512;
    llvm::Value* all =
        llvm::Constant::getAllOnesValue(x.is_f64() ? builder.getInt8Ty() : builder.getInt16Ty());
    return x.Map(n.number, [&](llvm::Value* value, llvm::Value* power) {
      constexpr uint32_t kRoundAsUsual = 4;
      return builder.CreateIntrinsic(id, {},
                                     {value, power, value, all, builder.getInt32(kRoundAsUsual)});
    });
  }
  // Half of the exponent, rounded down; made positive for the shift.
  const Bundle half =
      ShiftRight(n.integer + n.integer.Integer(1 << 14), 1) - n.integer.Integer(1 << 13);
  return x * PowerOfTwo(half, format) * PowerOfTwo(n.integer - half, format);
}

// The nearest integer.
Rounded Round(const Bundle& x, double factor, const Format& format) {
  const Bundle rounder = x.Number(format.rounder);
  const Bundle shifted = MultiplyAdd(x, x.Number(factor), rounder);
  return {.number = shifted - rounder,
          .integer = shifted.AsIntegers() - x.Integer(format.rounder_bits)};
}

// x = n log(2) + r.
struct Reduced {
  Bundle rest;
  Rounded n;
};

Reduced ReduceByLog2(const Bundle& x, const Format& format) {
  const Rounded n = Round(x, std::numbers::log2e, format);
  Bundle rest = MultiplyAdd(n.number, x.Number(-format.log2_high), x);
  rest = MultiplyAdd(n.number, x.Number(-format.log2_low), rest);
  return {.rest = rest, .n = n};
}

// exp(r) - 1 for |r| up to log(2) / 2.
Bundle SmallExpMinusOne(const Bundle& r) {
  const Bundle tail = r.is_f64() ? Polynomial(r, kExpF64) : Polynomial(r, kExpF32);
  return MultiplyAdd(r * r, tail, r);
}

// exp(r) for the same.
Bundle SmallExp(const Bundle& r) {
  const Bundle tail = r.is_f64() ? Polynomial(r, kExpF64) : Polynomial(r, kExpF32);
  return MultiplyAdd(MultiplyAdd(tail, r, r.Number(1)), r, r.Number(1));
}

// The logarithm of positive numbers of that form whose bits these are, divided by powers of two.
Bundle LogOfBits(const Bundle& x, const Bundle& bits, const Bundle& powers) {
  const Format& format = FormatOf(x);
  // x = 2^n m with m from sqrt(1/2) to sqrt(2).
  const int64_t one_bits = format.exponent_bias << format.mantissa_bits;
  const Bundle biased =
      ShiftRight(bits + bits.Integer(one_bits - format.sqrt_half_bits), format.mantissa_bits);
  const Bundle exponent = biased - bits.Integer(format.exponent_bias);
  const Bundle m = (bits - ShiftLeft(exponent, format.mantissa_bits)).AsFloats();
  const Bundle n =
      (exponent - powers + bits.Integer(format.rounder_bits)).AsFloats() - x.Number(format.rounder);
  const Bundle f = m - x.Number(1);
  const Bundle half_square = f * f * x.Number(0.5);
  const Bundle low = n * x.Number(format.log2_low);
  // log(1 + f) = f - half_square + tail
  Bundle rest = f;
  if (x.is_f64()) {
    const Bundle s = f / (f + x.Number(2));
    const Bundle z = s * s;
    const Bundle tail = s * MultiplyAdd(z, Polynomial(z, kLogF64), half_square);
    rest = f - (half_square - (tail + low));
  } else {
    const Bundle tail = f * f * f * Polynomial(f, kLogF32);
    rest = f - (half_square - (tail + low));
  }
  return MultiplyAdd(n, x.Number(format.log2_high), rest);
}

// For elements that are rare: computed one by one, if there are any at all.
Bundle WithRare(const Bundle& is_rare, const Bundle& usual,
                llvm::function_ref<Bundle()> make_rare) {
  llvm::IRBuilder<>& builder = usual.builder();
  llvm::Value* any = nullptr;
  for (llvm::Value* mask : is_rare.values()) {
    llvm::Value* has_one = mask->getType()->isVectorTy() ? builder.CreateOrReduce(mask) : mask;
    any = any == nullptr ? has_one : builder.CreateOr(any, has_one);
  }
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  llvm::LLVMContext& context = builder.getContext();
  llvm::BasicBlock* before = builder.GetInsertBlock();
  auto* rare_block = llvm::BasicBlock::Create(context, "rare", function);
  auto* after = llvm::BasicBlock::Create(context, "usual", function);
  builder.CreateCondBr(any, rare_block, after);
  builder.SetInsertPoint(rare_block);
  const Bundle mended = Select(is_rare, make_rare(), usual);
  llvm::BasicBlock* rare_end = builder.GetInsertBlock();
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
  Bundle::Values merged;
  for (size_t i = 0; i < usual.size(); ++i) {
    llvm::PHINode* phi = builder.CreatePHI(usual.type(), 2);
    phi->addIncoming(usual[i], before);
    phi->addIncoming(mended[i], rare_end);
    merged.push_back(phi);
  }
  return Bundle(usual.emitter(), std::move(merged));
}

// The sine of x + quarter_turns * pi / 2.
Bundle SineAfter(const Bundle& x, int quarter_turns, std::string_view library_name) {
  const Format& format = FormatOf(x);
  const Rounded n = Round(x, 2 * std::numbers::inv_pi, format);
  Bundle r = MultiplyAdd(n.number, x.Number(-format.half_pi_high), x);
  r = MultiplyAdd(n.number, x.Number(-format.half_pi_middle), r);
  r = MultiplyAdd(n.number, x.Number(-format.half_pi_low), r);
  const Bundle z = r * r;
  const Bundle sine_tail = x.is_f64() ? Polynomial(z, kSineF64) : Polynomial(z, kSineF32);
  const Bundle cosine_tail = x.is_f64() ? Polynomial(z, kCosineF64) : Polynomial(z, kCosineF32);
  const Bundle sine = MultiplyAdd(r * z, sine_tail, r);
  const Bundle cosine =
      MultiplyAdd(z * z, cosine_tail, MultiplyAdd(z, x.Number(-0.5), x.Number(1)));
  const Bundle quarter = n.integer + n.integer.Integer(quarter_turns);
  const Bundle magnitude = Select(And(quarter, 1) == quarter.Integer(0), sine, cosine);
  // The sign changes in every other half turn.
  const int sign_bit = static_cast<int>(x.type()->getScalarSizeInBits()) - 1;
  const Bundle sign = ShiftLeft(And(quarter, 2), sign_bit - 1);
  const Bundle usual =
      magnitude.AsIntegers()
          .Map(sign, [&](llvm::Value* a, llvm::Value* b) { return x.builder().CreateXor(a, b); })
          .AsFloats();
  return WithRare(Absolute(x) > x.Number(format.sine_most), usual,
                  [&] { return CallLibrary(library_name, x); });
}

// Where 1 - x**2, which is given as well, is small or not positive.
Bundle ErfInvNearOne(const Bundle& x, const Bundle& rest) {
  const Bundle w = x.Number(0) - Log(rest);
  const Bundle root = Intrinsic(llvm::Intrinsic::sqrt, w);
  Bundle rate = x.is_f64() ? Polynomial(root - x.Number(3.25), kErfInvTailF64)
                           : Polynomial(root - x.Number(3), kErfInvTailF32);
  if (x.is_f64()) {
    rate = Select(w > x.Number(16), Polynomial(root - x.Number(5), kErfInvFarF64), rate);
  }
  const Bundle infinity = x.Number(kInfinity);
  return x * Select(w == infinity, infinity, rate);
}

Bundle ConvertFloats(const Bundle& x, bool to_f64) {
  llvm::Type* element = to_f64 ? x.builder().getDoubleTy() : x.builder().getFloatTy();
  llvm::Type* type = x.type()->getWithNewType(element);
  return x.Map([&](llvm::Value* value) { return x.builder().CreateFPCast(value, type); });
}

}  // namespace

Bundle Exp(const Bundle& x) { return ExpOfNegative(AtMost(x, FormatOf(x).exp_most)); }

Bundle ExpOfNegative(const Bundle& x) {
  const Format& format = FormatOf(x);
  const Reduced reduced = ReduceByLog2(AtLeastThrough(x, format.exp_least), format);
  return Scale(SmallExp(reduced.rest), reduced.n, format);
}

Bundle ExpMinusOne(const Bundle& x) {
  const Format& format = FormatOf(x);
  // Far enough below 0 nothing is left beside -1.
  const Bundle bounded = AtLeast(AtMost(x, format.exp_most), x.is_f64() ? -40 : -20);
  const Reduced reduced = ReduceByLog2(bounded, format);
  // 2^n (exp(r) - 1) + 2^n - 1. Beyond a format's digits the 1 does not count.
  const Bundle inverse =
      PowerOfTwo(reduced.n.integer.Map(reduced.n.integer.Integer(x.is_f64() ? 100 : 50),
                                       [&](llvm::Value* n, llvm::Value* most) {
                                         llvm::IRBuilder<>& builder = x.builder();
                                         llvm::Value* bounded_n = builder.CreateSelect(
                                             builder.CreateICmpSGT(n, most), most, n);
                                         return builder.CreateNeg(bounded_n);
                                       }),
                 format);
  return Scale(SmallExpMinusOne(reduced.rest) + (x.Number(1) - inverse), reduced.n, format);
}

Bundle Log(const Bundle& x) {
  const Format& format = FormatOf(x);
  const double up = x.is_f64() ? 0x1p54 : 0x1p25;
  const int up_bits = x.is_f64() ? 54 : 25;
  const Bundle is_subnormal = x < x.Number(format.least_normal);
  const Bundle bits = Select(is_subnormal, x * x.Number(up), x).AsIntegers();
  const Bundle usual =
      LogOfBits(x, bits, Select(is_subnormal, bits.Integer(up_bits), bits.Integer(0)));
  const Bundle infinity = x.Number(kInfinity);
  const Bundle finite = Select(x == infinity, infinity, usual);
  const Bundle zero = x.Number(0);
  return Select(x > zero, finite, Select(x == zero, x.Number(-kInfinity), x.Number(kNaN)));
}

Bundle LogPlusOne(const Bundle& x) {
  const Bundle one = x.Number(1);
  const Bundle sum = x + one;
  // What rounding took from the sum.
  const Bundle lost = (x - (sum - one)) / sum;
  const Bundle zero = x.Number(0);
  const Bundle is_special = Or(sum == zero, sum == x.Number(kInfinity));
  return Log(sum) + Select(is_special, zero, lost);
}

Bundle Logistic(const Bundle& x) {
  const Bundle one = x.Number(1);
  return one / (one + Exp(x.Number(0) - x));
}

Bundle Tanh(const Bundle& x) {
  const Bundle t = ExpMinusOne(AtMost(Absolute(x), FormatOf(x).tanh_most) * x.Number(2));
  return CopySign(t / (t + x.Number(2)), x);
}

Bundle Sine(const Bundle& x) { return SineAfter(x, 0, "sin"); }

Bundle Cosine(const Bundle& x) { return SineAfter(x, 1, "cos"); }

Bundle ErrorFunction(const Bundle& x) {
  if (x.is_f64()) return CallLibrary("erf", x);
  // Beyond 4 it is 1.
  const Bundle t = AtMost(Absolute(x), 4);
  const Bundle rate = Polynomial(t - x.Number(2), kErrorFunctionF32);
  const Bundle zero = x.Number(0);
  return CopySign(zero - ExpMinusOne(zero - t * rate), x);
}

Bundle InverseErrorFunction(const Bundle& x) {
  const bool is_f64 = x.is_f64();
  const Bundle one = x.Number(1);
  const Bundle zero = x.Number(0);
  // The absolute error of w = -log(1 - x**2) counts, so that there is no need for log1p.
  const Bundle rest = (one - x) * (one + x);
  const Bundle bits = rest.AsIntegers();
  const Bundle usual_w = zero - LogOfBits(rest, bits, bits.Integer(0));
  const Bundle usual = x * (is_f64 ? Polynomial(usual_w - x.Number(3.125), kErfInvF64)
                                   : Polynomial(usual_w - x.Number(2.5), kErfInvF32));
  const auto is_rare = [&](const Bundle& one) {
    return one < x.Number(std::exp(is_f64 ? -6.25 : -5.0));
  };
  // One vector in twenty has such elements, and seldom more than one of a bundle.
  return WithRare(is_rare(rest), usual, [&] {
    Bundle::Values mended;
    for (size_t i = 0; i < usual.size(); ++i) {
      const Bundle one(x.emitter(), {rest[i]});
      const Bundle near_one = WithRare(is_rare(one), Bundle(x.emitter(), {usual[i]}), [&] {
        return ErfInvNearOne(Bundle(x.emitter(), {x[i]}), one);
      });
      mended.push_back(near_one[0]);
    }
    return Bundle(x.emitter(), std::move(mended));
  });
}

Bundle Power(const Bundle& base, const Bundle& exponent) {
  if (base.is_f64()) return CallLibrary("pow", base, &exponent);
  const Bundle x = ConvertFloats(base, /*to_f64=*/true);
  const Bundle y = ConvertFloats(exponent, /*to_f64=*/true);
  const Bundle magnitude = Absolute(x);
  const Bundle one = x.Number(1);
  const Bundle zero = x.Number(0);
  Bundle power = Exp(y * Log(magnitude));
  const Bundle is_one = magnitude == one;
  power = Select(is_one, one, power);
  // An odd power keeps the sign of the base; a negative base has no power that is no integer.
  const Bundle half = y * x.Number(0.5);
  const Bundle is_integer = Intrinsic(llvm::Intrinsic::floor, y) == y;
  const Bundle is_even = Intrinsic(llvm::Intrinsic::floor, half) == half;
  const Bundle is_infinite = Absolute(y) == x.Number(kInfinity);
  const Bundle with_sign = Select(is_even, power, CopySign(power, x));
  const Bundle of_negative =
      Select(Or(is_integer, is_infinite), with_sign,
             Select(magnitude == x.Number(kInfinity), power, x.Number(kNaN)));
  power =
      Select(Or(x < zero, x == zero), Select(Or(is_integer, x < zero), of_negative, power), power);
  power = Select(y == zero, one, Select(x == one, one, power));
  return ConvertFloats(power, /*to_f64=*/false);
}

Bundle CallLibrary(std::string_view name, const Bundle& x, const Bundle* y) {
  llvm::IRBuilder<>& builder = x.builder();
  llvm::Type* element = x.type()->getScalarType();
  llvm::SmallVector<llvm::Type*, 2> types(y == nullptr ? 1 : 2, element);
  llvm::FunctionCallee function = x.emitter().module.getOrInsertFunction(
      x.is_f64() ? std::string(name) : StrCat(name, "f"),
      llvm::FunctionType::get(element, types, /*isVarArg=*/false));
  // So that what was computed before such a call is still there after it.
  auto* declared = llvm::cast<llvm::Function>(function.getCallee());
  declared->setDoesNotAccessMemory();
  declared->setDoesNotThrow();
  declared->setWillReturn();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x.type());
  Bundle::Values made;
  for (size_t i = 0; i < x.size(); ++i) {
    if (vector == nullptr) {
      llvm::SmallVector<llvm::Value*, 2> operands = {x[i]};
      if (y != nullptr) operands.push_back((*y)[i]);
      made.push_back(builder.CreateCall(function, operands));
      continue;
    }
    llvm::Value* result = llvm::PoisonValue::get(x.type());
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
      llvm::SmallVector<llvm::Value*, 2> operands = {builder.CreateExtractElement(x[i], lane)};
      if (y != nullptr) operands.push_back(builder.CreateExtractElement((*y)[i], lane));
      result = builder.CreateInsertElement(result, builder.CreateCall(function, operands), lane);
    }
    made.push_back(result);
  }
  return Bundle(x.emitter(), std::move(made));
}

}  // namespace plimsoll
