#include "analysis/ynn_scratch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

// YNNPACK's own sizes: of a tile, of a slice of a dot's operands, and of a partial sum.
constexpr int64_t kTileBytes = 128 << 10;
constexpr int64_t kLongestDotSlice = 32 << 10;
constexpr int64_t kLeastReducedElements = 256;
// The C library gives larger blocks back to the system when they are freed.
constexpr int64_t kLargestKept = 32 << 20;
// A dot that contracts more than this goes over columns first, so its rows are no outer loop.
constexpr int64_t kMostContractedByRows = 256;
constexpr int64_t kMostBytesContractedInBatch = 256;

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
using Numbers = llvm::SmallVector<int64_t, 4>;

int64_t CeilOf(int64_t a, int64_t b) { return (a + b - 1) / std::max<int64_t>(b, 1); }

struct Loop {
  int axis = 0;
  int64_t extent = 1;
  int64_t step = 1;
  // Carries a sum from step to step, so that its steps follow one another.
  bool reduces = false;
  // The step is the one that the kernel wants, and so is the order of such loops.
  bool required = false;
};

struct Scheduled {
  Kind kind = Kind::kGiven;
  std::vector<size_t> users;
  Axes axes;
  // Numbers of loops, outermost first; the first `shared` of them are loops of its users.
  llvm::SmallVector<size_t, 4> nest;
  size_t shared = 0;
  int64_t element_bytes = 0;
};

struct DotSizes {
  // The result has batch dimensions, then rows, then columns.
  size_t batch_dimensions = 0;
  size_t columns_start = 0;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t contracted = 1;
};

struct DotTile {
  int64_t rows = 1;
  int64_t columns = 1;
};

// YNNPACK's choice of a tile: towards four times as many rows as columns, until it is as large or
// as costly as one task should be.
DotTile ChooseDotTile(const DotSizes& sizes, YnnScheduler scheduler) {
  constexpr int64_t kKernelColumns = 32;
  constexpr int64_t kElementsInCache = 32 << 10;
  const int64_t blocks = kElementsInCache / (kKernelColumns * sizes.contracted);
  const int64_t block = kKernelColumns * std::max<int64_t>(1, blocks);
  const int64_t contracted = std::min<int64_t>(sizes.contracted, 1024);
  const int64_t least_area = std::max<int64_t>(
      std::min<int64_t>(sizes.rows, 64) * std::min<int64_t>(sizes.columns, 64), 256);
  int64_t largest_area = 64 << 10;
  if (scheduler == YnnScheduler::kFirst) {
    // It takes rows for columns where there are as many, and then its tiles grow.
    largest_area = sizes.rows == sizes.columns ? kMostBytes : 512 << 10;
  }
  DotTile tile = {.rows = std::min<int64_t>(sizes.rows, 16),
                  .columns = std::min(sizes.columns, block)};
  while (true) {
    const int64_t area = tile.rows * tile.columns;
    const int64_t cost = (tile.rows + tile.columns) * contracted;
    if (area >= least_area && (cost >= 64 << 10 || area >= largest_area)) return tile;
    if ((4 * tile.columns <= tile.rows || tile.rows >= sizes.rows) &&
        tile.columns < sizes.columns) {
      tile.columns *= 2;
    } else if (tile.rows < sizes.rows) {
      tile.rows *= 2;
    } else {
      return tile;
    }
  }
}

class Schedule {
 public:
  Schedule(const HloComputation& fused, int64_t thread_count, YnnScheduler scheduler)
      : scheduler_(scheduler),
        instructions_(fused.instructions),
        root_(fused.root),
        // The thread that waits for the others works as well.
        workers_(std::max<int64_t>(thread_count, 1) + 1),
        values_(instructions_.size()) {}

  int64_t Bytes() {
    for (size_t i = 0; i < instructions_.size(); ++i) Describe(i);
    for (size_t i = instructions_.size(); i-- > 0;) InferAxes(i);
    is_lost_ = IsLost();
    for (size_t i = instructions_.size(); i-- > 0;) Place(i);
    int64_t sum = 0;
    for (size_t i = 0; i < values_.size(); ++i) {
      sum = AddSizes(sum, BufferBytes(i) + CopiedOperandBytes(i));
    }
    return AddSizes(sum, LargestPartialSum());
  }

 private:
  const Numbers& Dimensions(size_t i) const { return instructions_[i].shape.dimensions; }

