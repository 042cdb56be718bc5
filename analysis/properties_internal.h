// What the inferences of properties share.

#ifndef PLIMSOLL_ANALYSIS_PROPERTIES_INTERNAL_H_
#define PLIMSOLL_ANALYSIS_PROPERTIES_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "analysis/properties.h"
#include "ir/graph.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// The reason with the line that the op comes from.
std::string Because(std::string_view reason, const Op& op);

// The same value, to be held where values may be changed.
Value& Itself(const Value& value);

bool IsFloat(Type tensor);
bool IsComplexTensor(Type tensor);
// True for numbers that are not below zero by their type.
bool HasUnsignedElements(Type tensor);
// True if all numbers of the first type are numbers of the second.
bool IsWidening(Type from, Type to);
bool IsNaN(const Value& value);

// The element of an elementwise op's operand that an element of its result is made of.
IndexedValue OperandElement(const Op& op, size_t operand, const IndexedValue& element);

// Like SeeThrough, also through ops that change no number: x + 0, x * 1, barriers.
IndexedValue Peel(IndexedValue element);

// True if the element is the same for all of the index.
bool IsSameAlong(Properties& properties, const IndexedValue& element, int index);

// A square matrix's last two dimensions as indices.
struct MatrixElement {
  IndexedValue element;
  int row;
  int column;
};

// Nothing if the value is not a batch of square matrices of more than one element.
std::optional<MatrixElement> MatrixOf(const Value& value);
IndexedValue Exchange(IndexedValue element, int a, int b);

// The value that this one is a transpose, broadcast or reshape of, such that its last two
// dimensions are still the matrix. Null if there is none.
struct MatrixSource {
  Value* value = nullptr;
  bool is_transposed = false;
};
MatrixSource SourceOf(const Value& value);

// The elements of a constant, a splat as often as it stands; nothing if they are not known, not
// numbers, or too many to look at.
std::optional<std::vector<double>> ElementsOf(const Value& value);

// The operands whose elements, and no others, are the value's, in whatever place; none if the op
// does more than move them.
llvm::SmallVector<Value*> MovedFrom(const Value& value);

// True if the op is a sum over dimensions and starts from zero.
bool IsPlainSum(const Op& op);

// The elements of a product's operands that an element of its result is made of. Dimensions that
// are summed over get numbers from `next_index` on, which is counted up.
struct DotElements {
  IndexedValue left;
  IndexedValue right;
  llvm::SmallVector<int> summed;
};
DotElements ElementsOfDot(const Op& dot, const IndexedValue& result, int& next_index);
// The same for the operand of a reduction.
IndexedValue ElementOfReduced(const Op& reduce, const IndexedValue& result, int& next_index,
                              llvm::SmallVectorImpl<int>& summed);

// An integer that is an index times -1, 0 or 1, plus a number.
struct Affine {
  int index = kNoIndex;
  int64_t factor = 0;
  int64_t offset = 0;
};
// Nothing if it is something else, or may overflow.
std::optional<Affine> AffineOf(const IndexedValue& element);

// A product of two matrices, or of batches of them, summed over one index.
struct MatrixProduct {
  IndexedValue left;
  IndexedValue right;
  int row;
  int summed;
  int column;
};
std::optional<MatrixProduct> MatrixProductOf(const Op& op);

// A product of elements, summed over some indices, as products and sums of products are nested.
struct ProductFactor {
  IndexedValue element;
  bool is_divisor = false;
};
struct Product {
  double scale = 1;
  llvm::SmallVector<ProductFactor, 4> factors = {};
  llvm::SmallVector<int> summed = {};
};
// True if the value is made by one of the ops that products are made of.
bool IsProduct(const Value& value);
Product ProductOf(const IndexedValue& element, int& next_index);

// How two elements compare: any of these may hold, or both, for zero.
enum Likeness : uint8_t { kUnlike = 0, kSame = 1, kOpposite = 2 };
using Likenesses = unsigned;
Likenesses Compare(Properties& properties, const IndexedValue& a, const IndexedValue& b);

// For indices that no element has yet.
inline constexpr int kFirstNewIndex = 1000;

// The inferences, by theme. They give the reason, or "".
std::string InferSymmetric(Properties& properties, const Value& value);
std::string InferPositiveSemidefinite(Properties& properties, const Value& value);
std::string InferPositiveDefinite(Properties& properties, const Value& value);
// Diagonal, lower and upper triangular.
std::string InferZeros(Properties& properties, const Value& value, Property property);
std::string InferIdentity(Properties& properties, const Value& value);
std::string InferOneHot(Properties& properties, const Value& value);
std::string InferPermutation(Properties& properties, const Value& value);
std::string InferOrthogonal(Properties& properties, const Value& value);
std::string InferNonNegative(Properties& properties, const Value& value);
std::string InferPositive(Properties& properties, const Value& value);
std::string InferIntegerValued(Properties& properties, const Value& value);
std::string InferSorted(Properties& properties, const Value& value);
std::string InferConstantAlong(Properties& properties, const Value& value, size_t dimension);
// `of` gives the bounds of operands.
Bounds InferBounds(const Value& value, llvm::function_ref<Bounds(const Value&)> of);

// True if the elements on the diagonal of a matrix are so; kIdentity stands for ones.
bool IsDiagonalSo(Properties& properties, const Value& value, Property property);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_PROPERTIES_INTERNAL_H_
