#include "analysis/kernel_graph.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/effects.h"
#include "analysis/kernel_liveness.h"
#include "ir/opcode.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// What two ops that are the same agree in.
struct OpKey {
  std::string_view name;
  Opcode body;  // The one op of its region.
  const void* properties;
  const void* type;
  llvm::SmallVector<int, 3> operands;
  bool operator==(const OpKey&) const = default;
};

struct OpKeyInfo {
  static OpKey getEmptyKey() { return {{}, Opcode::kUnknown, nullptr, nullptr, {-10}}; }
  static OpKey getTombstoneKey() { return {{}, Opcode::kUnknown, nullptr, nullptr, {-11}}; }
  static unsigned getHashValue(const OpKey& key) {
    return static_cast<unsigned>(
        llvm::hash_combine(key.name.data(), key.body, key.properties, key.type,
                           llvm::hash_combine_range(key.operands.begin(), key.operands.end())));
  }
  static bool isEqual(const OpKey& a, const OpKey& b) { return a == b; }
};

// The function that a call runs.
const Op* Callee(const Op& call) {
  const Attribute symbol = call.Get("callee");
  const Op* top = &call;
  while (top->parent() != nullptr) top = top->parent();
  if (!symbol || !symbol.Is(AttributeKind::kSymbol) || top->entry_block() == nullptr) {
    return nullptr;
  }
  for (const Op& op : *top->entry_block()) {
    if (op.Is(Opcode::kFunc) && SymbolName(op) == symbol.text()) return &op;
  }
  return nullptr;
}

class Builder {
 public:
  // `around` adds to the graph around the one at hand, if there is one.
  Builder(KernelGraph& graph, Builder* around, bool is_loop)
      : graph_(graph), around_(around), may_hoist_(is_loop) {}

  // Adds the ops of the block, whose arguments are known already, and returns what it returns.
  std::vector<int> AddBlock(const Block& block) {
    for (const Op& op : block) {
      if (&op == block.last() && op.result_count() == 0) {
        std::vector<int> returned = Operands(op);
        // A function called here goes on with the order that there is; the rest is as usual.
        if (is_called_) return returned;
        for (int& value : returned) {
          if (graph_.values[value].is_reordered) value = AddReordered(op, value);
          value = AddSettled(op, value);
        }
        return returned;
      }
      AddOp(op);
    }
    return {};
  }

  int AddValue(const Value* value, int node = kNone, int outer = kNone) {
    graph_.values.push_back(
        {.value = value, .bytes = value->type().bytes().value_or(0), .node = node, .outer = outer});
    is_invariant_.push_back(outer != kNone);
    return static_cast<int>(graph_.values.size()) - 1;
  }

  void Set(const Value* value, int number) { numbers_[value] = number; }

  // The number of a value; what is defined around a loop comes from there.
  int Number(const Value* value) {
    const auto found = numbers_.find(value);
    if (found != numbers_.end()) return found->second;
    if (const std::optional<int> constant = AddConstant(value)) return *constant;
    const int outer = around_ != nullptr ? around_->Number(value) : kNone;
    const int number = AddValue(value, kNone, outer);
    Set(value, number);
    return number;
  }

  // One number in all places, which XLA puts where it is needed.
  std::optional<int> AddConstant(const Value* value) {
    if (!IsUniform(value)) return std::nullopt;
    const Op& op = *value->defining_op();
    std::vector<int> operands;
    for (size_t i = 0; i < op.operand_count(); ++i) operands.push_back(*AddConstant(op.operand(i)));
    const int number = IsView(op) ? operands[0] : FindOrAddNode(op, operands);
    is_invariant_[number] = may_hoist_;
    Set(value, number);
    return number;
  }

 private:
  std::vector<int> Operands(const Op& op) {
    std::vector<int> numbers;
    for (size_t i = 0; i < op.operand_count(); ++i) numbers.push_back(Number(op.operand(i)));
    return numbers;
  }

