#include "rewrite/factor_rules.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "analysis/indexed_value.h"
#include "analysis/linear_algebra.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/make_solve.h"
#include "rewrite/match_pivots.h"
#include "rewrite/match_solve.h"
#include "rewrite/solve_sides.h"

namespace plimsoll {
namespace {

// What is known of a sign may be as little as this.
constexpr double kLargestSign = 8;

// What is done where a Cholesky factorisation has failed: there the first way stays.
bool IsFallback(const Op& op) {
  const Op* parent = op.parent();
  return parent != nullptr && parent->Is(Opcode::kIf) && op.block() == &parent->region(1).front() &&
         CheckedFactorization(*parent->operand(0)) != nullptr;
}

bool IsTransposeOf(const Value& value, const Value& other) {
  const Op* op = value.defining_op();
  return op != nullptr && SwapsLastTwo(*op) && op->operand(0) == &other;
}

// (A + A') / 2, which JAX makes of A before it factors it; null if there is none.
Op* SymmetrizedFrom(const Value& matrix) {
  for (Op* sum : matrix.users()) {
    if (!sum->Is(Opcode::kAdd) || sum->operand(0) != &matrix ||
        !IsTransposeOf(*sum->operand(1), matrix)) {
      continue;
    }
    for (Op* half : sum->result(0)->users()) {
      if (half->Is(Opcode::kDivide) && half->operand(0) == sum->result(0) &&
          ConstantNumber(*half->operand(1)) == 2.0) {
        return half;
      }
    }
  }
  return nullptr;
}

// A lower Cholesky factorisation of a symmetric matrix that is there before the op.
Op* CholeskyBefore(const Value& matrix, const Op& op) {
  llvm::SmallVector<const Value*> forms = {&matrix};
  if (const Op* half = SymmetrizedFrom(matrix)) forms.push_back(half->result(0));
  for (Op* user : matrix.users()) {
    if (SwapsLastTwo(*user)) forms.push_back(user->result(0));
  }
  for (const Value* form : forms) {
    for (Op* user : form->users()) {
      if (FactorizationOf(*user) == Factorization::kCholesky && IsLowerCholesky(*user) &&
          user->block() == op.block() && user->IsBefore(op)) {
        return user;
      }
    }
  }
  return nullptr;
}

// True if the matrices of all batches were factored.
Value* HasSucceeded(Builder& builder, const Op& factorization) {
  Value* failure = FailureOf(factorization);
  Value* is_right =
      builder.Compare(Comparison::kEqual, failure, builder.IntegerConstant(failure->type(), 0));
  const size_t rank = failure->type().rank();
  if (rank == 0) return is_right;
  Context& context = builder.context();
  Value* all = builder.IntegerConstant(context.TensorType({}, context.IntegerType(1)), 1);
  return builder.Reduce(is_right, all, llvm::to_vector(llvm::seq(static_cast<int64_t>(rank))),
                        Opcode::kAnd);
}

// L L' = (L / D) (D L'), where D is the diagonal of L: what an LU factorisation gives if it swaps
// no rows, both factors in one matrix.
Value* AsLuFactors(Builder& builder, Value* lower) {
  const Type type = lower->type();
  const auto rank = static_cast<int64_t>(type.rank());
  Value* diagonal = Diagonals(builder, lower);
  llvm::SmallVector<int64_t> rows = llvm::to_vector(llvm::seq(rank - 1));
  llvm::SmallVector<int64_t> columns = rows;
  columns.back() = rank - 1;
  Value* below = builder.Divide(lower, builder.BroadcastInDim(diagonal, type.shape(), columns));
  Value* above = builder.Multiply(TransposeMatrices(builder, lower),
                                  builder.BroadcastInDim(diagonal, type.shape(), rows));
  return builder.Select(WhereRowAndColumn(builder, Comparison::kGreater, type.shape()), below,
                        above);
}

// A symmetric matrix after its lower triangle was overwritten by that of its Cholesky factor. So
// the matrix need not be kept for the case that there is no such factor.
Value* Restored(Builder& builder, Value* overwritten, Value* diagonal) {
  const Type type = overwritten->type();
  const auto rank = static_cast<int64_t>(type.rank());
  const llvm::SmallVector<int64_t> rows = llvm::to_vector(llvm::seq(rank - 1));
  Value* below = builder.Select(WhereRowAndColumn(builder, Comparison::kGreater, type.shape()),
                                TransposeMatrices(builder, overwritten),
                                builder.BroadcastInDim(diagonal, type.shape(), rows));
  return builder.Select(WhereRowAndColumn(builder, Comparison::kLess, type.shape()), overwritten,
                        below);
}

// 1, 2, 3, ...: each row stays where it is.
Value* NoSwaps(Builder& builder, Type type) {
  return builder.Add(builder.Iota(type, static_cast<int64_t>(type.rank()) - 1),
                     builder.IntegerConstant(type, 1));
}

bool IsNoSwaps(const Value& pivots) {
  const Op* add = pivots.defining_op();
  if (add == nullptr || !add->Is(Opcode::kAdd) || ConstantNumber(*add->operand(1)) != 1.0) {
    return false;
  }
  const Op* iota = add->operand(0)->defining_op();
  return iota != nullptr && iota->Is(Opcode::kIota) &&
         iota->Get("iota_dimension").integer() == static_cast<int64_t>(pivots.type().rank()) - 1;
}

// The last op of a solve with the factors, if nothing else uses them.
Op* OnlySolve(Op& factorization) {
  Value* factors = factorization.result(0);
  if (factors->has_one_use() && factors->first_use()->owner()->Is(Opcode::kSelect)) {
    factors = factors->first_use()->owner()->result(0);
  }
  if (factors->use_count() != 2) return nullptr;
  for (Op* user : factors->users()) {
    const std::optional<TriangularSolve> solve = TriangularSolveOf(*user);
    if (!solve || solve->matrix != factors || solve->is_lower) continue;
    const std::optional<LuSolve> lu = LuSolveOf(SolveChainOf(AllIndices(*user->result(0))).steps);
    if (lu && lu->factorization == &factorization && user->block() == factorization.block()) {
      return user;
    }
  }
  return nullptr;
}

// Copies the ops that `last` needs of those that depend on `first`, both included.
Builder::Values CopyFromTo(Builder& builder, const Op& first, const Op& last, ValueMap values) {
  llvm::DenseSet<const Op*> dependent = {&first};
  const auto depends = [&](Op& op) {
    bool found = false;
    Walk(op, [&](Op& inner) {
      found =
          found || llvm::any_of(inner.operands(), [&](const Value* operand) {
            return operand->defining_op() != nullptr && dependent.contains(operand->defining_op());
          });
    });
    return found;
  };
  llvm::SmallVector<const Op*> in_order = {&first};
  for (Op* op = first.next(); op != last.next(); op = op->next()) {
    if (!depends(*op)) continue;
    dependent.insert(op);
    in_order.push_back(op);
  }
  llvm::DenseSet<const Op*> needed = {&last};
  for (const Op* op : llvm::reverse(in_order)) {
    if (!needed.contains(op)) continue;
    for (const Value* operand : op->operands()) {
      if (operand->defining_op() != nullptr) needed.insert(operand->defining_op());
    }
  }
  Builder::Values results;
  for (const Op* op : in_order) {
    if (!needed.contains(op)) continue;
    // JAX's check whether LAPACK was called wrongly would be a copy of the factors.
    if (op->Is(Opcode::kSelect) && LuBehind(*op->result(0)) == &first) {
      values[op->result(0)] = values[first.result(0)];
      continue;
    }
    results = builder.Append(op->Clone(values))->results();
  }
  return results;
}

// A Cholesky factorisation in the place of an LU factorisation.
struct Replacement {
  Value* factor = nullptr;    // In the lower triangle.
  Value* is_right = nullptr;  // False if there is no such factor.
  Value* diagonal = nullptr;  // Of the matrix.
};

// Nothing, with a refusal, if it is not known that the matrix has a Cholesky factor.
std::optional<Replacement> ReplacementFor(RuleScope& scope, const Op& factorization) {
  Value& matrix = *factorization.operand(0);
  Properties& properties = scope.properties();
  Builder& builder = scope.builder();
  const Op* cholesky = CholeskyBefore(matrix, scope.op());
  const bool is_positive = properties.Has(matrix, Property::kPositiveDefinite);
  if (!is_positive && cholesky == nullptr) {
    scope.Refuse("it is not known that the matrix is positive definite");
    return std::nullopt;
  }
  if (!is_positive && !properties.Has(matrix, Property::kSymmetric)) {
    scope.Refuse("it is not known that the matrix is symmetric");
    return std::nullopt;
  }
  Value* diagonal = Diagonals(builder, &matrix);
  if (cholesky == nullptr) cholesky = MakeCholesky(builder, factorization, &matrix);
  return Replacement{.factor = cholesky->result(0),
                     .is_right = HasSucceeded(builder, *cholesky),
                     .diagonal = diagonal};
}

// What the program says, from the LU factorisation up to `last`.
Builder::Values Fallback(Builder& builder, const Replacement& replacement, const Op& factorization,
                         const Op& last) {
  ValueMap values;
  values[factorization.operand(0)] = Restored(builder, replacement.factor, replacement.diagonal);
  return CopyFromTo(builder, factorization, last, std::move(values));
}

// An LU factorisation that several ops use: both ways give the same kind of factors.
Builder::Values FactorPositiveDefinite(RuleScope& scope) {
  Op& op = scope.op();
  if (OnlySolve(op) != nullptr) return {};
  const std::optional<Replacement> replacement = ReplacementFor(scope, op);
  if (!replacement) return {};
  return MakeIf(
      scope.builder(), replacement->is_right,
      [&](Builder& inside) {
        return Builder::Values{AsLuFactors(inside, replacement->factor),
                               NoSwaps(inside, op.result(1)->type()),
                               inside.IntegerConstant(op.result(2)->type(), 0)};
      },
      [&](Builder& inside) { return Fallback(inside, *replacement, op, op); });
}

// True if the op's result is used in products only, perhaps transposed.
bool HasProducts(const Op& op) {
  return llvm::all_of(op.result(0)->users(), [](const Op* user) {
    if (user->Is(Opcode::kTranspose) || user->Is(Opcode::kReshape)) return HasProducts(*user);
    return user->Is(Opcode::kDotGeneral);
  });
}

// One solve by an LU factorisation that is for it alone.
Builder::Values SolvePositiveDefinite(RuleScope& scope) {
  Op& op = scope.op();
  const IndexedValue result = AllIndices(*op.result(0));
  const SolveChain chain = SolveChainOf(result);
  const std::optional<LuSolve> lu = LuSolveOf(chain.steps);
  if (!lu || OnlySolve(*lu->factorization) != &op) return {};
  const llvm::SmallVector<int> columns = ColumnsOf(result, chain.row, chain.batches);
  // Products with an inverse are better made solves first (inverse_times).
  if (columns.size() == 1 && IsIdentity(chain.start, chain.row, columns[0]) && HasProducts(op)) {
    return {};
  }
  const std::optional<Replacement> replacement = ReplacementFor(scope, *lu->factorization);
  if (!replacement) return {};
  const Type type = op.result(0)->type();
  const llvm::SmallVector<int64_t> sizes = llvm::to_vector(type.shape());
  return MakeIf(
      scope.builder(), replacement->is_right,
      [&](Builder& inside) {
        const SolveSides sides(inside, chain.batches, sizes);
        TriangularSolve solve = {.matrix = replacement->factor,
                                 .sides = sides.ToMatrices(chain.start, chain.row, columns)};
        solve.sides = MakeTriangularSolve(inside, op, solve);
        solve.transposed = Transposed::kYes;
        Value* solved = MakeTriangularSolve(inside, op, solve);
        return Builder::Values{sides.FromMatrices(solved, chain.row, columns, type)};
      },
      [&](Builder& inside) { return Fallback(inside, *replacement, *lu->factorization, op); });
}

// The loop over swaps of rows, of which there are none after a Cholesky factorisation.
Builder::Values SkipSwaps(RuleScope& scope) {
  Op& op = scope.op();
  const std::optional<SwapLoop> swaps = SwapLoopOf(op);
  const Op* choice = swaps ? swaps->pivots->defining_op() : nullptr;
  if (choice == nullptr || !choice->Is(Opcode::kIf) ||
      CheckedFactorization(*choice->operand(0)) == nullptr) {
    return {};
  }
  const Block& on_success = choice->region(0).front();
  if (!IsNoSwaps(*on_success.last()->operand(swaps->pivots->index()))) return {};
  return MakeIf(
      scope.builder(), choice->operand(0),
      [&](Builder& inside) {
        Builder::Values results;
        for (const auto [i, role] : llvm::enumerate(swaps->without_swaps)) {
          results.push_back(role == SwapLoop::Role::kUnchanged
                                ? op.operand(i)
                                : inside.IntegerConstant(op.result(i)->type(), swaps->rows));
        }
        return results;
      },
      [&](Builder& inside) {
        ValueMap values;
        return inside.Append(op.Clone(values))->results();
      });
}

Builder::Values PositiveDefiniteSolve(RuleScope& scope) {
  Op& op = scope.op();
  if (IsFallback(op)) return {};
  if (op.Is(Opcode::kWhile)) return SkipSwaps(scope);
  if (!op.Is(Opcode::kCustomCall) || op.result_count() == 0 ||
      !op.result(0)->type().element_type().Is(TypeKind::kFloat)) {
    return {};
  }
  if (FactorizationOf(op) == Factorization::kLu) return FactorPositiveDefinite(scope);
  return TriangularSolveOf(op) ? SolvePositiveDefinite(scope) : Builder::Values{};
}

// The order of rows that the LU factorisation asks for, if it is computed before the op.
Value* OrderBefore(const Op& factorization, const Op& op) {
  for (const Op* shifted : factorization.result(1)->users()) {
    if (shifted->result_count() != 1) continue;
    for (const Op* loop : shifted->result(0)->users()) {
      if (!loop->Is(Opcode::kWhile) || loop->block() != op.block() || !loop->IsBefore(op)) continue;
      for (Value* result : loop->results()) {
        const std::optional<RowOrder> order = RowOrderOf(*result);
        if (order && order->factorization == &factorization) return result;
      }
    }
  }
  return nullptr;
}

// A' is factored, and A was before: the factors of A solve with A' too.
Builder::Values SharedFactor(RuleScope& scope) {
  Op& op = scope.op();
  if (op.result_count() != 1 || !op.result(0)->type().has_static_shape()) return {};
  if (!op.Is(Opcode::kGather) && !TriangularSolveOf(op)) return {};
  const IndexedValue result = AllIndices(*op.result(0));
  const SolveChain chain = SolveChainOf(result);
  const std::optional<LuSolve> lu = LuSolveOf(chain.steps);
  const Op* transpose = lu ? lu->matrix().defining_op() : nullptr;
  if (transpose == nullptr || !SwapsLastTwo(*transpose)) return {};
  for (Op* other : transpose->operand(0)->users()) {
    if (FactorizationOf(*other) != Factorization::kLu || other->block() != op.block() ||
        !other->IsBefore(op)) {
      continue;
    }
    Value* order = OrderBefore(*other, op);
    if (order == nullptr) continue;
    Op* like = chain.steps[1].op;
    TriangularSolve upper = {.matrix = other->result(0), .is_lower = false};
    TriangularSolve lower = {.matrix = other->result(0), .has_unit_diagonal = true};
    const SolveStep steps[] = {{.op = like, .result = {}, .solve = upper},
                               {.op = like, .result = {}, .solve = lower},
                               {.op = like, .result = {}, .solve = std::nullopt, .rows = order}};
    const llvm::SmallVector<int64_t> sizes = llvm::to_vector(op.result(0)->type().shape());
    const SolveSides sides(scope.builder(), chain.batches, sizes);
    const llvm::SmallVector<int> columns = ColumnsOf(result, chain.row, chain.batches);
    Value* matrices = sides.ToMatrices(chain.start, chain.row, columns);
    Value* solved = lu->is_transposed ? ApplySteps(scope.builder(), steps, matrices)
                                      : ApplyTransposed(scope.builder(), steps, matrices);
    if (solved == nullptr) return {};
    return {sides.FromMatrices(solved, chain.row, columns, op.result(0)->type())};
  }
  return {};
}

// log(sign * exp(y)), which is made of the logarithm of a determinant.
Builder::Values LogdetOfFactor(RuleScope& scope) {
  Op& op = scope.op();
  if (!op.Is(Opcode::kLog) || !op.result(0)->type().element_type().Is(TypeKind::kFloat)) return {};
  const Op* product = op.operand(0)->defining_op();
  if (product == nullptr || !product->Is(Opcode::kMultiply)) return {};
  for (size_t i = 0; i < 2; ++i) {
    const Op* exponential = product->operand(i)->defining_op();
    if (exponential == nullptr || !exponential->Is(Opcode::kExponential)) continue;
    Value& sign = *product->operand(1 - i);
    const std::optional<Bounds> bounds = scope.properties().BoundsOf(sign);
    // The logarithm of another number could cancel out with y, and leave its rounding error.
    const bool is_small = bounds && bounds->least >= -kLargestSign &&
                          bounds->most <= kLargestSign &&
                          scope.properties().Has(sign, Property::kIntegerValued);
    if (!is_small) {
      return scope.Refuse("it is not known that the factor of the exponential is a small integer");
    }
    return {scope.builder().Add(scope.builder().Log(&sign), exponential->operand(0))};
  }
  return {};
}

}  // namespace

llvm::ArrayRef<Rule> FactorRules() {
  static constexpr Rule kRules[] = {
      {.name = "positive_definite_solve",
       .pattern = "an LU factorisation of a positive definite A, and solves with it",
       .result = "a Cholesky factorisation; LU where that fails when the program runs",
       .guard = "real numbers; A is known to be positive definite, or to be symmetric and has a "
                "Cholesky factor in the program already",
       .numerics = Numerics::kRewrites,
       .rewrite = PositiveDefiniteSolve},
      {.name = "shared_factor",
       .pattern = "a solve with A' by LU where A has been factored before",
       .result = "a solve with the transposed factors of A",
       .guard = "none",
       .numerics = Numerics::kRewrites,
       .rewrite = SharedFactor},
      {.name = "logdet_of_factor",
       .pattern = "log(s exp(y)), the logarithm of a determinant",
       .result = "log(s) + y, which does not overflow",
       .guard = "s is known to be a small integer, such as a sign",
       .numerics = Numerics::kRewrites,
       .rewrite = LogdetOfFactor},
  };
  return kRules;
}

}  // namespace plimsoll
