#include "kernels/trace_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include "kernels/comparison.h"
#include "kernels/fold_integers.h"
#include "kernels/refuse.h"
#include "kernels/scalar_type.h"
#include "kernels/tile_program.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

StatusOr<ScalarType> ScalarOf(const Value& value) {
  const Type type = value.type();
  if (!type.Is(TypeKind::kTensor) || !type.has_static_shape())
    return Refuse("it has no fixed shape");
  const std::optional<ScalarType> scalar = ScalarTypeOf(type.element_type());
  if (!scalar) return Refuse("kernels do not compute with ", type.element_type().ToString());
  return *scalar;
}

}  // namespace

void OpTracer::TraceBlock(const Block& block) {
  for (const Op& op : block) {
    if (&op == block.last()) return;
    for (const Value* result : op.results()) {
      known_.erase(result);
      failed_.erase(result);
    }
    StatusOr<std::vector<Numbers>> traced =
        program_.ops.size() > kMostTracedOps ? Refuse("its body is too long") : Trace(op);
    for (size_t i = 0; i < op.result_count(); ++i) {
      if (traced.ok()) {
        known_[op.result(i)] = std::move((*traced)[i]);
      } else {
        failed_.try_emplace(op.result(i), traced.status());
      }
    }
  }
}

StatusOr<Numbers> OpTracer::Get(const Value& value) {
  if (const auto found = known_.find(&value); found != known_.end()) return found->second;
  if (const auto found = failed_.find(&value); found != failed_.end()) return found->second;
  if (const auto found = outside_.find(&value); found != outside_.end()) {
    return Get(*found->second);
  }
  if (const auto found = read_.find(&value); found != read_.end()) return found->second;
  ASSIGN_OR_RETURN(Numbers numbers, Outside(value));
  read_[&value] = numbers;
  return numbers;
}

StatusOr<int> OpTracer::GetScalar(const Value& value) {
  ASSIGN_OR_RETURN(const Numbers numbers, Get(value));
  if (numbers.ops.size() != 1) return Refuse("there are several numbers where one is wanted");
  return numbers.ops[0];
}

std::optional<uint64_t> OpTracer::ConstantOf(int op) const {
  if (program_.op(op).kind != LoopOpKind::kConstant) return std::nullopt;
  return program_.op(op).bits;
}

int OpTracer::Unique(int op) {
  const LoopOp& made = program_.op(op);
  std::string key = StrCat(static_cast<int>(made.kind), " ", static_cast<int>(made.type), " ",
                           static_cast<int>(made.opcode), " ", static_cast<int>(made.comparison),
                           " ", made.index, " ", made.element, " ", made.bits);
  for (const int operand : made.operands) key += StrCat(" ", operand);
  const auto [found, is_new] = unique_.emplace(std::move(key), op);
  if (!is_new) program_.ops.pop_back();
  return found->second;
}

std::optional<int> OpTracer::InverseOf(int op) {
  const std::optional<uint64_t> bits = ConstantOf(op);
  if (!bits) return std::nullopt;
  if (program_.op(op).type == ScalarType::kF32) {
    const float inverse = 1 / std::bit_cast<float>(static_cast<uint32_t>(*bits));
    if (!std::isnormal(inverse)) return std::nullopt;
    return Unique(AddConstant(program_, ScalarType::kF32, std::bit_cast<uint32_t>(inverse)));
  }
  if (program_.op(op).type == ScalarType::kF64) {
    const double inverse = 1 / std::bit_cast<double>(*bits);
    if (!std::isnormal(inverse)) return std::nullopt;
    return Unique(AddConstant(program_, ScalarType::kF64, std::bit_cast<uint64_t>(inverse)));
  }
  return std::nullopt;
}

StatusOr<int> OpTracer::Compute(Opcode opcode, Comparison comparison, std::vector<int> operands) {
  if (opcode == Opcode::kSelect) {
    if (const std::optional<uint64_t> condition = ConstantOf(operands[0])) {
      return operands[*condition != 0 ? 1 : 2];
    }
  }
  if (opcode == Opcode::kDivide) {
    if (const std::optional<int> inverse = InverseOf(operands[1])) {
      return Compute(Opcode::kMultiply, comparison, {operands[0], *inverse});
    }
  }
  std::vector<uint64_t> bits;
  for (const int operand : operands) {
    if (const std::optional<uint64_t> constant = ConstantOf(operand)) bits.push_back(*constant);
  }
  ASSIGN_OR_RETURN(const int op, AddCompute(program_, opcode, operands));
  program_.ops.back().comparison = comparison;
  if (bits.size() == operands.size()) {
    const LoopOp made = program_.op(op);
    if (const auto folded = FoldIntegers(made, program_.op(operands.back()).type, bits)) {
      program_.ops.pop_back();
      return Unique(AddConstant(program_, made.type, *folded));
    }
  }
  return Unique(op);
}

