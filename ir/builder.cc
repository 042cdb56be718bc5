#include "ir/builder.h"

#include <optional>
#include <string>
#include <utility>

#include "ir/dimensions.h"
#include "ir/elements.h"
#include "ir/infer_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {
namespace {

// What an op that is about to be made is known by, for as long as the view is used.
struct Parts {
  llvm::SmallVector<Type> operands;
  llvm::SmallVector<const Region*> regions;
};

StatusOr<Parts> PartsOf(Opcode opcode, llvm::ArrayRef<Value*> operands,
                        const Builder::Regions& regions) {
  Parts parts;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr) {
      return Status(ErrorCode::kInternal,
                    StrCat(GetOpInfo(opcode).name, ": operand ", i, " is null"));
    }
    parts.operands.push_back(operands[i]->type());
  }
  for (const std::unique_ptr<Region>& region : regions) parts.regions.push_back(region.get());
  return parts;
}

bool HasUnknownSize(Type type) {
  return type.Is(TypeKind::kTensor) && llvm::any_of(DimensionsOf(type), [](const Dimension& d) {
           return !d.is_static() && !d.is_bounded();
         });
}

std::string_view Enumerator(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual:
      return "EQ";
    case Comparison::kNotEqual:
      return "NE";
    case Comparison::kLess:
      return "LT";
    case Comparison::kLessEqual:
      return "LE";
    case Comparison::kGreater:
      return "GT";
    case Comparison::kGreaterEqual:
      return "GE";
  }
  llvm_unreachable("a comparison that is not in the list");
}

// How numbers of that type are compared.
std::string_view ComparisonType(Type element) {
  if (!element.Is(TypeKind::kInteger)) return "FLOAT";
  const bool is_unsigned =
      element.signedness() == Signedness::kUnsigned || element.integer_width() == 1;
  return is_unsigned ? "UNSIGNED" : "SIGNED";
}

Opcode TerminatorFor(const Op* parent) {
  if (parent == nullptr) return Opcode::kReturn;
  switch (parent->opcode()) {
    case Opcode::kFunc:
      return Opcode::kFuncReturn;
    case Opcode::kSdyManualComputation:
    case Opcode::kSdyNamedComputation:
      return Opcode::kSdyReturn;
    default:
      return Opcode::kReturn;
  }
}

}  // namespace

StatusOr<Op*> Builder::Create(Opcode opcode, llvm::ArrayRef<Value*> operands,
                              llvm::ArrayRef<NamedAttribute> properties, Regions regions) {
  ASSIGN_OR_RETURN(const Parts parts, PartsOf(opcode, operands, regions));
  const Attribute dictionary = properties.empty() ? Attribute() : context_.Dictionary(properties);
  const OpView view(context_, opcode, parts.operands, dictionary, parts.regions);
  ASSIGN_OR_RETURN(const std::vector<Type> types, InferResultTypes(view));
  if (llvm::any_of(types, HasUnknownSize) && llvm::none_of(parts.operands, HasUnknownSize)) {
    return view.Error("a size of its result does not follow from its operands");
  }
  RETURN_IF_ERROR(CheckRegions(view, types));
  return Insert(opcode, types, operands, dictionary, regions);
}

StatusOr<Op*> Builder::CreateWithTypes(Opcode opcode, llvm::ArrayRef<Type> result_types,
                                       llvm::ArrayRef<Value*> operands,
                                       llvm::ArrayRef<NamedAttribute> properties, Regions regions) {
  ASSIGN_OR_RETURN(const Parts parts, PartsOf(opcode, operands, regions));
  const Attribute dictionary = properties.empty() ? Attribute() : context_.Dictionary(properties);
  const OpView view(context_, opcode, parts.operands, dictionary, parts.regions);
  RETURN_IF_ERROR(CheckRegions(view, result_types));
  RETURN_IF_ERROR(CheckResultTypes(view, result_types));
  return Insert(opcode, result_types, operands, dictionary, regions);
}

