#include "ir/dimensions.h"

#include <algorithm>

#include "ir/attribute.h"
#include "ir/status.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plimsoll {
namespace {

constexpr std::string_view kBounds = "stablehlo.bounds";

llvm::ArrayRef<int64_t> BoundsOf(Type tensor) {
  const Attribute encoding = tensor.encoding();
  if (!encoding.Is(AttributeKind::kStruct) || encoding.text() != kBounds) return {};
  const Attribute bounds = encoding.Find("bounds");
  if (!bounds.Is(AttributeKind::kDenseArray) || !bounds.type().IsInteger(64)) return {};
  return bounds.integers();
}

using MergeDimensions = llvm::function_ref<std::optional<Dimension>(Dimension, Dimension)>;

std::optional<Type> Merge(Context& context, Type a, Type b, MergeDimensions merge);

std::optional<Type> MergeTensors(Context& context, Type a, Type b, MergeDimensions merge) {
  if (a.rank() != b.rank() || !AreCompatibleElements(a.element_type(), b.element_type())) {
    return std::nullopt;
  }
  const Dimensions of_a = DimensionsOf(a);
  const Dimensions of_b = DimensionsOf(b);
  Dimensions merged;
  for (size_t i = 0; i < of_a.size(); ++i) {
    const std::optional<Dimension> dimension = merge(of_a[i], of_b[i]);
    if (!dimension) return std::nullopt;
    merged.push_back(*dimension);
  }
  // Encodings other than bounds stay.
  return merged == of_a ? a : TensorOf(context, merged, a.element_type());
}

std::optional<Type> MergeMembers(Context& context, Type a, Type b, MergeDimensions merge) {
  if (a.members().size() != b.members().size()) return std::nullopt;
  llvm::SmallVector<Type> members;
  for (size_t i = 0; i < a.members().size(); ++i) {
    const std::optional<Type> member = Merge(context, a.members()[i], b.members()[i], merge);
    if (!member) return std::nullopt;
    members.push_back(*member);
  }
  return a.Is(TypeKind::kTuple) ? context.TupleType(members) : context.FutureType(members);
}

std::optional<Type> Merge(Context& context, Type a, Type b, MergeDimensions merge) {
  if (a == b) return a;
  if (!a || !b || a.kind() != b.kind()) return std::nullopt;
  switch (a.kind()) {
    case TypeKind::kTensor:
      return MergeTensors(context, a, b, merge);
    case TypeKind::kTuple:
    case TypeKind::kFuture:
      return MergeMembers(context, a, b, merge);
    default:
      return std::nullopt;
  }
}

}  // namespace

Dimensions DimensionsOf(Type tensor) {
  const llvm::ArrayRef<int64_t> bounds = BoundsOf(tensor);
  Dimensions dimensions;
  for (size_t i = 0; i < tensor.rank(); ++i) {
    const int64_t size = tensor.shape()[i];
    const bool is_bounded = size == kDynamic && bounds.size() == tensor.rank() && bounds[i] >= 0;
    dimensions.push_back({size, is_bounded ? bounds[i] : kDynamic});
  }
  return dimensions;
}

Type TensorOf(Context& context, llvm::ArrayRef<Dimension> dimensions, Type element) {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> bounds;
  bool is_bounded = false;
  for (const Dimension& dimension : dimensions) {
    shape.push_back(dimension.size);
    bounds.push_back(dimension.is_static() ? kDynamic : dimension.bound);
    is_bounded = is_bounded || bounds.back() != kDynamic;
  }
  if (!is_bounded) return context.TensorType(shape, element);
  return context.TensorType(shape, element,
                            context.Struct(kBounds, {{"bounds", context.I64Array(bounds)}}));
}

Type WithElement(Context& context, Type tensor, Type element) {
  return context.TensorType(tensor.shape(), element, tensor.encoding());
}

bool AreCompatible(const Dimension& a, const Dimension& b) {
  if (a.is_static() && b.is_static()) return a.size == b.size;
  if (a.is_static()) return !b.is_bounded() || a.size <= b.bound;
  if (b.is_static()) return !a.is_bounded() || b.size <= a.bound;
  return true;
}

std::optional<Dimension> MostSpecific(const Dimension& a, const Dimension& b) {
  if (!AreCompatible(a, b)) return std::nullopt;
  if (a.is_static()) return a;
  if (b.is_static()) return b;
  if (a.is_bounded() && b.is_bounded()) return Dimension{kDynamic, std::min(a.bound, b.bound)};
  return a.is_bounded() ? a : b;
}

std::optional<Dimension> LeastSpecific(const Dimension& a, const Dimension& b) {
  if (a == b) return a;
  if (a.is_static() && b.is_static()) return std::nullopt;
  const int64_t most_a = a.is_static() ? a.size : a.bound;
  const int64_t most_b = b.is_static() ? b.size : b.bound;
  const bool is_bounded = most_a != kDynamic && most_b != kDynamic;
  return Dimension{kDynamic, is_bounded ? std::max(most_a, most_b) : kDynamic};
}

bool IsQuantized(Type element) { return element.Is(TypeKind::kQuantized); }

bool IsQuantizedPerAxis(Type element) {
  return IsQuantized(element) && element.data()->quantized->axis.has_value();
}

bool AreCompatibleElements(Type a, Type b) {
  if (a == b) return true;
  return IsQuantized(a) && IsQuantized(b) && a.element_type() == b.element_type() &&
         a.data()->quantized->storage == b.data()->quantized->storage;
}

bool HaveCompatibleShapes(Type a, Type b) {
  if (a.rank() != b.rank()) return false;
  return llvm::all_of_zip(
      DimensionsOf(a), DimensionsOf(b),
      [](const Dimension& x, const Dimension& y) { return AreCompatible(x, y); });
}

bool AreCompatible(Type a, Type b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const auto is_tensor = [](Type type) {
    return type.Is(TypeKind::kTensor) || type.Is(TypeKind::kUnrankedTensor);
  };
  if (is_tensor(a) && is_tensor(b)) {
    const bool are_ranked = a.Is(TypeKind::kTensor) && b.Is(TypeKind::kTensor);
    return AreCompatibleElements(a.element_type(), b.element_type()) &&
           (!are_ranked || HaveCompatibleShapes(a, b));
  }
  if (a.kind() == b.kind() && (a.Is(TypeKind::kTuple) || a.Is(TypeKind::kFuture))) {
    return llvm::equal(a.members(), b.members(),
                       [](Type x, Type y) { return AreCompatible(x, y); });
  }
  return false;
}

std::optional<Type> MostSpecific(Context& context, Type a, Type b) {
  return Merge(context, a, b, [](Dimension x, Dimension y) { return MostSpecific(x, y); });
}

std::optional<Type> LeastSpecific(Context& context, Type a, Type b) {
  return Merge(context, a, b, [](Dimension x, Dimension y) { return LeastSpecific(x, y); });
}

bool IsScalarInteger(Type type, unsigned width) {
  return type.Is(TypeKind::kTensor) && type.rank() == 0 && type.element_type().IsInteger(width);
}

std::string Text(const Dimension& dimension) {
  if (dimension.is_static()) return std::to_string(dimension.size);
  return dimension.is_bounded() ? StrCat("? (at most ", dimension.bound, ")") : "?";
}

std::string ListText(llvm::ArrayRef<int64_t> numbers) {
  std::string text = "[";
  for (const int64_t number : numbers) {
    if (text.size() > 1) text += ", ";
    text += number == kDynamic ? "?" : std::to_string(number);
  }
  return text + "]";
}

}  // namespace plimsoll
