#include "kernels/cpu/emit_values.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/cpu/emit_for.h"
#include "kernels/cpu/emit_op.h"
#include "kernels/cpu/kernel_cost.h"
#include "kernels/cpu/vector_math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace plimsoll {
namespace {

Level LevelOf(AxisSet axes) {
  if ((axes & kColumnBit) != 0) return Level::kColumn;
  return (axes & kRowBit) != 0 ? Level::kRow : Level::kOnce;
}

// True if units that multiply would wait for those that add, so that differences are better
// computed as sums of products, which are as exact.
bool HasFewProducts(const TileProgram& program, const CpuMachine& machine) {
  if (!machine.HasMultiplyAdd()) return false;
  double sums = 0;
  double products = 0;
  double differences = 0;
  for (const TileOp& op : program.ops) {
    if ((op.axes & kColumnBit) == 0 || !IsFloat(op.type)) continue;
    const auto count = static_cast<double>(program.ShortCount(op.axes));
    if (op.kind == TileOpKind::kFold) {
      const TileOp& folded = program.ops[static_cast<size_t>(op.operands[0])];
      // A sum of products is one instruction for each.
      if (folded.opcode != Opcode::kMultiply) {
        sums += static_cast<double>(program.ShortCount(folded.axes));
      }
    } else if (op.kind == TileOpKind::kCompute) {
      const bool is_sum = op.opcode == Opcode::kAdd || op.opcode == Opcode::kSubtract ||
                          op.opcode == Opcode::kMaximum || op.opcode == Opcode::kMinimum ||
                          op.opcode == Opcode::kCompare;
      const bool is_of_bits =
          op.opcode == Opcode::kAbs || op.opcode == Opcode::kNegate || op.opcode == Opcode::kSelect;
      if (is_sum) sums += count;
      if (!is_sum && !is_of_bits) products += count * 2 * CyclesOf(op, /*lanes=*/1);
      if (op.opcode == Opcode::kSubtract) differences += count;
    }
  }
  return std::max(sums - differences, products + differences) < std::max(sums, products);
}

// Steps that are summed before they are added to the whole. Libraries' products of matrices sum at
// least as many in a row, other sums are more exact.
int StepsSummed(const TileProgram& program, const TileOp& fold) {
  constexpr int kOfProducts = 128;
  constexpr int kOfOthers = 16;
  const Opcode folded = program.ops[static_cast<size_t>(fold.operands[0])].opcode;
  return folded == Opcode::kMultiply && StepsUnrolled(program, fold) > 1 ? kOfProducts : kOfOthers;
}

// The index without the axes that the set does not have.
ShortIndex Restrict(ShortIndex index, AxisSet set) {
  for (size_t axis = 0; axis < index.size(); ++axis) {
    if ((set & AxisBit(static_cast<int>(axis))) == 0) index[axis] = 0;
  }
  return index;
}

}  // namespace

ValueEmitter::ValueEmitter(KernelFrame& frame)
    : frame_(frame),
      builder_(frame.builder),
      signs_(SignsOf(frame.program)),
      subtracts_with_products_(HasFewProducts(frame.program, frame.emitter.machine)) {
  for (const TileOp& op : frame.program.ops) {
    const auto has_sum = [&](int operand) { return has_sum_[static_cast<size_t>(operand)]; };
    has_sum_.push_back(op.kind == TileOpKind::kFold || llvm::any_of(op.operands, has_sum));
  }
  is_divisor_.resize(frame.program.ops.size());
  for (const TileOp& op : frame.program.ops) {
    if (DividesColumns(op)) is_divisor_[static_cast<size_t>(op.operands[1])] = true;
  }
}

bool ValueEmitter::DividesColumns(const TileOp& op) const {
  if (op.kind != TileOpKind::kCompute || op.opcode != Opcode::kDivide || !IsFloat(op.type) ||
      (op.axes & kColumnBit) == 0 || !frame_.emitter.machine.HasMultiplyAdd()) {
    return false;
  }
  const TileOp& divisor = frame_.program.ops[op.operands[1]];
  const AxisSet often = kColumnBit | frame_.program.AxesOfKind(TileAxisKind::kLong);
  return divisor.kind != TileOpKind::kConstant && (divisor.axes & often) == 0;
}

