#include "kernels/loop_program.h"

#include <cstddef>
#include <utility>

#include "kernels/tile_program.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Numbers of one array, which are one op each.
constexpr int64_t kMostElements = 1 << 16;

template <typename... Parts>
Status Error(const Parts&... parts) {
  return Status(ErrorCode::kInvalidProgram, StrCat("loop program: ", parts...));
}

int Append(LoopProgram& program, LoopOp op) {
  program.ops.push_back(std::move(op));
  return static_cast<int>(program.ops.size()) - 1;
}

Status ExpectOps(const LoopProgram& program, llvm::ArrayRef<int> operands) {
  for (const int operand : operands) {
    if (operand < 0 || operand >= static_cast<int>(program.ops.size())) {
      return Error("%", operand, " is used before it is made");
    }
  }
  return OkStatus();
}

// `in_loop` says it of the ops before.
bool IsInLoop(const LoopOp& op, const std::vector<bool>& in_loop) {
  return op.kind == LoopOpKind::kState || llvm::any_of(op.operands, [&](int operand) {
           return in_loop[static_cast<size_t>(operand)];
         });
}

Status ExpectArray(const LoopArray& array) {
  int64_t count = 1;
  for (const int64_t length : array.dimensions) {
    if (length == kBatchDimension || length == kStepDimension) continue;
    if (length <= 0 || length > kMostElements / count) {
      return Error("an array has a dimension of ", length);
    }
    count *= length;
  }
  if (llvm::count(array.dimensions, kBatchDimension) > 1 ||
      llvm::count(array.dimensions, kStepDimension) > 1) {
    return Error("an array has the batch or steps twice");
  }
  return OkStatus();
}

// A number that says which step.
Status ExpectStep(const LoopProgram& program, int step) {
  RETURN_IF_ERROR(ExpectOps(program, {step}));
  if (!IsInteger(program.op(step).type) || program.op(step).varies) {
    return Error("%", step, " does not say which step");
  }
  return OkStatus();
}

Status ExpectState(const LoopProgram& program, const LoopOp& state) {
  RETURN_IF_ERROR(ExpectOps(program, {state.index}));
  const LoopOp& next = program.op(state.index);
  if (next.type != state.type || (next.varies && !state.varies)) {
    return Error("%", state.index, " does not fit the state that it becomes");
  }
  return OkStatus();
}

// That a state stays as it is for elements of the batch that are done.
Status ExpectEnd(const LoopProgram& program, int number) {
  const LoopOp& state = program.op(number);
  const LoopOp& next = program.op(state.index);
  const bool keeps = state.index == number ||
                     (next.opcode == Opcode::kSelect && next.operands[0] == program.condition &&
                      next.operands[2] == number);
  if (!keeps) return Error("%", number, " changes for elements that are done");
  return OkStatus();
}

Status ExpectResult(const LoopProgram& program, const LoopResult& result,
                    const std::vector<bool>& in_loop) {
  RETURN_IF_ERROR(ExpectArray(result.array));
  RETURN_IF_ERROR(ExpectOps(program, result.values));
  const bool has_steps = result.array.HasSteps();
  if (static_cast<int64_t>(result.values.size()) != result.array.ElementCount()) {
    return Error("a result has ", result.values.size(), " values");
  }
  for (const int value : result.values) {
    const LoopOp& op = program.op(value);
    if (op.type != result.array.type || (op.varies && !result.array.HasBatch())) {
      return Error("%", value, " does not fit its result");
    }
    if (!has_steps && op.kind != LoopOpKind::kState && in_loop[static_cast<size_t>(value)]) {
      return Error("%", value, " is not there after the last turn");
    }
  }
  if (!has_steps) {
    if (result.step != -1 || result.fill != -1) return Error("a result has no steps");
    return OkStatus();
  }
  RETURN_IF_ERROR(ExpectStep(program, result.step));
  if (result.fill == -1) return OkStatus();
  RETURN_IF_ERROR(ExpectOps(program, {result.fill}));
  const LoopOp& fill = program.op(result.fill);
  if (fill.type != result.array.type || fill.varies || in_loop[static_cast<size_t>(result.fill)]) {
    return Error("%", result.fill, " does not fill a result");
  }
  return OkStatus();
}

}  // namespace

