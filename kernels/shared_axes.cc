#include "kernels/shared_axes.h"

#include <cstdint>
#include <string_view>

#include "analysis/indexing.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

using JoinDimensions = llvm::function_ref<void(const OpDimension& a, const OpDimension& b)>;

OpDimension OfOperand(size_t number, size_t dimension) {
  return {.is_result = false, .number = number, .dimension = dimension};
}

OpDimension OfResult(size_t dimension, size_t number = 0) {
  return {.is_result = true, .number = number, .dimension = dimension};
}

void RelateReduction(const Op& op, JoinDimensions join) {
  const llvm::ArrayRef<int64_t> reduced = op.Get("dimensions").integers();
  for (size_t value = 0; value < op.result_count(); ++value) {
    size_t to = 0;
    for (size_t i = 0; i < op.operand(value)->type().rank(); ++i) {
      join(OfOperand(0, i), OfOperand(value, i));
      if (llvm::is_contained(reduced, static_cast<int64_t>(i))) continue;
      join(OfOperand(value, i), OfResult(to++, value));
    }
  }
}

void RelateProduct(const Op& op, JoinDimensions join) {
  const Attribute numbers = op.Get("dot_dimension_numbers");
  const auto dimensions = [&](std::string_view field) {
    const Attribute list = numbers.Find(field);
    return list ? list.integers() : llvm::ArrayRef<int64_t>();
  };
  const llvm::ArrayRef<int64_t> batch[] = {dimensions("lhs_batching_dimensions"),
                                           dimensions("rhs_batching_dimensions")};
  const llvm::ArrayRef<int64_t> contracted[] = {dimensions("lhs_contracting_dimensions"),
                                                dimensions("rhs_contracting_dimensions")};
  size_t to = 0;
  for (size_t i = 0; i < batch[0].size(); ++i, ++to) {
    for (size_t side = 0; side < 2; ++side) {
      join(OfOperand(side, static_cast<size_t>(batch[side][i])), OfResult(to));
    }
  }
  for (size_t i = 0; i < contracted[0].size(); ++i) {
    join(OfOperand(0, static_cast<size_t>(contracted[0][i])),
         OfOperand(1, static_cast<size_t>(contracted[1][i])));
  }
  for (size_t side = 0; side < 2; ++side) {
    for (size_t i = 0; i < op.operand(side)->type().rank(); ++i) {
      if (llvm::is_contained(batch[side], static_cast<int64_t>(i)) ||
          llvm::is_contained(contracted[side], static_cast<int64_t>(i))) {
        continue;
      }
      join(OfOperand(side, i), OfResult(to++));
    }
  }
}

// What is grouped is an axis of the indices and the updates; segments are one of the result.
void RelateGroupedReduction(const Op& op, JoinDimensions join) {
  const Indexing indexing = IndexingOf(op);
  const size_t rank = op.operand(0)->type().rank();
  for (size_t d = 0; d < rank; ++d) join(OfOperand(0, d), OfResult(d));
  for (const auto [d, window] : llvm::enumerate(indexing.WindowDimensions(rank))) {
    if (window < 0 || indexing.NumberFor(static_cast<int>(d)) >= 0) continue;
    join(OfOperand(2, static_cast<size_t>(window)), OfResult(d));
  }
  const llvm::SmallVector<int> to = indexing.BatchDimensions(op.operand(1)->type().rank());
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] >= 0) join(OfOperand(1, d), OfOperand(2, static_cast<size_t>(to[d])));
  }
  for (const auto [of_result, of_indices] :
       llvm::zip(indexing.operand_batching_dims, indexing.indices_batching_dims)) {
    join(OfOperand(1, static_cast<size_t>(of_indices)), OfResult(static_cast<size_t>(of_result)));
  }
}

}  // namespace

std::optional<std::vector<std::pair<size_t, size_t>>> MatchReshape(const Op& op) {
  std::vector<std::pair<size_t, size_t>> matched;
  const llvm::ArrayRef<int64_t> from = op.operand(0)->type().shape();
  const llvm::ArrayRef<int64_t> to = op.result(0)->type().shape();
  size_t i = 0;
  for (size_t j = 0; j < to.size(); ++j) {
    if (to[j] == 1) continue;
    while (i < from.size() && from[i] == 1) ++i;
    if (i == from.size() || from[i] != to[j]) return std::nullopt;
    matched.emplace_back(i++, j);
  }
  return matched;
}

void ForEachSharedAxis(const Op& op, JoinDimensions join) {
  switch (op.opcode()) {
    case Opcode::kBroadcastInDim: {
      const llvm::ArrayRef<int64_t> to = op.Get("broadcast_dimensions").integers();
      for (size_t i = 0; i < to.size(); ++i) {
        if (op.operand(0)->type().shape()[i] == 1) continue;
        join(OfOperand(0, i), OfResult(static_cast<size_t>(to[i])));
      }
      return;
    }
    case Opcode::kTranspose: {
      const llvm::ArrayRef<int64_t> from = op.Get("permutation").integers();
      for (size_t i = 0; i < from.size(); ++i) {
        join(OfOperand(0, static_cast<size_t>(from[i])), OfResult(i));
      }
      return;
    }
    case Opcode::kReshape:
      if (const auto matched = MatchReshape(op)) {
        for (const auto& [from, to] : *matched) join(OfOperand(0, from), OfResult(to));
      }
      return;
    case Opcode::kReduce:
      RelateReduction(op, join);
      return;
    case Opcode::kDotGeneral:
      RelateProduct(op, join);
      return;
    case Opcode::kScatter:
      RelateGroupedReduction(op, join);
      return;
    case Opcode::kChloTopK: {
      const size_t last = op.operand(0)->type().rank() - 1;
      for (size_t i = 0; i < last; ++i) {
        join(OfOperand(0, i), OfResult(i));
        join(OfResult(i), OfResult(i, 1));
      }
      join(OfResult(last), OfResult(last, 1));
      return;
    }
    case Opcode::kConstant:
    case Opcode::kIota:
      return;
    default:
      for (size_t operand = 0; operand < op.operand_count(); ++operand) {
        const size_t rank = op.operand(operand)->type().rank();
        for (size_t i = 0; i < rank; ++i) join(OfOperand(operand, i), OfResult(i));
      }
  }
}

}  // namespace plimsoll
