#include "rewrite/selection_rules.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/contraction_order.h"
#include "rewrite/emit_products.h"
#include "rewrite/make_gather.h"
#include "rewrite/one_hot.h"
#include "rewrite/pieces.h"
#include "rewrite/sum_of_products.h"

namespace plimsoll {
namespace {

// A scatter adds one by one, a product of matrices in blocks of which the sums are added. Where
// each place gets more than this, that would be less exact.
constexpr double kMostSummed = 1024;

constexpr ProductViews kViews = {.diagonals = false,
                                 .reshapes = false,
                                 .selections = true,
                                 .shared = false,
                                 .narrow_floats = true};

// With reshapes left alone each dimension has one index, or none.
IndexedValue ElementOf(const ProductFactor& factor) {
  IndexedValue element = {.value = factor.value, .indices = {}};
  for (const auto& dimension : factor.indices) {
    element.indices.push_back(dimension.empty() ? kNoIndex : dimension.front());
  }
  return element;
}

ProductFactor FactorOf(const IndexedValue& element) {
  ProductFactor factor = {.value = element.value, .indices = {}};
  for (const int index : element.indices) {
    auto& dimension = factor.indices.emplace_back();
    if (index != kNoIndex) dimension.push_back(index);
  }
  return factor;
}

size_t TimesIn(int index, const ProductFactor& factor) {
  return llvm::count(ElementOf(factor).indices, index);
}

llvm::SmallVector<int> IndicesOf(const IndexedValue& element) {
  llvm::SmallVector<int> indices;
  for (const int index : element.indices) {
    if (index != kNoIndex) indices.push_back(index);
  }
  return indices;
}

// A sum of products, one factor of which is one-hot.
class Selection {
 public:
  Selection(RuleScope& scope, SumOfProducts sum) : scope_(scope), sum_(std::move(sum)) {
    sum_.given.clear();
    for (const int index : ElementOf(sum_.result).indices) kept_.push_back(index);
  }

  // A factor for which `fits` holds becomes the one-hot.
  bool Choose(bool (Selection::*fits)() const) {
    for (size_t i = 0; i < sum_.factors.size(); ++i) {
      std::optional<OneHot> found = FindOneHot(ElementOf(sum_.factors[i]));
      if (!found) continue;
      place_ = i;
      one_hot_ = *std::move(found);
      if ((this->*fits)()) return true;
    }
    return false;
  }

  // Summed over the index that is compared: the other factors are read at the labels.
  bool IsRead() const {
    if (IsKept(one_hot_.index)) return false;
    size_t read = 0;
    for (size_t i = 0; i < sum_.factors.size(); ++i) {
      if (i == place_) continue;
      const ProductFactor& factor = sum_.factors[i];
      const size_t times = TimesIn(one_hot_.index, factor);
      if (times == 0) continue;
      const llvm::SmallVector<int> indices = IndicesOf(ElementOf(factor));
      const bool has_twice =
          llvm::any_of(indices, [&](int index) { return llvm::count(indices, index) > 1; });
      if (has_twice) return false;
      ++read;
    }
    return !IsNarrow() || (sum_.factors.size() == 2 && read == 1 && sum_.scale == 1 &&
                           SumsOnlyOver(one_hot_.index));
  }

  // Summed over what the labels depend on: the other factors are added up by label.
  bool IsAdded() const {
    if (!IsKept(one_hot_.index) || IsNarrow()) return false;
    for (size_t i = 0; i < sum_.factors.size(); ++i) {
      if (i != place_ && TimesIn(one_hot_.index, sum_.factors[i]) > 0) return false;
    }
    return llvm::any_of(IndicesOf(one_hot_.labels), [&](int index) { return !IsKept(index); });
  }

  double RowsForEachLabel() const {
    double rows = 1;
    for (const int index : IndicesOf(one_hot_.labels)) {
      if (!IsKept(index)) rows *= static_cast<double>(sum_.sizes[index]);
    }
    return rows / static_cast<double>(sum_.sizes[one_hot_.index]);
  }

  Value* Read() {
    const llvm::SmallVector<int> indices = IndicesOf(one_hot_.labels);
    const Places places = PlacesFor(indices);
    Value* is_in_range = IsInRange(places);
    std::vector<ProductFactor> factors;
    for (size_t i = 0; i < sum_.factors.size(); ++i) {
      if (i == place_) continue;
      const ProductFactor& factor = sum_.factors[i];
      if (TimesIn(one_hot_.index, factor) == 0) {
        factors.push_back(factor);
        continue;
      }
      IndexedValue read =
          GatherAt(builder(), WithoutOnes(AsNumbers(ElementOf(factor))), one_hot_.index, places);
      if (read.value == nullptr) return nullptr;
      if (is_in_range != nullptr) read = ZeroOutside(read, std::exchange(is_in_range, nullptr));
      factors.push_back(FactorOf(read));
    }
    if (is_in_range != nullptr) {
      factors.push_back(FactorOf(AsNumbers(
          {.value = is_in_range, .indices = {places.indices.begin(), places.indices.end()}})));
    }
    sum_.factors = std::move(factors);
    // Labels that are known to be in range may leave no factor that is summed over their rows.
    for (const int index : IndicesOf(one_hot_.labels)) {
      const bool is_left = llvm::any_of(
          sum_.factors, [&](const ProductFactor& factor) { return TimesIn(index, factor) > 0; });
      if (!IsKept(index) && !is_left) return nullptr;
    }
    return Emit();
  }

