#include "rewrite/match_expression.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "analysis/effects.h"
#include "analysis/op_class.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace plimsoll {
namespace {

// Operands that may change places make a search of it, which must end.
constexpr int kMostSteps = 20000;

using Indices = llvm::SmallVector<int, 6>;

// An element of the pattern and the one of the program that it is to be equal to.
struct Goal {
  IndexedValue pattern;
  IndexedValue program;

  bool operator==(const Goal&) const = default;
};
using Goals = std::vector<Goal>;

struct DotParts {
  llvm::ArrayRef<int64_t> batch[2];
  llvm::ArrayRef<int64_t> contracted[2];
  size_t free[2];
};

DotParts PartsOf(const Op& dot) {
  const Attribute numbers = dot.Get("dot_dimension_numbers");
  DotParts parts = {.batch = {numbers.Find("lhs_batching_dimensions").integers(),
                              numbers.Find("rhs_batching_dimensions").integers()},
                    .contracted = {numbers.Find("lhs_contracting_dimensions").integers(),
                                   numbers.Find("rhs_contracting_dimensions").integers()},
                    .free = {}};
  for (const size_t side : {0, 1}) {
    parts.free[side] =
        dot.operand(side)->type().rank() - parts.batch[side].size() - parts.contracted[side].size();
  }
  return parts;
}

// What elements of an operand an element of the product is made of.
IndexedValue DotOperand(const Op& dot, const DotParts& parts, size_t side,
                        llvm::ArrayRef<int> result, llvm::ArrayRef<int> contracted) {
  IndexedValue element = {.value = dot.operand(side),
                          .indices = Indices(dot.operand(side)->type().rank(), kNoIndex)};
  for (const auto [i, d] : llvm::enumerate(parts.batch[side])) element.indices[d] = result[i];
  for (const auto [i, d] : llvm::enumerate(parts.contracted[side])) {
    element.indices[d] = contracted[i];
  }
  size_t next = parts.batch[side].size() + (side == 0 ? 0 : parts.free[0]);
  for (const size_t d : llvm::seq(element.indices.size())) {
    const auto dimension = static_cast<int64_t>(d);
    if (llvm::is_contained(parts.batch[side], dimension)) continue;
    if (llvm::is_contained(parts.contracted[side], dimension)) continue;
    element.indices[d] = result[next++];
  }
  return element;
}

// A sum, a product, a maximum or the like.
bool IsSimpleReduce(const Op& op) {
  if (!op.Is(Opcode::kReduce) || op.operand_count() != 2) return false;
  return BodyOf(op) != Opcode::kUnknown && IsCommutative(*op.entry_block()->first());
}

bool MayExchangeOperands(const Op& op) {
  if (op.Is(Opcode::kCompare)) {
    const std::string_view direction = op.Get("comparison_direction").enumerator();
    return direction == "EQ" || direction == "NE";
  }
  return IsCommutative(op);
}

bool IsPlainElementwise(const Op& op) {
  return op.result_count() == 1 && IsElementwise(op) &&
         llvm::all_of(op.operands(), [&](const Value* operand) {
           const size_t rank = operand->type().rank();
           return rank == 0 || rank == op.result(0)->type().rank();
         });
}

// The precision of products is said of each operand.
bool HaveSamePrecision(const Op& a, const Op& b, bool is_exchanged) {
  const Attribute first = a.Get("precision_config");
  const Attribute second = b.Get("precision_config");
  if (!is_exchanged || !first || !second) return first == second;
  return first.items().size() == 2 && second.items().size() == 2 &&
         first.items()[0] == second.items()[1] && first.items()[1] == second.items()[0];
}

bool AreAllTensors(llvm::ArrayRef<Value*> values) {
  return llvm::all_of(values, [](const Value* value) {
    return value->type().Is(TypeKind::kTensor) && value->type().has_static_shape();
  });
}

class Matcher {
 public:
  using Bound = std::vector<std::optional<BoundArgument>>;

