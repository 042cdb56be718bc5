#include "analysis/axis_loops.h"

#include "analysis/block_view.h"
#include "analysis/effects.h"
#include "ir/status.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

// How a pass over the body ended.
enum class Outcome : uint8_t { kDone, kAgain, kRefused };

bool IsZero(const Value& value) { return IsIdentity(value, Combination::kSum); }

bool IsFloating(Type element) {
  return element.Is(TypeKind::kFloat) || element.Is(TypeKind::kComplex);
}

// True if parts of a sum can go from one element type to the other. Parts that are integers may
// wrap around where their sum does not, which only types without more bits undo.
bool KeepsSums(Type from, Type to) {
  if (IsFloating(from)) return IsFloating(to);
  return from.Is(TypeKind::kInteger) && to.Is(TypeKind::kInteger) && to.integer_width() > 1 &&
         to.integer_width() <= from.integer_width();
}

// Finds what each value of a body is by going over it until nothing changes. Each pass starts from
// the state's labels and from the values that were found to be wanted in chunks.
class LoopAxisFinder {
 public:
  LoopAxisFinder(const Op& loop, int64_t blocks)
      : loop_(loop), body_(loop.region(1).front()), view_(body_), blocks_(blocks) {
    state_.assign(loop.operand_count(), kSame);
  }

  std::optional<LoopAxis> Find(llvm::ArrayRef<StateRequest> requests, std::string& reason) {
    if (!CanRunOften()) {
      reason = reason_;
      return std::nullopt;
    }
    for (const auto& [index, dimension] : requests) state_[index] = dimension;
    // Each pass that starts anew has labelled another piece of the state or another value.
    Outcome outcome = Outcome::kAgain;
    while (outcome == Outcome::kAgain) outcome = Pass();
    if (outcome == Outcome::kRefused || !ConditionIsSame()) {
      reason = reason_;
      return std::nullopt;
    }
    axis_.factor.size = blocks_;
    axis_.factor.combination = Combination::kSum;
    for (const int label : state_) {
      axis_.factor.operands.push_back(label == kSame ? kWhole : label);
      axis_.factor.results.push_back(label);
    }
    return std::move(axis_);
  }

 private:
  int LabelOf(const Value* value) const {
    const auto found = axis_.labels.find(value);
    return found == axis_.labels.end() ? kSame : found->second;
  }

  Outcome Refuse(const Op& op, std::string_view why) {
    const std::string line = SourceLine(op.location());
    reason_ = StrCat("inside a loop, ", op.name(), line.empty() ? "" : StrCat(" (", line, ")"),
                     ": ", why);
    return Outcome::kRefused;
  }

  // Every chunk runs the loop once more.
  bool CanRunOften() {
    const bool has_tensors = llvm::all_of(loop_.operands(), [](const Value* value) {
      return value->type().Is(TypeKind::kTensor) && value->type().has_static_shape();
    });
    if (!has_tensors) Refuse(loop_, "its shape is not known");
    if (HasEffects(loop_)) Refuse(loop_, "it has effects, and would run more than once");
    return reason_.empty();
  }

  Outcome Pass() {
    axis_ = LoopAxis();
    for (size_t i = 0; i < state_.size(); ++i) {
      if (state_[i] != kSame) axis_.labels[body_.argument(i)] = state_[i];
    }
    for (const Op* op : view_.ops()) {
      const Outcome outcome = op == body_.last() ? Close(*op) : Visit(*op);
      if (outcome != Outcome::kDone) return outcome;
    }
    return Outcome::kDone;
  }

  // A value is wanted in chunks. Says whether it can be had so, maybe after another pass.
  Outcome Want(Value* value, int dimension) {
    if (value->type().shape()[dimension] % blocks_ != 0) return Outcome::kRefused;
    if (value->is_argument() && value->block() == &body_)
      return SetState(value->index(), dimension);
    const bool is_here = !value->is_argument() && value->block() == &body_;
    // What is the same in all chunks is sliced where it is used, unless it can be made in chunks.
    if (!is_here || !wanted_.try_emplace(value, dimension).second) return Outcome::kDone;
    return Outcome::kAgain;
  }

  Outcome SetState(size_t index, int label) {
    if (state_[index] == label) return Outcome::kDone;
    if (state_[index] != kSame) return Outcome::kRefused;
    state_[index] = label;
    return Outcome::kAgain;
  }

