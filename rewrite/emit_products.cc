#include "rewrite/emit_products.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/indexed_value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

IndexSet SetOf(const ProductFactor& factor) {
  IndexSet set = 0;
  for (const auto& dimension : factor.indices) {
    for (const int index : dimension) set |= IndexSet{1} << index;
  }
  return set;
}

// Makes products with the indices of a sum.
class Emitter {
 public:
  Emitter(Builder& builder, const SumOfProducts& sum) : builder_(builder), sum_(sum) {}

  Value* Run(const ContractionOrder& order) {
    double scale = sum_.scale;
    for (const ProductFactor& factor : sum_.factors) Add(factor);
    for (const GivenProduct& given : sum_.given) Add(given.factor, given.repeated);
    const size_t given_begin = sum_.factors.size();
    const auto use = [&](int number) {
      const auto place = static_cast<size_t>(number);
      if (place >= given_begin && place < given_begin + sum_.given.size()) {
        scale /= sum_.given[place - given_begin].scale;
      }
    };
    if (order.steps.empty()) use(order.result);
    for (const ContractionStep& step : order.steps) {
      use(step.left);
      if (step.right == ContractionStep::kNoFactor) {
        made_.push_back(Sum(At(step.left), step.indices));
        continue;
      }
      use(step.right);
      made_.push_back(Multiply(At(step.left), At(step.right), step.indices));
    }
    return Finish(sum_.factors.empty() ? IndexedValue() : At(order.result), scale);
  }

 private:
  // A value with a dimension for each index, none twice: read along diagonals that it has.
  void Add(const ProductFactor& factor, llvm::ArrayRef<int> repeated = {}) {
    llvm::SmallVector<int64_t> shape;
    llvm::SmallVector<int, 6> indices;
    for (const auto& dimension : factor.indices) {
      for (const int index : dimension) {
        indices.push_back(index);
        shape.push_back(sum_.sizes[index]);
      }
    }
    given_.push_back({.factor = factor,
                      .indices = std::move(indices),
                      .shape = std::move(shape),
                      .repeated = llvm::to_vector<2>(repeated)});
  }

  // Made when it is used first, since not every factor that could be used is.
  IndexedValue At(int number) {
    const auto place = static_cast<size_t>(number);
    if (place >= given_.size()) return made_[place - given_.size()];
    Source& source = given_[place];
    if (source.made.value != nullptr) return source.made;
    Value* value = source.factor.value;
    if (llvm::ArrayRef(source.shape) != value->type().shape()) {
      value = builder_.Reshape(value, source.shape);
    }
    IndexedValue element = ReadOnce({.value = value, .indices = source.indices}, source.repeated);
    while (std::optional<std::pair<size_t, size_t>> twice = FindTwice(element.indices)) {
      element = ReadDiagonal(element, twice->first, twice->second);
    }
    source.made = element;
    return element;
  }

  // The elements at the beginning of dimensions along which all are the same.
  IndexedValue ReadOnce(const IndexedValue& element, llvm::ArrayRef<int> repeated) {
    if (repeated.empty()) return element;
    const llvm::SmallVector<int64_t> starts(element.indices.size(), 0);
    const llvm::SmallVector<int64_t> strides(element.indices.size(), 1);
    llvm::SmallVector<int64_t> ends;
    llvm::SmallVector<int64_t> shape;
    IndexedValue read;
    for (const int index : element.indices) {
      const bool is_repeated = llvm::is_contained(repeated, index);
      ends.push_back(is_repeated ? 1 : sum_.sizes[index]);
      if (is_repeated) continue;
      shape.push_back(ends.back());
      read.indices.push_back(index);
    }
    read.value = builder_.Reshape(builder_.Slice(element.value, starts, ends, strides), shape);
    return read;
  }

  static std::optional<std::pair<size_t, size_t>> FindTwice(llvm::ArrayRef<int> indices) {
    for (size_t a = 0; a < indices.size(); ++a) {
      for (size_t b = a + 1; b < indices.size(); ++b) {
        if (indices[a] == indices[b]) return std::pair(a, b);
      }
    }
    return std::nullopt;
  }

  // Elements of the diagonal lie in equal distances.
  IndexedValue ReadDiagonal(const IndexedValue& element, size_t first, size_t second) {
    const auto rank = static_cast<int64_t>(element.indices.size());
    llvm::SmallVector<int64_t> permutation;
    IndexedValue diagonal;
    for (int64_t d = 0; d < rank; ++d) {
      if (d == static_cast<int64_t>(first) || d == static_cast<int64_t>(second)) continue;
      permutation.push_back(d);
      diagonal.indices.push_back(element.indices[d]);
    }
    permutation.append({static_cast<int64_t>(first), static_cast<int64_t>(second)});
    diagonal.indices.push_back(element.indices[first]);
    Value* value = element.value;
    if (!llvm::is_sorted(permutation)) value = builder_.Transpose(value, permutation);
    llvm::SmallVector<int64_t> shape;
    for (const int index : diagonal.indices) shape.push_back(sum_.sizes[index]);
    const int64_t size = shape.back();
    shape.back() = size * size;
    llvm::SmallVector<int64_t> strides(shape.size(), 1);
    strides.back() = size + 1;
    const llvm::SmallVector<int64_t> starts(shape.size(), 0);
    value = builder_.Slice(builder_.Reshape(value, shape), starts, shape, strides);
    diagonal.value = value;
    return diagonal;
  }

