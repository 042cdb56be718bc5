// Calls of kernels in a program.

#ifndef PLIMSOLL_KERNELS_EMIT_CALL_H_
#define PLIMSOLL_KERNELS_EMIT_CALL_H_

#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/status.h"
#include "kernels/insert_kernels.h"
#include "kernels/scalar_type.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

Type ElementType(Context& context, ScalarType type);

// A call of the kernel whose program in text this is. Its last result is scratch, which is not in
// `types`.
StatusOr<Op*> EmitCall(Builder& builder, std::string_view program, llvm::ArrayRef<Value*> operands,
                       std::vector<Type> types, const KernelCost& cost);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_EMIT_CALL_H_