StatusOr<int> OpTracer::Convert(Opcode opcode, ScalarType type, int operand) {
  if (program_.op(operand).type == type) return operand;
  ASSIGN_OR_RETURN(const int op, AddConvert(program_, opcode, type, operand));
  if (const std::optional<uint64_t> bits = ConstantOf(operand)) {
    if (const auto folded = FoldIntegers(program_.op(op), program_.op(operand).type, *bits)) {
      program_.ops.pop_back();
      return Unique(AddConstant(program_, type, *folded));
    }
  }
  return Unique(op);
}

std::optional<size_t> OpTracer::FindBatch(llvm::ArrayRef<int64_t> shape) const {
  for (size_t i = 0; i + batch_.size() <= shape.size(); ++i) {
    if (shape.slice(i, batch_.size()) == llvm::ArrayRef(batch_)) return i;
  }
  return std::nullopt;
}

StatusOr<ArrayLayout> OpTracer::LayoutOf(const Value& value, std::optional<size_t> steps) const {
  ArrayLayout layout;
  ASSIGN_OR_RETURN(layout.array.type, ScalarOf(value));
  const llvm::ArrayRef<int64_t> shape = value.type().shape();
  // The batch does not reach over the steps.
  std::vector<int64_t> without_steps = shape.vec();
  if (steps) without_steps[*steps] = 0;
  const std::optional<size_t> batch = FindBatch(without_steps);
  int64_t merged = 1;
  for (const int64_t length : batch_) merged *= length;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (batch && i >= *batch && i < *batch + batch_.size()) {
      layout.cover.push_back(static_cast<int>(i - *batch));
      if (i > *batch) continue;
      layout.array.dimensions.push_back(kBatchDimension);
      layout.merged.push_back(merged);
      continue;
    }
    const bool is_step = steps && *steps == i;
    layout.cover.push_back(is_step || shape[i] == 1 ? kSame : kEach);
    layout.array.dimensions.push_back(is_step ? kStepDimension : shape[i]);
    layout.merged.push_back(shape[i]);
  }
  return layout;
}

StatusOr<int> OpTracer::OperandOf(const Value& value, const ArrayLayout& layout) {
  const auto [found, is_new] = operand_numbers_.emplace(std::pair(&value, layout.array.dimensions),
                                                        static_cast<int>(program_.operands.size()));
  if (is_new) {
    if (Status status = AddOperand(program_, layout.array); !status.ok()) {
      operand_numbers_.erase(found);
      return Refuse("an operand has too many numbers for each element of the batch");
    }
    operands_.emplace_back(&value, layout.merged);
  }
  return found->second;
}

StatusOr<Numbers> OpTracer::Outside(const Value& value) {
  if (const Op* op = value.defining_op()) {
    // These need no memory.
    const bool is_made_here = op->Is(Opcode::kConstant) || op->Is(Opcode::kIota) ||
                              op->Is(Opcode::kBroadcastInDim) || op->Is(Opcode::kReshape);
    if (is_made_here) {
      if (StatusOr<Numbers> traced = TraceOne(*op); traced.ok()) return traced;
    }
  }
  ASSIGN_OR_RETURN(const ArrayLayout layout, LayoutOf(value, std::nullopt));
  ASSIGN_OR_RETURN(const int operand, OperandOf(value, layout));
  int64_t element = 0;
  return MakeNumbers(value.type().shape(), layout.cover, [&](const Position&) -> StatusOr<int> {
    ASSIGN_OR_RETURN(const int load, AddLoad(program_, operand, element++));
    return Unique(load);
  });
}

StatusOr<std::vector<Numbers>> OpTracer::Trace(const Op& op) {
  switch (op.opcode()) {
    case Opcode::kWhile:
      return TraceWhile(op);
    case Opcode::kCase:
    case Opcode::kIf:
      return TraceBranches(op);
    case Opcode::kReduce:
      return TraceReduce(op);
    case Opcode::kOptimizationBarrier: {
      std::vector<Numbers> results;
      for (const Value* operand : op.operands()) {
        ASSIGN_OR_RETURN(Numbers numbers, Get(*operand));
        results.push_back(std::move(numbers));
      }
      return results;
    }
    default: {
      ASSIGN_OR_RETURN(Numbers numbers, TraceOne(op));
      return std::vector<Numbers>{std::move(numbers)};
    }
  }
}

