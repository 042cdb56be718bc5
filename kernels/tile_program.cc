#include "kernels/tile_program.h"

#include <bit>
#include <limits>
#include <utility>

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

enum class Elements : uint8_t { kAll, kBits, kFloats, kIntegers, kNumbers };

struct TileOpInfo {
  Opcode opcode;
  size_t operand_count;
  Elements elements;
};

constexpr TileOpInfo kInfos[] = {
#define PLIMSOLL_TILE_OP(identifier, operand_count, elements) \
  {Opcode::k##identifier, operand_count, Elements::elements},
#include "kernels/tile_ops.def"
#undef PLIMSOLL_TILE_OP
};

const TileOpInfo* FindInfo(Opcode opcode) {
  const TileOpInfo* found =
      llvm::find_if(kInfos, [&](const TileOpInfo& info) { return info.opcode == opcode; });
  return found == std::end(kInfos) ? nullptr : found;
}

bool Allows(Elements elements, ScalarType type) {
  switch (elements) {
    case Elements::kAll:
      return true;
    case Elements::kBits:
      return !IsFloat(type);
    case Elements::kFloats:
      return IsFloat(type);
    case Elements::kIntegers:
      return IsInteger(type);
    case Elements::kNumbers:
      return type != ScalarType::kI1;
  }
  return false;
}

bool IsReducer(Opcode opcode, ScalarType type) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return type != ScalarType::kI1;
    case Opcode::kAnd:
    case Opcode::kOr:
      return !IsFloat(type);
    default:
      return false;
  }
}

template <typename... Parts>
Status Error(const Parts&... parts) {
  return Status(ErrorCode::kInvalidProgram, StrCat("tile program: ", parts...));
}

int Append(TileProgram& program, TileOp op) {
  program.ops.push_back(std::move(op));
  return static_cast<int>(program.ops.size()) - 1;
}

Status ExpectAxis(const TileProgram& program, int axis) {
  if (axis < 0 || axis >= static_cast<int>(program.axes.size())) {
    return Error("there is no axis ", axis);
  }
  return OkStatus();
}

Status ExpectOps(const TileProgram& program, llvm::ArrayRef<int> operands) {
  for (const int operand : operands) {
    if (operand < 0 || operand >= static_cast<int>(program.ops.size())) {
      return Error("%", operand, " is used before it is made");
    }
  }
  return OkStatus();
}

Status ExpectArray(const TileProgram& program, const TileArray& array) {
  AxisSet seen = 0;
  for (const int axis : array.axes) {
    if (axis == kNoAxis) continue;
    RETURN_IF_ERROR(ExpectAxis(program, axis));
    if ((seen & AxisBit(axis)) != 0) return Error("an array has one axis twice");
    seen |= AxisBit(axis);
  }
  return OkStatus();
}

Status ExpectAxes(const TileProgram& program) {
  if (program.axes.size() < 2 || program.axes.size() > kMostAxes ||
      program.axes[kRowAxis].kind != TileAxisKind::kRow ||
      program.axes[kColumnAxis].kind != TileAxisKind::kColumn) {
    return Error("the axes are not a row, a column, and at most ", kMostAxes - 2, " others");
  }
  for (size_t i = 2; i < program.axes.size(); ++i) {
    const TileAxis& axis = program.axes[i];
    const bool is_short = axis.kind == TileAxisKind::kShort || axis.kind == TileAxisKind::kRank;
    if (axis.kind == TileAxisKind::kRow || axis.kind == TileAxisKind::kColumn ||
        (is_short && axis.length <= 0)) {
      return Error("axis ", i, " is a second row or column, or has no length");
    }
  }
  return OkStatus();
}

bool IsNumber(ScalarType type) { return type != ScalarType::kI1; }

