#include "ir/infer_types.h"

#include <optional>

#include "ir/dimensions.h"
#include "ir/infer_rules.h"
#include "llvm/Support/ErrorHandling.h"

namespace plimsoll {

InferredTypes InferExplicit(const OpView& op) {
  return op.Error("its result types do not follow from its operands");
}

InferredTypes InferNoResult(const OpView& /*op*/) { return std::vector<Type>(); }

InferredTypes InferSameAsOperands(const OpView& op) { return std::vector<Type>(op.operands()); }

InferredTypes InferSameAsOperand(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  return std::vector<Type>(op.operands());
}

InferredTypes InferBranches(const OpView& op) {
  if (op.regions().empty()) return op.Error("expected at least 1 region, found none");
  ASSIGN_OR_RETURN(std::vector<Type> results, op.ReturnedTypes(0));
  for (size_t r = 1; r < op.regions().size(); ++r) {
    ASSIGN_OR_RETURN(const std::vector<Type> others, op.ReturnedTypes(r));
    if (others.size() != results.size()) {
      return op.Error("region 0 returns ", results.size(), " values, region ", r, " returns ",
                      others.size());
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const std::optional<Type> either = LeastSpecific(op.context(), results[i], others[i]);
      if (!either) {
        return op.Error("value ", i, " that region 0 returns has type ", results[i].ToString(),
                        ", that of region ", r, " has type ", others[i].ToString());
      }
      results[i] = *either;
    }
  }
  return results;
}

InferredTypes InferAsyncStart(const OpView& op) {
  ASSIGN_OR_RETURN(const std::vector<Type> returned, op.ReturnedTypes(0));
  return std::vector<Type>{op.context().FutureType(returned)};
}

InferredTypes InferAsyncDone(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  const Type operand = op.operands()[0];
  if (!operand.Is(TypeKind::kFuture)) {
    return op.Error("operand 0 must be a future, found ", operand.ToString());
  }
  return std::vector<Type>(operand.members());
}

InferredTypes InferToken(const OpView& op) { return std::vector<Type>{op.context().TokenType()}; }

InferredTypes InferDeviceId(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(0));
  return std::vector<Type>{
      op.context().TensorType({}, op.context().IntegerType(32, Signedness::kUnsigned))};
}

InferredTypes InferTuple(const OpView& op) {
  return std::vector<Type>{op.context().TupleType(op.operands())};
}

InferredTypes InferTupleElement(const OpView& op) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  const Type operand = op.operands()[0];
  if (!operand.Is(TypeKind::kTuple)) {
    return op.Error("operand 0 must be a tuple, found ", operand.ToString());
  }
  ASSIGN_OR_RETURN(const int64_t index, op.Integer("index"));
  if (index < 0 || static_cast<uint64_t>(index) >= operand.members().size()) {
    return op.Error("index is ", index, ", but operand 0 has ", operand.members().size(),
                    " members");
  }
  return std::vector<Type>{operand.members()[index]};
}

StatusOr<std::vector<Type>> InferResultTypes(const OpView& op) {
  for (size_t i = 0; i < op.operands().size(); ++i) {
    if (!op.operands()[i]) return op.Error("operand ", i, " has no type");
  }
  switch (GetOpInfo(op.opcode()).result_rule) {
#define PLIMSOLL_RULE(identifier) \
  case ResultRule::k##identifier: \
    return Infer##identifier(op);
#include "ir/rules.def"
#undef PLIMSOLL_RULE
  }
  llvm_unreachable("a rule that is not in the table");
}

}  // namespace plimsoll
