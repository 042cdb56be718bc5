#include "rewrite/loop_state_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/op_class.h"
#include "analysis/run_time.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "rewrite/pieces.h"
#include "rewrite/remove_dead_ops.h"

namespace plimsoll {
namespace {

// A state of more pieces is data, and better left in one value.
constexpr size_t kMostPieces = 64;

// How a value that a loop carries is taken apart.
struct State {
  size_t dimension = 0;
  llvm::SmallVector<int64_t> sizes;
};

// By dimension.
using PiecesAlong = std::map<size_t, Pieces>;

// What is carried whole has none.
using States = std::vector<std::optional<State>>;

// How a value in a loop's body is put together: by a concatenate, or because it is computed from
// values that are.
std::optional<State> PutTogether(const Value& value, const Block& body, const States& states) {
  llvm::SmallVector<const Value*> values = {&value};
  llvm::DenseSet<const Value*> seen = {&value};
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]->block() != &body) continue;
    if (values[i]->is_argument()) {
      if (states[values[i]->index()]) return states[values[i]->index()];
      continue;
    }
    const Op& op = *values[i]->defining_op();
    if (IsConcatenate(&op)) {
      State state = {.dimension = static_cast<size_t>(op.Get("dimension").integer()),
                     .sizes = PieceSizes(op)};
      if (state.sizes.size() > 1 && state.sizes.size() <= kMostPieces) return state;
    }
    if (!MapsElements(op)) continue;
    for (const Value* operand : op.operands()) {
      if (operand->type().rank() > 0 && seen.insert(operand).second) values.push_back(operand);
    }
  }
  return std::nullopt;
}

// True if the body reads parts of the value along the dimension, or does not care for more than
// one element at a time.
bool IsTakenApart(const Value& value, size_t dimension) {
  const std::vector<Op*> users = value.users();
  const bool is_sliced = llvm::any_of(users, [&](const Op* user) {
    const std::optional<SliceBounds> bounds = BoundsOfSlice(*user);
    return bounds && SlicedDimension(*bounds, value.type().shape()) == dimension;
  });
  return is_sliced || llvm::all_of(users, [](const Op* user) { return MapsElements(*user); });
}

States FindStates(const Op& loop) {
  const Block& body = loop.region(1).front();
  States states(loop.result_count());
  bool has_changed = true;
  // A value may be computed from another that turns out to be in pieces.
  while (has_changed) {
    has_changed = false;
    for (size_t i = 0; i < states.size(); ++i) {
      if (states[i]) continue;
      const Value& next = *body.last()->operand(i);
      if (!next.type().Is(TypeKind::kTensor) || !next.type().has_static_shape()) continue;
      // A value that stays the same needs no loop to be taken apart.
      if (&next == body.argument(i)) continue;
      std::optional<State> state = PutTogether(next, body, states);
      if (!state || !IsTakenApart(*body.argument(i), state->dimension)) continue;
      states[i] = std::move(state);
      has_changed = true;
    }
  }
  return states;
}

// Pieces of one element are carried without the dimension: stacks.
llvm::SmallVector<int64_t> CarriedShape(llvm::ArrayRef<int64_t> shape, size_t dimension) {
  llvm::SmallVector<int64_t> carried(shape);
  if (carried[dimension] == 1) carried.erase(carried.begin() + static_cast<ptrdiff_t>(dimension));
  return carried;
}

// How long the elements of a block take to compute, where XLA computes what is cheap again for
// each op that reads it. A concatenate ends that: it is there in memory.
double SecondsWithRepeats(const Block& block) {
  constexpr double kMostRepeats = 1e6;
  llvm::DenseMap<const Op*, double> times;
  double seconds = 0;
  for (const Op* op = block.last()->previous(); op != nullptr; op = op->previous()) {
    double readers = 0;
    size_t users = 0;
    for (const Value* result : op->results()) {
      for (const Op* user : result->users()) {
        const auto fused = times.find(user);
        readers += fused == times.end() ? 1 : fused->second;
        ++users;
      }
    }
    const bool is_fused = MapsElements(*op) || IsReshape(*op) || op->Is(Opcode::kSlice);
    const bool is_kept = !is_fused || (ClassOf(*op) != OpClass::kCheap && users > 1);
    // Who reads what is kept reads it once.
    readers = is_kept ? 1 : std::min(readers, kMostRepeats);
    if (!is_kept) times[op] = readers;
    seconds += SecondsOf(*op) * readers;
  }
  return seconds;
}