// A result that goes with another one.
Status ExpectFollower(const TileProgram& program, const TileResult& result) {
  if (result.follows >= static_cast<int>(program.results.size())) {
    return Error("there is no result ", result.follows, " to go with");
  }
  const TileResult& leader = program.results[static_cast<size_t>(result.follows)];
  const bool leads = leader.follows < 0 && leader.reduced == kColumnBit &&
                     (leader.reducer == Opcode::kMaximum || leader.reducer == Opcode::kMinimum ||
                      leader.reducer == Opcode::kChloTopK);
  if (!leads || result.reduced != leader.reduced || result.array.axes != leader.array.axes ||
      result.reducer != Opcode::kUnknown) {
    return Error("a result does not go with the result ", result.follows);
  }
  return OkStatus();
}

// A result whose rows are reduced in groups.
Status ExpectSegments(const TileProgram& program, const TileResult& result) {
  const AxisSet axes = AxesOf(result.array);
  const AxisSet segments = program.AxesOfKind(TileAxisKind::kSegment);
  if (std::popcount(axes & segments) != (result.segment >= 0 ? 1 : 0)) {
    return Error("results of segments, and only they, have one axis of segments");
  }
  if (result.segment < 0) return OkStatus();
  RETURN_IF_ERROR(ExpectOps(program, {result.segment}));
  const TileOp& segment = program.ops[static_cast<size_t>(result.segment)];
  const AxisSet batch = program.AxesOfKind(TileAxisKind::kBatch);
  if (!IsInteger(segment.type) || (segment.axes & ~(kRowBit | batch)) != 0) {
    return Error("%", result.segment, " is not the number of a row's segment");
  }
  // Vectors are added to the segment, and the batch's elements have segments of their own.
  if (result.reduced != kRowBit || result.follows >= 0 || result.array.axes.back() != kColumnAxis ||
      (axes & batch) != batch) {
    return Error("only rows are grouped in segments, with their columns last");
  }
  return OkStatus();
}

uint64_t FloatBits(ScalarType type, double value) {
  switch (type) {
    case ScalarType::kF64:
      return std::bit_cast<uint64_t>(value);
    case ScalarType::kF32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case ScalarType::kBF16:
      return std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16;
    default: {
      // 0, 1 and infinities are all that reducers of f16 need.
      if (value == 0) return 0;
      if (value == 1) return 0x3C00;
      return value > 0 ? 0x7C00 : 0xFC00;
    }
  }
}

}  // namespace

AxisSet TileProgram::AxesOfKind(TileAxisKind kind) const {
  AxisSet set = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].kind == kind) set |= AxisBit(static_cast<int>(i));
  }
  return set;
}

int64_t TileProgram::ShortCount(AxisSet set) const {
  int64_t count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].kind == TileAxisKind::kShort && (set & AxisBit(static_cast<int>(i))) != 0) {
      count *= axes[i].length;
    }
  }
  return count;
}

AxisSet AxesOf(const TileArray& array) {
  AxisSet set = 0;
  for (const int axis : array.axes) {
    if (axis != kNoAxis) set |= AxisBit(axis);
  }
  return set;
}

bool IsOfTop(const TileProgram& program, const TileResult& result) {
  const TileResult& leader =
      result.follows < 0 ? result : program.results[static_cast<size_t>(result.follows)];
  return leader.reducer == Opcode::kChloTopK;
}

bool HasSegments(const TileProgram& program) {
  return program.AxesOfKind(TileAxisKind::kSegment) != 0;
}

int SegmentAxis(const TileProgram& program, const TileResult& result) {
  for (const int axis : result.array.axes) {
    if (axis == kNoAxis) continue;
    if (program.axes[static_cast<size_t>(axis)].kind == TileAxisKind::kSegment) return axis;
  }
  return kNoAxis;
}

bool IsTileOpcode(Opcode opcode) { return FindInfo(opcode) != nullptr; }

