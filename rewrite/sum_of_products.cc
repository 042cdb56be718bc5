#include "rewrite/sum_of_products.h"

#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "rewrite/contraction_order.h"
#include "rewrite/equal_indices.h"
#include "rewrite/one_hot.h"

namespace plimsoll {
namespace {

// Sets of factors are bits.
constexpr size_t kMostFactors = 30;

// Numbers for which sums and products may be taken in any order without much harm. Halves lose too
// much wherever they are rounded on the way.
bool IsReorderable(Type element) {
  switch (element.kind()) {
    case TypeKind::kInteger:
      return element.integer_width() >= 8;
    case TypeKind::kFloat:
      return element.float_kind() == FloatKind::kF32 || element.float_kind() == FloatKind::kF64;
    case TypeKind::kComplex:
      return true;
    default:
      return false;
  }
}

// Numbers that scale are taken out of all sums. What they made small or large enough before must
// not overflow without them.
bool IsHarmlessScale(double scale, Type element) {
  constexpr double kMost = 0x1p40;
  if (!std::isfinite(scale)) return false;
  if (scale == 0 || !element.Is(TypeKind::kFloat) || element.float_kind() == FloatKind::kF64) {
    return true;
  }
  return std::abs(scale) <= kMost && std::abs(scale) >= 1 / kMost;
}

bool IsSum(const Op& op) {
  return op.Is(Opcode::kReduce) && op.result_count() == 1 && BodyOf(op) == Opcode::kAdd &&
         IsZero(op.operand(1));
}

bool IsSharedSum(const Op& op) {
  return (op.Is(Opcode::kDotGeneral) || IsSum(op)) && !op.result(0)->has_one_use();
}

class Collector {
 public:
  Collector(const ProductViews& views, Op& root)
      : views_(views), element_(root.result(0)->type().element_type()), block_(root.block()) {}

  std::optional<SumOfProducts> Run(Op& root) {
    Value& result = *root.result(0);
    IndexedValue element = {.value = &result, .indices = {}};
    for (const int64_t size : result.type().shape()) element.indices.push_back(NewIndex(size));
    kept_ = element.indices;
    const bool is_narrow = views_.narrow_floats && element_.Is(TypeKind::kFloat);
    if (llvm::is_contained(result.type().shape(), 0) || (!IsReorderable(element_) && !is_narrow)) {
      return std::nullopt;
    }
    if (!TakeApart(root, element)) return std::nullopt;
    sum_.result = Resolve(element);
    for (const IndexedValue& leaf : leaves_) sum_.factors.push_back(Resolve(leaf));
    for (const Given& given : given_) AddGiven(given);
    CountUnseen();
    if (!IsHarmlessScale(sum_.scale, element_) || sizes_.size() > kMostIndices) return std::nullopt;
    if (llvm::is_contained(sizes_, 0)) return std::nullopt;
    sum_.sizes = std::move(sizes_);
    return std::move(sum_);
  }

 private:
  struct Given {
    GivenProduct product;
    IndexedValue read;
    // The indices that came up while it was taken apart.
    int first_index = 0;
    int end_index = 0;

    bool Made(int index) const { return index >= first_index && index < end_index; }
  };

  int NewIndex(int64_t size) {
    if (size == 1) return kNoIndex;
    sizes_.push_back(size);
    same_as_.push_back(static_cast<int>(same_as_.size()));
    parts_.emplace_back();
    return static_cast<int>(sizes_.size()) - 1;
  }

  int Find(int index) const {
    while (index != kNoIndex && same_as_[index] != index) index = same_as_[index];
    return index;
  }

  // An index of the result, or a part of one.
  bool IsKept(int index) const {
    return parts_of_kept_.contains(index) ||
           llvm::any_of(kept_, [&](int kept) { return Find(kept) == index; });
  }

  // Two indices of the result cannot be one: it has elements off the diagonal.
  bool Unify(int a, int b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return true;
    if (a == kNoIndex || b == kNoIndex || sizes_[a] != sizes_[b]) return false;
    if (!parts_[a].empty() || !parts_[b].empty() || (IsKept(a) && IsKept(b))) return false;
    if (IsKept(a)) std::swap(a, b);
    same_as_[a] = b;
    return true;
  }

