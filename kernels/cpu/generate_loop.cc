#include "kernels/cpu/generate_loop.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/cpu/bundle.h"
#include "kernels/cpu/emit_for.h"
#include "kernels/cpu/emit_op.h"
#include "kernels/cpu/kernel_call.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace plimsoll {
namespace {

// Some vectors of the batch.
struct Chunk {
  int vectors = 0;
  llvm::Value* first = nullptr;  // Element of the batch.
  llvm::Value* mask = nullptr;   // Lanes that are elements; null if all are.
  llvm::Value* last = nullptr;   // With a mask: the last element that there is.
};

struct ArrayPlace {
  llvm::Value* base = nullptr;
  std::vector<llvm::Value*> strides = {};
  llvm::Value* steps = nullptr;
};

class LoopEmitter {
 public:
  LoopEmitter(Emitter& emitter, const LoopProgram& program, const LoopShape& shape)
      : emitter_(emitter),
        builder_(emitter.builder),
        program_(program),
        shape_(shape),
        in_loop_(program.InLoop()) {}

  void EmitBatch() {
    Begin(kBatchName, /*has_batch=*/true);
    llvm::Value* length = builder_.CreateSub(end_, begin_);
    llvm::Value* step = Number(int64_t{shape_.vectors} * shape_.lanes);
    llvm::Value* whole = builder_.CreateSub(end_, builder_.CreateSRem(length, step));
    EmitFor(builder_, begin_, whole, step,
            [&](llvm::Value* first) { EmitTurns({.vectors = shape_.vectors, .first = first}); });
    EmitFor(builder_, whole, end_, Number(shape_.lanes), [&](llvm::Value* first) {
      EmitTurns({.vectors = 1,
                 .first = first,
                 .mask = EmitLaneMask(builder_, shape_.lanes, builder_.CreateSub(end_, first)),
                 .last = builder_.CreateSub(end_, Number(1))});
    });
    builder_.CreateRetVoid();
  }

  void EmitSingle() {
    Begin(kSingleName, /*has_batch=*/false);
    const bool has_some = llvm::any_of(
        program_.results, [](const LoopResult& result) { return !result.array.HasBatch(); });
    if (has_some) EmitTurns({});
    builder_.CreateRetVoid();
  }

 private:
  llvm::Value* Number(int64_t number) const {
    return llvm::ConstantInt::getSigned(builder_.getInt64Ty(), number);
  }

  llvm::Type* VectorOf(llvm::Type* element) const {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(shape_.lanes));
  }

