#include "analysis/cut.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/axis_loops.h"
#include "analysis/effects.h"
#include "ir/status.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

bool IsTerminator(const BlockView& view, const Op& op) { return &op == view.ops().back(); }

std::string At(const Op& op) {
  const std::string line = SourceLine(op.location());
  return StrCat(op.name(), line.empty() ? "" : StrCat(" (", line, ")"));
}

// What comes from outside of the block is there as a whole anyway.
bool IsBigHere(const BlockView& view, const BigValues& big, const Value& value) {
  return value.block() == &view.block() && big.IsBig(value);
}

// Spreads an axis from a value over the ops around it.
class Labeler {
 public:
  Labeler(const BlockView& view, const BigValues& big, Cut& cut)
      : view_(view), big_(big), cut_(cut) {}

  // On failure refusal() says which value stood in the way, and coarser() with how many blocks it
  // might not.
  bool Run() {
    Label(*cut_.seed, cut_.dimension);
    while (!worklist_.empty()) {
      const Value* value = worklist_.back();
      worklist_.pop_back();
      if (!PullProducer(*value) || !VisitUsers(*value)) return false;
    }
    return true;
  }

  const Refusal& refusal() const { return refusal_; }
  int64_t coarser() const { return coarser_; }

 private:
  bool Fail(const Value& value, std::string reason, const Op* user = nullptr) {
    // Only what is cut already can be wanted along another axis too.
    const bool is_labelled = cut_.dimensions.contains(&value);
    const bool is_conflict = is_labelled && user != nullptr && user != value.defining_op();
    refusal_ = {.value = &value,
                .reason = std::move(reason),
                .contested = is_conflict ? &value : nullptr,
                .user = is_conflict ? user : nullptr};
    return false;
  }

  bool IsBig(const Value& value) const { return IsBigHere(view_, big_, value); }

  int LabelOf(const Value& value) const {
    const auto found = cut_.dimensions.find(&value);
    return found == cut_.dimensions.end() ? kWhole : found->second;
  }

  // True if an op of the cut gives the value as a whole: parts that are put together, or the same
  // in every chunk. It is there after a pass, and sliced again where a chunk is wanted.
  bool IsAccumulated(const Value& value) const {
    const auto joined = cut_.ops.find(value.defining_op());
    return joined != cut_.ops.end() && joined->second.factor.results[value.index()] < 0;
  }

  // A big value that the cut has to keep from being whole.
  bool IsInTheWay(const Value& value) const { return IsBig(value) && !IsAccumulated(value); }

  void Label(const Value& value, int dimension) {
    cut_.dimensions[&value] = dimension;
    worklist_.push_back(&value);
  }

  // Whether the axis' blocks fit a factor; if not, fewer might.
  bool FitsBlocks(const Factor& factor) {
    if (factor.size % cut_.blocks == 0) return true;
    coarser_ = std::max(coarser_, std::gcd(factor.size, cut_.blocks));
    return false;
  }

  // The op that makes a labelled value belongs to the cut.
  bool PullProducer(const Value& value) {
    const Op* op = value.defining_op();
    if (op == nullptr) return Fail(value, "it is an argument");
    coarser_ = 0;
    if (cut_.ops.contains(op)) return true;
    const int dimension = LabelOf(value);
    if (op->Is(Opcode::kWhile)) {
      return JoinLoop(*op, {{value.index(), dimension}}) || Fail(value, loop_reason_);
    }
    const AxisRule& rule = view_.RuleOf(*op);
    for (const Factor& factor : rule.factors) {
      if (factor.results[value.index()] != dimension || !ResultsAgree(*op, factor) ||
          !FitsBlocks(factor)) {
        continue;
      }
      if (const Value* obstacle = Obstacle(*op, factor)) {
        return Fail(*obstacle, StrCat(At(*op), " needs all of it"), op);
      }
      Join(*op, factor);
      return true;
    }
    return Fail(value, StrCat(At(*op), ": ",
                              rule.otherwise.empty() ? "its blocks do not fit" : rule.otherwise));
  }

  // A big operand that the factor would need whole, or along another dimension than the rest.
  const Value* Obstacle(const Op& op, const Factor& factor) const {
    for (size_t i = 0; i < op.operand_count(); ++i) {
      const Value& operand = *op.operand(i);
      if (!IsInTheWay(operand)) continue;
      const int label = LabelOf(operand);
      const bool fits = factor.operands[i] >= 0 && (label == kWhole || label == factor.operands[i]);
      if (!fits) return &operand;
    }
    for (const Value* captured : view_.Captured(op)) {
      if (IsInTheWay(*captured)) return captured;
    }
    return nullptr;
  }

