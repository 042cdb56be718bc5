// Whether regions take and return what their ops want.

#include <optional>

#include "ir/dimensions.h"
#include "ir/infer_types.h"

namespace plimsoll {
namespace {

constexpr size_t kAnyNumber = ~size_t{0};

size_t RegionCount(Opcode opcode) {
  switch (opcode) {
    case Opcode::kUnknown:
    case Opcode::kCase:
    case Opcode::kComposite:
      return kAnyNumber;
    case Opcode::kIf:
    case Opcode::kSelectAndScatter:
    case Opcode::kWhile:
      return 2;
    case Opcode::kAllReduce:
    case Opcode::kAsyncStart:
    case Opcode::kChloScan:
    case Opcode::kCollectiveReduce:
    case Opcode::kFunc:
    case Opcode::kMap:
    case Opcode::kModule:
    case Opcode::kReduce:
    case Opcode::kReduceScatter:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSdyManualComputation:
    case Opcode::kSdyNamedComputation:
    case Opcode::kSort:
      return 1;
    default:
      return 0;
  }
}

std::string ListTypes(llvm::ArrayRef<Type> types) {
  std::string text = "(";
  for (size_t i = 0; i < types.size(); ++i) {
    if (i != 0) text += ", ";
    text += types[i].ToString();
  }
  return text + ")";
}

Status ExpectCompatible(const OpView& op, size_t region, std::string_view verb,
                        llvm::ArrayRef<Type> expected, llvm::ArrayRef<Type> found) {
  if (llvm::equal(expected, found, [](Type a, Type b) { return AreCompatible(a, b); })) {
    return OkStatus();
  }
  return op.Error("region ", region, " must ", verb, " ", ListTypes(expected), ", found ",
                  ListTypes(found));
}

Status ExpectArguments(const OpView& op, size_t region, llvm::ArrayRef<Type> expected) {
  ASSIGN_OR_RETURN(const std::vector<Type> found, op.ArgumentTypes(region));
  return ExpectCompatible(op, region, "take", expected, found);
}

Status ExpectReturned(const OpView& op, size_t region, llvm::ArrayRef<Type> expected) {
  ASSIGN_OR_RETURN(const std::vector<Type> found, op.ReturnedTypes(region));
  return ExpectCompatible(op, region, "return", expected, found);
}

Type Boolean(const OpView& op) { return op.context().TensorType({}, op.context().IntegerType(1)); }

StatusOr<Type> ScalarOf(const OpView& op, size_t operand) {
  ASSIGN_OR_RETURN(const Type tensor, op.Tensor(operand));
  return op.context().TensorType({}, tensor.element_type());
}

bool AreBothFloats(Type a, Type b) { return a.Is(TypeKind::kFloat) && b.Is(TypeKind::kFloat); }

// A reduction may go on in wider elements of the same kind, floats in any.
bool CanBecome(Type from, Type to) {
  if (AreCompatibleElements(from, to) || AreBothFloats(from, to)) return true;
  if (!from || !to || from.kind() != to.kind()) return false;
  if (IsQuantized(from) && from.element_type() != to.element_type()) return false;
  const std::optional<int64_t> from_size = from.bytes_per_element();
  const std::optional<int64_t> to_size = to.bytes_per_element();
  return from_size && to_size && *from_size <= *to_size;
}

// That a region takes two values for each input and returns their reduction. The first half of the
// arguments is what was reduced so far, starting with `initial`.
Status CheckReducer(const OpView& op, size_t region, llvm::ArrayRef<Type> inputs,
                    llvm::ArrayRef<Type> initial) {
  ASSIGN_OR_RETURN(const std::vector<Type> arguments, op.ArgumentTypes(region));
  ASSIGN_OR_RETURN(const std::vector<Type> returned, op.ReturnedTypes(region));
  const size_t count = inputs.size();
  if (arguments.size() != 2 * count) {
    return op.Error("region ", region, " must take ", 2 * count, " values, found ",
                    ListTypes(arguments));
  }
  if (returned.size() != count) {
    return op.Error("region ", region, " must return ", count, " values, found ",
                    ListTypes(returned));
  }
  for (size_t i = 0; i < count; ++i) {
    const Type so_far = arguments[i];
    const Type next = arguments[count + i];
    for (const Type type : {so_far, next, returned[i], inputs[i], initial[i]}) {
      if (!type.Is(TypeKind::kTensor)) {
        return op.Error("region ", region, " must reduce tensors, found ", type.ToString());
      }
    }
    if (!AreCompatible(so_far, returned[i])) {
      return op.Error("region ", region, " must return what it takes, found ", so_far.ToString(),
                      " and ", returned[i].ToString());
    }
    if (!HaveCompatibleShapes(so_far, next) ||
        !(AreCompatibleElements(so_far.element_type(), next.element_type()) ||
          AreBothFloats(so_far.element_type(), next.element_type()))) {
      return op.Error("region ", region, " must take two of the same type, found ",
                      so_far.ToString(), " and ", next.ToString());
    }
    if (!HaveCompatibleShapes(initial[i], so_far) ||
        !CanBecome(initial[i].element_type(), so_far.element_type())) {
      return op.Error("region ", region, " must take an initial value of type ",
                      initial[i].ToString(), ", found ", so_far.ToString());
    }
    if (!CanBecome(inputs[i].element_type(), next.element_type())) {
      return op.Error("region ", region, " must take elements of ", inputs[i].ToString(),
                      ", found ", next.ToString());
    }
  }
  return OkStatus();
}

// Reduce and reduce_window: inputs, then as many initial values.
Status CheckReduce(const OpView& op) {
  const size_t count = op.operands().size() / 2;
  return CheckReducer(op, 0, op.operands().take_front(count), op.operands().take_back(count));
}

// Collectives reduce each operand by itself.
Status CheckCollective(const OpView& op, llvm::ArrayRef<Type> operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    ASSIGN_OR_RETURN(const Type scalar, ScalarOf(op, i));
    RETURN_IF_ERROR(CheckReducer(op, 0, scalar, scalar));
  }
  return OkStatus();
}

Status CheckScatter(const OpView& op) {
  const size_t count = op.operands().size() / 2;
  llvm::SmallVector<Type> updates;
  for (size_t i = op.operands().size() - count; i < op.operands().size(); ++i) {
    ASSIGN_OR_RETURN(const Type scalar, ScalarOf(op, i));
    updates.push_back(scalar);
  }
  return CheckReducer(op, 0, op.operands().take_front(count), updates);
}

Status CheckSelectAndScatter(const OpView& op) {
  ASSIGN_OR_RETURN(const Type selected, ScalarOf(op, 0));
  ASSIGN_OR_RETURN(const Type source, ScalarOf(op, 1));
  ASSIGN_OR_RETURN(const Type initial, op.Tensor(2));
  ASSIGN_OR_RETURN(const std::vector<Type> arguments, op.ArgumentTypes(0));
  const auto fits = [&](Type argument) {
    return argument.Is(TypeKind::kTensor) && argument.rank() == 0 &&
           CanBecome(selected.element_type(), argument.element_type());
  };
  if (arguments.size() != 2 || !fits(arguments[0]) || !fits(arguments[1])) {
    return op.Error("region 0 must take two of ", selected.ToString(), ", found ",
                    ListTypes(arguments));
  }
  RETURN_IF_ERROR(ExpectReturned(op, 0, Boolean(op)));
  return CheckReducer(op, 1, source, initial);
}

Status CheckSort(const OpView& op) {
  llvm::SmallVector<Type> pairs;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    ASSIGN_OR_RETURN(const Type scalar, ScalarOf(op, i));
    pairs.append(2, scalar);
  }
  RETURN_IF_ERROR(ExpectArguments(op, 0, pairs));
  return ExpectReturned(op, 0, Boolean(op));
}