  // Sums over what no factor depends on are products with a number.
  void CountUnseen() {
    llvm::SmallVector<int> seen;
    const auto see = [&](const ProductFactor& factor) {
      for (const auto& dimension : factor.indices) llvm::append_range(seen, dimension);
    };
    see(sum_.result);
    for (const ProductFactor& factor : sum_.factors) see(factor);
    for (int index = 0; index < static_cast<int>(sizes_.size()); ++index) {
      const bool is_atom = Find(index) == index && parts_[index].empty();
      if (!is_atom || llvm::is_contained(seen, index)) continue;
      const auto size = static_cast<double>(sizes_[index]);
      sum_.scale *= size;
      // What is given was summed over it already if it came up there.
      for (const auto [given, product] : llvm::zip_equal(given_, sum_.given)) {
        const bool is_summed = given.Made(index) && !llvm::is_contained(product.repeated, index);
        if (is_summed) product.scale *= size;
      }
    }
  }

  void AddGiven(const Given& given) {
    GivenProduct& product = sum_.given.emplace_back(given.product);
    product.factor = Resolve(given.read);
    const llvm::ArrayRef<ProductFactor> factors =
        llvm::ArrayRef(sum_.factors).slice(product.first, product.count);
    for (const auto& dimension : product.factor.indices) {
      for (const int index : dimension) {
        if (llvm::none_of(factors,
                          [&](const ProductFactor& factor) { return factor.Has(index); })) {
          product.repeated.push_back(index);
        }
      }
    }
  }

  void AddLeaf(IndexedValue element) { leaves_.push_back(std::move(element)); }

  // A value on the way: taken apart if that is possible, else a factor.
  void Expand(IndexedValue element) {
    // Integers are not scaled: a number that counts elements may be more than they hold.
    const std::optional<double> number = ConstantNumber(*element.value);
    if (number && element_.Is(TypeKind::kFloat)) {
      sum_.scale *= *number;
      return;
    }
    Op* op = element.value->defining_op();
    if (op == nullptr || op->block() != block_ || (!views_.shared && IsSharedSum(*op))) {
      return AddLeaf(std::move(element));
    }
    const size_t first = leaves_.size();
    const auto first_index = static_cast<int>(sizes_.size());
    const double scale = std::exchange(sum_.scale, 1);
    if (!TakeApart(*op, element)) {
      sum_.scale = scale;
      return AddLeaf(std::move(element));
    }
    // What is 0 cannot be scaled to what it stands for.
    if (!element.value->has_one_use() && leaves_.size() > first + 1 && sum_.scale != 0) {
      given_.push_back({.product = {.factor = {},
                                    .first = first,
                                    .count = leaves_.size() - first,
                                    .scale = sum_.scale,
                                    .repeated = {}},
                        .read = element,
                        .first_index = first_index,
                        .end_index = static_cast<int>(sizes_.size())});
    }
    sum_.scale *= scale;
  }

  bool TakeApart(Op& op, const IndexedValue& element) {
    if (leaves_.size() + 1 >= kMostFactors) return false;
    switch (op.opcode()) {
      case Opcode::kDotGeneral:
        return TakeApartDot(op, element);
      case Opcode::kMultiply:
        Note(op);
        Expand({.value = op.operand(0), .indices = element.indices});
        Expand({.value = op.operand(1), .indices = element.indices});
        return true;
      case Opcode::kDivide: {
        // By a number that is never 0; others would have to be inverted first.
        const std::optional<double> number = ConstantNumber(*op.operand(1));
        if (!number || *number == 0 || !element_.Is(TypeKind::kFloat)) return false;
        Note(op);
        sum_.scale /= *number;
        Expand({.value = op.operand(0), .indices = element.indices});
        return true;
      }
      case Opcode::kNegate:
        if (!element_.Is(TypeKind::kFloat)) return false;
        Note(op);
        sum_.scale = -sum_.scale;
        Expand({.value = op.operand(0), .indices = element.indices});
        return true;
      case Opcode::kReduce:
        return TakeApartSum(op, element);
      case Opcode::kSelect:
        if (views_.selections && TakeApartSelection(op, element)) return true;
        [[fallthrough]];
      case Opcode::kConvert:
        return views_.diagonals && TakeApartDiagonal(op, element);
      case Opcode::kGather:
        return views_.diagonals && TakeApartDiagonalRead(op, element);
      case Opcode::kReshape:
        return TakeApartReshape(op, element);
      default:
        if (std::optional<IndexedValue> before = SeeThroughOne(element)) {
          Note(op);
          Expand(*std::move(before));
          return true;
        }
        return false;
    }
  }

