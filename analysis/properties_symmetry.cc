// Which matrices are symmetric: an element is looked at with its two indices one way and the other,
// and what makes it is compared.

#include <cmath>
#include <cstddef>
#include <utility>

#include "analysis/op_class.h"
#include "analysis/properties_internal.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Products and sums with more parts than this are compared as they are nested.
constexpr size_t kMostParts = 8;
// Steps of one comparison, and how deep they are nested.
constexpr int kMostSteps = 2000;
constexpr int kMostDepth = 48;

bool IsEven(Opcode opcode) {
  return opcode == Opcode::kAbs || opcode == Opcode::kCosine || opcode == Opcode::kChloCosh;
}

bool IsOdd(Opcode opcode) {
  switch (opcode) {
    case Opcode::kSine:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kSign:
    case Opcode::kCbrt:
    case Opcode::kRoundNearestEven:
    case Opcode::kRoundNearestAwayFromZero:
    case Opcode::kReducePrecision:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kChloAsin:
    case Opcode::kChloAsinh:
    case Opcode::kChloAtan:
    case Opcode::kChloAtanh:
    case Opcode::kChloErf:
    case Opcode::kChloSinh:
    case Opcode::kChloTan:
      return true;
    default:
      return false;
  }
}

bool IsSum(const Value& value) {
  const Op* op = value.defining_op();
  return op != nullptr &&
         (op->Is(Opcode::kAdd) || op->Is(Opcode::kSubtract) || op->Is(Opcode::kNegate));
}

struct Term {
  IndexedValue element;
  bool is_negated;
};

void CollectTerms(const IndexedValue& element, bool is_negated,
                  llvm::SmallVectorImpl<Term>& terms) {
  IndexedValue peeled = Peel(element);
  if (!IsSum(*peeled.value) || terms.size() >= kMostParts) {
    terms.push_back({.element = std::move(peeled), .is_negated = is_negated});
    return;
  }
  const Op& op = *peeled.value->defining_op();
  const bool negates_first = op.Is(Opcode::kNegate);
  CollectTerms(OperandElement(op, 0, peeled), is_negated != negates_first, terms);
  if (negates_first) return;
  CollectTerms(OperandElement(op, 1, peeled), is_negated != op.Is(Opcode::kSubtract), terms);
}

void CollectFactors(const IndexedValue& element, bool is_divisor, int& next_index,
                    Product& product) {
  IndexedValue peeled = Peel(element);
  const std::optional<double> number = ConstantNumber(*peeled.value);
  if (number && *number != 0) {
    product.scale = is_divisor ? product.scale / *number : product.scale * *number;
    return;
  }
  const Op* op = peeled.value->defining_op();
  const bool is_apart = op == nullptr || product.factors.size() >= kMostParts ||
                        !(IsProduct(*peeled.value) || op->Is(Opcode::kNegate)) ||
                        // One over a sum is no sum.
                        (is_divisor && (op->Is(Opcode::kDotGeneral) || op->Is(Opcode::kReduce)));
  if (is_apart) {
    product.factors.push_back({.element = std::move(peeled), .is_divisor = is_divisor});
    return;
  }
  switch (op->opcode()) {
    case Opcode::kMultiply:
      CollectFactors(OperandElement(*op, 0, peeled), is_divisor, next_index, product);
      CollectFactors(OperandElement(*op, 1, peeled), is_divisor, next_index, product);
      return;
    case Opcode::kDivide:
      CollectFactors(OperandElement(*op, 0, peeled), is_divisor, next_index, product);
      CollectFactors(OperandElement(*op, 1, peeled), !is_divisor, next_index, product);
      return;
    case Opcode::kNegate:
      product.scale = -product.scale;
      CollectFactors(OperandElement(*op, 0, peeled), is_divisor, next_index, product);
      return;
    case Opcode::kChloSquare:
      CollectFactors(OperandElement(*op, 0, peeled), is_divisor, next_index, product);
      CollectFactors(OperandElement(*op, 0, peeled), is_divisor, next_index, product);
      return;
    case Opcode::kDotGeneral: {
      const DotElements elements = ElementsOfDot(*op, peeled, next_index);
      product.summed.append(elements.summed);
      CollectFactors(elements.left, is_divisor, next_index, product);
      CollectFactors(elements.right, is_divisor, next_index, product);
      return;
    }
    default: {  // A sum.
      const IndexedValue summand = ElementOfReduced(*op, peeled, next_index, product.summed);
      CollectFactors(summand, is_divisor, next_index, product);
      return;
    }
  }
}

Likenesses Opposite(Likenesses likenesses) {
  return ((likenesses & kSame) != 0 ? kOpposite : kUnlike) |
         ((likenesses & kOpposite) != 0 ? kSame : kUnlike);
}