StatusOr<Numbers> OpTracer::TraceOne(const Op& op) {
  if (op.result_count() != 1 || op.region_count() > 0) return Refuse("it has ", op.name());
  const llvm::ArrayRef<int64_t> shape = op.result(0)->type().shape();
  if (IsTileOpcode(op.opcode())) return Elementwise(op);
  switch (op.opcode()) {
    case Opcode::kConstant:
      return Constant(op);
    case Opcode::kIota:
      return Iota(op);
    case Opcode::kDotGeneral:
      return Product(op);
    case Opcode::kDynamicSlice:
      return DynamicSlice(op);
    case Opcode::kDynamicUpdateSlice:
      return DynamicUpdateSlice(op);
    case Opcode::kConcatenate: {
      std::vector<Numbers> pieces;
      for (const Value* operand : op.operands()) {
        ASSIGN_OR_RETURN(Numbers piece, Get(*operand));
        pieces.push_back(std::move(piece));
      }
      return Concatenated(pieces, static_cast<size_t>(op.Get("dimension").integer()));
    }
    case Opcode::kBroadcastInDim:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      break;
    default:
      return Refuse("it has ", op.name());
  }
  ASSIGN_OR_RETURN(const Numbers operand, Get(*op.operand(0)));
  switch (op.opcode()) {
    case Opcode::kBroadcastInDim:
      return Broadcast(operand, shape, op.Get("broadcast_dimensions").integers());
    case Opcode::kReshape:
      return Reshaped(operand, shape);
    case Opcode::kReverse:
      return Reversed(operand, op.Get("dimensions").integers());
    case Opcode::kSlice:
      return Sliced(operand, op.Get("start_indices").integers(), op.Get("strides").integers(),
                    shape);
    default:
      return Transposed(operand, op.Get("permutation").integers());
  }
}

StatusOr<Numbers> OpTracer::Elementwise(const Op& op) {
  Comparison comparison = Comparison::kEqual;
  if (op.Is(Opcode::kCompare)) {
    ASSIGN_OR_RETURN(comparison, ComparisonOf(op));
  }
  ASSIGN_OR_RETURN(const ScalarType type, ScalarOf(*op.result(0)));
  const llvm::ArrayRef<int64_t> shape = op.result(0)->type().shape();
  std::vector<Numbers> operands;
  std::vector<int> cover(shape.size(), kSame);
  for (const Value* operand : op.operands()) {
    ASSIGN_OR_RETURN(Numbers numbers, Get(*operand));
    // Bounds and conditions may be single numbers.
    if (!numbers.shape.empty()) {
      ASSIGN_OR_RETURN(cover, MergeCovers(cover, numbers.cover));
    }
    operands.push_back(std::move(numbers));
  }
  const bool converts = op.Is(Opcode::kConvert) || op.Is(Opcode::kBitcastConvert);
  if (op.Is(Opcode::kBitcastConvert) && operands[0].shape != shape.vec()) {
    return Refuse("bits are taken for numbers of another size");
  }
  return MakeNumbers(shape, cover, [&](const Position& position) -> StatusOr<int> {
    std::vector<int> numbers;
    for (const Numbers& operand : operands) numbers.push_back(operand.At(position));
    if (converts) return Convert(op.opcode(), type, numbers[0]);
    return Compute(op.opcode(), comparison, std::move(numbers));
  });
}

StatusOr<Numbers> OpTracer::Select(const Numbers& condition, const Numbers& a, const Numbers& b) {
  std::vector<int> cover = a.cover;
  ASSIGN_OR_RETURN(cover, MergeCovers(cover, b.cover));
  if (!condition.shape.empty()) {
    ASSIGN_OR_RETURN(cover, MergeCovers(cover, condition.cover));
  }
  return MakeNumbers(a.shape, cover, [&](const Position& position) {
    return Compute(Opcode::kSelect, Comparison::kEqual,
                   {condition.At(position), a.At(position), b.At(position)});
  });
}

StatusOr<Numbers> OpTracer::Constant(const Op& op) {
  const Attribute elements = op.Get("value");
  if (!elements.Is(AttributeKind::kDenseElements)) return Refuse("a constant is kept elsewhere");
  ASSIGN_OR_RETURN(const ScalarType type, ScalarOf(*op.result(0)));
  const auto size = static_cast<size_t>(BytesOf(type));
  const llvm::ArrayRef<int64_t> shape = op.result(0)->type().shape();
  const bool is_one = elements.is_splat() || elements.bytes().size() == size;
  const std::vector<int> cover(shape.size(), is_one ? kSame : kEach);
  size_t place = 0;
  return MakeNumbers(shape, cover, [&](const Position&) {
    uint64_t bits = 0;
    std::memcpy(&bits, elements.bytes().data() + place, size);
    place += size;
    return Unique(AddConstant(program_, type, bits));
  });
}

