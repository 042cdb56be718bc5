#include "rewrite/match_solve.h"

#include <cstdint>
#include <utility>

#include "analysis/indexing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "rewrite/match_pivots.h"

namespace plimsoll {
namespace {

// A reshape and another one that takes it back.
Value* WithoutReshapes(Value* value) {
  const Op* second = value->defining_op();
  const Op* first = second != nullptr && second->Is(Opcode::kReshape)
                        ? second->operand(0)->defining_op()
                        : nullptr;
  const bool is_nothing =
      first != nullptr && first->Is(Opcode::kReshape) && first->operand(0)->type() == value->type();
  return is_nothing ? first->operand(0) : nullptr;
}

// Batches first, then these two.
bool IsOrdered(const IndexedValue& element, llvm::ArrayRef<int> batches, int first, int second) {
  const size_t rank = element.indices.size();
  const llvm::ArrayRef<int> indices = element.indices;
  return rank == batches.size() + 2 && indices.drop_back(2) == batches &&
         (first == kNoIndex || indices[rank - 2] == first) &&
         (second == kNoIndex || indices[rank - 1] == second);
}

std::optional<SolveStep> TriangularStep(const IndexedValue& element, int row,
                                        llvm::ArrayRef<int> batches) {
  Op* op = element.value->defining_op();
  std::optional<TriangularSolve> solve = TriangularSolveOf(*op);
  if (!solve) return std::nullopt;
  // What stands in the place of the columns is not looked at.
  if (solve->matrix_is_left) {
    if (!IsOrdered(element, batches, row, kNoIndex)) return std::nullopt;
    return SolveStep{.op = op, .result = element, .solve = solve, .rows = nullptr};
  }
  if (!IsOrdered(element, batches, kNoIndex, row)) return std::nullopt;
  // X T = B is the same as T' X' = B'. Conjugates alone are no triangular solve.
  if (solve->transposed == Transposed::kAndConjugated) return std::nullopt;
  solve->transposed = solve->transposed == Transposed::kNo ? Transposed::kYes : Transposed::kNo;
  solve->matrix_is_left = true;
  return SolveStep{.op = op, .result = element, .solve = solve, .rows = nullptr};
}

// A gather that takes whole rows: what it takes them from, with the index of rows.
std::optional<IndexedValue> RowsBefore(const IndexedValue& element, int row,
                                       llvm::ArrayRef<int> batches) {
  const Op& op = *element.value->defining_op();
  Value& operand = *op.operand(0);
  const Value& rows = *op.operand(1);
  const Indexing indexing = IndexingOf(op);
  if (indexing.index_map.size() != 1) return std::nullopt;
  const int64_t dimension = indexing.index_map[0];
  if (indexing.collapsed_dims != indexing.index_map) return std::nullopt;
  const size_t batch_count = batches.size();
  const auto in_order = llvm::seq<int64_t>(0, static_cast<int64_t>(batch_count));
  const size_t rank = rows.type().rank();
  const bool is_one_number = indexing.index_vector_dim == static_cast<int64_t>(batch_count) + 1 &&
                             (rank == batch_count + 1 || rank == batch_count + 2);
  if (!is_one_number || !llvm::equal(indexing.indices_batching_dims, in_order)) return std::nullopt;
  for (const auto [d, size] : llvm::enumerate(op.Get("slice_sizes").integers())) {
    const auto at = static_cast<int64_t>(d);
    const bool is_one = at == dimension || llvm::is_contained(indexing.operand_batching_dims, at);
    if (size != (is_one ? 1 : operand.type().shape()[d])) return std::nullopt;
  }
  const llvm::SmallVector<int> window = indexing.WindowDimensions(operand.type().rank());
  const llvm::SmallVector<int> results = indexing.BatchDimensions(rank);
  if (element.indices[results[batch_count]] != row) return std::nullopt;
  IndexedValue before = {.value = &operand, .indices = {}};
  before.indices.assign(operand.type().rank(), kNoIndex);
  for (const auto [d, in_result] : llvm::enumerate(window)) {
    if (in_result >= 0) before.indices[d] = element.indices[in_result];
  }
  for (const auto [d, batch] : llvm::enumerate(indexing.operand_batching_dims)) {
    if (element.indices[results[d]] != batches[d]) return std::nullopt;
    before.indices[batch] = batches[d];
  }
  before.indices[dimension] = row;
  return before;
}

// For a check that JAX makes: select(failure >= 0, factors, NaN). LAPACK's number is negative only
// if it was called wrongly.
Value* BehindCheck(const Op& select) {
  const Op* compare = select.operand(0)->defining_op();
  while (compare != nullptr &&
         (compare->Is(Opcode::kBroadcastInDim) || compare->Is(Opcode::kReshape))) {
    compare = compare->operand(0)->defining_op();
  }
  const Op* factorization = select.operand(1)->defining_op();
  const bool is_check = compare != nullptr && compare->Is(Opcode::kCompare) &&
                        compare->Get("comparison_direction").enumerator() == "GE" &&
                        ConstantNumber(*compare->operand(1)) == 0.0 && factorization != nullptr &&
                        FailureOf(*factorization) == compare->operand(0);
  return is_check ? select.operand(1) : nullptr;
}

// The index that an iota counts along, also with 0 added to it; kNoIndex if it is none.
int CountedIndex(const IndexedValue& element) {
  const IndexedValue behind = SeeThroughViews(element);
  const Op* op = behind.value->defining_op();
  if (op == nullptr) return kNoIndex;
  if (op->Is(Opcode::kIota)) return behind.indices[op->Get("iota_dimension").integer()];
  if (op->Is(Opcode::kAdd) && ConstantNumber(*op->operand(1)) == 0.0) {
    return CountedIndex({.value = op->operand(0), .indices = behind.indices});
  }
  return kNoIndex;
}

// Which indices are those of rows and batches, as the last step has them.
bool FindRow(SolveChain& chain) {
  const Op& last = *chain.start.value->defining_op();
  const llvm::ArrayRef<int> indices = chain.start.indices;
  if (const std::optional<TriangularSolve> solve = TriangularSolveOf(last)) {
    chain.row = indices[indices.size() - (solve->matrix_is_left ? 2 : 1)];
    chain.batches.assign(indices.begin(), indices.end() - 2);
  } else if (last.Is(Opcode::kGather)) {
    const Indexing indexing = IndexingOf(last);
    const llvm::SmallVector<int> results = indexing.BatchDimensions(last.operand(1)->type().rank());
    const size_t batch_count = indexing.indices_batching_dims.size();
    if (results.size() <= batch_count || results[batch_count] < 0) return false;
    chain.row = indices[results[batch_count]];
    for (size_t i = 0; i < batch_count; ++i) chain.batches.push_back(indices[results[i]]);
  }
  return chain.row != kNoIndex;
}

bool IsLuFactor(const SolveStep& step, bool is_lower, Transposed transposed) {
  return step.solve && step.solve->is_lower == is_lower &&
         step.solve->has_unit_diagonal == is_lower && step.solve->transposed == transposed;
}

}  // namespace

IndexedValue SeeThroughViews(IndexedValue element) {
  while (true) {
    if (Value* value = WithoutReshapes(element.value)) {
      element.value = value;
    } else if (std::optional<IndexedValue> before = SeeThroughOne(element)) {
      element = *std::move(before);
    } else {
      return element;
    }
  }
}

SolveChain SolveChainOf(const IndexedValue& element) {
  SolveChain chain;
  chain.start = SeeThroughViews(element);
  const Op* last = chain.start.value->defining_op();
  if (last == nullptr || !FindRow(chain)) return chain;
  while (Op* op = chain.start.value->defining_op()) {
    if (std::optional<SolveStep> step = TriangularStep(chain.start, chain.row, chain.batches)) {
      chain.start.value = TriangularSolveOf(*op)->sides;
      chain.steps.push_back(*step);
    } else if (op->Is(Opcode::kGather)) {
      std::optional<IndexedValue> before = RowsBefore(chain.start, chain.row, chain.batches);
      if (!before) break;
      chain.steps.push_back(
          {.op = op, .result = chain.start, .solve = std::nullopt, .rows = op->operand(1)});
      chain.start = *std::move(before);
    } else {
      break;
    }
    chain.start = SeeThroughViews(std::move(chain.start));
  }
  return chain;
}

std::optional<LuSolve> LuSolveOf(llvm::ArrayRef<SolveStep> steps) {
  if (steps.size() != 3) return std::nullopt;
  // The inverse is that of U, then of L after the swaps: inv(A) = inv(U) inv(L) P.
  const bool is_transposed = steps[0].rows != nullptr;
  const SolveStep& upper = steps[is_transposed ? 2 : 0];
  const SolveStep& lower = steps[1];
  const SolveStep& gather = steps[is_transposed ? 0 : 2];
  const Transposed transposed = is_transposed ? Transposed::kYes : Transposed::kNo;
  if (gather.rows == nullptr || !IsLuFactor(upper, /*is_lower=*/false, transposed) ||
      !IsLuFactor(lower, /*is_lower=*/true, transposed) ||
      upper.solve->matrix != lower.solve->matrix) {
    return std::nullopt;
  }
  Op* factorization = LuBehind(*upper.solve->matrix);
  const std::optional<RowOrder> order = RowOrderOf(*gather.rows);
  if (factorization == nullptr || !order || order->factorization != factorization ||
      order->is_inverse != is_transposed) {
    return std::nullopt;
  }
  return LuSolve{
      .factorization = factorization, .order = order->order, .is_transposed = is_transposed};
}

Op* LuBehind(Value& factors) {
  Op* op = factors.defining_op();
  if (op == nullptr) return nullptr;
  if (FactorizationOf(*op) == Factorization::kLu) return op->result(0) == &factors ? op : nullptr;
  Value* behind = op->Is(Opcode::kSelect) ? BehindCheck(*op) : nullptr;
  return behind == nullptr ? nullptr : LuBehind(*behind);
}

bool IsIdentity(const IndexedValue& element, int row, int column) {
  const IndexedValue behind = SeeThroughViews(element);
  const Op* convert = behind.value->defining_op();
  if (convert == nullptr || !convert->Is(Opcode::kConvert)) return false;
  const IndexedValue truth =
      SeeThroughViews({.value = convert->operand(0), .indices = behind.indices});
  const Op* compare = truth.value->defining_op();
  if (compare == nullptr || !compare->Is(Opcode::kCompare) ||
      compare->Get("comparison_direction").enumerator() != "EQ") {
    return false;
  }
  const int left = CountedIndex({.value = compare->operand(0), .indices = truth.indices});
  const int right = CountedIndex({.value = compare->operand(1), .indices = truth.indices});
  return (left == row && right == column) || (left == column && right == row);
}

bool AreTransposes(const SolveStep& a, const SolveStep& b) {
  return a.solve && b.solve && a.solve->matrix == b.solve->matrix &&
         a.solve->is_lower == b.solve->is_lower &&
         a.solve->has_unit_diagonal == b.solve->has_unit_diagonal &&
         a.solve->transposed != b.solve->transposed &&
         a.solve->transposed != Transposed::kAndConjugated &&
         b.solve->transposed != Transposed::kAndConjugated;
}

}  // namespace plimsoll
