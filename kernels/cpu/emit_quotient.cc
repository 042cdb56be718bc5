#include "kernels/cpu/emit_quotient.h"

#include "llvm/IR/IRBuilder.h"

namespace plimsoll {
namespace {

// Between its reciprocal and itself, all numbers have reciprocals that keep their digits.
constexpr double kLarge = 0x1p64;

}  // namespace

Divisor DivisorOf(const Bundle& number) {
  const Bundle size = Absolute(number);
  const Bundle one = number.Number(1);
  const Bundle large = number.Number(kLarge);
  const Bundle small = number.Number(1 / kLarge);
  const Bundle is_large = size.Map(
      large, [&](llvm::Value* a, llvm::Value* b) { return number.builder().CreateFCmpOGE(a, b); });
  const Bundle scale = Select(size < small, large, Select(is_large, small, one));
  const Bundle scaled = number * scale;
  return {.scaled = scaled, .reciprocal = one / scaled, .scale = scale};
}

Bundle Quotient(const Bundle& number, const Divisor& divisor) {
  llvm::IRBuilder<>& builder = number.builder();
  const Bundle dividend = number * divisor.scale;
  const Bundle first = dividend * divisor.reciprocal;
  const Bundle negated = first.Map([&](llvm::Value* value) { return builder.CreateFNeg(value); });
  const Bundle rest = MultiplyAdd(negated, divisor.scaled, dividend);
  const Bundle second = MultiplyAdd(rest, divisor.reciprocal, first);
  // With infinities the rest is not a number, and with zeros it has no sign.
  const Bundle is_better = second.Map(second.Number(0), [&](llvm::Value* a, llvm::Value* b) {
    return builder.CreateFCmpONE(a, b);
  });
  return Select(is_better, second, first);
}

}  // namespace plimsoll