  void AddOp(const Op& op) {
    std::vector<int> operands = Operands(op);
    if (IsView(op)) {
      // Behind a barrier nothing is the same in every iteration unless all of it is.
      if (op.Is(Opcode::kOptimizationBarrier) && !AreInvariant(operands)) {
        for (int& operand : operands) operand = AsVariant(operand);
      }
      for (size_t i = 0; i < op.result_count(); ++i) Set(op.result(i), operands[i]);
      return;
    }
    if (op.Is(Opcode::kCall)) {
      const Op* callee = Callee(op);
      if (callee != nullptr && callee->entry_block() != nullptr) {
        AddCall(op, *callee->entry_block(), operands);
        return;
      }
    }
    const bool is_library_call = op.Is(Opcode::kConvolution) || op.Is(Opcode::kCustomCall) ||
                                 op.Is(Opcode::kTriangularSolve) || op.Is(Opcode::kCholesky);
    if (ClassOf(op) == OpClass::kOpaque && !is_library_call) {
      for (int& operand : operands) {
        if (graph_.values[operand].is_reordered) operand = AddReordered(op, operand);
      }
    }
    size_t dimension = 0;
    if (op.Is(Opcode::kTranspose) && TryTransposeProduct(op, operands[0])) return;
    if (op.Is(Opcode::kWhile)) {
      AddWhile(op, operands);
    } else if (op.Is(Opcode::kCase) || op.Is(Opcode::kIf)) {
      AddBranches(op, operands);
    } else if (op.Is(Opcode::kDotGeneral)) {
      AddProduct(op, operands);
    } else if (op.Is(Opcode::kReduce)) {
      AddReduction(op, operands);
    } else if (op.Is(Opcode::kAdd) && (TryAddScatter(op, operands[0], operands[1]) ||
                                       TryAddScatter(op, operands[1], operands[0]))) {
      return;
    } else if (IsCumulative(op, dimension)) {
      AddCumulative(op, operands, dimension);
    } else if (op.Is(Opcode::kSelectAndScatter)) {
      AddSelectAndScatter(op, operands);
    } else if (is_library_call) {
      AddLibraryCall(op, operands);
    } else {
      AddSimple(op, operands);
    }
  }

  // XLA makes the transposed product in the first place.
  bool TryTransposeProduct(const Op& op, int operand) {
    const Op* product = op.operand(0)->defining_op();
    if (product == nullptr || !product->Is(Opcode::kDotGeneral) || !op.operand(0)->has_one_use() ||
        op.result(0)->type().rank() != 2 || graph_.values[operand].value != op.operand(0)) {
      return false;
    }
    graph_.values[operand].value = op.result(0);
    Set(op.result(0), operand);
    return true;
  }

  // What the value is a transposed form of: products read either.
  int BeforeTranspose(int number) const {
    const int node = graph_.values[number].node;
    return node != kNone && graph_.nodes[node].code == Opcode::kTranspose
               ? graph_.nodes[node].operands[0]
               : number;
  }

  void AddProduct(const Op& op, std::vector<int> operands) {
    if (IsOuterProduct(op)) {
      AddSimple(op, operands);
      return;
    }
    const bool is_half = IsProductInFloat(op);
    for (size_t i = 0; i < operands.size(); ++i) {
      int& operand = operands[i];
      if (IsReorderedForProduct(op, i)) {
        const KernelValue value = graph_.values[operand];
        operand =
            AddPart(op, Opcode::kTranspose, OpClass::kCheap, {operand}, value.value, value.bytes);
      } else if (op.result(0)->type().rank() > 1) {
        // With a vector, XLA does not fold it in.
        operand = BeforeTranspose(operand);
      }
      if (!is_half) continue;
      const KernelValue value = graph_.values[operand];
      operand =
          AddPart(op, Opcode::kConvert, OpClass::kCheap, {operand}, value.value, 2 * value.bytes);
    }
    if (!is_half) {
      AddSimple(op, operands);
      return;
    }
    const Value* result = op.result(0);
    const int64_t bytes = result->type().bytes().value_or(0);
    const int product = AddPart(op, op.opcode(), OpClass::kOpaque, operands, result, 2 * bytes);
    Set(result, AddPart(op, Opcode::kConvert, OpClass::kCheap, {product}, result, bytes));
  }

  void AddReduction(const Op& op, std::vector<int> operands) {
    // The sum of what is negated is the negated sum.
    while (op.result_count() == 1 && BodyOf(op) == Opcode::kAdd) {
      const int node = graph_.values[operands[0]].node;
      if (node == kNone || graph_.nodes[node].code != Opcode::kNegate) break;
      operands[0] = graph_.nodes[node].operands[0];
    }
    AddSimple(op, operands);
  }

