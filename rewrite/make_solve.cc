#include "rewrite/make_solve.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/status.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/match_pivots.h"

namespace plimsoll {
namespace {

Value* OnlyResult(const StatusOr<Op*>& op) { return op.ok() ? (*op)->result(0) : nullptr; }

// The attributes of a call with other options. A sharding rule names the sizes of that call.
Attribute WithOptions(Context& context, Attribute attributes, Attribute options) {
  llvm::SmallVector<NamedAttribute> kept = {{"mhlo.backend_config", options}};
  for (const auto [name, attribute] : llvm::zip_equal(attributes.names(), attributes.items())) {
    if (name != "sdy.sharding_rule" && name != "mhlo.backend_config") {
      kept.emplace_back(name, attribute);
    }
  }
  return context.Dictionary(kept);
}

Attribute Letter(Context& context, char letter) {
  return context.Integer(context.IntegerType(8, Signedness::kUnsigned), letter);
}

Value* CallTriangularSolve(Builder& builder, const Op& like, const TriangularSolve& solve) {
  Context& context = builder.context();
  const auto option = [&](bool is_first, char first, char second) {
    return Letter(context, is_first ? first : second);
  };
  const char transposed = solve.transposed == Transposed::kNo    ? 'N'
                          : solve.transposed == Transposed::kYes ? 'T'
                                                                 : 'C';
  const Attribute options = context.Dictionary({{"side", Letter(context, 'L')},
                                                {"uplo", option(solve.is_lower, 'L', 'U')},
                                                {"diag", option(solve.has_unit_diagonal, 'U', 'N')},
                                                {"trans_x", Letter(context, transposed)}});
  std::unique_ptr<Op> call =
      Op::Create(like.name(), builder.location(), solve.sides->type(), {solve.matrix, solve.sides},
                 like.properties(), WithOptions(context, like.attributes(), options));
  return builder.Append(std::move(call))->result(0);
}

// Rows in another order, or each several times or not at all.
Value* TakeRows(Builder& builder, Value* rows, Value* matrices) {
  if (matrices == nullptr) return nullptr;
  Context& context = builder.context();
  const llvm::ArrayRef<int64_t> shape = matrices->type().shape();
  const auto batch_count = static_cast<int64_t>(shape.size()) - 2;
  const Attribute batches = context.I64Array(llvm::to_vector(llvm::seq<int64_t>(0, batch_count)));
  const Attribute row_dimension = context.I64Array(batch_count);
  llvm::SmallVector<int64_t> sizes(shape.size(), 1);
  sizes.back() = shape.back();
  const Attribute numbers =
      context.Struct("stablehlo.gather", {{"offset_dims", context.I64Array(batch_count + 1)},
                                          {"collapsed_slice_dims", row_dimension},
                                          {"operand_batching_dims", batches},
                                          {"start_indices_batching_dims", batches},
                                          {"start_index_map", row_dimension},
                                          {"index_vector_dim", context.I64(batch_count + 1)}});
  return OnlyResult(builder.Create(Opcode::kGather, {matrices, rows},
                                   {{"dimension_numbers", numbers},
                                    {"indices_are_sorted", context.Bool(false)},
                                    {"slice_sizes", context.I64Array(sizes)}}));
}

// The places of 0, 1, 2, ... in an order of rows (batches..., rows).
Value* InverseOrder(Builder& builder, Value* order) {
  Context& context = builder.context();
  const auto last = static_cast<int64_t>(order->type().rank()) - 1;
  const Type number = context.TensorType({}, order->type().element_type());
  auto region = std::make_unique<Region>();
  Block& block = region->AddBlock();
  llvm::SmallVector<Value*> arguments;
  for (int i = 0; i < 4; ++i) arguments.push_back(block.AddArgument(number, builder.location()));
  Builder inside(context, block, builder.location());
  inside.Return(inside.Compare(Comparison::kLess, arguments[0], arguments[1]));
  Builder::Regions regions;
  regions.push_back(std::move(region));
  StatusOr<Op*> sort = builder.Create(
      Opcode::kSort, {order, builder.Iota(order->type(), last)},
      {{"dimension", context.I64(last)}, {"is_stable", context.Bool(true)}}, std::move(regions));
  return sort.ok() ? (*sort)->result(1) : nullptr;
}

// The indices with which a gather undoes the other gather.
Value* UndoRows(Builder& builder, Value* rows) {
  const std::optional<RowOrder> order = RowOrderOf(*rows);
  if (!order) return nullptr;
  return order->is_inverse ? order->order : InverseOrder(builder, order->order);
}

}  // namespace

Value* MakeTriangularSolve(Builder& builder, const Op& like, const TriangularSolve& solve) {
  if (solve.sides == nullptr || solve.matrix == nullptr) return nullptr;
  if (like.Is(Opcode::kCustomCall)) return CallTriangularSolve(builder, like, solve);
  Context& context = builder.context();
  const std::string_view transposed = solve.transposed == Transposed::kNo    ? "NO_TRANSPOSE"
                                      : solve.transposed == Transposed::kYes ? "TRANSPOSE"
                                                                             : "ADJOINT";
  return OnlyResult(
      builder.Create(Opcode::kTriangularSolve, {solve.matrix, solve.sides},
                     {{"left_side", context.Bool(true)},
                      {"lower", context.Bool(solve.is_lower)},
                      {"transpose_a", context.Enum("stablehlo.transpose", transposed)},
                      {"unit_diagonal", context.Bool(solve.has_unit_diagonal)}}));
}

Op* MakeCholesky(Builder& builder, const Op& like, Value* matrix) {
  Context& context = builder.context();
  const Value& failure = *FailureOf(like);
  const std::string_view target = like.Get("call_target_name").text();
  // lapack_spotrf_ffi: the letter of the element type is the same.
  const std::string name =
      StrCat(target.substr(0, std::string_view("lapack_s").size()), "potrf_ffi");
  llvm::SmallVector<NamedAttribute> properties;
  for (const auto [key, attribute] :
       llvm::zip_equal(like.properties().names(), like.properties().items())) {
    Attribute value = attribute;
    if (key == "call_target_name") value = context.String(name);
    // There are no pivots, the second result of an LU factorisation.
    if (key == "result_layouts") {
      value = context.Array({attribute.items().front(), attribute.items().back()});
    }
    properties.emplace_back(key, value);
  }
  const Attribute options = context.Dictionary({{"uplo", Letter(context, 'L')}});
  std::unique_ptr<Op> call =
      Op::Create(like.name(), builder.location(), {matrix->type(), failure.type()}, matrix,
                 context.Dictionary(properties), WithOptions(context, like.attributes(), options));
  return builder.Append(std::move(call));
}

Value* ApplySteps(Builder& builder, llvm::ArrayRef<SolveStep> steps, Value* sides) {
  for (const SolveStep& step : llvm::reverse(steps)) {
    if (sides == nullptr) return nullptr;
    if (!step.solve) {
      sides = TakeRows(builder, step.rows, sides);
      continue;
    }
    TriangularSolve solve = *step.solve;
    solve.sides = sides;
    sides = MakeTriangularSolve(builder, *step.op, solve);
  }
  return sides;
}

Value* ApplyTransposed(Builder& builder, llvm::ArrayRef<SolveStep> steps, Value* sides) {
  for (const SolveStep& step : steps) {
    if (sides == nullptr) return nullptr;
    if (!step.solve) {
      Value* rows = UndoRows(builder, step.rows);
      sides = rows == nullptr ? nullptr : TakeRows(builder, rows, sides);
      continue;
    }
    TriangularSolve solve = *step.solve;
    // The transpose of a conjugate transpose is a conjugate, for which there is no solve.
    if (solve.transposed == Transposed::kAndConjugated) return nullptr;
    solve.transposed = solve.transposed == Transposed::kNo ? Transposed::kYes : Transposed::kNo;
    solve.sides = sides;
    sides = MakeTriangularSolve(builder, *step.op, solve);
  }
  return sides;
}

Value* TransposeMatrices(Builder& builder, Value* matrices) {
  if (matrices == nullptr) return nullptr;
  const size_t rank = matrices->type().rank();
  llvm::SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(rank)));
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return builder.Transpose(matrices, permutation);
}

