#include "kernels/cpu/emit_results.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/cpu/emit_op.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"

namespace plimsoll {
namespace {

// Of a row and a vector in a tile with so many vectors.
size_t Place(int row, int vector, int vectors) {
  return static_cast<size_t>(row) * static_cast<size_t>(vectors) + static_cast<size_t>(vector);
}

}  // namespace

void ResultEmitter::MakeAccumulators(int rows) {
  accumulators_.clear();
  for (size_t i = 0; i < frame_.program.results.size(); ++i) {
    const TileResult& result = frame_.program.results[i];
    if ((result.reduced & kColumnBit) == 0) continue;
    const ScalarType type = result.array.type;
    llvm::VectorType* vector = frame_.VectorOf(RegisterType(builder_.getContext(), type));
    llvm::Value* neutral = builder_.CreateVectorSplat(frame_.shape.lanes, Neutral(result));
    for (const ShortIndex& index : frame_.ShortIndices(AxesOf(result.array))) {
      std::vector<llvm::Value*>& places = accumulators_[{static_cast<int>(i), index}];
      for (int j = 0; j < rows * frame_.shape.vectors; ++j) {
        places.push_back(frame_.Allocate(vector));
        builder_.CreateStore(neutral, places.back());
      }
    }
  }
}

llvm::Value* ResultEmitter::Neutral(const TileResult& result) {
  return EmitConstant(frame_.emitter, result.array.type,
                      NeutralBits(result.reducer, result.array.type));
}

void ResultEmitter::EmitResults(const Tile& tile) {
  for (size_t i = 0; i < frame_.program.results.size(); ++i) {
    const TileResult& result = frame_.program.results[i];
    for (const ShortIndex& index : frame_.ShortIndices(AxesOf(result.array))) {
      const Bundle values = values_.GetFor(result.value, kRowBit | kColumnBit, index, tile);
      if (result.reduced == 0) {
        Write(result, static_cast<int>(i), index, values, tile);
      } else if ((result.reduced & kColumnBit) == 0) {
        AddToColumns(result, static_cast<int>(i), index, values, tile);
      } else {
        Accumulate(result, accumulators_[{static_cast<int>(i), index}], values, tile);
      }
    }
  }
}

void ResultEmitter::Accumulate(const TileResult& result, llvm::ArrayRef<llvm::Value*> places,
                               const Bundle& values, const Tile& tile) {
  llvm::VectorType* type = frame_.VectorOf(RegisterType(builder_.getContext(), result.array.type));
  Bundle::Values so_far;
  Bundle::Values added;
  llvm::SmallVector<llvm::Value*, 8> used;
  for (int row = 0; row < tile.rows; ++row) {
    for (int vector = 0; vector < tile.vectors; ++vector) {
      used.push_back(places[Place(row, vector, frame_.shape.vectors)]);
      so_far.push_back(builder_.CreateLoad(type, used.back()));
      llvm::Value* value = values[Place(row, vector, tile.vectors)];
      if (tile.mask != nullptr) {
        value = builder_.CreateSelect(
            tile.mask, value, builder_.CreateVectorSplat(frame_.shape.lanes, Neutral(result)));
      }
      added.push_back(value);
    }
  }
  const Bundle sums =
      EmitReducer(result.reducer, result.array.type, Bundle(frame_.emitter, std::move(so_far)),
                  Bundle(frame_.emitter, std::move(added)));
  for (size_t i = 0; i < used.size(); ++i) builder_.CreateStore(sums[i], used[i]);
}

void ResultEmitter::AddToColumns(const TileResult& result, int number, const ShortIndex& index,
                                 const Bundle& values, const Tile& tile) {
  llvm::Type* memory = MemoryType(builder_.getContext(), result.array.type);
  const llvm::Align align(BytesOf(result.array.type));
  for (int vector = 0; vector < tile.vectors; ++vector) {
    llvm::Value* column =
        builder_.CreateAdd(tile.column, frame_.Number(int64_t{vector} * frame_.shape.lanes));
    llvm::Value* address =
        frame_.Address(frame_.results[number], result.array, nullptr, column, index);
    Bundle sum(frame_.emitter,
               {FromMemory(frame_.emitter, result.array.type,
                           builder_.CreateAlignedLoad(frame_.VectorOf(memory), address, align))});
    std::optional<Bundle> rows;
    for (int row = 0; row < tile.rows; ++row) {
      const Bundle next(frame_.emitter, {values[Place(row, vector, tile.vectors)]});
      rows = rows ? EmitReducer(result.reducer, result.array.type, *rows, next) : next;
    }
    sum = EmitReducer(result.reducer, result.array.type, sum, *rows);
    builder_.CreateAlignedStore(ToMemory(frame_.emitter, result.array.type, sum[0]), address,
                                align);
  }
}

void ResultEmitter::Write(const TileResult& result, int number, const ShortIndex& index,
                          const Bundle& values, const Tile& tile) {
  const llvm::Align align(BytesOf(result.array.type));
  for (int row = 0; row < tile.rows; ++row) {
    llvm::Value* row_number = builder_.CreateAdd(tile.row, frame_.Number(row));
    for (int vector = 0; vector < tile.vectors; ++vector) {
      llvm::Value* value =
          ToMemory(frame_.emitter, result.array.type, values[Place(row, vector, tile.vectors)]);
      llvm::Value* column =
          builder_.CreateAdd(tile.column, frame_.Number(int64_t{vector} * frame_.shape.lanes));
      if (result.array.axes.back() == kColumnAxis) {
        llvm::Value* address =
            frame_.Address(frame_.results[number], result.array, row_number, column, index);
        if (tile.mask == nullptr) {
          builder_.CreateAlignedStore(value, address, align);
        } else {
          builder_.CreateMaskedStore(value, address, align, tile.mask);
        }
        continue;
      }
      llvm::Type* pointers = frame_.VectorOf(frame_.pointer);
      llvm::Value* addresses = llvm::PoisonValue::get(pointers);
      for (int lane = 0; lane < frame_.shape.lanes; ++lane) {
        llvm::Value* place = builder_.CreateAdd(column, frame_.Number(lane));
        addresses = builder_.CreateInsertElement(
            addresses,
            frame_.Address(frame_.results[number], result.array, row_number, place, index), lane);
      }
      builder_.CreateMaskedScatter(value, addresses, align, tile.mask);
    }
  }
}

void ResultEmitter::FinishRows(const Tile& tile) {
  for (const auto& [key, places] : accumulators_) {
    const auto& [number, index] = key;
    const TileResult& result = frame_.program.results[static_cast<size_t>(number)];
    const ScalarType type = result.array.type;
    llvm::Type* memory = MemoryType(builder_.getContext(), type);
    llvm::VectorType* vector_type = frame_.VectorOf(RegisterType(builder_.getContext(), type));
    const llvm::Align align(BytesOf(type));
    for (int row = 0; row < tile.rows; ++row) {
      std::optional<Bundle> sum;
      for (int vector = 0; vector < frame_.shape.vectors; ++vector) {
        llvm::Value* place = places[Place(row, vector, frame_.shape.vectors)];
        const Bundle next(frame_.emitter, {builder_.CreateLoad(vector_type, place)});
        sum = sum ? EmitReducer(result.reducer, type, *sum, next) : next;
      }
      for (int half = frame_.shape.lanes / 2; half > 0; half /= 2) {
        llvm::SmallVector<int, 16> upper;
        for (int lane = 0; lane < half; ++lane) upper.push_back(half + lane);
        llvm::SmallVector<int, 16> lower;
        for (int lane = 0; lane < half; ++lane) lower.push_back(lane);
        const Bundle a(frame_.emitter, {builder_.CreateShuffleVector((*sum)[0], lower)});
        const Bundle b(frame_.emitter, {builder_.CreateShuffleVector((*sum)[0], upper)});
        sum = EmitReducer(result.reducer, type, a, b);
      }
      const Bundle total(frame_.emitter, {builder_.CreateExtractElement((*sum)[0], uint64_t{0})});
      llvm::Value* address =
          frame_.Address(frame_.results[static_cast<size_t>(number)], result.array,
                         builder_.CreateAdd(tile.row, frame_.Number(row)), nullptr, index);
      const Bundle before(
          frame_.emitter,
          {FromMemory(frame_.emitter, type, builder_.CreateAlignedLoad(memory, address, align))});
      const Bundle after = EmitReducer(result.reducer, type, before, total);
      builder_.CreateAlignedStore(ToMemory(frame_.emitter, type, after[0]), address, align);
    }
  }
}

}  // namespace plimsoll