  // `accept` says whether what was found will do.
  Matcher(const Pattern& pattern, bool is_exact, llvm::function_ref<bool(const Bound&)> accept)
      : pattern_(pattern), is_exact_(is_exact), accept_(accept) {}

  bool Run(Op& op, llvm::ArrayRef<int64_t> dimensions, Bound bound) {
    sizes_.assign(pattern_.result->type().rank(), 1);
    const llvm::ArrayRef<int64_t> shape = op.result(0)->type().shape();
    const llvm::ArrayRef<int64_t> expected = pattern_.root.value->type().shape();
    Goal goal = {.pattern = pattern_.root, .program = AllIndices(*op.result(0))};
    for (const auto [from, to] : llvm::enumerate(dimensions)) {
      if (!MayBeSame(expected[from], shape[to])) return false;
      const int index = pattern_.root.indices[from];
      if (shape[to] != 1) goal.program.indices[to] = index;
      if (index != kNoIndex) sizes_[index] = shape[to];
    }
    return Solve({.goals = {std::move(goal)}, .done = {}, .bound = std::move(bound)});
  }

 private:
  struct State {
    Goals goals;
    // What is or will be shown already.
    Goals done;
    Bound bound;
  };

  bool Solve(State state) {
    while (!state.goals.empty()) {
      if (++steps_ > kMostSteps) return false;
      Goal goal = std::move(state.goals.back());
      state.goals.pop_back();
      goal.pattern = SeeThrough(goal.pattern);
      const Value& value = *goal.pattern.value;
      if (value.is_argument()) {
        if (!Bind(goal, state.bound[value.index()])) return false;
        continue;
      }
      goal.program = SeeThrough(goal.program);
      if (llvm::is_contained(state.done, goal)) continue;
      state.done.push_back(goal);
      std::vector<Goals> alternatives = Expand(goal);
      if (alternatives.empty()) return false;
      for (const size_t i : llvm::seq(alternatives.size() - 1)) {
        State other = state;
        llvm::append_range(other.goals, alternatives[i]);
        if (Solve(std::move(other))) return true;
      }
      llvm::append_range(state.goals, alternatives.back());
    }
    return accept_(state.bound);
  }

  // In another size, a pattern's dimension of one element is a matter of how it is written.
  bool MayBeSame(int64_t pattern_size, int64_t program_size) const {
    return pattern_size == program_size || (!is_exact_ && pattern_size != 1);
  }

  // A new index for a dimension of both.
  bool AddIndex(int64_t pattern_size, int64_t program_size, int& pattern, int& program) {
    if (!MayBeSame(pattern_size, program_size)) return false;
    const auto index = static_cast<int>(sizes_.size());
    sizes_.push_back(program_size);
    pattern = pattern_size == 1 ? kNoIndex : index;
    program = program_size == 1 ? kNoIndex : index;
    return true;
  }

  bool Bind(const Goal& goal, std::optional<BoundArgument>& bound) const {
    BoundArgument argument;
    for (const int index : goal.pattern.indices) {
      argument.sizes.push_back(index == kNoIndex ? 1 : sizes_[index]);
    }
    bool is_last_bound = false;
    for (std::optional<IndexedValue> view = goal.program; view; view = SeeThroughOne(*view)) {
      std::optional<IndexedValue> renamed = Renamed(*view, goal.pattern.indices);
      is_last_bound = renamed.has_value();
      if (renamed) argument.views.push_back(*std::move(renamed));
    }
    if (!is_last_bound) return false;
    if (bound) return bound->source() == argument.source();
    bound = std::move(argument);
    return true;
  }

