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

// The smallest and the largest of some integers.
struct Range {
  int64_t low = 0;
  int64_t high = 0;

  bool IsOne() const { return low == high; }
};
using MaybeRange = std::optional<Range>;

constexpr Range kEither = {.low = 0, .high = 1};

// Integers that fit into a Range, and predicates.
bool HasRange(ScalarType type) { return !IsFloat(type) && type != ScalarType::kUI64; }

bool IsPredicateOp(const TileOp& op) {
  switch (op.opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kConvert:
    case Opcode::kCompare:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kNot:
    case Opcode::kSelect:
      return true;
    default:
      return false;
  }
}

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

}  // namespace

HiddenColumns::HiddenColumns(const StagedProgram& program, const StagesLayout& layout,
                             llvm::ArrayRef<KernelArray> arguments)
    : program_(program), arguments_(arguments) {
  if (!FindPredicates()) predicates_.clear();
  if (!may_hide()) return;
  for (size_t i = 0; i < program.stages.size(); ++i) {
    if (layout.column_axes.empty() ||
        !CanEndAnywhere(program.stages[i], layout.stages[i], layout.column_axes[i])) {
      predicates_.clear();
      return;
    }
  }
  columns_ = layout.columns;
}

bool HiddenColumns::FindPredicates() {
  bool is_any = false;
  for (const Stage& stage : program_.stages) {
    const TileProgram& program = stage.program;
    const AxisSet allowed = kRowBit | kColumnBit | program.AxesOfKind(TileAxisKind::kBatch);
    std::vector<bool> found;
    for (const TileOp& op : program.ops) {
      bool is_found = HasRange(op.type) && stage.rows == kRowAxis && (op.axes & ~allowed) == 0;
      if (op.kind == TileOpKind::kLoad) {
        is_found &=
            stage.operands[static_cast<size_t>(op.index)].kind == StagePlaceKind::kArgument &&
            (op.axes & (kRowBit | kColumnBit)) != (kRowBit | kColumnBit);
      } else if (op.kind == TileOpKind::kCompute) {
        is_found &= IsPredicateOp(op) && llvm::all_of(op.operands, [&](int operand) {
                      return found[static_cast<size_t>(operand)];
                    });
        is_any |= is_found && op.type == ScalarType::kI1 && (op.axes & kRowBit) != 0 &&
                  (op.axes & kColumnBit) != 0;
      } else if (op.kind == TileOpKind::kFold) {
        is_found = false;
      }
      found.push_back(is_found);
    }
    predicates_.push_back(std::move(found));
  }
  return is_any;
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
  return llvm::all_of(numbers, [&](int number) {
    const StagePlace place = {.kind = StagePlaceKind::kArgument, .number = number};
    for (const Stage& stage : program_.stages) {
      const auto found = llvm::find(stage.operands, place);
      if (found == stage.operands.end()) continue;
      const auto operand = static_cast<size_t>(found - stage.operands.begin());
      return AreWithin(stage.program.operands[operand].type,
                       arguments_[static_cast<size_t>(number)]);
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
  SeenColumns seen = {.end = columns_};
  std::vector<KnownPredicates> last;
  const int64_t granules = RoundUp(columns_, kGranule) / kGranule;
  for (int64_t granule = granules; granule-- > 0;) {
    const int64_t begin = granule * kGranule;
    std::vector<KnownPredicates> known =
        KnownFor(row_begin, row_end, begin, std::min(begin + kGranule, columns_), find_operand);
    if (last.empty()) {
      seen.conditions = ConditionsFor(known);
      if (seen.conditions == nullptr) return seen;
      last = std::move(known);
    } else if (known != last) {
      break;
    }
    seen.end = begin + 1;
  }
  return seen;
}

}  // namespace plimsoll
