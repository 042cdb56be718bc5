#include "analysis/peak.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "analysis/fusion.h"
#include "analysis/kernel_graph.h"
#include "ir/opcode.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// XLA's passes make new ops of some, which then come after those that stay as they were.
int AgeOf(const KernelNode& node) {
  if (node.code == Opcode::kDotGeneral && node.op->Is(Opcode::kDotGeneral)) {
    const Value& result = *node.op->result(0);
    return result.has_one_use() && result.first_use()->owner()->Is(Opcode::kTranspose) ? 1 : 0;
  }
  return node.code == Opcode::kReduce && node.kind == OpClass::kOpaque ? 2 : 0;
}

// The kernels in the order in which XLA:CPU runs them: first come, first served.
std::vector<int> Schedule(const KernelGraph& graph, const FusedGraph& fused) {
  std::vector<int> missing(graph.nodes.size());
  std::vector<llvm::SmallVector<std::pair<int, int>, 3>> readers(graph.nodes.size());
  std::deque<int> ready;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!fused.is_kernel[i]) continue;
    const int number = static_cast<int>(i);
    for (const KernelInput& input : fused.inputs[i]) {
      const int maker = graph.values[input.value].node;
      if (maker == kNone) continue;
      ++missing[i];
      readers[maker].push_back({AgeOf(graph.nodes[i]), number});
    }
    if (missing[i] == 0) ready.push_back(number);
  }
  // A loop waits for a tuple of what it starts from, and its results are taken out of a tuple: each
  // goes through the queue once more.
  std::vector<int> order;
  std::vector<int> steps(graph.nodes.size());
  while (!ready.empty()) {
    const int node = ready.front();
    ready.pop_front();
    const int step = steps[node]++;
    const int start = graph.nodes[node].code == Opcode::kWhile ? 1 : 0;
    const int end = start + (graph.nodes[node].result_count > 1 ? 1 : 0);
    if (step == start) order.push_back(node);
    if (step < end) {
      ready.push_back(node);
      continue;
    }
    llvm::sort(readers[node]);
    for (const auto& [age, reader] : readers[node]) {
      if (--missing[reader] == 0) ready.push_back(reader);
    }
  }
  return order;
}

// The largest first; equal ones stay in their order.
void SortBySize(std::vector<LiveValue>& values) {
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < values.size(); ++i) order.emplace_back(-values[i].bytes, i);
  llvm::sort(order);
  std::vector<LiveValue> sorted;
  for (const auto& [bytes, i] : order) sorted.push_back(values[i]);
  values = std::move(sorted);
}

// A piece of memory.
struct Buffer {
  enum class Kind : uint8_t {
    kTemporary,
    kArgument,  // Not to be written.
    kState,     // An argument that may be written once its value is not needed any more.
    kResult,    // Handed to the caller.
  };
  Kind kind = Kind::kTemporary;
  int64_t bytes = 0;
  // The first and the last kernel that need it.
  int start = 0;
  int end = 0;
  std::vector<const Value*> values;  // One after the other.
  bool is_written_in_place = false;  // By a loop, a library or an update of a slice.
};

// Where a graph stands.
enum class Role : uint8_t { kFunction, kLoop, kBranch };

class Planner {
 public:
  Planner(const KernelGraph& graph, Role role) : graph_(graph), role_(role) {}

  // `aliases`: for each argument the result that is written into it, or kNone.
  Peak Run(llvm::ArrayRef<int> aliases) {
    fused_ = Fuse(graph_);
    order_ = Schedule(graph_, fused_);
    end_ = static_cast<int>(order_.size());
    FindLastUses();
    MakeArguments(aliases);
    CopyStates();
    FindWrittenValues();
    for (int time = 0; time < end_; ++time)
      RunKernel(graph_.nodes[order_[time]], order_[time], time);
    PlaceReturned();
    if (role_ == Role::kFunction) ReuseResults();
    return FindPeak();
  }

 private:
  // What lives inside of a loop or branch at its worst moment.
  struct Inside {
    int time;
    Peak peak;
  };

