#include "kernels/make_tile_program.h"

#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/reducers.h"
#include "kernels/comparison.h"
#include "kernels/scalar_type.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// The best are kept in order by insertion.
constexpr int64_t kMostRanks = 128;

template <typename... Parts>
Status Refuse(const Parts&... parts) {
  return Status(ErrorCode::kNotUnderstood, StrCat(parts...));
}

// The bytes of the number that all elements are, if that is known.
std::optional<uint64_t> UniformBits(const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr) return std::nullopt;
  if (op->Is(Opcode::kBroadcastInDim) || op->Is(Opcode::kReshape)) {
    return UniformBits(*op->operand(0));
  }
  if (!op->Is(Opcode::kConstant)) return std::nullopt;
  const Attribute elements = op->Get("value");
  if (!elements.Is(AttributeKind::kDenseElements)) return std::nullopt;
  const std::optional<int64_t> size = value.type().element_type().bytes_per_element();
  if (!size || *size > 8) return std::nullopt;
  if (!elements.is_splat() && static_cast<int64_t>(elements.bytes().size()) != *size) {
    return std::nullopt;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, elements.bytes().data(), static_cast<size_t>(*size));
  return bits;
}

class Converter {
 public:
  Converter(const TileRegion& region, RegionKernel& kernel)
      : region_(region), kernel_(kernel), program_(kernel.program) {
    program_.axes = {{.kind = TileAxisKind::kRow}, {.kind = TileAxisKind::kColumn}};
    for (const RegionAxis& axis : region.axes) {
      switch (axis.role) {
        case RegionAxisRole::kRow:
          tile_axes_.push_back(kRowAxis);
          break;
        case RegionAxisRole::kColumn:
          tile_axes_.push_back(kColumnAxis);
          break;
        case RegionAxisRole::kBatch:
          tile_axes_.push_back(static_cast<int>(program_.axes.size()));
          program_.axes.push_back({.kind = TileAxisKind::kBatch});
          break;
        case RegionAxisRole::kShort:
          tile_axes_.push_back(static_cast<int>(program_.axes.size()));
          program_.axes.push_back({.kind = TileAxisKind::kShort, .length = axis.length});
          break;
        case RegionAxisRole::kRank:
          tile_axes_.push_back(static_cast<int>(program_.axes.size()));
          program_.axes.push_back({.kind = TileAxisKind::kRank, .length = axis.length});
          break;
        case RegionAxisRole::kLong:
          tile_axes_.push_back(static_cast<int>(program_.axes.size()));
          program_.axes.push_back({.kind = TileAxisKind::kLong});
          break;
      }
    }
  }

  Status AddSink(const Op& sink) {
    if (const std::optional<Opcode> reducer = ArgReducerOf(sink)) return AddArg(sink, *reducer);
    if (sink.Is(Opcode::kChloTopK)) return AddTop(sink);
    const Value& result = *sink.result(0);
    int value = 0;
    Opcode reducer = Opcode::kAdd;
    if (sink.Is(Opcode::kDotGeneral)) {
      ASSIGN_OR_RETURN(value, Product(sink));
    } else {
      reducer = ReductionOf(sink)->reducer;
      ASSIGN_OR_RETURN(value, Operand(sink, 0));
    }
    ASSIGN_OR_RETURN(value, FoldInner(sink, reducer, value));
    TileResult made = {.value = value, .reducer = reducer};
    RegionKernel::Result kept = {.value = &result, .reducer = reducer};
    const std::vector<int>& axes = region_.value_axes.find(&result)->second;
    for (const int axis : region_.ReducedAxes(sink)) {
      const RegionAxis& info = region_.axes[static_cast<size_t>(axis)];
      if (info.role == RegionAxisRole::kBatch) {
        made.array.axes.push_back(TileAxisOf(axis));
        kept.shape.push_back(info.length);
        ++kept.outer;
      } else if (info.role == RegionAxisRole::kRow || info.role == RegionAxisRole::kColumn) {
        made.reduced |= AxisBit(TileAxisOf(axis));
      }
    }
    for (const int axis : axes) made.array.axes.push_back(TileAxisOf(axis));
    llvm::append_range(kept.shape, result.type().shape());
    const ScalarType type = program_.ops[static_cast<size_t>(value)].type;
    made.array.type = made.reduced == 0 ? type : AccumulatorOf(type);
    if (made.reduced == 0) made.reducer = Opcode::kUnknown;
    RETURN_IF_ERROR(AddResult(program_, std::move(made)));
    kernel_.results.push_back(std::move(kept));
    return OkStatus();
  }