  // With the argument's dimensions for indices; nothing if it has not all of them.
  static std::optional<IndexedValue> Renamed(const IndexedValue& view,
                                             llvm::ArrayRef<int> indices) {
    IndexedValue renamed = {.value = view.value, .indices = {}};
    for (const int index : view.indices) {
      if (index == kNoIndex) {
        renamed.indices.push_back(kNoIndex);
        continue;
      }
      const auto* place = llvm::find(indices, index);
      const auto dimension = static_cast<int>(place - indices.begin());
      if (place == indices.end() || renamed.Has(dimension)) return std::nullopt;
      renamed.indices.push_back(dimension);
    }
    return renamed;
  }

  // What must be shown for the goal, in one of several ways; none if it does not hold.
  std::vector<Goals> Expand(const Goal& goal) {
    const Op& pattern = *goal.pattern.value->defining_op();
    const Op* found = goal.program.value->defining_op();
    if (found == nullptr || found->name() != pattern.name()) return {};
    const Op& program = *found;
    if (goal.pattern.value->index() != goal.program.value->index() ||
        pattern.operand_count() != program.operand_count() ||
        pattern.result_count() != program.result_count()) {
      return {};
    }
    if (is_exact_ &&
        (goal.pattern.value->type().element_type() != goal.program.value->type().element_type() ||
         pattern.attributes() != program.attributes())) {
      return {};
    }
    if (pattern.Is(Opcode::kConstant)) return AlternativeIf(AreEqualConstants(goal));
    if (pattern.Is(Opcode::kIota)) return AlternativeIf(AreEqualIotas(goal));
    if (pattern.Is(Opcode::kDotGeneral)) return ExpandDot(goal, pattern, program);
    if (IsSimpleReduce(pattern) && IsSimpleReduce(program)) {
      return ExpandReduce(goal, pattern, program);
    }
    if (IsPlainElementwise(pattern) && IsPlainElementwise(program)) {
      return ExpandElementwise(goal, pattern, program);
    }
    return ExpandOther(goal, pattern, program);
  }

  static std::vector<Goals> AlternativeIf(bool holds) {
    return holds ? std::vector<Goals>{{}} : std::vector<Goals>{};
  }

  // A size that is 1 in the program alone takes an index away.
  bool IsSameIndex(int pattern, int program) const {
    return pattern == program || (!is_exact_ && program == kNoIndex);
  }
  bool AreSameIndices(llvm::ArrayRef<int> pattern, llvm::ArrayRef<int> program) const {
    return pattern.size() == program.size() &&
           llvm::all_of(llvm::seq(pattern.size()),
                        [&](size_t i) { return IsSameIndex(pattern[i], program[i]); });
  }

  bool AreEqualConstants(const Goal& goal) const {
    if (!is_exact_) return true;
    const Attribute a = goal.pattern.value->defining_op()->Get("value");
    const Attribute b = goal.program.value->defining_op()->Get("value");
    const bool are_dense =
        a.Is(AttributeKind::kDenseElements) && b.Is(AttributeKind::kDenseElements);
    if (are_dense && a.is_splat() && b.is_splat()) return a.bytes() == b.bytes();
    return a == b && AreSameIndices(goal.pattern.indices, goal.program.indices);
  }

  bool AreEqualIotas(const Goal& goal) const {
    const auto index = [](const IndexedValue& element) {
      return element.indices[element.value->defining_op()->Get("iota_dimension").integer()];
    };
    return IsSameIndex(index(goal.pattern), index(goal.program));
  }

  std::vector<Goals> ExpandElementwise(const Goal& goal, const Op& pattern,
                                       const Op& program) const {
    if (is_exact_ && pattern.properties() != program.properties()) return {};
    const auto operand = [](const Op& op, size_t number, const IndexedValue& element) {
      Value* value = op.operand(number);
      return IndexedValue{.value = value,
                          .indices = value->type().rank() == 0 ? Indices{} : element.indices};
    };
    const auto goals = [&](bool is_exchanged) {
      Goals all;
      const size_t count = pattern.operand_count();
      for (const size_t i : llvm::seq(count)) {
        all.push_back(
            {.pattern = operand(pattern, i, goal.pattern),
             .program = operand(program, is_exchanged ? count - 1 - i : i, goal.program)});
      }
      return all;
    };
    if (MayExchangeOperands(pattern)) return {goals(false), goals(true)};
    return {goals(false)};
  }

