#include "kernels/signs.h"

#include <cstddef>

#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

Sign Opposite(Sign sign) {
  switch (sign) {
    case Sign::kNeverNegative:
      return Sign::kNeverPositive;
    case Sign::kNeverPositive:
      return Sign::kNeverNegative;
    case Sign::kAny:
      return Sign::kAny;
  }
}

Sign ProductOf(Sign a, Sign b) {
  if (a == Sign::kAny || b == Sign::kAny) return Sign::kAny;
  return a == b ? Sign::kNeverNegative : Sign::kNeverPositive;
}

// Of a sum, or of one of both.
Sign BothOf(Sign a, Sign b) { return a == b ? a : Sign::kAny; }

// The larger one is not negative if one of them is not.
Sign LargerOf(Sign a, Sign b) {
  if (a == Sign::kNeverNegative || b == Sign::kNeverNegative) return Sign::kNeverNegative;
  return BothOf(a, b);
}

Sign OfConstant(const TileOp& op) {
  // Zeros of all floats have no bit but that of their sign, which is the highest.
  const int width = 8 * BytesOf(op.type);
  return (op.bits >> (width - 1) & 1) != 0 ? Sign::kNeverPositive : Sign::kNeverNegative;
}

Sign OfReducer(Opcode reducer, Sign a, Sign b) {
  switch (reducer) {
    case Opcode::kAdd:
      return BothOf(a, b);
    case Opcode::kMultiply:
      return ProductOf(a, b);
    case Opcode::kMaximum:
      return LargerOf(a, b);
    case Opcode::kMinimum:
      return Opposite(LargerOf(Opposite(a), Opposite(b)));
    default:
      return Sign::kAny;
  }
}

Sign OfCompute(const TileOp& op, const std::vector<Sign>& signs) {
  const auto sign = [&](size_t operand) {
    return signs[static_cast<size_t>(op.operands[operand])];
  };
  switch (op.opcode) {
    case Opcode::kAbs:
    case Opcode::kChloSquare:
    case Opcode::kExponential:
    case Opcode::kLogistic:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
      return Sign::kNeverNegative;
    case Opcode::kConvert:
      return sign(0);
    case Opcode::kNegate:
      return Opposite(sign(0));
    case Opcode::kMultiply:
      if (op.operands[0] == op.operands[1]) return Sign::kNeverNegative;
      return ProductOf(sign(0), sign(1));
    case Opcode::kDivide:
      return ProductOf(sign(0), sign(1));
    case Opcode::kSubtract:
      return BothOf(sign(0), Opposite(sign(1)));
    case Opcode::kSelect:
      return BothOf(sign(1), sign(2));
    case Opcode::kAdd:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return OfReducer(op.opcode, sign(0), sign(1));
    default:
      return Sign::kAny;
  }
}

}  // namespace

std::vector<Sign> SignsOf(const TileProgram& program) {
  std::vector<Sign> signs;
  for (const TileOp& op : program.ops) {
    Sign sign = Sign::kAny;
    if (IsFloat(op.type)) {
      switch (op.kind) {
        case TileOpKind::kLoad:
          break;
        case TileOpKind::kIota:
          sign = Sign::kNeverNegative;
          break;
        case TileOpKind::kConstant:
          sign = OfConstant(op);
          break;
        case TileOpKind::kCompute:
          sign = OfCompute(op, signs);
          break;
        case TileOpKind::kFold: {
          const Sign folded = signs[static_cast<size_t>(op.operands[0])];
          sign = OfReducer(op.opcode, folded, folded);
          // A product of an odd number of negative ones is negative.
          if (op.opcode == Opcode::kMultiply && folded != Sign::kNeverNegative) sign = Sign::kAny;
          break;
        }
      }
    }
    signs.push_back(sign);
  }
  return signs;
}

}  // namespace plimsoll
