#include "kernels/cpu/loop_shape.h"

#include <cstddef>
#include <vector>

#include "kernels/cpu/kernel_cost.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

constexpr int kUsualVectors = 4;
// So many ops that are the same for all of the batch are worth sharing among more vectors.
constexpr int kManyOps = 64;

// Of one vector of the batch, about.
double InstructionsOfTurn(const LoopProgram& program, int lanes) {
  // Where the batch is not the last dimension, elements are moved one by one.
  const auto of_array = [&](const LoopArray& array) {
    const bool is_apart = array.HasBatch() && array.dimensions.back() != kBatchDimension;
    return is_apart ? kInstructionsApart * lanes : 1;
  };
  double instructions = 0;
  for (const LoopOp& op : program.ops) {
    if (!op.varies) continue;
    if (op.kind == LoopOpKind::kLoad) {
      instructions += of_array(program.operands[static_cast<size_t>(op.index)]);
    } else if (op.kind == LoopOpKind::kCompute) {
      instructions += InstructionsOf({.type = op.type, .opcode = op.opcode}, lanes);
    }
  }
  for (const LoopResult& result : program.results) {
    instructions += static_cast<double>(result.values.size()) * of_array(result.array);
  }
  return instructions;
}

}  // namespace

LoopShape ChooseLoopShape(const LoopProgram& program, const CpuMachine& machine) {
  const std::vector<bool> in_loop = program.InLoop();
  bool has_f64 = false;
  int states = 0;
  int same = 0;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const LoopOp& op = program.ops[i];
    if (!in_loop[i]) continue;
    same += op.varies ? 0 : 1;
    if (!op.varies) continue;
    has_f64 |= op.type == ScalarType::kF64;
    states += op.kind == LoopOpKind::kState ? 1 : 0;
  }
  LoopShape shape;
  shape.lanes = machine.vector_bytes / (has_f64 ? 8 : 4);
  // As many as hide how long instructions take, while most of the state stays in registers.
  shape.vectors = kUsualVectors;
  while (shape.vectors > 1 && states * shape.vectors > machine.vector_registers) {
    shape.vectors /= 2;
  }
  if (same > kManyOps && states * 4 * kUsualVectors <= machine.vector_registers) {
    shape.vectors = 2 * kUsualVectors;
  }
  const double instructions = InstructionsOfTurn(program, shape.lanes);
  while (shape.vectors > 1 && instructions * shape.vectors > kMostInstructions) shape.vectors /= 2;
  return shape;
}

Status ExpectMachine(const LoopProgram& program, const CpuMachine& machine) {
  const bool has_f16 =
      llvm::any_of(program.ops, [](const LoopOp& op) { return op.type == ScalarType::kF16; });
  if (has_f16 && !machine.has_half) {
    return Status(ErrorCode::kNotUnderstood, "the processor has no conversions of f16");
  }
  const int lanes = ChooseLoopShape(program, machine).lanes;
  if (InstructionsOfTurn(program, lanes) > kMostInstructions) {
    return Status(ErrorCode::kNotUnderstood, "a turn has too many instructions");
  }
  return OkStatus();
}

}  // namespace plimsoll
