// Which matrices are made of zeros and a one in each row, and which have orthonormal columns.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/properties_internal.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

constexpr int kMostDepth = 8;

bool IsPermutation(const std::vector<double>& numbers) {
  std::vector<bool> is_there(numbers.size(), false);
  for (const double number : numbers) {
    if (number < 0 || number >= static_cast<double>(numbers.size())) return false;
    is_there[static_cast<size_t>(number)] = true;
  }
  return llvm::all_of(is_there, [](bool is) { return is; });
}

// True if the integers along the index are 0, 1, ... up to the size, each once, in some order.
bool IsPermutationAlong(const IndexedValue& element, int index, int64_t size, int depth = 0) {
  const IndexedValue peeled = Peel(element);
  if (!peeled.Has(index) || depth == kMostDepth) return false;
  if (const std::optional<Affine> affine = AffineOf(peeled)) {
    const bool is_up = affine->factor == 1 && affine->offset == 0;
    const bool is_down = affine->factor == -1 && affine->offset == size - 1;
    return affine->index == index && (is_up || is_down);
  }
  const Op* op = peeled.value->defining_op();
  if (op == nullptr) return false;
  switch (op->opcode()) {
    case Opcode::kConstant: {
      const std::optional<std::vector<double>> numbers = ElementsOf(*peeled.value);
      return numbers && peeled.indices.size() == 1 && IsPermutation(*numbers);
    }
    case Opcode::kConvert:
      // There is room for all sizes.
      return peeled.value->type().element_type().Is(TypeKind::kInteger) &&
             peeled.value->type().element_type().integer_width() >= 32 &&
             IsPermutationAlong(OperandElement(*op, 0, peeled), index, size, depth + 1);
    case Opcode::kReverse:
      return IsPermutationAlong(OperandElement(*op, 0, peeled), index, size, depth + 1);
    case Opcode::kSort: {
      // Whatever is sorted, the numbers that come along are the same in another order.
      const Attribute dimension = op->Get("dimension");
      const size_t sorted = dimension.Is(AttributeKind::kInteger) && dimension.integer() >= 0
                                ? static_cast<size_t>(dimension.integer())
                                : peeled.indices.size() - 1;
      return peeled.indices[sorted] == index &&
             IsPermutationAlong(OperandElement(*op, peeled.value->index(), peeled), index, size,
                                depth + 1);
    }
    default:
      return false;
  }
}

// The two sides of a comparison for equality of integers.
struct Equality {
  IndexedValue first;
  IndexedValue second;
  int row;
  int column;
};

std::optional<Equality> EqualityOf(const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr || !op->Is(Opcode::kCompare) ||
      op->Get("comparison_direction").enumerator() != "EQ" ||
      !op->operand(0)->type().element_type().Is(TypeKind::kInteger)) {
    return std::nullopt;
  }
  const IndexedValue whole = AllIndices(Itself(value));
  const size_t rank = whole.indices.size();
  return Equality{.first = Peel(OperandElement(*op, 0, whole)),
                  .second = Peel(OperandElement(*op, 1, whole)),
                  .row = whole.indices[rank - 2],
                  .column = whole.indices[rank - 1]};
}

// True if the first is another number at each column, and the second is not.
bool HitsOneColumn(Properties& properties, const IndexedValue& counts, const IndexedValue& hit,
                   int column) {
  const std::optional<Affine> affine = AffineOf(counts);
  return affine && affine->factor != 0 && affine->index == column &&
         IsSameAlong(properties, hit, column);
}

bool IsPermutationConstant(const std::vector<double>& elements, size_t size) {
  for (size_t start = 0; start < elements.size(); start += size * size) {
    std::vector<double> places;
    for (size_t k = start; k < start + size * size; ++k) {
      if (elements[k] != 0 && elements[k] != 1) return false;
      if (elements[k] == 1) places.push_back(static_cast<double>((k - start) % size));
      // As many places as rows that are through: one in each.
      if ((k - start) % size == size - 1 && places.size() != (k - start) / size + 1) return false;
    }
    if (!IsPermutation(places)) return false;
  }
  return true;
}

// True for where(condition, 1, 0).
bool IsNumberedCondition(const Op& op) {
  return op.Is(Opcode::kSelect) && op.operand(0)->type().rank() >= 2 &&
         ConstantNumber(*op.operand(1)) == 1 && ConstantNumber(*op.operand(2)) == 0;
}

// True if the columns of the matrix with these rows and columns are orthonormal.
bool IsOrthogonalAs(Properties& properties, const IndexedValue& element, int row, int column) {
  const size_t rank = element.indices.size();
  if (rank < 2 || row == kNoIndex || column == kNoIndex) return false;
  const int last_but_one = element.indices[rank - 2];
  const int last = element.indices[rank - 1];
  const llvm::ArrayRef<int64_t> shape = element.value->type().shape();
  const bool is_straight = last_but_one == row && last == column;
  const bool is_transposed = last_but_one == column && last == row;
  const bool is_square = shape[rank - 1] == shape[rank - 2];
  return (is_straight || (is_transposed && is_square)) &&
         properties.Has(*element.value, Property::kOrthogonal);
}

