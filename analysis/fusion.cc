#include "analysis/fusion.h"

#include <algorithm>
#include <cstdint>

#include "analysis/effects.h"
#include "ir/opcode.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// As in XLA: how often an op may be written into one kernel, ...
constexpr int kMostCopies = 15;
// ... and how many parts a concatenation that is fused may have.
constexpr size_t kMostParts = 8;

// An op inside of a kernel.
struct Place {
  int kernel;
  bool is_reused;       // Its elements are needed more than once.
  bool is_elementwise;  // They are needed only for the same element of the kernel's result.
  int copies;
  // The ops that ask for its elements by an index of their own.
  llvm::SmallVector<int, 4> indexed_by;
};

bool IsElementwise(Opcode code) {
  switch (code) {
    case Opcode::kBroadcast:
    case Opcode::kBroadcastInDim:
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return false;
    default:
      return true;
  }
}

// True if the op needs an element of that operand for more than one element of its result.
bool Reuses(const KernelNode& node, size_t operand) {
  switch (node.code) {
    case Opcode::kBroadcast:
    case Opcode::kBroadcastInDim:
    case Opcode::kDynamicSlice:
      return true;
    case Opcode::kPad:
      return operand == 1;
    case Opcode::kReduce:
      return operand >= node.operands.size() / 2;
    case Opcode::kDynamicUpdateSlice:
      return operand >= 2;
    default:
      return false;
  }
}

// True if an op that needs this one twice has to compute it twice.
bool CannotShare(Opcode code) {
  return code == Opcode::kConcatenate || code == Opcode::kDynamicUpdateSlice ||
         code == Opcode::kPad || code == Opcode::kReduce;
}

int64_t ElementCount(const Value* value) { return value->type().element_count().value_or(0); }

// Concatenating rows side by side is slow inside of other loops.
bool IsSlowConcatenation(const KernelNode& node) {
  if (node.code != Opcode::kConcatenate || !node.op->Is(Opcode::kConcatenate)) return false;
  const Op& op = *node.op;
  const Type type = op.result(0)->type();
  const Attribute dimension = op.Get("dimension");
  return op.operand_count() > kMostParts ||
         (type.rank() > 1 && dimension &&
          dimension.integer() == static_cast<int64_t>(type.rank()) - 1);
}

// True if the op reads at most one value of about the size of its result.
bool IsAboutUnary(const Op& op) {
  const auto true_rank = [](const Value* value) {
    return value->type().Is(TypeKind::kTensor)
               ? llvm::count_if(value->type().shape(), [](int64_t size) { return size != 1; })
               : 0;
  };
  const auto rank = true_rank(op.result(0));
  int large = 0;
  for (size_t i = 0; i < op.operand_count(); ++i) {
    const Op* maker = op.operand(i)->defining_op();
    if (maker != nullptr && (maker->Is(Opcode::kBroadcastInDim) || maker->Is(Opcode::kIota) ||
                             maker->Is(Opcode::kConstant))) {
      continue;
    }
    if (true_rank(op.operand(i)) >= rank) ++large;
  }
  return large <= 1;
}

// True if computing the op in more than one kernel reads no more memory than keeping its result.
bool IsCheapToRead(const KernelNode& node) {
  const Op& op = *node.op;
  if (node.operands.size() <= 1 || IsAboutUnary(op)) return true;
  std::vector<Value*> operands = op.operands();
  llvm::sort(operands);
  int64_t read = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i == 0 || operands[i] != operands[i - 1]) read += ElementCount(operands[i]);
  }
  return read <= ElementCount(op.result(0));
}

bool IsAlwaysDuplicable(const KernelNode& node) {
  const Op& op = *node.op;
  if (node.code == Opcode::kBroadcastInDim || node.code == Opcode::kBroadcast) return true;
  return op.Is(Opcode::kConvert) && op.operand(0)->type().bytes() < op.result(0)->type().bytes();
}