StatusOr<Numbers> OpTracer::Iota(const Op& op) {
  ASSIGN_OR_RETURN(const ScalarType type, ScalarOf(*op.result(0)));
  const llvm::ArrayRef<int64_t> shape = op.result(0)->type().shape();
  const auto dimension = static_cast<size_t>(op.Get("iota_dimension").integer());
  const std::optional<size_t> batch = FindBatch(shape);
  std::vector<int> cover(shape.size(), kSame);
  if (!batch || dimension < *batch || dimension >= *batch + batch_.size()) {
    if (IsFloat(type)) return Refuse("positions are floats");
    cover[dimension] = kEach;
    return MakeNumbers(shape, cover, [&](const Position& position) {
      return Unique(AddConstant(program_, type, static_cast<uint64_t>(position[dimension])));
    });
  }
  // The position in the batch, taken apart into those along its dimensions.
  cover[dimension] = static_cast<int>(dimension - *batch);
  ASSIGN_OR_RETURN(int position, AddPosition(program_, ScalarType::kI64));
  position = Unique(position);
  int64_t inner = 1;
  for (size_t i = dimension - *batch + 1; i < batch_.size(); ++i) inner *= batch_[i];
  const auto combine = [&](Opcode opcode, int64_t number) -> Status {
    const int constant =
        Unique(AddConstant(program_, ScalarType::kI64, static_cast<uint64_t>(number)));
    ASSIGN_OR_RETURN(position, Compute(opcode, Comparison::kEqual, {position, constant}));
    return OkStatus();
  };
  if (inner > 1) RETURN_IF_ERROR(combine(Opcode::kDivide, inner));
  if (dimension > *batch) RETURN_IF_ERROR(combine(Opcode::kRemainder, shape[dimension]));
  ASSIGN_OR_RETURN(position, Convert(Opcode::kConvert, type, position));
  return MakeNumbers(shape, cover, [&](const Position&) { return position; });
}

StatusOr<Numbers> OpTracer::Product(const Op& op) {
  const Attribute attribute = op.Get("dot_dimension_numbers");
  const auto dimensions = [&](std::string_view field) {
    const Attribute list = attribute.Find(field);
    return list ? list.integers() : llvm::ArrayRef<int64_t>();
  };
  const llvm::ArrayRef<int64_t> batch[] = {dimensions("lhs_batching_dimensions"),
                                           dimensions("rhs_batching_dimensions")};
  const llvm::ArrayRef<int64_t> contracted[] = {dimensions("lhs_contracting_dimensions"),
                                                dimensions("rhs_contracting_dimensions")};
  ASSIGN_OR_RETURN(const ScalarType type, ScalarOf(*op.result(0)));
  const llvm::ArrayRef<int64_t> shape = op.result(0)->type().shape();
  Numbers sides[2];
  // For each side, which of its dimensions is each one of the result.
  std::vector<std::pair<size_t, size_t>> places[2];
  std::vector<int> cover(shape.size(), kSame);
  size_t next = batch[0].size();
  for (size_t side = 0; side < 2; ++side) {
    ASSIGN_OR_RETURN(sides[side], Get(*op.operand(side)));
    if (IsHalf(type)) return Refuse("a product of halves");
    for (size_t i = 0; i < sides[side].shape.size(); ++i) {
      const auto dimension = static_cast<int64_t>(i);
      if (llvm::is_contained(contracted[side], dimension)) {
        if (sides[side].cover[i] >= 0) return Refuse("a sum over the batch");
        continue;
      }
      const auto* found = llvm::find(batch[side], dimension);
      const size_t to =
          found == batch[side].end() ? next++ : static_cast<size_t>(found - batch[side].begin());
      places[side].emplace_back(i, to);
      ASSIGN_OR_RETURN(const std::vector<int> merged, MergeCovers(cover[to], sides[side].cover[i]));
      cover[to] = merged[0];
    }
  }
  std::vector<int64_t> sizes;
  for (const int64_t dimension : contracted[0]) {
    sizes.push_back(sides[0].shape[static_cast<size_t>(dimension)]);
  }
  return MakeNumbers(shape, cover, [&](const Position& position) -> StatusOr<int> {
    std::optional<int> sum;
    const std::vector<int> each(sizes.size(), kEach);
    ASSIGN_OR_RETURN(const Numbers terms,
                     MakeNumbers(sizes, each, [&](const Position& inner) -> StatusOr<int> {
                       std::vector<int> factors;
                       for (size_t side = 0; side < 2; ++side) {
                         Position from(sides[side].shape.size(), 0);
                         for (const auto& [own, to] : places[side]) from[own] = position[to];
                         for (size_t i = 0; i < inner.size(); ++i) {
                           from[static_cast<size_t>(contracted[side][i])] = inner[i];
                         }
                         ASSIGN_OR_RETURN(const int factor,
                                          Convert(Opcode::kConvert, type, sides[side].At(from)));
                         factors.push_back(factor);
                       }
                       return Compute(Opcode::kMultiply, Comparison::kEqual, std::move(factors));
                     }));
    for (const int term : terms.ops) {
      if (!sum) {
        sum = term;
        continue;
      }
      ASSIGN_OR_RETURN(sum, Compute(Opcode::kAdd, Comparison::kEqual, {*sum, term}));
    }
    return *sum;
  });
}

