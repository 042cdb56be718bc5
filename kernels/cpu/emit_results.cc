#include "kernels/cpu/emit_results.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/cpu/emit_for.h"
#include "kernels/cpu/emit_op.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/long_sums.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Casting.h"

namespace plimsoll {
namespace {

// Of a row and a vector in a tile with so many vectors.
size_t Place(int row, int vector, int vectors) {
  return static_cast<size_t>(row) * static_cast<size_t>(vectors) + static_cast<size_t>(vector);
}

// So many lanes from one on.
llvm::SmallVector<int, 16> Lanes(int first, int count) {
  llvm::SmallVector<int, 16> lanes;
  for (int lane = first; lane < first + count; ++lane) lanes.push_back(lane);
  return lanes;
}

// Sums of some rows lie on the stack, unless they are larger than this.
constexpr int64_t kMostRowSumBytes = 128 << 10;

int64_t RowSumBytes(const KernelFrame& frame, const TileResult& result) {
  return frame.program.ShortCount(AxesOf(result.array)) * frame.shape.block *
         BytesOf(result.array.type);
}

// True if of equal columns the one that goes by first has the least position.
bool PositionsAscend(const TileProgram& program, int follower) {
  const TileResult& result = program.results[static_cast<size_t>(follower)];
  const TileOp& position = program.ops[static_cast<size_t>(result.value)];
  return position.kind == TileOpKind::kIota && position.index == kColumnAxis;
}

}  // namespace

ResultEmitter::ResultEmitter(KernelFrame& frame, ValueEmitter& values)
    : frame_(frame), builder_(frame.builder), values_(values), top_(frame) {
  const KernelShape& shape = frame.shape;
  const std::vector<TileResult>& results = frame.program.results;
  has_runs_ = shape.block > int64_t{shape.lanes} * shape.vectors * kNumbersSummed &&
              llvm::any_of(results, IsSumOverColumns);
  int64_t bytes = 0;
  for (const TileResult& result : results) {
    if (IsSumOverRows(result)) bytes += RowSumBytes(frame, result);
  }
  if (bytes > kMostRowSumBytes) return;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!IsSumOverRows(results[i])) continue;
    auto* place = llvm::cast<llvm::AllocaInst>(frame.Allocate(llvm::ArrayType::get(
        builder_.getInt8Ty(), static_cast<uint64_t>(RowSumBytes(frame, results[i])))));
    place->setAlignment(llvm::Align(kPackAlignment));
    row_sums_[static_cast<int>(i)] = place;
  }
}

void ResultEmitter::BeginSumsOverRows() {
  ForEachRowSum([&](const TileResult& result, llvm::Value* sum, llvm::Value*) {
    llvm::Type* type = frame_.VectorOf(MemoryType(builder_.getContext(), result.array.type));
    builder_.CreateAlignedStore(llvm::Constant::getNullValue(type), sum,
                                llvm::Align(kPackAlignment));
  });
}

void ResultEmitter::FinishSumsOverRows() {
  ForEachRowSum([&](const TileResult& result, llvm::Value* sum, llvm::Value* address) {
    llvm::Type* type = frame_.VectorOf(MemoryType(builder_.getContext(), result.array.type));
    AddVector(result, address, builder_.CreateAlignedLoad(type, sum, llvm::Align(kPackAlignment)),
              nullptr);
  });
}

void ResultEmitter::ForEachRowSum(
    llvm::function_ref<void(const TileResult&, llvm::Value*, llvm::Value*)> visit) {
  llvm::Value* length = builder_.CreateSub(frame_.column_end, frame_.column_begin);
  frame_.Loop(frame_.Number(0), length, frame_.Number(frame_.shape.lanes),
              [&](llvm::Value* column) {
                llvm::Value* of_all = builder_.CreateAdd(frame_.column_begin, column);
                for (const auto& [number, place] : row_sums_) {
                  const auto i = static_cast<size_t>(number);
                  const TileResult& result = frame_.program.results[i];
                  for (const ShortIndex& index : frame_.ShortIndices(AxesOf(result.array))) {
                    visit(result, RowSumAddress(number, index, column),
                          frame_.Address(frame_.results[i], result.array, nullptr, of_all, index));
                  }
                }
              });
}

