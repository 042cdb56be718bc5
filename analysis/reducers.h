// Reductions by one op of two operands.

#ifndef PLIMSOLL_ANALYSIS_REDUCERS_H_
#define PLIMSOLL_ANALYSIS_REDUCERS_H_

#include <cstdint>
#include <optional>

#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/opcode.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// A reduction of one value of static shape by a sum, product, maximum, minimum, and, or.
struct Reduction {
  Opcode reducer;
  llvm::ArrayRef<int64_t> dimensions;
  Type element;
};

std::optional<Reduction> ReductionOf(const Op& op);

// The op by which the body of a reduction or a scatter of one value combines two elements, where it
// is one of those.
std::optional<Opcode> ReducerOfBody(const Op& op);

// A reduction of values with their positions that keeps the largest or the smallest value, and of
// equal ones that with the least position, as argmax and argmin are written: kMaximum or kMinimum.
std::optional<Opcode> ArgReducerOf(const Op& op);

// True if it does not matter how often a value is taken in: maximum, minimum, and, or.
bool IsIdempotent(Opcode reducer);

// True if all elements are the constant that changes nothing: 0 for sums, the least number for the
// maximum.
bool IsNeutral(const Reduction& reduction, const Value& value);
// That constant, without dimensions; null if there is none of this type.
Value* NeutralOf(Builder& builder, Opcode reducer, Type element);

// Floats of less than 32 bits.
bool IsNarrowFloat(Type element);
// True for sums and products of such: XLA may keep more digits until the end of a reduction.
bool RoundsPartialResults(const Reduction& reduction);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_REDUCERS_H_
