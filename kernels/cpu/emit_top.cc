#include "kernels/cpu/emit_top.h"

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/emit_for.h"
#include "kernels/cpu/emit_op.h"
#include "kernels/cpu/insert_best.h"
#include "llvm/ADT/STLExtras.h"
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
    llvm::Type* element = RegisterType(builder_.getContext(), results[i].array.type);
    for (const ShortIndex& index : frame_.ShortIndices(AxesOf(results[i].array))) {
      const int number = static_cast<int>(i);
      const auto count = 2 * static_cast<uint64_t>(tile.rows);
      thresholds_[{number, index}] = {
          .of_rows = frame_.AllocateMemory(llvm::ArrayType::get(element, count)),
          .ties_before = frame_.Allocate(frame_.i64)};
      EmitCall(number, index, {}, {}, tile);
    }
  }
}

void TopEmitter::Emit(int number, const ShortIndex& index, const Bundle& values, const Tile& tile) {
  const Thresholds& thresholds = thresholds_[{number, index}];
  llvm::Type* element = values.type()->getScalarType();
  // Equal values of earlier columns are better: columns do not go by in order.
  llvm::Value* may_tie =
      builder_.CreateICmpSLT(tile.column, builder_.CreateLoad(frame_.i64, thresholds.ties_before));
  llvm::Value* first = builder_.CreateSelect(may_tie, frame_.Number(tile.rows), frame_.Number(0));
  llvm::Value* of_rows = builder_.CreateGEP(element, thresholds.of_rows, first);
  llvm::SmallVector<llvm::Value*> all;
  llvm::SmallVector<llvm::Value*> masks;
  llvm::Value* any = nullptr;
  for (int row = 0; row < tile.rows; ++row) {
    llvm::Value* threshold = builder_.CreateVectorSplat(
        static_cast<unsigned>(frame_.shape.lanes),
        builder_.CreateLoad(
            element, builder_.CreateConstGEP1_64(element, of_rows, static_cast<uint64_t>(row))));
    for (int vector = 0; vector < tile.vectors; ++vector) {
      all.push_back(values[all.size()]);
      // Also if one of them is NaN.
      llvm::Value* mask = builder_.CreateFCmpUGT(all.back(), threshold);
      if (tile.mask != nullptr) mask = builder_.CreateAnd(mask, tile.of_rows[row]);
      any = any == nullptr ? mask : builder_.CreateOr(any, mask);
      masks.push_back(mask);
    }
  }
  EmitIf(builder_, builder_.CreateOrReduce(any),
         [&] { EmitCall(number, index, all, masks, tile); });
}

void TopEmitter::EmitCall(int number, const ShortIndex& index, llvm::ArrayRef<llvm::Value*> values,
                          llvm::ArrayRef<llvm::Value*> masks, const Tile& tile) {
  const auto place = static_cast<size_t>(number);
  const auto follower = static_cast<size_t>(FollowerOf(number));
  const auto rank_axis = static_cast<size_t>(RankAxisOf(number));
  const std::vector<TileResult>& results = frame_.program.results;
  llvm::Type* element = RegisterType(builder_.getContext(), results[place].array.type);
  const llvm::Align align(element->isDoubleTy() ? sizeof(double) : sizeof(float));
  const auto lanes = static_cast<unsigned>(frame_.shape.lanes);
  llvm::Value* kept_values = frame_.Allocate(llvm::ArrayType::get(element, values.size() * lanes));
  llvm::Value* kept_masks = frame_.Allocate(llvm::ArrayType::get(frame_.i64, masks.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    builder_.CreateAlignedStore(
        values[i], builder_.CreateConstGEP1_64(element, kept_values, i * lanes), align);
    llvm::Value* bits = builder_.CreateBitCast(masks[i], builder_.getIntNTy(lanes));
    builder_.CreateStore(builder_.CreateZExt(bits, frame_.i64),
                         builder_.CreateConstGEP1_64(frame_.i64, kept_masks, i));
  }
  const Thresholds& thresholds = thresholds_[{number, index}];
  llvm::Value* there = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::smin, builder_.CreateSub(frame_.row_end, tile.row_numbers[0]),
      frame_.Number(tile.rows));
  // In the order of BestCall's fields, each of 8 bytes.
  llvm::Value* fields[] = {
      frame_.Address(frame_.results[place], results[place].array, tile.row_numbers[0], nullptr,
                     index),
      frame_.Address(frame_.results[follower], results[follower].array, tile.row_numbers[0],
                     nullptr, index),
      frame_.results[place].strides[kRowAxis],
      frame_.results[follower].strides[kRowAxis],
      frame_.results[place].strides[rank_axis],
      frame_.results[follower].strides[rank_axis],
      frame_.Number(frame_.program.axes[rank_axis].length),
      kept_values,
      kept_masks,
      frame_.Number(tile.rows),
      there,
      frame_.Number(values.empty() ? 0 : tile.vectors),
      frame_.Number(frame_.shape.lanes),
      values.empty() ? frame_.Number(0) : tile.column,
      thresholds.of_rows,
      thresholds.ties_before,
  };
  static_assert(sizeof(BestCall<float>) == 8 * std::size(fields));
  llvm::Value* call = frame_.Allocate(llvm::ArrayType::get(frame_.i64, std::size(fields)));
  for (size_t i = 0; i < std::size(fields); ++i) {
    builder_.CreateStore(fields[i], builder_.CreateConstGEP1_64(frame_.i64, call, i));
  }
  const llvm::FunctionCallee insert = frame_.emitter.module.getOrInsertFunction(
      element->isDoubleTy() ? kInsertBestF64 : kInsertBestF32,
      llvm::FunctionType::get(builder_.getVoidTy(), {frame_.pointer}, /*isVarArg=*/false));
  builder_.CreateCall(insert, {call});
}

}  // namespace plimsoll