  // The best value along the columns, and its position.
  Status AddArg(const Op& sink, Opcode reducer) {
    const Reduction reduction = {.reducer = reducer,
                                 .dimensions = sink.Get("dimensions").integers(),
                                 .element = sink.operand(0)->type().element_type()};
    if (!IsNeutral(reduction, *sink.operand(2))) return Refuse("the best of columns and a number");
    ASSIGN_OR_RETURN(const int value, Operand(sink, 0));
    ASSIGN_OR_RETURN(const int position, Operand(sink, 1));
    return AddBest(sink, reducer, value, position);
  }

  // The largest values along the columns, and their positions.
  Status AddTop(const Op& sink) {
    if (sink.Get("k").integer() > kMostRanks)
      return Refuse("more than ", kMostRanks, " of the best");
    ASSIGN_OR_RETURN(const int value, Operand(sink, 0));
    ASSIGN_OR_RETURN(const int position, AddIota(program_, ScalarType::kI32, kColumnAxis));
    // The largest alone has no dimension of ranks.
    const Opcode reducer =
        sink.result(0)->type().shape().back() == 1 ? Opcode::kMaximum : Opcode::kChloTopK;
    return AddBest(sink, reducer, value, position);
  }

  Status AddBest(const Op& sink, Opcode reducer, int value, int position) {
    const std::vector<int> reduced = region_.ReducedAxes(sink);
    if (reduced.size() != 1 || TileAxisOf(reduced[0]) != kColumnAxis) {
      return Refuse("the best of more than the columns");
    }
    const int leader = static_cast<int>(program_.results.size());
    for (size_t i = 0; i < 2; ++i) {
      TileResult made = {.value = i == 0 ? value : position, .reduced = kColumnBit};
      if (i == 0) {
        made.reducer = reducer;
      } else {
        made.follows = leader;
      }
      for (const int axis : region_.value_axes.find(sink.result(i))->second) {
        made.array.axes.push_back(TileAxisOf(axis));
      }
      const ScalarType type = program_.ops[static_cast<size_t>(made.value)].type;
      made.array.type = i == 0 ? AccumulatorOf(type) : type;
      RETURN_IF_ERROR(AddResult(program_, std::move(made)));
      kernel_.results.push_back(
          {.value = sink.result(i), .shape = sink.result(i)->type().shape().vec()});
    }
    return OkStatus();
  }

  Status AddWritten(const Value& value) {
    ASSIGN_OR_RETURN(const int number, Convert(value));
    TileResult made = {.value = number};
    made.array.type = program_.ops[static_cast<size_t>(number)].type;
    for (const int axis : region_.value_axes.find(&value)->second) {
      made.array.axes.push_back(TileAxisOf(axis));
    }
    RETURN_IF_ERROR(AddResult(program_, std::move(made)));
    kernel_.results.push_back({.value = &value, .shape = value.type().shape().vec()});
    return OkStatus();
  }

 private:
  int TileAxisOf(int axis) const {
    return axis == kNoAxis ? kNoAxis : tile_axes_[static_cast<size_t>(axis)];
  }

  StatusOr<int> FoldInner(const Op& op, Opcode reducer, int value) {
    for (const int axis : region_.ReducedAxes(op)) {
      const RegionAxisRole role = region_.axes[static_cast<size_t>(axis)].role;
      if (role != RegionAxisRole::kShort && role != RegionAxisRole::kLong) continue;
      const int tile_axis = TileAxisOf(axis);
      if ((program_.ops[static_cast<size_t>(value)].axes & AxisBit(tile_axis)) == 0) {
        return Refuse("a sum over what is the same everywhere");
      }
      ASSIGN_OR_RETURN(value, AddFold(program_, reducer, tile_axis, value));
    }
    return value;
  }

  StatusOr<int> As(ScalarType type, int value) {
    if (program_.ops[static_cast<size_t>(value)].type == type) return value;
    return AddConvert(program_, Opcode::kConvert, type, value);
  }

  // The product of both operands' elements, before they are summed.
  StatusOr<int> Product(const Op& op) {
    const std::optional<ScalarType> type = ScalarTypeOf(op.result(0)->type().element_type());
    ASSIGN_OR_RETURN(int left, Operand(op, 0));
    ASSIGN_OR_RETURN(int right, Operand(op, 1));
    ASSIGN_OR_RETURN(left, As(AccumulatorOf(*type), left));
    ASSIGN_OR_RETURN(right, As(AccumulatorOf(*type), right));
    return AddCompute(program_, Opcode::kMultiply, {left, right});
  }

