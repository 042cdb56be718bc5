#include "rewrite/solve_rules.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/indexed_value.h"
#include "analysis/linear_algebra.h"
#include "analysis/op_class.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/make_solve.h"
#include "rewrite/match_solve.h"
#include "rewrite/solve_sides.h"

namespace plimsoll {
namespace {

bool IsReal(Type type) { return type.element_type().Is(TypeKind::kFloat); }

bool HasStaticShapes(const Op& op) {
  const auto is_static = [](const Value* value) {
    return value->type().Is(TypeKind::kTensor) && value->type().has_static_shape();
  };
  return llvm::all_of(op.operands(), is_static) && llvm::all_of(op.results(), is_static);
}

// A product of matrices over one index. The others are those of the result's dimensions.
struct Product {
  IndexedValue operands[2];
  int summed = kNoIndex;
  llvm::SmallVector<int> batches;
  llvm::SmallVector<int64_t> sizes;  // Of each index.
};

std::optional<Product> ProductOf(const Op& op) {
  if (!op.Is(Opcode::kDotGeneral) || !HasStaticShapes(op)) return std::nullopt;
  const Type type = op.result(0)->type();
  const Attribute numbers = op.Get("dot_dimension_numbers");
  const auto rank = static_cast<int>(type.rank());
  Product product;
  product.summed = rank;
  product.sizes = llvm::to_vector(type.shape());
  const llvm::ArrayRef<int64_t> batches[] = {numbers.Find("lhs_batching_dimensions").integers(),
                                             numbers.Find("rhs_batching_dimensions").integers()};
  const llvm::ArrayRef<int64_t> summed[] = {numbers.Find("lhs_contracting_dimensions").integers(),
                                            numbers.Find("rhs_contracting_dimensions").integers()};
  if (summed[0].size() != 1) return std::nullopt;
  product.sizes.push_back(op.operand(0)->type().shape()[summed[0][0]]);
  auto next = static_cast<int>(batches[0].size());
  product.batches = llvm::to_vector(llvm::seq(next));
  for (size_t i = 0; i < 2; ++i) {
    Value* operand = op.operand(i);
    if (operand->type().element_type() != type.element_type()) return std::nullopt;
    product.operands[i].value = operand;
    for (const auto [d, size] : llvm::enumerate(operand->type().shape())) {
      const auto* batch = llvm::find(batches[i], static_cast<int64_t>(d));
      int index = static_cast<int>(batch - batches[i].begin());
      if (batch == batches[i].end())
        index = static_cast<int64_t>(d) == summed[i][0] ? rank : next++;
      product.operands[i].indices.push_back(size == 1 ? kNoIndex : index);
    }
  }
  return product;
}

// One operand of a product is an inverse, which is a chain of steps on the identity: the same steps
// on the other operand give the product.
Builder::Values InverseTimes(RuleScope& scope, bool is_triangular) {
  Op& op = scope.op();
  const std::optional<Product> product = ProductOf(op);
  if (!product) return {};
  const Type type = op.result(0)->type();
  for (size_t i = 0; i < 2; ++i) {
    const SolveChain chain = SolveChainOf(product->operands[i]);
    const bool solves = llvm::any_of(chain.steps, [](const auto& step) { return step.solve; });
    const bool moves_rows = llvm::any_of(chain.steps, [](const auto& step) { return !step.solve; });
    if (!solves || moves_rows == is_triangular) continue;
    const llvm::SmallVector<int> free =
        ColumnsOf(product->operands[i], product->summed, chain.batches);
    if (free.size() != 1) continue;
    // inv(A) B sums over the columns of inv(A); inv(A)' B over its rows.
    const bool is_transposed = chain.row == product->summed;
    if (!is_transposed && chain.row != free[0]) continue;
    if (!IsIdentity(chain.start, product->summed, free[0])) continue;
    const IndexedValue& other = product->operands[1 - i];
    SolveSides sides(scope.builder(), chain.batches, product->sizes);
    const llvm::SmallVector<int> columns = ColumnsOf(other, product->summed, chain.batches);
    Value* matrices = sides.ToMatrices(other, product->summed, columns);
    Value* solved = is_transposed ? ApplyTransposed(scope.builder(), chain.steps, matrices)
                                  : ApplySteps(scope.builder(), chain.steps, matrices);
    if (solved == nullptr) return {};
    return {sides.FromMatrices(solved, free[0], columns, type)};
  }
  return {};
}

Builder::Values GeneralInverseTimes(RuleScope& scope) {
  return InverseTimes(scope, /*is_triangular=*/false);
}

// What solves with the matrix of an LU factorisation if the matrix is of a special kind, on sides
// (batches..., rows, columns); null if it is not.
Value* SolveSpecial(RuleScope& scope, const LuSolve& lu, const Op& like, Value* sides) {
  Properties& properties = scope.properties();
  Builder& builder = scope.builder();
  Value& matrix = lu.matrix();
  if (properties.Has(matrix, Property::kIdentity)) return sides;
  const Type type = sides->type();
  const auto rank = static_cast<int64_t>(type.rank());
  const auto in_order = llvm::seq(rank - 2);
  const std::vector<int64_t> batches(in_order.begin(), in_order.end());
  if (properties.Has(matrix, Property::kDiagonal)) {
    std::vector<int64_t> dimensions = batches;
    dimensions.push_back(rank - 2);
    return builder.Divide(
        sides, builder.BroadcastInDim(Diagonals(builder, &matrix), type.shape(), dimensions));
  }
  const bool is_lower = properties.Has(matrix, Property::kLowerTriangular);
  if (is_lower || properties.Has(matrix, Property::kUpperTriangular)) {
    return MakeTriangularSolve(
        builder, like,
        {.matrix = &matrix,
         .sides = sides,
         .is_lower = is_lower,
         .transposed = lu.is_transposed ? Transposed::kYes : Transposed::kNo});
  }
  if (!IsReal(type) || !properties.Has(matrix, Property::kOrthogonal)) return nullptr;
  // Its inverse is its transpose.
  return builder.DotGeneral(&matrix, sides,
                            {.left_batch = batches,
                             .right_batch = batches,
                             .left_contracted = {lu.is_transposed ? rank - 1 : rank - 2},
                             .right_contracted = {rank - 2}});
}

Builder::Values TriangularInverseTimes(RuleScope& scope) {
  Op& op = scope.op();
  if (op.Is(Opcode::kDotGeneral)) return InverseTimes(scope, /*is_triangular=*/true);
  if (op.result_count() != 1 || !HasStaticShapes(op)) return {};
  if (!op.Is(Opcode::kGather) && !TriangularSolveOf(op)) return {};
  const IndexedValue result = AllIndices(*op.result(0));
  const SolveChain chain = SolveChainOf(result);
  const std::optional<LuSolve> lu = LuSolveOf(chain.steps);
  if (!lu) return {};
  const Type type = op.result(0)->type();
  const llvm::SmallVector<int64_t> sizes = llvm::to_vector(type.shape());
  SolveSides sides(scope.builder(), chain.batches, sizes);
  const llvm::SmallVector<int> columns = ColumnsOf(result, chain.row, chain.batches);
  Value* matrices = sides.ToMatrices(chain.start, chain.row, columns);
  Value* solved = SolveSpecial(scope, *lu, *chain.steps[1].op, matrices);
  if (solved == nullptr) return {};
  return {sides.FromMatrices(solved, chain.row, columns, type)};
}

// Whether `solved` is a solve with T T', or T' T, of what `plain` is: their product is then that of
// the half of the solve with itself. The half is the last but one op of the solve.
bool IsHalfSquared(const SolveChain& solved, const SolveChain& plain) {
  const llvm::ArrayRef<SolveStep> steps = solved.steps;
  if (steps.size() != plain.steps.size() + 2 || !AreTransposes(steps[0], steps[1])) return false;
  return solved.start == plain.start &&
         llvm::equal(steps.drop_front(2), plain.steps,
                     [](const SolveStep& a, const SolveStep& b) { return a.op == b.op; });
}

IndexedValue Renamed(IndexedValue element, int from, int to) {
  for (int& index : element.indices) {
    if (index == from) index = to;
  }
  return element;
}

// x' inv(T T') x, over the rows
Builder::Values QuadraticProduct(RuleScope& scope) {
  Op& op = scope.op();
  const std::optional<Product> product = ProductOf(op);
  if (!product) return {};
  for (size_t i = 0; i < 2; ++i) {
    SolveChain solved = SolveChainOf(product->operands[i]);
    if (solved.steps.size() < 2 || solved.row != product->summed) continue;
    // The columns of both have indices of their own.
    const auto column = ColumnsOf(product->operands[i], solved.row, product->batches);
    const auto other_column = ColumnsOf(product->operands[1 - i], solved.row, product->batches);
    if (column.size() > 1 || other_column.size() != column.size()) continue;
    if (!column.empty()) solved.start = Renamed(solved.start, column[0], other_column[0]);
    if (!IsHalfSquared(solved, SolveChainOf(product->operands[1 - i]))) continue;
    Builder& builder = scope.builder();
    SolveSides sides(builder, product->batches, product->sizes);
    Value* half = sides.ToMatrices(solved.steps[1].result, solved.row, column);
    const auto rank = static_cast<int64_t>(half->type().rank());
    const std::vector<int64_t> batches(product->batches.begin(), product->batches.end());
    Value* squared = builder.DotGeneral(half, half,
                                        {.left_batch = batches,
                                         .right_batch = batches,
                                         .left_contracted = {rank - 2},
                                         .right_contracted = {rank - 2}},
                                        {}, op.Get("precision_config"));
    return {builder.Reshape(squared, op.result(0)->type().shape())};
  }
  return {};
}

// sum(x * inv(T T') x), over the rows and perhaps more
Builder::Values QuadraticSum(RuleScope& scope) {
  Op& op = scope.op();
  if (op.operand_count() != 2 || BodyOf(op) != Opcode::kAdd || !HasStaticShapes(op)) return {};
  const Op* multiply = op.operand(0)->defining_op();
  if (multiply == nullptr || !multiply->Is(Opcode::kMultiply)) return {};
  for (size_t i = 0; i < 2; ++i) {
    const IndexedValue factor = AllIndices(*multiply->operand(i));
    const SolveChain solved = SolveChainOf(factor);
    const SolveChain plain =
        SolveChainOf({.value = multiply->operand(1 - i), .indices = factor.indices});
    if (!llvm::is_contained(op.Get("dimensions").integers(), solved.row) ||
        !IsHalfSquared(solved, plain)) {
      continue;
    }
    Builder& builder = scope.builder();
    const Type type = factor.value->type();
    const auto all = llvm::to_vector(llvm::seq(static_cast<int>(type.rank())));
    Value* half = Arrange(builder, solved.steps[1].result, all, type.shape());
    return {builder.Reduce(builder.Multiply(half, half), op.operand(1),
                           op.Get("dimensions").integers(), Opcode::kAdd)};
  }
  return {};
}

Builder::Values QuadraticForm(RuleScope& scope) {
  Op& op = scope.op();
  if (op.result_count() != 1 || !op.result(0)->type().Is(TypeKind::kTensor) ||
      !IsReal(op.result(0)->type())) {
    return {};
  }
  if (op.Is(Opcode::kDotGeneral)) return QuadraticProduct(scope);
  if (op.Is(Opcode::kReduce)) return QuadraticSum(scope);
  return {};
}

}  // namespace

llvm::ArrayRef<Rule> SolveRules() {
  static constexpr Rule kRules[] = {
      {.name = "inverse_times",
       .pattern = "inv(A) B or inv(A)' B, by an LU factorisation",
       .result = "solve(A, B) with the factors that are there",
       .guard = "none: a solve is more exact than an inverse",
       .numerics = Numerics::kRewrites,
       .rewrite = GeneralInverseTimes},
      {.name = "triangular_inverse_times",
       .pattern = "inv(L) B of a triangular L; solve(A, B) by an LU factorisation of an A that is "
                  "triangular, diagonal, orthogonal or the identity",
       .result = "a triangular solve, a quotient, a product with the transpose, B itself",
       .guard = "real numbers if A is orthogonal",
       .numerics = Numerics::kRewrites,
       .rewrite = TriangularInverseTimes},
      {.name = "quadratic_form",
       .pattern = "B' inv(T T') B by two triangular solves, also sum(B * inv(T T') B)",
       .result = "the half W = inv(T) B times itself",
       .guard = "real numbers",
       .numerics = Numerics::kRewrites,
       .rewrite = QuadraticForm},
  };
  return kRules;
}

}  // namespace plimsoll
