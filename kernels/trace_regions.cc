// Ops with regions: what is inside is traced as often as it runs.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/reducers.h"
#include "kernels/refuse.h"
#include "kernels/trace_ops.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
StatusOr<std::vector<Numbers>> OpTracer::Call(const Block& block,
                                              llvm::ArrayRef<Numbers> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) Bind(*block.argument(i), arguments[i]);
  TraceBlock(block);
  std::vector<Numbers> results;
  for (const Value* value : block.last()->operands()) {
    ASSIGN_OR_RETURN(Numbers numbers, Get(*value));
    results.push_back(std::move(numbers));
  }
  return results;
}

StatusOr<std::vector<Numbers>> OpTracer::TraceWhile(const Op& op) {
  std::vector<Numbers> state;
  for (const Value* operand : op.operands()) {
    ASSIGN_OR_RETURN(Numbers numbers, Get(*operand));
    state.push_back(std::move(numbers));
  }
  while (true) {
    if (program_.ops.size() > kMostTracedOps) return Refuse("a loop inside is too long");
    ASSIGN_OR_RETURN(const std::vector<Numbers> condition, Call(op.region(0).front(), state));
    const std::optional<uint64_t> goes_on = ConstantOf(condition[0].ops[0]);
    if (!goes_on) return Refuse("how often a loop inside turns is not known");
    if (*goes_on == 0) return state;
    ASSIGN_OR_RETURN(state, Call(op.region(1).front(), state));
  }
}

StatusOr<std::vector<Numbers>> OpTracer::TraceBranches(const Op& op) {
  ASSIGN_OR_RETURN(const Numbers index, Get(*op.operand(0)));
  std::vector<std::vector<Numbers>> branches;
  for (size_t i = 0; i < op.region_count(); ++i) {
    ASSIGN_OR_RETURN(std::vector<Numbers> results, Call(op.region(i).front(), {}));
    branches.push_back(std::move(results));
  }
  // The last branch is the one for numbers out of range; an if's first one is for true.
  std::vector<Numbers> chosen = branches.back();
  for (size_t i = op.region_count() - 1; i-- > 0;) {
    Numbers condition = index;
    if (op.Is(Opcode::kCase)) {
      const int number = Unique(AddConstant(program_, ScalarType::kI32, i));
      ASSIGN_OR_RETURN(condition.ops[0],
                       Compute(Opcode::kCompare, Comparison::kEqual, {index.ops[0], number}));
    }
    for (size_t j = 0; j < chosen.size(); ++j) {
      ASSIGN_OR_RETURN(chosen[j], Select(condition, branches[i][j], chosen[j]));
    }
  }
  return chosen;
}

StatusOr<std::vector<Numbers>> OpTracer::TraceReduce(const Op& op) {
  const llvm::ArrayRef<int64_t> reduced = op.Get("dimensions").integers();
  const size_t count = op.result_count();
  std::vector<Numbers> inputs;
  std::vector<int> first;
  std::vector<int> cover(op.operand(0)->type().rank(), kSame);
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(Numbers input, Get(*op.operand(i)));
    ASSIGN_OR_RETURN(cover, MergeCovers(cover, input.cover));
    inputs.push_back(std::move(input));
    ASSIGN_OR_RETURN(const int initial, GetScalar(*op.operand(count + i)));
    first.push_back(initial);
  }
  std::vector<size_t> kept;
  std::vector<size_t> folded;
  std::vector<int64_t> inner_shape;
  std::vector<int> kept_cover;
  for (size_t i = 0; i < cover.size(); ++i) {
    if (!llvm::is_contained(reduced, static_cast<int64_t>(i))) {
      kept.push_back(i);
      kept_cover.push_back(cover[i]);
      continue;
    }
    if (cover[i] >= 0) return Refuse("a reduction over the batch");
    folded.push_back(i);
    inner_shape.push_back(inputs[0].shape[i]);
  }
  const std::optional<Reduction> reduction = ReductionOf(op);
  const bool skips_first = reduction && IsNeutral(*reduction, *op.operand(1));
  const std::vector<int> each(inner_shape.size(), kEach);
  std::vector<Numbers> results;
  std::vector<std::vector<int>> made(count);
  const llvm::ArrayRef<int64_t> shape = op.result(0)->type().shape();
  ASSIGN_OR_RETURN(
      const Numbers one,
      MakeNumbers(shape, kept_cover, [&](const Position& position) -> StatusOr<int> {
        std::vector<int> sums = first;
        bool is_first = skips_first;
        const auto add = [&](const Position& inner) -> StatusOr<int> {
          Position from(cover.size(), 0);
          for (size_t i = 0; i < kept.size(); ++i) from[kept[i]] = position[i];
          for (size_t i = 0; i < inner.size(); ++i) from[folded[i]] = inner[i];
          std::vector<Numbers> arguments;
          for (size_t i = 0; i < count; ++i) {
            arguments.push_back({.shape = {}, .cover = {}, .ops = {sums[i]}});
          }
          for (size_t i = 0; i < count; ++i) {
            arguments.push_back({.shape = {}, .cover = {}, .ops = {inputs[i].At(from)}});
          }
          if (is_first) {
            is_first = false;
            sums[0] = arguments[1].ops[0];
            return 0;
          }
          ASSIGN_OR_RETURN(const std::vector<Numbers> next, Call(op.region(0).front(), arguments));
          for (size_t i = 0; i < count; ++i) sums[i] = next[i].ops[0];
          return 0;
        };
        ASSIGN_OR_RETURN(const Numbers done, MakeNumbers(inner_shape, each, add));
        for (size_t i = 0; i < count; ++i) made[i].push_back(sums[i]);
        return sums[0];
      }));
  for (size_t i = 0; i < count; ++i) {
    results.push_back(one);
    results.back().ops = made[i];
  }
  return results;
}

}  // namespace plimsoll
