// Which matrices have zeros outside their diagonal, or on one side of it, and which are made of
// zeros and ones.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "analysis/properties_internal.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// What is known of a truth value.
enum class Truth : uint8_t { kUnknown, kTrue, kFalse };

Truth Not(Truth a) {
  if (a == Truth::kUnknown) return a;
  return a == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
}

Truth And(Truth a, Truth b) {
  if (a == Truth::kFalse || b == Truth::kFalse) return Truth::kFalse;
  return a == Truth::kTrue && b == Truth::kTrue ? Truth::kTrue : Truth::kUnknown;
}

Truth Or(Truth a, Truth b) { return Not(And(Not(a), Not(b))); }

// A matrix of truth values: below its diagonal, on it, and above.
struct Mask {
  Truth below = Truth::kUnknown;
  Truth on = Truth::kUnknown;
  Truth above = Truth::kUnknown;
};

// Whether numbers compare so to 0, for all from `least` to `most`.
Truth CompareRange(std::string_view direction, int64_t least, int64_t most) {
  const auto decide = [](bool always, bool never) {
    if (always) return Truth::kTrue;
    return never ? Truth::kFalse : Truth::kUnknown;
  };
  if (direction == "EQ") return decide(least == 0 && most == 0, least > 0 || most < 0);
  if (direction == "NE") return Not(CompareRange("EQ", least, most));
  if (direction == "LT") return decide(most < 0, least >= 0);
  if (direction == "GE") return Not(CompareRange("LT", least, most));
  if (direction == "GT") return decide(least > 0, most <= 0);
  return Not(CompareRange("GT", least, most));
}

Mask MaskOfCompare(const Op& op, const IndexedValue& element, int row, int column, int64_t size) {
  const std::optional<Affine> first = AffineOf(OperandElement(op, 0, element));
  const std::optional<Affine> second = AffineOf(OperandElement(op, 1, element));
  if (!first || !second || first->factor != 1 || second->factor != 1) return {};
  const bool is_row_first = first->index == row && second->index == column;
  const bool is_column_first = first->index == column && second->index == row;
  if (!is_row_first && !is_column_first) return {};
  const std::string_view direction = op.Get("comparison_direction").enumerator();
  const int64_t offset = first->offset - second->offset;
  // The first minus the second, where the row is smaller than the column and where it is larger.
  const Truth if_smaller = CompareRange(direction, offset - (size - 1), offset - 1);
  const Truth if_larger = CompareRange(direction, offset + 1, offset + size - 1);
  return {.below = is_row_first ? if_larger : if_smaller,
          .on = CompareRange(direction, offset, offset),
          .above = is_row_first ? if_smaller : if_larger};
}

// How deep masks and the ops that make a diagonal are nested.
constexpr int kMostDepth = 10;

Mask MaskOf(const IndexedValue& element, int row, int column, int64_t size, int depth = 0) {
  const IndexedValue peeled = Peel(element);
  if (const std::optional<double> number = ConstantNumber(*peeled.value)) {
    const Truth truth = *number != 0 ? Truth::kTrue : Truth::kFalse;
    return {.below = truth, .on = truth, .above = truth};
  }
  const Op* op = peeled.value->defining_op();
  if (op == nullptr || depth == kMostDepth) return {};
  const auto operand = [&](size_t index) {
    return MaskOf(OperandElement(*op, index, peeled), row, column, size, depth + 1);
  };
  switch (op->opcode()) {
    case Opcode::kCompare:
      return MaskOfCompare(*op, peeled, row, column, size);
    case Opcode::kNot: {
      const Mask mask = operand(0);
      return {.below = Not(mask.below), .on = Not(mask.on), .above = Not(mask.above)};
    }
    case Opcode::kAnd: {
      const Mask a = operand(0);
      const Mask b = operand(1);
      return {
          .below = And(a.below, b.below), .on = And(a.on, b.on), .above = And(a.above, b.above)};
    }
    case Opcode::kOr: {
      const Mask a = operand(0);
      const Mask b = operand(1);
      return {.below = Or(a.below, b.below), .on = Or(a.on, b.on), .above = Or(a.above, b.above)};
    }
    default:
      return {};
  }
}

bool IsBoolean(const Value& value) { return value.type().element_type().IsInteger(1); }

// The mask that an operand of a matrix's op is. Other values than truth values are none.
Mask MaskOfOperand(const Op& op, size_t operand, const MatrixElement& matrix) {
  if (!IsBoolean(*op.operand(operand))) return {};
  return MaskOf(OperandElement(op, operand, matrix.element), matrix.row, matrix.column,
                matrix.element.value->type().shape().back());
}

// Whether the mask is so wherever a matrix with the property has zeros.
Truth WhereZero(const Mask& mask, Property property) {
  if (property == Property::kLowerTriangular) return mask.above;
  if (property == Property::kUpperTriangular) return mask.below;
  return mask.below == mask.above ? mask.below : Truth::kUnknown;
}

