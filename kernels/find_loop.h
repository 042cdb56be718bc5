// Loops that one kernel can run as a whole, with the state of each element of a batch in registers.

#ifndef PLIMSOLL_KERNELS_FIND_LOOP_H_
#define PLIMSOLL_KERNELS_FIND_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "kernels/loop_program.h"

namespace plimsoll {

struct FoundLoop {
  struct Array {
    const Value* value = nullptr;  // Outside of the loop, or a result of it.
    // As the kernel takes or gives it: all dimensions of the batch are one.
    std::vector<int64_t> shape = {};
  };

  LoopProgram program;
  std::vector<Array> operands;
  std::vector<Array> results;  // Those that are used and do change.
  // Other results of the loop that are used: they are what the loop begins with.
  std::vector<std::pair<const Value*, const Value*>> unchanged;
  int64_t batch = 0;
  // How often it turns, where that is known.
  std::optional<int64_t> turns;
};

// The loop of a `while` whose body is elementwise over a batch; nothing, and why, if it is not.
std::optional<FoundLoop> FindLoop(const Op& loop, std::string& reason);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_FIND_LOOP_H_