StatusOr<Op*> Builder::Insert(Opcode opcode, llvm::ArrayRef<Type> result_types,
                              llvm::ArrayRef<Value*> operands, Attribute properties,
                              Regions& regions) {
  std::unique_ptr<Op> op = Op::Create(GetOpInfo(opcode).name, location_, result_types, operands,
                                      properties, {}, regions.size());
  for (size_t r = 0; r < regions.size(); ++r) op->region(r).TakeBlocks(*regions[r]);
  return block_->InsertBefore(before_, std::move(op));
}

Value* Builder::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
  return nullptr;
}

Value* Builder::Keep(StatusOr<Op*> op) { return op.ok() ? (*op)->result(0) : Fail(op.status()); }

Builder::Values Builder::KeepAll(StatusOr<Op*> op, size_t count) {
  if (op.ok()) return (*op)->results();
  Fail(op.status());
  return Values(count, nullptr);
}

bool Builder::IsTensor(Opcode opcode, const Value* operand) {
  if (failed()) return false;
  if (operand != nullptr && operand->type().Is(TypeKind::kTensor)) return true;
  const std::string found = operand == nullptr ? "nothing" : operand->type().ToString();
  Fail({ErrorCode::kInternal,
        StrCat(GetOpInfo(opcode).name, ": expected a ranked tensor, found ", found)});
  return false;
}

Value* Builder::Splat(Type tensor, std::optional<std::string> element) {
  if (failed()) return nullptr;
  if (!element) {
    return Fail({ErrorCode::kInternal,
                 StrCat("stablehlo.constant: the number does not fit ", tensor.ToString())});
  }
  const Attribute value = context_.DenseElements(tensor, {element->data(), element->size()});
  return Keep(Create(Opcode::kConstant, {}, {{"value", value}}));
}

Value* Builder::Constant(Type tensor, double value) {
  return Splat(tensor, tensor.Is(TypeKind::kTensor) ? EncodeElement(tensor.element_type(), value)
                                                    : std::nullopt);
}

Value* Builder::IntegerConstant(Type tensor, int64_t value) {
  return Splat(tensor, tensor.Is(TypeKind::kTensor) ? EncodeElement(tensor.element_type(), value)
                                                    : std::nullopt);
}

Value* Builder::I32(int32_t value) {
  return IntegerConstant(context_.TensorType({}, context_.IntegerType(32)), value);
}

Value* Builder::I64(int64_t value) {
  return IntegerConstant(context_.TensorType({}, context_.IntegerType(64)), value);
}

Value* Builder::Iota(Type tensor, int64_t dimension) {
  if (failed()) return nullptr;
  return Keep(
      CreateWithTypes(Opcode::kIota, tensor, {}, {{"iota_dimension", context_.I64(dimension)}}));
}

Value* Builder::Unary(Opcode opcode, Value* operand) {
  return failed() ? nullptr : Keep(Create(opcode, operand));
}

Value* Builder::Binary(Opcode opcode, Value* left, Value* right) {
  return failed() ? nullptr : Keep(Create(opcode, {left, right}));
}

Value* Builder::Compare(Comparison comparison, Value* left, Value* right) {
  if (!IsTensor(Opcode::kCompare, left)) return nullptr;
  const std::string_view type = ComparisonType(left->type().element_type());
  return Keep(Create(Opcode::kCompare, {left, right},
                     {{"compare_type", context_.Enum("stablehlo.comparison_type", type)},
                      {"comparison_direction",
                       context_.Enum("stablehlo.comparison_direction", Enumerator(comparison))}}));
}

Value* Builder::Select(Value* predicate, Value* on_true, Value* on_false) {
  return failed() ? nullptr : Keep(Create(Opcode::kSelect, {predicate, on_true, on_false}));
}

Value* Builder::Convert(Value* operand, Type element) {
  if (!IsTensor(Opcode::kConvert, operand)) return nullptr;
  if (operand->type().element_type() == element) return operand;
  return Keep(
      CreateWithTypes(Opcode::kConvert, WithElement(context_, operand->type(), element), operand));
}