class Comparer {
 public:
  explicit Comparer(Properties& properties) : properties_(properties) {}

  Likenesses Compare(const IndexedValue& first, const IndexedValue& second) {
    const IndexedValue a = Peel(first);
    const IndexedValue b = Peel(second);
    if (a == b) return kSame;
    const std::optional<double> number_a = ConstantNumber(*a.value);
    const std::optional<double> number_b = ConstantNumber(*b.value);
    if (number_a && number_b) {
      return (*number_a == *number_b ? kSame : kUnlike) |
             (*number_a == -*number_b ? kOpposite : kUnlike);
    }
    if (++steps_ > kMostSteps || depth_ == kMostDepth) return kUnlike;
    if (a.value == b.value && IsSameByProperty(a, b)) return kSame;
    if (a.value->defining_op() == nullptr || b.value->defining_op() == nullptr) return kUnlike;
    ++depth_;
    const Likenesses likenesses = CompareOps(a, b);
    --depth_;
    return likenesses;
  }

 private:
  // True if the value is the same at the other indices, as is known of it.
  bool IsSameByProperty(const IndexedValue& a, const IndexedValue& b) {
    const size_t rank = a.indices.size();
    if (rank >= 2 && Exchanged(a).indices == b.indices) {
      return properties_.Has(*a.value, Property::kSymmetric);
    }
    for (size_t d = 0; d < rank; ++d) {
      if (a.indices[d] != b.indices[d] && !properties_.IsConstantAlong(*a.value, d)) return false;
    }
    return true;
  }

  static IndexedValue Exchanged(IndexedValue element) {
    const size_t rank = element.indices.size();
    std::swap(element.indices[rank - 2], element.indices[rank - 1]);
    return element;
  }

  Likenesses CompareOps(const IndexedValue& a, const IndexedValue& b) {
    if (IsSum(*a.value) && IsSum(*b.value)) return CompareSums(a, b);
    if (IsProduct(*a.value) && IsProduct(*b.value)) return CompareProducts(a, b);
    const Op& op_a = *a.value->defining_op();
    const Op& op_b = *b.value->defining_op();
    if (op_a.opcode() != op_b.opcode() ||
        a.value->type().element_type() != b.value->type().element_type()) {
      return kUnlike;
    }
    if (op_a.Is(Opcode::kIota)) {
      // The numbers are the indices themselves, whichever dimension they are counted along.
      const int64_t dimension_a = op_a.Get("iota_dimension").integer();
      const int64_t dimension_b = op_b.Get("iota_dimension").integer();
      return a.indices[dimension_a] == b.indices[dimension_b] ? kSame : kUnlike;
    }
    if (op_a.properties() != op_b.properties() || a.value->type() != b.value->type()) {
      return kUnlike;
    }
    if (op_a.Is(Opcode::kReduce)) return CompareReductions(a, b);
    return IsElementwise(op_a) ? CompareElementwise(a, b) : kUnlike;
  }

  Likenesses CompareOperands(const IndexedValue& a, size_t operand_a, const IndexedValue& b,
                             size_t operand_b) {
    return Compare(OperandElement(*a.value->defining_op(), operand_a, a),
                   OperandElement(*b.value->defining_op(), operand_b, b));
  }

  bool AreSame(const IndexedValue& a, size_t operand_a, const IndexedValue& b, size_t operand_b) {
    return (CompareOperands(a, operand_a, b, operand_b) & kSame) != 0;
  }

  Likenesses CompareElementwise(const IndexedValue& a, const IndexedValue& b) {
    const Op& op = *a.value->defining_op();
    if (IsEven(op.opcode())) return CompareOperands(a, 0, b, 0) != kUnlike ? kSame : kUnlike;
    // The least integer is its own opposite.
    if (IsOdd(op.opcode()) && !a.value->type().element_type().Is(TypeKind::kInteger)) {
      return CompareOperands(a, 0, b, 0);
    }
    switch (op.opcode()) {
      case Opcode::kConvert: {
        const Likenesses before = CompareOperands(a, 0, b, 0);
        return IsFloat(op.operand(0)->type()) && IsFloat(a.value->type()) ? before : before & kSame;
      }
      case Opcode::kPower: {
        const std::optional<double> exponent = ConstantNumber(*op.operand(1));
        if (!exponent || *exponent != std::round(*exponent)) break;
        if (!AreSame(a, 1, b, 1)) return kUnlike;
        const Likenesses base = CompareOperands(a, 0, b, 0);
        if (std::fmod(*exponent, 2) != 0) return base;
        return base != kUnlike ? kSame : kUnlike;
      }
      case Opcode::kSelect:
        if (!AreSame(a, 0, b, 0)) return kUnlike;
        return CompareOperands(a, 1, b, 1) & CompareOperands(a, 2, b, 2);
      default:
        break;
    }
    bool is_same = true;
    for (size_t i = 0; i < op.operand_count() && is_same; ++i) is_same = AreSame(a, i, b, i);
    if (!is_same && MayExchangeOperands(op)) is_same = AreSame(a, 0, b, 1) && AreSame(a, 1, b, 0);
    return is_same ? kSame : kUnlike;
  }

