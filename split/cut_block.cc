#include "split/cut_block.h"

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/block_view.h"
#include "ir/builder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "split/chunk_ops.h"

namespace plimsoll {
namespace {

using Values = Builder::Values;

// Makes the loop of one pass.
class PassBuilder {
 public:
  PassBuilder(Builder& builder, const Cut& cut, const CutPass& pass, int64_t chunk)
      : builder_(builder), cut_(cut), pass_(pass), chunk_(chunk) {}

  // The loop; null if there is only one chunk.
  StatusOr<Op*> Run() {
    const Location location = pass_.ops.front()->location();
    builder_.set_location(location);
    RETURN_IF_ERROR(MakeInitialState());
    const int64_t looped = cut_.blocks / chunk_ * chunk_;
    const Type index = builder_.context().TensorType({}, IndexType());
    Values state = initial_;
    Op* loop = nullptr;
    if (looped > chunk_) {
      Values with_counter = {builder_.IntegerConstant(index, 0)};
      llvm::append_range(with_counter, state);
      with_counter = builder_.While(
          with_counter,
          [&](Builder& inside, llvm::ArrayRef<Value*> values) {
            return inside.Compare(Comparison::kLess, values[0],
                                  inside.IntegerConstant(index, looped));
          },
          [&](Builder& inside, llvm::ArrayRef<Value*> values) {
            Values next = {inside.Add(values[0], inside.IntegerConstant(index, chunk_))};
            const Chunk chunk = {.blocks = cut_.blocks, .size = chunk_, .first = values[0]};
            llvm::append_range(next, Step(inside, chunk, values.drop_front(), /*in_loop=*/true));
            return next;
          });
      RETURN_IF_ERROR(error_);
      RETURN_IF_ERROR(builder_.status());
      loop = with_counter[0]->defining_op();
      state.assign(with_counter.begin() + 1, with_counter.end());
    }
    // One chunk alone, or what the loop left over.
    const int64_t done = loop == nullptr ? 0 : looped;
    if (done < cut_.blocks) {
      const Chunk chunk = {.blocks = cut_.blocks,
                           .size = cut_.blocks - done,
                           .first = builder_.IntegerConstant(index, done)};
      state = Step(builder_, chunk, state, /*in_loop=*/false);
      RETURN_IF_ERROR(error_);
    }
    builder_.set_location(location);
    KeepResults(state);
    RETURN_IF_ERROR(builder_.status());
    return loop;
  }

 private:
  Type IndexType() const {
    int64_t most = 0;
    for (const Op* op : pass_.ops) {
      for (const Value* value : op->results()) most = std::max(most, Largest(*value));
      for (const Value* value : op->operands()) most = std::max(most, Largest(*value));
    }
    const bool is_short = most <= std::numeric_limits<int32_t>::max() / 2;
    return builder_.context().IntegerType(is_short ? 32 : 64);
  }

  static int64_t Largest(const Value& value) {
    int64_t most = 0;
    for (const int64_t size : value.type().shape()) most = std::max(most, size);
    return most;
  }

  const Factor& FactorOf(const Op& op) const { return cut_.ops.find(&op)->second.factor; }

  // The results that are not chunks: parts, or the same in all chunks.
  static llvm::SmallVector<size_t> Accumulated(const Factor& factor) {
    llvm::SmallVector<size_t> places;
    for (size_t i = 0; i < factor.results.size(); ++i) {
      if (factor.results[i] < 0) places.push_back(i);
    }
    return places;
  }

  // Those of them whose rounding errors are carried along.
  llvm::SmallVector<size_t> Compensated(const Op& op) const {
    llvm::SmallVector<size_t> places;
    const Factor& factor = FactorOf(op);
    if (cut_.blocks / chunk_ <= kManyTurns) return places;
    for (size_t i = 0; i < factor.results.size(); ++i) {
      if (IsSumOfFloats(op, factor, i)) places.push_back(i);
    }
    return places;
  }