bool KeepsZeros(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kCbrt:
    case Opcode::kCeil:
    case Opcode::kExponentialMinusOne:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kLogPlusOne:
    case Opcode::kNegate:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kRoundNearestAwayFromZero:
    case Opcode::kRoundNearestEven:
    case Opcode::kSign:
    case Opcode::kSine:
    case Opcode::kSqrt:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kChloAsin:
    case Opcode::kChloAsinh:
    case Opcode::kChloAtan:
    case Opcode::kChloAtanh:
    case Opcode::kChloConj:
    case Opcode::kChloErf:
    case Opcode::kChloSinh:
    case Opcode::kChloSquare:
    case Opcode::kChloTan:
      return true;
    default:
      return false;
  }
}

bool IsZeroIn(const std::vector<double>& elements, size_t size, Property property) {
  for (size_t k = 0; k < elements.size(); ++k) {
    const size_t column = k % size;
    const size_t row = k / size % size;
    const bool is_to_be_zero = (property != Property::kUpperTriangular && row < column) ||
                               (property != Property::kLowerTriangular && row > column);
    if (is_to_be_zero && elements[k] != 0) return false;
  }
  return true;
}

Property Mirrored(Property property) {
  if (property == Property::kLowerTriangular) return Property::kUpperTriangular;
  if (property == Property::kUpperTriangular) return Property::kLowerTriangular;
  return property;
}

// True if the matrix with these rows and columns has the property, as the value or its transpose.
bool HasAs(Properties& properties, const IndexedValue& element, int row, int column,
           Property property) {
  const size_t rank = element.indices.size();
  if (rank < 2 || row == kNoIndex || column == kNoIndex) return false;
  const int last_but_one = element.indices[rank - 2];
  const int last = element.indices[rank - 1];
  if (last_but_one == row && last == column) return properties.Has(*element.value, property);
  return last_but_one == column && last == row &&
         properties.Has(*element.value, Mirrored(property));
}

bool IsProductOf(Properties& properties, const Op& op, Property property) {
  const std::optional<MatrixProduct> product = MatrixProductOf(op);
  return product && HasAs(properties, product->left, product->row, product->summed, property) &&
         HasAs(properties, product->right, product->summed, product->column, property);
}

// How a triangular system is solved; nothing if the op is not one.
struct TriangularSolve {
  bool is_lower;  // As it is used: after the transpose.
};

std::optional<TriangularSolve> SolveOf(const Op& op) {
  if (op.Is(Opcode::kTriangularSolve)) {
    const bool is_transposed = op.Get("transpose_a").enumerator() != "NO_TRANSPOSE";
    return TriangularSolve{.is_lower = (op.Get("lower").integer() != 0) != is_transposed};
  }
  if (!op.Is(Opcode::kCustomCall)) return std::nullopt;
  const std::string_view target = op.Get("call_target_name").text();
  if (target != "lapack_strsm_ffi" && target != "lapack_dtrsm_ffi") return std::nullopt;
  const Attribute config = op.Get("mhlo.backend_config");
  if (!config.Is(AttributeKind::kDictionary)) return std::nullopt;
  const Attribute triangle = config.Find("uplo");
  const Attribute transpose = config.Find("trans_x");
  if (!triangle.Is(AttributeKind::kInteger) || !transpose.Is(AttributeKind::kInteger)) {
    return std::nullopt;
  }
  return TriangularSolve{.is_lower = (triangle.integer() == 'L') != (transpose.integer() != 'N')};
}

bool IsSolveOf(Properties& properties, const Op& op, Property property) {
  const std::optional<TriangularSolve> solve = SolveOf(op);
  if (!solve || !properties.Has(*op.operand(1), property)) return false;
  if (property == Property::kLowerTriangular) return solve->is_lower;
  if (property == Property::kUpperTriangular) return !solve->is_lower;
  return properties.Has(*op.operand(0), property);
}

std::string_view KindOfZeros(Property property) {
  if (property == Property::kLowerTriangular) return "zero above the diagonal";
  if (property == Property::kUpperTriangular) return "zero below the diagonal";
  return "zero outside the diagonal";
}

// True if the elements are 1 on the diagonal, are positive, or are not negative.
bool IsNumberSo(Properties& properties, const Value& value, Property property) {
  if (property == Property::kIdentity) return ConstantNumber(value) == 1;
  return properties.Has(value, property);
}

// Finds what the elements on a matrix's diagonal are.
class DiagonalFinder {
 public:
  DiagonalFinder(Properties& properties, Property property, int row, int column, int64_t size)
      : properties_(properties), property_(property), row_(row), column_(column), size_(size) {}

  bool Run(const IndexedValue& element) {
    const IndexedValue peeled = Peel(element);
    if (IsBoolean(*peeled.value)) {
      return MaskOf(peeled, row_, column_, size_).on == Truth::kTrue;
    }
    if (IsNumberSo(properties_, *peeled.value, property_)) return true;
    const Op* op = peeled.value->defining_op();
    if (op == nullptr || depth_ == kMostDepth) return false;
    ++depth_;
    const bool is_so = Find(*op, peeled);
    --depth_;
    return is_so;
  }