  std::vector<Goals> ExpandReduce(const Goal& goal, const Op& pattern, const Op& program) {
    if (BodyOf(pattern) != BodyOf(program)) return {};
    const llvm::ArrayRef<int64_t> reduced = pattern.Get("dimensions").integers();
    const llvm::ArrayRef<int64_t> program_reduced = program.Get("dimensions").integers();
    if (reduced.size() != program_reduced.size()) return {};
    Indices indices(reduced.size(), kNoIndex);
    Indices program_indices(reduced.size(), kNoIndex);
    for (const size_t i : llvm::seq(reduced.size())) {
      if (!AddIndex(pattern.operand(0)->type().shape()[reduced[i]],
                    program.operand(0)->type().shape()[program_reduced[i]], indices[i],
                    program_indices[i])) {
        return {};
      }
    }
    const auto operand = [](const Op& op, const IndexedValue& result,
                            llvm::ArrayRef<int64_t> dimensions, llvm::ArrayRef<int> added) {
      IndexedValue element = {.value = op.operand(0), .indices = {}};
      size_t next = 0;
      for (const size_t d : llvm::seq(element.value->type().rank())) {
        const auto* place = llvm::find(dimensions, static_cast<int64_t>(d));
        element.indices.push_back(place == dimensions.end() ? result.indices[next++]
                                                            : added[place - dimensions.begin()]);
      }
      return element;
    };
    return {{{.pattern = operand(pattern, goal.pattern, reduced, indices),
              .program = operand(program, goal.program, program_reduced, program_indices)},
             {.pattern = {.value = pattern.operand(1), .indices = {}},
              .program = {.value = program.operand(1), .indices = {}}}}};
  }

  std::vector<Goals> ExpandDot(const Goal& goal, const Op& pattern, const Op& program) {
    const DotParts parts = PartsOf(pattern);
    const DotParts program_parts = PartsOf(program);
    const size_t count = parts.contracted[0].size();
    if (program_parts.contracted[0].size() != count) return {};
    Indices indices(count, kNoIndex);
    Indices program_indices(count, kNoIndex);
    for (const size_t i : llvm::seq(count)) {
      if (!AddIndex(pattern.operand(0)->type().shape()[parts.contracted[0][i]],
                    program.operand(0)->type().shape()[program_parts.contracted[0][i]], indices[i],
                    program_indices[i])) {
        return {};
      }
    }
    std::vector<Goals> alternatives;
    for (const bool is_exchanged : {false, true}) {
      if (is_exact_ && !(HaveSamePrecision(pattern, program, is_exchanged) &&
                         pattern.Get("algorithm") == program.Get("algorithm"))) {
        continue;
      }
      Goals goals;
      for (const size_t side : {0, 1}) {
        const size_t program_side = is_exchanged ? 1 - side : side;
        goals.push_back({.pattern = DotOperand(pattern, parts, side, goal.pattern.indices, indices),
                         .program = DotOperand(program, program_parts, program_side,
                                               goal.program.indices, program_indices)});
      }
      alternatives.push_back(std::move(goals));
    }
    return alternatives;
  }

  // Ops of which nothing else is known: whole operands are the same.
  std::vector<Goals> ExpandOther(const Goal& goal, const Op& pattern, const Op& program) {
    if (HasEffects(program) || pattern.region_count() != program.region_count() ||
        !AreSameIndices(goal.pattern.indices, goal.program.indices)) {
      return {};
    }
    if (is_exact_ && (pattern.properties() != program.properties() ||
                      pattern.result_types() != program.result_types())) {
      return {};
    }
    Goals goals;
    for (const size_t i : llvm::seq(pattern.operand_count())) {
      if (!AddWhole(*pattern.operand(i), *program.operand(i), goals)) return {};
    }
    SameValues same;
    for (size_t i = 0; is_exact_ && i < pattern.region_count(); ++i) {
      if (!AreEqualRegions(pattern.region(i), program.region(i), same, goals)) return {};
    }
    return {std::move(goals)};
  }

