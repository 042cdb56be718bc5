// Counted loops, conditions and masks in generated code.

#ifndef PLIMSOLL_KERNELS_CPU_EMIT_FOR_H_
#define PLIMSOLL_KERNELS_CPU_EMIT_FOR_H_

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Value.h"

namespace plimsoll {

// Calls `body` with the index from `begin` in steps for as long as it is below `end`. All are i64.
void EmitFor(llvm::IRBuilder<>& builder, llvm::Value* begin, llvm::Value* end, llvm::Value* step,
             llvm::function_ref<void(llvm::Value*)> body);

void EmitIf(llvm::IRBuilder<>& builder, llvm::Value* condition, llvm::function_ref<void()> body);

// The lanes below a number, which is i64.
llvm::Value* EmitLaneMask(llvm::IRBuilder<>& builder, int lanes, llvm::Value* count);

// From here on numbers are read from memory anew (bundle.h), instead of being kept in registers
// that LLVM does not have.
void EmitForgetMemory(llvm::IRBuilder<>& builder);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_EMIT_FOR_H_
