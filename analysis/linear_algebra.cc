#include "analysis/linear_algebra.h"

#include <cstddef>
#include <string_view>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringRef.h"

namespace plimsoll {
namespace {

// "trsm" of lapack_strsm_ffi; "" if the op calls something else.
std::string_view RoutineOf(const Op& op) {
  if (!op.Is(Opcode::kCustomCall)) return {};
  llvm::StringRef target = op.Get("call_target_name").text();
  if (!target.consume_front("lapack_") || !target.consume_back("_ffi") || target.empty()) return {};
  // The first letter is for the type of the elements.
  if (!llvm::StringRef("sdcz").contains(target.front())) return {};
  return target.drop_front();
}

// LAPACK's options are letters; 0 if there is none of that name.
char OptionOf(const Op& op, std::string_view name) {
  const Attribute options = op.Get("mhlo.backend_config");
  if (!options.Is(AttributeKind::kDictionary)) return 0;
  const Attribute letter = options.Find(name);
  return letter.Is(AttributeKind::kInteger) ? static_cast<char>(letter.integer()) : 0;
}

std::optional<TriangularSolve> FromLapack(const Op& op) {
  if (op.operand_count() != 2 || op.result_count() != 1) return std::nullopt;
  const char side = OptionOf(op, "side");
  const char triangle = OptionOf(op, "uplo");
  const char diagonal = OptionOf(op, "diag");
  const char transposed = OptionOf(op, "trans_x");
  const bool is_known = (side == 'L' || side == 'R') && (triangle == 'L' || triangle == 'U') &&
                        (diagonal == 'U' || diagonal == 'N') &&
                        (transposed == 'N' || transposed == 'T' || transposed == 'C');
  if (!is_known) return std::nullopt;
  return TriangularSolve{.matrix = op.operand(0),
                         .sides = op.operand(1),
                         .matrix_is_left = side == 'L',
                         .is_lower = triangle == 'L',
                         .has_unit_diagonal = diagonal == 'U',
                         .transposed = transposed == 'N'   ? Transposed::kNo
                                       : transposed == 'T' ? Transposed::kYes
                                                           : Transposed::kAndConjugated};
}

std::optional<TriangularSolve> FromOp(const Op& op) {
  const std::string_view transposed = op.Get("transpose_a").enumerator();
  if (transposed != "NO_TRANSPOSE" && transposed != "TRANSPOSE" && transposed != "ADJOINT") {
    return std::nullopt;
  }
  return TriangularSolve{.matrix = op.operand(0),
                         .sides = op.operand(1),
                         .matrix_is_left = op.Get("left_side").integer() != 0,
                         .is_lower = op.Get("lower").integer() != 0,
                         .has_unit_diagonal = op.Get("unit_diagonal").integer() != 0,
                         .transposed = transposed == "NO_TRANSPOSE" ? Transposed::kNo
                                       : transposed == "TRANSPOSE"  ? Transposed::kYes
                                                                    : Transposed::kAndConjugated};
}

bool IsSquare(Type type) {
  return type.Is(TypeKind::kTensor) && type.has_static_shape() && type.rank() >= 2 &&
         type.shape().back() == type.shape()[type.rank() - 2];
}

}  // namespace

bool SwapsLastTwo(const Op& op) {
  if (!op.Is(Opcode::kTranspose)) return false;
  const llvm::ArrayRef<int64_t> permutation = op.Get("permutation").integers();
  const auto rank = static_cast<int64_t>(permutation.size());
  return rank >= 2 && permutation[rank - 1] == rank - 2 && permutation[rank - 2] == rank - 1 &&
         llvm::equal(permutation.drop_back(2), llvm::seq(rank - 2));
}

std::optional<TriangularSolve> TriangularSolveOf(const Op& op) {
  std::optional<TriangularSolve> solve;
  if (op.Is(Opcode::kTriangularSolve)) solve = FromOp(op);
  if (RoutineOf(op) == "trsm") solve = FromLapack(op);
  if (!solve || !IsSquare(solve->matrix->type())) return std::nullopt;
  const Type sides = solve->sides->type();
  const bool is_plain = sides.Is(TypeKind::kTensor) && sides.has_static_shape() &&
                        sides.rank() == solve->matrix->type().rank() &&
                        op.result(0)->type() == sides;
  return is_plain ? solve : std::nullopt;
}

std::optional<Factorization> FactorizationOf(const Op& op) {
  const std::string_view routine = RoutineOf(op);
  if (routine != "getrf" && routine != "potrf") return std::nullopt;
  if (op.operand_count() != 1 || op.result_count() == 0 || !IsSquare(op.operand(0)->type()))
    return std::nullopt;
  if (op.operand(0)->type() != op.result(0)->type()) return std::nullopt;
  if (routine == "getrf" && op.result_count() == 3) return Factorization::kLu;
  const char triangle = OptionOf(op, "uplo");
  if (routine == "potrf" && op.result_count() == 2 && (triangle == 'L' || triangle == 'U')) {
    return Factorization::kCholesky;
  }
  return std::nullopt;
}

bool IsLowerCholesky(const Op& op) { return OptionOf(op, "uplo") == 'L'; }

Value* FailureOf(const Op& factorization) {
  if (!FactorizationOf(factorization)) return nullptr;
  return factorization.result(factorization.result_count() - 1);
}

Op* CheckedFactorization(const Value& predicate) {
  const Op* op = predicate.defining_op();
  if (op == nullptr) return nullptr;
  if (op->Is(Opcode::kReduce) && BodyOf(*op) == Opcode::kAnd) {
    return CheckedFactorization(*op->operand(0));
  }
  if (!op->Is(Opcode::kCompare) || op->Get("comparison_direction").enumerator() != "EQ") {
    return nullptr;
  }
  Op* factorization = op->operand(0)->defining_op();
  const bool is_check = factorization != nullptr && FailureOf(*factorization) == op->operand(0) &&
                        ConstantNumber(*op->operand(1)) == 0.0;
  return is_check ? factorization : nullptr;
}

}  // namespace plimsoll