  void Begin(std::string_view name, bool has_batch) {
    auto* type =
        llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, /*isVarArg=*/false);
    llvm::Function* function = CreateFunction(emitter_, type, name);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "entry", function));
    has_batch_ = has_batch;
    FindNeeded();
    values_.assign(program_.ops.size(), std::nullopt);
    LoadCall(function->getArg(0));
    // What is the same for all of the batch and in all turns.
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (needed_[i] && !in_loop_[i] && !program_.ops[i].varies) values_[i] = Emit(i, {});
    }
  }

  void LoadCall(llvm::Value* call) {
    const auto field = [&](size_t offset, llvm::Type* type) {
      llvm::Value* place =
          builder_.CreateGEP(builder_.getInt8Ty(), call, Number(static_cast<int64_t>(offset)));
      return builder_.CreateLoad(type, place);
    };
    llvm::Type* pointer = builder_.getPtrTy();
    llvm::Type* i64 = builder_.getInt64Ty();
    begin_ = field(offsetof(KernelCall, row_begin), i64);
    end_ = field(offsetof(KernelCall, row_end), i64);
    llvm::Value* strides = field(offsetof(KernelCall, strides), pointer);
    llvm::Value* lengths = field(offsetof(KernelCall, lengths), pointer);
    int64_t next_stride = 0;
    int64_t next_length = 0;
    const auto item = [&](llvm::Type* type, llvm::Value* list, int64_t place) {
      return builder_.CreateLoad(type, builder_.CreateGEP(type, list, Number(place)));
    };
    const auto load = [&](llvm::Value* list, size_t place, const LoopArray& array) {
      ArrayPlace loaded = {.base = item(pointer, list, static_cast<int64_t>(place))};
      for (size_t i = 0; i < array.dimensions.size(); ++i) {
        loaded.strides.push_back(item(i64, strides, next_stride++));
      }
      loaded.steps = item(i64, lengths, next_length++);
      return loaded;
    };
    operands_.clear();
    results_.clear();
    llvm::Value* list = field(offsetof(KernelCall, operands), pointer);
    for (size_t i = 0; i < program_.operands.size(); ++i) {
      operands_.push_back(load(list, i, program_.operands[i]));
    }
    list = field(offsetof(KernelCall, results), pointer);
    for (size_t i = 0; i < program_.results.size(); ++i) {
      results_.push_back(load(list, i, program_.results[i].array));
    }
  }

  void Need(std::vector<bool>& needed, int number, bool follows_state) const {
    std::vector<int> open = {number};
    while (!open.empty()) {
      const int one = open.back();
      open.pop_back();
      if (one < 0 || needed[static_cast<size_t>(one)]) continue;
      needed[static_cast<size_t>(one)] = true;
      const LoopOp& op = program_.op(one);
      if (op.kind == LoopOpKind::kState && !follows_state) continue;
      llvm::append_range(open, op.operands);
      if (op.kind == LoopOpKind::kState) open.push_back(op.index);
    }
  }

  // Where each element of the batch has an end of its own, nothing else changes.
  bool HasTurns() const { return has_batch_ || !program_.op(program_.condition).varies; }

  bool IsMade(const LoopResult& result) const { return result.array.HasBatch() == has_batch_; }

  // What this function's results and the condition need.
  void FindNeeded() {
    needed_.assign(program_.ops.size(), false);
    if (HasTurns()) Need(needed_, program_.condition, /*follows_state=*/true);
    for (const LoopResult& result : program_.results) {
      if (!IsMade(result)) continue;
      for (const int value : result.values) Need(needed_, value, /*follows_state=*/true);
      Need(needed_, result.step, /*follows_state=*/true);
      Need(needed_, result.fill, /*follows_state=*/true);
    }
    of_condition_.assign(program_.ops.size(), false);
    Need(of_condition_, program_.condition, /*follows_state=*/false);
  }

  const Bundle& Value(int number) const { return *values_[static_cast<size_t>(number)]; }

  // The same as a vector.
  Bundle AsVector(int number) {
    const Bundle& bundle = Value(number);
    if (bundle.type()->isVectorTy()) return bundle;
    return bundle.Map([&](llvm::Value* value) {
      return builder_.CreateVectorSplat(static_cast<unsigned>(shape_.lanes), value);
    });
  }

  Bundle Emit(size_t number, const Chunk& chunk) {
    const LoopOp& op = program_.ops[number];
    switch (op.kind) {
      case LoopOpKind::kLoad:
        return EmitLoad(op, chunk);
      case LoopOpKind::kPosition:
        return EmitPosition(op, chunk);
      case LoopOpKind::kConstant:
        return Bundle(emitter_, {EmitConstant(emitter_, op.type, op.bits)});
      case LoopOpKind::kState:
      case LoopOpKind::kCompute:
        break;
    }
    std::vector<Bundle> operands;
    for (const int operand : op.operands) {
      operands.push_back(op.varies ? AsVector(operand) : Value(operand));
    }
    const TileOp compute = {.kind = TileOpKind::kCompute,
                            .type = op.type,
                            .opcode = op.opcode,
                            .comparison = op.comparison};
    return EmitCompute(compute, program_.op(op.operands.back()).type, operands);
  }

  Bundle EmitPosition(const LoopOp& op, const Chunk& chunk) {
    llvm::SmallVector<llvm::Constant*, 16> lanes;
    for (int lane = 0; lane < shape_.lanes; ++lane) {
      lanes.push_back(builder_.getInt64(static_cast<uint64_t>(lane)));
    }
    llvm::Type* type = VectorOf(RegisterType(builder_.getContext(), op.type));
    Bundle::Values values;
    for (int i = 0; i < chunk.vectors; ++i) {
      llvm::Value* first =
          builder_.CreateVectorSplat(static_cast<unsigned>(shape_.lanes), ElementOf(chunk, i));
      llvm::Value* positions = builder_.CreateAdd(first, llvm::ConstantVector::get(lanes));
      values.push_back(IsFloat(op.type) ? builder_.CreateSIToFP(positions, type)
                                        : builder_.CreateIntCast(positions, type, true));
    }
    return Bundle(emitter_, std::move(values));
  }

  llvm::Value* ElementOf(const Chunk& chunk, int vector) {
    return builder_.CreateAdd(chunk.first, Number(int64_t{vector} * shape_.lanes));
  }

  // The step that a number means, which is always one that there is.
  llvm::Value* StepOf(int number, const ArrayPlace& place) {
    const bool is_signed = !IsUnsigned(program_.op(number).type);
    llvm::Value* step = builder_.CreateIntCast(Value(number)[0], builder_.getInt64Ty(), is_signed);
    llvm::Value* last = builder_.CreateSub(place.steps, Number(1));
    step = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, step, Number(0));
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, step, last);
  }

  // Where an element's number is, for the batch's element 0 and a step, which may be null.
  llvm::Value* AddressOf(const LoopArray& array, const ArrayPlace& place, int64_t element,
                         llvm::Value* step) {
    llvm::Value* offset = Number(0);
    for (size_t i = array.dimensions.size(); i-- > 0;) {
      const int64_t length = array.dimensions[i];
      if (length == kBatchDimension) continue;
      llvm::Value* position = length == kStepDimension ? step : Number(element % length);
      if (length > 0) element /= length;
      offset = builder_.CreateAdd(offset, builder_.CreateMul(position, place.strides[i]));
    }
    return builder_.CreateGEP(MemoryType(builder_.getContext(), array.type), place.base, offset);
  }

  static size_t BatchPlace(const LoopArray& array) {
    return static_cast<size_t>(llvm::find(array.dimensions, kBatchDimension) -
                               array.dimensions.begin());
  }

  // True if elements of the batch lie next to each other.
  static bool IsDense(const LoopArray& array) {
    return llvm::all_of(llvm::ArrayRef(array.dimensions).drop_front(BatchPlace(array) + 1),
                        [](int64_t length) { return length == 1; });
  }

  llvm::Value* ElementAddress(const LoopArray& array, const ArrayPlace& place, llvm::Value* base,
                              llvm::Value* element) {
    llvm::Type* memory = MemoryType(builder_.getContext(), array.type);
    return builder_.CreateGEP(memory, base,
                              builder_.CreateMul(element, place.strides[BatchPlace(array)]));
  }

  Bundle EmitLoad(const LoopOp& op, const Chunk& chunk) {
    const auto operand = static_cast<size_t>(op.index);
    const LoopArray& array = program_.operands[operand];
    const ArrayPlace& place = operands_[operand];
    llvm::Value* step = op.operands.empty() ? nullptr : StepOf(op.operands[0], place);
    llvm::Value* base = AddressOf(array, place, op.element, step);
    llvm::Type* memory = MemoryType(builder_.getContext(), array.type);
    const llvm::Align align(static_cast<uint64_t>(BytesOf(array.type)));
    if (!op.varies) {
      llvm::Value* loaded = builder_.CreateAlignedLoad(memory, base, align);
      return Bundle(emitter_, {FromMemory(emitter_, array.type, loaded)});
    }
    Bundle::Values values;
    for (int i = 0; i < chunk.vectors; ++i) {
      llvm::Value* first = ElementOf(chunk, i);
      llvm::Value* loaded = nullptr;
      if (!IsDense(array)) {
        loaded = LoadApart(array, place, base, first, chunk);
      } else {
        llvm::Value* from = ElementAddress(array, place, base, first);
        loaded = chunk.mask == nullptr ? builder_.CreateAlignedLoad(VectorOf(memory), from, align)
                                       : static_cast<llvm::Value*>(builder_.CreateMaskedLoad(
                                             VectorOf(memory), from, align, chunk.mask,
                                             llvm::Constant::getNullValue(VectorOf(memory))));
      }
      values.push_back(FromMemory(emitter_, array.type, loaded));
    }
    return Bundle(emitter_, std::move(values));
  }

  // Elements that do not lie next to each other, one by one.
  llvm::Value* LoadApart(const LoopArray& array, const ArrayPlace& place, llvm::Value* base,
                         llvm::Value* first, const Chunk& chunk) {
    llvm::Type* memory = MemoryType(builder_.getContext(), array.type);
    llvm::Value* loaded = llvm::PoisonValue::get(VectorOf(memory));
    for (int lane = 0; lane < shape_.lanes; ++lane) {
      llvm::Value* element = builder_.CreateAdd(first, Number(lane));
      if (chunk.mask != nullptr) {
        element = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, element, chunk.last);
      }
      llvm::Value* number =
          builder_.CreateLoad(memory, ElementAddress(array, place, base, element));
      loaded = builder_.CreateInsertElement(loaded, number, static_cast<uint64_t>(lane));
    }
    return loaded;
  }

  // Writes a number of a result, for the whole batch of the chunk if it has one.
  void EmitStore(size_t result, int64_t element, llvm::Value* step, int number,
                 const Chunk& chunk) {
    const LoopArray& array = program_.results[result].array;
    const ArrayPlace& place = results_[result];
    llvm::Value* base = AddressOf(array, place, element, step);
    const llvm::Align align(static_cast<uint64_t>(BytesOf(array.type)));
    if (!array.HasBatch()) {
      builder_.CreateAlignedStore(ToMemory(emitter_, array.type, Value(number)[0]), base, align);
      return;
    }
    const Bundle bundle = AsVector(number);
    for (int i = 0; i < chunk.vectors; ++i) {
      llvm::Value* stored = ToMemory(emitter_, array.type, bundle[static_cast<size_t>(i)]);
      llvm::Value* first = ElementOf(chunk, i);
      if (!IsDense(array)) {
        StoreApart(array, place, base, first, stored, chunk);
        continue;
      }
      llvm::Value* to = ElementAddress(array, place, base, first);
      if (chunk.mask == nullptr) {
        builder_.CreateAlignedStore(stored, to, align);
      } else {
        builder_.CreateMaskedStore(stored, to, align, chunk.mask);
      }
    }
  }

  void StoreApart(const LoopArray& array, const ArrayPlace& place, llvm::Value* base,
                  llvm::Value* first, llvm::Value* stored, const Chunk& chunk) {
    if (chunk.mask == nullptr) {
      for (int lane = 0; lane < shape_.lanes; ++lane) {
        llvm::Value* element = builder_.CreateAdd(first, Number(lane));
        builder_.CreateStore(builder_.CreateExtractElement(stored, static_cast<uint64_t>(lane)),
                             ElementAddress(array, place, base, element));
      }
      return;
    }
    llvm::Value* count = builder_.CreateAdd(builder_.CreateSub(chunk.last, first), Number(1));
    EmitFor(builder_, Number(0), count, Number(1), [&](llvm::Value* lane) {
      builder_.CreateStore(builder_.CreateExtractElement(stored, lane),
                           ElementAddress(array, place, base, builder_.CreateAdd(first, lane)));
    });
  }

  void EmitResult(size_t number, llvm::Value* step, const Chunk& chunk) {
    const LoopResult& result = program_.results[number];
    for (size_t i = 0; i < result.values.size(); ++i) {
      EmitStore(number, static_cast<int64_t>(i), step, result.values[i], chunk);
    }
  }

  void EmitFill(size_t number, const Chunk& chunk) {
    const LoopResult& result = program_.results[number];
    EmitFor(builder_, Number(0), results_[number].steps, Number(1), [&](llvm::Value* step) {
      for (size_t i = 0; i < result.values.size(); ++i) {
        EmitStore(number, static_cast<int64_t>(i), step, result.fill, chunk);
      }
    });
  }

  // A state's value as it is kept from turn to turn: predicates as integers as wide as the others,
  // since processors have no registers for vectors of bits.
  Bundle ToState(const LoopOp& state, int number) {
    if (!state.varies) return Value(number);
    Bundle bundle = AsVector(number);
    if (state.type == ScalarType::kI1) {
      return bundle.Map([&](llvm::Value* value) {
        return builder_.CreateSExt(value, VectorOf(builder_.getInt32Ty()));
      });
    }
    if (!IsHalf(state.type)) return bundle;
    return bundle.Map([&](llvm::Value* value) {
      return FromMemory(emitter_, state.type, ToMemory(emitter_, state.type, value));
    });
  }

  Bundle FromState(const LoopOp& state, const Bundle& kept) {
    if (!state.varies || state.type != ScalarType::kI1) return kept;
    return kept.Map([&](llvm::Value* value) {
      return builder_.CreateICmpSLT(value, llvm::Constant::getNullValue(value->getType()));
    });
  }

  // All turns for a chunk.
  void EmitTurns(const Chunk& chunk) {
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (needed_[i] && !in_loop_[i] && program_.ops[i].varies) values_[i] = Emit(i, chunk);
    }
    for (size_t i = 0; i < program_.results.size(); ++i) {
      if (IsMade(program_.results[i]) && program_.results[i].fill >= 0) EmitFill(i, chunk);
    }
    if (!HasTurns()) {
      EmitFinalResults(chunk);
      return;
    }
    std::vector<size_t> states;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (needed_[i] && program_.ops[i].kind == LoopOpKind::kState) states.push_back(i);
    }
    std::vector<Bundle> kept = BeginLoop(states, chunk);
    llvm::Function* function = builder_.GetInsertBlock()->getParent();
    llvm::BasicBlock* head = builder_.GetInsertBlock();
    const auto emit_ops = [&](bool of_condition) {
      for (size_t i = 0; i < program_.ops.size(); ++i) {
        if (!needed_[i] || !in_loop_[i] || of_condition_[i] != of_condition) continue;
        if (program_.ops[i].kind != LoopOpKind::kState) values_[i] = Emit(i, chunk);
      }
    };
    emit_ops(/*of_condition=*/true);
    auto* turn = llvm::BasicBlock::Create(builder_.getContext(), "turn", function);
    auto* done = llvm::BasicBlock::Create(builder_.getContext(), "done", function);
    builder_.CreateCondBr(GoesOn(chunk), turn, done);
    builder_.SetInsertPoint(turn);
    EmitForgetMemory(builder_);
    emit_ops(/*of_condition=*/false);
    for (size_t i = 0; i < program_.results.size(); ++i) {
      const LoopResult& result = program_.results[i];
      if (IsMade(result) && result.step >= 0) {
        EmitResult(i, StepOf(result.step, results_[i]), chunk);
      }
    }
    EndTurn(states, kept);
    builder_.CreateBr(head);
    builder_.SetInsertPoint(done);
    EmitFinalResults(chunk);
  }

  // Whether there is another turn for any element of the chunk.
  llvm::Value* GoesOn(const Chunk& chunk) {
    const Bundle& condition = Value(program_.condition);
    if (!condition.type()->isVectorTy()) return condition[0];
    llvm::Value* any = nullptr;
    for (llvm::Value* lanes : condition.values()) {
      if (chunk.mask != nullptr) lanes = builder_.CreateAnd(lanes, chunk.mask);
      any = any == nullptr ? lanes : builder_.CreateOr(any, lanes);
    }
    return builder_.CreateOrReduce(any);
  }

  void EmitFinalResults(const Chunk& chunk) {
    for (size_t i = 0; i < program_.results.size(); ++i) {
      const LoopResult& result = program_.results[i];
      if (IsMade(result) && result.step < 0) EmitResult(i, nullptr, chunk);
    }
  }

  // Goes to the head of the loop, where the states are; gives them as they are kept.
  std::vector<Bundle> BeginLoop(const std::vector<size_t>& states, const Chunk& chunk) {
    std::vector<Bundle> first;
    for (const size_t state : states) {
      first.push_back(ToState(program_.ops[state], program_.ops[state].operands[0]));
    }
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    auto* head = llvm::BasicBlock::Create(builder_.getContext(), "head", before->getParent());
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    std::vector<Bundle> kept;
    for (size_t i = 0; i < states.size(); ++i) {
      const int count = program_.ops[states[i]].varies ? chunk.vectors : 1;
      Bundle::Values phis;
      for (int j = 0; j < count; ++j) {
        llvm::PHINode* phi = builder_.CreatePHI(first[i].type(), 2);
        phi->addIncoming(first[i][static_cast<size_t>(j)], before);
        phis.push_back(phi);
      }
      kept.emplace_back(emitter_, std::move(phis));
    }
    for (size_t i = 0; i < states.size(); ++i) {
      values_[states[i]] = FromState(program_.ops[states[i]], kept[i]);
    }
    return kept;
  }

  void EndTurn(const std::vector<size_t>& states, const std::vector<Bundle>& kept) {
    std::vector<Bundle> next;
    for (const size_t state : states) {
      next.push_back(ToState(program_.ops[state], program_.ops[state].index));
    }
    for (size_t i = 0; i < states.size(); ++i) {
      for (size_t j = 0; j < kept[i].size(); ++j) {
        llvm::cast<llvm::PHINode>(kept[i][j])->addIncoming(next[i][j], builder_.GetInsertBlock());
      }
    }
  }

  Emitter& emitter_;
  llvm::IRBuilder<>& builder_;
  const LoopProgram& program_;
  const LoopShape& shape_;
  const std::vector<bool> in_loop_;
  // Of the function that is being made.
  bool has_batch_ = false;
  std::vector<bool> needed_;
  std::vector<bool> of_condition_;
  std::vector<std::optional<Bundle>> values_;
  std::vector<ArrayPlace> operands_;
  std::vector<ArrayPlace> results_;
  llvm::Value* begin_ = nullptr;
  llvm::Value* end_ = nullptr;
};

}  // namespace

StatusOr<std::unique_ptr<llvm::Module>> GenerateLoop(llvm::LLVMContext& context,
                                                     const LoopProgram& program,
                                                     const CpuMachine& machine,
                                                     const LoopShape& shape) {
  RETURN_IF_ERROR(ExpectMachine(program, machine));
  auto module = std::make_unique<llvm::Module>("loop", context);
  llvm::IRBuilder<> builder(context);
  LetRoundOnce(builder);
  Emitter emitter = {.module = *module, .builder = builder, .machine = machine};
  LoopEmitter loop(emitter, program, shape);
  loop.EmitBatch();
  loop.EmitSingle();
  return module;
}

}  // namespace plimsoll
