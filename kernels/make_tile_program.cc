#include "kernels/make_tile_program.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/op_class.h"
#include "analysis/reducers.h"
#include "kernels/comparison.h"
#include "kernels/grouped_reduction.h"
#include "kernels/refuse.h"
#include "kernels/scalar_type.h"
#include "kernels/shared_axes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// The best are kept in order by insertion.
constexpr int64_t kMostRanks = 128;

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
  Converter(const TileRegion& region, const EarlierStages& earlier, RegionKernel& kernel)
      : region_(region), earlier_(earlier), kernel_(kernel), program_(kernel.program) {
    program_.axes = {{.kind = TileAxisKind::kRow}, {.kind = TileAxisKind::kColumn}};
    // All stages have the batch in the same order. Other axes come when they are needed.
    for (const RegionAxis& axis : region.axes) {
      tile_axes_.push_back(kNoAxis);
      if (axis.role == RegionAxisRole::kBatch) {
        tile_axes_.back() = static_cast<int>(program_.axes.size());
        program_.axes.push_back({.kind = TileAxisKind::kBatch});
      }
    }
  }

  Status AddSink(const Op& sink) {
    if (const std::optional<Opcode> reducer = ArgReducerOf(sink)) return AddArg(sink, *reducer);
    if (sink.Is(Opcode::kChloTopK)) return AddTop(sink);
    if (sink.Is(Opcode::kScatter)) return AddSegments(sink);
    const Value& result = *sink.result(0);
    for (const int axis : region_.value_axes.find(&result)->second) {
      if (axis == kNoAxis) continue;
      const RegionAxis& info = region_.axes[static_cast<size_t>(axis)];
      if (info.role == RegionAxisRole::kFeature && info.length > kMostShort) {
        return Refuse("a product with more columns than are unrolled");
      }
    }
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
    std::vector<int> tile_axes;
    for (const int axis : axes) tile_axes.push_back(TileAxisOf(axis));
    AddDimensions(tile_axes, result.type().shape(), /*columns_last=*/is_product_, made.array, kept);
    if (program_.ShortCount(AxesOf(made.array)) > kMostNumbers) {
      return Refuse("more numbers for a row than are unrolled");
    }
    // What is left are the rows and columns of a product: sums over what is read so far.
    const bool is_product = made.reduced == 0 && sink.Is(Opcode::kDotGeneral) && is_product_;
    if (made.reduced == 0 && !is_product) made.reducer = Opcode::kUnknown;
    const ScalarType type = program_.ops[static_cast<size_t>(value)].type;
    made.array.type = made.reducer == Opcode::kUnknown ? type : AccumulatorOf(type);
    return Keep(std::move(made), std::move(kept));
  }

  // The best value along the columns, and its position.
  Status AddArg(const Op& sink, Opcode reducer) {
    const Reduction reduction = {.reducer = reducer,
                                 .dimensions = sink.Get("dimensions").integers(),
                                 .element = sink.operand(0)->type().element_type()};
    if (!IsNeutral(reduction, *sink.operand(2))) return Refuse("the best of columns and a number");
    // Kernels begin with 0, which is what is left where nothing is better than the neutral number.
    const Reduction position_of = {.reducer = Opcode::kAdd,
                                   .dimensions = reduction.dimensions,
                                   .element = sink.operand(1)->type().element_type()};
    if (!IsNeutral(position_of, *sink.operand(3)))
      return Refuse("positions that begin at a number");
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

  // Rows reduced in groups. The columns are last, so that whole vectors are added.
  Status AddSegments(const Op& sink) {
    ASSIGN_OR_RETURN(const GroupedReduction reduction, GroupedReductionOf(sink));
    TileResult made = {.reduced = kRowBit, .reducer = reduction.reducer};
    ASSIGN_OR_RETURN(made.value, Operand(sink, 2));
    ASSIGN_OR_RETURN(made.segment, Operand(sink, 1));
    const Value& result = *sink.result(0);
    RegionKernel::Result kept = {.value = &result, .reducer = reduction.reducer};
    std::vector<int> axes;
    for (const int axis : region_.value_axes.find(&result)->second) {
      axes.push_back(TileAxisOf(axis));
    }
    // Where there is one segment, the region has no axis for it.
    if (axes[reduction.segment] == kNoAxis) {
      axes[reduction.segment] = static_cast<int>(program_.axes.size());
      program_.axes.push_back({.kind = TileAxisKind::kSegment});
    }
    AddDimensions(axes, result.type().shape(), /*columns_last=*/true, made.array, kept);
    if (program_.ShortCount(AxesOf(made.array)) > kMostNumbers) {
      return Refuse("more numbers for a row than are unrolled");
    }
    made.array.type = AccumulatorOf(program_.ops[static_cast<size_t>(made.value)].type);
    return Keep(std::move(made), std::move(kept));
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
      RETURN_IF_ERROR(Keep(std::move(made), {.value = sink.result(i),
                                             .shape = sink.result(i)->type().shape().vec()}));
    }
    return OkStatus();
  }

  Status AddWritten(const Value& value, llvm::ArrayRef<int> axes) {
    ASSIGN_OR_RETURN(const int number, Convert(value));
    TileResult made = {.value = number};
    made.array.type = program_.ops[static_cast<size_t>(number)].type;
    for (const int axis : axes) made.array.axes.push_back(TileAxisOf(axis));
    return Keep(std::move(made), {.value = &value, .shape = value.type().shape().vec()});
  }

  Status AddProduct(const Op& sink) {
    is_product_ = true;
    return AddSink(sink);
  }

 private:
  int TileAxisOf(int axis) {
    if (axis == kNoAxis) return kNoAxis;
    int& tile_axis = tile_axes_[static_cast<size_t>(axis)];
    if (tile_axis != kNoAxis) return tile_axis;
    const RegionAxis& info = region_.axes[static_cast<size_t>(axis)];
    TileAxis added;
    switch (info.role) {
      case RegionAxisRole::kRow:
        return tile_axis = kRowAxis;
      case RegionAxisRole::kColumn:
        return tile_axis = kColumnAxis;
      case RegionAxisRole::kBatch:
        added = {.kind = TileAxisKind::kBatch};
        break;
      case RegionAxisRole::kFeature:  // In a program without stages.
      case RegionAxisRole::kShort:
        added = {.kind = TileAxisKind::kShort, .length = info.length};
        break;
      case RegionAxisRole::kRank:
        added = {.kind = TileAxisKind::kRank, .length = info.length};
        break;
      case RegionAxisRole::kSegment:
        added = {.kind = TileAxisKind::kSegment};
        break;
      case RegionAxisRole::kLong:
        added = {.kind = TileAxisKind::kLong};
        break;
    }
    tile_axis = static_cast<int>(program_.axes.size());
    program_.axes.push_back(added);
    return tile_axis;
  }

  // The dimensions of a sink's result. Columns that are the last are written by whole vectors.
  static void AddDimensions(const std::vector<int>& axes, llvm::ArrayRef<int64_t> shape,
                            bool columns_last, TileArray& array, RegionKernel::Result& kept) {
    std::vector<size_t> order(axes.size());
    std::iota(order.begin(), order.end(), 0);
    if (columns_last) {
      const auto column = llvm::find_if(order, [&](size_t i) { return axes[i] == kColumnAxis; });
      std::rotate(column, column + 1, order.end());
    }
    for (const size_t i : order) {
      array.axes.push_back(axes[i]);
      kept.shape.push_back(shape[i]);
    }
    if (llvm::is_sorted(order)) return;
    kept.permutation.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      kept.permutation[order[i]] = static_cast<int64_t>(i);
    }
  }

  Status Keep(TileResult made, RegionKernel::Result kept) {
    kept.type = made.array.type;
    RETURN_IF_ERROR(AddResult(program_, std::move(made)));
    kernel_.results.push_back(std::move(kept));
    return OkStatus();
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
    return Outside(*value, region_.AxesOfOperand(op, number));
  }

  // A value that is not of the region: an array, or made of results of earlier stages for its rows.
  StatusOr<int> Outside(Value& value, const std::vector<int>& axes) {
    const std::optional<ScalarType> type = ScalarTypeOf(value.type().element_type());
    if (const std::optional<uint64_t> bits = UniformBits(value)) {
      return AddConstant(program_, *type, *bits);
    }
    const bool depends = earlier_.depends && earlier_.depends(value);
    if (!depends && !IsPosition(value, axes)) return Load(value, *type, axes);
    if (depends && earlier_.results.contains(&value)) {
      if (region_.value_axes.find(&value)->second != axes) {
        return Refuse("a later stage needs rows of an earlier one along other axes");
      }
      ASSIGN_OR_RETURN(const int sum, Load(value, AccumulatorOf(*type), axes));
      return As(*type, sum);
    }
    const auto found = outside_.find({&value, axes});
    if (found != outside_.end()) return found->second;
    ASSIGN_OR_RETURN(const int number, ConvertOutside(value, axes));
    outside_[{&value, axes}] = number;
    return number;
  }

  // Integers and predicates that follow from the row and the column by a few instructions are not
  // read: then it is known beforehand what a mask hides.
  bool IsPosition(const Value& value, const std::vector<int>& axes) const {
    const Op* op = value.defining_op();
    const std::optional<ScalarType> type = ScalarTypeOf(value.type().element_type());
    if (op == nullptr || !type || !(IsInteger(*type) || *type == ScalarType::kI1)) return false;
    if (UniformBits(value)) return true;
    if (!IsTileable(*op)) return false;
    if (op->Is(Opcode::kIota)) {
      const int axis = axes[static_cast<size_t>(op->Get("iota_dimension").integer())];
      if (axis == kNoAxis) return false;
      const RegionAxisRole role = region_.axes[static_cast<size_t>(axis)].role;
      return role == RegionAxisRole::kRow || role == RegionAxisRole::kColumn;
    }
    if (op->Is(Opcode::kBroadcastInDim) || op->Is(Opcode::kReshape)) {
      return IsPosition(*op->operand(0), AxesOfOnlyOperand(*op, axes));
    }
    return ClassOf(*op) == OpClass::kCheap &&
           llvm::all_of(op->operands(), [&](const Value* operand) {
             return IsPosition(*operand, AxesOfOneOf(*operand, axes));
           });
  }

  // Of an elementwise op's operand, which may be one number for all elements.
  static std::vector<int> AxesOfOneOf(const Value& operand, const std::vector<int>& axes) {
    return operand.type().rank() == 0 ? std::vector<int>() : axes;
  }

  // Of what is broadcast or reshaped to these axes.
  static std::vector<int> AxesOfOnlyOperand(const Op& op, const std::vector<int>& axes) {
    std::vector<int> from(op.operand(0)->type().rank(), kNoAxis);
    if (op.Is(Opcode::kReshape)) {
      const auto matched = MatchReshape(op);
      for (const auto& [own, to] : *matched) from[own] = axes[to];
      return from;
    }
    const auto& dimensions = op.Get("broadcast_dimensions").integers();
    for (size_t i = 0; i < from.size(); ++i) {
      if (op.operand(0)->type().shape()[i] != 1) from[i] = axes[static_cast<size_t>(dimensions[i])];
    }
    return from;
  }

  StatusOr<int> ConvertOutside(const Value& value, const std::vector<int>& axes) {
    const Op* op = value.defining_op();
    if (op == nullptr || !IsTileable(*op)) return Refuse("a later stage needs more than its rows");
    switch (op->opcode()) {
      case Opcode::kBroadcastInDim:
      case Opcode::kReshape:
        return Outside(*op->operand(0), AxesOfOnlyOperand(*op, axes));
      case Opcode::kIota: {
        if (!IsPosition(value, axes)) return Refuse("a later stage needs more than its rows");
        const auto dimension = static_cast<size_t>(op->Get("iota_dimension").integer());
        return AddIota(program_, *ScalarTypeOf(value.type().element_type()),
                       TileAxisOf(axes[dimension]));
      }
      case Opcode::kConstant:
      case Opcode::kDotGeneral:
      case Opcode::kReduce:
      case Opcode::kTranspose:
        return Refuse("a later stage needs more than its rows");
      default:
        break;
    }
    std::vector<int> operands;
    for (Value* operand : op->operands()) {
      ASSIGN_OR_RETURN(const int number, Outside(*operand, AxesOfOneOf(*operand, axes)));
      operands.push_back(number);
    }
    return Compute(*op, std::move(operands));
  }

  // An array along axes of the region. The same one along the same axes is one operand.
  StatusOr<int> Load(Value& value, ScalarType type, llvm::ArrayRef<int> axes) {
    TileArray array = {.type = type, .axes = {}};
    for (const int axis : axes) array.axes.push_back(TileAxisOf(axis));
    for (size_t i = 0; i < kernel_.operands.size(); ++i) {
      if (kernel_.operands[i] == &value && program_.operands[i] == array) return loads_[i];
    }
    kernel_.operands.push_back(&value);
    program_.operands.push_back(std::move(array));
    ASSIGN_OR_RETURN(const int load,
                     AddLoad(program_, static_cast<int>(program_.operands.size()) - 1));
    loads_.push_back(load);
    return load;
  }

  StatusOr<int> Convert(const Value& value) {
    const auto found = converted_.find(&value);
    if (found != converted_.end()) return found->second;
    const auto panel = earlier_.values.find(&value);
    int number = 0;
    if (panel != earlier_.values.end()) {
      const ScalarType type = *ScalarTypeOf(value.type().element_type());
      ASSIGN_OR_RETURN(number, Load(*value.defining_op()->result(0), type, panel->second));
    } else {
      ASSIGN_OR_RETURN(number, ConvertOp(*value.defining_op()));
      kernel_.made.push_back(&value);
    }
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
    return Compute(op, std::move(operands));
  }

  // An elementwise op.
  StatusOr<int> Compute(const Op& op, std::vector<int> operands) {
    if (op.Is(Opcode::kCompare)) {
      ASSIGN_OR_RETURN(const Comparison comparison, ComparisonOf(op));
      return AddCompare(program_, comparison, operands[0], operands[1]);
    }
    if (op.Is(Opcode::kConvert) || op.Is(Opcode::kBitcastConvert)) {
      const std::optional<ScalarType> type = ScalarTypeOf(op.result(0)->type().element_type());
      return AddConvert(program_, op.opcode(), *type, operands[0]);
    }
    return AddCompute(program_, op.opcode(), std::move(operands));
  }

  const TileRegion& region_;
  const EarlierStages& earlier_;
  RegionKernel& kernel_;
  TileProgram& program_;
  std::vector<int> tile_axes_;
  std::vector<int> loads_;
  llvm::DenseMap<const Value*, int> converted_;
  std::map<std::pair<const Value*, std::vector<int>>, int> outside_;
  bool is_product_ = false;
};

}  // namespace