 private:
  bool Find(const Op& op, const IndexedValue& element) {
    const auto operand = [&](size_t index) { return OperandElement(op, index, element); };
    switch (op.opcode()) {
      case Opcode::kConvert:
        // What is narrower may round to zero.
        return (property_ != Property::kPositive || !IsFloat(op.operand(0)->type()) ||
                IsWidening(op.operand(0)->type(), element.value->type())) &&
               Run(operand(0));
      case Opcode::kSqrt:
        return Run(operand(0));
      case Opcode::kSelect: {
        const Truth mask = MaskOf(operand(0), row_, column_, size_).on;
        return (mask == Truth::kFalse || Run(operand(1))) &&
               (mask == Truth::kTrue || Run(operand(2)));
      }
      case Opcode::kMultiply:
        return Run(operand(0)) && Run(operand(1));
      case Opcode::kDivide:
        return IsFloat(element.value->type()) && Run(operand(0)) && Run(operand(1));
      case Opcode::kAdd:
        return property_ != Property::kIdentity && IsFloat(element.value->type()) &&
               Run(operand(0)) && Run(operand(1));
      default:
        return false;
    }
  }

  Properties& properties_;
  Property property_;
  int row_;
  int column_;
  int64_t size_;
  int depth_ = 0;
};

}  // namespace

bool IsDiagonalSo(Properties& properties, const Value& value, Property property) {
  const std::optional<MatrixElement> matrix = MatrixOf(value);
  if (!matrix) return false;
  if (const std::optional<std::vector<double>> elements = ElementsOf(value)) {
    const auto size = static_cast<size_t>(value.type().shape().back());
    for (size_t k = 0; k < elements->size(); ++k) {
      if (k % size != k / size % size) continue;
      const double number = (*elements)[k];
      const bool is_so = property == Property::kIdentity      ? number == 1
                         : property == Property::kNonNegative ? number >= 0
                                                              : number > 0;
      if (!is_so) return false;
    }
    return true;
  }
  return DiagonalFinder(properties, property, matrix->row, matrix->column,
                        value.type().shape().back())
      .Run(matrix->element);
}

std::string InferZeros(Properties& properties, const Value& value, Property property) {
  const llvm::ArrayRef<int64_t> shape = value.type().shape().take_back(2);
  const Op* op = value.defining_op();
  if (op == nullptr || shape[0] != shape[1]) return "";
  if (shape[0] == 1) return Because("a single number", *op);
  std::string reason = Because(KindOfZeros(property), *op);
  if (ConstantNumber(value) == 0.0) return reason;
  if (const std::optional<std::vector<double>> elements = ElementsOf(value)) {
    return IsZeroIn(*elements, shape[0], property) ? reason : "";
  }
  const MatrixElement matrix = *MatrixOf(value);
  if (IsBoolean(value)) {
    const Mask mask = MaskOf(matrix.element, matrix.row, matrix.column, shape[0]);
    return WhereZero(mask, property) == Truth::kFalse ? reason : "";
  }
  const auto has = [&](size_t operand) { return properties.Has(*op->operand(operand), property); };
  bool is_zero = false;
  switch (op->opcode()) {
    case Opcode::kSelect: {
      const Truth mask = WhereZero(MaskOfOperand(*op, 0, matrix), property);
      is_zero = (mask == Truth::kFalse || has(1)) && (mask == Truth::kTrue || has(2));
      break;
    }
    case Opcode::kMultiply:
    case Opcode::kAnd:
      is_zero = has(0) || has(1);
      break;
    case Opcode::kDivide:
      is_zero = has(0);
      break;
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kOr:
    case Opcode::kXor:
      is_zero = has(0) && has(1);
      break;
    case Opcode::kPower: {
      const std::optional<double> exponent = ConstantNumber(*op->operand(1));
      is_zero = exponent && *exponent > 0 && has(0);
      break;
    }
    case Opcode::kDotGeneral:
      is_zero = IsProductOf(properties, *op, property);
      break;
    case Opcode::kTriangularSolve:
    case Opcode::kCustomCall:
      is_zero = IsSolveOf(properties, *op, property);
      break;
    default:
      is_zero = KeepsZeros(op->opcode()) && has(0);
      break;
  }
  if (!is_zero && property == Property::kDiagonal) {
    is_zero = properties.Has(value, Property::kLowerTriangular) &&
              properties.Has(value, Property::kUpperTriangular);
  }
  return is_zero ? reason : "";
}

std::string InferIdentity(Properties& properties, const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr || !MatrixOf(value)) return "";
  if (op->Is(Opcode::kDotGeneral)) {
    const bool is_product = IsProductOf(properties, *op, Property::kIdentity);
    return is_product ? Because("a product of identity matrices", *op) : "";
  }
  if (!IsDiagonalSo(properties, value, Property::kIdentity) ||
      !properties.Has(value, Property::kDiagonal)) {
    return "";
  }
  return Because("ones on the diagonal and zeros elsewhere", *op);
}

}  // namespace plimsoll