Status CheckMap(const OpView& op) {
  llvm::SmallVector<Type> scalars;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    ASSIGN_OR_RETURN(const Type scalar, ScalarOf(op, i));
    scalars.push_back(scalar);
  }
  return ExpectArguments(op, 0, scalars);
}

Status CheckWhile(const OpView& op) {
  RETURN_IF_ERROR(ExpectArguments(op, 0, op.operands()));
  RETURN_IF_ERROR(ExpectReturned(op, 0, Boolean(op)));
  RETURN_IF_ERROR(ExpectArguments(op, 1, op.operands()));
  return ExpectReturned(op, 1, op.operands());
}

Status CheckBranches(const OpView& op, unsigned selector_width) {
  RETURN_IF_ERROR(op.ExpectOperands(1));
  if (!IsScalarInteger(op.operands()[0], selector_width)) {
    return op.Error("operand 0 must be tensor<i", selector_width, ">, found ",
                    op.operands()[0].ToString());
  }
  for (size_t r = 0; r < op.regions().size(); ++r) RETURN_IF_ERROR(ExpectArguments(op, r, {}));
  return OkStatus();
}

Status CheckFunction(const OpView& op) {
  const Attribute attribute = op.Find("function_type");
  if (!attribute.Is(AttributeKind::kType) || !attribute.type().Is(TypeKind::kFunction)) {
    return op.Error("attribute function_type must be a function type");
  }
  // A function that is only declared has no body.
  if (!op.HasBody(0)) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Type> arguments, op.ArgumentTypes(0));
  if (llvm::ArrayRef<Type>(arguments) != attribute.type().inputs()) {
    return op.Error("it is said to take ", ListTypes(attribute.type().inputs()), ", but takes ",
                    ListTypes(arguments));
  }
  ASSIGN_OR_RETURN(const std::vector<Type> returned, op.ReturnedTypes(0));
  if (llvm::ArrayRef<Type>(returned) != attribute.type().outputs()) {
    return op.Error("it is said to return ", ListTypes(attribute.type().outputs()),
                    ", but returns ", ListTypes(returned));
  }
  return OkStatus();
}

