// Factorisations and triangular solves: StableHLO's own ops, and the calls of LAPACK that JAX makes
// on a processor.

#ifndef PLIMSOLL_ANALYSIS_LINEAR_ALGEBRA_H_
#define PLIMSOLL_ANALYSIS_LINEAR_ALGEBRA_H_

#include <cstdint>
#include <optional>

#include "ir/graph.h"

namespace plimsoll {

// A transpose of matrices: of the last two dimensions.
bool SwapsLastTwo(const Op& op);

enum class Transposed : uint8_t { kNo, kYes, kAndConjugated };

// op(matrix) * result = sides, or result * op(matrix) = sides.
struct TriangularSolve {
  Value* matrix = nullptr;  // Only one of its triangles is read.
  Value* sides = nullptr;
  bool matrix_is_left = true;
  bool is_lower = true;
  bool has_unit_diagonal = false;  // The diagonal is not read: ones are meant.
  Transposed transposed = Transposed::kNo;
};

std::optional<TriangularSolve> TriangularSolveOf(const Op& op);

// An op that factors the matrices of its only operand in place.
enum class Factorization : uint8_t {
  // Results: both factors in one matrix, the row that each row was swapped with (from 1), and a
  // number that is negative if the call was wrong.
  kLu,
  // Results: the factor, with what the operand had in the other triangle, and a number that is 0 if
  // the matrix is positive definite.
  kCholesky,
};

// Of a call of LAPACK with square matrices of static shape.
std::optional<Factorization> FactorizationOf(const Op& op);

// Of a call of LAPACK for a Cholesky factor: which triangle is read and written.
bool IsLowerCholesky(const Op& op);

// The number that says whether a factorisation has failed; null if the op is none.
Value* FailureOf(const Op& factorization);

// The factorisation that a predicate says has gone well, for all batches; null if it says something
// else.
Op* CheckedFactorization(const Value& predicate);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_LINEAR_ALGEBRA_H_