bool LoopArray::HasBatch() const { return llvm::is_contained(dimensions, kBatchDimension); }

bool LoopArray::HasSteps() const { return llvm::is_contained(dimensions, kStepDimension); }

int64_t LoopArray::ElementCount() const {
  int64_t count = 1;
  for (const int64_t length : dimensions) count *= length > 0 ? length : 1;
  return count;
}

std::vector<bool> LoopProgram::InLoop() const {
  std::vector<bool> in_loop;
  for (const LoopOp& op : ops) in_loop.push_back(IsInLoop(op, in_loop));
  return in_loop;
}

Status AddOperand(LoopProgram& program, LoopArray array) {
  RETURN_IF_ERROR(ExpectArray(array));
  program.operands.push_back(std::move(array));
  return OkStatus();
}

StatusOr<int> AddLoad(LoopProgram& program, int operand, int64_t element, int step) {
  if (operand < 0 || operand >= static_cast<int>(program.operands.size())) {
    return Error("there is no operand ", operand);
  }
  const LoopArray& array = program.operands[static_cast<size_t>(operand)];
  if (element < 0 || element >= array.ElementCount()) {
    return Error("operand ", operand, " has no element ", element);
  }
  if (array.HasSteps() != (step >= 0)) return Error("operand ", operand, " is read at no step");
  LoopOp op = {.kind = LoopOpKind::kLoad,
               .type = array.type,
               .varies = array.HasBatch(),
               .index = operand,
               .element = element};
  if (step >= 0) {
    RETURN_IF_ERROR(ExpectStep(program, step));
    op.operands.push_back(step);
  }
  return Append(program, std::move(op));
}

StatusOr<int> AddPosition(LoopProgram& program, ScalarType type) {
  if (type == ScalarType::kI1) return Error("positions are no predicates");
  return Append(program, {.kind = LoopOpKind::kPosition, .type = type, .varies = true});
}

int AddConstant(LoopProgram& program, ScalarType type, uint64_t bits) {
  const int unused = 64 - 8 * BytesOf(type);
  bits = bits << unused >> unused;
  return Append(program, {.kind = LoopOpKind::kConstant, .type = type, .bits = bits});
}

StatusOr<int> AddState(LoopProgram& program, bool varies, int first) {
  RETURN_IF_ERROR(ExpectOps(program, {first}));
  const LoopOp& op = program.op(first);
  if (op.varies && !varies) return Error("%", first, " does not fit the state that it begins");
  return Append(
      program,
      {.kind = LoopOpKind::kState, .type = op.type, .varies = varies, .operands = {first}});
}

StatusOr<int> AddCompute(LoopProgram& program, Opcode opcode, std::vector<int> operands) {
  RETURN_IF_ERROR(ExpectOps(program, operands));
  LoopOp op = {.kind = LoopOpKind::kCompute, .opcode = opcode};
  std::vector<ScalarType> types;
  for (const int operand : operands) {
    types.push_back(program.op(operand).type);
    op.varies |= program.op(operand).varies;
  }
  ASSIGN_OR_RETURN(op.type, TypeOfCompute(opcode, types));
  op.operands = std::move(operands);
  return Append(program, std::move(op));
}

StatusOr<int> AddConvert(LoopProgram& program, Opcode opcode, ScalarType type, int operand) {
  ASSIGN_OR_RETURN(const int op, AddCompute(program, opcode, {operand}));
  if (opcode == Opcode::kBitcastConvert) {
    RETURN_IF_ERROR(ExpectBitcast(program.op(operand).type, type));
  }
  program.ops.back().type = type;
  return op;
}