Value* WhereRowAndColumn(Builder& builder, Comparison comparison, llvm::ArrayRef<int64_t> shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  const Type numbers = builder.context().TensorType(shape, builder.context().IntegerType(32));
  return builder.Compare(comparison, builder.Iota(numbers, rank - 2),
                         builder.Iota(numbers, rank - 1));
}

Value* Diagonals(Builder& builder, Value* matrices) {
  Context& context = builder.context();
  const llvm::ArrayRef<int64_t> shape = matrices->type().shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const Attribute matrix_dimensions = context.I64Array({rank - 2, rank - 1});
  const Attribute batches = context.I64Array(llvm::to_vector(llvm::seq(rank - 2)));
  const Attribute numbers =
      context.Struct("stablehlo.gather", {{"offset_dims", batches},
                                          {"collapsed_slice_dims", matrix_dimensions},
                                          {"operand_batching_dims", context.I64Array({})},
                                          {"start_indices_batching_dims", context.I64Array({})},
                                          {"start_index_map", matrix_dimensions},
                                          {"index_vector_dim", context.I64(1)}});
  llvm::SmallVector<int64_t> sizes = llvm::to_vector(shape);
  sizes[rank - 2] = sizes[rank - 1] = 1;
  // (0, 0), (1, 1), (2, 2), ...
  Value* places = builder.Iota(context.TensorType({shape.back(), 2}, context.IntegerType(32)), 0);
  return OnlyResult(builder.Create(Opcode::kGather, {matrices, places},
                                   {{"dimension_numbers", numbers},
                                    {"indices_are_sorted", context.Bool(true)},
                                    {"slice_sizes", context.I64Array(sizes)}}));
}

Builder::Values MakeIf(Builder& builder, Value* predicate, Branch on_true, Branch on_false) {
  Builder::Regions regions;
  for (const Branch branch : {on_true, on_false}) {
    auto region = std::make_unique<Region>();
    Builder inside(builder.context(), region->AddBlock(), builder.location());
    inside.Return(branch(inside));
    if (!inside.status().ok()) return {};
    regions.push_back(std::move(region));
  }
  StatusOr<Op*> made = builder.Create(Opcode::kIf, predicate, {}, std::move(regions));
  return made.ok() ? (*made)->results() : Builder::Values{};
}

}  // namespace plimsoll