  void Note(Op& op) {
    if (!llvm::is_contained(sum_.ops, &op)) sum_.ops.push_back(&op);
  }

  bool TakeApartDot(Op& op, const IndexedValue& element) {
    for (const Value* operand : op.operands()) {
      if (operand->type().element_type() != element_) return false;
    }
    if (!Agrees(op.Get("precision_config"))) return false;
    const Attribute numbers = op.Get("dot_dimension_numbers");
    const auto dimensions = [&](std::string_view name) { return numbers.Find(name).integers(); };
    IndexedValue left = {.value = op.operand(0), .indices = {}};
    IndexedValue right = {.value = op.operand(1), .indices = {}};
    left.indices.resize(left.value->type().rank(), kNoIndex);
    right.indices.resize(right.value->type().rank(), kNoIndex);
    size_t next = 0;
    const auto left_batch = dimensions("lhs_batching_dimensions");
    const auto right_batch = dimensions("rhs_batching_dimensions");
    const auto left_contracted = dimensions("lhs_contracting_dimensions");
    const auto right_contracted = dimensions("rhs_contracting_dimensions");
    for (const auto [l, r] : llvm::zip_equal(left_batch, right_batch)) {
      left.indices[l] = right.indices[r] = element.indices[next++];
    }
    for (const auto [l, r] : llvm::zip_equal(left_contracted, right_contracted)) {
      left.indices[l] = right.indices[r] = NewIndex(left.value->type().shape()[l]);
    }
    const auto fill_free = [&](IndexedValue& operand, llvm::ArrayRef<int64_t> batch,
                               llvm::ArrayRef<int64_t> contracted) {
      for (size_t d = 0; d < operand.indices.size(); ++d) {
        const auto dimension = static_cast<int64_t>(d);
        if (llvm::is_contained(batch, dimension) || llvm::is_contained(contracted, dimension)) {
          continue;
        }
        operand.indices[d] = element.indices[next++];
      }
    };
    fill_free(left, left_batch, left_contracted);
    fill_free(right, right_batch, right_contracted);
    Note(op);
    Expand(std::move(left));
    Expand(std::move(right));
    return true;
  }

  bool Agrees(Attribute precision) {
    if (!precision) return true;
    if (!sum_.precision) sum_.precision = precision;
    return sum_.precision == precision;
  }

  bool TakeApartSum(Op& op, const IndexedValue& element) {
    if (!IsSum(op)) return false;
    IndexedValue summed = {.value = op.operand(0), .indices = {}};
    const llvm::ArrayRef<int64_t> dimensions = op.Get("dimensions").integers();
    size_t next = 0;
    for (const auto [d, size] : llvm::enumerate(summed.value->type().shape())) {
      const bool is_summed = llvm::is_contained(dimensions, static_cast<int64_t>(d));
      summed.indices.push_back(is_summed ? NewIndex(size) : element.indices[next++]);
    }
    Note(op);
    Expand(std::move(summed));
    return true;
  }

  // What is 0 but where two indices are equal.
  bool TakeApartDiagonal(Op& op, const IndexedValue& element) {
    const bool is_select = op.Is(Opcode::kSelect);
    if (is_select && !IsZero(op.operand(2))) return false;
    const std::optional<EqualIndices> equal =
        FindEqualIndices({.value = op.operand(0), .indices = element.indices});
    if (!equal || !Unify(equal->first, equal->second)) return false;
    Note(op);
    if (is_select) Expand({.value = op.operand(1), .indices = element.indices});
    return true;
  }

  // What is 0 but where an index is equal to a number.
  bool TakeApartSelection(Op& op, const IndexedValue& element) {
    IndexedValue condition = {.value = op.operand(0), .indices = element.indices};
    if (ConstantNumber(*op.operand(2)) != 0 ||
        condition.value->type().rank() != element.indices.size() || !FindOneHot(condition)) {
      return false;
    }
    Note(op);
    AddLeaf(std::move(condition));
    Expand({.value = op.operand(1), .indices = element.indices});
    return true;
  }

  // A gather that reads where two indices are equal, as jnp.diagonal does.
  bool TakeApartDiagonalRead(Op& op, const IndexedValue& element) {
    const std::optional<IndexedValue> read = FindDiagonalRead(op, element);
    if (!read) return false;
    Note(op);
    Expand(*read);
    return true;
  }