  Outcome Visit(const Op& op) {
    bool has_chunks = false;
    bool has_parts = false;
    for (const Value* operand : op.operands()) {
      const int label = LabelOf(operand);
      has_chunks |= label >= 0;
      has_parts |= label == kPartial;
    }
    for (const Value* value : view_.Captured(op)) {
      if (LabelOf(value) != kSame) return Refuse(op, "it uses a chunk inside of a region");
    }
    if (op.Is(Opcode::kWhile) && (has_chunks || has_parts || IsWanted(op))) return VisitLoop(op);
    if (has_parts) return VisitLinear(op);
    if (has_chunks) return VisitChunks(op);
    return IsWanted(op) ? VisitWanted(op) : Outcome::kDone;
  }

  bool IsWanted(const Op& op) const {
    return llvm::any_of(op.results(), [&](Value* result) { return wanted_.contains(result); });
  }

  // No operand is a chunk, but a result is wanted as one.
  Outcome VisitWanted(const Op& op) {
    for (const Factor& factor : view_.RuleOf(op).factors) {
      const bool fits = factor.size % blocks_ == 0 &&
                        llvm::all_of(llvm::zip(op.results(), factor.results), [&](auto pair) {
                          const auto& [result, dimension] = pair;
                          const auto wanted = wanted_.find(result);
                          return wanted == wanted_.end() || wanted->second == dimension;
                        });
      if (fits) return Join(op, factor);
    }
    return Outcome::kDone;
  }

  Outcome VisitChunks(const Op& op) {
    for (Factor factor : view_.RuleOf(op).factors) {
      const bool fits = factor.size % blocks_ == 0 &&
                        llvm::all_of(llvm::zip(op.operands(), factor.operands), [&](auto pair) {
                          const auto& [operand, dimension] = pair;
                          const int label = LabelOf(operand);
                          return label == kSame || label == dimension;
                        });
      if (!fits) continue;
      if (factor.combination == Combination::kFold && AddsUp(op)) {
        // What it adds to counts in the first chunk only.
        factor.operands[0] = kPartial;
        factor.combination = Combination::kSum;
      }
      if (factor.combination != Combination::kNone && factor.combination != Combination::kSum) {
        return Refuse(op, "only sums are added up across the chunks of a loop");
      }
      const bool is_sum = factor.combination == Combination::kSum;
      if (is_sum && op.Is(Opcode::kReduce) && !IsZero(*op.operand(1))) {
        return Refuse(op, "what it starts from would count in every chunk");
      }
      return Join(op, factor);
    }
    const std::string& otherwise = view_.RuleOf(op).otherwise;
    return Refuse(op, otherwise.empty() ? "it needs the whole of a value" : otherwise);
  }

  static bool AddsUp(const Op& scatter) {
    return scatter.Is(Opcode::kScatter) && scatter.result_count() == 1 &&
           CombinationOf(scatter.region(0)) == Combination::kSum;
  }

  Outcome Join(const Op& op, const Factor& factor) {
    for (size_t i = 0; i < op.operand_count(); ++i) {
      if (factor.operands[i] < 0 || LabelOf(op.operand(i)) == factor.operands[i]) continue;
      const Outcome outcome = Want(op.operand(i), factor.operands[i]);
      if (outcome == Outcome::kRefused) return Refuse(op, "it would need a value along two axes");
      if (outcome != Outcome::kDone) return outcome;
    }
    axis_.ops[&op] = factor;
    for (size_t i = 0; i < op.result_count(); ++i) axis_.labels[op.result(i)] = factor.results[i];
    return Outcome::kDone;
  }

