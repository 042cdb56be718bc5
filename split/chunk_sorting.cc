// top_k on one chunk, and the best of several chunks. An entry with a negative index stands for
// none: it comes after all others, whatever its value.

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "split/chunk_ops_internal.h"

namespace plimsoll {
namespace {

int64_t LastDimension(const Op& op) {
  return static_cast<int64_t>(op.result(0)->type().rank()) - 1;
}

// XLA's top_k has +NaN before infinity, +0 before -0, and -NaN behind all others.
StatusOr<Op*> IsLarger(Builder& builder, Value* left, Value* right) {
  const Type element = left->type().element_type();
  std::string_view order = "TOTALORDER";
  if (element.Is(TypeKind::kInteger)) {
    const bool is_unsigned =
        element.signedness() == Signedness::kUnsigned || element.integer_width() == 1;
    order = is_unsigned ? "UNSIGNED" : "SIGNED";
  }
  Context& context = builder.context();
  return builder.Create(
      Opcode::kCompare, {left, right},
      {{"compare_type", context.Enum("stablehlo.comparison_type", order)},
       {"comparison_direction", context.Enum("stablehlo.comparison_direction", "GT")}});
}

// Which of two entries (value and index each) goes first.
StatusOr<std::unique_ptr<Region>> EntryOrder(Builder& builder, Type value, Type index) {
  Context& context = builder.context();
  auto region = std::make_unique<Region>();
  Block& block = region->AddBlock();
  for (const Type element : {value, value, index, index}) {
    block.AddArgument(context.TensorType({}, element), builder.location());
  }
  Builder inside(context, block, builder.location());
  Value* zero = inside.IntegerConstant(context.TensorType({}, index), 0);
  Value* is_entry = inside.Compare(Comparison::kGreaterEqual, block.argument(2), zero);
  Value* is_other_entry = inside.Compare(Comparison::kGreaterEqual, block.argument(3), zero);
  ASSIGN_OR_RETURN(Op * is_larger, IsLarger(inside, block.argument(0), block.argument(1)));
  Value* are_both_or_none = inside.Compare(Comparison::kEqual, is_entry, is_other_entry);
  inside.Return({inside.Select(are_both_or_none, is_larger->result(0), is_entry)});
  if (!inside.status().ok()) return inside.status();
  return region;
}

}  // namespace

StatusOr<Builder::Values> EmitTopKChunk(const ChunkOp& op) {
  if (op.factor.combination != Combination::kTopK) return op.Copy(op.operands);
  Builder& builder = op.builder;
  Context& context = builder.context();
  const int64_t last = LastDimension(op.op);
  const int64_t wanted = op.op.result(0)->type().shape()[last];
  const int64_t found = std::min(wanted, op.operands[0]->type().shape()[last]);
  llvm::SmallVector<NamedAttribute> properties = {
      {"k", context.Integer(op.op.Get("k").type(), found)}};
  if (const Attribute is_stable = op.op.Get("is_stable")) {
    properties.emplace_back("is_stable", is_stable);
  }
  ASSIGN_OR_RETURN(Op * top_k, builder.Create(Opcode::kChloTopK, op.operands, properties));
  Value* values = top_k->result(0);
  Value* places = top_k->result(1);
  const Type index = places->type().element_type();
  Value* start = StartAlong(builder, op.op.operand(0)->type(), static_cast<int>(last), op.chunk);
  Value* indices = builder.Add(
      places, builder.BroadcastInDim(builder.Convert(start, index), places->type().shape(), {}));
  if (found < wanted) {
    llvm::SmallVector<int64_t> none(values->type().rank(), 0);
    llvm::SmallVector<int64_t> missing = none;
    missing[last] = wanted - found;
    const auto pad = [&](Value* entries, int64_t with) {
      const Type scalar = context.TensorType({}, entries->type().element_type());
      return builder.Pad(entries, builder.IntegerConstant(scalar, with), none, missing);
    };
    if (!builder.status().ok()) return builder.status();
    values = pad(values, 0);
    indices = pad(indices, -1);
  }
  if (!builder.status().ok()) return builder.status();
  return Builder::Values{values, indices};
}

Value* InitialTopK(Builder& builder, const Op& op, size_t result) {
  return builder.IntegerConstant(op.result(result)->type(), result == 0 ? 0 : -1);
}

StatusOr<Builder::Values> CombineTopK(Builder& builder, const Op& op, llvm::ArrayRef<Value*> so_far,
                                      llvm::ArrayRef<Value*> parts) {
  const int64_t last = LastDimension(op);
  Value* values = builder.Concatenate({so_far[0], parts[0]}, last);
  Value* indices = builder.Concatenate({so_far[1], parts[1]}, last);
  if (!builder.status().ok()) return builder.status();
  Builder::Regions regions;
  ASSIGN_OR_RETURN(std::unique_ptr<Region> order, EntryOrder(builder, values->type().element_type(),
                                                             indices->type().element_type()));
  regions.push_back(std::move(order));
  // Of equal entries the earlier one is first, which has the lower index.
  Context& context = builder.context();
  ASSIGN_OR_RETURN(Op * sort, builder.Create(Opcode::kSort, {values, indices},
                                             {{"dimension", context.I64(last)},
                                              {"is_stable", context.Bool(true)}},
                                             std::move(regions)));
  Builder::Values best;
  for (size_t i = 0; i < 2; ++i) {
    const Type type = op.result(i)->type();
    const llvm::SmallVector<int64_t> starts(type.rank(), 0);
    best.push_back(builder.Slice(sort->result(i), starts, type.shape()));
  }
  if (!builder.status().ok()) return builder.status();
  return best;
}

}  // namespace plimsoll