  bool TakeApartReshape(Op& op, const IndexedValue& element) {
    if (std::optional<IndexedValue> before = SeeThroughOne(element)) {
      Note(op);
      Expand(*std::move(before));
      return true;
    }
    if (!views_.reshapes) return false;
    std::optional<IndexedValue> before = ThroughParts(*op.operand(0), element);
    if (!before) return false;
    Note(op);
    Expand(*std::move(before));
    return true;
  }

  // A reshape that makes one dimension of several, or several of one.
  std::optional<IndexedValue> ThroughParts(Value& operand, const IndexedValue& element) {
    const llvm::ArrayRef<int64_t> from = operand.type().shape();
    const llvm::ArrayRef<int64_t> to = element.value->type().shape();
    IndexedValue before = {.value = &operand, .indices = {}};
    size_t f = 0;
    size_t t = 0;
    while (f < from.size() || t < to.size()) {
      if (f == from.size() || t == to.size()) {
        // Only dimensions of one element can be left.
        if (f < from.size()) {
          if (from[f++] != 1) return std::nullopt;
          before.indices.push_back(kNoIndex);
        } else if (to[t++] != 1) {
          return std::nullopt;
        }
        continue;
      }
      if (from[f] == to[t]) {
        before.indices.push_back(element.indices[t++]);
        ++f;
        continue;
      }
      if (from[f] > to[t]) {
        // One dimension was taken apart.
        llvm::SmallVector<int, 2> parts;
        int64_t size = 1;
        while (t < to.size() && size < from[f]) {
          size *= to[t];
          if (const int index = Find(element.indices[t]); index != kNoIndex) parts.push_back(index);
          ++t;
        }
        if (size != from[f++]) return std::nullopt;
        const int whole = NewIndex(size);
        parts_[whole] = parts;
        before.indices.push_back(whole);
        continue;
      }
      // Several dimensions were put together.
      llvm::SmallVector<int64_t, 4> sizes;
      int64_t size = 1;
      while (f < from.size() && size < to[t]) {
        size *= from[f];
        sizes.push_back(from[f++]);
      }
      const int whole = Find(element.indices[t]);
      if (size != to[t++] || whole == kNoIndex) return std::nullopt;
      if (!MakeParts(whole, sizes)) return std::nullopt;
      size_t next = 0;
      for (const int64_t part : sizes) {
        before.indices.push_back(part == 1 ? kNoIndex : parts_[whole][next++]);
      }
    }
    return before;
  }

  // True if the index is made of parts of these sizes, but for those of one element.
  bool MakeParts(int whole, llvm::ArrayRef<int64_t> sizes) {
    llvm::SmallVector<int64_t, 4> wanted(
        llvm::make_filter_range(sizes, [](int64_t size) { return size != 1; }));
    if (parts_[whole].empty()) {
      for (const int64_t size : wanted) {
        const int part = NewIndex(size);
        if (IsKept(whole)) parts_of_kept_.insert(part);
        parts_[whole].push_back(part);
      }
      return true;
    }
    return llvm::equal(parts_[whole], wanted,
                       [&](int part, int64_t size) { return sizes_[Find(part)] == size; });
  }

  void AppendAtoms(int index, llvm::SmallVectorImpl<int>& atoms) const {
    index = Find(index);
    if (index == kNoIndex) return;
    if (parts_[index].empty()) {
      atoms.push_back(index);
      return;
    }
    for (const int part : parts_[index]) AppendAtoms(part, atoms);
  }

  ProductFactor Resolve(const IndexedValue& element) const {
    ProductFactor factor = {.value = element.value, .indices = {}};
    for (const int index : element.indices) AppendAtoms(index, factor.indices.emplace_back());
    return factor;
  }

  const ProductViews& views_;
  Type element_;
  Block* block_ = nullptr;
  SumOfProducts sum_;
  llvm::SmallVector<int, 6> kept_;
  std::vector<int64_t> sizes_;
  // By index: one that is known to be equal, or itself.
  std::vector<int> same_as_;
  // By index: those that it is made of.
  std::vector<llvm::SmallVector<int, 2>> parts_;
  llvm::SmallDenseSet<int> parts_of_kept_;
  std::vector<IndexedValue> leaves_;
  std::vector<Given> given_;
};

}  // namespace

std::optional<SumOfProducts> CollectProducts(Op& op, const ProductViews& views) {
  if (op.result_count() != 1 || !op.result(0)->type().Is(TypeKind::kTensor) ||
      !op.result(0)->type().has_static_shape()) {
    return std::nullopt;
  }
  return Collector(views, op).Run(op);
}

}  // namespace plimsoll