llvm::Value* ResultEmitter::RowSumAddress(int number, const ShortIndex& index,
                                          llvm::Value* column_in_block) {
  const TileArray& array = frame_.program.results[static_cast<size_t>(number)].array;
  const int64_t bytes = BytesOf(array.type);
  llvm::Value* column = builder_.CreateMul(column_in_block, frame_.Number(bytes));
  const int64_t line =
      ShortNumber(frame_.program, AxesOf(array), index) * frame_.shape.block * bytes;
  return frame_.Offset(frame_.Offset(row_sums_[number], column), frame_.Number(line));
}

void ResultEmitter::BeginRows(const Tile& tile) {
  MakeAccumulators(tile.rows);
  top_.BeginRows(tile);
}

void ResultEmitter::MakeAccumulators(int rows) {
  accumulators_.clear();
  runs_before_.clear();
  for (size_t i = 0; i < frame_.program.results.size(); ++i) {
    const TileResult& result = frame_.program.results[i];
    if ((result.reduced & kColumnBit) == 0 || IsTop(result)) continue;
    const ScalarType type = result.array.type;
    llvm::VectorType* vector = frame_.VectorOf(RegisterType(builder_.getContext(), type));
    llvm::Value* neutral = builder_.CreateVectorSplat(frame_.shape.lanes, Neutral(result));
    for (const ShortIndex& index : frame_.ShortIndices(AxesOf(result.array))) {
      const auto make = [&](Accumulators& accumulators) {
        std::vector<llvm::Value*>& places = accumulators[{static_cast<int>(i), index}];
        for (int j = 0; j < rows * frame_.shape.vectors; ++j) {
          places.push_back(frame_.Allocate(vector));
          builder_.CreateStore(neutral, places.back());
        }
      };
      make(accumulators_);
      if (has_runs_ && IsSumOverColumns(result)) make(runs_before_);
    }
  }
}

llvm::Value* ResultEmitter::Neutral(const TileResult& result) {
  return EmitConstant(frame_.emitter, result.array.type,
                      NeutralBits(result.reducer, result.array.type));
}

void ResultEmitter::EmitResults(const Tile& tile) {
  for (size_t i = 0; i < frame_.program.results.size(); ++i) {
    Prefetch(frame_.program.results[i], static_cast<int>(i), tile);
  }
  // What is written may lie where an operand is read: all of the tile is read first.
  const bool writes = llvm::any_of(frame_.program.results,
                                   [](const TileResult& result) { return result.reduced == 0; });
  for (const TileResult& result : frame_.program.results) {
    if (!writes || result.follows >= 0) continue;
    for (const ShortIndex& index : frame_.ShortIndices(AxesOf(result.array))) {
      values_.GetFor(result.value, kRowBit | kColumnBit, index, tile);
    }
  }
  for (size_t i = 0; i < frame_.program.results.size(); ++i) {
    const TileResult& result = frame_.program.results[i];
    if (result.follows >= 0) continue;
    for (const ShortIndex& index : frame_.ShortIndices(AxesOf(result.array))) {
      const Bundle values = values_.GetFor(result.value, kRowBit | kColumnBit, index, tile);
      if (result.reduced == 0) {
        Write(result, static_cast<int>(i), index, values, tile);
      } else if (result.segment >= 0) {
        AddToSegments(result, static_cast<int>(i), index, values, tile);
      } else if ((result.reduced & kColumnBit) == 0) {
        AddToColumns(result, static_cast<int>(i), index, values, tile);
      } else if (IsTop(result)) {
        top_.Emit(static_cast<int>(i), index, values, tile);
      } else if (!FollowersOf(static_cast<int>(i)).empty()) {
        AccumulateBest(static_cast<int>(i), index, values, tile);
      } else {
        Accumulate(result, accumulators_[{static_cast<int>(i), index}], values, tile);
      }
    }
  }
}