  // Parts of a sum may go through linear ops only: the sum of what comes out is then what would
  // come out of the sum.
  Outcome VisitLinear(const Op& op) {
    llvm::SmallVector<size_t> parts;
    for (size_t i = 0; i < op.operand_count(); ++i) {
      const int label = LabelOf(op.operand(i));
      if (label >= 0) return Refuse(op, "it puts a chunk and a part of a sum together");
      if (label != kPartial) continue;
      const Type element = op.operand(i)->type().element_type();
      if (!KeepsSums(element, op.result(0)->type().element_type())) {
        return Refuse(op, "it is not linear");
      }
      parts.push_back(i);
    }
    switch (op.opcode()) {
      case Opcode::kNegate:
      case Opcode::kConvert:
      case Opcode::kReshape:
      case Opcode::kTranspose:
      case Opcode::kBroadcastInDim:
      case Opcode::kReverse:
      case Opcode::kSlice:
      case Opcode::kReal:
      case Opcode::kImag:
        break;
      case Opcode::kOptimizationBarrier:
        if (op.operand_count() != 1) return Refuse(op, "a barrier of several values is not cut");
        break;
      case Opcode::kDivide:
        if (!IsFloating(op.result(0)->type().element_type())) {
          return Refuse(op, "it is not linear");
        }
        [[fallthrough]];
      case Opcode::kDynamicSlice:
      case Opcode::kGather:
        if (parts.size() != 1 || parts[0] != 0) return Refuse(op, "it is not linear");
        break;
      case Opcode::kMultiply:
      case Opcode::kDotGeneral:
      case Opcode::kConvolution:
        if (parts.size() != 1) return Refuse(op, "it is not linear");
        break;
      case Opcode::kReduce:
        if (op.result_count() != 1 || CombinationOf(op.region(0)) != Combination::kSum ||
            !IsZero(*op.operand(1))) {
          return Refuse(op, "it is not linear");
        }
        break;
      case Opcode::kPad:
        if (!IsZero(*op.operand(1))) return Refuse(op, "it is not linear");
        break;
      case Opcode::kAdd:
      case Opcode::kSubtract:
      case Opcode::kConcatenate:
        if (const Outcome outcome = MakePartial(op, 0, op.operand_count());
            outcome != Outcome::kDone) {
          return outcome;
        }
        break;
      case Opcode::kSelect:
        if (LabelOf(op.operand(0)) != kSame) return Refuse(op, "it is not linear");
        if (const Outcome outcome = MakePartial(op, 1, 3); outcome != Outcome::kDone) {
          return outcome;
        }
        break;
      case Opcode::kDynamicUpdateSlice:
        if (parts.back() > 1) return Refuse(op, "it is not linear");
        if (const Outcome outcome = MakePartial(op, 0, 2); outcome != Outcome::kDone) {
          return outcome;
        }
        break;
      default:
        return Refuse(op, "it is not linear");
    }
    for (Value* result : op.results()) axis_.labels[result] = kPartial;
    return Outcome::kDone;
  }

  // The other operands of a sum are parts too: state becomes one; another value counts in the
  // first chunk only, which is for those to see to that make the chunks.
  Outcome MakePartial(const Op& op, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Value* operand = op.operand(i);
      if (LabelOf(operand) != kSame || IsZero(*operand)) continue;
      const bool is_state = operand->is_argument() && operand->block() == &body_;
      if (!is_state) continue;
      if (const Outcome outcome = SetState(operand->index(), kPartial); outcome != Outcome::kDone) {
        return outcome;
      }
    }
    return Outcome::kDone;
  }

  Outcome VisitLoop(const Op& loop) {
    llvm::SmallVector<StateRequest> requests;
    for (size_t i = 0; i < loop.operand_count(); ++i) {
      if (const int label = LabelOf(loop.operand(i)); label != kSame) {
        requests.emplace_back(i, label);
      } else if (const auto wanted = wanted_.find(loop.result(i)); wanted != wanted_.end()) {
        requests.emplace_back(i, wanted->second);
      }
    }
    std::string reason;
    const std::optional<LoopAxis> inner = FindLoopAxis(loop, requests, blocks_, reason);
    if (!inner) {
      reason_ = std::move(reason);
      return Outcome::kRefused;
    }
    return Join(loop, inner->factor);
  }

  // What the body returns has to be what it was given.
  Outcome Close(const Op& terminator) {
    for (size_t i = 0; i < state_.size(); ++i) {
      Value* returned = terminator.operand(i);
      const int label = LabelOf(returned);
      if (label == state_[i]) continue;
      if (state_[i] == kSame) return SetState(i, label);
      if (label != kSame) return Refuse(terminator, "a piece of its state changes its axis");
      // A value that is the same in all chunks is sliced, or counts in the first chunk only.
      if (state_[i] == kPartial) continue;
      const Outcome outcome = Want(returned, state_[i]);
      if (outcome == Outcome::kRefused)
        return Refuse(terminator, "a piece of its state changes its axis");
      if (outcome != Outcome::kDone) return outcome;
    }
    return Outcome::kDone;
  }

  // How often the loop runs may not depend on a chunk.
  bool ConditionIsSame() {
    const Block& condition = loop_.region(0).front();
    for (size_t i = 0; i < state_.size(); ++i) {
      if (state_[i] == kSame || !condition.argument(i)->has_uses()) continue;
      Refuse(loop_, "how often the loop runs depends on all of the axis");
      return false;
    }
    return true;
  }

  const Op& loop_;
  const Block& body_;
  BlockView view_;
  int64_t blocks_;
  llvm::SmallVector<int> state_;
  llvm::DenseMap<const Value*, int> wanted_;
  LoopAxis axis_;
  std::string reason_;
};

}  // namespace

std::optional<LoopAxis> FindLoopAxis(const Op& loop, llvm::ArrayRef<StateRequest> requests,
                                     int64_t blocks, std::string& reason) {
  return LoopAxisFinder(loop, blocks).Find(requests, reason);
}

}  // namespace plimsoll
