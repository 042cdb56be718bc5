// What a kernel with a whole loop inside computes: a small program of numbers that runs for every
// element of a batch, turn after turn. Its state stays in registers.

#ifndef PLIMSOLL_KERNELS_LOOP_PROGRAM_H_
#define PLIMSOLL_KERNELS_LOOP_PROGRAM_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "ir/opcode.h"
#include "ir/status.h"
#include "kernels/scalar_type.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// In the place of a dimension's length, where that is known only when the kernel is called.
inline constexpr int64_t kBatchDimension = -1;
inline constexpr int64_t kStepDimension = -2;

// An array that the kernel reads or writes, dense and in row-major order. It has the batch at most
// once, steps at most once, and other dimensions of known length.
struct LoopArray {
  ScalarType type = ScalarType::kF32;
  std::vector<int64_t> dimensions = {};

  bool operator==(const LoopArray&) const = default;

  bool HasBatch() const;
  bool HasSteps() const;
  // How many numbers it has for one element of the batch and one step.
  int64_t ElementCount() const;
};

enum class LoopOpKind : uint8_t {
  kLoad,      // A number of an operand.
  kPosition,  // Which element of the batch this is.
  kConstant,  // A number.
  kState,     // What one turn leaves to the next.
  kCompute,   // An elementwise op of StableHLO.
};

// A number: one for all of the batch, or one for each element of it.
struct LoopOp {
  LoopOpKind kind = LoopOpKind::kCompute;
  ScalarType type = ScalarType::kF32;
  bool varies = false;                         // Along the batch.
  Opcode opcode = Opcode::kUnknown;            // kCompute
  Comparison comparison = Comparison::kEqual;  // kCompute of kCompare
  // Earlier ops. kLoad: the step, if the operand has steps. kState: what it is in the first turn.
  std::vector<int> operands = {};
  int index = 0;        // kLoad: the operand. kState: the op that it is in the next turn.
  int64_t element = 0;  // kLoad: which of the operand's numbers.
  uint64_t bits = 0;    // kConstant: the element's bytes.

  bool operator==(const LoopOp&) const = default;
};

// An array that the kernel makes: of the state after the last turn or, if it has steps, of what
// each turn has written.
struct LoopResult {
  LoopArray array = {};
  std::vector<int> values = {};  // As many as the array's ElementCount().
  int step = -1;                 // With steps: the op that says which one a turn writes.
  int fill = -1;                 // What is in steps that no turn writes; -1 if there are none.

  bool operator==(const LoopResult&) const = default;
};

struct LoopProgram {
  std::vector<LoopArray> operands;
  std::vector<LoopOp> ops;
  // The loop ends before a turn for which this is false. If it varies, each element of the batch
  // has an end of its own: its state does not change any more, and there are no steps.
  int condition = -1;
  std::vector<LoopResult> results;

  bool operator==(const LoopProgram&) const = default;

  const LoopOp& op(int number) const { return ops[static_cast<size_t>(number)]; }
  // For each op: whether it is computed anew in each turn.
  std::vector<bool> InLoop() const;
};

// What texts of loop programs begin with.
inline constexpr std::string_view kLoopWord = "loop";

Status AddOperand(LoopProgram& program, LoopArray array);
// Each appends an op with the type and the place that follow from its operands, and gives its
// number. `step` is -1 for operands without steps.
StatusOr<int> AddLoad(LoopProgram& program, int operand, int64_t element, int step = -1);
StatusOr<int> AddPosition(LoopProgram& program, ScalarType type);
int AddConstant(LoopProgram& program, ScalarType type, uint64_t bits);
// What it becomes is set later.
StatusOr<int> AddState(LoopProgram& program, bool varies, int first);
StatusOr<int> AddCompute(LoopProgram& program, Opcode opcode, std::vector<int> operands);
// kConvert and kBitcastConvert.
StatusOr<int> AddConvert(LoopProgram& program, Opcode opcode, ScalarType type, int operand);

// That each op follows from the ones before it, and that state and results fit their values.
Status Verify(const LoopProgram& program);

// The program without what neither its results nor its condition need.
LoopProgram WithoutUnusedOps(const LoopProgram& program);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_LOOP_PROGRAM_H_