  // Results that are wanted along a dimension already have to lie on it.
  bool ResultsAgree(const Op& op, const Factor& factor) const {
    for (size_t i = 0; i < op.result_count(); ++i) {
      const int label = LabelOf(*op.result(i));
      if (label != kWhole && label != factor.results[i]) return false;
    }
    return true;
  }

  void Join(const Op& op, const Factor& factor) {
    cut_.ops[&op].factor = factor;
    for (size_t i = 0; i < op.operand_count(); ++i) {
      const Value& operand = *op.operand(i);
      // Small operands are sliced where they are needed.
      if (factor.operands[i] >= 0 && LabelOf(operand) == kWhole && IsInTheWay(operand)) {
        Label(operand, factor.operands[i]);
      }
    }
    for (size_t i = 0; i < op.result_count(); ++i) {
      const Value& result = *op.result(i);
      if (factor.results[i] >= 0 && LabelOf(result) == kWhole) Label(result, factor.results[i]);
    }
  }

  bool JoinLoop(const Op& loop, llvm::SmallVector<StateRequest> requests) {
    for (size_t i = 0; i < loop.operand_count(); ++i) {
      const bool is_asked =
          llvm::any_of(requests, [&](auto& request) { return request.first == i; });
      if (is_asked) continue;
      int label = LabelOf(*loop.operand(i));
      if (label == kWhole) label = LabelOf(*loop.result(i));
      if (label != kWhole) requests.emplace_back(i, label);
    }
    loop_obstacle_ = nullptr;
    if (requests.empty()) {
      loop_reason_ = StrCat(At(loop), ": it uses the value inside of a region");
      return false;
    }
    const std::optional<LoopAxis> axis = FindLoopAxis(loop, requests, cut_.blocks, loop_reason_);
    if (!axis || !ResultsAgree(loop, axis->factor)) return false;
    if (const Value* obstacle = Obstacle(loop, axis->factor)) {
      loop_reason_ = StrCat(At(loop), " needs all of it");
      loop_obstacle_ = obstacle;
      return false;
    }
    Join(loop, axis->factor);
    return true;
  }

  bool VisitUsers(const Value& value) {
    for (const Op* user : view_.UsersOf(value)) {
      if (IsTerminator(view_, *user)) continue;
      coarser_ = 0;
      if (const auto joined = cut_.ops.find(user); joined != cut_.ops.end()) {
        if (!Agrees(*user, joined->second.factor, value)) return false;
      } else if (!VisitUser(*user, value)) {
        return false;
      }
    }
    return true;
  }

  // An op that was there before the value got its label may want it otherwise. Only a small value
  // can then be had whole.
  bool Agrees(const Op& user, const Factor& factor, const Value& value) {
    if (!IsBig(value)) return true;
    for (size_t i = 0; i < user.operand_count(); ++i) {
      if (user.operand(i) != &value || factor.operands[i] == LabelOf(value)) continue;
      if (user.Is(Opcode::kWhile) && factor.operands[i] == kWhole && JoinLoop(user, {})) continue;
      return Fail(value, StrCat(At(user), " needs it along two axes"), &user);
    }
    if (llvm::is_contained(view_.Captured(user), &value)) {
      return Fail(value, StrCat(At(user), " needs all of it"));
    }
    return true;
  }

  bool VisitUser(const Op& user, const Value& value) {
    if (user.Is(Opcode::kWhile)) {
      if (JoinLoop(user, {}) || !IsBig(value)) return true;
      return Fail(loop_obstacle_ != nullptr ? *loop_obstacle_ : value, loop_reason_);
    }
    const AxisRule& rule = view_.RuleOf(user);
    const Factor* best = nullptr;
    int best_score = -1;
    const Value* obstacle = nullptr;
    for (const Factor& factor : rule.factors) {
      const int score = Score(user, factor, value);
      if (score < 0 || !ResultsAgree(user, factor) || !FitsBlocks(factor)) continue;
      if (const Value* found = Obstacle(user, factor)) {
        obstacle = found;
        continue;
      }
      if (score > best_score) {
        best = &factor;
        best_score = score;
      }
    }
    if (best != nullptr) {
      Join(user, *best);
      return true;
    }
    if (!IsBig(value)) return true;
    if (obstacle != nullptr && obstacle != &value) {
      return Fail(*obstacle, StrCat(At(user), " needs all of it"), &user);
    }
    return Fail(value,
                StrCat(At(user), ": ",
                       rule.otherwise.empty() ? "it needs all of the value" : rule.otherwise),
                obstacle != nullptr ? &user : nullptr);
  }

