// Which matrices are positive definite, or semidefinite.

#include <cstddef>
#include <utility>

#include "analysis/properties_internal.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Attempts to pair the factors of one product.
constexpr int kMostSteps = 500;
// How deep the ops of a distance are nested.
constexpr int kMostDepth = 32;

// Finds that a product is a matrix times a positive semidefinite one times the first one's
// transpose: exchanging rows and columns maps each factor onto one of the same value, and what is
// mapped onto itself is positive semidefinite, or not negative. Schur's theorem lets several such
// matrices be multiplied element by element.
class GramFinder {
 public:
  GramFinder(Properties& properties, Product product, int row, int column)
      : properties_(properties), product_(std::move(product)), row_(row), column_(column) {}

  bool Run() {
    for (ProductFactor& factor : product_.factors) {
      for (const auto [d, index] : llvm::enumerate(factor.element.indices)) {
        if (properties_.IsConstantAlong(*factor.element.value, d)) index = kNoIndex;
      }
    }
    State state;
    state.is_taken.assign(product_.factors.size(), false);
    return product_.scale >= 0 && Search(state);
  }

 private:
  struct State {
    // What each index is mapped onto, and that one onto it.
    llvm::SmallDenseMap<int, int> images;
    llvm::SmallVector<bool> is_taken;
    // One of each pair of factors that are mapped onto each other.
    llvm::SmallVector<size_t> halves;
  };

  bool Search(const State& state) {
    const size_t next = llvm::find(state.is_taken, false) - state.is_taken.begin();
    if (next == state.is_taken.size()) return HasSides(state);
    if (++steps_ > kMostSteps) return false;
    const ProductFactor& factor = product_.factors[next];
    const IndexedValue& element = factor.element;
    State with = state;
    with.is_taken[next] = true;
    if (State alone = with; Map(element, element, alone) &&
                            properties_.Has(*element.value, Property::kNonNegative) &&
                            Search(alone)) {
      return true;
    }
    if (State alone = with;
        IsMatrix(element) && !factor.is_divisor && Map(element, Exchanged(element), alone) &&
        properties_.Has(*element.value, Property::kPositiveSemidefinite) && Search(alone)) {
      return true;
    }
    for (size_t k = next + 1; k < product_.factors.size(); ++k) {
      const ProductFactor& other = product_.factors[k];
      if (state.is_taken[k] || other.is_divisor != factor.is_divisor ||
          other.element.value != element.value) {
        continue;
      }
      State paired = with;
      paired.is_taken[k] = true;
      paired.halves.push_back(next);
      if (State straight = paired; Map(element, other.element, straight) && Search(straight)) {
        return true;
      }
      if (IsMatrix(element) && Map(element, Exchanged(other.element), paired) &&
          properties_.Has(*element.value, Property::kSymmetric) && Search(paired)) {
        return true;
      }
    }
    return false;
  }

  static bool IsMatrix(const IndexedValue& element) {
    const size_t rank = element.indices.size();
    return rank >= 2 && element.indices[rank - 1] != element.indices[rank - 2];
  }

  static IndexedValue Exchanged(IndexedValue element) {
    const size_t rank = element.indices.size();
    std::swap(element.indices[rank - 2], element.indices[rank - 1]);
    return element;
  }

  bool Map(const IndexedValue& from, const IndexedValue& to, State& state) const {
    for (const auto [a, b] : llvm::zip_equal(from.indices, to.indices)) {
      if (!Map(a, b, state)) return false;
    }
    return true;
  }

  bool Map(int from, int to, State& state) const {
    if (from == kNoIndex || to == kNoIndex) return from == to;
    if (from == row_ || to == column_) {
      if (from != row_ || to != column_) return false;
    } else if (from == column_ || to == row_) {
      if (from != column_ || to != row_) return false;
    } else if (!llvm::is_contained(product_.summed, from) ||
               !llvm::is_contained(product_.summed, to)) {
      // Batches stay.
      if (from != to) return false;
    }
    return state.images.try_emplace(from, to).first->second == to &&
           state.images.try_emplace(to, from).first->second == from;
  }

  // Indices that move belong to the left or the right matrix, and their images to the other. Each
  // factor of the two must belong to one of them.
  bool HasSides(const State& state) const {
    llvm::SmallDenseMap<int, bool> is_left = {{row_, true}, {column_, false}};
    const auto moves = [&](int index) {
      const auto image = state.images.find(index);
      return image != state.images.end() && image->second != index;
    };
    llvm::SmallVector<size_t> left_to_do = state.halves;
    while (!left_to_do.empty()) {
      // One with an index whose side is known, or any if there is none.
      auto* next = llvm::find_if(left_to_do, [&](size_t half) {
        return llvm::any_of(product_.factors[half].element.indices,
                            [&](int index) { return is_left.contains(index); });
      });
      if (next == left_to_do.end()) next = left_to_do.begin();
      const size_t half = *next;
      left_to_do.erase(next);
      std::optional<bool> side;
      for (const int index : product_.factors[half].element.indices) {
        const auto known = is_left.find(index);
        if (known == is_left.end()) continue;
        if (side && *side != known->second) return false;
        side = known->second;
      }
      for (const int index : product_.factors[half].element.indices) {
        if (!moves(index)) continue;
        is_left[index] = side.value_or(true);
        is_left[state.images.find(index)->second] = !side.value_or(true);
      }
    }
    return true;
  }

