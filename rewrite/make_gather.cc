#include "rewrite/make_gather.h"

#include <memory>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

using Numbers = llvm::SmallVector<int64_t>;

Numbers Count(size_t begin, size_t end) {
  return llvm::to_vector(llvm::seq(static_cast<int64_t>(begin), static_cast<int64_t>(end)));
}

Builder::Regions SumOfTwo(Builder& builder, Type element) {
  const Type scalar = builder.context().TensorType({}, element);
  auto region = std::make_unique<Region>();
  Block& block = region->AddBlock();
  Value* first = block.AddArgument(scalar, builder.location());
  Value* second = block.AddArgument(scalar, builder.location());
  Builder inside(builder.context(), block, builder.location());
  inside.Return({inside.Add(first, second)});
  Builder::Regions regions;
  regions.push_back(std::move(region));
  return regions;
}

}  // namespace

IndexedValue GatherAt(Builder& builder, const IndexedValue& operand, llvm::ArrayRef<int> read,
                      const Places& places) {
  if (operand.value == nullptr || places.value == nullptr) return {};
  const llvm::ArrayRef<int64_t> shape = operand.value->type().shape();
  Numbers collapsed;
  Numbers batch;
  Numbers batch_of_places;
  Numbers sizes;
  Numbers map(read.size(), 0);
  IndexedValue result = {.value = nullptr, .indices = places.indices};
  for (const auto [d, index] : llvm::enumerate(operand.indices)) {
    const auto dimension = static_cast<int64_t>(d);
    if (const int* number = llvm::find(read, index); number != read.end()) {
      map[number - read.begin()] = dimension;
      collapsed.push_back(dimension);
    } else if (const auto* place = llvm::find(places.indices, index);
               place != places.indices.end()) {
      batch.push_back(dimension);
      batch_of_places.push_back(place - places.indices.begin());
    } else {
      result.indices.push_back(index);
      sizes.push_back(shape[d]);
      continue;
    }
    sizes.push_back(1);
  }
  Context& context = builder.context();
  const size_t place_count = places.indices.size();
  const Attribute numbers =
      context.Struct("stablehlo.gather",
                     {{"offset_dims", context.I64Array(Count(place_count, result.indices.size()))},
                      {"collapsed_slice_dims", context.I64Array(collapsed)},
                      {"operand_batching_dims", context.I64Array(batch)},
                      {"start_indices_batching_dims", context.I64Array(batch_of_places)},
                      {"start_index_map", context.I64Array(map)},
                      {"index_vector_dim", context.I64(static_cast<int64_t>(place_count))}});
  const StatusOr<Op*> gather =
      builder.Create(Opcode::kGather, {operand.value, places.value},
                     {{"dimension_numbers", numbers}, {"slice_sizes", context.I64Array(sizes)}});
  if (gather.ok()) result.value = (*gather)->result(0);
  return result;
}

IndexedValue ScatterAdd(Builder& builder, const IndexedValue& updates, const Places& places,
                        size_t batch_count, int written, int64_t size) {
  if (updates.value == nullptr || places.value == nullptr) return {};
  const llvm::ArrayRef<int64_t> shape = updates.value->type().shape();
  const size_t place_count = places.indices.size();
  const llvm::ArrayRef<int> batch = llvm::ArrayRef(places.indices).take_front(batch_count);
  const llvm::ArrayRef<int> window = llvm::ArrayRef(updates.indices).drop_front(place_count);
  IndexedValue result = {.value = nullptr, .indices = {}};
  llvm::append_range(result.indices, batch);
  result.indices.push_back(written);
  llvm::append_range(result.indices, window);
  Numbers sizes(shape.take_front(batch_count));
  sizes.push_back(size);
  llvm::append_range(sizes, shape.drop_front(place_count));
  Context& context = builder.context();
  const Type element = updates.value->type().element_type();
  Value* zeros = builder.Constant(context.TensorType(sizes, element), 0);
  const auto written_dimension = static_cast<int64_t>(batch_count);
  const Attribute numbers = context.Struct(
      "stablehlo.scatter",
      {{"update_window_dims", context.I64Array(Count(place_count, updates.indices.size()))},
       {"inserted_window_dims", context.I64Array(written_dimension)},
       {"input_batching_dims", context.I64Array(Count(0, batch_count))},
       {"scatter_indices_batching_dims", context.I64Array(Count(0, batch_count))},
       {"scatter_dims_to_operand_dims", context.I64Array(written_dimension)},
       {"index_vector_dim", context.I64(static_cast<int64_t>(place_count))}});
  const StatusOr<Op*> scatter =
      builder.Create(Opcode::kScatter, {zeros, places.value, updates.value},
                     {{"scatter_dimension_numbers", numbers}}, SumOfTwo(builder, element));
  if (scatter.ok()) result.value = (*scatter)->result(0);
  return result;
}

}  // namespace plimsoll