void ValueEmitter::EmitLevel(Level level, const Tile& tile) {
  Made& made = MadeAt(level);
  made.clear();
  for (size_t i = 0; i < frame_.program.ops.size(); ++i) {
    const TileOp& op = frame_.program.ops[i];
    // What is folded along a long axis is made in that fold's loop.
    if (LevelOf(op.axes) != level ||
        (op.axes & frame_.program.AxesOfKind(TileAxisKind::kLong)) != 0)
      continue;
    for (const ShortIndex& index : frame_.ShortIndices(op.axes))
      Get(static_cast<int>(i), index, tile);
  }
}

const Bundle& ValueEmitter::Get(int op, const ShortIndex& index, const Tile& tile) {
  const AxisSet axes = frame_.program.ops[op].axes;
  Made& made = MadeAt(LevelOf(axes));
  auto key = std::pair(op, Restrict(index, axes));
  auto found = made.find(key);
  if (found == made.end()) {
    Bundle bundle = Emit(frame_.program.ops[op], key.second, tile);
    if (is_divisor_[op]) divisors_.insert_or_assign(key, DivisorOf(bundle));
    found = made.emplace(std::move(key), std::move(bundle)).first;
  }
  return found->second;
}

Bundle ValueEmitter::GetFor(int op, AxisSet axes, const ShortIndex& index, const Tile& tile) {
  return Spread(Get(op, index, tile), frame_.program.ops[op].axes, axes, tile);
}

Bundle ValueEmitter::Spread(const Bundle& bundle, AxisSet own, AxisSet axes, const Tile& tile) {
  const int rows = (axes & kRowBit) != 0 ? tile.rows : 1;
  const int vectors = (axes & kColumnBit) != 0 ? tile.vectors : 1;
  const bool spreads = (axes & kColumnBit) != 0 && (own & kColumnBit) == 0;
  Bundle::Values values;
  for (int row = 0; row < rows; ++row) {
    for (int vector = 0; vector < vectors; ++vector) {
      const int own_row = (own & kRowBit) != 0 ? row : 0;
      const int place = (own & kColumnBit) != 0 ? own_row * vectors + vector : own_row;
      if (spreads && vector > 0) {
        values.push_back(values.back());
      } else if (spreads) {
        values.push_back(builder_.CreateVectorSplat(frame_.shape.lanes, bundle[place]));
      } else {
        values.push_back(bundle[place]);
      }
    }
  }
  return Bundle(frame_.emitter, std::move(values));
}

Bundle ValueEmitter::Emit(const TileOp& op, const ShortIndex& index, const Tile& tile) {
  switch (op.kind) {
    case TileOpKind::kLoad:
      return EmitLoad(op, index, tile);
    case TileOpKind::kIota:
      return EmitIota(op, index, tile);
    case TileOpKind::kConstant:
      return Bundle(frame_.emitter, {EmitConstant(frame_.emitter, op.type, op.bits)});
    case TileOpKind::kFold:
      return EmitFold(op, index, tile);
    case TileOpKind::kCompute:
      break;
  }
  // Sums first, so that what they are combined with takes no registers meanwhile.
  for (const int operand : op.operands) {
    if (has_sum_[static_cast<size_t>(operand)]) Get(operand, index, tile);
  }
  std::vector<Bundle> operands;
  if (DividesColumns(op)) {
    operands.push_back(GetFor(op.operands[0], op.axes, index, tile));
    const AxisSet own = frame_.program.ops[op.operands[1]].axes;
    Get(op.operands[1], index, tile);
    const Divisor& divisor = divisors_.at({op.operands[1], Restrict(index, own)});
    for (const Bundle& part : {divisor.scaled, divisor.reciprocal, divisor.scale}) {
      operands.push_back(Spread(part, own, op.axes, tile));
    }
  } else {
    for (const int operand : op.operands) {
      operands.push_back(GetFor(operand, op.axes, index, tile));
    }
  }
  // So many at a time that others wait in registers meanwhile.
  const auto at_once = static_cast<size_t>(frame_.emitter.machine.vector_registers / 4);
  size_t count = 1;
  for (const Bundle& operand : operands) count = std::max(count, operand.size());
  Bundle::Values made;
  for (size_t first = 0; first < count; first += at_once) {
    std::vector<Bundle> some;
    for (const Bundle& operand : operands) some.push_back(operand.Slice(first, at_once));
    llvm::append_range(made, EmitSome(op, some).values());
  }
  return Bundle(frame_.emitter, std::move(made));
}

