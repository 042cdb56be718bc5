// Makes triangular solves and factorisations, as ops of StableHLO or as calls of LAPACK: in the way
// that the program at hand has them.

#ifndef PLIMSOLL_REWRITE_MAKE_SOLVE_H_
#define PLIMSOLL_REWRITE_MAKE_SOLVE_H_

#include "analysis/linear_algebra.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "rewrite/match_solve.h"

namespace plimsoll {

// All of these give null where an op cannot be made.

// `like` is another triangular solve, with matrices of the same rank. The matrix must be on the
// left.
Value* MakeTriangularSolve(Builder& builder, const Op& like, const TriangularSolve& solve);

// The lower Cholesky factor by LAPACK; `like` is another factorisation of matrices of this type.
Op* MakeCholesky(Builder& builder, const Op& like, Value* matrix);

// The steps of a chain on other right-hand sides (batches..., rows, columns).
Value* ApplySteps(Builder& builder, llvm::ArrayRef<SolveStep> steps, Value* sides);
// The transpose of what the steps do. Null too if it is not known that rows are only moved.
Value* ApplyTransposed(Builder& builder, llvm::ArrayRef<SolveStep> steps, Value* sides);

// Matrices with their last two dimensions swapped.
Value* TransposeMatrices(Builder& builder, Value* matrices);

// True for elements where the row and the column have that relation, in matrices of this shape.
Value* WhereRowAndColumn(Builder& builder, Comparison comparison, llvm::ArrayRef<int64_t> shape);

// The diagonals of matrices: (batches..., rows).
Value* Diagonals(Builder& builder, Value* matrices);

using Branch = llvm::function_ref<Builder::Values(Builder&)>;
// All results of an `if`, none if it cannot be made.
Builder::Values MakeIf(Builder& builder, Value* predicate, Branch on_true, Branch on_false);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_MAKE_SOLVE_H_