void ResultEmitter::Prefetch(const TileResult& result, int number, const Tile& tile) {
  const bool is_added_to = result.reduced == 0 && result.reducer != Opcode::kUnknown &&
                           result.array.axes.back() == kColumnAxis;
  if (!is_added_to || frame_.program.AxesOfKind(TileAxisKind::kLong) == 0) return;
  for (const ShortIndex& index : frame_.ShortIndices(AxesOf(result.array))) {
    for (llvm::Value* row : tile.row_numbers) {
      for (int vector = 0; vector < tile.vectors; ++vector) {
        llvm::Value* column =
            builder_.CreateAdd(tile.column, frame_.Number(int64_t{vector} * frame_.shape.lanes));
        llvm::Value* address = frame_.Address(frame_.results[static_cast<size_t>(number)],
                                              result.array, row, column, index);
        // To be written, and to stay in all caches.
        builder_.CreateIntrinsic(
            llvm::Intrinsic::prefetch, {frame_.pointer},
            {address, builder_.getInt32(1), builder_.getInt32(3), builder_.getInt32(1)});
      }
    }
  }
}

llvm::Value* ResultEmitter::Masked(const TileResult& result, llvm::Value* value, const Tile& tile,
                                   int row) {
  if (tile.mask == nullptr) return value;
  return builder_.CreateSelect(tile.of_rows[row], value,
                               builder_.CreateVectorSplat(frame_.shape.lanes, Neutral(result)));
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
      added.push_back(Masked(result, value, tile, row));
    }
  }
  const Bundle sums =
      EmitReducer(result.reducer, result.array.type, Bundle(frame_.emitter, std::move(so_far)),
                  Bundle(frame_.emitter, std::move(added)));
  for (size_t i = 0; i < used.size(); ++i) builder_.CreateStore(sums[i], used[i]);
}

void ResultEmitter::FinishRun() {
  for (const auto& [key, sums] : runs_before_) {
    const TileResult& result = frame_.program.results[static_cast<size_t>(key.first)];
    llvm::Type* type = frame_.VectorOf(RegisterType(builder_.getContext(), result.array.type));
    for (size_t i = 0; i < sums.size(); ++i) {
      llvm::Value* run = accumulators_[key][i];
      builder_.CreateStore(
          builder_.CreateFAdd(builder_.CreateLoad(type, sums[i]), builder_.CreateLoad(type, run)),
          sums[i]);
      builder_.CreateStore(llvm::Constant::getNullValue(type), run);
    }
  }
}

bool ResultEmitter::IsTop(const TileResult& result) const {
  const TileResult& leader =
      result.follows < 0 ? result : frame_.program.results[static_cast<size_t>(result.follows)];
  return leader.reducer == Opcode::kChloTopK;
}

std::vector<int> ResultEmitter::FollowersOf(int number) const {
  std::vector<int> followers;
  for (size_t i = 0; i < frame_.program.results.size(); ++i) {
    if (frame_.program.results[i].follows == number) followers.push_back(static_cast<int>(i));
  }
  return followers;
}

std::vector<llvm::Value*> ResultEmitter::Better(llvm::ArrayRef<int> numbers,
                                                llvm::ArrayRef<llvm::Value*> left,
                                                llvm::ArrayRef<llvm::Value*> right,
                                                bool positions_decide, llvm::Value* mask) {
  const TileResult& leader = frame_.program.results[static_cast<size_t>(numbers[0])];
  const TileResult& first = frame_.program.results[static_cast<size_t>(numbers[1])];
  llvm::Value* a = left[0];
  llvm::Value* b = right[0];
  const ScalarType type = leader.array.type;
  const bool is_maximum = leader.reducer == Opcode::kMaximum;
  llvm::Value* wins = nullptr;
  llvm::Value* ties = nullptr;
  if (IsFloat(type)) {
    // NaN is better than every number, and not better than NaN.
    llvm::Value* is_better =
        is_maximum ? builder_.CreateFCmpUGT(b, a) : builder_.CreateFCmpULT(b, a);
    llvm::Value* is_nan = builder_.CreateFCmpUNO(a, a);
    wins = builder_.CreateAnd(is_better, builder_.CreateNot(is_nan));
    ties = builder_.CreateOr(builder_.CreateFCmpOEQ(a, b),
                             builder_.CreateAnd(is_nan, builder_.CreateFCmpUNO(b, b)));
  } else {
    const bool is_signed = !IsUnsigned(type);
    wins = is_maximum ? (is_signed ? builder_.CreateICmpSGT(b, a) : builder_.CreateICmpUGT(b, a))
                      : (is_signed ? builder_.CreateICmpSLT(b, a) : builder_.CreateICmpULT(b, a));
    ties = builder_.CreateICmpEQ(a, b);
  }
  if (positions_decide) {
    llvm::Value* is_earlier = IsFloat(first.array.type) ? builder_.CreateFCmpOLT(right[1], left[1])
                              : IsUnsigned(first.array.type)
                                  ? builder_.CreateICmpULT(right[1], left[1])
                                  : builder_.CreateICmpSLT(right[1], left[1]);
    wins = builder_.CreateOr(wins, builder_.CreateAnd(ties, is_earlier));
  }
  if (mask != nullptr) wins = builder_.CreateAnd(wins, mask);
  std::vector<llvm::Value*> better;
  for (size_t i = 0; i < left.size(); ++i) {
    better.push_back(builder_.CreateSelect(wins, right[i], left[i]));
  }
  return better;
}