  static bool MayExchangeOperands(const Op& op) {
    if (IsCommutative(op)) return true;
    if (!op.Is(Opcode::kCompare)) return false;
    const std::string_view direction = op.Get("comparison_direction").enumerator();
    return direction == "EQ" || direction == "NE";
  }

  Likenesses CompareReductions(const IndexedValue& a, const IndexedValue& b) {
    const Op& op_a = *a.value->defining_op();
    const Op& op_b = *b.value->defining_op();
    const Opcode reducer = BodyOf(op_a);
    if (op_a.result_count() != 1 || reducer == Opcode::kUnknown || reducer != BodyOf(op_b) ||
        !IsCommutative(*op_a.entry_block()->first())) {
      return kUnlike;
    }
    if ((Compare({.value = op_a.operand(1), .indices = {}},
                 {.value = op_b.operand(1), .indices = {}}) &
         kSame) == 0) {
      return kUnlike;
    }
    // Both run over the same indices.
    llvm::SmallVector<int> reduced;
    const int first = next_index_;
    int next = first;
    const IndexedValue operand_a = ElementOfReduced(op_a, a, next, reduced);
    next = first;
    const IndexedValue operand_b = ElementOfReduced(op_b, b, next, reduced);
    next_index_ = next;
    return Compare(operand_a, operand_b) & kSame;
  }

  // Terms that are equal can stand for each other, so the first that fits will do.
  Likenesses CompareSums(const IndexedValue& a, const IndexedValue& b) {
    llvm::SmallVector<Term> terms_a;
    llvm::SmallVector<Term> terms_b;
    CollectTerms(a, /*is_negated=*/false, terms_a);
    CollectTerms(b, /*is_negated=*/false, terms_b);
    if (terms_a.size() != terms_b.size()) return kUnlike;
    const auto has = [&](Likeness wanted) {
      llvm::SmallVector<bool> is_taken(terms_b.size(), false);
      return llvm::all_of(terms_a, [&](const Term& term) {
        for (const auto [k, other] : llvm::enumerate(terms_b)) {
          if (is_taken[k]) continue;
          Likenesses likenesses = Compare(term.element, other.element);
          if (term.is_negated != other.is_negated) likenesses = Opposite(likenesses);
          if ((likenesses & wanted) == 0) continue;
          is_taken[k] = true;
          return true;
        }
        return false;
      });
    };
    if (has(kSame)) return kSame;
    return has(kOpposite) ? kOpposite : kUnlike;
  }

  // The state of a comparison of two products.
  struct Pairing {
    // For each index that the second product sums over, that of the first; kNoIndex if it is open.
    llvm::SmallVector<std::pair<int, int>> bound;
    llvm::SmallVector<bool> is_taken;
    // Factors that are not of one value: compared when all indices are bound.
    llvm::SmallVector<std::pair<size_t, size_t>> deferred;
  };

  Likenesses CompareProducts(const IndexedValue& a, const IndexedValue& b) {
    const Product first = ProductOf(a, next_index_);
    const Product second = ProductOf(b, next_index_);
    if (first.factors.size() != second.factors.size() ||
        first.summed.size() != second.summed.size() ||
        std::abs(first.scale) != std::abs(second.scale)) {
      return kUnlike;
    }
    Pairing pairing;
    for (const int index : second.summed) pairing.bound.emplace_back(index, kNoIndex);
    pairing.is_taken.assign(second.factors.size(), false);
    const Likenesses likenesses = Pair(first, second, 0, pairing);
    return first.scale == second.scale ? likenesses : Opposite(likenesses);
  }

  Likenesses Pair(const Product& first, const Product& second, size_t next,
                  const Pairing& pairing) {
    if (next == first.factors.size()) return CompareDeferred(first, second, pairing);
    const ProductFactor& factor = first.factors[next];
    for (const auto [k, other] : llvm::enumerate(second.factors)) {
      if (pairing.is_taken[k] || factor.is_divisor != other.is_divisor) continue;
      if (++steps_ > kMostSteps) return kUnlike;
      Pairing with = pairing;
      with.is_taken[k] = true;
      if (factor.element.value == other.element.value) {
        Pairing unified = with;
        if (Unify(first, factor.element, other.element, unified)) {
          if (const Likenesses found = Pair(first, second, next + 1, unified)) return found;
        }
        unified = with;
        if (other.element.indices.size() >= 2 &&
            Unify(first, factor.element, Exchanged(other.element), unified) &&
            properties_.Has(*factor.element.value, Property::kSymmetric)) {
          if (const Likenesses found = Pair(first, second, next + 1, unified)) return found;
        }
      }
      with.deferred.emplace_back(next, k);
      if (const Likenesses found = Pair(first, second, next + 1, with)) return found;
    }
    return kUnlike;
  }

