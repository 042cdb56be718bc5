// One op of a tile program as instructions.

#ifndef PLIMSOLL_KERNELS_CPU_EMIT_OP_H_
#define PLIMSOLL_KERNELS_CPU_EMIT_OP_H_

#include <cstdint>

#include "ir/opcode.h"
#include "kernels/cpu/bundle.h"
#include "kernels/scalar_type.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Type.h"
#include "llvm/IR/Value.h"

namespace plimsoll {

// How values of that type are kept in registers (halves as f32) and in memory (predicates as
// bytes).
llvm::Type* RegisterType(llvm::LLVMContext& context, ScalarType type);
llvm::Type* MemoryType(llvm::LLVMContext& context, ScalarType type);

// From memory's form to that of registers, and back. Scalars and vectors.
llvm::Value* FromMemory(Emitter& emitter, ScalarType type, llvm::Value* value);
llvm::Value* ToMemory(Emitter& emitter, ScalarType type, llvm::Value* value);

// A number from the bytes of an element, as in memory.
llvm::Value* EmitConstant(Emitter& emitter, ScalarType type, uint64_t bits);

// An op of the kind kCompute. The operands have `operand_type`, but for the condition of a select.
Bundle EmitCompute(const TileOp& op, ScalarType operand_type, llvm::ArrayRef<Bundle> operands);

// One step of a reduction.
Bundle EmitReducer(Opcode reducer, ScalarType type, const Bundle& left, const Bundle& right);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_EMIT_OP_H_