  StatusOr<int> Operand(const Op& op, size_t number) {
    Value* value = op.operand(number);
    if (region_.values.contains(value)) return Convert(*value);
    const std::optional<ScalarType> type = ScalarTypeOf(value->type().element_type());
    if (const std::optional<uint64_t> bits = UniformBits(*value)) {
      return AddConstant(program_, *type, *bits);
    }
    TileArray array = {.type = *type, .axes = {}};
    for (const int axis : region_.AxesOfOperand(op, number)) {
      array.axes.push_back(TileAxisOf(axis));
    }
    // The same array along the same axes is one operand.
    for (size_t i = 0; i < kernel_.operands.size(); ++i) {
      if (kernel_.operands[i] == value && program_.operands[i] == array) {
        return loads_[i];
      }
    }
    kernel_.operands.push_back(value);
    program_.operands.push_back(std::move(array));
    ASSIGN_OR_RETURN(const int load,
                     AddLoad(program_, static_cast<int>(program_.operands.size()) - 1));
    loads_.push_back(load);
    return load;
  }

  StatusOr<int> Convert(const Value& value) {
    const auto found = converted_.find(&value);
    if (found != converted_.end()) return found->second;
    ASSIGN_OR_RETURN(const int number, ConvertOp(*value.defining_op()));
    converted_[&value] = number;
    return number;
  }

  StatusOr<int> ConvertOp(const Op& op) {
    const std::optional<ScalarType> type = ScalarTypeOf(op.result(0)->type().element_type());
    switch (op.opcode()) {
      case Opcode::kBroadcastInDim:
      case Opcode::kReshape:
      case Opcode::kTranspose:
        return Operand(op, 0);
      case Opcode::kConstant: {
        const std::optional<uint64_t> bits = UniformBits(*op.result(0));
        if (!bits) return Refuse("a constant");
        return AddConstant(program_, *type, *bits);
      }
      case Opcode::kIota: {
        const auto dimension = static_cast<size_t>(op.Get("iota_dimension").integer());
        const int axis = region_.value_axes.find(op.result(0))->second[dimension];
        if (axis == kNoAxis) return AddConstant(program_, *type, 0);
        return AddIota(program_, *type, TileAxisOf(axis));
      }
      case Opcode::kDotGeneral: {
        ASSIGN_OR_RETURN(int value, Product(op));
        ASSIGN_OR_RETURN(value, FoldInner(op, Opcode::kAdd, value));
        return As(*type, value);
      }
      case Opcode::kReduce: {
        const Reduction reduction = *ReductionOf(op);
        ASSIGN_OR_RETURN(int value, Operand(op, 0));
        ASSIGN_OR_RETURN(value, FoldInner(op, reduction.reducer, value));
        if (IsNeutral(reduction, *op.operand(1))) return value;
        ASSIGN_OR_RETURN(const int initial, Operand(op, 1));
        return AddCompute(program_, reduction.reducer, {initial, value});
      }
      default:
        break;
    }
    std::vector<int> operands;
    for (size_t i = 0; i < op.operand_count(); ++i) {
      ASSIGN_OR_RETURN(const int operand, Operand(op, i));
      operands.push_back(operand);
    }
    if (op.Is(Opcode::kCompare)) {
      ASSIGN_OR_RETURN(const Comparison comparison, ComparisonOf(op));
      return AddCompare(program_, comparison, operands[0], operands[1]);
    }
    if (op.Is(Opcode::kConvert) || op.Is(Opcode::kBitcastConvert)) {
      return AddConvert(program_, op.opcode(), *type, operands[0]);
    }
    return AddCompute(program_, op.opcode(), std::move(operands));
  }

  const TileRegion& region_;
  RegionKernel& kernel_;
  TileProgram& program_;
  std::vector<int> tile_axes_;
  std::vector<int> loads_;
  llvm::DenseMap<const Value*, int> converted_;
};

}  // namespace

StatusOr<RegionKernel> MakeTileProgram(const TileRegion& region, llvm::ArrayRef<const Op*> sinks,
                                       llvm::ArrayRef<const Value*> written) {
  RegionKernel kernel;
  Converter converter(region, kernel);
  for (const Op* sink : sinks) RETURN_IF_ERROR(converter.AddSink(*sink));
  for (const Value* value : written) RETURN_IF_ERROR(converter.AddWritten(*value));
  RETURN_IF_ERROR(Verify(kernel.program));
  return kernel;
}

}  // namespace plimsoll
