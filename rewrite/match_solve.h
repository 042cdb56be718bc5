// Recognises solves of linear equations: chains of triangular solves and of rows in another order.

#ifndef PLIMSOLL_REWRITE_MATCH_SOLVE_H_
#define PLIMSOLL_REWRITE_MATCH_SOLVE_H_

#include <cstddef>
#include <optional>

#include "analysis/indexed_value.h"
#include "analysis/linear_algebra.h"
#include "ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// One linear map of the columns of matrices.
struct SolveStep {
  Op* op = nullptr;
  IndexedValue result;  // What the op makes, with the indices of what the chain makes.
  // A triangular solve, as if its matrix were on the left; its `sides` do not matter.
  std::optional<TriangularSolve> solve;
  // Else the rows that are taken, of shape (batches..., rows) or with a dimension of one element
  // after them.
  Value* rows = nullptr;
};

// What makes a value from `start`, last step first. Indices are those of the value.
struct SolveChain {
  llvm::SmallVector<SolveStep, 3> steps;
  IndexedValue start;
  // The index along which the maps work, and those that the matrices have too, in order. Others
  // are of columns.
  int row = kNoIndex;
  llvm::SmallVector<int, 2> batches;
};

// The same elements as SeeThrough finds, also through reshapes that another one takes back.
IndexedValue SeeThroughViews(IndexedValue element);

// Looks through transposes, reshapes and the like at the triangular solves and gathers of rows that
// make the element. Without steps if there are none.
SolveChain SolveChainOf(const IndexedValue& element);

// A chain that solves with the factors of an LU factorisation.
struct LuSolve {
  Op* factorization = nullptr;
  Value* order = nullptr;      // What the rows of the matrix are brought into.
  bool is_transposed = false;  // It solves with the transpose of the matrix.

  Value& matrix() const { return *factorization->operand(0); }
};
std::optional<LuSolve> LuSolveOf(llvm::ArrayRef<SolveStep> steps);

// The LU factorisation that these are the factors of, behind the check that JAX makes.
Op* LuBehind(Value& factors);

// True if the element is 1 where `row` and `column` are equal, and 0 elsewhere.
bool IsIdentity(const IndexedValue& element, int row, int column);

// True if one undoes the other's transpose: they solve with T and with its transpose.
bool AreTransposes(const SolveStep& a, const SolveStep& b);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_MATCH_SOLVE_H_
