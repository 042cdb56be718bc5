#include "kernels/insert_kernels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/block_view.h"
#include "analysis/reducers.h"
#include "ir/builder.h"
#include "kernels/emit_call.h"
#include "kernels/insert_loops.h"
#include "kernels/make_tile_program.h"
#include "kernels/sort_ops.h"
#include "kernels/tile_region.h"
#include "kernels/tile_text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// What one kernel gives.
struct Group {
  std::vector<const Op*> sinks;
  std::vector<const Value*> written;
};

// Sinks whose operands need results of other sinks come later: one kernel for each such level.
std::map<int, Group> MakeGroups(const BlockView& view, const TileRegion& region) {
  std::map<int, Group> groups;
  llvm::DenseMap<const Value*, int> levels;
  for (const Op* op : view.ops()) {
    const bool is_inside = op->result_count() == 1 && region.values.contains(op->result(0));
    const bool is_sink = region.sinks.contains(op);
    int level = 0;
    const auto take = [&](const Value* value) {
      const bool is_from_kernel = !is_inside && !is_sink && region.written.contains(value);
      level = std::max(level, levels.lookup(value) + (is_from_kernel ? 1 : 0));
    };
    for (const Value* operand : op->operands()) take(operand);
    for (const Value* captured : view.Captured(*op)) take(captured);
    if (is_sink) groups[level].sinks.push_back(op);
    if (is_inside && region.written.contains(op->result(0))) {
      groups[level].written.push_back(op->result(0));
    }
    for (const Value* result : op->results()) levels[result] = level + (is_sink ? 1 : 0);
  }
  return groups;
}

std::vector<int64_t> LengthsOf(const RegionKernel& kernel) {
  std::vector<int64_t> lengths(kernel.program.axes.size(), 1);
  const auto take = [&](const TileArray& array, llvm::ArrayRef<int64_t> shape) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (array.axes[i] != kNoAxis) lengths[static_cast<size_t>(array.axes[i])] = shape[i];
    }
  };
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    take(kernel.program.operands[i], kernel.operands[i]->type().shape());
  }
  for (size_t i = 0; i < kernel.results.size(); ++i) {
    take(kernel.program.results[i].array, kernel.results[i].shape);
  }
  return lengths;
}

// The call, and after it what is left to do for each result.
Status EmitKernel(Builder& builder, const RegionKernel& kernel, const KernelCost& cost,
                  llvm::DenseMap<const Value*, Value*>& replaced) {
  Context& context = builder.context();
  std::vector<Type> types;
  for (size_t i = 0; i < kernel.results.size(); ++i) {
    types.push_back(context.TensorType(kernel.results[i].shape,
                                       ElementType(context, kernel.program.results[i].array.type)));
  }
  ASSIGN_OR_RETURN(Op* const call, EmitCall(builder, WriteTiles(kernel.program), kernel.operands,
                                            std::move(types), cost));
  for (size_t i = 0; i < kernel.results.size(); ++i) {
    const RegionKernel::Result& result = kernel.results[i];
    Value* value = call->result(i);
    const Type element = value->type().element_type();
    if (result.outer > 0) {
      std::vector<int64_t> outer;
      for (size_t j = 0; j < result.outer; ++j) outer.push_back(static_cast<int64_t>(j));
      value =
          builder.Reduce(value, NeutralOf(builder, result.reducer, element), outer, result.reducer);
    }
    const Op& maker = *result.value->defining_op();
    if (maker.Is(Opcode::kReduce) && maker.result_count() == 1) {
      const std::optional<Reduction> reduction = ReductionOf(maker);
      if (result.reducer != Opcode::kUnknown && !IsNeutral(*reduction, *maker.operand(1))) {
        Value* initial = builder.Convert(maker.operand(1), element);
        value = builder.Binary(result.reducer,
                               builder.BroadcastInDim(initial, value->type().shape(), {}), value);
      }
    }
    if (result.value->type() != value->type()) {
      value = builder.Convert(value, result.value->type().element_type());
    }
    replaced[result.value] = value;
  }
  return builder.status();
}

class Inserter {
 public:
  Inserter(Context& context, Block& block, const KernelOptions& options, KernelReport& report)
      : context_(context), block_(block), options_(options), report_(report) {}

