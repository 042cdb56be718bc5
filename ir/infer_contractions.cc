// Result types of products, linear algebra and Fourier transforms.

#include <optional>

#include "ir/dimensions.h"
#include "ir/infer_rules.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

struct Contraction {
  llvm::ArrayRef<int64_t> left_batch = {};
  llvm::ArrayRef<int64_t> right_batch = {};
  llvm::ArrayRef<int64_t> left_contracted = {};
  llvm::ArrayRef<int64_t> right_contracted = {};
};

Status CheckSide(const OpView& op, std::string_view side, Type operand,
                 llvm::ArrayRef<int64_t> batch, llvm::ArrayRef<int64_t> contracted) {
  llvm::SmallVector<int64_t> named(batch);
  llvm::append_range(named, contracted);
  return op.ExpectDimensions(StrCat("the ", side, " operand's list"), named, operand.rank());
}

// That each of the left operand's dimensions has the size of its partner; the pairs' common sizes.
StatusOr<Dimensions> Pair(const OpView& op, std::string_view what, llvm::ArrayRef<int64_t> left,
                          llvm::ArrayRef<int64_t> right) {
  if (left.size() != right.size()) {
    return op.Error("the left operand has ", left.size(), " ", what, " dimensions, the right has ",
                    right.size());
  }
  const Dimensions of_left = DimensionsOf(op.operands()[0]);
  const Dimensions of_right = DimensionsOf(op.operands()[1]);
  Dimensions common;
  for (size_t i = 0; i < left.size(); ++i) {
    const Dimension& a = of_left[left[i]];
    const Dimension& b = of_right[right[i]];
    const std::optional<Dimension> both = MostSpecific(a, b);
    if (!both) {
      return op.Error(what, " dimension ", left[i], " of the left operand has size ", Text(a),
                      ", dimension ", right[i], " of the right has size ", Text(b));
    }
    common.push_back(*both);
  }
  return common;
}

// Multiplies without saying what the result's elements are: by default those of the operands, or
// the wider of the two.
Type ProductElement(Type left, Type right) {
  const Type a = left.element_type();
  const Type b = right.element_type();
  if (IsQuantized(a) || IsQuantized(b)) return a;
  return b.bytes_per_element().value_or(0) > a.bytes_per_element().value_or(0) ? b : a;
}

InferredTypes Contract(const OpView& op, const Contraction& contraction) {
  const Type left = op.operands()[0];
  const Type right = op.operands()[1];
  RETURN_IF_ERROR(CheckSide(op, "left", left, contraction.left_batch, contraction.left_contracted));
  RETURN_IF_ERROR(
      CheckSide(op, "right", right, contraction.right_batch, contraction.right_contracted));
  ASSIGN_OR_RETURN(Dimensions result,
                   Pair(op, "batching", contraction.left_batch, contraction.right_batch));
  if (auto sizes =
          Pair(op, "contracted", contraction.left_contracted, contraction.right_contracted);
      !sizes.ok()) {
    return sizes.status();
  }
  const auto append_free = [&](Type operand, llvm::ArrayRef<int64_t> batch,
                               llvm::ArrayRef<int64_t> contracted) {
    const Dimensions dimensions = DimensionsOf(operand);
    for (size_t d = 0; d < dimensions.size(); ++d) {
      const auto number = static_cast<int64_t>(d);
      if (!llvm::is_contained(batch, number) && !llvm::is_contained(contracted, number)) {
        result.push_back(dimensions[d]);
      }
    }
  };
  append_free(left, contraction.left_batch, contraction.left_contracted);
  append_free(right, contraction.right_batch, contraction.right_contracted);
  return std::vector<Type>{TensorOf(op.context(), result, ProductElement(left, right))};
}

// That operand 0 is a batch of square matrices.
StatusOr<Type> SquareMatrices(const OpView& op) {
  ASSIGN_OR_RETURN(const Type matrices, op.Tensor(0));
  const Dimensions dimensions = DimensionsOf(matrices);
  const size_t rank = dimensions.size();
  if (rank < 2 || !AreCompatible(dimensions[rank - 2], dimensions[rank - 1])) {
    return op.Error("operand 0 must be square matrices, found ", matrices.ToString());
  }
  const Type element = matrices.element_type();
  if (!element.Is(TypeKind::kFloat) && !element.Is(TypeKind::kComplex)) {
    return op.Error("operand 0 must hold floats or complex numbers, found ", matrices.ToString());
  }
  return matrices;
}

}  // namespace