uint64_t NeutralBits(Opcode reducer, ScalarType type) {
  const int bits = 8 * BytesOf(type);
  const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t top = uint64_t{1} << (bits - 1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (reducer) {
    case Opcode::kMultiply:
      return IsFloat(type) ? FloatBits(type, 1) : 1;
    case Opcode::kChloTopK:
    case Opcode::kMaximum:
      if (IsFloat(type)) return FloatBits(type, -kInfinity);
      return IsUnsigned(type) ? 0 : top;
    case Opcode::kMinimum:
      if (IsFloat(type)) return FloatBits(type, kInfinity);
      return IsUnsigned(type) ? ones : top - 1;
    case Opcode::kAnd:
      return type == ScalarType::kI1 ? 1 : ones;
    default:
      return 0;
  }
}

double NumberOf(const TileOp& constant) {
  if (constant.type == ScalarType::kI1) return static_cast<double>(constant.bits & 1);
  const int width = 8 * BytesOf(constant.type);
  const llvm::APInt bits(static_cast<unsigned>(width), constant.bits, /*isSigned=*/false,
                         /*implicitTrunc=*/true);
  switch (constant.type) {
    case ScalarType::kBF16:
      return llvm::APFloat(llvm::APFloat::BFloat(), bits).convertToDouble();
    case ScalarType::kF16:
      return llvm::APFloat(llvm::APFloat::IEEEhalf(), bits).convertToDouble();
    case ScalarType::kF32:
      return llvm::APFloat(llvm::APFloat::IEEEsingle(), bits).convertToDouble();
    case ScalarType::kF64:
      return bits.bitsToDouble();
    default:
      return IsUnsigned(constant.type) ? bits.roundToDouble() : bits.signedRoundToDouble();
  }
}

std::string AxisName(const TileProgram& program, int axis) {
  if (axis == kRowAxis) return "r";
  if (axis == kColumnAxis) return "c";
  if (axis == kNoAxis) return "1";
  const TileAxisKind kind = program.axes[static_cast<size_t>(axis)].kind;
  int number = 0;
  for (int i = 2; i < axis; ++i) number += program.axes[static_cast<size_t>(i)].kind == kind;
  const std::string_view letter = kind == TileAxisKind::kBatch   ? "b"
                                  : kind == TileAxisKind::kShort ? "s"
                                  : kind == TileAxisKind::kLong  ? "l"
                                  : kind == TileAxisKind::kRank  ? "t"
                                                                 : "g";
  return StrCat(letter, number);
}

std::string_view ShortName(Opcode opcode) {
  constexpr std::string_view kPrefix = "stablehlo.";
  std::string_view name = GetOpInfo(opcode).name;
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return name;
}

StatusOr<int> AddLoad(TileProgram& program, int operand) {
  if (operand < 0 || operand >= static_cast<int>(program.operands.size())) {
    return Error("there is no operand ", operand);
  }
  const TileArray& array = program.operands[static_cast<size_t>(operand)];
  return Append(
      program,
      {.kind = TileOpKind::kLoad, .type = array.type, .axes = AxesOf(array), .index = operand});
}

StatusOr<int> AddIota(TileProgram& program, ScalarType type, int axis) {
  RETURN_IF_ERROR(ExpectAxis(program, axis));
  if (type == ScalarType::kI1) return Error("iota counts no predicates");
  const TileAxisKind kind = program.axes[static_cast<size_t>(axis)].kind;
  if (kind == TileAxisKind::kBatch || kind == TileAxisKind::kSegment) {
    return Error("elements of the batch and segments are not counted");
  }
  return Append(program,
                {.kind = TileOpKind::kIota, .type = type, .axes = AxisBit(axis), .index = axis});
}

int AddConstant(TileProgram& program, ScalarType type, uint64_t bits) {
  const int unused = 64 - 8 * BytesOf(type);
  bits = bits << unused >> unused;
  return Append(program, {.kind = TileOpKind::kConstant, .type = type, .bits = bits});
}

StatusOr<ScalarType> TypeOfCompute(Opcode opcode, llvm::ArrayRef<ScalarType> operands) {
  const TileOpInfo* info = FindInfo(opcode);
  if (info == nullptr) return Error("kernels do not compute ", GetOpInfo(opcode).name);
  if (operands.size() != info->operand_count) {
    return Error(ShortName(opcode), " has ", info->operand_count, " operands, not ",
                 operands.size());
  }
  const ScalarType type = operands.back();
  const size_t first = opcode == Opcode::kSelect ? 1 : 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] != (i < first ? ScalarType::kI1 : type)) {
      return Error("operand ", i, " of ", ShortName(opcode), " is ", Name(operands[i]));
    }
  }
  if (!Allows(info->elements, type)) {
    return Error("kernels do not compute ", ShortName(opcode), " of ", Name(type));
  }
  const bool is_predicate =
      opcode == Opcode::kIsFinite || opcode == Opcode::kChloIsInf || opcode == Opcode::kCompare;
  return is_predicate ? ScalarType::kI1 : type;
}