  // Adding to a value what was scattered into zeros is scattering into that value.
  bool TryAddScatter(const Op& op, int value, int scattered) {
    const int number = graph_.values[scattered].node;
    if (number == kNone) return false;
    const KernelNode& node = graph_.nodes[number];
    if (!node.op->Is(Opcode::kScatter) || node.code != Opcode::kScatter ||
        BodyOf(*node.op) != Opcode::kAdd || !IsZero(node.op->operand(0))) {
      return false;
    }
    llvm::SmallVector<int, 3> operands = node.operands;
    operands[0] = value;
    const Value* result = op.result(0);
    Set(result, AddPart(op, Opcode::kScatter, OpClass::kOpaque, operands, result,
                        result->type().bytes().value_or(0)));
    return true;
  }

  // XLA sums blocks of 16 first, then the sums of the blocks.
  void AddCumulative(const Op& op, const std::vector<int>& operands, size_t dimension) {
    constexpr int64_t kBlock = 16;
    const Type type = op.operand(0)->type();
    const int64_t bytes = type.bytes().value_or(0);
    int blocks = operands[0];
    const int64_t size = type.shape()[dimension];
    const int64_t padded = bytes / size * ((size + kBlock - 1) / kBlock * kBlock);
    if (dimension + 1 != type.rank() || padded != bytes) {
      blocks = AddPart(op, Opcode::kPad, OpClass::kOpaque, {blocks}, op.operand(0), padded);
    }
    blocks = AddPart(op, op.opcode(), OpClass::kOpaque, {blocks}, op.result(0), padded);
    KernelNode& node = AddNode(op, {blocks});
    node.scratch = bytes / kBlock;
    SetResults(op, node.first_result);
  }

  // XLA finds the place that each window selects, as one number for each dimension, and scatters.
  void AddSelectAndScatter(const Op& op, const std::vector<int>& operands) {
    const Value* operand = op.operand(0);
    const Value* source = op.operand(1);
    const int64_t rank = static_cast<int64_t>(operand->type().rank());
    const int64_t index_bytes = 4 * rank * source->type().element_count().value_or(0);
    llvm::SmallVector<int, 6> read = {operands[0]};
    for (int64_t i = 0; i < rank; ++i) {
      read.push_back(AddPart(op, Opcode::kIota, OpClass::kCheap, {}, operand,
                             4 * operand->type().element_count().value_or(0)));
    }
    const int places = AddPart(op, Opcode::kReduceWindow, OpClass::kOpaque, read, source,
                               index_bytes + source->type().bytes().value_or(0));
    const int indices =
        AddPart(op, Opcode::kConcatenate, OpClass::kOpaque, {places}, source, index_bytes);
    const int updates = AddPart(op, Opcode::kReshape, OpClass::kOpaque, {operands[1]}, source,
                                source->type().bytes().value_or(0));
    const int start = AddPart(op, Opcode::kBroadcastInDim, OpClass::kCheap, {}, operand,
                              operand->type().bytes().value_or(0));
    Set(op.result(0), AddPart(op, Opcode::kScatter, OpClass::kOpaque, {start, indices, updates},
                              op.result(0), op.result(0)->type().bytes().value_or(0)));
  }

