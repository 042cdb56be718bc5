// Elementary functions as straight vector code. Accuracy in units in the last place, over the whole
// range of f32 and f64, infinities, NaN and subnormals included: exp, log, expm1, log1p and the
// logistic function 2, tanh, sin, cos and pow (f32) 3, erf (f32) 4 (measured by
// vector_math_test.cc). All others are calls of the C library, one element at a time.

#ifndef PLIMSOLL_KERNELS_CPU_VECTOR_MATH_H_
#define PLIMSOLL_KERNELS_CPU_VECTOR_MATH_H_

#include <string_view>

#include "kernels/cpu/bundle.h"

namespace plimsoll {

Bundle Exp(const Bundle& x);
// Of numbers whose exponential is finite, as that of all is that are never positive, or NaN.
Bundle ExpOfNegative(const Bundle& x);
Bundle ExpMinusOne(const Bundle& x);
Bundle Log(const Bundle& x);
Bundle LogPlusOne(const Bundle& x);
Bundle Logistic(const Bundle& x);
Bundle Tanh(const Bundle& x);
Bundle Sine(const Bundle& x);
Bundle Cosine(const Bundle& x);
Bundle ErrorFunction(const Bundle& x);
// As exact as XLA's.
Bundle InverseErrorFunction(const Bundle& x);
Bundle Power(const Bundle& base, const Bundle& exponent);

// The C library's function of that name for doubles, such as "lgamma"; for f32 the one with an f
// behind it. `y` may be null.
Bundle CallLibrary(std::string_view name, const Bundle& x, const Bundle* y = nullptr);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_VECTOR_MATH_H_
