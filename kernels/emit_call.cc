#include "kernels/emit_call.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "analysis/run_time.h"

namespace plimsoll {
namespace {

Attribute RowMajor(Context& context, size_t rank) {
  std::vector<int64_t> order;
  for (size_t i = rank; i-- > 0;) order.push_back(static_cast<int64_t>(i));
  const Type type = context.TensorType({static_cast<int64_t>(rank)}, context.IndexType());
  return context.DenseElements(
      type, {reinterpret_cast<const char*>(order.data()), order.size() * sizeof(int64_t)});
}

Attribute RowMajorOf(Context& context, llvm::ArrayRef<Type> types) {
  std::vector<Attribute> layouts;
  for (const Type type : types) layouts.push_back(RowMajor(context, type.rank()));
  return context.Array(layouts);
}

}  // namespace

Type ElementType(Context& context, ScalarType type) {
  const ScalarInfo& info = InfoOf(type);
  switch (type) {
    case ScalarType::kI1:
      return context.IntegerType(1);
    case ScalarType::kBF16:
    case ScalarType::kF16:
    case ScalarType::kF32:
    case ScalarType::kF64:
      return context.FloatType(*FloatKindFromName(info.name));
    default:
      return context.IntegerType(8 * static_cast<unsigned>(info.bytes),
                                 IsUnsigned(type) ? Signedness::kUnsigned : Signedness::kSignless);
  }
}

StatusOr<Op*> EmitCall(Builder& builder, std::string_view program, llvm::ArrayRef<Value*> operands,
                       std::vector<Type> types, const KernelCost& cost) {
  Context& context = builder.context();
  types.push_back(
      context.TensorType({cost.scratch_bytes}, context.IntegerType(8, Signedness::kUnsigned)));
  std::vector<Type> operand_types;
  for (const Value* operand : operands) operand_types.push_back(operand->type());
  // Whoever estimates how long the program runs reads the seconds.
  const Attribute options =
      context.Dictionary({{kKernelProgram, context.String(program)},
                          {kKernelSeconds, context.Float(context.FloatType(FloatKind::kF64),
                                                         std::bit_cast<uint64_t>(cost.seconds))}});
  return builder.CreateWithTypes(Opcode::kCustomCall, types, operands,
                                 {{"api_version", context.Integer(context.IntegerType(32), 4)},
                                  {"backend_config", options},
                                  {"call_target_name", context.String(kKernelTarget)},
                                  {"operand_layouts", RowMajorOf(context, operand_types)},
                                  {"result_layouts", RowMajorOf(context, types)}});
}

}  // namespace plimsoll
