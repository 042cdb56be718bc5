// What a streaming kernel computes: a small program of scalars that runs for every pair of a row
// and a column, and what becomes of its values. The pairs never exist as a whole.

#ifndef PLIMSOLL_KERNELS_TILE_PROGRAM_H_
#define PLIMSOLL_KERNELS_TILE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "ir/opcode.h"
#include "ir/status.h"
#include "kernels/scalar_type.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// Sets of axes are bits. The row and the column are there in every program, though operands need
// not have them.
using AxisSet = uint32_t;
inline constexpr int kRowAxis = 0;
inline constexpr int kColumnAxis = 1;
inline constexpr AxisSet AxisBit(int axis) { return AxisSet{1} << axis; }
inline constexpr AxisSet kRowBit = AxisBit(kRowAxis);
inline constexpr AxisSet kColumnBit = AxisBit(kColumnAxis);
inline constexpr int kMostAxes = 16;

enum class TileAxisKind : uint8_t {
  kRow,      // Shared out among threads.
  kColumn,   // Streams: vectors lie along it.
  kBatch,    // The same again with other data.
  kShort,    // Of known length, unrolled.
  kLong,     // Of any length, looped over where it is folded.
  kRank,     // Of known length: the best columns of a row, the best first.
  kSegment,  // Of results: the groups that rows are reduced in.
};

struct TileAxis {
  TileAxisKind kind = TileAxisKind::kRow;
  int64_t length = 0;  // kShort, kRank; the others' lengths are known when the kernel is called.

  bool operator==(const TileAxis&) const = default;
};

// In the place of an operand's axis: a dimension of length 1.
inline constexpr int kNoAxis = -1;

// An array that the kernel reads or writes, dense and in row-major order.
struct TileArray {
  ScalarType type = ScalarType::kF32;
  std::vector<int> axes = {};  // One for each dimension.

  bool operator==(const TileArray&) const = default;
};

enum class TileOpKind : uint8_t {
  kLoad,      // An element of an operand.
  kIota,      // The position along an axis.
  kConstant,  // A number.
  kCompute,   // An elementwise op of StableHLO.
  kFold,      // A short or long axis reduced away by an associative op.
};

struct TileOp {
  TileOpKind kind = TileOpKind::kCompute;
  ScalarType type = ScalarType::kF32;
  AxisSet axes = 0;                            // Along which the value varies.
  Opcode opcode = Opcode::kUnknown;            // kCompute, kFold
  Comparison comparison = Comparison::kEqual;  // kCompute of kCompare
  std::vector<int> operands = {};              // kCompute, kFold: earlier ops.
  int index = 0;                               // kLoad: the operand. kIota, kFold: the axis.
  uint64_t bits = 0;                           // kConstant: the element's bytes.

  bool operator==(const TileOp&) const = default;
};

// An array that the kernel makes of one value: every element of it, or what is left when rows or
// columns are reduced away.
struct TileResult {
  int value = 0;
  AxisSet reduced = 0;  // Of kRowBit and kColumnBit; none: written.
  // kAdd, kMultiply, kMaximum, kMinimum, kAnd, kOr, or kChloTopK for the largest. A result that is
  // written may have one of the first six: it is combined with what is there.
  Opcode reducer = Opcode::kUnknown;
  // The number of an earlier result by kMaximum, kMinimum or kChloTopK: this one is of the columns
  // that won there; of equal ones, of the one where the first such result is least.
  int follows = -1;
  // The op that says for each row in which segment it is reduced; -1 if rows are not grouped. Rows
  // of other numbers than there are segments are left out.
  int segment = -1;
  TileArray array = {};

  bool operator==(const TileResult&) const = default;
};

struct TileProgram {
  std::vector<TileAxis> axes;  // The row, the column, and others.
  std::vector<TileArray> operands;
  std::vector<TileOp> ops;
  std::vector<TileResult> results;

  bool operator==(const TileProgram&) const = default;

  AxisSet AxesOfKind(TileAxisKind kind) const;
  // How many numbers a value is for one row, one column and one position along long axes.
  int64_t ShortCount(AxisSet set) const;
};

AxisSet AxesOf(const TileArray& array);

// True if the result has the largest values of a row, or what goes with them.
bool IsOfTop(const TileProgram& program, const TileResult& result);

// True if rows are reduced in groups. Threads then share out the columns.
bool HasSegments(const TileProgram& program);
// The axis along which the result has one position for each group; kNoAxis if it has none.
int SegmentAxis(const TileProgram& program, const TileResult& result);

// True if kernels compute the op, on elements of the types that tile_ops.def says.
bool IsTileOpcode(Opcode opcode);
// What an elementwise op makes of elements of these types, where it is not a conversion.
StatusOr<ScalarType> TypeOfCompute(Opcode opcode, llvm::ArrayRef<ScalarType> operands);
// That bits of the one type can be taken for the other.
Status ExpectBitcast(ScalarType from, ScalarType to);
// The number that leaves the other operand of a reducer as it is, as the bytes of an element.
uint64_t NeutralBits(Opcode reducer, ScalarType type);

// The number that an op of the kind kConstant is.
double NumberOf(const TileOp& constant);

// "r", "c", and for the others b0, b1, ... of the batch, s0, s1, ... of short, l0, l1, ... of
// long ones, t0, t1, ... of ranks and g0, g1, ... of segments.
std::string AxisName(const TileProgram& program, int axis);
std::string_view ShortName(Opcode opcode);

// Ops with the axes and the type that follow from their operands. Each appends to the program and
// gives the number of the new op.
StatusOr<int> AddLoad(TileProgram& program, int operand);
StatusOr<int> AddIota(TileProgram& program, ScalarType type, int axis);
int AddConstant(TileProgram& program, ScalarType type, uint64_t bits);
StatusOr<int> AddCompute(TileProgram& program, Opcode opcode, std::vector<int> operands);
StatusOr<int> AddCompare(TileProgram& program, Comparison comparison, int left, int right);
// kConvert and kBitcastConvert.
StatusOr<int> AddConvert(TileProgram& program, Opcode opcode, ScalarType type, int operand);
StatusOr<int> AddFold(TileProgram& program, Opcode reducer, int axis, int operand);
Status AddResult(TileProgram& program, TileResult result);

// That each op follows from the ones before it, with the axes and types that it says.
Status Verify(const TileProgram& program);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_TILE_PROGRAM_H_
