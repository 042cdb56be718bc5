// Sizes and bounds of tensors' dimensions, and which types may stand for one another.

#ifndef PLIMSOLL_IR_DIMENSIONS_H_
#define PLIMSOLL_IR_DIMENSIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ir/context.h"
#include "ir/type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// A size that is not known may still have a bound.
struct Dimension {
  int64_t size = kDynamic;
  int64_t bound = kDynamic;

  bool is_static() const { return size != kDynamic; }
  bool is_bounded() const { return bound != kDynamic; }
  bool operator==(const Dimension&) const = default;
};

using Dimensions = llvm::SmallVector<Dimension, 6>;

// Of a ranked tensor. Bounds that do not fit the rank are taken as none.
Dimensions DimensionsOf(Type tensor);

Type TensorOf(Context& context, llvm::ArrayRef<Dimension> dimensions, Type element);

// The same shape and encoding with other elements.
Type WithElement(Context& context, Type tensor, Type element);

// True if both can be the same size when the program runs.
bool AreCompatible(const Dimension& a, const Dimension& b);

// What is known of a dimension that is both `a` and `b`; nothing if it cannot be both.
std::optional<Dimension> MostSpecific(const Dimension& a, const Dimension& b);

// What is known of a dimension that is either `a` or `b`; nothing if two known sizes differ.
std::optional<Dimension> LeastSpecific(const Dimension& a, const Dimension& b);

// Elements are compatible if they are equal, or quantized with the same storage and expressed
// types: scales may differ between operands and results.
bool AreCompatibleElements(Type a, Type b);

// True if a value can have both types as StableHLO sees it: sizes that are not known fit all sizes
// within their bound, and encodings other than bounds do not matter.
bool AreCompatible(Type a, Type b);

// The same for shapes alone. Both are ranked tensors.
bool HaveCompatibleShapes(Type a, Type b);

// The type of a value that has both types, or either; nothing if they are not compatible.
std::optional<Type> MostSpecific(Context& context, Type a, Type b);
std::optional<Type> LeastSpecific(Context& context, Type a, Type b);

bool IsQuantized(Type element);
// Quantized with one scale for each index of a dimension.
bool IsQuantizedPerAxis(Type element);

// True for a tensor without dimensions whose elements are integers of that width.
bool IsScalarInteger(Type type, unsigned width);

// "3", "?" or "? (at most 4)".
std::string Text(const Dimension& dimension);
// "[2, ?, 4]", with `?` for what is not known.
std::string ListText(llvm::ArrayRef<int64_t> numbers);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_DIMENSIONS_H_