void ResultEmitter::AccumulateBest(int number, const ShortIndex& index, const Bundle& values,
                                   const Tile& tile) {
  const std::vector<TileResult>& results = frame_.program.results;
  std::vector<int> numbers = {number};
  llvm::append_range(numbers, FollowersOf(number));
  const bool ascend = PositionsAscend(frame_.program, numbers[1]);
  std::vector<Bundle> all = {values};
  for (size_t i = 1; i < numbers.size(); ++i) {
    all.push_back(values_.GetFor(results[static_cast<size_t>(numbers[i])].value,
                                 kRowBit | kColumnBit, index, tile));
  }
  for (int row = 0; row < tile.rows; ++row) {
    for (int vector = 0; vector < tile.vectors; ++vector) {
      std::vector<llvm::Value*> places;
      std::vector<llvm::Value*> so_far;
      std::vector<llvm::Value*> next;
      for (size_t i = 0; i < numbers.size(); ++i) {
        places.push_back(
            accumulators_[{numbers[i], index}][Place(row, vector, frame_.shape.vectors)]);
        next.push_back(all[i][Place(row, vector, tile.vectors)]);
        so_far.push_back(builder_.CreateLoad(next.back()->getType(), places.back()));
      }
      // Columns go by in order: the first of equal ones is there already.
      const std::vector<llvm::Value*> better =
          Better(numbers, so_far, next, /*positions_decide=*/!ascend,
                 tile.mask == nullptr ? nullptr : tile.of_rows[row]);
      for (size_t i = 0; i < places.size(); ++i) builder_.CreateStore(better[i], places[i]);
    }
  }
}

void ResultEmitter::FinishBest(int number, const ShortIndex& index, const Tile& tile) {
  const std::vector<TileResult>& results = frame_.program.results;
  std::vector<int> numbers = {number};
  llvm::append_range(numbers, FollowersOf(number));
  const bool ascend = PositionsAscend(frame_.program, numbers[1]);
  for (int row = 0; row < tile.rows; ++row) {
    std::vector<llvm::Value*> best;
    for (int vector = 0; vector < frame_.shape.vectors; ++vector) {
      std::vector<llvm::Value*> next;
      for (const int one : numbers) {
        const ScalarType type = results[static_cast<size_t>(one)].array.type;
        llvm::Type* vector_type = frame_.VectorOf(RegisterType(builder_.getContext(), type));
        next.push_back(builder_.CreateLoad(
            vector_type, accumulators_[{one, index}][Place(row, vector, frame_.shape.vectors)]));
      }
      best = best.empty() ? next : Better(numbers, best, next, /*positions_decide=*/true);
    }
    for (int half = frame_.shape.lanes / 2; half > 0; half /= 2) {
      std::vector<llvm::Value*> lower;
      std::vector<llvm::Value*> upper;
      for (llvm::Value* one : best) {
        lower.push_back(builder_.CreateShuffleVector(one, Lanes(0, half)));
        upper.push_back(builder_.CreateShuffleVector(one, Lanes(half, half)));
      }
      best = Better(numbers, lower, upper, /*positions_decide=*/true);
    }
    std::vector<llvm::Value*> before;
    std::vector<llvm::Value*> addresses;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const auto place = static_cast<size_t>(numbers[i]);
      const ScalarType type = results[place].array.type;
      addresses.push_back(frame_.Address(frame_.results[place], results[place].array,
                                         tile.row_numbers[row], nullptr, index));
      llvm::Value* loaded =
          builder_.CreateAlignedLoad(MemoryType(builder_.getContext(), type), addresses.back(),
                                     llvm::Align(static_cast<uint64_t>(BytesOf(type))));
      before.push_back(FromMemory(frame_.emitter, type, loaded));
      best[i] = builder_.CreateExtractElement(best[i], uint64_t{0});
    }
    // Earlier blocks have the earlier columns.
    const std::vector<llvm::Value*> after =
        Better(numbers, before, best, /*positions_decide=*/!ascend);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const ScalarType type = results[static_cast<size_t>(numbers[i])].array.type;
      builder_.CreateAlignedStore(ToMemory(frame_.emitter, type, after[i]), addresses[i],
                                  llvm::Align(static_cast<uint64_t>(BytesOf(type))));
    }
  }
}