Bundle ValueEmitter::EmitSome(const TileOp& op, llvm::ArrayRef<Bundle> operands) {
  if (DividesColumns(op)) {
    return Quotient(operands[0],
                    {.scaled = operands[1], .reciprocal = operands[2], .scale = operands[3]});
  }
  if (op.opcode == Opcode::kExponential &&
      signs_[static_cast<size_t>(op.operands[0])] == Sign::kNeverPositive) {
    return ExpOfNegative(operands[0]);
  }
  if (op.opcode == Opcode::kSubtract && IsFloat(op.type) && (op.axes & kColumnBit) != 0 &&
      subtracts_with_products_) {
    const Bundle negated =
        operands[1].Map([&](llvm::Value* value) { return builder_.CreateFNeg(value); });
    return MultiplyAdd(operands[0], operands[0].Number(1), negated);
  }
  return EmitCompute(op, frame_.program.ops[op.operands.back()].type, operands);
}

void ValueEmitter::Prepare(int number, int axis, const ShortIndex& index, const Tile& tile) {
  const TileOp& op = frame_.program.ops[number];
  if ((op.axes & AxisBit(axis)) == 0) {
    Get(number, index, tile);
    return;
  }
  for (const int operand : op.operands) Prepare(operand, axis, index, tile);
}

void ValueEmitter::Forget(int axis) {
  for (Made& made : made_) {
    std::erase_if(made, [&](const auto& entry) {
      return (frame_.program.ops[entry.first.first].axes & AxisBit(axis)) != 0;
    });
  }
}