  void Describe(size_t i) {
    const HloInstruction& instruction = instructions_[i];
    Scheduled& value = values_[i];
    value.kind = KindOf(instruction);
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
    Axes& axes = values_[i].axes;
    while (axes.size() < Dimensions(i).size()) axes.push_back(next_axis_++);
    for (size_t k = 0; k < instructions_[i].operands.size(); ++k) {
      const size_t operand = instructions_[i].operands[k];
      Axes seen = OperandAxes(i, k);
      Axes& known = values_[operand].axes;
      if (known.size() != seen.size()) {
        known = std::move(seen);
        continue;
      }
      for (size_t d = 0; d < known.size(); ++d) {
        if (known[d] != seen[d]) known[d] = next_axis_++;
      }
    }
  }

  Axes OperandAxes(size_t i, size_t operand_number) {
    const HloInstruction& instruction = instructions_[i];
    const size_t operand = instruction.operands[operand_number];
    Axes seen(Dimensions(operand).size(), -1);
    switch (values_[i].kind) {
      case Kind::kElementwise:
        if (seen.size() == values_[i].axes.size()) seen = values_[i].axes;
        break;
      case Kind::kView:
        MapView(i, operand, seen);
        break;
      case Kind::kReduce:
        if (operand_number == 0) MapReduced(i, seen);
        break;
      case Kind::kDot:
        MapDotOperand(i, operand_number == 0, seen);
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

  void MapView(size_t i, size_t operand, Axes& seen) const {
    const Axes& axes = values_[i].axes;
    if (instructions_[i].opcode == "broadcast") {
      const Numbers dimensions = instructions_[i].Numbers("dimensions");
      for (size_t d = 0; d < std::min(dimensions.size(), seen.size()); ++d) {
        if (dimensions[d] < static_cast<int64_t>(axes.size())) seen[d] = axes[dimensions[d]];
      }
      return;
    }
    // A reshape keeps its axes if it only adds or drops dimensions of one element.
    const auto longer = [](llvm::ArrayRef<int64_t> dimensions) {
      llvm::SmallVector<size_t, 4> numbers;
      for (size_t d = 0; d < dimensions.size(); ++d) {
        if (dimensions[d] != 1) numbers.push_back(d);
      }
      return numbers;
    };
    const llvm::SmallVector<size_t, 4> to = longer(Dimensions(i));
    const llvm::SmallVector<size_t, 4> from = longer(Dimensions(operand));
    if (to.size() != from.size()) return;
    for (size_t d = 0; d < to.size(); ++d) {
      if (Dimensions(i)[to[d]] != Dimensions(operand)[from[d]]) return;
    }
    for (size_t d = 0; d < to.size(); ++d) seen[from[d]] = axes[to[d]];
  }

  void MapReduced(size_t i, Axes& seen) {
    const Numbers reduced = instructions_[i].Numbers("dimensions");
    const Axes& axes = values_[i].axes;
    size_t kept = 0;
    for (size_t d = 0; d < seen.size(); ++d) {
      if (llvm::is_contained(reduced, static_cast<int64_t>(d))) continue;
      if (kept < axes.size()) seen[d] = axes[kept++];
    }
  }

  // A dot's result has the batch dimensions, then the left operand's own, then the right one's.
  void MapDotOperand(size_t i, bool is_left, Axes& seen) {
    const HloInstruction& dot = instructions_[i];
    const Axes& axes = values_[i].axes;
    const Numbers batch = dot.Numbers(is_left ? "lhs_batch_dims" : "rhs_batch_dims");
    const Numbers contracted =
        dot.Numbers(is_left ? "lhs_contracting_dims" : "rhs_contracting_dims");
    for (size_t b = 0; b < std::min(batch.size(), axes.size()); ++b) {
      if (batch[b] < static_cast<int64_t>(seen.size())) seen[batch[b]] = axes[b];
    }
    const size_t own = seen.size() - std::min(seen.size(), batch.size() + contracted.size());
    size_t next = is_left ? batch.size() : axes.size() - std::min(axes.size(), own);
    for (size_t d = 0; d < seen.size(); ++d) {
      const auto number = static_cast<int64_t>(d);
      if (llvm::is_contained(batch, number) || llvm::is_contained(contracted, number)) continue;
      if (next < axes.size()) seen[d] = axes[next++];
    }
  }

  // Loops over the dimensions, outermost first, in tiles of a fixed size that take the innermost
  // dimensions first.
  static llvm::SmallVector<Loop, 4> TileLoops(llvm::ArrayRef<int64_t> dimensions, const Axes& axes,
                                              int64_t element_bytes) {
    llvm::SmallVector<Loop, 4> loops;
    int64_t room = kTileBytes / std::max<int64_t>(element_bytes, 1);
    for (size_t d = std::min(dimensions.size(), axes.size()); d-- > 0;) {
      const int64_t step = std::max<int64_t>(1, std::min(room, dimensions[d]));
      room = std::max<int64_t>(1, room / step);
      loops.push_back({.axis = axes[d], .extent = dimensions[d], .step = step});
    }
    std::reverse(loops.begin(), loops.end());
    return loops;
  }

  llvm::SmallVector<Loop, 4> ReduceLoops(size_t i) const {
    const HloInstruction& reduce = instructions_[i];
    if (reduce.operands.empty()) return {};
    const size_t operand = reduce.operands[0];
    llvm::SmallVector<Loop, 4> loops =
        TileLoops(Dimensions(operand), values_[operand].axes, values_[operand].element_bytes);
    for (const int64_t reduced : reduce.Numbers("dimensions")) {
      if (reduced < static_cast<int64_t>(loops.size())) loops[reduced].reduces = true;
    }
    return loops;
  }

  // A long reduction that ends in the innermost dimension is made in parts, each for all of the
  // dimensions outside of the one that is cut. The loop over the parts is then the only one.
  llvm::SmallVector<Loop, 4> LoopsOverParts(llvm::SmallVector<Loop, 4> loops) const {
    const bool is_first = scheduler_ == YnnScheduler::kFirst;
    const int64_t row = is_first ? 1 : kLeastReducedElements;
    int64_t room = (is_first ? kTileBytes : 2 * kTileBytes) / 4;
    if (loops.empty() || !loops.back().reduces) return loops;
    for (size_t l = loops.size(); l-- > 0;) {
      Loop loop = loops[l];
      loop.step = std::min(room, loop.extent);
      loop.required = true;
      const bool is_innermost = l + 1 == loops.size();
      const int64_t elements = is_innermost ? CeilOf(loop.step, row) * row : loop.step;
      room = std::max<int64_t>(1, room / std::max<int64_t>(1, elements));
      const bool has_outer =
          llvm::any_of(llvm::ArrayRef(loops).take_front(l),
                       [](const Loop& outer) { return !outer.reduces && outer.extent > 1; });
      if (loop.reduces && loop.step < loop.extent && has_outer) return {loop};
    }
    return loops;
  }

  // Where the dimensions of a dot's result lie, and how long they are.
  DotSizes SizesOf(size_t i) const {
    const HloInstruction& dot = instructions_[i];
    DotSizes sizes;
    if (dot.operands.size() < 2) return sizes;
    const Numbers& left = Dimensions(dot.operands[0]);
    const Numbers contracted = dot.Numbers("lhs_contracting_dims");
    const size_t rank = Dimensions(i).size();
    sizes.batch_dimensions = std::min(dot.Numbers("lhs_batch_dims").size(), rank);
    const size_t not_own = sizes.batch_dimensions + contracted.size();
    sizes.columns_start =
        std::min(sizes.batch_dimensions + left.size() - std::min(left.size(), not_own), rank);
    for (size_t d = sizes.batch_dimensions; d < rank; ++d) {
      int64_t& size = d < sizes.columns_start ? sizes.rows : sizes.columns;
      size = MultiplySizes(size, std::max<int64_t>(1, Dimensions(i)[d]));
    }
    for (const int64_t d : contracted) {
      if (d >= static_cast<int64_t>(left.size())) continue;
      sizes.contracted = MultiplySizes(sizes.contracted, std::max<int64_t>(1, left[d]));
    }
    return sizes;
  }

  llvm::SmallVector<Loop, 4> DotLoops(size_t i) const {
    const HloInstruction& dot = instructions_[i];
    const Axes& axes = values_[i].axes;
    llvm::SmallVector<Loop, 4> loops;
    if (dot.operands.size() < 2) return loops;
    const size_t left = dot.operands[0];
    const DotSizes sizes = SizesOf(i);
    const bool is_first = scheduler_ == YnnScheduler::kFirst;
    if (is_first && IsAlone(i)) return loops;
    const DotTile tile = ChooseDotTile(sizes, scheduler_);
    const auto add_batches = [&] {
      for (size_t d = 0; d < sizes.batch_dimensions; ++d) {
        loops.push_back({.axis = axes[d], .extent = Dimensions(i)[d]});
      }
    };
    if (!is_first) add_batches();
    const int64_t longest = kLongestDotSlice / std::max<int64_t>(1, values_[left].element_bytes);
    const Numbers contracted = dot.Numbers("lhs_contracting_dims");
    const auto left_rank = static_cast<int64_t>(values_[left].axes.size());
    const bool is_matrix_product = contracted.size() == 1 && contracted[0] < left_rank;
    if (!is_first && is_matrix_product && sizes.contracted >= longest) {
      loops.push_back({.axis = values_[left].axes[contracted[0]],
                       .extent = sizes.contracted,
                       .step = longest / 2,
                       .reduces = true});
    }
    const auto add = [&](size_t begin, size_t end, int64_t step) {
      for (size_t d = begin; d < end; ++d) {
        loops.push_back(
            {.axis = axes[d], .extent = Dimensions(i)[d], .step = step, .required = true});
      }
    };
    if (GoesByRows(i)) {
      add(sizes.batch_dimensions, sizes.columns_start, tile.rows);
      add(sizes.columns_start, axes.size(), tile.columns);
    } else {
      add(sizes.columns_start, axes.size(), tile.columns);
      add(sizes.batch_dimensions, sizes.columns_start, tile.rows);
    }
    if (is_first) add_batches();
    return loops;
  }

  // Whether the first scheduler gives a dot loops that nothing else shares: it fuses a batched dot
  // with the next dot only, if it contracts few elements.
  bool IsAlone(size_t i) const {
    const DotSizes sizes = SizesOf(i);
    const bool is_long = sizes.contracted * values_[i].element_bytes > kMostBytesContractedInBatch;
    const auto dots =
        llvm::count_if(values_, [](const Scheduled& value) { return value.kind == Kind::kDot; });
    return sizes.batch_dimensions > 0 && (is_long || dots == 1);
  }

  // The first scheduler knows dimensions by their extents. It is lost where all of a dot's are the
  // same, and then nothing in the fusion shares a loop.
  bool IsLost() const {
    if (scheduler_ != YnnScheduler::kFirst) return false;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].kind != Kind::kDot) continue;
      const DotSizes sizes = SizesOf(i);
      if (sizes.rows == sizes.columns && sizes.rows == sizes.contracted) return true;
    }
    return false;
  }

  // Whether a dot's outer loop is over the left operand's rows, and not over the right one's
  // columns.
  bool GoesByRows(size_t i) const {
    return scheduler_ == YnnScheduler::kSecond && SizesOf(i).contracted <= kMostContractedByRows;
  }

  llvm::SmallVector<Loop, 4> OwnLoops(size_t i) const {
    llvm::SmallVector<Loop, 4> loops;
    switch (values_[i].kind) {
      case Kind::kElementwise:
        loops = TileLoops(Dimensions(i), values_[i].axes, values_[i].element_bytes);
        break;
      case Kind::kReduce:
        loops = LoopsOverParts(ReduceLoops(i));
        break;
      case Kind::kDot:
        loops = DotLoops(i);
        break;
      case Kind::kGiven:
      case Kind::kView:
      case Kind::kOther:
        break;
    }
    // A dimension of one element is no loop.
    llvm::erase_if(loops, [](const Loop& loop) { return loop.extent <= 1; });
    return loops;
  }

  // The loops that all users of the value have in common.
  llvm::SmallVector<size_t, 4> CommonNest(const Scheduled& value) const {
    llvm::SmallVector<size_t, 4> common;
    if (is_lost_) return common;
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

  // Which of the loops, those that are left, can be the users' loop over `axis`; their number if
  // none can. Nothing is moved over a loop that reduces, nor is the order of required steps
  // changed.
  size_t Match(llvm::ArrayRef<Loop> loops, int axis) const {
    for (size_t l = 0; l < loops.size(); ++l) {
      if (loops[l].reduces) break;
      if (scheduler_ == YnnScheduler::kSecond && loops[l].required && l > 0) continue;
      if (loops[l].axis == axis) return l;
    }
    return loops.size();
  }

  void Place(size_t i) {
    Scheduled& value = values_[i];
    if (value.kind == Kind::kGiven) return;
    value.nest = CommonNest(value);
    if (value.kind == Kind::kView) return;
    llvm::SmallVector<Loop, 4> own = OwnLoops(i);
    for (; value.shared < value.nest.size(); ++value.shared) {
      Loop& loop = loops_[value.nest[value.shared]];
      const size_t matched = Match(own, loop.axis);
      if (matched == own.size()) break;
      if (own[matched].required) {
        const int64_t step = own[matched].step;
        loop.step = loop.required ? std::min(std::lcm(loop.step, step), loop.extent) : step;
        loop.required = true;
      } else if (!loop.required) {
        loop.step = std::min(loop.step, own[matched].step);
      }
      own.erase(own.begin() + static_cast<ptrdiff_t>(matched));
    }
    value.nest.truncate(value.shared);
    for (const Loop& loop : own) {
      value.nest.push_back(loops_.size());
      loops_.push_back(loop);
    }
  }

  // A broadcast or reshape is not computed, unless its user is a kernel that reads its operand as
  // an array of its own.
  bool IsMadeForKernel(size_t i) const {
    return instructions_[i].opcode == "broadcast" &&
           llvm::any_of(values_[i].users, [&](size_t user) {
             return values_[user].kind == Kind::kDot || values_[user].kind == Kind::kOther;
           });
  }

  // What is kept of the value: a tile for each thread that can be at work on it.
  int64_t BufferBytes(size_t i) const {
    const Scheduled& value = values_[i];
    if (value.kind == Kind::kGiven) return 0;
    if (value.kind == Kind::kView && !IsMadeForKernel(i)) return 0;
    const std::string_view type = instructions_[i].shape.element_type;
    // The result has its memory from XLA, but not if it is accumulated in another type first.
    if (i == root_ && value.element_bytes == ElementBytes(type)) return 0;
    int64_t bytes = value.element_bytes;
    int64_t tiles = 1;
    for (size_t d = 0; d < Dimensions(i).size(); ++d) {
      int64_t extent = Dimensions(i)[d];
      for (size_t l = 0; l < value.shared; ++l) {
        const Loop& loop = loops_[value.nest[l]];
        if (loop.axis != value.axes[d]) continue;
        if (!loop.reduces) tiles = MultiplySizes(tiles, CeilOf(extent, loop.step));
        extent = std::min(extent, loop.step);
      }
      bytes = MultiplySizes(bytes, extent);
    }
    // Small tiles are kept by each thread that had one, though it may not be at work now.
    const bool is_kept = tiles > 1 && bytes <= kLargestKept;
    return MultiplySizes(bytes, is_kept ? workers_ : std::min(tiles, workers_));
  }

  // A kernel wants some operands in an order of their own, or with a margin of zeros.
  int64_t CopiedOperandBytes(size_t i) const {
    const HloInstruction& instruction = instructions_[i];
    if (instruction.operands.size() < 2) return 0;
    const int64_t left = instructions_[instruction.operands[0]].shape.bytes;
    const int64_t right = instructions_[instruction.operands[1]].shape.bytes;
    if (values_[i].kind == Kind::kDot) {
      // The right operand is copied by columns; inside a loop over rows that is done before the
      // loop.
      const bool is_inside = scheduler_ == YnnScheduler::kFirst && values_[i].shared > 0;
      return is_inside || GoesByRows(i) ? right : 0;
    }
    if (instruction.opcode != "convolution") return 0;
    // The first scheduler copies the image as well, with a margin, which adds little.
    return right + (scheduler_ == YnnScheduler::kFirst ? left + left / 8 : 0);
  }

  // A long reduction is made in parts, which are summed at once.
  int64_t LargestPartialSum() const {
    int64_t largest = 0;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].kind != Kind::kReduce) continue;
      int64_t elements = 1;
      int64_t parts = 1;
      for (const Loop& loop : ReduceLoops(i)) {
        if (loop.reduces) {
          parts = MultiplySizes(parts, CeilOf(loop.extent, loop.step));
        } else {
          elements = MultiplySizes(elements, loop.extent);
        }
      }
      if (parts == 1) continue;
      if (scheduler_ == YnnScheduler::kSecond) {
        const size_t operand = instructions_[i].operands[0];
        const int64_t whole = instructions_[operand].shape.element_count();
        elements = std::min(MultiplySizes(elements, parts), whole / kLeastReducedElements);
      } else {
        elements = MultiplySizes(elements, parts);
      }
      largest = std::max(largest, MultiplySizes(elements, values_[i].element_bytes));
    }
    return largest;
  }

  YnnScheduler scheduler_;
  const std::vector<HloInstruction>& instructions_;
  size_t root_;
  int64_t workers_;
  std::vector<Scheduled> values_;
  std::vector<Loop> loops_;
  int next_axis_ = 0;
  bool is_lost_ = false;
};

}  // namespace

int64_t YnnScratch(const HloComputation& fused, int64_t thread_count, YnnScheduler scheduler) {
  return Schedule(fused, thread_count, scheduler).Bytes();
}

}  // namespace plimsoll