class LoopSplitter {
 public:
  LoopSplitter(Op& loop, States states) : loop_(loop), states_(std::move(states)) {}

  Builder::Values Run(Builder& builder) {
    PiecesAlong outside;
    const Builder::Values results = builder.While(
        Apart(builder, outside, loop_.operands()),
        [&](Builder& inside, llvm::ArrayRef<Value*> values) {
          PiecesAlong pieces;
          return Copy(inside, pieces, loop_.region(0).front(), values).front();
        },
        [&](Builder& inside, llvm::ArrayRef<Value*> values) {
          PiecesAlong pieces;
          return Apart(inside, pieces, Copy(inside, pieces, loop_.region(1).front(), values));
        });
    if (!builder.status().ok()) return {};
    made_ = results.front()->defining_op();
    made_->set_attributes(loop_.attributes());
    RemoveDeadOps(*made_);
    return Together(builder, results, /*is_needed=*/
                    [&](size_t i) { return loop_.result(i)->has_uses(); });
  }
  const Block& made_body() const { return made_->region(1).front(); }

 private:
  static Pieces& At(PiecesAlong& pieces, Builder& builder, size_t dimension) {
    return pieces.try_emplace(dimension, builder, dimension).first->second;
  }

  static llvm::SmallVector<Value*> AllPieces(Pieces& pieces, const State& state, Value* whole) {
    llvm::SmallVector<Value*> parts;
    int64_t start = 0;
    for (const int64_t size : state.sizes) {
      parts.push_back(pieces.Get(whole, start, start + size));
      start += size;
    }
    return parts;
  }

  // What is carried, from what was.
  Builder::Values Apart(Builder& builder, PiecesAlong& along, llvm::ArrayRef<Value*> values) {
    Builder::Values apart;
    for (const auto [value, state] : llvm::zip_equal(values, states_)) {
      if (!state) {
        apart.push_back(value);
        continue;
      }
      for (Value* piece : AllPieces(At(along, builder, state->dimension), *state, value)) {
        if (piece == nullptr) return {};
        apart.push_back(
            ReshapeTo(builder, piece, CarriedShape(piece->type().shape(), state->dimension)));
      }
    }
    return apart;
  }

  // The other way round; what is not needed is the loop's old operand.
  Builder::Values Together(Builder& builder, llvm::ArrayRef<Value*> carried,
                           llvm::function_ref<bool(size_t)> is_needed) {
    Builder::Values together;
    for (const auto [i, state] : llvm::enumerate(states_)) {
      if (!state) {
        together.push_back(carried.front());
        carried = carried.drop_front();
        continue;
      }
      const llvm::ArrayRef<Value*> pieces = carried.take_front(state->sizes.size());
      carried = carried.drop_front(state->sizes.size());
      together.push_back(is_needed(i) ? Joined(builder, pieces, *loop_.operand(i), *state)
                                      : loop_.operand(i));
    }
    return together;
  }

  static Value* Joined(Builder& builder, llvm::ArrayRef<Value*> pieces, const Value& whole,
                       const State& state) {
    llvm::SmallVector<Value*> parts;
    llvm::SmallVector<int64_t> shape(whole.type().shape());
    for (const auto [piece, size] : llvm::zip_equal(pieces, state.sizes)) {
      shape[state.dimension] = size;
      parts.push_back(ReshapeTo(builder, piece, shape));
    }
    return builder.Concatenate(parts, static_cast<int64_t>(state.dimension));
  }