void ResultEmitter::AddToColumns(const TileResult& result, int number, const ShortIndex& index,
                                 const Bundle& values, const Tile& tile) {
  llvm::Type* memory = MemoryType(builder_.getContext(), result.array.type);
  const llvm::Align align(BytesOf(result.array.type));
  for (int vector = 0; vector < tile.vectors; ++vector) {
    llvm::Value* column =
        builder_.CreateAdd(tile.column, frame_.Number(int64_t{vector} * frame_.shape.lanes));
    llvm::Value* address =
        row_sums_.contains(number)
            ? RowSumAddress(number, index,
                            builder_.CreateAdd(tile.column_in_block,
                                               frame_.Number(int64_t{vector} * frame_.shape.lanes)))
            : frame_.Address(frame_.results[number], result.array, nullptr, column, index);
    Bundle sum(frame_.emitter,
               {FromMemory(frame_.emitter, result.array.type,
                           builder_.CreateAlignedLoad(frame_.VectorOf(memory), address, align))});
    std::optional<Bundle> rows;
    for (int row = 0; row < tile.rows; ++row) {
      llvm::Value* value = values[Place(row, vector, tile.vectors)];
      const Bundle next(frame_.emitter, {Masked(result, value, tile, row)});
      rows = rows ? EmitReducer(result.reducer, result.array.type, *rows, next) : next;
    }
    sum = EmitReducer(result.reducer, result.array.type, sum, *rows);
    builder_.CreateAlignedStore(ToMemory(frame_.emitter, result.array.type, sum[0]), address,
                                align);
  }
}

void ResultEmitter::AddToSegments(const TileResult& result, int number, const ShortIndex& index,
                                  const Bundle& values, const Tile& tile) {
  const auto axis = static_cast<size_t>(SegmentAxis(frame_.program, result));
  const Bundle segments = values_.GetFor(result.segment, kRowBit, index, tile);
  const ScalarType type = frame_.program.ops[static_cast<size_t>(result.segment)].type;
  // One row after the other, in the order in which others add them as well.
  for (int row = 0; row < tile.rows; ++row) {
    llvm::Value* segment = builder_.CreateIntCast(segments[static_cast<size_t>(row)], frame_.i64,
                                                  /*isSigned=*/!IsUnsigned(type));
    // Numbers below 0 are above all others here.
    llvm::Value* is_there = builder_.CreateICmpULT(segment, frame_.lengths[axis]);
    EmitIf(builder_, is_there, [&] {
      frame_.positions[axis] = segment;
      for (int vector = 0; vector < tile.vectors; ++vector) {
        llvm::Value* column =
            builder_.CreateAdd(tile.column, frame_.Number(int64_t{vector} * frame_.shape.lanes));
        AddVector(result,
                  frame_.Address(frame_.results[static_cast<size_t>(number)], result.array, nullptr,
                                 column, index),
                  values[Place(row, vector, tile.vectors)],
                  tile.mask == nullptr ? nullptr : tile.of_rows[row]);
      }
    });
  }
}

