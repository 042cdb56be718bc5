#include "kernels/cpu/hidden_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Columns are looked at by so many.
constexpr int64_t kGranule = 64;
// To tell what a mask spares, so many pieces of the rows are enough.
constexpr int64_t kMostPiecesAsked = 64;

// The smallest and the largest of some integers.
struct Range {
  int64_t low = 0;
  int64_t high = 0;

  bool IsOne() const { return low == high; }
};
using MaybeRange = std::optional<Range>;

constexpr Range kEither = {.low = 0, .high = 1};

template <typename T>
Range RangeOfElements(const char* first, int64_t stride, int64_t count) {
  const auto* elements = reinterpret_cast<const T*>(first);
  T low = elements[0];
  T high = elements[0];
  for (int64_t i = 1; i < count; ++i) {
    low = std::min(low, elements[i * stride]);
    high = std::max(high, elements[i * stride]);
  }
  return {.low = static_cast<int64_t>(low), .high = static_cast<int64_t>(high)};
}

Range RangeOfElements(ScalarType type, const char* first, int64_t stride, int64_t count) {
  switch (type) {
    case ScalarType::kI8:
      return RangeOfElements<int8_t>(first, stride, count);
    case ScalarType::kI16:
      return RangeOfElements<int16_t>(first, stride, count);
    case ScalarType::kI32:
      return RangeOfElements<int32_t>(first, stride, count);
    case ScalarType::kI64:
      return RangeOfElements<int64_t>(first, stride, count);
    case ScalarType::kUI16:
      return RangeOfElements<uint16_t>(first, stride, count);
    case ScalarType::kUI32:
      return RangeOfElements<uint32_t>(first, stride, count);
    default:
      return RangeOfElements<uint8_t>(first, stride, count);
  }
}

// Nothing if it does not fit into the type.
MaybeRange InType(ScalarType type, MaybeRange range) {
  if (!range) return std::nullopt;
  const int bits = type == ScalarType::kI1 ? 1 : 8 * BytesOf(type);
  const bool is_signed = IsInteger(type) && !IsUnsigned(type);
  const int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits - (is_signed ? 0 : 1));
  const int64_t least = is_signed ? -most - 1 : 0;
  if (range->low < least || range->high > most) return std::nullopt;
  return range;
}

Range RangeOfConstant(const TileOp& op) {
  const int unused = 64 - 8 * BytesOf(op.type);
  const uint64_t bits = op.bits << unused;
  const int64_t number = IsInteger(op.type) && !IsUnsigned(op.type)
                             ? static_cast<int64_t>(bits) >> unused
                             : static_cast<int64_t>(bits >> unused);
  return {.low = number, .high = number};
}

MaybeRange SumOf(Range a, Range b) {
  Range sum;
  if (__builtin_add_overflow(a.low, b.low, &sum.low)) return std::nullopt;
  if (__builtin_add_overflow(a.high, b.high, &sum.high)) return std::nullopt;
  return sum;
}

MaybeRange Negative(Range a) {
  if (a.low == std::numeric_limits<int64_t>::min()) return std::nullopt;
  return Range{.low = -a.high, .high = -a.low};
}

Range Not(Range a) { return {.low = 1 - a.high, .high = 1 - a.low}; }

// Whether a is less than b, or at most b.
Range IsLess(Range a, Range b, bool or_equal) {
  const bool always = or_equal ? a.high <= b.low : a.high < b.low;
  const bool sometimes = or_equal ? a.low <= b.high : a.low < b.high;
  return {.low = always, .high = sometimes};
}

Range IsEqual(Range a, Range b) {
  return {.low = a.IsOne() && b.IsOne() && a.low == b.low,
          .high = a.low <= b.high && b.low <= a.high};
}

Range Compared(Comparison comparison, Range a, Range b) {
  switch (comparison) {
    case Comparison::kEqual:
      return IsEqual(a, b);
    case Comparison::kNotEqual:
      return Not(IsEqual(a, b));
    case Comparison::kLess:
      return IsLess(a, b, /*or_equal=*/false);
    case Comparison::kLessEqual:
      return IsLess(a, b, /*or_equal=*/true);
    case Comparison::kGreater:
      return IsLess(b, a, /*or_equal=*/false);
    case Comparison::kGreaterEqual:
      return IsLess(b, a, /*or_equal=*/true);
  }
  return kEither;
}

Range Merged(Range a, Range b) {
  return {.low = std::min(a.low, b.low), .high = std::max(a.high, b.high)};
}