  Properties& properties_;
  Product product_;
  int row_;
  int column_;
  int steps_ = 0;
};

// Finds squared distances and the like. A matrix is of negative type if it is symmetric and its
// quadratic form is not positive for vectors whose sum is zero. The exponential of its negative is
// then positive semidefinite (Schoenberg). Terms without the row or without the column do not
// matter to that form; that the whole is symmetric is checked apart.
class DistanceFinder {
 public:
  DistanceFinder(Properties& properties, int row, int column)
      : properties_(properties), row_(row), column_(column) {}

  // True if the element, or its negative, is of negative type.
  bool Run(const IndexedValue& element, bool is_negated) {
    if (++depth_ > kMostDepth) return false;
    const bool is_found = Find(Peel(element), is_negated);
    --depth_;
    return is_found;
  }

 private:
  bool Find(const IndexedValue& element, bool is_negated) {
    if (IsSameAlong(properties_, element, row_) || IsSameAlong(properties_, element, column_)) {
      return true;
    }
    const Op* op = element.value->defining_op();
    if (op == nullptr) return false;
    const auto operand = [&](size_t index) { return OperandElement(*op, index, element); };
    switch (op->opcode()) {
      case Opcode::kAdd:
        return Run(operand(0), is_negated) && Run(operand(1), is_negated);
      case Opcode::kSubtract:
        return Run(operand(0), is_negated) && Run(operand(1), !is_negated);
      case Opcode::kNegate:
        return Run(operand(0), !is_negated);
      case Opcode::kConvert:
        return IsWidening(op->operand(0)->type(), element.value->type()) &&
               Run(operand(0), is_negated);
      case Opcode::kMultiply:
        if (!is_negated && op->operand(0) == op->operand(1) && IsDifference(operand(0)))
          return true;
        if (IsScaled(operand(0), operand(1), is_negated)) return true;
        break;
      case Opcode::kDivide:
        if (IsTimes(operand(0), operand(1), is_negated)) return true;
        break;
      case Opcode::kDotGeneral: {
        const DotElements elements = ElementsOfDot(*op, element, next_index_);
        if (IsScaled(elements.left, elements.right, is_negated)) return true;
        break;
      }
      case Opcode::kChloSquare:
      case Opcode::kAbs:
        if (!is_negated && IsDifference(operand(0))) return true;
        break;
      case Opcode::kPower:
        return !is_negated && ConstantNumber(*op->operand(1)) == 2 && IsDifference(operand(0));
      case Opcode::kSqrt:
        return !is_negated && properties_.Has(*op->operand(0), Property::kNonNegative) &&
               IsSame(operand(0), Exchange(operand(0), row_, column_)) && Run(operand(0), false);
      case Opcode::kReduce: {
        llvm::SmallVector<int> summed;
        if (IsPlainSum(*op) &&
            Run(ElementOfReduced(*op, element, next_index_, summed), is_negated)) {
          return true;
        }
        break;
      }
      default:
        break;
    }
    // What is positive semidefinite is the negative of what is of negative type.
    return is_negated &&
           GramFinder(properties_, ProductOf(element, next_index_), row_, column_).Run();
  }

  bool IsSame(const IndexedValue& a, const IndexedValue& b) {
    return (Compare(properties_, a, b) & kSame) != 0;
  }

  bool HasNeither(const IndexedValue& element) {
    const IndexedValue peeled = Peel(element);
    return IsSameAlong(properties_, peeled, row_) && IsSameAlong(properties_, peeled, column_);
  }

  bool IsScaled(const IndexedValue& a, const IndexedValue& b, bool is_negated) {
    return IsTimes(a, b, is_negated) || IsTimes(b, a, is_negated);
  }

  // True if `factor` does not depend on row and column and has one sign.
  bool IsTimes(const IndexedValue& element, const IndexedValue& factor, bool is_negated) {
    if (!HasNeither(factor)) return false;
    const std::optional<Bounds> bounds = properties_.BoundsOf(*factor.value);
    if (!bounds) return false;
    if (bounds->least >= 0) return Run(element, is_negated);
    return bounds->most <= 0 && Run(element, !is_negated);
  }