Bundle ValueEmitter::EmitLongFold(const TileOp& op, const ShortIndex& index, const Tile& tile) {
  const int axis = op.index;
  Prepare(op.operands[0], axis, index, tile);
  llvm::Type* element = RegisterType(builder_.getContext(), op.type);
  llvm::Type* type = (op.axes & kColumnBit) != 0 ? frame_.VectorOf(element) : element;
  const int count =
      ((op.axes & kRowBit) != 0 ? tile.rows : 1) * ((op.axes & kColumnBit) != 0 ? tile.vectors : 1);
  llvm::Value* neutral = EmitConstant(frame_.emitter, op.type, NeutralBits(op.opcode, op.type));
  if (type->isVectorTy()) neutral = builder_.CreateVectorSplat(frame_.shape.lanes, neutral);
  const auto load = [&](llvm::ArrayRef<llvm::Value*> places) {
    Bundle::Values values;
    for (llvm::Value* place : places) values.push_back(builder_.CreateLoad(type, place));
    return Bundle(frame_.emitter, std::move(values));
  };
  const auto next = [&](const Bundle& so_far, llvm::Value* position) {
    frame_.positions[static_cast<size_t>(axis)] = position;
    const Bundle made = GetFor(op.operands[0], op.axes, index, tile);
    Forget(op.index);
    return EmitReducer(op.opcode, op.type, so_far, made);
  };
  const auto keep = [&](const Bundle& values, llvm::ArrayRef<llvm::Value*> places) {
    for (size_t i = 0; i < places.size(); ++i) builder_.CreateStore(values[i], places[i]);
  };
  const int summed = StepsSummed(frame_.program, op);
  // The rows and columns that are left over are few, and their code should be small.
  const int unrolled = tile.mask != nullptr ? 1 : StepsUnrolled(frame_.program, op);
  // A part at a time, and its sum into the whole: long sums keep more digits that way. The whole is
  // not in registers, and not needed where there is one part.
  std::vector<llvm::Value*> sums;
  std::vector<llvm::Value*> parts;
  for (int i = 0; i < count; ++i) {
    sums.push_back(frame_.AllocateMemory(type));
    parts.push_back(frame_.Allocate(type));
    builder_.CreateStore(neutral, parts.back());
  }
  llvm::Value* length = frame_.lengths[static_cast<size_t>(axis)];
  frame_.Loop(frame_.Number(0), length, frame_.Number(summed), [&](llvm::Value* begin) {
    for (llvm::Value* part : parts) builder_.CreateStore(neutral, part);
    llvm::Value* end = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, builder_.CreateNSWAdd(begin, frame_.Number(summed)), length);
    llvm::Value* whole = end;
    if (unrolled > 1) {
      llvm::Value* rest =
          builder_.CreateSRem(builder_.CreateSub(end, begin), frame_.Number(unrolled));
      whole = builder_.CreateSub(end, rest);
    }
    frame_.Loop(begin, whole, frame_.Number(unrolled), [&](llvm::Value* position) {
      Bundle part = load(parts);
      for (int i = 0; i < unrolled; ++i) {
        part = next(KeepOrder(part), builder_.CreateNSWAdd(position, frame_.Number(i)));
      }
      keep(part, parts);
    });
    if (unrolled > 1) {
      frame_.Loop(whole, end, frame_.Number(1),
                  [&](llvm::Value* position) { keep(next(load(parts), position), parts); });
    }
    EmitIf(builder_, builder_.CreateICmpSGT(begin, frame_.Number(0)),
           [&] { keep(EmitReducer(op.opcode, op.type, load(sums), load(parts)), parts); });
    EmitIf(builder_, builder_.CreateICmpSLT(end, length), [&] { keep(load(parts), sums); });
  });
  return load(parts);
}

Bundle ValueEmitter::EmitFold(const TileOp& op, ShortIndex index, const Tile& tile) {
  if (frame_.IsLong(op.index)) return EmitLongFold(op, index, tile);
  std::optional<Bundle> sum;
  for (int64_t i = 0; i < frame_.program.axes[op.index].length; ++i) {
    index[op.index] = i;
    const Bundle next = GetFor(op.operands[0], op.axes, index, tile);
    sum = sum ? EmitReducer(op.opcode, op.type, *sum, next) : next;
  }
  return *sum;
}

Bundle ValueEmitter::EmitIota(const TileOp& op, const ShortIndex& index, const Tile& tile) {
  llvm::Type* type = RegisterType(builder_.getContext(), op.type);
  const auto convert = [&](llvm::Value* number, llvm::Type* to) {
    return IsFloat(op.type) ? builder_.CreateSIToFP(number, to)
                            : builder_.CreateIntCast(number, to, /*isSigned=*/true);
  };
  Bundle::Values values;
  if (op.index == kRowAxis) {
    for (llvm::Value* row : tile.row_numbers) values.push_back(convert(row, type));
  } else if (op.index == kColumnAxis) {
    llvm::SmallVector<llvm::Constant*, 16> lanes;
    for (int lane = 0; lane < frame_.shape.lanes; ++lane) lanes.push_back(builder_.getInt32(lane));
    // Positions within the vector are added in the type itself: halves are f32 here.
    llvm::Value* steps = llvm::ConstantVector::get(lanes);
    steps = IsFloat(op.type)
                ? builder_.CreateSIToFP(steps, frame_.VectorOf(type))
                : builder_.CreateIntCast(steps, frame_.VectorOf(type), /*isSigned=*/true);
    for (int vector = 0; vector < tile.vectors; ++vector) {
      llvm::Value* first = convert(
          builder_.CreateAdd(tile.column, frame_.Number(int64_t{vector} * frame_.shape.lanes)),
          type);
      llvm::Value* splat = builder_.CreateVectorSplat(frame_.shape.lanes, first);
      values.push_back(IsFloat(op.type) ? builder_.CreateFAdd(splat, steps)
                                        : builder_.CreateAdd(splat, steps));
    }
  } else {
    values.push_back(convert(frame_.Number(index[op.index]), type));
  }
  return Bundle(frame_.emitter, std::move(values));
}