  // The state: of each accumulating op its results and their rounding errors, then values that are
  // written chunk by chunk.
  Status MakeInitialState() {
    for (const Op* op : pass_.accumulated) {
      const Values operands = op->operands();
      const Factor& factor = FactorOf(*op);
      for (const size_t i : Accumulated(factor)) {
        const bool is_partial = factor.results[i] == kPartial;
        initial_.push_back(is_partial ? InitialAccumulator(builder_, *op, factor, i, operands)
                                      : ZerosLike(builder_, op->result(i)->type()));
      }
      for (const size_t i : Compensated(*op)) {
        initial_.push_back(ZerosLike(
            builder_,
            AccumulatorType(builder_.context(), op->result(i)->type(), factor.combination)));
      }
    }
    for (const Value* value : pass_.written) {
      initial_.push_back(ZerosLike(builder_, value->type()));
    }
    return builder_.status();
  }

  // One chunk: the state after it.
  Values Step(Builder& builder, const Chunk& chunk, llvm::ArrayRef<Value*> state, bool in_loop) {
    Values next(state);
    ValueMap chunks;
    llvm::DenseMap<std::pair<Value*, int>, Value*> slices;
    for (const Op* op : pass_.ops) {
      error_ = EmitOp(builder, *op, chunk, state, in_loop, chunks, slices, next);
      if (!error_.ok()) return next;
    }
    size_t place = state.size() - pass_.written.size();
    for (const Value* value : pass_.written) {
      next[place] = UpdateChunk(builder, state[place], chunks[value],
                                cut_.dimensions.find(value)->second, chunk);
      ++place;
    }
    if (error_.ok()) error_ = builder.status();
    return next;
  }

  Status EmitOp(Builder& builder, const Op& op, const Chunk& chunk, llvm::ArrayRef<Value*> state,
                bool in_loop, ValueMap& chunks,
                llvm::DenseMap<std::pair<Value*, int>, Value*>& slices, Values& next) {
    const Factor& factor = FactorOf(op);
    builder.set_location(op.location());
    Values operands;
    for (size_t i = 0; i < op.operand_count(); ++i) {
      Value* operand = op.operand(i);
      const int dimension = factor.operands[i];
      const auto label = cut_.dimensions.find(operand);
      const bool is_chunk = dimension >= 0 && label != cut_.dimensions.end() &&
                            label->second == dimension && chunks.contains(operand);
      if (is_chunk) {
        operands.push_back(chunks[operand]);
      } else if (dimension >= 0) {
        Value*& slice = slices[{operand, dimension}];
        if (slice == nullptr) slice = SliceChunk(builder, operand, dimension, chunk);
        operands.push_back(slice);
      } else if (dimension == kPartial) {
        operands.push_back(FirstChunkOnly(builder, operand, chunk));
      } else {
        operands.push_back(operand);
      }
    }
    const bool is_accumulated = llvm::is_contained(pass_.accumulated, &op);
    const size_t place = is_accumulated ? PlaceOf(op) : 0;
    if (factor.combination == Combination::kFold) {
      for (size_t i = 0; i < op.result_count(); ++i) operands[i] = state[place + i];
    } else if (in_loop && !operands.empty() &&
               llvm::all_of(factor.operands, [](int d) { return d == kWhole; })) {
      // The same in every chunk: XLA would make it once, before the loop, and keep it.
      operands[0] = builder.OptimizationBarrier({operands[0], chunk.first})[0];
    }
    RETURN_IF_ERROR(builder.status());
    ASSIGN_OR_RETURN(Values results, EmitChunk(builder, op, factor, operands, chunk));
    // Fused into what reads each element again and again, it would be read across memory each time.
    if (op.Is(Opcode::kTranspose) && IsSpread(*op.result(0))) {
      results[0] = builder.OptimizationBarrier({results[0]})[0];
    }
    for (size_t i = 0; i < results.size(); ++i) chunks[op.result(i)] = results[i];
    if (!is_accumulated) return OkStatus();
    return Accumulate(builder, op, factor, place, state, results, next);
  }

  // True if the value's elements are repeated, with others of the same size in between.
  static bool IsSpread(const Value& value) {
    return llvm::any_of(value.users(), [&](const Op* user) {
      if (!user->Is(Opcode::kBroadcastInDim) && !user->Is(Opcode::kReshape)) return false;
      return BytesOf(*user->result(0)) > BytesOf(value) || IsSpread(*user->result(0));
    });
  }