  bool AddWhole(Value& pattern, Value& program, Goals& goals) {
    if (!AreAllTensors({&pattern, &program})) return false;
    const llvm::ArrayRef<int64_t> shape = pattern.type().shape();
    const llvm::ArrayRef<int64_t> program_shape = program.type().shape();
    if (shape.size() != program_shape.size()) return false;
    Goal goal = {.pattern = AllIndices(pattern), .program = AllIndices(program)};
    for (const size_t d : llvm::seq(shape.size())) {
      if (!AddIndex(shape[d], program_shape[d], goal.pattern.indices[d], goal.program.indices[d])) {
        return false;
      }
    }
    goals.push_back(std::move(goal));
    return true;
  }

  // Which values inside of regions stand for which.
  using SameValues = llvm::DenseMap<const Value*, const Value*>;

  bool AreEqualRegions(const Region& a, const Region& b, SameValues& same, Goals& goals) {
    if (a.block_count() != b.block_count()) return false;
    for (size_t i = 0; i < a.block_count(); ++i) {
      if (!AreEqualBlocks(a.block(i), b.block(i), same, goals)) return false;
    }
    return true;
  }

  bool AreEqualBlocks(const Block& a, const Block& b, SameValues& same, Goals& goals) {
    if (a.argument_count() != b.argument_count()) return false;
    for (size_t i = 0; i < a.argument_count(); ++i) {
      if (a.argument(i)->type() != b.argument(i)->type()) return false;
      same[a.argument(i)] = b.argument(i);
    }
    auto other = b.begin();
    for (const Op& op : a) {
      if (other == b.end() || !AreEqualOps(op, *other, same, goals)) return false;
      ++other;
    }
    return other == b.end();
  }

  bool AreEqualOps(const Op& a, const Op& b, SameValues& same, Goals& goals) {
    if (a.name() != b.name() || a.properties() != b.properties() ||
        a.attributes() != b.attributes() || a.operand_count() != b.operand_count() ||
        a.region_count() != b.region_count() || a.result_types() != b.result_types()) {
      return false;
    }
    for (size_t i = 0; i < a.operand_count(); ++i) {
      const auto match = same.find(a.operand(i));
      if (match != same.end()) {
        if (match->second != b.operand(i)) return false;
      } else if (!AddWhole(*a.operand(i), *b.operand(i), goals)) {
        return false;
      }
    }
    for (size_t i = 0; i < a.result_count(); ++i) same[a.result(i)] = b.result(i);
    for (size_t i = 0; i < a.region_count(); ++i) {
      if (!AreEqualRegions(a.region(i), b.region(i), same, goals)) return false;
    }
    return true;
  }

  const Pattern& pattern_;
  const bool is_exact_;
  const llvm::function_ref<bool(const Bound&)> accept_;
  // The program's, by index.
  std::vector<int64_t> sizes_;
  int steps_ = 0;
};

// The op's dimensions in order, and for a product also with the operands exchanged.
std::vector<llvm::SmallVector<int64_t>> DimensionOrders(const Op& pattern, const Op& op) {
  const auto rank = static_cast<int64_t>(op.result(0)->type().rank());
  std::vector<llvm::SmallVector<int64_t>> orders = {llvm::to_vector(llvm::seq(rank))};
  if (!op.Is(Opcode::kDotGeneral)) return orders;
  const DotParts parts = PartsOf(pattern);
  const DotParts program = PartsOf(op);
  const size_t batch = parts.batch[0].size();
  if (program.batch[0].size() != batch || program.free[0] != parts.free[1] ||
      parts.free[0] + parts.free[1] == 0) {
    return orders;
  }
  llvm::SmallVector<int64_t> exchanged(orders.front().begin(), orders.front().begin() + batch);
  for (const size_t i : llvm::seq(parts.free[0])) {
    exchanged.push_back(static_cast<int64_t>(batch + parts.free[1] + i));
  }
  for (const size_t i : llvm::seq(parts.free[1])) {
    exchanged.push_back(static_cast<int64_t>(batch + i));
  }
  orders.push_back(std::move(exchanged));
  return orders;
}

bool CanBeRoot(const Pattern& pattern, const Op& op) {
  const Op& root = *pattern.root.value->defining_op();
  return op.name() == root.name() && op.result_count() == 1 && AreAllTensors(op.results()) &&
         op.result(0)->type().rank() == root.result(0)->type().rank();
}

}  // namespace