  void FindLastUses() {
    last_use_.assign(graph_.values.size(), kNone);
    for (int time = 0; time < end_; ++time) {
      for (const KernelInput& input : fused_.inputs[order_[time]]) last_use_[input.value] = time;
    }
    for (const int value : graph_.returned) last_use_[value] = end_;
  }

  int AddBuffer(Buffer::Kind kind, int value, int start) {
    buffer_of_[value] = static_cast<int>(buffers_.size());
    buffers_.push_back({.kind = kind,
                        .bytes = graph_.values[value].bytes,
                        .start = start,
                        .end = std::max(start, last_use_[value]),
                        .values = {graph_.values[value].value},
                        .is_written_in_place = false});
    return buffer_of_[value];
  }

  void MakeArguments(llvm::ArrayRef<int> aliases) {
    buffer_of_.assign(graph_.values.size(), kNone);
    state_of_.assign(graph_.returned.size(), kNone);
    for (size_t i = 0; i < graph_.arguments.size(); ++i) {
      const bool is_state = i < aliases.size() && aliases[i] != kNone;
      const int buffer = AddBuffer(is_state ? Buffer::Kind::kState : Buffer::Kind::kArgument,
                                   graph_.arguments[i], kNone);
      if (is_state) state_of_[aliases[i]] = buffer;
    }
  }

  // Where the new value of an argument may be written while others still need the old one, XLA
  // works on a copy of the old one. It does so before it knows the order of the kernels.
  void CopyStates() {
    constexpr int64_t kSmall = 1024;
    std::vector<llvm::SmallVector<int, 3>> readers(graph_.values.size());
    for (const int node : order_) {
      for (const KernelInput& input : fused_.inputs[node]) readers[input.value].push_back(node);
    }
    for (size_t i = 0; i < graph_.returned.size(); ++i) {
      const int maker = graph_.values[graph_.returned[i]].node;
      if (state_of_[i] == kNone || maker == kNone || buffers_[state_of_[i]].bytes < kSmall)
        continue;
      const int argument = FindArgument(state_of_[i]);
      if (readers[argument].empty() || AreBefore(readers[argument], maker)) continue;
      buffers_[state_of_[i]].end = kNone;
      AddBuffer(Buffer::Kind::kTemporary, argument, 0);
    }
  }

  int FindArgument(int buffer) const {
    return *llvm::find_if(graph_.arguments, [&](int value) { return buffer_of_[value] == buffer; });
  }

  // True if all of the readers come before the maker, or are it.
  bool AreBefore(llvm::ArrayRef<int> readers, int maker) const {
    std::vector<bool> is_before(graph_.nodes.size());
    llvm::SmallVector<int, 16> pending = {maker};
    while (!pending.empty()) {
      for (const KernelInput& input : fused_.inputs[pending.pop_back_val()]) {
        const int node = graph_.values[input.value].node;
        if (node == kNone || is_before[node]) continue;
        is_before[node] = true;
        pending.push_back(node);
      }
    }
    return llvm::all_of(readers, [&](int reader) { return reader == maker || is_before[reader]; });
  }

  // Puts the value behind those that are in the buffer already.
  void Join(int value, int buffer) {
    buffer_of_[value] = buffer;
    buffers_[buffer].end = std::max(buffers_[buffer].end, last_use_[value]);
    buffers_[buffer].values.push_back(graph_.values[value].value);
  }

  // True if the kernel at that time is the last to need what is in the value's buffer, and the
  // buffer may be written.
  bool Dies(int value, int time) const {
    const int buffer = buffer_of_[value];
    return buffer != kNone && buffers_[buffer].kind != Buffer::Kind::kArgument &&
           buffers_[buffer].end == time;
  }

  // The value into which a library call, loop or scatter writes that result; kNone if there is
  // none.
  static int WrittenOperand(const KernelNode& node, int result) {
    if (node.code == Opcode::kScatter) return node.operands[0];
    if (node.code != node.op->opcode()) return kNone;
    const int operand = OperandInPlace(*node.op, result);
    return operand == kNone ? kNone : node.operands[operand];
  }

