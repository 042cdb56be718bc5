// A block's ops as XLA sees them before it fuses: calls are inlined, equal ops are one, views are
// the values that they show, and what a loop computes anew from the same values stands before it.

#ifndef PLIMSOLL_ANALYSIS_KERNEL_GRAPH_H_
#define PLIMSOLL_ANALYSIS_KERNEL_GRAPH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/op_class.h"
#include "ir/graph.h"
#include "ir/opcode.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

// In the place of a number: none.
inline constexpr int kNone = -1;

struct KernelGraph;

struct KernelValue {
  const Value* value = nullptr;
  int64_t bytes = 0;
  int node = kNone;   // That makes it; none for arguments and for what comes from outside.
  int outer = kNone;  // The value of the graph around a loop that this one is, in every iteration.
  bool is_reordered = false;  // Columns first, as LAPACK wants it.
};

struct KernelNode {
  // The op that it belongs to. XLA makes several of some, so it need not be of the node's kind.
  const Op* op = nullptr;
  Opcode code = Opcode::kUnknown;
  OpClass kind = OpClass::kOpaque;
  // Values, or kNone for what a loop takes and nobody needs. Behind them: those that its inside
  // reads.
  llvm::SmallVector<int, 3> operands;
  int first_result = 0;
  int result_count = 0;
  int64_t scratch = 0;  // Bytes that it takes only while it runs.
  // A loop's body, or the branches of a condition.
  std::vector<std::shared_ptr<KernelGraph>> inside;
};

struct KernelGraph {
  std::vector<KernelValue> values;
  std::vector<KernelNode> nodes;  // Each behind those that make its operands.
  std::vector<int> arguments;     // Values. Of a loop's body: those that differ between iterations.
  std::vector<int> returned;      // Values. Of a loop's body: one for each of the arguments.
  // Of a loop's body: which operand and result of the loop each argument is.
  std::vector<int> state;
  // Of a loop's body: which of these decide whether the loop goes on.
  std::vector<int> decisive;
};

// The graph of a function's body or of a region of a loop or condition.
KernelGraph MakeKernelGraph(const Block& block);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_KERNEL_GRAPH_H_