  Value* Add() {
    // Those of the batch first.
    llvm::SmallVector<int> indices;
    llvm::SmallVector<int> summed;
    for (const int index : IndicesOf(one_hot_.labels)) {
      (IsKept(index) ? indices : summed).push_back(index);
    }
    const size_t batch_count = indices.size();
    indices.append(summed);
    const Places places = PlacesFor(indices);
    const llvm::SmallVector<int> kept = kept_;
    const llvm::SmallVector<int64_t> shape(sum_.result.value->type().shape());
    IndexedValue updates = {.value = nullptr, .indices = {indices.begin(), indices.end()}};
    for (const int index : kept) {
      const bool is_elsewhere = index == kNoIndex || index == one_hot_.index;
      if (!is_elsewhere && !llvm::is_contained(indices, index)) updates.indices.push_back(index);
    }
    sum_.result = {.value = sum_.result.value, .indices = FactorOf(updates).indices};
    sum_.factors.erase(sum_.factors.begin() + static_cast<std::ptrdiff_t>(place_));
    updates.value = Emit();
    const IndexedValue sums = ScatterAdd(builder(), updates, places, batch_count, one_hot_.index,
                                         sum_.sizes[one_hot_.index]);
    if (sums.value == nullptr) return nullptr;
    return ArrangeWithOnes(sums, kept, shape);
  }

 private:
  Builder& builder() { return scope_.builder(); }

  bool IsKept(int index) const { return llvm::is_contained(kept_, index); }

  bool IsNarrow() const {
    const Type element = sum_.result.value->type().element_type();
    return element.Is(TypeKind::kFloat) && element.float_kind() != FloatKind::kF32 &&
           element.float_kind() != FloatKind::kF64;
  }

  bool SumsOnlyOver(int index) const {
    return llvm::all_of(sum_.factors, [&](const ProductFactor& factor) {
      return llvm::all_of(IndicesOf(ElementOf(factor)),
                          [&](int other) { return other == index || IsKept(other); });
    });
  }

  // The labels with a dimension for each of these indices, and one for the number.
  Places PlacesFor(llvm::ArrayRef<int> indices) {
    llvm::SmallVector<int64_t> shape;
    for (const int index : indices) shape.push_back(sum_.sizes[index]);
    Value* labels = WidenLabels(builder(), Arrange(builder(), one_hot_.labels, indices, shape));
    if (one_hot_.is_clamped) {
      const Type type = labels->type();
      labels = builder().Maximum(labels, builder().IntegerConstant(type, 0));
      labels = builder().Minimum(labels, builder().IntegerConstant(type, Size() - 1));
    }
    shape.push_back(1);
    return {.value = builder().Reshape(labels, shape), .indices = {indices.begin(), indices.end()}};
  }

  int64_t Size() const { return sum_.sizes[one_hot_.index]; }

  // Null if all labels are known to be.
  Value* IsInRange(const Places& places) {
    if (one_hot_.is_clamped || places.value == nullptr) return nullptr;
    const std::optional<Bounds> bounds = scope_.properties().BoundsOf(*one_hot_.labels.value);
    const bool is_known =
        bounds && bounds->least >= 0 && bounds->most <= static_cast<double>(Size() - 1);
    if (is_known) return nullptr;
    Value* labels = ReshapeTo(builder(), places.value, places.value->type().shape().drop_back());
    const Type type = labels->type();
    return builder().And(
        builder().Compare(Comparison::kGreaterEqual, labels, builder().IntegerConstant(type, 0)),
        builder().Compare(Comparison::kLess, labels, builder().IntegerConstant(type, Size())));
  }

  // The indices of what is read start with those of the labels.
  IndexedValue ZeroOutside(const IndexedValue& read, Value* is_in_range) {
    const Type type = read.value->type();
    const auto labels = static_cast<int64_t>(is_in_range->type().rank());
    if (labels != static_cast<int64_t>(type.rank())) {
      is_in_range = builder().BroadcastInDim(is_in_range, type.shape(),
                                             llvm::to_vector(llvm::seq<int64_t>(0, labels)));
    }
    Value* value = builder().Select(is_in_range, read.value, builder().Constant(type, 0));
    return {.value = value, .indices = read.indices};
  }