  // The same with slices that are updated, which are fused with what makes the slice.
  int FindWritten(const KernelNode& node, int number, int result) const {
    if (node.code == Opcode::kDynamicUpdateSlice) {
      for (const KernelInput& input : fused_.inputs[number]) {
        if (input.is_elementwise) return input.value;
      }
    }
    return WrittenOperand(node, result);
  }

  // Marks what a later kernel writes in place.
  void FindWrittenValues() {
    is_written_.assign(graph_.values.size(), false);
    for (int time = 0; time < end_; ++time) {
      const KernelNode& node = graph_.nodes[order_[time]];
      for (int i = 0; i < node.result_count; ++i) {
        const int written = FindWritten(node, order_[time], i);
        if (written != kNone && last_use_[written] == time) is_written_[written] = true;
      }
    }
  }

  // The value whose memory the result may take; kNone if there is none. XLA decides first what is
  // written in place, and lets nothing else share those buffers.
  int FindDying(const KernelNode& node, int number, int result, int time) const {
    const int64_t bytes = graph_.values[node.first_result + result].bytes;
    const auto fits = [&](int value) {
      return graph_.values[value].bytes == bytes && Dies(value, time);
    };
    const int written = FindWritten(node, number, result);
    if (written != kNone && fits(written)) return written;
    if (is_written_[node.first_result + result] || node.code == Opcode::kWhile) return kNone;
    for (const KernelInput& input : fused_.inputs[number]) {
      if (input.is_elementwise && fits(input.value) &&
          !buffers_[buffer_of_[input.value]].is_written_in_place) {
        return input.value;
      }
    }
    return kNone;
  }

  // True if the result of a loop is what went in.
  static bool IsUnchanged(const KernelNode& node, int result) {
    return node.op->Is(Opcode::kWhile) && !node.inside.empty() &&
           !llvm::is_contained(node.inside.front()->state, result);
  }

  void RunKernel(const KernelNode& node, int number, int time) {
    for (int i = 0; i < node.result_count; ++i) {
      const int value = node.first_result + i;
      if (last_use_[value] == kNone && IsUnchanged(node, i)) continue;
      const int state = FindFreeState(value, number, time);
      const int dying = state == kNone ? FindDying(node, number, i, time) : kNone;
      if (state != kNone) {
        Join(value, state);
      } else if (dying != kNone) {
        Join(value, buffer_of_[dying]);
        buffers_[buffer_of_[dying]].is_written_in_place |= is_written_[dying];
      } else {
        AddBuffer(Buffer::Kind::kTemporary, value, time);
        buffers_.back().is_written_in_place = node.code == Opcode::kWhile;
      }
    }
    if (node.scratch > 0) {
      inside_.push_back(
          {time,
           {.bytes = node.scratch, .at = node.op, .alive = {{node.op->result(0), node.scratch}}}});
    }
    Peak worst;
    for (const std::shared_ptr<KernelGraph>& graph : node.inside) {
      std::vector<int> aliases(graph->arguments.size());
      for (size_t i = 0; i < aliases.size(); ++i) aliases[i] = static_cast<int>(i);
      const Role role = node.op->Is(Opcode::kWhile) ? Role::kLoop : Role::kBranch;
      Peak peak = Planner(*graph, role).Run(aliases);
      if (peak.bytes > worst.bytes) worst = std::move(peak);
    }
    if (worst.bytes > 0) inside_.push_back({time, std::move(worst)});
  }

  // The buffer of the argument that this value is returned into, if the kernel may write there.
  int FindFreeState(int value, int number, int time) const {
    if (last_use_[value] != end_) return kNone;
    for (size_t i = 0; i < graph_.returned.size(); ++i) {
      if (graph_.returned[i] != value || state_of_[i] == kNone) continue;
      const Buffer& state = buffers_[state_of_[i]];
      if (state.end < time) return state_of_[i];
      if (state.end > time) continue;
      for (const KernelInput& input : fused_.inputs[number]) {
        if (input.is_elementwise && buffer_of_[input.value] == state_of_[i]) return state_of_[i];
      }
    }
    return kNone;
  }