StatusOr<Pattern> ResultOf(const Module& module) {
  const auto error = [](std::string_view reason) {
    return Status(ErrorCode::kBadArgument, std::string(reason));
  };
  Op* main = module.main();
  Block* body = main == nullptr ? nullptr : main->entry_block();
  if (body == nullptr || module.functions().size() != 1 || !module.resources().empty()) {
    return error("it calls functions that cannot be put in place of their calls");
  }
  if (body->last()->operand_count() != 1 || !AreAllTensors(body->last()->operand(0))) {
    return error("it must give one array");
  }
  for (const Op& op : *body) {
    if (&op != body->last() && HasEffects(op)) return error("it does more than to compute");
  }
  Pattern pattern = {.body = body, .result = body->last()->operand(0), .root = {}};
  pattern.root = SeeThrough(AllIndices(*pattern.result));
  return pattern;
}

StatusOr<Pattern> PatternOf(const Module& module) {
  const auto error = [](std::string_view reason) {
    return Status(ErrorCode::kBadArgument, std::string(reason));
  };
  ASSIGN_OR_RETURN(Pattern pattern, ResultOf(module));
  const Op* root = pattern.root.value->defining_op();
  if (root == nullptr || root->operand_count() == 0) return error("it computes nothing");
  if (root->result_count() != 1) return error("its last operation gives more than one array");
  for (size_t i = 0; i < pattern.body->argument_count(); ++i) {
    if (!pattern.body->argument(i)->has_uses()) return error("it does not use all its arguments");
  }
  for (const int index : AllIndices(*pattern.result).indices) {
    if (index != kNoIndex && llvm::count(pattern.root.indices, index) != 1) {
      return error("its result is repeated along a dimension");
    }
  }
  return pattern;
}

bool FindSimilar(const Pattern& pattern, Op& op,
                 llvm::function_ref<bool(const ExpressionMatch&)> accept) {
  if (!CanBeRoot(pattern, op)) return false;
  const Matcher::Bound none(pattern.body->argument_count());
  return llvm::any_of(
      DimensionOrders(*pattern.root.value->defining_op(), op), [&](const auto& dimensions) {
        const auto accept_bound = [&](const Matcher::Bound& bound) {
          ExpressionMatch match = {.arguments = {}, .dimensions = dimensions};
          for (const auto& argument : bound) {
            // An argument that the pattern does not use cannot be found.
            if (!argument) return false;
            match.arguments.push_back(*argument);
          }
          return accept(match);
        };
        return Matcher(pattern, /*is_exact=*/false, accept_bound).Run(op, dimensions, none);
      });
}

bool IsEqual(const Pattern& pattern, Op& op, const ExpressionMatch& match) {
  if (!CanBeRoot(pattern, op) || pattern.body->argument_count() != match.arguments.size()) {
    return false;
  }
  const auto accept = [](const Matcher::Bound& /*bound*/) { return true; };
  return Matcher(pattern, /*is_exact=*/true, accept)
      .Run(op, match.dimensions, {match.arguments.begin(), match.arguments.end()});
}

}  // namespace plimsoll
