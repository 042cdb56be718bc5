#include "kernels/cpu/emit_top.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/cpu/emit_op.h"
#include "kernels/cpu/insert_best.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace plimsoll {

int TopEmitter::FollowerOf(int number) const {
  const auto found = llvm::find_if(
      frame_.program.results, [&](const TileResult& result) { return result.follows == number; });
  return static_cast<int>(found - frame_.program.results.begin());
}

int TopEmitter::RankAxisOf(int number) const {
  const TileArray& array = frame_.program.results[static_cast<size_t>(number)].array;
  return *llvm::find_if(array.axes, [&](int axis) {
    return axis != kNoAxis &&
           frame_.program.axes[static_cast<size_t>(axis)].kind == TileAxisKind::kRank;
  });
}

void TopEmitter::BeginRows(const Tile& tile) {
  thresholds_.clear();
  const std::vector<TileResult>& results = frame_.program.results;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].reducer != Opcode::kChloTopK) continue;
    const int number = static_cast<int>(i);
    const auto follower = static_cast<size_t>(FollowerOf(number));
    const auto rank_axis = static_cast<size_t>(RankAxisOf(number));
    llvm::Type* element = RegisterType(builder_.getContext(), results[i].array.type);
    for (const ShortIndex& index : frame_.ShortIndices(AxesOf(results[i].array))) {
      ShortIndex last = index;
      last[rank_axis] = frame_.program.axes[rank_axis].length - 1;
      for (int row = 0; row < tile.rows; ++row) {
        llvm::Value* row_number = builder_.CreateAdd(tile.row, frame_.Number(row));
        llvm::Value* best = builder_.CreateLoad(
            element,
            frame_.Address(frame_.results[i], results[i].array, row_number, nullptr, last));
        llvm::Value* column = builder_.CreateLoad(
            builder_.getInt32Ty(), frame_.Address(frame_.results[follower], results[follower].array,
                                                  row_number, nullptr, last));
        // Below zeros, whose sign comparisons do not see (insert_best.cc).
        llvm::Value* is_zero = builder_.CreateFCmpOEQ(best, llvm::Constant::getNullValue(element));
        best = builder_.CreateSelect(
            is_zero,
            llvm::ConstantFP::get(element,
                                  llvm::APFloat::getSmallestNormalized(element->getFltSemantics(),
                                                                       /*Negative=*/true)),
            best);
        llvm::Value* is_empty =
            builder_.CreateICmpEQ(column, builder_.getInt32(static_cast<uint32_t>(kNoColumn)));
        llvm::Value* threshold = builder_.CreateSelect(
            is_empty, llvm::ConstantFP::get(element, std::numeric_limits<double>::quiet_NaN()),
            best);
        llvm::Value* place = frame_.Allocate(frame_.VectorOf(element));
        builder_.CreateStore(
            builder_.CreateVectorSplat(static_cast<unsigned>(frame_.shape.lanes), threshold),
            place);
        thresholds_[{number, index}].push_back(place);
      }
    }
  }
}

void TopEmitter::Emit(int number, const ShortIndex& index, const Bundle& values, const Tile& tile) {
  const std::vector<llvm::Value*>& thresholds = thresholds_[{number, index}];
  llvm::Value* any = nullptr;
  for (int row = 0; row < tile.rows; ++row) {
    llvm::Value* threshold =
        builder_.CreateLoad(values.type(), thresholds[static_cast<size_t>(row)]);
    for (int vector = 0; vector < tile.vectors; ++vector) {
      llvm::Value* value = values[static_cast<size_t>(row) * static_cast<size_t>(tile.vectors) +
                                  static_cast<size_t>(vector)];
      // Also if one of them is NaN.
      llvm::Value* is_above = builder_.CreateFCmpUGT(value, threshold);
      any = any == nullptr ? is_above : builder_.CreateOr(any, is_above);
    }
  }
  if (tile.mask != nullptr) any = builder_.CreateAnd(any, tile.mask);
  llvm::Function* function = builder_.GetInsertBlock()->getParent();
  auto* rare = llvm::BasicBlock::Create(builder_.getContext(), "best", function);
  auto* usual = llvm::BasicBlock::Create(builder_.getContext(), "others", function);
  builder_.CreateCondBr(builder_.CreateOrReduce(any), rare, usual);
  builder_.SetInsertPoint(rare);
  EmitCall(number, index, values, tile);
  builder_.CreateBr(usual);
  builder_.SetInsertPoint(usual);
}