  // What is returned is in the caller's memory, unless an argument that is still needed is there.
  void PlaceReturned() {
    for (size_t i = 0; i < graph_.returned.size(); ++i) {
      const int buffer = buffer_of_[graph_.returned[i]];
      if (buffer == kNone || state_of_[i] != kNone) continue;
      if (buffers_[buffer].kind == Buffer::Kind::kTemporary) {
        buffers_[buffer].kind = Buffer::Kind::kResult;
      }
    }
  }

  // A result's memory, and when it is taken.
  struct Host {
    int buffer;
    int64_t bytes;
    std::vector<std::pair<int, int>> taken;
  };

  // True if the host has room for so many bytes at that time. `guest` is the buffer that is to be
  // there, or kNone.
  bool Take(Host& host, int64_t bytes, int start, int end, int guest) const {
    if (bytes > host.bytes) return false;
    for (size_t i = 0; i < host.taken.size(); ++i) {
      const auto& [other_start, other_end] = host.taken[i];
      if (end < other_start || other_end < start) continue;
      // The result itself may be written over what it is made of.
      if (i != 0 || end != other_start || !IsMadeOf(host.buffer, guest, end)) return false;
    }
    host.taken.emplace_back(start, end);
    return true;
  }

  // True if the kernel at that time writes into the one buffer, element by element, what it reads
  // from the other.
  bool IsMadeOf(int buffer, int from, int time) const {
    const int number = order_[time];
    const KernelNode& node = graph_.nodes[number];
    return node.result_count == 1 && buffer_of_[node.first_result] == buffer &&
           llvm::any_of(fused_.inputs[number], [&](const KernelInput& input) {
             return input.is_elementwise && buffer_of_[input.value] == from;
           });
  }

  // Puts temporaries into the memory of results that are not there yet, as long as that helps.
  void ReuseResults() {
    std::vector<Host> hosts;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Buffer& buffer = buffers_[i];
      if (buffer.kind == Buffer::Kind::kResult || buffer.kind == Buffer::Kind::kState) {
        hosts.push_back({static_cast<int>(i), buffer.bytes, {{buffer.start, buffer.end}}});
      }
    }
    llvm::sort(hosts, [](const Host& a, const Host& b) {
      return std::pair(b.bytes, a.buffer) < std::pair(a.bytes, b.buffer);
    });
    if (hosts.size() > kMostHosts) hosts.resize(kMostHosts);
    const auto take = [&](int64_t bytes, int start, int end, int guest) {
      return llvm::any_of(hosts, [&](Host& host) { return Take(host, bytes, start, end, guest); });
    };
    for (int i = 0; i < kMostGuests; ++i) {
      const int time = FindWorst().first;
      if (time == kNone || !HostAt(time, take)) return;
    }
  }

  // Hosts the largest of what lives at that time and finds a place.
  bool HostAt(int time, llvm::function_ref<bool(int64_t, int, int, int)> take) {
    std::vector<int> alive;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (IsCounted(i) && buffers_[i].start <= time && time <= buffers_[i].end) {
        alive.push_back(static_cast<int>(i));
      }
    }
    llvm::sort(alive, [&](int a, int b) {
      return std::pair(buffers_[a].bytes, a) > std::pair(buffers_[b].bytes, b);
    });
    for (const int i : alive) {
      if (!take(buffers_[i].bytes, buffers_[i].start, buffers_[i].end, i)) continue;
      buffers_[i].kind = Buffer::Kind::kResult;
      return true;
    }
    for (Inside& inside : inside_) {
      if (inside.time != time) continue;
      for (LiveValue& live : inside.peak.alive) {
        if (live.bytes == 0 || !take(live.bytes, time, time, kNone)) continue;
        inside.peak.bytes -= live.bytes;
        live.bytes = 0;
        return true;
      }
    }
    return false;
  }

  bool IsCounted(size_t buffer) const { return buffers_[buffer].kind == Buffer::Kind::kTemporary; }

  // The time at which most bytes live, and how many.
  std::pair<int, int64_t> FindWorst() const {
    std::vector<int64_t> change(end_ + 2);
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (!IsCounted(i)) continue;
      change[buffers_[i].start] += buffers_[i].bytes;
      change[buffers_[i].end + 1] -= buffers_[i].bytes;
    }
    std::vector<int64_t> extra(end_ + 1);
    for (const Inside& inside : inside_) extra[inside.time] += inside.peak.bytes;
    std::pair<int, int64_t> worst = {kNone, 0};
    int64_t live = 0;
    for (int time = 0; time < end_; ++time) {
      live += change[time];
      if (live + extra[time] > worst.second) worst = {time, live + extra[time]};
    }
    return worst;
  }

  Peak FindPeak() {
    const auto [worst, bytes] = FindWorst();
    Peak peak;
    peak.bytes = bytes;
    if (worst == kNone) return peak;
    peak.at = graph_.nodes[order_[worst]].op;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Buffer& buffer = buffers_[i];
      if (IsCounted(i) && buffer.start <= worst && worst <= buffer.end) {
        peak.alive.push_back({buffer.values.back(), buffer.bytes});
      }
    }
    for (Inside& inside : inside_) {
      if (inside.time != worst) continue;
      llvm::copy_if(inside.peak.alive, std::back_inserter(peak.alive),
                    [](const LiveValue& live) { return live.bytes > 0; });
    }
    SortBySize(peak.alive);
    return peak;
  }

  // More than these are not tried, so that the time stays linear.
  static constexpr size_t kMostHosts = 32;
  static constexpr int kMostGuests = 64;

  const KernelGraph& graph_;
  const Role role_;
  FusedGraph fused_;
  std::vector<int> order_;        // Nodes.
  int end_ = 0;                   // The time at which the block returns.
  std::vector<int> last_use_;     // By value.
  std::vector<int> buffer_of_;    // By value.
  std::vector<bool> is_written_;  // By value.
  std::vector<int> state_of_;     // By returned value: the buffer that it has to end in.
  std::vector<Buffer> buffers_;
  std::vector<Inside> inside_;
};