Value* Builder::Reshape(Value* operand, llvm::ArrayRef<int64_t> shape) {
  if (!IsTensor(Opcode::kReshape, operand)) return nullptr;
  return Keep(CreateWithTypes(Opcode::kReshape,
                              context_.TensorType(shape, operand->type().element_type()), operand));
}

Value* Builder::BroadcastInDim(Value* operand, llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<int64_t> dimensions) {
  if (!IsTensor(Opcode::kBroadcastInDim, operand)) return nullptr;
  return Keep(CreateWithTypes(Opcode::kBroadcastInDim,
                              context_.TensorType(shape, operand->type().element_type()), operand,
                              {{"broadcast_dimensions", context_.I64Array(dimensions)}}));
}

Value* Builder::Transpose(Value* operand, llvm::ArrayRef<int64_t> permutation) {
  if (failed()) return nullptr;
  return Keep(
      Create(Opcode::kTranspose, operand, {{"permutation", context_.I64Array(permutation)}}));
}

Value* Builder::Slice(Value* operand, llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> limits, llvm::ArrayRef<int64_t> strides) {
  if (failed()) return nullptr;
  const llvm::SmallVector<int64_t> ones(starts.size(), 1);
  return Keep(Create(Opcode::kSlice, operand,
                     {{"start_indices", context_.I64Array(starts)},
                      {"limit_indices", context_.I64Array(limits)},
                      {"strides", context_.I64Array(strides.empty() ? ones : strides)}}));
}

Value* Builder::DynamicSlice(Value* operand, llvm::ArrayRef<Value*> starts,
                             llvm::ArrayRef<int64_t> sizes) {
  if (failed()) return nullptr;
  llvm::SmallVector<Value*> operands = {operand};
  llvm::append_range(operands, starts);
  return Keep(Create(Opcode::kDynamicSlice, operands, {{"slice_sizes", context_.I64Array(sizes)}}));
}

Value* Builder::DynamicUpdateSlice(Value* operand, Value* update, llvm::ArrayRef<Value*> starts) {
  if (failed()) return nullptr;
  llvm::SmallVector<Value*> operands = {operand, update};
  llvm::append_range(operands, starts);
  return Keep(Create(Opcode::kDynamicUpdateSlice, operands));
}

Value* Builder::Pad(Value* operand, Value* padding, llvm::ArrayRef<int64_t> low,
                    llvm::ArrayRef<int64_t> high) {
  if (failed()) return nullptr;
  const llvm::SmallVector<int64_t> none(low.size(), 0);
  return Keep(Create(Opcode::kPad, {operand, padding},
                     {{"edge_padding_low", context_.I64Array(low)},
                      {"edge_padding_high", context_.I64Array(high)},
                      {"interior_padding", context_.I64Array(none)}}));
}

Value* Builder::Concatenate(llvm::ArrayRef<Value*> operands, int64_t dimension) {
  if (failed()) return nullptr;
  return Keep(Create(Opcode::kConcatenate, operands, {{"dimension", context_.I64(dimension)}}));
}

Value* Builder::DotGeneral(Value* left, Value* right, const DotDimensions& dimensions, Type element,
                           Attribute precision_config) {
  if (!IsTensor(Opcode::kDotGeneral, left) || !IsTensor(Opcode::kDotGeneral, right)) return nullptr;
  const Attribute numbers = context_.Struct(
      "stablehlo.dot",
      {{"lhs_batching_dimensions", context_.I64Array(dimensions.left_batch)},
       {"rhs_batching_dimensions", context_.I64Array(dimensions.right_batch)},
       {"lhs_contracting_dimensions", context_.I64Array(dimensions.left_contracted)},
       {"rhs_contracting_dimensions", context_.I64Array(dimensions.right_contracted)}});
  llvm::SmallVector<NamedAttribute> properties = {{"dot_dimension_numbers", numbers}};
  if (precision_config) properties.emplace_back("precision_config", precision_config);
  Value* product = Keep(Create(Opcode::kDotGeneral, {left, right}, properties));
  if (product != nullptr && element) {
    product->set_type(WithElement(context_, product->type(), element));
  }
  return product;
}

