#include "analysis/kernel_liveness.h"

#include <memory>

#include "analysis/effects.h"
#include "ir/opcode.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// True if the node does something, or makes one of the values.
bool IsLive(const KernelNode& node, const std::vector<bool>& is_needed) {
  if (node.result_count == 0 || HasEffects(*node.op)) return true;
  for (int i = 0; i < node.result_count; ++i) {
    if (is_needed[node.first_result + i]) return true;
  }
  return false;
}

// By value: true if it is needed for what the graph returns or does.
std::vector<bool> RemoveDeadStateOf(KernelGraph& graph);

// Removes the state of a loop that nobody needs, given by result what is needed after the loop.
void RemoveDeadStateOf(KernelNode& loop, const std::vector<bool>& is_needed) {
  // The graph may be tried again with more that is needed: what it was stays as it is.
  loop.inside.front() = std::make_shared<KernelGraph>(*loop.inside.front());
  KernelGraph& body = *loop.inside.front();
  std::vector<bool> is_live(body.state.size());
  for (const int i : body.decisive) is_live[i] = true;
  for (size_t i = 0; i < is_live.size(); ++i) {
    if (is_needed[loop.first_result + body.state[i]]) is_live[i] = true;
  }
  // What is live in one iteration was made by the one before.
  const KernelGraph whole = body;
  while (true) {
    body = whole;
    body.returned.clear();
    body.arguments.clear();
    body.state.clear();
    for (size_t i = 0; i < is_live.size(); ++i) {
      if (!is_live[i]) continue;
      body.returned.push_back(whole.returned[i]);
      body.arguments.push_back(whole.arguments[i]);
      body.state.push_back(whole.state[i]);
    }
    const std::vector<bool> is_read = RemoveDeadStateOf(body);
    bool is_done = true;
    for (size_t i = 0; i < is_live.size(); ++i) {
      if (is_live[i] || !is_read[whole.arguments[i]]) continue;
      is_live[i] = true;
      is_done = false;
    }
    if (!is_done) continue;
    for (size_t i = 0; i < is_live.size(); ++i) {
      if (!is_live[i]) loop.operands[whole.state[i]] = kNone;
    }
    loop.operands.truncate(loop.op->operand_count());
    llvm::DenseSet<int> added;
    for (size_t i = 0; i < is_read.size(); ++i) {
      const int outer = body.values[i].outer;
      if (is_read[i] && outer != kNone && added.insert(outer).second)
        loop.operands.push_back(outer);
    }
    return;
  }
}

std::vector<bool> RemoveDeadStateOf(KernelGraph& graph) {
  std::vector<bool> is_needed(graph.values.size());
  for (const int value : graph.returned) is_needed[value] = true;
  for (KernelNode& node : llvm::reverse(graph.nodes)) {
    if (!IsLive(node, is_needed)) continue;
    if (node.code == Opcode::kWhile && !node.inside.empty()) RemoveDeadStateOf(node, is_needed);
    for (const int operand : node.operands) {
      if (operand != kNone) is_needed[operand] = true;
    }
  }
  return is_needed;
}

}  // namespace

std::vector<int> FindNeeded(const KernelGraph& graph) {
  std::vector<bool> is_needed(graph.values.size());
  for (const int value : graph.returned) is_needed[value] = true;
  for (const KernelNode& node : llvm::reverse(graph.nodes)) {
    if (!IsLive(node, is_needed)) continue;
    for (const int operand : node.operands) {
      if (operand != kNone) is_needed[operand] = true;
    }
  }
  std::vector<int> needed;
  for (size_t i = 0; i < is_needed.size(); ++i) {
    if (is_needed[i]) needed.push_back(static_cast<int>(i));
  }
  return needed;
}

void RemoveDeadState(KernelGraph& graph) { RemoveDeadStateOf(graph); }

}  // namespace plimsoll