  Status Run() {
    while (const Value* seed = NextSeed()) {
      RefusedKernel refused = {.bytes = BytesOf(*seed),
                               .type = seed->type().ToString(),
                               .location = seed->location(),
                               .reason = {}};
      ASSIGN_OR_RETURN(const bool is_replaced, Replace(*seed, refused.reason));
      if (!is_replaced) report_.refused.push_back(std::move(refused));
    }
    return OkStatus();
  }

 private:
  // The largest value that was not tried yet.
  const Value* NextSeed() {
    const Value* largest = nullptr;
    for (const Op& op : block_) {
      for (const Value* value : op.results()) {
        if (BytesOf(*value) < options_.least_bytes || tried_.contains(value)) continue;
        if (largest == nullptr || BytesOf(*value) > BytesOf(*largest)) largest = value;
      }
    }
    if (largest != nullptr) tried_.insert(largest);
    return largest;
  }

  StatusOr<bool> Replace(const Value& seed, std::string& reason) {
    const BlockView view(block_);
    const std::optional<TileRegion> region = FindTileRegion(view, seed, reason);
    if (!region) return false;
    std::vector<RegionKernel> kernels;
    std::vector<KernelCost> costs;
    for (const auto& [level, group] : MakeGroups(view, *region)) {
      StatusOr<RegionKernel> kernel = MakeTileProgram(*region, group.sinks, group.written);
      if (!kernel.ok()) {
        reason = kernel.status().message();
        return false;
      }
      const StatusOr<KernelCost> cost = options_.cost(kernel->program, LengthsOf(*kernel));
      if (!cost.ok()) {
        reason = cost.status().message();
        return false;
      }
      kernels.push_back(*std::move(kernel));
      costs.push_back(*cost);
    }
    Builder builder(context_, *block_.last());
    builder.set_location(seed.location());
    llvm::DenseMap<const Value*, Value*> replaced;
    for (size_t i = 0; i < kernels.size(); ++i) {
      RETURN_IF_ERROR(EmitKernel(builder, kernels[i], costs[i], replaced));
      report_.inserted.push_back({.program = WriteTiles(kernels[i].program),
                                  .seconds = costs[i].seconds,
                                  .location = seed.location(),
                                  .spared_bytes = BytesOf(seed)});
    }
    for (const auto& [from, to] : replaced) const_cast<Value*>(from)->ReplaceAllUsesWith(to);
    Erase(*region);
    SortOps(block_);
    return true;
  }

  // What the kernels do now.
  static void Erase(const TileRegion& region) {
    std::vector<Op*> ops;
    for (const Value* value : region.values) ops.push_back(value->defining_op());
    for (const Op* sink : region.sinks) ops.push_back(sink->result(0)->defining_op());
    bool has_changed = true;
    while (has_changed) {
      has_changed = false;
      for (Op*& op : ops) {
        if (op == nullptr) continue;
        if (llvm::any_of(op->results(), [](const Value* value) { return value->has_uses(); })) {
          continue;
        }
        op->Erase();
        op = nullptr;
        has_changed = true;
      }
    }
  }

  Context& context_;
  Block& block_;
  const KernelOptions& options_;
  KernelReport& report_;
  llvm::DenseSet<const Value*> tried_;
};

}  // namespace

StatusOr<KernelReport> InsertKernels(Context& context, Block& block, const KernelOptions& options) {
  KernelReport report;
  if (options.loop_cost != nullptr) RETURN_IF_ERROR(InsertLoops(context, block, options, report));
  std::vector<Block*> blocks = {&block};
  for (Op& op : block) {
    Walk(op, [&](Op& inner) {
      // Bodies of reductions have nothing big.
      if (!inner.Is(Opcode::kWhile) && !inner.Is(Opcode::kCase) && !inner.Is(Opcode::kIf)) return;
      for (size_t i = 0; i < inner.region_count(); ++i) {
        if (!inner.region(i).empty()) blocks.push_back(&inner.region(i).front());
      }
    });
  }
  for (Block* one : blocks) {
    RETURN_IF_ERROR(Inserter(context, *one, options, report).Run());
  }
  return report;
}

}  // namespace plimsoll