std::unique_ptr<Region> Builder::Body(
    llvm::ArrayRef<Type> arguments,
    llvm::function_ref<Values(Builder&, llvm::ArrayRef<Value*>)> fill) {
  auto region = std::make_unique<Region>();
  Block& block = region->AddBlock();
  Values values;
  for (const Type type : arguments) values.push_back(block.AddArgument(type, location_));
  Builder inside(context_, block, location_);
  inside.Return(fill(inside, values));
  if (inside.failed()) Fail(inside.status());
  return region;
}

Value* Builder::Reduce(Value* operand, Value* initial, llvm::ArrayRef<int64_t> dimensions,
                       Opcode reducer) {
  if (!IsTensor(Opcode::kReduce, operand)) return nullptr;
  const Type scalar = context_.TensorType({}, operand->type().element_type());
  Regions regions;
  regions.push_back(Body({scalar, scalar}, [&](Builder& inside, llvm::ArrayRef<Value*> values) {
    return Values{inside.Binary(reducer, values[0], values[1])};
  }));
  if (failed()) return nullptr;
  return Keep(Create(Opcode::kReduce, {operand, initial},
                     {{"dimensions", context_.I64Array(dimensions)}}, std::move(regions)));
}

Builder::Values Builder::While(
    llvm::ArrayRef<Value*> initial,
    llvm::function_ref<Value*(Builder&, llvm::ArrayRef<Value*>)> condition,
    llvm::function_ref<Values(Builder&, llvm::ArrayRef<Value*>)> body) {
  Values nothing(initial.size(), nullptr);
  if (failed()) return nothing;
  llvm::SmallVector<Type> types;
  for (const Value* value : initial) {
    if (value == nullptr) {
      Fail({ErrorCode::kInternal, "stablehlo.while: an initial value is null"});
      return nothing;
    }
    types.push_back(value->type());
  }
  Regions regions;
  regions.push_back(Body(types, [&](Builder& inside, llvm::ArrayRef<Value*> values) {
    return Values{condition(inside, values)};
  }));
  regions.push_back(Body(types, body));
  if (failed()) return nothing;
  return KeepAll(Create(Opcode::kWhile, initial, {}, std::move(regions)), initial.size());
}

Builder::Values Builder::OptimizationBarrier(llvm::ArrayRef<Value*> operands) {
  if (failed()) return Values(operands.size(), nullptr);
  return KeepAll(Create(Opcode::kOptimizationBarrier, operands), operands.size());
}

Builder::Values Builder::Call(const Op& function, llvm::ArrayRef<Value*> operands) {
  const Type type = function.Get("function_type").type();
  if (failed()) return Values(type.outputs().size(), nullptr);
  return KeepAll(CreateWithTypes(Opcode::kCall, type.outputs(), operands,
                                 {{"callee", context_.Symbol(SymbolName(function))}}),
                 type.outputs().size());
}

void Builder::Return(llvm::ArrayRef<Value*> operands) {
  if (failed()) return;
  if (StatusOr<Op*> op = Create(TerminatorFor(block_->parent()), operands); !op.ok()) {
    Fail(op.status());
  }
}

Op* Builder::Func(std::string_view name, llvm::ArrayRef<Type> inputs, llvm::ArrayRef<Type> outputs,
                  bool is_private) {
  if (failed()) return nullptr;
  const Type type = context_.FunctionType(inputs, outputs);
  Regions regions;
  regions.push_back(std::make_unique<Region>());
  StatusOr<Op*> op =
      Create(Opcode::kFunc, {},
             {{"sym_name", context_.String(name)},
              {"function_type", context_.TypeAttribute(type)},
              {"sym_visibility", context_.String(is_private ? "private" : "public")}},
             std::move(regions));
  if (!op.ok()) {
    Fail(op.status());
    return nullptr;
  }
  Block& entry = (*op)->region(0).AddBlock();
  for (const Type input : inputs) entry.AddArgument(input, location_);
  return *op;
}

}  // namespace plimsoll
