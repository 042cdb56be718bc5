// Convolutions on one chunk.

#include <utility>

#include "analysis/windows.h"
#include "ir/dimensions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "split/chunk_ops_internal.h"

namespace plimsoll {
namespace {

using Numbers = llvm::SmallVector<int64_t>;

// Batch, spatial dimensions, features.
Numbers ImageOrder(const ConvolutionSide& side) {
  Numbers order = {side.first};
  llvm::append_range(order, side.spatial);
  order.push_back(side.second);
  return order;
}

// Spatial dimensions, input features, output features.
Numbers KernelOrder(const ConvolutionSide& side) {
  Numbers order(side.spatial);
  order.push_back(side.first);
  order.push_back(side.second);
  return order;
}

bool IsIdentity(llvm::ArrayRef<int64_t> permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Value* TransposeTo(Builder& builder, Value* value, llvm::ArrayRef<int64_t> order) {
  return IsIdentity(order) ? value : builder.Transpose(value, order);
}

// [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] for that many dimensions.
Attribute CanonicalNumbers(Context& context, int64_t rank) {
  Numbers of_image;
  Numbers of_kernel;
  for (int64_t d = 0; d < rank - 2; ++d) {
    of_image.push_back(d + 1);
    of_kernel.push_back(d);
  }
  return context.Struct("stablehlo.conv",
                        {{"input_batch_dimension", context.I64(0)},
                         {"input_feature_dimension", context.I64(rank - 1)},
                         {"input_spatial_dimensions", context.I64Array(of_image)},
                         {"kernel_input_feature_dimension", context.I64(rank - 2)},
                         {"kernel_output_feature_dimension", context.I64(rank - 1)},
                         {"kernel_spatial_dimensions", context.I64Array(of_kernel)},
                         {"output_batch_dimension", context.I64(0)},
                         {"output_feature_dimension", context.I64(rank - 1)},
                         {"output_spatial_dimensions", context.I64Array(of_image)}});
}

}  // namespace

// In a loop's body XLA:CPU keeps the layouts of unusual dimension numbers, for which it has no fast
// convolution (a weight's gradient took 25 times longer), so chunks always have the usual ones.
StatusOr<Builder::Values> EmitConvolutionChunk(const ChunkOp& op) {
  Builder& builder = op.builder;
  Context& context = builder.context();
  const ConvolutionDimensions dimensions = ConvolutionDimensionsOf(op.op);
  const auto groups_of_chunk = [&](int64_t groups) {
    return context.I64(groups / op.chunk.blocks * op.chunk.size);
  };
  llvm::SmallVector<NamedAttribute> properties;
  const Attribute own = op.op.properties();
  for (const auto [name, attribute] : llvm::zip_equal(own.names(), own.items())) {
    const bool cuts_kernel = op.factor.operands[1] == dimensions.kernel.second;
    const int of_input = op.factor.operands[0];
    if (name == "dimension_numbers") {
      const auto rank = static_cast<int64_t>(op.operands[0]->type().rank());
      properties.emplace_back(name, CanonicalNumbers(context, rank));
    } else if (name == "feature_group_count" && cuts_kernel &&
               of_input == dimensions.input.second) {
      properties.emplace_back(name, groups_of_chunk(dimensions.feature_groups));
    } else if (name == "batch_group_count" && cuts_kernel && of_input == dimensions.input.first) {
      properties.emplace_back(name, groups_of_chunk(dimensions.batch_groups));
    } else {
      properties.emplace_back(name, attribute);
    }
  }
  Value* input = TransposeTo(builder, op.operands[0], ImageOrder(dimensions.input));
  Value* kernel = TransposeTo(builder, op.operands[1], KernelOrder(dimensions.kernel));
  if (!builder.status().ok()) return builder.status();

  const Numbers order = ImageOrder(dimensions.output);
  Numbers shape;
  Numbers back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    shape.push_back(op.ResultType().shape()[order[i]]);
    back[order[i]] = static_cast<int64_t>(i);
  }
  Type type = context.TensorType(shape, op.ResultType().element_type());
  if (op.result_dimension() == kPartial) {
    type = AccumulatorType(context, type, op.factor.combination);
  }
  ASSIGN_OR_RETURN(Op * convolution, builder.CreateWithTypes(Opcode::kConvolution, type,
                                                             {input, kernel}, properties));
  Value* result = TransposeTo(builder, convolution->result(0), back);
  if (!builder.status().ok()) return builder.status();
  return Builder::Values{result};
}

}  // namespace plimsoll