Status Verify(const LoopProgram& program) {
  LoopProgram again;
  for (const LoopArray& operand : program.operands) RETURN_IF_ERROR(AddOperand(again, operand));
  std::vector<bool> in_loop;
  for (const LoopOp& op : program.ops) {
    StatusOr<int> added = Error("an op has too few operands");
    const bool has_operand = !op.operands.empty();
    switch (op.kind) {
      case LoopOpKind::kLoad:
        added = AddLoad(again, op.index, op.element, has_operand ? op.operands[0] : -1);
        break;
      case LoopOpKind::kPosition:
        added = AddPosition(again, op.type);
        break;
      case LoopOpKind::kConstant:
        added = AddConstant(again, op.type, op.bits);
        break;
      case LoopOpKind::kState:
        if (has_operand) added = AddState(again, op.varies, op.operands[0]);
        if (added.ok() && in_loop[static_cast<size_t>(op.operands[0])]) {
          added = Error("%", op.operands[0], " is not there before the first turn");
        }
        break;
      case LoopOpKind::kCompute:
        if (op.opcode != Opcode::kConvert && op.opcode != Opcode::kBitcastConvert) {
          added = AddCompute(again, op.opcode, op.operands);
        } else if (has_operand) {
          added = AddConvert(again, op.opcode, op.type, op.operands[0]);
        }
        break;
    }
    if (!added.ok()) return added.status();
    LoopOp& made = again.ops.back();
    made.comparison = op.comparison;
    if (op.kind == LoopOpKind::kState) made.index = op.index;
    if (made != op) return Error("%", *added, " is not what its operands give");
    in_loop.push_back(IsInLoop(op, in_loop));
  }
  RETURN_IF_ERROR(ExpectOps(program, {program.condition}));
  const LoopOp& condition = program.op(program.condition);
  if (condition.type != ScalarType::kI1) {
    return Error("%", program.condition, " does not say whether there is another turn");
  }
  for (size_t i = 0; i < program.ops.size(); ++i) {
    if (program.ops[i].kind != LoopOpKind::kState) continue;
    RETURN_IF_ERROR(ExpectState(program, program.ops[i]));
    if (condition.varies) RETURN_IF_ERROR(ExpectEnd(program, static_cast<int>(i)));
  }
  for (const LoopResult& result : program.results) {
    RETURN_IF_ERROR(ExpectResult(program, result, in_loop));
    if (condition.varies && result.array.HasSteps()) {
      return Error("elements of the batch that have ends of their own write no steps");
    }
  }
  return OkStatus();
}

LoopProgram WithoutUnusedOps(const LoopProgram& program) {
  std::vector<bool> used(program.ops.size(), false);
  std::vector<int> open = {program.condition};
  for (const LoopResult& result : program.results) {
    llvm::append_range(open, result.values);
    for (const int op : {result.step, result.fill}) {
      if (op >= 0) open.push_back(op);
    }
  }
  while (!open.empty()) {
    const int number = open.back();
    open.pop_back();
    if (used[static_cast<size_t>(number)]) continue;
    used[static_cast<size_t>(number)] = true;
    const LoopOp& op = program.op(number);
    llvm::append_range(open, op.operands);
    if (op.kind == LoopOpKind::kState) open.push_back(op.index);
  }
  std::vector<int> numbers(program.ops.size(), -1);
  int count = 0;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) numbers[i] = count++;
  }
  const auto renumber = [&](int& op) { op = op < 0 ? op : numbers[static_cast<size_t>(op)]; };
  LoopProgram kept = {
      .operands = program.operands, .ops = {}, .condition = -1, .results = program.results};
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    LoopOp op = program.ops[i];
    llvm::for_each(op.operands, renumber);
    if (op.kind == LoopOpKind::kState) renumber(op.index);
    kept.ops.push_back(std::move(op));
  }
  kept.condition = numbers[static_cast<size_t>(program.condition)];
  for (LoopResult& result : kept.results) {
    llvm::for_each(result.values, renumber);
    renumber(result.step);
    renumber(result.fill);
  }
  return kept;
}

}  // namespace plimsoll