  void AddLibraryCall(const Op& op, std::vector<int> operands) {
    const Reordered reordered = FindReordered(op);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (reordered.operands[i] != graph_.values[operands[i]].is_reordered) {
        operands[i] = AddReordered(op, operands[i]);
      }
    }
    AddSimple(op, operands);
    for (size_t i = 0; i < op.result_count(); ++i) {
      graph_.values[Number(op.result(i))].is_reordered = reordered.results[i];
    }
  }

  void AddCall(const Op& op, const Block& body, const std::vector<int>& operands) {
    // A function may be called more than once: each call has numbers of its own.
    Builder callee(graph_, around_, may_hoist_);
    callee.is_invariant_ = std::move(is_invariant_);
    callee.equal_ops_ = std::move(equal_ops_);
    callee.reordered_ = std::move(reordered_);
    callee.is_called_ = true;
    for (size_t i = 0; i < body.argument_count() && i < operands.size(); ++i) {
      callee.Set(body.argument(i), operands[i]);
    }
    const std::vector<int> returned = callee.AddBlock(body);
    is_invariant_ = std::move(callee.is_invariant_);
    equal_ops_ = std::move(callee.equal_ops_);
    reordered_ = std::move(callee.reordered_);
    for (size_t i = 0; i < op.result_count() && i < returned.size(); ++i) {
      Set(op.result(i), returned[i]);
    }
  }

  // Appends a node that XLA makes for the op, and returns its one result: in the place of `value`,
  // and of that many bytes.
  int AddPart(const Op& op, Opcode code, OpClass kind, llvm::ArrayRef<int> operands,
              const Value* value, int64_t bytes) {
    const int result = AddValue(value, static_cast<int>(graph_.nodes.size()));
    graph_.values[result].bytes = bytes;
    graph_.nodes.push_back({.op = &op,
                            .code = code,
                            .kind = kind,
                            .operands = {operands.begin(), operands.end()},
                            .first_result = result,
                            .result_count = 1,
                            .inside = {}});
    return result;
  }

  // What a loop starts from and what is returned has the usual order of dimensions. XLA transposes
  // by taking another one, and then copies.
  int AddSettled(const Op& op, int number) {
    const KernelValue value = graph_.values[number];
    if (value.node == kNone || !graph_.nodes[value.node].op->Is(Opcode::kTranspose)) return number;
    return AddPart(op, Opcode::kTranspose, OpClass::kOpaque, {number}, value.value, value.bytes);
  }

  // A copy of the value in the other order of dimensions; there is one of each.
  int AddReordered(const Op& op, int number) {
    const auto found = reordered_.find(number);
    if (found != reordered_.end()) return found->second;
    const KernelValue value = graph_.values[number];
    const int copy =
        AddPart(op, Opcode::kTranspose, OpClass::kCheap, {number}, value.value, value.bytes);
    graph_.values[copy].is_reordered = !value.is_reordered;
    reordered_[number] = copy;
    return copy;
  }

  // Appends the node, and its results as new values.
  KernelNode& AddNode(const Op& op, llvm::ArrayRef<int> operands) {
    const int node = static_cast<int>(graph_.nodes.size());
    const int first = static_cast<int>(graph_.values.size());
    for (size_t i = 0; i < op.result_count(); ++i) AddValue(op.result(i), node);
    graph_.nodes.push_back({.op = &op,
                            // XLA multiplies what it has spread.
                            .code = IsOuterProduct(op) ? Opcode::kBroadcastInDim : op.opcode(),
                            .kind = ClassOf(op),
                            .operands = {operands.begin(), operands.end()},
                            .first_result = first,
                            .result_count = static_cast<int>(op.result_count()),
                            .scratch = ReducesInStages(op) ? StageBytes(op) : 0,
                            .inside = {}});
    return graph_.nodes.back();
  }

  void SetResults(const Op& op, int first) {
    for (size_t i = 0; i < op.result_count(); ++i) Set(op.result(i), first + static_cast<int>(i));
  }

  // A node for the op, or the one that is equal to it.
  int FindOrAddNode(const Op& op, llvm::ArrayRef<int> operands) {
    const Opcode body = BodyOf(op);
    if (op.result_count() != 1 || HasEffects(op) ||
        (op.region_count() != 0 && body == Opcode::kUnknown)) {
      return AddNode(op, operands).first_result;
    }
    OpKey key = {op.name(),
                 body,
                 op.properties().data(),
                 op.result(0)->type().data(),
                 {operands.begin(), operands.end()}};
    if (IsCommutative(op)) llvm::sort(key.operands);
    const auto found = equal_ops_.find(key);
    if (found != equal_ops_.end()) return found->second;
    const int first = AddNode(op, operands).first_result;
    equal_ops_.try_emplace(std::move(key), first);
    return first;
  }

  bool AreInvariant(llvm::ArrayRef<int> operands) const {
    return llvm::all_of(operands, [&](int operand) { return is_invariant_[operand]; });
  }

  // The same value, but not to be moved out of the loop.
  int AsVariant(int number) {
    if (!is_invariant_[number]) return number;
    const KernelValue value = graph_.values[number];
    if (value.outer != kNone) number = AddValue(value.value, kNone, value.outer);
    is_invariant_[number] = false;
    return number;
  }

  void AddSimple(const Op& op, std::vector<int> operands) {
    const bool is_reordered = IsInOtherOrder(op, operands);
    if (!is_reordered && ClassOf(op) != OpClass::kOpaque) {
      for (int& operand : operands) {
        if (graph_.values[operand].is_reordered) operand = AddReordered(op, operand);
      }
    }
    const bool is_invariant = may_hoist_ && !operands.empty() && AreInvariant(operands);
    if (is_invariant && IsWorthHoisting(op)) {
      llvm::SmallVector<int, 3> outer_operands;
      for (const int operand : operands) outer_operands.push_back(Hoist(operand));
      const int first = around_->FindOrAddNode(op, outer_operands);
      for (size_t i = 0; i < op.result_count(); ++i) {
        Set(op.result(i), AddValue(op.result(i), kNone, first + static_cast<int>(i)));
      }
      return;
    }
    const int first = FindOrAddNode(op, operands);
    SetResults(op, first);
    if (is_reordered) graph_.values[first].is_reordered = true;
    const bool is_constant = op.Is(Opcode::kConstant) || op.Is(Opcode::kIota);
    for (size_t i = 0; i < op.result_count(); ++i) {
      is_invariant_[first + i] =
          may_hoist_ && (is_constant || is_invariant) && op.region_count() == 0;
    }
  }

  // Elementwise ops keep the order of what they read if a library wants that of their result.
  bool IsInOtherOrder(const Op& op, llvm::ArrayRef<int> operands) const {
    const bool is_other =
        llvm::any_of(operands, [&](int operand) { return graph_.values[operand].is_reordered; });
    return is_other && IsLaidOutAs(op) && IsReorderedLater(*op.result(0), kMostSteps);
  }

  static bool IsLaidOutAs(const Op& op) {
    return ClassOf(op) != OpClass::kOpaque && op.operand_count() > 0 &&
           op.result(0)->type().shape() == op.operand(op.operand_count() - 1)->type().shape();
  }

  static bool IsReorderedLater(const Value& value, int steps) {
    for (const Operand* use = value.first_use(); use != nullptr; use = use->next_use()) {
      const Op& user = *use->owner();
      const Reordered reordered = FindReordered(user);
      if (reordered.operands[use->index()]) return true;
      // What becomes of what a called function returns is not looked at: it may be wanted so.
      if (user.Is(Opcode::kFuncReturn) && SymbolName(*user.parent()) != "main") return true;
      if (steps > 0 && user.result_count() == 1 && IsLaidOutAs(user) &&
          IsReorderedLater(*user.result(0), steps - 1)) {
        return true;
      }
    }
    return false;
  }

  static constexpr int kMostSteps = 4;

  // The number around the loop of a value that is the same in every iteration.
  int Hoist(int number) {
    const int known = graph_.values[number].outer;
    if (known != kNone) return known;
    const int node_number = graph_.values[number].node;
    if (node_number == kNone) return around_->Number(graph_.values[number].value);
    const KernelNode& node = graph_.nodes[node_number];
    llvm::SmallVector<int, 3> operands;
    for (const int operand : node.operands) operands.push_back(Hoist(operand));
    // The value stays what it is here: it may be computed in both places.
    return around_->FindOrAddNode(*node.op, operands);
  }

  void AddWhile(const Op& op, std::vector<int> operands) {
    for (int& operand : operands) operand = AddSettled(op, operand);
    if (op.region_count() < 2 || op.region(0).empty() || op.region(1).empty()) {
      AddSimple(op, operands);
      return;
    }
    const Block& block = op.region(1).front();
    const Op& last = *block.last();
    const auto stays = [&](size_t i) { return last.operand(i) == block.argument(i); };
    auto body = std::make_shared<KernelGraph>();
    Builder inside(*body, this, /*is_loop=*/HasInvariants(block));
    for (size_t i = 0; i < operands.size(); ++i) {
      const Value* argument = block.argument(i);
      if (stays(i)) {
        const std::optional<int> constant = inside.AddConstant(op.operand(i));
        inside.Set(argument, constant ? *constant : inside.AddValue(argument, kNone, operands[i]));
        continue;
      }
      const int number = inside.AddValue(argument);
      inside.Set(argument, number);
      body->arguments.push_back(number);
      body->state.push_back(static_cast<int>(i));
    }
    const std::vector<int> returned = inside.AddBlock(block);
    for (size_t i = 0; i < body->state.size(); ++i) {
      body->returned.push_back(returned[body->state[i]]);
      const Value* seen = op.region(0).front().argument(body->state[i]);
      if (seen->has_uses()) body->decisive.push_back(static_cast<int>(i));
    }
    std::vector<std::shared_ptr<KernelGraph>> bodies;
    bodies.push_back(std::move(body));
    // What stays the same is not a result of the loop but what went in.
    std::vector<int> changing = operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (stays(i)) changing[i] = kNone;
    }
    AddWithInside(op, changing, std::move(bodies));
    for (size_t i = 0; i < operands.size(); ++i) {
      if (stays(i)) Set(op.result(i), operands[i]);
    }
  }

  // Which branch runs, if that is known.
  std::optional<size_t> FindBranch(const Op& op, int index) const {
    const int node = graph_.values[index].node;
    if (!op.Is(Opcode::kCase) || node == kNone) return std::nullopt;
    const Op& maker = *graph_.nodes[node].op;
    const Attribute value = maker.Is(Opcode::kConstant) ? maker.Get("value") : Attribute();
    int32_t number = 0;
    if (!value || !value.Is(AttributeKind::kDenseElements) ||
        value.bytes().size() != sizeof(number)) {
      return std::nullopt;
    }
    std::memcpy(&number, value.bytes().data(), sizeof(number));
    const size_t last = op.region_count() - 1;
    return number < 0 ? last : std::min(static_cast<size_t>(number), last);
  }

  void AddBranches(const Op& op, const std::vector<int>& operands) {
    const std::optional<size_t> known = FindBranch(op, operands[0]);
    if (known && !op.region(*known).empty()) {
      const std::vector<int> returned = AddBlock(op.region(*known).front());
      for (size_t i = 0; i < returned.size(); ++i) Set(op.result(i), returned[i]);
      return;
    }
    std::vector<std::shared_ptr<KernelGraph>> branches;
    for (size_t i = 0; i < op.region_count(); ++i) {
      if (op.region(i).empty()) continue;
      branches.push_back(std::make_shared<KernelGraph>());
      Builder inside(*branches.back(), this, /*is_loop=*/false);
      branches.back()->returned = inside.AddBlock(op.region(i).front());
    }
    AddWithInside(op, operands, std::move(branches));
  }

  // Adds a loop or condition, which also reads what its inside takes from around it.
  void AddWithInside(const Op& op, std::vector<int> operands,
                     std::vector<std::shared_ptr<KernelGraph>> inside) {
    for (const std::shared_ptr<KernelGraph>& graph : inside) {
      for (const int value : FindNeeded(*graph)) {
        const int outer = graph->values[value].outer;
        if (outer != kNone && !llvm::is_contained(operands, outer)) operands.push_back(outer);
      }
    }
    KernelNode& node = AddNode(op, operands);
    node.inside = std::move(inside);
    SetResults(op, node.first_result);
  }

  KernelGraph& graph_;
  Builder* around_;
  bool may_hoist_;
  bool is_called_ = false;
  llvm::DenseMap<const Value*, int> numbers_;
  std::vector<bool> is_invariant_;
  llvm::DenseMap<OpKey, int, OpKeyInfo> equal_ops_;
  llvm::DenseMap<int, int> reordered_;  // The copies in the other order.
};

}  // namespace

KernelGraph MakeKernelGraph(const Block& block) {
  KernelGraph graph;
  Builder builder(graph, nullptr, /*is_loop=*/false);
  for (size_t i = 0; i < block.argument_count(); ++i) {
    const int number = builder.AddValue(block.argument(i));
    builder.Set(block.argument(i), number);
    graph.arguments.push_back(number);
    graph.state.push_back(static_cast<int>(i));
  }
  graph.returned = builder.AddBlock(block);
  RemoveDeadState(graph);
  return graph;
}

}  // namespace plimsoll