// For each argument the result that is written into it, as the function's attributes say.
std::vector<int> DonatedArguments(const Block& block) {
  std::vector<int> aliases(block.argument_count(), kNone);
  const Op* function = block.parent();
  const Attribute attributes = function != nullptr ? function->Get("arg_attrs") : Attribute();
  if (!attributes || !attributes.Is(AttributeKind::kArray)) return aliases;
  for (size_t i = 0; i < aliases.size() && i < attributes.items().size(); ++i) {
    const Attribute argument = attributes.items()[i];
    const Attribute alias =
        argument.Is(AttributeKind::kDictionary) ? argument.Find("tf.aliasing_output") : Attribute();
    const Op* last = block.last();
    if (alias && alias.Is(AttributeKind::kInteger) && last != nullptr && alias.integer() >= 0 &&
        alias.integer() < static_cast<int64_t>(last->operand_count())) {
      aliases[i] = static_cast<int>(alias.integer());
    }
  }
  return aliases;
}

}  // namespace

Peak PeakOf(const Block& block) {
  const KernelGraph graph = MakeKernelGraph(block);
  const Op* parent = block.parent();
  if (parent == nullptr || parent->Is(Opcode::kFunc)) {
    return Planner(graph, Role::kFunction).Run(DonatedArguments(block));
  }
  std::vector<int> aliases(graph.arguments.size(), kNone);
  if (!parent->Is(Opcode::kWhile)) return Planner(graph, Role::kBranch).Run(aliases);
  for (size_t i = 0; i < aliases.size(); ++i) aliases[i] = static_cast<int>(i);
  return Planner(graph, Role::kLoop).Run(aliases);
}

llvm::DenseSet<const Value*> MaterializedValues(const Block& block) {
  const KernelGraph graph = MakeKernelGraph(block);
  const FusedGraph fused = Fuse(graph);
  llvm::DenseSet<const Value*> values;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!fused.is_kernel[i]) continue;
    for (size_t j = 0; j < graph.nodes[i].op->result_count(); ++j) {
      values.insert(graph.nodes[i].op->result(j));
    }
  }
  return values;
}

bool IsMaterialized(const Value& value) {
  return !value.is_argument() && MaterializedValues(*value.block()).contains(&value);
}

}  // namespace plimsoll