StatusOr<RegionKernel> MakeTileProgram(const TileRegion& region, llvm::ArrayRef<const Op*> sinks,
                                       llvm::ArrayRef<const Value*> written) {
  return MakeStageProgram(region, sinks, written, /*panels=*/{}, EarlierStages());
}

StatusOr<RegionKernel> MakeStageProgram(const TileRegion& region, llvm::ArrayRef<const Op*> sinks,
                                        llvm::ArrayRef<const Value*> written,
                                        const StagePanels& panels, const EarlierStages& earlier) {
  RegionKernel kernel;
  Converter converter(region, earlier, kernel);
  for (const Op* sink : sinks) RETURN_IF_ERROR(converter.AddSink(*sink));
  for (const Value* value : written) {
    RETURN_IF_ERROR(converter.AddWritten(*value, region.value_axes.find(value)->second));
  }
  for (const auto& [value, axes] : panels) {
    RETURN_IF_ERROR(converter.AddWritten(*value, axes));
  }
  RETURN_IF_ERROR(Verify(kernel.program));
  return kernel;
}

StatusOr<RegionKernel> MakeProductProgram(const TileRegion& region, const Op& sink,
                                          const EarlierStages& earlier) {
  RegionKernel kernel;
  RETURN_IF_ERROR(Converter(region, earlier, kernel).AddProduct(sink));
  RETURN_IF_ERROR(Verify(kernel.program));
  return kernel;
}

}  // namespace plimsoll
