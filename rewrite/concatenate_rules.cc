#include "rewrite/concatenate_rules.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/indexed_value.h"
#include "analysis/op_class.h"
#include "analysis/reducers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/gather_reads.h"
#include "rewrite/pieces.h"

namespace plimsoll {
namespace {

// More runs of neighbours than this are left to a gather.
constexpr size_t kMostRuns = 16;

bool HasElements(const Value& value) { return value.type().element_count().value_or(0) > 0; }

// Neighbouring indices are one part.
Builder::Values GatherOfConcatenate(RuleScope& scope) {
  const std::optional<GatherRead> read = GatherReadOf(scope.op());
  if (!read) return {};
  Value* operand = scope.op().operand(0);
  const Op* concatenate = operand->defining_op();
  const auto dimension = static_cast<int64_t>(read->dimension);
  if (!IsConcatenate(concatenate) || concatenate->Get("dimension").integer() != dimension) {
    return {};
  }
  llvm::SmallVector<std::pair<int64_t, int64_t>> runs;
  for (const int64_t index : read->indices) {
    if (!runs.empty() && runs.back().second == index) {
      ++runs.back().second;
    } else {
      runs.emplace_back(index, index + 1);
    }
  }
  if (runs.size() > kMostRuns) return {};
  Pieces pieces(scope.builder(), read->dimension);
  llvm::SmallVector<Value*> parts;
  for (const auto& [start, limit] : runs) parts.push_back(pieces.Get(operand, start, limit));
  Value* whole = parts.size() == 1 ? parts.front() : scope.builder().Concatenate(parts, dimension);
  if (whole == nullptr) return {};
  return {ArrangeAsGathered(scope.builder(), scope.op(), *read, *whole)};
}

Builder::Values SliceOfConcatenate(RuleScope& scope) {
  if (scope.op().Is(Opcode::kGather)) return GatherOfConcatenate(scope);
  const std::optional<SliceBounds> bounds = BoundsOfSlice(scope.op());
  if (!bounds || !HasElements(*scope.op().result(0))) return {};
  // Each dimension by its number; what was concatenated may have been moved since.
  IndexedValue element = {.value = scope.op().operand(0), .indices = {}};
  const auto rank = static_cast<int>(bounds->starts.size());
  for (const int d : llvm::seq(rank)) element.indices.push_back(d);
  while (!IsConcatenate(element.value->defining_op())) {
    std::optional<IndexedValue> before = SeeThroughOne(element);
    if (!before) return {};
    element = *std::move(before);
  }
  SliceBounds inner;
  for (const int index : element.indices) {
    inner.starts.push_back(index == kNoIndex ? 0 : bounds->starts[index]);
    inner.limits.push_back(index == kNoIndex ? 1 : bounds->limits[index]);
    inner.strides.push_back(index == kNoIndex ? 1 : bounds->strides[index]);
  }
  const size_t d = element.value->defining_op()->Get("dimension").integer();
  const int64_t size = element.value->type().shape()[d];
  if (inner.starts[d] == 0 && inner.limits[d] == size && inner.strides[d] == 1) return {};
  Pieces pieces(scope.builder(), d);
  element.value = pieces.Get(element.value, inner.starts[d], inner.limits[d], inner.strides[d]);
  if (element.value == nullptr) return {};
  inner.starts[d] = 0;
  inner.limits[d] = element.value->type().shape()[d];
  inner.strides[d] = 1;
  element.value = SliceOf(scope.builder(), element.value, inner);
  if (element.value == nullptr) return {};
  return {Arrange(scope.builder(), element, llvm::to_vector(llvm::seq(rank)),
                  scope.op().result(0)->type().shape())};
}

// Elementwise ops, users first.
struct Tree {
  llvm::SmallVector<const Op*> ops;
  llvm::DenseSet<const Op*> set;
};

// The op and the elementwise ops before it that are there for it alone.
Tree TreeOf(const Op& root) {
  Tree tree = {.ops = {&root}, .set = {&root}};
  llvm::DenseMap<const Op*, size_t> uses;
  for (size_t i = 0; i < tree.ops.size(); ++i) {
    for (const Value* operand : tree.ops[i]->operands()) {
      const Op* op = operand->defining_op();
      if (op == nullptr || op->block() != root.block() || !MapsElements(*op)) continue;
      if (++uses[op] < operand->use_count() || !tree.set.insert(op).second) continue;
      tree.ops.push_back(op);
    }
  }
  return tree;
}

// The pieces of the first concatenate along that dimension which ops of the tree read; none if
// there is none.
llvm::SmallVector<int64_t> PieceSizesIn(const Tree& tree, size_t dimension) {
  for (const Op* op : tree.ops) {
    for (const Value* operand : op->operands()) {
      const Op* before = operand->defining_op();
      if (IsConcatenate(before) &&
          before->Get("dimension").integer() == static_cast<int64_t>(dimension)) {
        return PieceSizes(*before);
      }
    }
  }
  return {};
}

// True if no op that uses the value comes before that one.
bool IsFirstUser(const Op& first, const Value& value) {
  llvm::DenseSet<const Op*> users;
  users.insert_range(value.users());
  for (const Op* op = value.defining_op()->next(); op != &first; op = op->next()) {
    if (users.contains(op)) return false;
  }
  return true;
}

// At the first slice of the value, all slices of it are replaced: only together they save its ops.
Builder::Values ElementwiseOfConcatenate(RuleScope& scope) {
  const Op& slice = scope.op();
  const std::optional<SliceBounds> first = BoundsOfSlice(slice);
  if (!first || !HasElements(*slice.result(0))) return {};
  Value* whole = slice.operand(0);
  const Op* root = whole->defining_op();
  const std::optional<size_t> dimension = SlicedDimension(*first, whole->type().shape());
  if (root == nullptr || !dimension || !MapsElements(*root) || root->block() != slice.block()) {
    return {};
  }
  const Tree tree = TreeOf(*root);
  const llvm::SmallVector<int64_t> sizes = PieceSizesIn(tree, *dimension);
  if (sizes.empty() || !IsFirstUser(slice, *whole)) return {};
  Pieces pieces(scope.builder(), *dimension, &tree.set);
  const auto part = [&](const SliceBounds& bounds) {
    return pieces.Get(whole, bounds.starts[*dimension], bounds.limits[*dimension],
                      bounds.strides[*dimension]);
  };
  for (const Op* user : whole->users()) {
    const std::optional<SliceBounds> bounds = BoundsOfSlice(*user);
    if (!bounds || user->block() != slice.block() || !HasElements(*user->result(0)) ||
        SlicedDimension(*bounds, whole->type().shape()) != dimension) {
      return {};
    }
    if (user != &slice) scope.AlsoReplace(user->result(0), part(*bounds));
  }
  return {part(*first)};
}

// What a reduction reads: the dimension along which it is concatenated, and the sizes there.
struct Concatenated {
  size_t dimension;
  llvm::SmallVector<int64_t> sizes;
};

std::optional<Concatenated> ConcatenatedOperand(const Op& reduce, Tree& tree) {
  const Op* op = reduce.operand(0)->defining_op();
  if (op == nullptr) return std::nullopt;
  if (IsConcatenate(op)) {
    return Concatenated{.dimension = static_cast<size_t>(op->Get("dimension").integer()),
                        .sizes = PieceSizes(*op)};
  }
  if (!MapsElements(*op) || !reduce.operand(0)->has_one_use()) return std::nullopt;
  tree = TreeOf(*op);
  for (size_t d = 0; d < reduce.operand(0)->type().rank(); ++d) {
    llvm::SmallVector<int64_t> sizes = PieceSizesIn(tree, d);
    if (!sizes.empty()) return Concatenated{.dimension = d, .sizes = std::move(sizes)};
  }
  return std::nullopt;
}

Builder::Values ReduceOfConcatenate(RuleScope& scope) {
  const Op& op = scope.op();
  const std::optional<Reduction> reduction = ReductionOf(op);
  if (!reduction) return {};
  Tree tree;
  const std::optional<Concatenated> operand = ConcatenatedOperand(op, tree);
  if (!operand || operand->sizes.size() < 2) return {};
  const bool is_along =
      llvm::is_contained(reduction->dimensions, static_cast<int64_t>(operand->dimension));
  if (is_along) {
    // Each piece starts with it.
    if (!IsIdempotent(reduction->reducer) && !IsNeutral(*reduction, *op.operand(1))) return {};
    if (RoundsPartialResults(*reduction)) {
      return scope.Refuse("sums of pieces would be rounded to few digits");
    }
  }
  Builder& builder = scope.builder();
  Pieces pieces(builder, operand->dimension, &tree.set);
  llvm::SmallVector<Value*> reduced;
  int64_t start = 0;
  for (const int64_t size : operand->sizes) {
    reduced.push_back(builder.Reduce(pieces.Get(op.operand(0), start, start + size), op.operand(1),
                                     reduction->dimensions, reduction->reducer));
    start += size;
  }
  if (!is_along) {
    const auto before = llvm::count_if(reduction->dimensions, [&](int64_t d) {
      return d < static_cast<int64_t>(operand->dimension);
    });
    return {builder.Concatenate(reduced, static_cast<int64_t>(operand->dimension) - before)};
  }
  Value* result = reduced.front();
  for (Value* other : llvm::drop_begin(reduced)) {
    result = builder.Binary(reduction->reducer, result, other);
  }
  return {result};
}

// Both operands in the same pieces along a contracted dimension of each.
Builder::Values DotOfConcatenate(RuleScope& scope) {
  const Op& dot = scope.op();
  if (!dot.Is(Opcode::kDotGeneral) || dot.Get("algorithm")) return {};
  const Op* left = dot.operand(0)->defining_op();
  const Op* right = dot.operand(1)->defining_op();
  if (!IsConcatenate(left) || !IsConcatenate(right)) return {};
  const Attribute numbers = dot.Get("dot_dimension_numbers");
  const llvm::ArrayRef<int64_t> left_contracted =
      numbers.Find("lhs_contracting_dimensions").integers();
  const llvm::ArrayRef<int64_t> right_contracted =
      numbers.Find("rhs_contracting_dimensions").integers();
  const auto* const found = llvm::find(left_contracted, left->Get("dimension").integer());
  if (found == left_contracted.end() ||
      right_contracted[found - left_contracted.begin()] != right->Get("dimension").integer()) {
    return {};
  }
  const llvm::SmallVector<int64_t> sizes = PieceSizes(*left);
  if (sizes != PieceSizes(*right) || sizes.size() < 2) return {};
  const Type element = dot.result(0)->type().element_type();
  if (IsNarrowFloat(element))
    return scope.Refuse("products of pieces would be rounded to few digits");
  const DotDimensions dimensions = {
      .left_batch = numbers.Find("lhs_batching_dimensions").integers().vec(),
      .right_batch = numbers.Find("rhs_batching_dimensions").integers().vec(),
      .left_contracted = left_contracted.vec(),
      .right_contracted = right_contracted.vec()};
  Builder& builder = scope.builder();
  Pieces left_pieces(builder, left->Get("dimension").integer());
  Pieces right_pieces(builder, right->Get("dimension").integer());
  Value* sum = nullptr;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    Value* product = builder.DotGeneral(left_pieces.Get(dot.operand(0), start, start + size),
                                        right_pieces.Get(dot.operand(1), start, start + size),
                                        dimensions, element, dot.Get("precision_config"));
    sum = sum == nullptr ? product : builder.Add(sum, product);
    start += size;
  }
  return {sum};
}

constexpr Rule kRules[] = {
    {.name = "slice_of_concatenate",
     .pattern = "a slice, or a gather at constant indices, of a concatenate or a stack",
     .result = "slices of the operands that it reads",
     .guard = "shapes are static",
     .rewrite = SliceOfConcatenate},
    {.name = "elementwise_of_concatenate",
     .pattern = "slices of what is computed element by element from a concatenate",
     .result = "the same on the pieces",
     .guard = "what is computed in between is for these slices alone",
     .rewrite = ElementwiseOfConcatenate},
    {.name = "reduce_of_concatenate",
     .pattern = "a sum, product, maximum, minimum, and, or of a concatenate",
     .result = "the same of each piece, taken together",
     .guard = "not sums and products of floats of few digits",
     .numerics = Numerics::kReassociates,
     .rewrite = ReduceOfConcatenate},
    {.name = "dot_of_concatenate",
     .pattern = "a product of two concatenates in the same pieces: [A B] [x; y]",
     .result = "A x + B y",
     .guard = "not for results of few digits",
     .numerics = Numerics::kReassociates,
     .rewrite = DotOfConcatenate},
};

}  // namespace

llvm::ArrayRef<Rule> ConcatenateRules() { return kRules; }

}  // namespace plimsoll