  // True for x[row] - x[column], or a multiple of that.
  bool IsDifference(const IndexedValue& element) {
    IndexedValue peeled = Peel(element);
    const Op* op = peeled.value->defining_op();
    if (op == nullptr || ++depth_ > kMostDepth) return false;
    const auto operand = [&](size_t index) { return Peel(OperandElement(*op, index, peeled)); };
    bool is_difference = false;
    switch (op->opcode()) {
      case Opcode::kSubtract: {
        const IndexedValue first = operand(0);
        const bool is_of_row = first.Has(row_);
        is_difference = !first.Has(is_of_row ? column_ : row_) &&
                        IsSame(Exchange(first, row_, column_), operand(1));
        break;
      }
      case Opcode::kMultiply:
        is_difference = (HasNeither(operand(0)) && IsDifference(operand(1))) ||
                        (HasNeither(operand(1)) && IsDifference(operand(0)));
        break;
      case Opcode::kDivide:
        is_difference = HasNeither(operand(1)) && IsDifference(operand(0));
        break;
      case Opcode::kNegate:
        is_difference = IsDifference(operand(0));
        break;
      case Opcode::kConvert:
        is_difference =
            IsWidening(op->operand(0)->type(), peeled.value->type()) && IsDifference(operand(0));
        break;
      default:
        break;
    }
    --depth_;
    return is_difference;
  }

  Properties& properties_;
  int row_;
  int column_;
  int next_index_ = kFirstNewIndex;
  int depth_ = 0;
};

bool IsSingleNumber(const Value& value) {
  const llvm::ArrayRef<int64_t> matrix = value.type().shape().take_back(2);
  return matrix[0] == 1 && matrix[1] == 1;
}

// True if the value is one number for each matrix.
bool IsOneNumber(Properties& properties, const Value& value) {
  const size_t rank = value.type().rank();
  return properties.IsConstantAlong(value, rank - 1) && properties.IsConstantAlong(value, rank - 2);
}

}  // namespace

std::string InferPositiveSemidefinite(Properties& properties, const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr || !IsFloat(value.type())) return "";
  if (IsSingleNumber(value)) return properties.Why(value, Property::kNonNegative);
  const std::optional<MatrixElement> whole = MatrixOf(value);
  if (!whole) return "";
  if (op->Is(Opcode::kAdd)) {
    const bool is_sum = properties.Has(*op->operand(0), Property::kPositiveSemidefinite) &&
                        properties.Has(*op->operand(1), Property::kPositiveSemidefinite);
    if (is_sum) return Because("a sum of positive semidefinite matrices", *op);
  }
  if (properties.Has(value, Property::kDiagonal) &&
      IsDiagonalSo(properties, value, Property::kNonNegative)) {
    return Because("a diagonal matrix of numbers that are not negative", *op);
  }
  const IndexedValue peeled = Peel(whole->element);
  int next_index = kFirstNewIndex;
  const bool is_product = IsProduct(*peeled.value) || IsSameAlong(properties, peeled, whole->row);
  if (is_product &&
      GramFinder(properties, ProductOf(peeled, next_index), whole->row, whole->column).Run()) {
    return Because("a product with its own transpose", *op);
  }
  if (op->Is(Opcode::kExponential)) {
    const IndexedValue exponent = OperandElement(*op, 0, whole->element);
    const IndexedValue exchanged = Exchange(exponent, whole->row, whole->column);
    if ((Compare(properties, exponent, exchanged) & kSame) != 0 &&
        DistanceFinder(properties, whole->row, whole->column).Run(exponent, /*is_negated=*/true)) {
      return Because("a kernel of a value with itself", *op);
    }
  }
  return "";
}

std::string InferPositiveDefinite(Properties& properties, const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr || !IsFloat(value.type())) return "";
  if (IsSingleNumber(value)) return properties.Why(value, Property::kPositive);
  if (!MatrixOf(value)) return "";
  const auto has = [&](size_t operand, Property property) {
    return properties.Has(*op->operand(operand), property);
  };
  if (op->Is(Opcode::kAdd)) {
    for (const size_t definite : {0, 1}) {
      if (has(definite, Property::kPositiveDefinite) &&
          has(1 - definite, Property::kPositiveSemidefinite)) {
        return Because("a positive semidefinite matrix plus a positive definite one", *op);
      }
    }
  }
  if (op->Is(Opcode::kMultiply) || op->Is(Opcode::kDivide)) {
    const auto is_factor = [&](size_t operand) {
      return has(operand, Property::kPositive) && IsOneNumber(properties, *op->operand(operand));
    };
    for (const size_t definite : {0, 1}) {
      if (definite == 1 && op->Is(Opcode::kDivide)) break;
      if (has(definite, Property::kPositiveDefinite) && is_factor(1 - definite)) {
        return Because("a positive definite matrix times a positive number", *op);
      }
    }
    if (op->Is(Opcode::kMultiply) && has(0, Property::kPositiveDefinite) &&
        has(1, Property::kPositiveDefinite)) {
      return Because("positive definite matrices multiplied element by element", *op);
    }
  }
  if (properties.Has(value, Property::kDiagonal) &&
      IsDiagonalSo(properties, value, Property::kPositive)) {
    return Because("a diagonal matrix of positive numbers", *op);
  }
  return "";
}

}  // namespace plimsoll
