#include "analysis/ynn_scratch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

enum class Kind {
  // A parameter or a constant: there already.
  kGiven,
  // Each element comes from the same element of each operand.
  kElementwise,
  // The same data seen with another shape: broadcasts, reshapes, bitcasts.
  kView,
  kReduce,
  kDot,
  // Everything else: nothing is known of its loops.
  kOther,
};

Kind KindOf(const HloInstruction& instruction) {
  constexpr std::array<std::string_view, 2> kGiven = {"parameter", "constant"};
  constexpr std::array<std::string_view, 3> kViews = {"broadcast", "reshape", "bitcast"};
  constexpr std::array<std::string_view, 9> kOthers = {"transpose", "concatenate",   "slice",
                                                       "pad",       "iota",          "convolution",
                                                       "reverse",   "reduce-window", "gather"};
  if (llvm::is_contained(kGiven, instruction.opcode)) return Kind::kGiven;
  if (llvm::is_contained(kViews, instruction.opcode)) return Kind::kView;
  if (llvm::is_contained(kOthers, instruction.opcode)) return Kind::kOther;
  if (instruction.opcode == "reduce") return Kind::kReduce;
  if (instruction.opcode == "dot") return Kind::kDot;
  return Kind::kElementwise;
}

using Axes = llvm::SmallVector<int, 4>;

struct Loop {
  int axis = 0;
  int64_t extent = 1;
};

struct Scheduled {
  Kind kind = Kind::kGiven;
  // Numbers of loops, outermost first.
  llvm::SmallVector<size_t, 4> nest;
  std::vector<size_t> users;
  // How many of the nest's loops are its users' own.
  size_t shared = 0;
  int64_t element_bytes = 0;
  int64_t elements = 0;
};

class Schedule {
 public:
  Schedule(const HloComputation& fused, int64_t thread_count)
      : instructions_(fused.instructions),
        root_(fused.root),
        thread_count_(std::max<int64_t>(thread_count, 1)),
        values_(instructions_.size()),
        axes_(instructions_.size()) {}

  int64_t Bytes() {
    for (size_t i = 0; i < instructions_.size(); ++i) Describe(i);
    for (size_t i = instructions_.size(); i-- > 0;) InferAxes(i);
    for (size_t i = instructions_.size(); i-- > 0;) Place(i);
    return SumOfBuffers();
  }

 private:
  void Describe(size_t i) {
    const HloInstruction& instruction = instructions_[i];
    Scheduled& value = values_[i];
    value.kind = KindOf(instruction);
    value.elements = instruction.shape.element_count();
    value.element_bytes = ElementBytes(instruction.shape.element_type);
    // Dots and reductions of short numbers are accumulated in 32 bits.
    if (value.kind == Kind::kDot || value.kind == Kind::kReduce) {
      value.element_bytes = std::max<int64_t>(value.element_bytes, 4);
    }
    for (const uint32_t operand : instruction.operands) {
      std::vector<size_t>& users = values_[operand].users;
      if (users.empty() || users.back() != i) users.push_back(i);
    }
  }

  // Which of its users' axes each axis of the operands is; an axis that users see differently is
  // one of its own.
  void InferAxes(size_t i) {
    const HloInstruction& instruction = instructions_[i];
    Axes& axes = axes_[i];
    while (axes.size() < instruction.shape.dimensions.size()) axes.push_back(next_axis_++);
    for (size_t k = 0; k < instruction.operands.size(); ++k) {
      const size_t operand = instruction.operands[k];
      const size_t rank = instructions_[operand].shape.dimensions.size();
      Axes seen = OperandAxes(i, k, rank);
      Axes& known = axes_[operand];
      if (known.empty()) {
        known = std::move(seen);
        continue;
      }
      for (size_t d = 0; d < rank; ++d) {
        if (known[d] != seen[d]) known[d] = next_axis_++;
      }
    }
  }

  Axes OperandAxes(size_t i, size_t operand_number, size_t rank) {
    const HloInstruction& instruction = instructions_[i];
    const Axes& axes = axes_[i];
    Axes seen(rank, -1);
    switch (values_[i].kind) {
      case Kind::kElementwise:
        if (rank == axes.size()) seen = axes;
        break;
      case Kind::kView:
        MapDimensions(instruction.Numbers("dimensions"), axes, seen);
        break;
      case Kind::kReduce: {
        const llvm::SmallVector<int64_t, 4> reduced = instruction.Numbers("dimensions");
        size_t kept = 0;
        for (size_t d = 0; d < rank && operand_number == 0; ++d) {
          if (llvm::is_contained(reduced, static_cast<int64_t>(d))) continue;
          if (kept < axes.size()) seen[d] = axes[kept++];
        }
        break;
      }
      case Kind::kDot:
        MapDotOperand(instruction, operand_number == 0, axes, seen);
        break;
      case Kind::kGiven:
      case Kind::kOther:
        break;
    }
    for (int& axis : seen) {
      if (axis < 0) axis = next_axis_++;
    }
    return seen;
  }

  static void MapDimensions(llvm::ArrayRef<int64_t> dimensions, const Axes& axes, Axes& seen) {
    for (size_t d = 0; d < std::min(dimensions.size(), seen.size()); ++d) {
      if (dimensions[d] < static_cast<int64_t>(axes.size())) seen[d] = axes[dimensions[d]];
    }
  }