  // How many labelled operands a factor takes as they are cut; less than 0 if not `value`.
  int Score(const Op& op, const Factor& factor, const Value& value) const {
    int score = 0;
    bool takes_value = false;
    for (size_t i = 0; i < op.operand_count(); ++i) {
      const int label = LabelOf(*op.operand(i));
      if (label == kWhole) continue;
      if (label == factor.operands[i]) {
        ++score;
        takes_value |= op.operand(i) == &value;
      }
    }
    return takes_value ? score : -1;
  }

  const BlockView& view_;
  const BigValues& big_;
  Cut& cut_;
  std::vector<const Value*> worklist_;
  Refusal refusal_;
  int64_t coarser_ = 0;
  std::string loop_reason_;
  const Value* loop_obstacle_ = nullptr;
};

// Finds out in which pass each op can run, and what each pass has to leave behind.
class PassFinder {
 public:
  PassFinder(const BlockView& view, const BigValues& big, Cut& cut)
      : view_(view), big_(big), cut_(cut) {}

  void Run() {
    FindLevels();
    int last = 0;
    for (const auto& [op, entry] : cut_.ops) last = std::max(last, entry.level);
    cut_.passes.resize(last + 1);
    FindOutputs();
    for (int level = 0; level <= last; ++level) FindContent(level);
  }

 private:
  bool IsBig(const Value& value) const { return IsBigHere(view_, big_, value); }

  // The pass after which the whole value is there.
  int WholeLevel(const Value& value) const {
    const auto found = whole_.find(&value);
    return found == whole_.end() ? 0 : found->second;
  }

  // The pass in which a chunk of it can be had.
  int ChunkLevel(const Value& value) const {
    const auto found = chunk_.find(&value);
    return found == chunk_.end() ? WholeLevel(value) : found->second;
  }

  bool IsChunkOf(const Value& value, int dimension) const {
    const auto found = cut_.dimensions.find(&value);
    return dimension >= 0 && found != cut_.dimensions.end() && found->second == dimension;
  }

  bool TouchesBig(const Op& op) const {
    const auto is_big = [&](const Value* value) { return IsBig(*value); };
    return llvm::any_of(op.operands(), is_big) || llvm::any_of(op.results(), is_big);
  }

  void FindLevels() {
    int effects = 0;
    for (const Op* op : view_.ops()) {
      int whole = 0;
      for (const Value* operand : op->operands()) whole = std::max(whole, WholeLevel(*operand));
      for (const Value* value : view_.Captured(*op)) whole = std::max(whole, WholeLevel(*value));
      const auto entry = cut_.ops.find(op);
      if (entry == cut_.ops.end() || LevelOf(*op, entry->second.factor) == whole) {
        // What touches nothing big and can run outside just as early is better off there.
        if (entry == cut_.ops.end() || !TouchesBig(*op)) {
          if (HasEffects(*op)) whole = effects = std::max(whole, effects);
          Leave(*op, whole);
          continue;
        }
      }
      CutOp& joined = entry->second;
      joined.level = LevelOf(*op, joined.factor);
      for (size_t i = 0; i < op->result_count(); ++i) {
        if (joined.factor.results[i] >= 0) chunk_[op->result(i)] = joined.level;
        whole_[op->result(i)] = joined.level + 1;
      }
    }
  }

  int LevelOf(const Op& op, const Factor& factor) const {
    int level = 0;
    for (size_t i = 0; i < op.operand_count(); ++i) {
      const Value& operand = *op.operand(i);
      level = std::max(level, IsChunkOf(operand, factor.operands[i]) ? ChunkLevel(operand)
                                                                     : WholeLevel(operand));
    }
    for (const Value* value : view_.Captured(op)) level = std::max(level, WholeLevel(*value));
    return level;
  }

  // The op runs outside of the passes.
  void Leave(const Op& op, int level) {
    cut_.ops.erase(&op);
    cut_.outside[&op] = level;
    for (const Value* result : op.results()) {
      cut_.dimensions.erase(result);
      whole_[result] = level;
    }
  }