// What LAPACK gives as orthonormal columns of real numbers.
std::string InferFromLapack(const Op& op, const Value& value) {
  const std::string_view target = op.Get("call_target_name").text();
  const Attribute config = op.Get("mhlo.backend_config");
  const Attribute mode_attribute =
      config.Is(AttributeKind::kDictionary) ? config.Find("mode") : Attribute();
  const int64_t mode =
      mode_attribute.Is(AttributeKind::kInteger) ? mode_attribute.integer() : int64_t{'N'};
  const llvm::ArrayRef<int64_t> matrix = value.type().shape().take_back(2);
  if (target == "lapack_sorgqr_ffi" || target == "lapack_dorgqr_ffi") {
    return Because("the Q of a QR factorization", op);
  }
  if (target == "lapack_ssyevd_ffi" || target == "lapack_dsyevd_ffi") {
    return value.index() == 0 && mode == 'V' ? Because("eigenvectors of a symmetric matrix", op)
                                             : "";
  }
  if (target == "lapack_sgesdd_ffi" || target == "lapack_dgesdd_ffi") {
    // Singular vectors on the right come as rows.
    const bool is_left = value.index() == 2;
    const bool is_right = value.index() == 3 && matrix[0] == matrix[1];
    return (is_left || is_right) && mode != 'N' ? Because("singular vectors", op) : "";
  }
  return "";
}

}  // namespace

std::string InferOneHot(Properties& properties, const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr) return "";
  if (IsNumberedCondition(*op)) return properties.Why(*op->operand(0), Property::kOneHot);
  if (op->Is(Opcode::kReverse)) return properties.Why(*op->operand(0), Property::kOneHot);
  const std::optional<Equality> equality = EqualityOf(value);
  if (!equality || equality->column == kNoIndex) return "";
  const bool is_one_hot =
      HitsOneColumn(properties, equality->first, equality->second, equality->column) ||
      HitsOneColumn(properties, equality->second, equality->first, equality->column);
  return is_one_hot ? Because("a comparison of positions with one number for each row", *op) : "";
}

std::string InferPermutation(Properties& properties, const Value& value) {
  const Op* op = value.defining_op();
  const std::optional<MatrixElement> matrix = MatrixOf(value);
  if (op == nullptr || !matrix) return "";
  if (IsNumberedCondition(*op)) return properties.Why(*op->operand(0), Property::kPermutation);
  const int64_t size = value.type().shape().back();
  if (const std::optional<std::vector<double>> elements = ElementsOf(value)) {
    return IsPermutationConstant(*elements, size) ? Because("a constant permutation", *op) : "";
  }
  if (op->Is(Opcode::kReverse)) return properties.Why(*op->operand(0), Property::kPermutation);
  if (const std::optional<MatrixProduct> product = MatrixProductOf(*op)) {
    // The transpose of a permutation is one, too.
    const bool is_product =
        IsOrthogonalAs(properties, product->left, product->row, product->summed) &&
        IsOrthogonalAs(properties, product->right, product->summed, product->column) &&
        properties.Has(*product->left.value, Property::kPermutation) &&
        properties.Has(*product->right.value, Property::kPermutation);
    return is_product ? Because("a product of permutations", *op) : "";
  }
  const std::optional<Equality> equality = EqualityOf(value);
  if (!equality) return "";
  const auto is_permuted = [&](const IndexedValue& a, const IndexedValue& b) {
    return IsSameAlong(properties, a, equality->column) &&
           IsSameAlong(properties, b, equality->row) &&
           IsPermutationAlong(a, equality->row, size) &&
           IsPermutationAlong(b, equality->column, size);
  };
  const bool is_permutation = is_permuted(equality->first, equality->second) ||
                              is_permuted(equality->second, equality->first);
  return is_permutation ? Because("a comparison of positions with a permutation", *op) : "";
}

std::string InferOrthogonal(Properties& properties, const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr) return "";
  switch (op->opcode()) {
    case Opcode::kCustomCall:
      return InferFromLapack(*op, value);
    case Opcode::kNegate:
    case Opcode::kReverse:
      return properties.Why(*op->operand(0), Property::kOrthogonal);
    case Opcode::kDotGeneral: {
      const std::optional<MatrixProduct> product = MatrixProductOf(*op);
      const bool is_product =
          product && IsOrthogonalAs(properties, product->left, product->row, product->summed) &&
          IsOrthogonalAs(properties, product->right, product->summed, product->column);
      return is_product ? Because("a product of orthogonal matrices", *op) : "";
    }
    default:
      return "";
  }
}

}  // namespace plimsoll
