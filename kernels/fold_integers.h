// Ops of integers whose operands are known.

#ifndef PLIMSOLL_KERNELS_FOLD_INTEGERS_H_
#define PLIMSOLL_KERNELS_FOLD_INTEGERS_H_

#include <cstdint>
#include <optional>

#include "kernels/loop_program.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// What an op of the kind kCompute makes of elements' bytes, as StableHLO and XLA have it. The
// operands have `operand_type`, but for the condition of a select. Nothing for floats and for ops
// that counters and keys do not need.
std::optional<uint64_t> FoldIntegers(const LoopOp& op, ScalarType operand_type,
                                     llvm::ArrayRef<uint64_t> operands);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_FOLD_INTEGERS_H_