  void FindOutputs() {
    for (const Op* op : view_.ops()) {
      const auto entry = cut_.ops.find(op);
      if (entry == cut_.ops.end()) continue;
      const auto& [factor, level] = entry->second;
      bool is_accumulated = false;
      for (size_t i = 0; i < op->result_count(); ++i) {
        const Value& result = *op->result(i);
        if (!result.has_uses()) continue;
        if (factor.results[i] < 0) {
          is_accumulated = true;
        } else if (IsNeededLater(result, factor.results[i], level)) {
          cut_.passes[level].written.push_back(&result);
        }
      }
      if (is_accumulated) cut_.passes[level].accumulated.push_back(op);
    }
  }

  // True if a value that is made in chunks has to be kept.
  bool IsNeededLater(const Value& value, int dimension, int level) const {
    for (const Op* user : view_.UsersOf(value)) {
      const auto entry = cut_.ops.find(user);
      if (entry == cut_.ops.end()) return true;
      const CutOp& joined = entry->second;
      if (joined.level > level && !IsBig(value)) return true;
      for (size_t i = 0; i < user->operand_count(); ++i) {
        if (user->operand(i) == &value && joined.factor.operands[i] != dimension) return true;
      }
      if (llvm::is_contained(view_.Captured(*user), &value)) return true;
    }
    return false;
  }

  // All that is needed for what the pass leaves behind.
  void FindContent(int level) {
    CutPass& pass = cut_.passes[level];
    llvm::DenseSet<const Op*> content;
    std::vector<const Op*> worklist;
    const auto add = [&](const Op* op) {
      if (content.insert(op).second) worklist.push_back(op);
    };
    for (const Op* op : pass.accumulated) add(op);
    for (const Value* value : pass.written) add(value->defining_op());
    while (!worklist.empty()) {
      const Op* op = worklist.back();
      worklist.pop_back();
      const Factor& factor = cut_.ops.find(op)->second.factor;
      for (size_t i = 0; i < op->operand_count(); ++i) {
        const Value& operand = *op->operand(i);
        if (!IsChunkOf(operand, factor.operands[i])) continue;
        const Op* producer = operand.defining_op();
        const bool is_kept =
            cut_.ops.find(producer)->second.level < level && cut_.IsWritten(operand);
        if (!is_kept) add(producer);
      }
    }
    for (const Op* op : view_.ops()) {
      if (content.contains(op)) pass.ops.push_back(op);
    }
  }

  const BlockView& view_;
  const BigValues& big_;
  Cut& cut_;
  llvm::DenseMap<const Value*, int> whole_;
  llvm::DenseMap<const Value*, int> chunk_;
};

}  // namespace

bool Cut::IsWritten(const Value& value) const {
  const auto entry = ops.find(value.defining_op());
  return entry != ops.end() && llvm::is_contained(passes[entry->second.level].written, &value);
}

std::optional<Cut> FindCut(const BlockView& view, const Value& seed, int dimension,
                           const BigValues& big, int64_t most_given_up, Refusal& refusal) {
  BigValues rest = big;
  std::vector<const Value*> given_up;
  int64_t bytes_given_up = 0;
  int64_t blocks = seed.type().shape()[dimension];
  while (blocks > 1) {
    Cut cut;
    cut.seed = &seed;
    cut.dimension = dimension;
    cut.blocks = blocks;
    Labeler labeler(view, rest, cut);
    if (labeler.Run()) {
      cut.given_up = given_up;
      PassFinder(view, rest, cut).Run();
      return cut;
    }
    // The first conflict is about the program as it is; later ones are about what was given up.
    const Refusal before = std::exchange(refusal, labeler.refusal());
    if (before.user != nullptr) {
      refusal.contested = before.contested;
      refusal.user = before.user;
    }
    if (labeler.coarser() > 1 && labeler.coarser() < blocks) {
      blocks = labeler.coarser();
      continue;
    }
    // Without the value that stood in the way, the rest may still be worth it.
    bytes_given_up += BytesOf(*refusal.value);
    if (refusal.value == &seed || !rest.existing.insert(refusal.value).second ||
        bytes_given_up > most_given_up) {
      return std::nullopt;
    }
    given_up.push_back(refusal.value);
  }
  return std::nullopt;
}

}  // namespace plimsoll
