#include "kernels/cpu/emit_for.h"

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"

namespace plimsoll {

void EmitFor(llvm::IRBuilder<>& builder, llvm::Value* begin, llvm::Value* end, llvm::Value* step,
             llvm::function_ref<void(llvm::Value*)> body) {
  llvm::LLVMContext& context = builder.getContext();
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* inside = llvm::BasicBlock::Create(context, "loop", function);
  auto* after = llvm::BasicBlock::Create(context, "after", function);
  builder.CreateCondBr(builder.CreateICmpSLT(begin, end), inside, after);
  builder.SetInsertPoint(inside);
  llvm::PHINode* index = builder.CreatePHI(builder.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  body(index);
  llvm::Value* next = builder.CreateNSWAdd(index, step);
  index->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpSLT(next, end), inside, after);
  builder.SetInsertPoint(after);
}

void EmitIf(llvm::IRBuilder<>& builder, llvm::Value* condition, llvm::function_ref<void()> body) {
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  auto* inside = llvm::BasicBlock::Create(builder.getContext(), "if", function);
  auto* after = llvm::BasicBlock::Create(builder.getContext(), "after", function);
  builder.CreateCondBr(condition, inside, after);
  builder.SetInsertPoint(inside);
  body();
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
}

llvm::Value* EmitLaneMask(llvm::IRBuilder<>& builder, int lanes, llvm::Value* count) {
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (int lane = 0; lane < lanes; ++lane) {
    numbers.push_back(builder.getInt32(static_cast<uint32_t>(lane)));
  }
  llvm::Value* most = builder.getInt64(static_cast<uint64_t>(lanes));
  llvm::Value* bounded = builder.CreateTrunc(
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, most), builder.getInt32Ty());
  return builder.CreateICmpSLT(llvm::ConstantVector::get(numbers),
                               builder.CreateVectorSplat(static_cast<unsigned>(lanes), bounded));
}

void EmitForgetMemory(llvm::IRBuilder<>& builder) {
  builder.CreateCall(llvm::InlineAsm::get(
      llvm::FunctionType::get(builder.getVoidTy(), /*isVarArg=*/false), "", "~{memory}",
      /*hasSideEffects=*/true));
}

}  // namespace plimsoll