  IndexedValue Sum(const IndexedValue& element, IndexSet kept) {
    llvm::SmallVector<int64_t> dimensions;
    IndexedValue result;
    for (const auto [d, index] : llvm::enumerate(element.indices)) {
      if ((kept >> index & 1) == 0) {
        dimensions.push_back(static_cast<int64_t>(d));
      } else {
        result.indices.push_back(index);
      }
    }
    result.value = Reduce(element.value, dimensions);
    return result;
  }

  Value* Reduce(Value* value, llvm::ArrayRef<int64_t> dimensions) {
    const Type scalar = builder_.context().TensorType({}, ElementType());
    return builder_.Reduce(value, builder_.Constant(scalar, 0), dimensions, Opcode::kAdd);
  }

  Type ElementType() const { return sum_.result.value->type().element_type(); }

  IndexedValue Multiply(const IndexedValue& left, const IndexedValue& right, IndexSet kept) {
    const auto is_kept = [&](int index) { return (kept >> index & 1) != 0; };
    DotDimensions dimensions;
    llvm::SmallVector<int, 6> batch;
    llvm::SmallVector<int, 6> free;
    bool left_is_free = false;
    bool right_is_free = false;
    for (const auto [d, index] : llvm::enumerate(left.indices)) {
      const auto* place = llvm::find(right.indices, index);
      if (place == right.indices.end()) {
        free.push_back(index);
        left_is_free = true;
        continue;
      }
      (is_kept(index) ? dimensions.left_batch : dimensions.left_contracted)
          .push_back(static_cast<int64_t>(d));
      (is_kept(index) ? dimensions.right_batch : dimensions.right_contracted)
          .push_back(place - right.indices.begin());
      if (is_kept(index)) batch.push_back(index);
    }
    for (const int index : right.indices) {
      if (left.Has(index)) continue;
      free.push_back(index);
      right_is_free = true;
    }
    // Libraries multiply matrices; what has no free dimension is a loop over all elements.
    const bool is_product = !dimensions.left_contracted.empty() && (left_is_free || right_is_free);
    if (is_product) {
      IndexedValue result;
      result.value =
          builder_.DotGeneral(left.value, right.value, dimensions, ElementType(), sum_.precision);
      result.indices = batch;
      result.indices.append(free);
      return result;
    }
    llvm::SmallVector<int, 6> all = left.indices;
    for (const int index : right.indices) {
      if (!left.Has(index)) all.push_back(index);
    }
    llvm::SmallVector<int64_t> sizes;
    for (const int index : all) sizes.push_back(sum_.sizes[index]);
    IndexedValue result;
    result.value = builder_.Multiply(Arrange(builder_, left, all, sizes),
                                     Arrange(builder_, right, all, sizes));
    result.indices = all;
    if (dimensions.left_contracted.empty()) return result;
    return Sum(result, kept);
  }

  // Scaled, with the result's dimensions.
  Value* Finish(IndexedValue result, double scale) {
    llvm::SmallVector<int, 6> indices;
    llvm::SmallVector<int64_t> sizes;
    llvm::SmallVector<int64_t> shape;
    for (const auto& dimension : sum_.result.indices) {
      shape.push_back(1);
      for (const int index : dimension) {
        indices.push_back(index);
        sizes.push_back(sum_.sizes[index]);
        shape.back() *= sum_.sizes[index];
      }
    }
    if (result.value == nullptr) {
      return builder_.Constant(builder_.context().TensorType(shape, ElementType()), scale);
    }
    if (scale != 1) {
      Value* number = builder_.Constant(result.value->type(), scale);
      result.value = builder_.Multiply(result.value, number);
    }
    Value* arranged = Arrange(builder_, result, indices, sizes);
    if (arranged == nullptr || arranged->type().shape() == llvm::ArrayRef(shape)) return arranged;
    return builder_.Reshape(arranged, shape);
  }

  struct Source {
    ProductFactor factor;
    llvm::SmallVector<int, 6> indices;
    llvm::SmallVector<int64_t> shape;
    llvm::SmallVector<int, 2> repeated;
    IndexedValue made = {};
  };

  Builder& builder_;
  const SumOfProducts& sum_;
  std::vector<Source> given_;
  std::vector<IndexedValue> made_;
};

}  // namespace

Contraction ContractionOf(const SumOfProducts& sum) {
  Contraction contraction = {
      .factors = {}, .kept = SetOf(sum.result), .sizes = sum.sizes, .given = {}};
  for (const ProductFactor& factor : sum.factors) contraction.factors.push_back(SetOf(factor));
  for (const GivenProduct& given : sum.given) {
    const uint32_t factors = ((uint32_t{1} << given.count) - 1) << given.first;
    IndexSet indices = SetOf(given.factor);
    for (const int index : given.repeated) indices &= ~(IndexSet{1} << index);
    contraction.given.push_back({.factors = factors, .indices = indices});
  }
  return contraction;
}

Value* EmitProducts(Builder& builder, const SumOfProducts& sum, const ContractionOrder& order) {
  return Emitter(builder, sum).Run(order);
}

}  // namespace plimsoll
