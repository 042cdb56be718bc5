#include "kernels/insert_kernels.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/block_view.h"
#include "analysis/reducers.h"
#include "analysis/run_time.h"
#include "ir/builder.h"
#include "kernels/emit_call.h"
#include "kernels/insert_loops.h"
#include "kernels/make_staged_program.h"
#include "kernels/make_tile_program.h"
#include "kernels/region_levels.h"
#include "kernels/sort_ops.h"
#include "kernels/tile_region.h"
#include "kernels/tile_text.h"
#include "kernels/unroll_rounds.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// A kernel for one level of a region, or for several.
struct MadeKernel {
  std::string program;
  std::vector<Value*> operands;
  std::vector<RegionKernel::Result> results;
  KernelCost cost;
};

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

// What a reduction begins with: one number, or for each element of its result one. Null if it is
// the one that kernels begin with.
Value* InitialOf(const RegionKernel::Result& result) {
  const Op& maker = *result.value->defining_op();
  const bool is_scatter = maker.Is(Opcode::kScatter);
  const bool is_reduced = is_scatter || (maker.Is(Opcode::kReduce) && maker.result_count() == 1);
  if (!is_reduced || result.reducer == Opcode::kUnknown) return nullptr;
  Value* initial = maker.operand(is_scatter ? 0 : 1);
  const Reduction reduction = {
      .reducer = result.reducer, .dimensions = {}, .element = initial->type().element_type()};
  return IsNeutral(reduction, *initial) ? nullptr : initial;
}