InferredTypes InferDotGeneral(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(2));
  RETURN_IF_ERROR(op.ExpectTensors());
  Contraction contraction;
  ASSIGN_OR_RETURN(const Attribute numbers, op.Struct("dot_dimension_numbers", "stablehlo.dot"));
  ASSIGN_OR_RETURN(contraction.left_batch, op.IntegersField(numbers, "lhs_batching_dimensions"));
  ASSIGN_OR_RETURN(contraction.right_batch, op.IntegersField(numbers, "rhs_batching_dimensions"));
  ASSIGN_OR_RETURN(contraction.left_contracted,
                   op.IntegersField(numbers, "lhs_contracting_dimensions"));
  ASSIGN_OR_RETURN(contraction.right_contracted,
                   op.IntegersField(numbers, "rhs_contracting_dimensions"));
  return Contract(op, contraction);
}

InferredTypes InferDot(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(2));
  RETURN_IF_ERROR(op.ExpectTensors());
  const size_t left_rank = op.operands()[0].rank();
  const size_t right_rank = op.operands()[1].rank();
  if (left_rank < 1 || left_rank > 2 || right_rank < 1 || right_rank > 2) {
    return op.Error("operands must be vectors or matrices, found ", op.operands()[0].ToString(),
                    " and ", op.operands()[1].ToString());
  }
  // The left operand's last dimension with the right one's first.
  const auto last = static_cast<int64_t>(left_rank - 1);
  const int64_t first = 0;
  return Contract(op, {.left_contracted = last, .right_contracted = first});
}

InferredTypes InferCholesky(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type matrices, SquareMatrices(op));
  return std::vector<Type>{matrices};
}

InferredTypes InferTriangularSolve(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(2));
  RETURN_IF_ERROR(op.ExpectTensors());
  RETURN_IF_ERROR(op.ExpectCompatibleElements(0, 1));
  ASSIGN_OR_RETURN(const Type matrices, SquareMatrices(op));
  ASSIGN_OR_RETURN(const int64_t left_side, op.Integer("left_side"));
  const Type sides = op.operands()[1];
  const size_t rank = matrices.rank();
  bool fits = sides.rank() == rank;
  if (fits) {
    const Dimensions of_matrices = DimensionsOf(matrices);
    const Dimensions of_sides = DimensionsOf(sides);
    for (size_t d = 0; fits && d + 2 < rank; ++d) {
      fits = AreCompatible(of_matrices[d], of_sides[d]);
    }
    fits = fits && AreCompatible(of_matrices[rank - 1], of_sides[rank - (left_side != 0 ? 2 : 1)]);
  }
  if (!fits) {
    return op.Error("the matrices of operand 0, ", matrices.ToString(), ", do not fit the ",
                    left_side != 0 ? "columns" : "rows", " of operand 1, ", sides.ToString());
  }
  return std::vector<Type>{sides};
}

InferredTypes InferFft(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  ASSIGN_OR_RETURN(const Type operand, op.Tensor(0));
  ASSIGN_OR_RETURN(const std::string_view kind, op.Enumerator("fft_type", "stablehlo.fft_type"));
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> lengths, op.Integers("fft_length"));
  const bool from_real = kind == "RFFT";
  const bool to_real = kind == "IRFFT";
  if (lengths.empty() || lengths.size() > 3 || lengths.size() > operand.rank() ||
      llvm::any_of(lengths, [](int64_t length) { return length < 0; })) {
    return op.Error(
        "fft_length must have one to three sizes, and no more than the operand has "
        "dimensions, found ",
        ListText(lengths), " for ", operand.ToString());
  }
  const Type element = operand.element_type();
  if (from_real ? !element.Is(TypeKind::kFloat) : !element.Is(TypeKind::kComplex)) {
    return op.Error(kind, " takes ", from_real ? "floats" : "complex numbers", ", found ",
                    operand.ToString());
  }
  Dimensions result = DimensionsOf(operand);
  if (!from_real && !to_real) return std::vector<Type>{operand};
  // Real numbers have half of their spectrum kept.
  const int64_t half = lengths.back() == 0 ? 0 : lengths.back() / 2 + 1;
  const size_t first = result.size() - lengths.size();
  for (size_t i = 0; i < lengths.size(); ++i) {
    const bool is_last = i + 1 == lengths.size();
    const int64_t expected = to_real && is_last ? half : lengths[i];
    const int64_t found = result[first + i].size;
    if (found != kDynamic && found != expected) {
      return op.Error(kind, " with fft_length ", ListText(lengths), " wants size ", expected,
                      " in dimension ", first + i, ", found ", operand.ToString());
    }
  }
  result.back() = {to_real ? lengths.back() : half, kDynamic};
  const Type other = to_real ? element.element_type() : op.context().ComplexType(element);
  return std::vector<Type>{TensorOf(op.context(), result, other)};
}

}  // namespace plimsoll
