#include "kernels/cpu/loop_cost.h"

#include <cstddef>
#include <vector>

#include "analysis/machine_speed.h"
#include "analysis/run_time.h"
#include "kernels/cpu/generate_loop.h"
#include "kernels/cpu/kernel_cost.h"
#include "kernels/cpu/machine.h"

namespace plimsoll {
namespace {

// To read or write a vector whose elements lie apart, for each of them.
constexpr double kCyclesApart = 1;

// Of one vector in one turn.
double CyclesOfTurn(const LoopProgram& program, const LoopShape& shape) {
  const std::vector<bool> in_loop = program.InLoop();
  const int lanes = FittedLanes(shape.lanes);
  double cycles = 0;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const LoopOp& op = program.ops[i];
    if (!in_loop[i] || op.kind == LoopOpKind::kState) continue;
    // What is the same for the batch is computed once for all vectors that go together.
    const double share = op.varies ? 1 : 1.0 / shape.vectors;
    cycles += share * CyclesOf({.type = op.type, .opcode = op.opcode}, lanes);
  }
  for (const LoopResult& result : program.results) {
    if (!result.array.HasSteps()) continue;
    const bool is_dense = result.array.dimensions.back() == kBatchDimension;
    cycles += static_cast<double>(result.values.size()) *
              (is_dense ? kCyclesApart : kCyclesApart * lanes);
  }
  return cycles;
}

}  // namespace

StatusOr<KernelCost> LoopCostOnCpu(const LoopProgram& program, int64_t batch, int64_t turns) {
  const CpuMachine& machine = HostMachine();
  RETURN_IF_ERROR(ExpectMachine(program, machine));
  const LoopShape shape = ChooseLoopShape(program, machine);
  const double vectors = static_cast<double>(batch) / FittedLanes(shape.lanes);
  const double cycles = vectors * static_cast<double>(turns) * CyclesOfTurn(program, shape) *
                        SpeedOfMachine().elementwise;
  return KernelCost{.scratch_bytes = 0,
                    .seconds = kSecondsPerCall + cycles / (kCyclesPerSecond * kModelCores)};
}

}  // namespace plimsoll
