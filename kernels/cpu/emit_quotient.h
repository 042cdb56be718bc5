// Division by a number that many others are divided by, such as the sum of a softmax's row. An
// instruction that divides takes several times as long as the products and sums here.

#ifndef PLIMSOLL_KERNELS_CPU_EMIT_QUOTIENT_H_
#define PLIMSOLL_KERNELS_CPU_EMIT_QUOTIENT_H_

#include "kernels/cpu/bundle.h"

namespace plimsoll {

// What quotients need of a divisor.
struct Divisor {
  // The divisor times a power of two, so that the reciprocal is a number like others.
  Bundle scaled;
  Bundle reciprocal;
  Bundle scale;
};

Divisor DivisorOf(const Bundle& number);

// Within one unit of the last place of what division gives. Zeros, infinities and what is not a
// number come out as they should.
Bundle Quotient(const Bundle& number, const Divisor& divisor);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_EMIT_QUOTIENT_H_