  // Puts the op's results of this chunk together with those so far, which begin at `place`.
  Status Accumulate(Builder& builder, const Op& op, const Factor& factor, size_t place,
                    llvm::ArrayRef<Value*> state, llvm::ArrayRef<Value*> parts, Values& next) {
    Values so_far;
    Values partial;
    llvm::SmallVector<size_t> places;
    // Where the rounding error of each is; of none if it has none.
    llvm::SmallVector<std::optional<size_t>> lost_places;
    const llvm::SmallVector<size_t> accumulated = Accumulated(factor);
    const llvm::SmallVector<size_t> compensated = Compensated(op);
    size_t lost_place = place + accumulated.size();
    for (const size_t i : accumulated) {
      next[place] = parts[i];
      if (factor.results[i] == kPartial) {
        so_far.push_back(state[place]);
        partial.push_back(parts[i]);
        places.push_back(place);
        lost_places.emplace_back();
        if (llvm::is_contained(compensated, i)) {
          partial.back() = builder.Add(partial.back(), state[lost_place]);
          lost_places.back() = lost_place++;
        }
      }
      ++place;
    }
    if (partial.empty()) return OkStatus();
    ASSIGN_OR_RETURN(const Values combined, Combine(builder, op, factor, so_far, partial));
    for (size_t i = 0; i < places.size(); ++i) {
      next[places[i]] = combined[i];
      if (lost_places[i]) next[*lost_places[i]] = Lost(builder, so_far[i], partial[i], combined[i]);
    }
    return OkStatus();
  }

  // What rounding took from a sum of two numbers.
  static Value* Lost(Builder& builder, Value* large, Value* small, Value* sum) {
    Value* lost = builder.Subtract(small, builder.Subtract(sum, large));
    // Of infinity nothing is lost.
    Value* is_finite = builder.Unary(Opcode::kIsFinite, sum);
    return builder.Select(is_finite, lost, ZerosLike(builder, lost->type()));
  }

  // Where the op's results begin in the state.
  size_t PlaceOf(const Op& op) const {
    size_t place = 0;
    for (const Op* other : pass_.accumulated) {
      if (other == &op) break;
      place += Accumulated(FactorOf(*other)).size() + Compensated(*other).size();
    }
    return place;
  }

  // Later ops, outside and in other passes, use what this pass leaves behind.
  void KeepResults(llvm::ArrayRef<Value*> state) {
    size_t place = 0;
    for (const Op* op : pass_.accumulated) {
      for (const size_t i : Accumulated(FactorOf(*op))) {
        Value* result = op->result(i);
        const Type element = result->type().element_type();
        result->ReplaceAllUsesWith(builder_.Convert(state[place++], element));
      }
      place += Compensated(*op).size();
    }
    for (const Value* value : pass_.written) {
      value->defining_op()->result(value->index())->ReplaceAllUsesWith(state[place++]);
    }
  }

  Builder& builder_;
  const Cut& cut_;
  const CutPass& pass_;
  int64_t chunk_;
  Values initial_;
  Status error_;
};

}  // namespace

bool IsSumOfFloats(const Op& op, const Factor& factor, size_t result) {
  return factor.combination == Combination::kSum && factor.results[result] == kPartial &&
         op.result(result)->type().element_type().Is(TypeKind::kFloat);
}

StatusOr<std::vector<Op*>> CutBlock(Context& context, Block& block, const Cut& cut, int64_t chunk) {
  std::vector<Op*> ops;
  for (Op& op : block) ops.push_back(&op);
  Op* terminator = block.last();
  std::vector<Op*> loops;
  for (size_t level = 0; level <= cut.passes.size(); ++level) {
    for (Op* op : ops) {
      const auto outside = cut.outside.find(op);
      if (op == terminator || outside == cut.outside.end()) continue;
      const size_t wanted = std::min<size_t>(outside->second, cut.passes.size());
      if (wanted == level) block.InsertBefore(terminator, op->Remove());
    }
    if (level == cut.passes.size() || cut.passes[level].ops.empty()) continue;
    Builder builder(context, *terminator);
    PassBuilder pass(builder, cut, cut.passes[level], chunk);
    ASSIGN_OR_RETURN(Op * loop, pass.Run());
    if (loop != nullptr) loops.push_back(loop);
  }
  for (Op* op : llvm::reverse(ops)) {
    if (!cut.ops.contains(op)) continue;
    const bool is_used =
        llvm::any_of(op->results(), [](const Value* result) { return result->has_uses(); });
    if (is_used) {
      return Status(ErrorCode::kInternal,
                    StrCat(op->name(), " was cut, but ", op->result(0)->users().front()->name(),
                           " still uses it"));
    }
    op->Erase();
  }
  return loops;
}

}  // namespace plimsoll