  // Copies the ops of a block but for the last, and gives what that returned. Slices read pieces
  // from where they come from.
  Builder::Values Copy(Builder& inside, PiecesAlong& pieces, const Block& block,
                       llvm::ArrayRef<Value*> carried) {
    ValueMap values;
    const Builder::Values whole = Together(inside, carried, [](size_t) { return true; });
    for (const auto [i, value] : llvm::enumerate(whole)) values[block.argument(i)] = value;
    const auto now = [&](Value* value) {
      const auto found = values.find(value);
      return found == values.end() ? value : found->second;
    };
    for (const Op& op : block) {
      if (&op == block.last()) break;
      Value* operand = op.operand_count() == 0 ? nullptr : now(op.operand(0));
      if (op.Is(Opcode::kReshape) && op.result(0)->type().has_static_shape()) {
        values[op.result(0)] = ReshapeTo(inside, operand, op.result(0)->type().shape());
        continue;
      }
      if (Value* piece = Piece(inside, pieces, op, operand)) {
        values[op.result(0)] = piece;
        continue;
      }
      inside.Append(op.Clone(values));
      // Who else needs the next state gets it from the pieces.
      if (const std::optional<State> state = StateOf(op)) {
        Pieces& along = At(pieces, inside, state->dimension);
        Value*& next = values[op.result(0)];
        if (along.IsMadeOfPieces(*next)) {
          next = inside.Concatenate(AllPieces(along, *state, next),
                                    static_cast<int64_t>(state->dimension));
        }
      }
    }
    Builder::Values returned;
    for (Value* value : block.last()->operands()) returned.push_back(now(value));
    return returned;
  }

  // If the op computes the next state from others.
  std::optional<State> StateOf(const Op& op) const {
    if (!MapsElements(op)) return std::nullopt;
    const Op& end = *loop_.region(1).front().last();
    for (const auto [i, state] : llvm::enumerate(states_)) {
      if (state && end.operand(i) == op.result(0)) return state;
    }
    return std::nullopt;
  }

  // Null if the op does not read a part of what is made of pieces.
  static Value* Piece(Builder& inside, PiecesAlong& pieces, const Op& op, Value* operand) {
    const std::optional<SliceBounds> bounds = BoundsOfSlice(op);
    if (!bounds || op.result(0)->type().element_count().value_or(0) == 0) return nullptr;
    const std::optional<size_t> d = SlicedDimension(*bounds, operand->type().shape());
    if (!d) return nullptr;
    Pieces& along = At(pieces, inside, *d);
    if (!along.IsMadeOfPieces(*operand)) return nullptr;
    return along.Get(operand, bounds->starts[*d], bounds->limits[*d], bounds->strides[*d]);
  }

  Op& loop_;
  States states_;
  Op* made_ = nullptr;
};

Builder::Values ConcatenatedLoopState(RuleScope& scope) {
  if (!scope.op().Is(Opcode::kWhile)) return {};
  States states = FindStates(scope.op());
  if (llvm::none_of(states, [](const auto& state) { return state.has_value(); })) return {};
  LoopSplitter splitter(scope.op(), std::move(states));
  Builder::Values results = splitter.Run(scope.builder());
  if (results.empty()) return {};
  if (SecondsWithRepeats(splitter.made_body()) > SecondsWithRepeats(scope.op().region(1).front())) {
    return scope.Refuse("without the concatenate, parts would be computed again by each reader");
  }
  return results;
}

constexpr Rule kRules[] = {
    {.name = "concatenated_loop_state",
     .pattern = "a loop that carries a concatenate or a stack, and reads it by slices",
     .result = "a loop that carries the pieces",
     .guard = "at most 64 pieces, which are not computed again and again without the concatenate",
     .rewrite = ConcatenatedLoopState},
};

}  // namespace

llvm::ArrayRef<Rule> LoopStateRules() { return kRules; }

}  // namespace plimsoll
