// What XLA:CPU makes of one op, as far as memory goes.

#ifndef PLIMSOLL_ANALYSIS_OP_CLASS_H_
#define PLIMSOLL_ANALYSIS_OP_CLASS_H_

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "ir/opcode.h"

namespace plimsoll {

// What an op is to the fusion of loops.
enum class OpClass : uint8_t {
  kConstant,   // In the program, not in the temporaries.
  kCheap,      // Computed again wherever it is used, rather than kept.
  kExpensive,  // Fused if there is one place that uses each element once.
  kOpaque,     // A library call, a loop, a sort: reads and writes memory.
};

OpClass ClassOf(const Op& op);

// True if the results are the operands in other words: the same bytes in the same order, or a value
// that XLA knows to be equal.
bool IsView(const Op& op);

// True if the value is made of one constant number.
bool IsUniform(const Value* value);

// True if all elements are known to be 0.
bool IsZero(const Value* value);

// False for ops that XLA moves out of a loop only together with one that they are for.
bool IsWorthHoisting(const Op& op);

// True if the body of a loop reads something that is the same in every iteration and not a
// constant. Without that, XLA moves nothing out of it.
bool HasInvariants(const Block& body);

// The op of a region that has only one, such as the sum of a reduction; else kUnknown.
Opcode BodyOf(const Op& op);

// True if each element of the result is made of the operands' elements in the same place, where an
// operand without dimensions is in all places.
bool IsElementwise(const Op& op);

// True for those of them whose operands all have the result's static shape, but for operands that
// are single numbers.
bool MapsElements(const Op& op);

// True for reshapes, and for broadcasts that only add dimensions of one element.
bool IsReshape(const Op& op);

// True if the operands may change places.
bool IsCommutative(const Op& op);

// True if the op is a sum over more elements than XLA adds in one go: it does so in stages.
bool ReducesInStages(const Op& op);
// The bytes of the first stage.
int64_t StageBytes(const Op& op);

// True if each element of the result sums all elements up to its own, along `dimension`.
bool IsCumulative(const Op& op, size_t& dimension);

// True for a product without a contracted dimension of more than one element.
bool IsOuterProduct(const Op& op);

// True for a product of halves that XLA has no kernel for: it computes in f32.
bool IsProductInFloat(const Op& op);

// True if XLA brings that operand of a product into another order of dimensions first.
bool IsReorderedForProduct(const Op& op, size_t operand);

// True if XLA computes the product on other shapes: it knows batches of matrices, with one
// dimension of each kind. Operands 0 and 1, or 2 for the result.
bool IsReshapedProduct(const Op& op, size_t which);

// Of a call of a library: the operand that the result is written into, or -1.
int OperandInPlace(const Op& op, int result);

// Which operands and results XLA has to bring into another order of dimensions for a library: the
// columns of LAPACK, the pixels of a convolution.
struct Reordered {
  std::vector<bool> operands;
  std::vector<bool> results;
};
Reordered FindReordered(const Op& op);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_OP_CLASS_H_