std::optional<std::vector<int64_t>> OpTracer::KnownStarts(const Op& op, size_t first,
                                                          llvm::ArrayRef<int64_t> shape,
                                                          llvm::ArrayRef<int64_t> sizes) {
  std::vector<int64_t> starts;
  for (size_t i = 0; i < shape.size(); ++i) {
    const StatusOr<int> start = GetScalar(*op.operand(first + i));
    if (!start.ok()) return std::nullopt;
    const std::optional<uint64_t> bits = ConstantOf(*start);
    if (!bits) return std::nullopt;
    const int unused = 64 - 8 * BytesOf(program_.op(*start).type);
    const auto number = static_cast<int64_t>(*bits << unused) >> unused;
    starts.push_back(std::clamp<int64_t>(number, 0, shape[i] - sizes[i]));
  }
  return starts;
}

StatusOr<Numbers> OpTracer::DynamicSlice(const Op& op) {
  const Value* array = op.operand(0);
  const llvm::ArrayRef<int64_t> sizes = op.result(0)->type().shape();
  const llvm::ArrayRef<int64_t> shape = array->type().shape();
  if (const auto starts = KnownStarts(op, 1, shape, sizes)) {
    ASSIGN_OR_RETURN(const Numbers operand, Get(*array));
    return Sliced(operand, *starts, std::vector<int64_t>(shape.size(), 1), sizes);
  }
  // One step of an array outside of the loop.
  if (const auto found = outside_.find(array); found != outside_.end()) array = found->second;
  if (known_.contains(array)) {
    return Refuse("a value of the loop is read at a changing position");
  }
  if (failed_.contains(array)) return failed_.find(array)->second;
  std::optional<size_t> steps;
  std::vector<int64_t> starts(shape.size(), 0);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (sizes[i] == shape[i]) continue;
    ASSIGN_OR_RETURN(const int start, GetScalar(*op.operand(i + 1)));
    if (const std::optional<uint64_t> bits = ConstantOf(start)) {
      starts[i] = std::clamp<int64_t>(static_cast<int64_t>(*bits), 0, shape[i] - sizes[i]);
      continue;
    }
    if (steps || sizes[i] != 1) return Refuse("an array is read at several changing positions");
    steps = i;
  }
  if (!steps) return Refuse("an array is read at a changing position");
  ASSIGN_OR_RETURN(const int step, GetScalar(*op.operand(*steps + 1)));
  if (program_.op(step).varies) return Refuse("each element of the batch reads another position");
  ASSIGN_OR_RETURN(const ArrayLayout layout, LayoutOf(*array, steps));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (layout.cover[i] >= 0 && sizes[i] != shape[i]) return Refuse("a part of the batch is read");
  }
  ASSIGN_OR_RETURN(const int operand, OperandOf(*array, layout));
  return MakeNumbers(sizes, layout.cover, [&](const Position& position) -> StatusOr<int> {
    int64_t element = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (layout.cover[i] != kEach) continue;
      element = element * shape[i] + starts[i] + position[i];
    }
    ASSIGN_OR_RETURN(const int load, AddLoad(program_, operand, element, step));
    return Unique(load);
  });
}

StatusOr<Numbers> OpTracer::DynamicUpdateSlice(const Op& op) {
  ASSIGN_OR_RETURN(const Numbers operand, Get(*op.operand(0)));
  ASSIGN_OR_RETURN(const Numbers update, Get(*op.operand(1)));
  const auto starts = KnownStarts(op, 2, operand.shape, update.shape);
  if (!starts) return Refuse("a value of the loop is written at a changing position");
  return Updated(operand, update, *starts);
}

}  // namespace plimsoll