  // Conditions of selects are factors too.
  IndexedValue AsNumbers(IndexedValue element) {
    const Type wanted = sum_.result.value->type().element_type();
    if (element.value != nullptr && element.value->type().element_type() != wanted) {
      element.value = builder().Convert(element.value, wanted);
    }
    return element;
  }

  IndexedValue WithoutOnes(const IndexedValue& element) {
    const llvm::SmallVector<int> indices = IndicesOf(element);
    llvm::SmallVector<int64_t> shape;
    for (const int index : indices) shape.push_back(sum_.sizes[index]);
    return {.value = Arrange(builder(), element, indices, shape),
            .indices = {indices.begin(), indices.end()}};
  }

  Value* ArrangeWithOnes(const IndexedValue& element, llvm::ArrayRef<int> indices,
                         llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<int> without;
    llvm::SmallVector<int64_t> sizes;
    for (const int index : indices) {
      if (index == kNoIndex) continue;
      without.push_back(index);
      sizes.push_back(sum_.sizes[index]);
    }
    Value* value = Arrange(builder(), element, without, sizes);
    return sizes.size() == shape.size() ? value : builder().Reshape(value, shape);
  }

  Value* Emit() {
    for (ProductFactor& factor : sum_.factors) {
      factor.value = AsNumbers({.value = factor.value, .indices = {}}).value;
      if (factor.value == nullptr) return nullptr;
    }
    ContractionOrder order;
    if (!sum_.factors.empty()) {
      order = OrderContraction(ContractionOf(sum_), ContractionGoal::kTime);
    }
    return EmitProducts(builder(), sum_, order);
  }

  RuleScope& scope_;
  SumOfProducts sum_;
  // Of the result's dimensions, with none for those of one element.
  llvm::SmallVector<int> kept_;
  // Which factor is one-hot.
  size_t place_ = 0;
  OneHot one_hot_;
};

std::optional<Selection> SelectionOf(RuleScope& scope) {
  std::optional<SumOfProducts> sum = CollectProducts(scope.op(), kViews);
  if (!sum) return std::nullopt;
  return Selection(scope, *std::move(sum));
}

Builder::Values ReadSelected(RuleScope& scope) {
  std::optional<Selection> selection = SelectionOf(scope);
  if (!selection || !selection->Choose(&Selection::IsRead)) return {};
  Value* value = selection->Read();
  return value == nullptr ? Builder::Values{} : Builder::Values{value};
}

bool IsSum(const Op& op) {
  return op.Is(Opcode::kReduce) && op.result_count() == 1 && BodyOf(op) == Opcode::kAdd;
}

Builder::Values OneHotProduct(RuleScope& scope) {
  return scope.op().Is(Opcode::kDotGeneral) ? ReadSelected(scope) : Builder::Values{};
}

Builder::Values OneHotSum(RuleScope& scope) {
  return IsSum(scope.op()) ? ReadSelected(scope) : Builder::Values{};
}

Builder::Values OneHotTransposedProduct(RuleScope& scope) {
  if (!scope.op().Is(Opcode::kDotGeneral) && !IsSum(scope.op())) return {};
  std::optional<Selection> selection = SelectionOf(scope);
  if (!selection || !selection->Choose(&Selection::IsAdded)) return {};
  const bool is_exact = scope.op().result(0)->type().element_type().Is(TypeKind::kInteger);
  if (!is_exact && selection->RowsForEachLabel() > kMostSummed) {
    return scope.Refuse("too many rows for each label would be added one by one");
  }
  Value* value = selection->Add();
  return value == nullptr ? Builder::Values{} : Builder::Values{value};
}

constexpr Rule kRules[] = {
    {.name = "one_hot_product",
     .pattern = "one_hot(labels)·A, with weights for each row, and rows of the identity",
     .result = "the rows of A at the labels, and zeros for labels out of range",
     .guard = "labels are integers; floats of 32 and 64 bits if there are weights",
     .numerics = Numerics::kReassociates,
     .rewrite = OneHotProduct},
    {.name = "one_hot_sum",
     .pattern = "sum_j one_hot(labels)_ij x_ij, or of where(one_hot(labels), x, 0)",
     .result = "the elements of x at the labels, and zeros for labels out of range",
     .guard = "labels are integers; floats of 32 and 64 bits if there are weights",
     .numerics = Numerics::kReassociates,
     .rewrite = OneHotSum},
    {.name = "one_hot_transposed_product",
     .pattern = "one_hot(labels)ᵀ·A, as gradients have it, and sums of one_hot(labels)",
     .result = "a scatter that adds the rows of A by label",
     .guard = "about 1024 rows for each label at most, but for integers; not for narrow floats",
     .numerics = Numerics::kReassociates,
     .rewrite = OneHotTransposedProduct},
};

}  // namespace

llvm::ArrayRef<Rule> SelectionRules() { return kRules; }

}  // namespace plimsoll
