// Axis rules of linear algebra, Fourier transforms, batch normalization and custom calls.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/axis_rules_internal.h"
#include "ir/status.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace plimsoll {
namespace {

// The dimension is the same one of all operands and results.
void AddBatch(RuleMaker& maker, const Op& op, int dimension) {
  Factor factor = maker.Blank(maker.ResultSize(0, dimension), dimension);
  factor.operands.assign(op.operand_count(), dimension);
  maker.Add(std::move(factor));
}

// The right-hand sides of a triangular solve, which all see the whole matrix.
void AddRightHandSides(RuleMaker& maker, const Op& op, bool matrix_is_left) {
  const auto rank = static_cast<int>(op.result(0)->type().rank());
  const int sides = matrix_is_left ? rank - 1 : rank - 2;
  Factor factor = maker.Blank(maker.ResultSize(0, sides), sides);
  factor.operands[1] = sides;
  maker.Add(std::move(factor));
}

std::string MatrixReason(std::string_view name, int rank) {
  return StrCat(name, " needs all of dimension ", rank - 2, " and dimension ", rank - 1);
}

Attribute FieldOf(const Op& op, std::string_view dictionary, std::string_view field) {
  const Attribute attribute = op.Get(dictionary);
  return attribute.Is(AttributeKind::kDictionary) ? attribute.Find(field) : Attribute();
}

// How many leading dimensions of all operands and results are batches, as whoever made the call
// says for XLA's own partitioning; nothing if it is not said.
std::optional<int> BatchDimensionCount(const Op& op) {
  const Attribute text = FieldOf(op, "mhlo.frontend_attributes", "num_batch_dims");
  int count = 0;
  if (!text.Is(AttributeKind::kString) ||
      llvm::StringRef(text.text()).getAsInteger(/*Radix=*/10, count)) {
    return std::nullopt;
  }
  return count;
}

// True if all operands and results have that dimension, of one size.
bool AllHave(const Op& op, int dimension) {
  const int64_t size = op.result(0)->type().rank() > static_cast<size_t>(dimension)
                           ? op.result(0)->type().shape()[dimension]
                           : -1;
  const auto has = [&](const Value* value) {
    return value->type().rank() > static_cast<size_t>(dimension) &&
           value->type().shape()[dimension] == size;
  };
  return llvm::all_of(op.operands(), has) && llvm::all_of(op.results(), has);
}

// lapack_strsm_ffi and the like solve triangular systems.
bool IsTriangularSolve(std::string_view target) {
  return target == "lapack_strsm_ffi" || target == "lapack_dtrsm_ffi" ||
         target == "lapack_ctrsm_ffi" || target == "lapack_ztrsm_ffi";
}

// The values, what comes with each, and for both what the reduction starts from.
AxisRule ApproximateTopKRule(const Op& op) {
  RuleMaker maker(op);
  const Attribute reduced = FieldOf(op, "mhlo.backend_config", "reduction_dim");
  const size_t count = op.result_count();
  if (!reduced.Is(AttributeKind::kInteger) || op.operand_count() != 2 * count) {
    return std::move(maker).Finish("the custom call ApproxTopK has no reduction_dim");
  }
  for (int d = 0; d < static_cast<int>(op.result(0)->type().rank()); ++d) {
    if (d == reduced.integer()) continue;
    Factor factor = maker.Blank(maker.ResultSize(0, d), d);
    for (size_t i = 0; i < count; ++i) factor.operands[i] = d;
    maker.Add(std::move(factor));
  }
  return std::move(maker).Finish(
      StrCat("an approximate top_k needs all of dimension ", reduced.integer()));
}

}  // namespace

AxisRule BatchNormRule(const Op& op) {
  const auto features = static_cast<int>(op.Get("feature_index").integer());
  const auto rank = static_cast<int>(op.operand(0)->type().rank());
  RuleMaker maker(op);
  Factor by_feature = maker.Blank(maker.OperandSize(0, features));
  // Operands and results are either of the full shape or have one number a feature, which for
  // an operand of one dimension is the same.
  for (size_t i = 0; i < op.operand_count(); ++i) {
    by_feature.operands[i] = op.operand(i)->type().rank() == 1 ? 0 : features;
  }
  for (size_t i = 0; i < op.result_count(); ++i) {
    by_feature.results[i] = op.result(i)->type().rank() == 1 ? 0 : features;
  }
  maker.Add(std::move(by_feature));
  if (op.Is(Opcode::kBatchNormInference)) {
    for (int d = 0; d < rank; ++d) {
      if (d == features) continue;
      Factor factor = maker.Blank(maker.OperandSize(0, d), d);
      factor.operands[0] = d;
      maker.Add(std::move(factor));
    }
    return std::move(maker).Finish("");
  }
  return std::move(maker).Finish("batch normalization needs the statistics of the whole batch");
}

AxisRule CholeskyRule(const Op& op) {
  const auto rank = static_cast<int>(op.operand(0)->type().rank());
  RuleMaker maker(op);
  for (int d = 0; d < rank - 2; ++d) AddBatch(maker, op, d);
  return std::move(maker).Finish(MatrixReason("cholesky", rank));
}

AxisRule TriangularSolveRule(const Op& op) {
  const auto rank = static_cast<int>(op.operand(0)->type().rank());
  RuleMaker maker(op);
  for (int d = 0; d < rank - 2; ++d) AddBatch(maker, op, d);
  const bool matrix_is_left = op.Get("left_side").integer() != 0;
  AddRightHandSides(maker, op, matrix_is_left);
  return std::move(maker).Finish(StrCat("triangular_solve needs all of its matrix and dimension ",
                                        matrix_is_left ? rank - 2 : rank - 1,
                                        " of the right-hand sides"));
}

AxisRule FftRule(const Op& op) {
  const auto rank = static_cast<int>(op.operand(0)->type().rank());
  const auto first = rank - static_cast<int>(op.Get("fft_length").integers().size());
  RuleMaker maker(op);
  for (int d = 0; d < first; ++d) AddBatch(maker, op, d);
  std::string reason = StrCat("fft needs all of dimension ", first);
  for (int d = first + 1; d < rank; ++d) reason += StrCat(" and dimension ", d);
  return std::move(maker).Finish(std::move(reason));
}

AxisRule CustomCallRule(const Op& op) {
  const std::string_view target = op.Get("call_target_name").text();
  RuleMaker maker(op);
  const Attribute effects = op.Get("has_side_effect");
  if (effects.Is(AttributeKind::kInteger) && effects.integer() != 0) {
    return std::move(maker).Finish(StrCat("the custom call ", target, " has side effects"));
  }
  if (target == "ApproxTopK") return ApproximateTopKRule(op);
  const std::optional<int> batches = BatchDimensionCount(op);
  for (int d = 0; d < batches.value_or(0) && AllHave(op, d); ++d) AddBatch(maker, op, d);
  if (IsTriangularSolve(target)) {
    const Attribute side = FieldOf(op, "mhlo.backend_config", "side");
    if (side.Is(AttributeKind::kInteger)) AddRightHandSides(maker, op, side.integer() == 'L');
    return std::move(maker).Finish("a triangular solve needs all of its matrix");
  }
  if (!batches) {
    return std::move(maker).Finish(StrCat("the custom call ", target, " is not known"));
  }
  return std::move(maker).Finish(
      StrCat("only the batches of the custom call ", target, " are known"));
}

}  // namespace plimsoll