Status ExpectBitcast(ScalarType from, ScalarType to) {
  if (BytesOf(to) != BytesOf(from) || to == ScalarType::kI1) {
    return Error("bitcast_convert from ", Name(from), " to ", Name(to));
  }
  return OkStatus();
}

StatusOr<int> AddCompute(TileProgram& program, Opcode opcode, std::vector<int> operands) {
  RETURN_IF_ERROR(ExpectOps(program, operands));
  TileOp op = {.kind = TileOpKind::kCompute, .opcode = opcode};
  std::vector<ScalarType> types;
  for (const int number : operands) {
    const TileOp& operand = program.ops[static_cast<size_t>(number)];
    op.axes |= operand.axes;
    types.push_back(operand.type);
  }
  ASSIGN_OR_RETURN(op.type, TypeOfCompute(opcode, types));
  op.operands = std::move(operands);
  return Append(program, std::move(op));
}

StatusOr<int> AddCompare(TileProgram& program, Comparison comparison, int left, int right) {
  ASSIGN_OR_RETURN(const int op, AddCompute(program, Opcode::kCompare, {left, right}));
  program.ops.back().comparison = comparison;
  return op;
}

StatusOr<int> AddConvert(TileProgram& program, Opcode opcode, ScalarType type, int operand) {
  ASSIGN_OR_RETURN(const int op, AddCompute(program, opcode, {operand}));
  if (opcode == Opcode::kBitcastConvert) {
    RETURN_IF_ERROR(ExpectBitcast(program.ops[static_cast<size_t>(operand)].type, type));
  }
  program.ops.back().type = type;
  return op;
}

StatusOr<int> AddFold(TileProgram& program, Opcode reducer, int axis, int operand) {
  RETURN_IF_ERROR(ExpectAxis(program, axis));
  RETURN_IF_ERROR(ExpectOps(program, {operand}));
  const TileOp& folded = program.ops[static_cast<size_t>(operand)];
  const TileAxisKind kind = program.axes[static_cast<size_t>(axis)].kind;
  if ((kind != TileAxisKind::kShort && kind != TileAxisKind::kLong) ||
      (folded.axes & AxisBit(axis)) == 0) {
    return Error("%", operand, " has no axis ", AxisName(program, axis), " to fold");
  }
  if (!IsReducer(reducer, folded.type)) {
    return Error(ShortName(reducer), " does not reduce ", Name(folded.type));
  }
  return Append(program, {.kind = TileOpKind::kFold,
                          .type = folded.type,
                          .axes = folded.axes & ~AxisBit(axis),
                          .opcode = reducer,
                          .operands = {operand},
                          .index = axis});
}