  // Binds the indices that are summed over such that both elements are the same one.
  static bool Unify(const Product& first, const IndexedValue& a, const IndexedValue& b,
                    Pairing& pairing) {
    for (const auto [index_a, index_b] : llvm::zip_equal(a.indices, b.indices)) {
      auto* const bound = llvm::find_if(
          pairing.bound, [index = index_b](const auto& entry) { return entry.first == index; });
      if (bound == pairing.bound.end() || bound->second != kNoIndex) {
        if ((bound == pairing.bound.end() ? index_b : bound->second) != index_a) return false;
        continue;
      }
      const bool is_free = llvm::is_contained(first.summed, index_a) &&
                           llvm::none_of(pairing.bound, [index = index_a](const auto& entry) {
                             return entry.second == index;
                           });
      if (!is_free) return false;
      bound->second = index_a;
    }
    return true;
  }

  Likenesses CompareDeferred(const Product& first, const Product& second, Pairing pairing) {
    // What is still open is taken in order.
    for (auto& [index, to] : pairing.bound) {
      if (to != kNoIndex) continue;
      for (const int candidate : first.summed) {
        const bool is_used = llvm::any_of(
            pairing.bound, [candidate](const auto& entry) { return entry.second == candidate; });
        if (!is_used) {
          to = candidate;
          break;
        }
      }
    }
    Likenesses all = kSame;
    for (const auto [number_a, number_b] : pairing.deferred) {
      IndexedValue renamed = second.factors[number_b].element;
      for (int& index : renamed.indices) {
        for (const auto [from, to] : pairing.bound) {
          if (index != from) continue;
          index = to;
          break;
        }
      }
      const Likenesses one = Compare(first.factors[number_a].element, renamed);
      if (one == kUnlike) return kUnlike;
      if ((one & kSame) == 0) all = Opposite(all);
    }
    return all;
  }

  Properties& properties_;
  int next_index_ = kFirstNewIndex;
  int steps_ = 0;
  int depth_ = 0;
};

bool IsSymmetricConstant(const Value& value) {
  if (ConstantNumber(value)) return true;
  const std::optional<std::vector<double>> elements = ElementsOf(value);
  if (!elements) return false;
  const auto size = static_cast<size_t>(value.type().shape().back());
  for (size_t start = 0; start < elements->size(); start += size * size) {
    for (size_t i = 0; i < size; ++i) {
      for (size_t j = 0; j < i; ++j) {
        if ((*elements)[start + i * size + j] != (*elements)[start + j * size + i]) return false;
      }
    }
  }
  return true;
}

}  // namespace

bool IsProduct(const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr) return false;
  switch (op->opcode()) {
    case Opcode::kMultiply:
    case Opcode::kDotGeneral:
    case Opcode::kChloSquare:
      return true;
    case Opcode::kDivide:
      return !value.type().element_type().Is(TypeKind::kInteger);
    default:
      return IsPlainSum(*op);
  }
}

Product ProductOf(const IndexedValue& element, int& next_index) {
  Product product;
  CollectFactors(element, /*is_divisor=*/false, next_index, product);
  return product;
}

Likenesses Compare(Properties& properties, const IndexedValue& a, const IndexedValue& b) {
  return Comparer(properties).Compare(a, b);
}

std::string InferSymmetric(Properties& properties, const Value& value) {
  const Op* op = value.defining_op();
  const llvm::ArrayRef<int64_t> matrix = value.type().shape().take_back(2);
  if (op == nullptr || matrix[0] != matrix[1]) return "";
  if (matrix[0] == 1) return Because("a single number", *op);
  if (op->Is(Opcode::kConstant)) {
    return IsSymmetricConstant(value) ? Because("a symmetric constant", *op) : "";
  }
  const MatrixElement whole = *MatrixOf(value);
  const IndexedValue exchanged = Exchange(whole.element, whole.row, whole.column);
  if ((Compare(properties, whole.element, exchanged) & kSame) == 0) return "";
  return Because(op->Is(Opcode::kDotGeneral) ? "a product with its own transpose"
                                             : "the same with rows and columns exchanged",
                 *op);
}

}  // namespace plimsoll