  // A dot's result has the batch dimensions, then the left operand's own, then the right one's.
  void MapDotOperand(const HloInstruction& dot, bool is_left, const Axes& axes, Axes& seen) {
    const llvm::SmallVector<int64_t, 4> batch =
        dot.Numbers(is_left ? "lhs_batch_dims" : "rhs_batch_dims");
    const llvm::SmallVector<int64_t, 4> contracted =
        dot.Numbers(is_left ? "lhs_contracting_dims" : "rhs_contracting_dims");
    for (size_t b = 0; b < batch.size(); ++b) {
      if (batch[b] < static_cast<int64_t>(seen.size()) && b < axes.size()) {
        seen[batch[b]] = axes[b];
      }
    }
    const size_t own = seen.size() - std::min(seen.size(), batch.size() + contracted.size());
    size_t next = is_left ? batch.size() : axes.size() - std::min(axes.size(), own);
    for (size_t d = 0; d < seen.size(); ++d) {
      const auto number = static_cast<int64_t>(d);
      if (llvm::is_contained(batch, number) || llvm::is_contained(contracted, number)) continue;
      if (next < axes.size()) seen[d] = axes[next++];
    }
  }

  // The loops that all users of the value have in common.
  llvm::SmallVector<size_t, 4> CommonNest(const Scheduled& value) const {
    llvm::SmallVector<size_t, 4> common;
    for (size_t u = 0; u < value.users.size(); ++u) {
      const llvm::SmallVector<size_t, 4>& nest = values_[value.users[u]].nest;
      if (u == 0) {
        common = nest;
        continue;
      }
      const size_t length = std::min(common.size(), nest.size());
      size_t same = 0;
      while (same < length && common[same] == nest[same]) ++same;
      common.truncate(same);
    }
    return common;
  }

  // The value's own loops in their order, outermost first. Only the first `matchable` can be loops
  // of a user; if `in_order`, only in this order.
  struct OwnLoops {
    llvm::SmallVector<Loop, 4> loops;
    bool in_order = false;
  };

  OwnLoops LoopsOf(size_t i) const {
    const HloInstruction& instruction = instructions_[i];
    const Axes& axes = axes_[i];
    OwnLoops own;
    const auto add = [&](size_t d) {
      own.loops.push_back({.axis = axes[d], .extent = instruction.shape.dimensions[d]});
    };
    if (values_[i].kind == Kind::kDot) {
      // Batches, then the right operand's columns, then the left one's rows.
      own.in_order = true;
      const size_t batch = std::min(instruction.Numbers("lhs_batch_dims").size(), axes.size());
      for (size_t d = 0; d < batch; ++d) add(d);
      for (size_t d = axes.size(); d-- > batch;) add(d);
    } else if (values_[i].kind == Kind::kReduce) {
      // A reduced dimension carries a sum from step to step; what is inside of it cannot be shared.
      const llvm::SmallVector<int64_t, 4> reduced = instruction.Numbers("dimensions");
      for (size_t d = 0; d < axes.size(); ++d) {
        if (llvm::is_contained(reduced, static_cast<int64_t>(d))) break;
        add(d);
      }
    } else if (values_[i].kind == Kind::kElementwise) {
      for (size_t d = 0; d < axes.size(); ++d) add(d);
    }
    return own;
  }

  void Place(size_t i) {
    Scheduled& value = values_[i];
    if (value.kind == Kind::kGiven) return;
    llvm::SmallVector<size_t, 4> common = CommonNest(value);
    if (value.kind == Kind::kView) {
      value.nest = std::move(common);
      return;
    }
    OwnLoops own = LoopsOf(i);
    size_t shared = 0;
    for (; shared < common.size(); ++shared) {
      const int wanted = loops_[common[shared]].axis;
      const auto found =
          llvm::find_if(own.loops, [&](const Loop& loop) { return loop.axis == wanted; });
      if (found == own.loops.end() || (own.in_order && found != own.loops.begin())) break;
      own.loops.erase(found);
    }
    common.truncate(shared);
    value.shared = shared;
    value.nest = std::move(common);
    for (const Loop& loop : own.loops) {
      value.nest.push_back(loops_.size());
      loops_.push_back(loop);
    }
  }

  // What is kept of the value: one slice for each thread that can be at work on it.
  int64_t BufferBytes(size_t i) const {
    const Scheduled& value = values_[i];
    if (i == root_ || value.kind == Kind::kGiven || value.kind == Kind::kView) return 0;
    int64_t slices = 1;
    for (size_t l = 0; l < value.shared; ++l) slices *= loops_[value.nest[l]].extent;
    const int64_t whole = value.elements * value.element_bytes;
    if (slices <= 1) return whole;
    return whole / slices * std::min(slices, thread_count_);
  }

  int64_t SumOfBuffers() {
    int64_t sum = 0;
    for (size_t i = 0; i < values_.size(); ++i) sum += BufferBytes(i);
    return sum;
  }

  const std::vector<HloInstruction>& instructions_;
  size_t root_;
  int64_t thread_count_;
  std::vector<Scheduled> values_;
  std::vector<Axes> axes_;
  std::vector<Loop> loops_;
  int next_axis_ = 0;
};

}  // namespace

int64_t YnnScratch(const HloComputation& fused, int64_t thread_count) {
  return Schedule(fused, thread_count).Bytes();
}

}  // namespace plimsoll