void TopEmitter::EmitCall(int number, const ShortIndex& index, const Bundle& values,
                          const Tile& tile) {
  const auto place = static_cast<size_t>(number);
  const auto follower = static_cast<size_t>(FollowerOf(number));
  const auto rank_axis = static_cast<size_t>(RankAxisOf(number));
  const std::vector<TileResult>& results = frame_.program.results;
  llvm::Type* element = values.type()->getScalarType();
  const uint64_t bytes = element->isDoubleTy() ? sizeof(double) : sizeof(float);
  const int64_t count = int64_t{tile.vectors} * frame_.shape.lanes;
  llvm::Value* buffer = frame_.Allocate(
      llvm::ArrayType::get(element, values.size() * static_cast<uint64_t>(frame_.shape.lanes)));
  for (size_t i = 0; i < values.size(); ++i) {
    llvm::Value* to =
        builder_.CreateConstGEP1_64(element, buffer, i * static_cast<uint64_t>(frame_.shape.lanes));
    builder_.CreateAlignedStore(values[i], to, llvm::Align(bytes));
  }
  llvm::Value* made =
      frame_.Allocate(llvm::ArrayType::get(element, static_cast<uint64_t>(tile.rows)));
  llvm::Value* valid = frame_.Number(count);
  if (tile.mask != nullptr) {
    llvm::Value* left =
        builder_.CreateSub(builder_.CreateAdd(tile.last_column, frame_.Number(1)), tile.column);
    valid = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, valid);
  }
  // In the order of BestCall's fields, each of 8 bytes.
  llvm::Value* fields[] = {
      frame_.Address(frame_.results[place], results[place].array, tile.row, nullptr, index),
      frame_.Address(frame_.results[follower], results[follower].array, tile.row, nullptr, index),
      frame_.results[place].strides[kRowAxis],
      frame_.results[follower].strides[kRowAxis],
      frame_.results[place].strides[rank_axis],
      frame_.results[follower].strides[rank_axis],
      frame_.Number(frame_.program.axes[rank_axis].length),
      buffer,
      frame_.Number(tile.rows),
      frame_.Number(count),
      valid,
      tile.column,
      made,
  };
  static_assert(sizeof(BestCall<float>) == 8 * std::size(fields));
  llvm::Value* call =
      frame_.Allocate(llvm::ArrayType::get(builder_.getInt64Ty(), std::size(fields)));
  for (size_t i = 0; i < std::size(fields); ++i) {
    builder_.CreateStore(fields[i], builder_.CreateConstGEP1_64(builder_.getInt64Ty(), call, i));
  }
  const llvm::FunctionCallee insert = frame_.emitter.module.getOrInsertFunction(
      element->isDoubleTy() ? kInsertBestF64 : kInsertBestF32,
      llvm::FunctionType::get(builder_.getVoidTy(), {frame_.pointer}, /*isVarArg=*/false));
  builder_.CreateCall(insert, {call});
  const std::vector<llvm::Value*>& thresholds = thresholds_[{number, index}];
  for (int row = 0; row < tile.rows; ++row) {
    llvm::Value* threshold = builder_.CreateLoad(
        element, builder_.CreateConstGEP1_64(element, made, static_cast<uint64_t>(row)));
    builder_.CreateStore(
        builder_.CreateVectorSplat(static_cast<unsigned>(frame_.shape.lanes), threshold),
        thresholds[static_cast<size_t>(row)]);
  }
}

}  // namespace plimsoll