// Inside, tensors are the part of one device, so that only their number is known.
Status CheckManualComputation(const OpView& op, llvm::ArrayRef<Type> results) {
  ASSIGN_OR_RETURN(const std::vector<Type> arguments, op.ArgumentTypes(0));
  ASSIGN_OR_RETURN(const std::vector<Type> returned, op.ReturnedTypes(0));
  if (arguments.size() != op.operands().size()) {
    return op.Error("region 0 must take ", op.operands().size(), " values, found ",
                    arguments.size());
  }
  if (returned.size() != results.size()) {
    return op.Error("region 0 must return ", results.size(), " values, found ", returned.size());
  }
  return OkStatus();
}

}  // namespace

Status CheckRegions(const OpView& op, llvm::ArrayRef<Type> results) {
  const size_t count = RegionCount(op.opcode());
  if (count != kAnyNumber) RETURN_IF_ERROR(op.ExpectRegions(count));
  switch (op.opcode()) {
    case Opcode::kAllReduce:
      return CheckCollective(op, op.operands());
    case Opcode::kAsyncStart:
    case Opcode::kSdyNamedComputation:
      return ExpectArguments(op, 0, op.operands());
    case Opcode::kCase:
      return CheckBranches(op, 32);
    case Opcode::kCollectiveReduce: {
      const size_t roots = op.HasFlag("has_dynamic_root") && !op.operands().empty() ? 1 : 0;
      return CheckCollective(op, op.operands().drop_back(roots));
    }
    case Opcode::kFunc:
      return CheckFunction(op);
    case Opcode::kIf:
      return CheckBranches(op, 1);
    case Opcode::kMap:
      return CheckMap(op);
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return CheckReduce(op);
    case Opcode::kReduceScatter:
      return CheckCollective(op, op.operands());
    case Opcode::kScatter:
      return CheckScatter(op);
    case Opcode::kSdyManualComputation:
      return CheckManualComputation(op, results);
    case Opcode::kSelectAndScatter:
      return CheckSelectAndScatter(op);
    case Opcode::kSort:
      return CheckSort(op);
    case Opcode::kWhile:
      return CheckWhile(op);
    default:
      return OkStatus();
  }
}

}  // namespace plimsoll