// The call, and after it what is left to do for each result.
Status EmitKernel(Builder& builder, const MadeKernel& kernel,
                  llvm::DenseMap<const Value*, Value*>& replaced) {
  Context& context = builder.context();
  std::vector<Type> types;
  for (const RegionKernel::Result& result : kernel.results) {
    types.push_back(context.TensorType(result.shape, ElementType(context, result.type)));
  }
  ASSIGN_OR_RETURN(Op* const call, EmitCall(builder, kernel.program, kernel.operands,
                                            std::move(types), kernel.cost));
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
    if (!result.permutation.empty()) value = builder.Transpose(value, result.permutation);
    if (Value* initial = InitialOf(result)) {
      initial = builder.Convert(initial, element);
      if (initial->type().rank() == 0) {
        initial = builder.BroadcastInDim(initial, value->type().shape(), {});
      }
      value = builder.Binary(result.reducer, initial, value);
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
      if (!known_) known_.emplace(block_);
      ASSIGN_OR_RETURN(const bool is_replaced, Replace(*seed, refused.reason));
      if (is_replaced) {
        known_.reset();
      } else {
        report_.refused.push_back(std::move(refused));
      }
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
    const std::optional<TileRegion> region = known_->regions.Find(seed, reason);
    if (!region) return false;
    const RegionLevels levels = FindRegionLevels(known_->view, *region);
    std::vector<MadeKernel> kernels;
    for (size_t first = 0; first < levels.levels.size();) {
      StatusOr<size_t> end = MakeNext(*region, levels, first, kernels);
      if (!end.ok()) {
        reason = end.status().message();
        return false;
      }
      first = *end;
    }
    if (!IsFaster(*region, kernels)) {
      reason = "XLA is thought to be as fast";
      return false;
    }
    Builder builder(context_, *block_.last());
    builder.set_location(seed.location());
    llvm::DenseMap<const Value*, Value*> replaced;
    for (MadeKernel& kernel : kernels) {
      RETURN_IF_ERROR(EmitKernel(builder, kernel, replaced));
      report_.inserted.push_back({.program = std::move(kernel.program),
                                  .seconds = kernel.cost.seconds,
                                  .scratch_bytes = kernel.cost.scratch_bytes,
                                  .location = seed.location(),
                                  .spared_bytes = BytesOf(seed),
                                  .spared_type = seed.type().ToString()});
    }
    for (const auto& [from, to] : replaced) const_cast<Value*>(from)->ReplaceAllUsesWith(to);
    Erase(*region);
    SortOps(block_);
    return true;
  }

  // Adds kernels for one level or more, whatever is faster, and gives the level that is next.
  StatusOr<size_t> MakeNext(const TileRegion& region, const RegionLevels& levels, size_t first,
                            std::vector<MadeKernel>& kernels) const {
    StatusOr<MadeKernel> staged = MadeKernel();
    size_t end = first;
    for (size_t next = first; next < levels.levels.size(); ++next) {
      StatusOr<MadeKernel> longer = MakeStages(region, levels, first, next + 1);
      if (longer.ok()) {
        staged = std::move(longer);
        end = next + 1;
      } else if (next > first) {
        break;
      } else {
        staged = longer.status();
      }
    }
    std::vector<MadeKernel> single;
    double seconds = 0;
    for (size_t level = first; level < std::max(end, first + 1); ++level) {
      const Status status = MakeTiles(region, levels.levels[level], single);
      if (status.ok()) continue;
      if (end == first) return HasProducts(region) ? staged.status() : status;
      single.clear();
      break;
    }
    for (const MadeKernel& kernel : single) seconds += kernel.cost.seconds;
    if (end > first) {
      std::vector<MadeKernel> beside;
      double staged_seconds = staged->cost.seconds;
      for (size_t level = first; level < end; ++level) {
        const RegionLevel rest = {.sinks = SinksBesideStages(region, levels.levels[level]),
                                  .written = {}};
        if (rest.sinks.empty()) continue;
        RETURN_IF_ERROR(MakeTiles(region, rest, beside));
      }
      for (const MadeKernel& kernel : beside) staged_seconds += kernel.cost.seconds;
      if (single.empty() || staged_seconds < seconds) {
        kernels.push_back(*std::move(staged));
        llvm::append_range(kernels, std::move(beside));
        return end;
      }
    }
    llvm::append_range(kernels, std::move(single));
    return std::max(end, first + 1);
  }

  static bool HasProducts(const TileRegion& region) {
    return llvm::any_of(
        region.axes, [](const RegionAxis& axis) { return axis.role == RegionAxisRole::kFeature; });
  }

  // Adds kernels of tiles for one level.
  Status MakeTiles(const TileRegion& region, const RegionLevel& level,
                   std::vector<MadeKernel>& kernels) const {
    for (const RegionPart& part : PartsOf(region, level)) {
      ASSIGN_OR_RETURN(RegionKernel kernel,
                       MakeTileProgram(part.region, part.level.sinks, part.level.written));
      ASSIGN_OR_RETURN(
          const KernelCost cost,
          options_.costs.tiles(kernel.program, LengthsOf(kernel), options_.most_scratch));
      kernels.push_back({.program = WriteTiles(kernel.program),
                         .operands = std::move(kernel.operands),
                         .results = std::move(kernel.results),
                         .cost = cost});
    }
    return OkStatus();
  }

  StatusOr<MadeKernel> MakeStages(const TileRegion& region, const RegionLevels& levels,
                                  size_t first, size_t end) const {
    if (options_.costs.stages == nullptr) {
      return Status(ErrorCode::kNotUnderstood, "it would be a kernel of stages");
    }
    ASSIGN_OR_RETURN(StagedKernel kernel, MakeStagedProgram(region, levels, first, end));
    std::vector<llvm::ArrayRef<int64_t>> operands;
    for (const Value* operand : kernel.operands) operands.push_back(operand->type().shape());
    std::vector<llvm::ArrayRef<int64_t>> results;
    for (const RegionKernel::Result& result : kernel.results) results.emplace_back(result.shape);
    ASSIGN_OR_RETURN(const KernelCost cost, options_.costs.stages(kernel.program, operands, results,
                                                                  options_.most_scratch));
    return MadeKernel{.program = WriteStages(kernel.program),
                      .operands = std::move(kernel.operands),
                      .results = std::move(kernel.results),
                      .cost = cost};
  }

  static std::vector<const Op*> OpsOf(const TileRegion& region) {
    std::vector<const Op*> ops;
    for (const Value* value : region.values) ops.push_back(value->defining_op());
    llvm::append_range(ops, region.sinks);
    return ops;
  }

  bool IsFaster(const TileRegion& region, llvm::ArrayRef<MadeKernel> kernels) const {
    double seconds = 0;
    for (const MadeKernel& kernel : kernels) seconds += kernel.cost.seconds;
    const std::vector<const Op*> ops = OpsOf(region);
    const llvm::DenseSet<const Op*> part(ops.begin(), ops.end());
    return seconds * options_.least_gain <= SecondsOfPart(block_, part);
  }

  // What the kernels do now.
  static void Erase(const TileRegion& region) {
    std::vector<Op*> ops;
    for (const Op* op : OpsOf(region)) ops.push_back(op->result(0)->defining_op());
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

  // What is known of the block until it changes.
  struct Known {
    explicit Known(const Block& block) : view(block), regions(view) {}
    BlockView view;
    TileRegions regions;
  };

  Context& context_;
  Block& block_;
  const KernelOptions& options_;
  KernelReport& report_;
  std::optional<Known> known_;
  llvm::DenseSet<const Value*> tried_;
};

}  // namespace

StatusOr<KernelReport> InsertKernels(Context& context, Block& block, const KernelOptions& options) {
  KernelReport report;
  if (options.costs.loops != nullptr) RETURN_IF_ERROR(InsertLoops(context, block, options, report));
  std::vector<Block*> blocks = {&block};
  std::vector<Op*> rounds;
  for (Op& op : block) {
    Walk(op, [&](Op& inner) {
      if (UnrolledRounds::CanUnroll(inner, options.least_bytes)) {
        rounds.push_back(&inner);
        return;
      }
      // Bodies of reductions have nothing big.
      if (!inner.Is(Opcode::kWhile) && !inner.Is(Opcode::kCase) && !inner.Is(Opcode::kIf)) return;
      for (size_t i = 0; i < inner.region_count(); ++i) {
        if (!inner.region(i).empty()) blocks.push_back(&inner.region(i).front());
      }
    });
  }
  UnrolledRounds unrolled(context);
  llvm::erase_if(rounds, [&](Op* loop) { return unrolled.Unroll(*loop); });
  for (Block* one : blocks) {
    RETURN_IF_ERROR(Inserter(context, *one, options, report).Run());
  }
  llvm::append_range(rounds, unrolled.RollUp());
  if (options.costs.loops == nullptr) return report;
  for (Op* loop : rounds) RETURN_IF_ERROR(InsertLoop(context, *loop, options, report));
  return report;
}

}  // namespace plimsoll