MaybeRange RangeOfCompute(const TileOp& op, llvm::ArrayRef<MaybeRange> ranges) {
  const auto range = [&](size_t operand) {
    return ranges[static_cast<size_t>(op.operands[operand])];
  };
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!range(i)) return std::nullopt;
  }
  switch (op.opcode) {
    case Opcode::kAdd:
      return SumOf(*range(0), *range(1));
    case Opcode::kSubtract:
      return Negative(*range(1)) ? SumOf(*range(0), *Negative(*range(1))) : std::nullopt;
    case Opcode::kConvert:
      if (op.type != ScalarType::kI1) return range(0);
      return Not(IsEqual(*range(0), {}));
    case Opcode::kCompare:
      return Compared(op.comparison, *range(0), *range(1));
    case Opcode::kSelect:
      if (range(0)->IsOne()) return range(range(0)->low != 0 ? 1 : 2);
      return Merged(*range(1), *range(2));
    default:
      break;
  }
  // Of integers these are of bits.
  if (op.type != ScalarType::kI1) return std::nullopt;
  switch (op.opcode) {
    case Opcode::kAnd:
      return Range{.low = std::min(range(0)->low, range(1)->low),
                   .high = std::min(range(0)->high, range(1)->high)};
    case Opcode::kOr:
      return Range{.low = std::max(range(0)->low, range(1)->low),
                   .high = std::max(range(0)->high, range(1)->high)};
    case Opcode::kNot:
      return Not(*range(0));
    default:
      return std::nullopt;
  }
}

template <typename T>
bool AreWithin(const void* data, int64_t count, T most) {
  const auto* elements = static_cast<const T*>(data);
  // NaN is not within anything.
  bool are_within = true;
  for (int64_t i = 0; i < count; ++i) are_within &= std::abs(elements[i]) <= most;
  return are_within;
}

// Of a float whose exponent has so many bits.
bool AreWithin(const void* data, int64_t count, int mantissa_bits, int bias) {
  const auto* elements = static_cast<const uint16_t*>(data);
  const int most = std::min(bias + kMostExponent, 2 * bias + 1) << mantissa_bits;
  bool are_within = true;
  for (int64_t i = 0; i < count; ++i) are_within &= (elements[i] & 0x7fff) < most;
  return are_within;
}

bool AreWithin(ScalarType type, const KernelArray& array) {
  const int64_t count = ElementCount(array.shape);
  switch (type) {
    case ScalarType::kBF16:
      return AreWithin(array.data, count, /*mantissa_bits=*/7, /*bias=*/127);
    case ScalarType::kF16:
      return AreWithin(array.data, count, /*mantissa_bits=*/10, /*bias=*/15);
    case ScalarType::kF32:
      return AreWithin(array.data, count, std::ldexp(1.0F, kMostExponent));
    case ScalarType::kF64:
      return AreWithin(array.data, count, std::ldexp(1.0, kMostExponent));
    default:
      return true;
  }
}

// True if the stage can end at any column.
bool CanEndAnywhere(const Stage& stage, const StageLayout& layout, int column) {
  // What is packed along another axis is read as it was packed.
  return CanRunPart(stage, column) && (column == kColumnAxis || layout.packed_bytes == 0);
}

// Of a number of granules, the first of which is hidden: how many of them are so, one after the
// other. The function tells it of some of them, and may say no of many where it says yes of each.
int64_t CountHidden(int64_t most, llvm::function_ref<bool(int64_t, int64_t)> are_hidden) {
  int64_t count = 1;
  bool has_failed = false;
  for (int64_t step = 1; step > 0 && count < most;) {
    const int64_t next = std::min(step, most - count);
    if (are_hidden(count, count + next)) {
      count += next;
    } else {
      has_failed = true;
    }
    step = has_failed ? next / 2 : 2 * next;
  }
  return count;
}

}  // namespace

HiddenColumns::HiddenColumns(const StagedProgram& program, const StagesLayout& layout,
                             std::optional<llvm::ArrayRef<KernelArray>> arguments)
    : program_(program),
      arguments_(arguments),
      predicates_(MaskPredicates(program, /*has_arguments=*/arguments.has_value())) {
  if (!may_hide()) return;
  for (size_t i = 0; i < program.stages.size(); ++i) {
    if (layout.column_axes.empty() ||
        !CanEndAnywhere(program.stages[i], layout.stages[i], layout.column_axes[i])) {
      predicates_.clear();
      return;
    }
    can_begin_anywhere_ &= !HasPositionsFromFirst(program.stages[i], layout.column_axes[i]);
  }
  columns_ = layout.columns;
}