Status AddResult(TileProgram& program, TileResult result) {
  RETURN_IF_ERROR(ExpectOps(program, {result.value}));
  RETURN_IF_ERROR(ExpectArray(program, result.array));
  const TileOp& value = program.ops[static_cast<size_t>(result.value)];
  const AxisSet axes = AxesOf(result.array);
  if ((result.reduced & ~(kRowBit | kColumnBit)) != 0) {
    return Error("only rows and columns are reduced into results");
  }
  if (result.reduced == 0) {
    if ((axes & (kRowBit | kColumnBit)) != (kRowBit | kColumnBit)) {
      return Error("a result that is written has the row and the column");
    }
    if (result.follows != -1 ||
        (result.reducer != Opcode::kUnknown && !IsReducer(result.reducer, value.type))) {
      return Error("a result that is written follows no other, and is added by a reducer or not");
    }
  } else if (result.follows >= 0) {
    RETURN_IF_ERROR(ExpectFollower(program, result));
  } else if (!IsReducer(result.reducer, value.type) &&
             !(result.reducer == Opcode::kChloTopK && IsNumber(value.type))) {
    return Error(ShortName(result.reducer), " does not reduce ", Name(value.type));
  }
  RETURN_IF_ERROR(ExpectSegments(program, result));
  const AxisSet ranks = program.AxesOfKind(TileAxisKind::kRank);
  if ((axes & result.reduced) != 0 || (value.axes & ~(axes | result.reduced)) != 0 ||
      (value.axes & ranks) != 0) {
    return Error("a result has other axes than its value");
  }
  const Opcode reducer = result.follows >= 0
                             ? program.results[static_cast<size_t>(result.follows)].reducer
                             : result.reducer;
  if (std::popcount(axes & ranks) != (reducer == Opcode::kChloTopK ? 1 : 0) ||
      (reducer == Opcode::kChloTopK && result.reduced != kColumnBit)) {
    return Error("the best columns, and only they, have one axis of ranks");
  }
  const bool is_summed = result.reducer != Opcode::kUnknown;
  if (result.array.type != (is_summed ? AccumulatorOf(value.type) : value.type)) {
    return Error("a result is ", Name(result.array.type), ", its value ", Name(value.type));
  }
  program.results.push_back(std::move(result));
  return OkStatus();
}

Status Verify(const TileProgram& program) {
  RETURN_IF_ERROR(ExpectAxes(program));
  TileProgram again = {
      .axes = program.axes, .operands = program.operands, .ops = {}, .results = {}};
  for (const TileArray& operand : program.operands) {
    RETURN_IF_ERROR(ExpectArray(program, operand));
    if ((AxesOf(operand) & program.AxesOfKind(TileAxisKind::kSegment)) != 0) {
      return Error("an operand has an axis of segments");
    }
  }
  for (const TileOp& op : program.ops) {
    StatusOr<int> added = 0;
    switch (op.kind) {
      case TileOpKind::kLoad:
        added = AddLoad(again, op.index);
        break;
      case TileOpKind::kIota:
        added = AddIota(again, op.type, op.index);
        break;
      case TileOpKind::kConstant:
        added = AddConstant(again, op.type, op.bits);
        break;
      case TileOpKind::kFold:
        added = op.operands.size() == 1 ? AddFold(again, op.opcode, op.index, op.operands[0])
                                        : Error("a fold has one operand");
        break;
      case TileOpKind::kCompute:
        if (op.opcode == Opcode::kConvert || op.opcode == Opcode::kBitcastConvert) {
          added = op.operands.size() == 1 ? AddConvert(again, op.opcode, op.type, op.operands[0])
                                          : Error("a conversion has one operand");
        } else {
          added = AddCompute(again, op.opcode, op.operands);
        }
        break;
    }
    if (!added.ok()) return added.status();
    again.ops.back().comparison = op.comparison;
    if (again.ops.back() != op) {
      return Error("%", *added, " has another type or other axes than its operands give");
    }
  }
  for (const TileResult& result : program.results) {
    RETURN_IF_ERROR(AddResult(again, result));
    if (HasSegments(program) && result.segment < 0 && result.reduced != 0) {
      return Error("a result is reduced beside results of segments");
    }
  }
  AxisSet seen = program.AxesOfKind(TileAxisKind::kShort) | program.AxesOfKind(TileAxisKind::kRank);
  for (const TileArray& operand : program.operands) seen |= AxesOf(operand);
  for (const TileResult& result : program.results) seen |= AxesOf(result.array);
  for (size_t i = 0; i < program.axes.size(); ++i) {
    const int axis = static_cast<int>(i);
    if ((seen & AxisBit(axis)) == 0) {
      return Error("no array tells how long the axis ", AxisName(program, axis), " is");
    }
  }
  return OkStatus();
}

}  // namespace plimsoll