Bundle ValueEmitter::EmitLoad(const TileOp& op, const ShortIndex& index, const Tile& tile) {
  const TileArray& layout = frame_.program.operands[op.index];
  const ArrayPlace& array = frame_.operands[op.index];
  llvm::Type* memory = MemoryType(builder_.getContext(), layout.type);
  const llvm::Align align(BytesOf(layout.type));
  Bundle::Values values;
  const int rows = (op.axes & kRowBit) != 0 ? tile.rows : 1;
  if ((op.axes & kColumnBit) == 0) {
    for (int row = 0; row < rows; ++row) {
      llvm::Value* number = tile.row_numbers.empty() ? nullptr : tile.row_numbers[row];
      llvm::Value* address = frame_.Address(array, layout, number, nullptr, index);
      values.push_back(FromMemory(frame_.emitter, layout.type,
                                  builder_.CreateAlignedLoad(memory, address, align)));
    }
  } else if (IsPacked(frame_.program, layout)) {
    for (int vector = 0; vector < tile.vectors; ++vector) {
      llvm::Value* address = frame_.PackedAddress(op.index, tile.column_in_block, vector, index);
      values.push_back(FromMemory(
          frame_.emitter, layout.type,
          builder_.CreateAlignedLoad(frame_.VectorOf(memory), address,
                                     llvm::Align(static_cast<uint64_t>(BytesOf(layout.type)) *
                                                 static_cast<uint64_t>(frame_.shape.lanes)))));
    }
  } else {
    for (int row = 0; row < rows; ++row) {
      for (int vector = 0; vector < tile.vectors; ++vector) {
        llvm::Value* loaded = LoadPairs(layout, array, row, vector, index, tile);
        values.push_back(FromMemory(frame_.emitter, layout.type, loaded));
      }
    }
  }
  return Bundle(frame_.emitter, std::move(values));
}

llvm::Value* ValueEmitter::LoadPairs(const TileArray& layout, const ArrayPlace& array, int row,
                                     int vector, const ShortIndex& index, const Tile& tile) {
  llvm::Type* memory = MemoryType(builder_.getContext(), layout.type);
  const llvm::Align align(BytesOf(layout.type));
  llvm::Value* column =
      builder_.CreateAdd(tile.column, frame_.Number(int64_t{vector} * frame_.shape.lanes));
  if (layout.axes.back() == kColumnAxis) {
    llvm::Value* address = frame_.Address(array, layout, tile.row_numbers[row], column, index);
    if (tile.mask == nullptr)
      return builder_.CreateAlignedLoad(frame_.VectorOf(memory), address, align);
    return builder_.CreateMaskedLoad(frame_.VectorOf(memory), address, align, tile.mask,
                                     llvm::Constant::getNullValue(frame_.VectorOf(memory)));
  }
  llvm::Value* loaded = llvm::PoisonValue::get(frame_.VectorOf(memory));
  for (int lane = 0; lane < frame_.shape.lanes; ++lane) {
    llvm::Value* place = builder_.CreateAdd(column, frame_.Number(lane));
    if (tile.mask != nullptr) {
      place = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, place, tile.last_column);
    }
    llvm::Value* address = frame_.Address(array, layout, tile.row_numbers[row], place, index);
    llvm::Value* element = builder_.CreateAlignedLoad(memory, address, align);
    loaded = builder_.CreateInsertElement(loaded, element, lane);
  }
  return loaded;
}

}  // namespace plimsoll
