#include "rewrite/scatter_rules.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "analysis/indexed_value.h"
#include "analysis/indexing.h"
#include "analysis/op_class.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/equal_indices.h"
#include "rewrite/one_hot.h"
#include "rewrite/pieces.h"

namespace plimsoll {
namespace {

// A scatter of one element for each row of its operand. Indices of values are the operand's
// dimensions.
struct RowScatter {
  IndexedValue labels;
  int written = kNoIndex;  // The dimension that labels are for.
  IndexedValue updates;
};

bool HasStaticShapes(const Op& op) {
  return llvm::all_of(op.operands(),
                      [](const Value* value) { return value->type().has_static_shape(); });
}

bool AddsOrSets(const Op& scatter) {
  if (BodyOf(scatter) == Opcode::kAdd) return true;
  const Block& body = scatter.region(0).front();
  return body.first() == body.last() && body.last()->operand(0) == body.argument(1);
}

// The numbers of all indices for one dimension of the operand; null if they are not apart.
Value* NumbersOf(const Indexing& indexing, Value& indices, size_t number) {
  if (indexing.index_map.size() == 1) return &indices;
  const Op* op = indices.defining_op();
  const bool is_apart = IsConcatenate(op) &&
                        op->Get("dimension").integer() == indexing.index_vector_dim &&
                        llvm::all_of(op->operands(), [&](const Value* operand) {
                          return operand->type().shape()[indexing.index_vector_dim] == 1;
                        });
  return is_apart ? op->operand(number) : nullptr;
}

class RowScatterFinder {
 public:
  explicit RowScatterFinder(const Op& op)
      : op_(op),
        indexing_(IndexingOf(op)),
        // Of each dimension of the indices, the operand's.
        rows_(op.operand(1)->type().rank(), kNoIndex) {}

  std::optional<RowScatter> Find() {
    const size_t rank = op_.operand(0)->type().rank();
    if (!indexing_.window_dims.empty() ||
        indexing_.index_map.size() + indexing_.operand_batching_dims.size() != rank) {
      return std::nullopt;
    }
    for (const auto [operand, indices] :
         llvm::zip(indexing_.operand_batching_dims, indexing_.indices_batching_dims)) {
      rows_[indices] = static_cast<int>(operand);
    }
    Value* labels = nullptr;
    RowScatter found;
    for (size_t i = 0; i < indexing_.index_map.size(); ++i) {
      Value* numbers = NumbersOf(indexing_, *op_.operand(1), i);
      if (numbers == nullptr) return std::nullopt;
      const auto dimension = static_cast<int>(indexing_.index_map[i]);
      if (CountsRows(*numbers, dimension)) continue;
      if (labels != nullptr) return std::nullopt;
      labels = numbers;
      found.written = dimension;
    }
    if (labels == nullptr || !EachRowIsOne()) return std::nullopt;
    found.labels = SeeThrough({.value = labels, .indices = RowsOf(*labels)});
    found.updates = {.value = op_.operand(2), .indices = {}};
    found.updates.indices.resize(op_.operand(2)->type().rank(), kNoIndex);
    const llvm::SmallVector<int> to = indexing_.BatchDimensions(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (to[i] >= 0) found.updates.indices[to[i]] = rows_[i];
    }
    found.updates = SeeThrough(std::move(found.updates));
    return found;
  }

 private:
  // True if the numbers are 0, 1, 2, ... along a dimension, which then is one of rows.
  bool CountsRows(Value& numbers, int dimension) {
    const std::optional<int> counted = FindIndexNumber(AllIndices(numbers));
    if (!counted || rows_[*counted] != kNoIndex ||
        numbers.type().shape()[*counted] != op_.operand(0)->type().shape()[dimension]) {
      return false;
    }
    rows_[*counted] = dimension;
    return true;
  }

  // True if no two indices are of the same row.
  bool EachRowIsOne() const {
    const llvm::ArrayRef<int64_t> shape = op_.operand(1)->type().shape();
    return llvm::all_of(llvm::seq<size_t>(0, shape.size()), [&](size_t i) {
      return rows_[i] != kNoIndex || shape[i] == 1 ||
             static_cast<int64_t>(i) == indexing_.index_vector_dim;
    });
  }

  llvm::SmallVector<int, 6> RowsOf(const Value& numbers) const {
    llvm::SmallVector<int, 6> rows;
    for (const auto [i, size] : llvm::enumerate(numbers.type().shape())) {
      rows.push_back(size == 1 ? kNoIndex : rows_[i]);
    }
    return rows;
  }

  const Op& op_;
  const Indexing indexing_;
  llvm::SmallVector<int, 6> rows_;
};

Builder::Values ScatterAsSelect(RuleScope& scope) {
  const Op& op = scope.op();
  if (!op.Is(Opcode::kScatter) || op.result_count() != 1 || !HasStaticShapes(op) ||
      !AddsOrSets(op) || ConstantNumber(*op.operand(0)) != 0) {
    return {};
  }
  const std::optional<RowScatter> scatter = RowScatterFinder(op).Find();
  if (!scatter) return {};
  Builder& builder = scope.builder();
  Context& context = builder.context();
  const llvm::ArrayRef<int64_t> shape = op.operand(0)->type().shape();
  const llvm::SmallVector<int> all =
      llvm::to_vector(llvm::seq<int>(0, static_cast<int>(shape.size())));
  IndexedValue labels = scatter->labels;
  labels.value = WidenLabels(builder, labels.value);
  const Type wanted = labels.value->type().element_type();
  Value* label = Arrange(builder, labels, all, shape);
  Value* update = Arrange(builder, scatter->updates, all, shape);
  Value* position = builder.Iota(context.TensorType(shape, wanted), scatter->written);
  return {
      builder.Select(builder.Compare(Comparison::kEqual, position, label), update, op.operand(0))};
}

constexpr Rule kRules[] = {
    {.name = "scatter_as_select",
     .pattern = "one element for each row scattered into zeros, as in the gradient of x[i, labels]",
     .result = "where(labels == positions, elements, 0)",
     .guard = "rows are a batch or counted by an iota, so that each has one element",
     .numerics = Numerics::kSame,
     .rewrite = ScatterAsSelect},
};

}  // namespace

llvm::ArrayRef<Rule> ScatterRules() { return kRules; }

}  // namespace plimsoll
