#include "kernels/turn_ops.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

bool IsCommutative(const TileOp& op) {
  switch (op.opcode) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kOr:
    case Opcode::kXor:
      return op.kind == TileOpKind::kCompute;
    case Opcode::kCompare:
      return op.comparison == Comparison::kEqual || op.comparison == Comparison::kNotEqual;
    default:
      return false;
  }
}

}  // namespace

TileArray Turned(TileArray array) {
  for (int& axis : array.axes) {
    if (axis == kRowAxis || axis == kColumnAxis) axis = kRowAxis + kColumnAxis - axis;
  }
  return array;
}

std::optional<int> OpTurner::Find(const TileOp& op) const {
  const auto found = llvm::find(program_.ops, op);
  if (found == program_.ops.end()) return std::nullopt;
  return static_cast<int>(found - program_.ops.begin());
}

int OpTurner::Intern(TileOp op) {
  if (const std::optional<int> found = Find(op)) return *found;
  if (IsCommutative(op)) {
    TileOp other = op;
    std::swap(other.operands[0], other.operands[1]);
    if (const std::optional<int> found = Find(other)) return *found;
  }
  program_.ops.push_back(std::move(op));
  return static_cast<int>(program_.ops.size()) - 1;
}

int OpTurner::WithOperands(TileOp op, std::vector<int> operands) {
  op.axes = 0;
  for (const int operand : operands) op.axes |= program_.ops[static_cast<size_t>(operand)].axes;
  if (op.kind == TileOpKind::kFold) op.axes &= ~AxisBit(op.index);
  op.operands = std::move(operands);
  return Intern(std::move(op));
}

int OpTurner::Plain(TurnedValue value) {
  if (value.factor == 1) return value.op;
  const ScalarType type = program_.ops[static_cast<size_t>(value.op)].type;
  TileOp op = {.kind = TileOpKind::kCompute, .type = type, .opcode = Opcode::kNegate};
  if (value.factor == -1) return WithOperands(std::move(op), {value.op});
  op.opcode = Opcode::kMultiply;
  const uint64_t bits = type == ScalarType::kF64
                            ? std::bit_cast<uint64_t>(value.factor)
                            : std::bit_cast<uint32_t>(static_cast<float>(value.factor));
  const int factor = Intern({.kind = TileOpKind::kConstant, .type = type, .bits = bits});
  return WithOperands(std::move(op), {factor, value.op});
}

// Of two values, for an op of their type.
TurnedValue OpTurner::Difference(const TileOp& op, int a, int b) {
  TileOp difference = op;
  difference.opcode = Opcode::kSubtract;
  difference.axes =
      program_.ops[static_cast<size_t>(a)].axes | program_.ops[static_cast<size_t>(b)].axes;
  difference.operands = {b, a};
  if (const std::optional<int> found = Find(difference)) return {.op = *found, .factor = -1};
  return {.op = WithOperands(std::move(difference), {a, b})};
}

int OpTurner::Sum(TileOp op, int a, int b) {
  op.opcode = Opcode::kAdd;
  return WithOperands(std::move(op), {a, b});
}

std::optional<TurnedValue> OpTurner::TurnSum(const TileOp& op, TurnedValue a, TurnedValue b) {
  if (op.opcode == Opcode::kSubtract) b.factor = -b.factor;
  if (a.factor == b.factor) return TurnedValue{.op = Sum(op, a.op, b.op), .factor = a.factor};
  if (a.factor != -b.factor) return TurnedValue{.op = Sum(op, Plain(a), Plain(b))};
  TurnedValue difference = Difference(op, a.op, b.op);
  difference.factor *= a.factor;
  return difference;
}

std::optional<TurnedValue> OpTurner::TurnNew(int number) {
  const TileOp op = program_.ops[static_cast<size_t>(number)];
  if ((op.axes & (kRowBit | kColumnBit)) == 0) return TurnedValue{.op = number};
  if (op.kind == TileOpKind::kLoad) return turn_load_(number);
  if (op.kind == TileOpKind::kIota) {
    TileOp other = op;
    other.index = kRowAxis + kColumnAxis - op.index;
    other.axes = AxisBit(other.index);
    return TurnedValue{.op = Intern(std::move(other))};
  }
  std::vector<TurnedValue> operands;
  for (const int operand : op.operands) {
    const std::optional<TurnedValue> turned = Turn(operand);
    if (!turned) return std::nullopt;
    operands.push_back(*turned);
  }
  const TurnedValue& first = operands[0];
  switch (op.opcode) {
    case Opcode::kAdd:
      if (op.kind == TileOpKind::kFold) {
        return TurnedValue{.op = WithOperands(op, {first.op}), .factor = first.factor};
      }
      return TurnSum(op, first, operands[1]);
    case Opcode::kSubtract:
      return TurnSum(op, first, operands[1]);
    case Opcode::kMultiply:
      if (op.kind == TileOpKind::kFold) break;
      return TurnedValue{.op = WithOperands(op, {first.op, operands[1].op}),
                         .factor = first.factor * operands[1].factor};
    case Opcode::kNegate:
      return TurnedValue{.op = WithOperands(op, {first.op}), .factor = first.factor};
    case Opcode::kAbs:
      return TurnedValue{.op = WithOperands(op, {first.op}), .factor = std::abs(first.factor)};
    case Opcode::kChloSquare:
      return TurnedValue{.op = WithOperands(op, {first.op}), .factor = first.factor * first.factor};
    case Opcode::kDivide:
    case Opcode::kAtan2:
      // The negative of a zero is another zero, which is a difference to these.
      if (operands[1].factor < 0 || (first.factor < 0 && op.opcode == Opcode::kAtan2)) {
        return std::nullopt;
      }
      if (!IsFloat(op.type) || op.opcode == Opcode::kAtan2) break;
      return TurnedValue{.op = WithOperands(op, {first.op, operands[1].op}),
                         .factor = first.factor / operands[1].factor};
    default:
      break;
  }
  std::vector<int> plain;
  for (const TurnedValue& operand : operands) plain.push_back(Plain(operand));
  return TurnedValue{.op = WithOperands(op, std::move(plain))};
}

std::optional<TurnedValue> OpTurner::Turn(int op) {
  const auto found = turned_.find(op);
  if (found != turned_.end()) return found->second;
  const std::optional<TurnedValue> turned = TurnNew(op);
  turned_[op] = turned;
  return turned;
}

std::optional<int> OpTurner::TurnedOp(int op) {
  const std::optional<TurnedValue> turned = Turn(op);
  if (!turned) return std::nullopt;
  return Plain(*turned);
}

}  // namespace plimsoll