void ResultEmitter::AddVector(const TileResult& result, llvm::Value* address, llvm::Value* value,
                              llvm::Value* mask) {
  const ScalarType type = result.array.type;
  const llvm::Align align(static_cast<uint64_t>(BytesOf(type)));
  llvm::VectorType* memory = frame_.VectorOf(MemoryType(builder_.getContext(), type));
  llvm::Value* before =
      mask == nullptr
          ? static_cast<llvm::Value*>(builder_.CreateAlignedLoad(memory, address, align))
          : builder_.CreateMaskedLoad(memory, address, align, mask,
                                      llvm::Constant::getNullValue(memory));
  const Bundle left(frame_.emitter, {FromMemory(frame_.emitter, type, before)});
  const Bundle sum = EmitReducer(result.reducer, type, left, Bundle(frame_.emitter, {value}));
  llvm::Value* after = ToMemory(frame_.emitter, type, sum[0]);
  if (mask == nullptr) {
    builder_.CreateAlignedStore(after, address, align);
  } else {
    builder_.CreateMaskedStore(after, address, align, mask);
  }
}

void ResultEmitter::Write(const TileResult& result, int number, const ShortIndex& index,
                          const Bundle& values, const Tile& tile) {
  const ScalarType type = result.array.type;
  const llvm::Align align(static_cast<uint64_t>(BytesOf(type)));
  llvm::VectorType* memory = frame_.VectorOf(MemoryType(builder_.getContext(), type));
  llvm::Value* nothing = llvm::Constant::getNullValue(memory);
  const bool is_added = result.reducer != Opcode::kUnknown;
  for (int row = 0; row < tile.rows; ++row) {
    llvm::Value* row_number = tile.row_numbers[row];
    llvm::Value* mask = tile.mask == nullptr ? nullptr : tile.of_rows[row];
    for (int vector = 0; vector < tile.vectors; ++vector) {
      llvm::Value* value = values[Place(row, vector, tile.vectors)];
      llvm::Value* column =
          builder_.CreateAdd(tile.column, frame_.Number(int64_t{vector} * frame_.shape.lanes));
      if (result.array.axes.back() == kColumnAxis) {
        llvm::Value* address =
            frame_.Address(frame_.results[number], result.array, row_number, column, index);
        if (is_added) {
          AddVector(result, address, value, mask);
        } else if (mask == nullptr) {
          builder_.CreateAlignedStore(ToMemory(frame_.emitter, type, value), address, align);
        } else {
          builder_.CreateMaskedStore(ToMemory(frame_.emitter, type, value), address, align, mask);
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
      if (is_added) {
        llvm::Value* before = builder_.CreateMaskedGather(memory, addresses, align, mask, nothing);
        const Bundle left(frame_.emitter, {FromMemory(frame_.emitter, type, before)});
        value = EmitReducer(result.reducer, type, left, Bundle(frame_.emitter, {value}))[0];
      }
      builder_.CreateMaskedScatter(ToMemory(frame_.emitter, type, value), addresses, align, mask);
    }
  }
}

void ResultEmitter::FinishRows(const Tile& tile) {
  for (const auto& [key, places] : accumulators_) {
    const auto& [number, index] = key;
    const TileResult& result = frame_.program.results[static_cast<size_t>(number)];
    if (result.follows >= 0) continue;
    if (!FollowersOf(number).empty()) {
      FinishBest(number, index, tile);
      continue;
    }
    const ScalarType type = result.array.type;
    llvm::VectorType* vector_type = frame_.VectorOf(RegisterType(builder_.getContext(), type));
    const auto runs = runs_before_.find(key);
    const std::vector<llvm::Value*>& all = runs == runs_before_.end() ? places : runs->second;
    std::vector<Bundle> totals;
    for (int row = 0; row < tile.rows; ++row) {
      std::optional<Bundle> sum;
      for (int vector = 0; vector < frame_.shape.vectors; ++vector) {
        llvm::Value* place = all[Place(row, vector, frame_.shape.vectors)];
        const Bundle next(frame_.emitter, {builder_.CreateLoad(vector_type, place)});
        sum = sum ? EmitReducer(result.reducer, type, *sum, next) : next;
      }
      totals.push_back(*sum);
    }
    // What is left of all rows keeps more digits if a handful of them are added first, in pairs.
    while ((result.reduced & kRowBit) != 0 && totals.size() > 1) {
      std::vector<Bundle> pairs;
      for (size_t i = 0; i + 1 < totals.size(); i += 2) {
        pairs.push_back(EmitReducer(result.reducer, type, totals[i], totals[i + 1]));
      }
      if (totals.size() % 2 != 0) pairs.push_back(totals.back());
      totals = std::move(pairs);
    }
    for (size_t row = 0; row < totals.size(); ++row) {
      AddToRow(number, index, tile.row_numbers[row], totals[row][0]);
    }
  }
}

void ResultEmitter::AddToRow(int number, const ShortIndex& index, llvm::Value* row,
                             llvm::Value* totals) {
  const TileResult& result = frame_.program.results[static_cast<size_t>(number)];
  llvm::Value* address = frame_.Address(frame_.results[static_cast<size_t>(number)], result.array,
                                        row, nullptr, index);
  llvm::Value* beside = llvm::ConstantPointerNull::get(builder_.getPtrTy());
  if (IsSumOverColumns(result)) {
    llvm::Value* place = frame_.Number(ShortNumber(frame_.program, AxesOf(result.array), index));
    if ((result.reduced & kRowBit) == 0) {
      llvm::Value* count = frame_.Number(CompensationsOfRow(frame_.program, result));
      place = builder_.CreateAdd(builder_.CreateMul(row, count), place);
    }
    const int64_t bytes = BytesOf(result.array.type);
    beside = frame_.Offset(frame_.compensations[static_cast<size_t>(number)],
                           builder_.CreateMul(place, frame_.Number(bytes)));
  }
  builder_.CreateCall(FunctionThatAdds(result), {address, beside, totals});
}

llvm::Function* ResultEmitter::FunctionThatAdds(const TileResult& result) {
  const ScalarType type = result.array.type;
  llvm::Function*& function = functions_that_add_[{result.reducer, type}];
  if (function != nullptr) return function;
  llvm::VectorType* vector = frame_.VectorOf(RegisterType(builder_.getContext(), type));
  function = CreateFunction(
      frame_.emitter,
      llvm::FunctionType::get(builder_.getVoidTy(), {frame_.pointer, frame_.pointer, vector},
                              /*isVarArg=*/false),
      StrCat(ShortName(result.reducer), "_", Name(type)));
  function->setLinkage(llvm::GlobalValue::InternalLinkage);
  function->addFnAttr(llvm::Attribute::NoInline);
  const llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "entry", function));
  llvm::Value* address = function->getArg(0);
  llvm::Value* totals = function->getArg(2);
  for (int half = frame_.shape.lanes / 2; half > 0; half /= 2) {
    const Bundle a(frame_.emitter, {builder_.CreateShuffleVector(totals, Lanes(0, half))});
    const Bundle b(frame_.emitter, {builder_.CreateShuffleVector(totals, Lanes(half, half))});
    totals = EmitReducer(result.reducer, type, a, b)[0];
  }
  const Bundle total(frame_.emitter, {builder_.CreateExtractElement(totals, uint64_t{0})});
  const llvm::Align align(static_cast<uint64_t>(BytesOf(type)));
  llvm::Value* loaded =
      builder_.CreateAlignedLoad(MemoryType(builder_.getContext(), type), address, align);
  Bundle sum(frame_.emitter, {FromMemory(frame_.emitter, type, loaded)});
  if (IsSumOverColumns(result)) {
    llvm::Value* beside = function->getArg(1);
    llvm::Value* compensation = builder_.CreateAlignedLoad(vector->getElementType(), beside, align);
    const CompensatedSum after = EmitCompensated(
        {.sum = sum, .compensation = Bundle(frame_.emitter, {compensation})}, total);
    builder_.CreateAlignedStore(after.compensation[0], beside, align);
    sum = after.sum;
  } else {
    sum = EmitReducer(result.reducer, type, sum, total);
  }
  builder_.CreateAlignedStore(ToMemory(frame_.emitter, type, sum[0]), address, align);
  builder_.CreateRetVoid();
  return function;
}

}  // namespace plimsoll