// True if the op reads the value in another shape, so that the places of its elements differ.
bool ReadsReshaped(const KernelNode& user, size_t operand, const KernelGraph& graph, int number) {
  if (user.code != user.op->opcode() || operand >= user.op->operand_count()) return false;
  const Type type = graph.values[number].value->type();
  const Type seen = user.op->operand(operand)->type();
  if (IsReshapedProduct(*user.op, operand)) return true;
  if (!type.Is(TypeKind::kTensor) || !seen.Is(TypeKind::kTensor)) return false;
  // Products read transposed operands as they are.
  std::vector<int64_t> sizes = type.shape().vec();
  std::vector<int64_t> seen_sizes = seen.shape().vec();
  if (user.code == Opcode::kDotGeneral) {
    llvm::sort(sizes);
    llvm::sort(seen_sizes);
  }
  return sizes != seen_sizes;
}

class Fuser {
 public:
  explicit Fuser(const KernelGraph& graph)
      : graph_(graph),
        uses_(graph.values.size()),
        is_returned_(graph.values.size()),
        places_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const KernelNode& node = graph.nodes[i];
      for (size_t j = 0; j < node.operands.size(); ++j) {
        if (node.operands[j] != kNone) uses_[node.operands[j]].push_back({static_cast<int>(i), j});
      }
    }
    for (const int value : graph.returned) is_returned_[value] = true;
    fused_.is_kernel.resize(graph.nodes.size());
    fused_.inputs.resize(graph.nodes.size());
  }

  FusedGraph Run() {
    // Users first, so that it is known which kernels they are in.
    for (int node = static_cast<int>(graph_.nodes.size()) - 1; node >= 0; --node) Decide(node);
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const int value = static_cast<int>(i);
      if (graph_.values[i].node == kNone) KeepInMemory(value, FindUsers(value));
    }
    return std::move(fused_);
  }

 private:
  struct Use {
    int node;
    size_t operand;
  };
  // The kernels that need a value.
  struct Users {
    llvm::SmallVector<Place, 2> kernels;  // Into which it could be fused.
    llvm::SmallVector<int, 2> readers;    // That read it from memory in any case.
    bool is_reshaped = true;              // All of those want it in another shape.
  };

  Users FindUsers(int value) const {
    Users users;
    const int maker = graph_.values[value].node;
    const bool is_made_reshaped = maker != kNone && IsReshapedProduct(*graph_.nodes[maker].op, 2);
    for (const Use& use : uses_[value]) {
      const KernelNode& user = graph_.nodes[use.node];
      const Op& op = *user.op;
      if (places_[use.node].empty()) continue;  // Nobody needs it.
      const bool is_reshaped = ReadsReshaped(user, use.operand, graph_, value);
      if (user.kind == OpClass::kOpaque || IsSlowConcatenation(user)) {
        users.readers.push_back(use.node);
        users.is_reshaped &= is_reshaped;
        continue;
      }
      const bool is_in_place = user.code == Opcode::kDynamicUpdateSlice && use.operand == 0;
      const bool is_same_index =
          user.code == Opcode::kTranspose ||
          graph_.values[value].value->type().shape() == op.result(0)->type().shape();
      const bool keeps_places =
          (is_in_place || IsElementwise(user.code)) && !is_reshaped && !is_made_reshaped;
      for (const Place& place : places_[use.node]) {
        Place added = {.kernel = place.kernel,
                       .is_reused = place.is_reused || Reuses(user, use.operand),
                       .is_elementwise = place.is_elementwise && keeps_places,
                       .copies = 0,
                       .indexed_by = {use.node}};
        if (is_same_index) added.indexed_by = place.indexed_by;
        AddPlace(users, added);
      }
    }
    return users;
  }

  static void AddPlace(Users& users, const Place& added) {
    for (Place& place : users.kernels) {
      if (place.kernel != added.kernel) continue;
      place.is_reused |= added.is_reused;
      place.is_elementwise &= added.is_elementwise;
      for (const int node : added.indexed_by) {
        if (!llvm::is_contained(place.indexed_by, node)) place.indexed_by.push_back(node);
      }
      return;
    }
    users.kernels.push_back(added);
  }

  int Copies(const Place& place) const {
    int copies = 0;
    for (const int node : place.indexed_by) {
      // The kernel's own index.
      if (node == kNone || node == place.kernel) {
        ++copies;
        continue;
      }
      for (const Place& other : places_[node]) {
        if (other.kernel == place.kernel) copies += other.copies;
      }
    }
    return copies;
  }

  bool IsFusibleInto(const KernelNode& node, Place& place, size_t user_count) const {
    const bool is_expensive = node.kind == OpClass::kExpensive;
    if (is_expensive && place.is_reused) return false;
    if (is_expensive && user_count > 1 && !IsAlwaysDuplicable(node)) return false;
    place.copies = Copies(place);
    if (node.code == Opcode::kBroadcastInDim) return true;
    if (place.copies > kMostCopies) return false;
    return !CannotShare(node.code) || (place.copies <= 1 && user_count <= 1);
  }

  // Decides in which kernels the node is, and whether it is one itself.
  void Decide(int number) {
    const KernelNode& node = graph_.nodes[number];
    if (node.kind == OpClass::kConstant) return;
    bool is_kernel = node.result_count == 0 || HasEffects(*node.op);
    bool is_reshaped = false;
    if (node.result_count == 1) {
      Users users = FindUsers(node.first_result);
      const size_t user_count = users.kernels.size() + users.readers.size();
      const bool is_returned = is_returned_[node.first_result];
      Users refused = {.kernels = {}, .readers = users.readers};
      llvm::SmallVector<Place, 2> accepted;
      const bool is_fusible = node.kind != OpClass::kOpaque && !IsSlowConcatenation(node);
      for (Place& place : users.kernels) {
        if (is_fusible && IsFusibleInto(node, place, user_count + (is_returned ? 1 : 0))) {
          accepted.push_back(place);
        } else {
          refused.kernels.push_back(place);
        }
      }
      is_kernel |= is_returned || !refused.kernels.empty() || !refused.readers.empty();
      if (is_kernel && !accepted.empty() && !IsCheapToRead(node)) {
        refused.kernels.append(accepted);
        accepted.clear();
      }
      is_reshaped =
          users.is_reshaped && users.kernels.empty() && !is_returned && !users.readers.empty();
      KeepInMemory(node.first_result, refused);
      places_[number] = accepted;
    } else {
      for (int i = 0; i < node.result_count; ++i) {
        const Users users = FindUsers(node.first_result + i);
        is_kernel |=
            is_returned_[node.first_result + i] || !users.kernels.empty() || !users.readers.empty();
        KeepInMemory(node.first_result + i, users);
      }
    }
    if (!is_kernel) return;
    fused_.is_kernel[number] = true;
    places_[number].push_back({.kernel = number,
                               .is_reused = false,
                               .is_elementwise = !is_reshaped,
                               .copies = 1,
                               .indexed_by = {kNone}});
  }

  void KeepInMemory(int value, const Users& users) {
    for (const Place& place : users.kernels) AddInput(place.kernel, value, place.is_elementwise);
    for (const int reader : users.readers) AddInput(reader, value, false);
  }

  void AddInput(int kernel, int value, bool is_elementwise) {
    for (KernelInput& input : fused_.inputs[kernel]) {
      if (input.value != value) continue;
      input.is_elementwise &= is_elementwise;
      return;
    }
    fused_.inputs[kernel].push_back({value, is_elementwise});
  }

  const KernelGraph& graph_;
  std::vector<llvm::SmallVector<Use, 3>> uses_;      // By value.
  std::vector<bool> is_returned_;                    // By value.
  std::vector<llvm::SmallVector<Place, 2>> places_;  // By node: empty if nobody needs it.
  FusedGraph fused_;
};

}  // namespace

FusedGraph Fuse(const KernelGraph& graph) { return Fuser(graph).Run(); }

}  // namespace plimsoll
