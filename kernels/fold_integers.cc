#include "kernels/fold_integers.h"

#include "kernels/comparison.h"

namespace plimsoll {
namespace {

int WidthOf(ScalarType type) { return type == ScalarType::kI1 ? 1 : 8 * BytesOf(type); }

uint64_t Truncate(ScalarType type, uint64_t bits) {
  const int unused = 64 - WidthOf(type);
  return bits << unused >> unused;
}

// The number that the bits stand for, in 64 bits.
int64_t Extend(ScalarType type, uint64_t bits) {
  if (InfoOf(type).kind != ScalarKind::kSigned) return static_cast<int64_t>(bits);
  const int unused = 64 - WidthOf(type);
  return static_cast<int64_t>(bits << unused) >> unused;
}

// True if a is less than b.
bool IsLess(ScalarType type, uint64_t a, uint64_t b) {
  return InfoOf(type).kind == ScalarKind::kSigned ? Extend(type, a) < Extend(type, b) : a < b;
}

}  // namespace

std::optional<uint64_t> FoldIntegers(const LoopOp& op, ScalarType operand_type,
                                     llvm::ArrayRef<uint64_t> operands) {
  if (IsFloat(operand_type) || IsFloat(op.type)) return std::nullopt;
  const uint64_t a = operands[0];
  const uint64_t b = operands.size() > 1 ? operands[1] : 0;
  const auto wrapped = [&](uint64_t bits) { return Truncate(op.type, bits); };
  const auto width = static_cast<uint64_t>(WidthOf(operand_type));
  switch (op.opcode) {
    case Opcode::kAdd:
      return wrapped(a + b);
    case Opcode::kSubtract:
      return wrapped(a - b);
    case Opcode::kMultiply:
      return wrapped(a * b);
    case Opcode::kNegate:
      return wrapped(0 - a);
    case Opcode::kAnd:
      return a & b;
    case Opcode::kOr:
      return a | b;
    case Opcode::kXor:
      return a ^ b;
    case Opcode::kNot:
      return wrapped(~a);
    case Opcode::kMaximum:
      return IsLess(operand_type, a, b) ? b : a;
    case Opcode::kMinimum:
      return IsLess(operand_type, b, a) ? b : a;
    case Opcode::kClamp: {
      const uint64_t raised = IsLess(operand_type, b, a) ? a : b;
      return IsLess(operand_type, operands[2], raised) ? operands[2] : raised;
    }
    case Opcode::kShiftLeft:
      return b >= width ? 0 : wrapped(a << b);
    case Opcode::kShiftRightLogical:
      return b >= width ? 0 : a >> b;
    case Opcode::kSelect:
      return a != 0 ? b : operands[2];
    case Opcode::kCompare:
      return InfoOf(operand_type).kind == ScalarKind::kSigned
                 ? Compare(op.comparison, Extend(operand_type, a), Extend(operand_type, b))
                 : Compare(op.comparison, a, b);
    case Opcode::kConvert:
      if (op.type == ScalarType::kI1) return a != 0 ? 1 : 0;
      return wrapped(static_cast<uint64_t>(Extend(operand_type, a)));
    case Opcode::kBitcastConvert:
      return a;
    default:
      return std::nullopt;
  }
}

}  // namespace plimsoll