std::vector<KnownPredicates> HiddenColumns::KnownFor(int64_t row_begin, int64_t row_end,
                                                     int64_t column_begin, int64_t column_end,
                                                     FindOperand find_operand) const {
  std::vector<KnownPredicates> known;
  for (size_t stage = 0; stage < program_.stages.size(); ++stage) {
    const TileProgram& program = program_.stages[stage].program;
    std::vector<MaybeRange> ranges(program.ops.size());
    known.emplace_back(program.ops.size());
    for (size_t i = 0; i < program.ops.size(); ++i) {
      if (!predicates_[stage][i]) continue;
      const TileOp& op = program.ops[i];
      const bool is_of_rows = (op.axes & kRowBit) != 0;
      const int64_t begin = is_of_rows ? row_begin : column_begin;
      const int64_t end = is_of_rows ? row_end : column_end;
      if (op.kind == TileOpKind::kLoad) {
        const StageOperand operand = find_operand(stage, static_cast<size_t>(op.index));
        const int64_t stride = is_of_rows ? operand.row_stride : operand.column_stride;
        const bool is_one = (op.axes & (kRowBit | kColumnBit)) == 0;
        ranges[i] = RangeOfElements(
            op.type, operand.first + (is_one ? 0 : begin * stride) * BytesOf(op.type), stride,
            is_one ? 1 : end - begin);
      } else if (op.kind == TileOpKind::kIota) {
        const bool is_position = op.index == kRowAxis || op.index == kColumnAxis;
        if (is_position) ranges[i] = Range{.low = begin, .high = end - 1};
      } else {
        ranges[i] =
            op.kind == TileOpKind::kConstant ? RangeOfConstant(op) : RangeOfCompute(op, ranges);
      }
      ranges[i] = InType(op.type, ranges[i]);
      if (op.type == ScalarType::kI1 && ranges[i] && ranges[i]->IsOne()) {
        known.back()[i] = ranges[i]->low != 0;
      }
    }
  }
  return known;
}

bool HiddenColumns::AreBounded(llvm::ArrayRef<int> numbers) const {
  if (!arguments_) return true;
  return llvm::all_of(numbers, [&](int number) {
    const StagePlace place = {.kind = StagePlaceKind::kArgument, .number = number};
    for (const Stage& stage : program_.stages) {
      const auto found = llvm::find(stage.operands, place);
      if (found == stage.operands.end()) continue;
      const auto operand = static_cast<size_t>(found - stage.operands.begin());
      return AreWithin(stage.program.operands[operand].type,
                       (*arguments_)[static_cast<size_t>(number)]);
    }
    return false;
  });
}

const MaskConditions* HiddenColumns::ConditionsFor(const std::vector<KnownPredicates>& known) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = conditions_.try_emplace(known);
  std::optional<MaskConditions>& conditions = found->second;
  if (is_new) {
    conditions = ConditionsToSkip(program_, known);
    if (conditions && !AreBounded(conditions->bounded_arguments)) conditions.reset();
  }
  return conditions ? &*conditions : nullptr;
}

SeenColumns HiddenColumns::SeenBy(int64_t row_begin, int64_t row_end, FindOperand find_operand) {
  SeenColumns seen = {.begin = 0, .end = columns_};
  if (row_begin >= row_end || columns_ == 0) return seen;
  const int64_t granules = RoundUp(columns_, kGranule) / kGranule;
  // Granules are counted from the last one where it is about columns behind those that are seen.
  const auto known_of = [&](int64_t first, int64_t last, bool is_behind) {
    const int64_t begin = is_behind ? granules - last : first;
    const int64_t end = is_behind ? granules - first : last;
    return KnownFor(row_begin, row_end, begin * kGranule, std::min(end * kGranule, columns_),
                    find_operand);
  };
  // How many there are on one side, if there are any, and when they may be left out.
  const auto find_side = [&](int64_t most, bool is_behind, const MaskConditions*& conditions) {
    if (most == 0) return int64_t{0};
    const std::vector<KnownPredicates> first = known_of(0, 1, is_behind);
    conditions = ConditionsFor(first);
    if (conditions == nullptr) return int64_t{0};
    return CountHidden(
        most, [&](int64_t begin, int64_t end) { return known_of(begin, end, is_behind) == first; });
  };
  const int64_t behind = find_side(granules, /*is_behind=*/true, seen.behind);
  if (behind > 0) seen.end = (granules - behind) * kGranule + 1;
  if (seen.end == columns_) seen.behind = nullptr;
  if (!can_begin_anywhere_) return seen;
  const int64_t before = find_side(granules - behind, /*is_behind=*/false, seen.before);
  if (before > 0) seen.begin = std::min(before * kGranule, columns_) - 1;
  if (seen.begin == 0) seen.before = nullptr;
  return seen;
}

double ShareOfSeen(const StagedProgram& program, const StagesLayout& layout) {
  HiddenColumns hidden(program, layout, std::nullopt);
  if (!hidden.may_hide() || layout.columns == 0 || layout.rows == 0) return 1;
  const int64_t pieces = std::min(layout.pieces, kMostPiecesAsked);
  int64_t seen_columns = 0;
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t begin = layout.pieces * i / pieces * layout.rows_of_piece;
    const SeenColumns seen =
        hidden.SeenBy(begin, std::min(begin + layout.rows_of_piece, layout.rows),
                      [](size_t, size_t) { return StageOperand(); });
    seen_columns += seen.end - seen.begin;
  }
  return static_cast<double>(seen_columns) / static_cast<double>(pieces * layout.columns);
}

}  // namespace plimsoll
