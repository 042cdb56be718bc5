#include "analysis/properties_internal.h"

#include <cmath>
#include <utility>

#include "analysis/op_class.h"
#include "ir/elements.h"
#include "ir/opcode.h"
#include "ir/status.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Constants that are larger are not looked at: it would take longer than it is worth.
constexpr int64_t kMostElements = 1 << 18;

bool IsNumber(const Value& value, double number) { return ConstantNumber(value) == number; }

// The operand that the op gives back as it is; null if there is none.
Value* UnchangedOperand(const Op& op, const Value& result) {
  switch (op.opcode()) {
    case Opcode::kAdd:
      if (IsNumber(*op.operand(0), 0)) return op.operand(1);
      return IsNumber(*op.operand(1), 0) ? op.operand(0) : nullptr;
    case Opcode::kSubtract:
      return IsNumber(*op.operand(1), 0) ? op.operand(0) : nullptr;
    case Opcode::kMultiply:
      if (IsNumber(*op.operand(0), 1)) return op.operand(1);
      return IsNumber(*op.operand(1), 1) ? op.operand(0) : nullptr;
    case Opcode::kDivide:
      return IsNumber(*op.operand(1), 1) ? op.operand(0) : nullptr;
    case Opcode::kOptimizationBarrier:
      return op.operand(result.index());
    case Opcode::kPad: {
      const auto is_zero = [](int64_t count) { return count == 0; };
      const bool adds_nothing = llvm::all_of(op.Get("edge_padding_low").integers(), is_zero) &&
                                llvm::all_of(op.Get("edge_padding_high").integers(), is_zero) &&
                                llvm::all_of(op.Get("interior_padding").integers(), is_zero);
      return adds_nothing ? op.operand(0) : nullptr;
    }
    default:
      return nullptr;
  }
}

// How deep the ops are nested that make an index of an iota.
constexpr int kMostAffineDepth = 6;

// True if the integer is one of the type, for all indices below `size`.
bool Fits(const Affine& affine, int64_t size, Type tensor) {
  const Type element = tensor.element_type();
  const unsigned width = element.integer_width();
  const bool is_unsigned = HasUnsignedElements(tensor);
  const int bits = static_cast<int>(width < 63 ? width : 63) - (is_unsigned && width < 63 ? 0 : 1);
  const int64_t most = (int64_t{1} << bits) - 1;
  const int64_t least = is_unsigned ? 0 : -most - 1;
  const int64_t last = affine.offset + affine.factor * (size - 1);
  return affine.offset >= least && affine.offset <= most && last >= least && last <= most;
}

std::optional<Affine> AffineWithin(const IndexedValue& element, int depth) {
  if (depth == kMostAffineDepth) return std::nullopt;
  const IndexedValue peeled = Peel(element);
  const Type type = peeled.value->type();
  if (!type.element_type().Is(TypeKind::kInteger)) return std::nullopt;
  constexpr double kMostOffset = 1 << 30;
  if (const std::optional<double> number = ConstantNumber(*peeled.value)) {
    if (*number < -kMostOffset || *number > kMostOffset) return std::nullopt;
    return Affine{.offset = static_cast<int64_t>(*number)};
  }
  const Op* op = peeled.value->defining_op();
  if (op == nullptr) return std::nullopt;
  const auto operand = [&](size_t index) {
    return AffineWithin(OperandElement(*op, index, peeled), depth + 1);
  };
  int64_t size = 1;
  for (const int64_t one : type.shape()) size = one > size ? one : size;
  std::optional<Affine> affine;
  switch (op->opcode()) {
    case Opcode::kIota:
      affine = Affine{.index = peeled.indices[op->Get("iota_dimension").integer()], .factor = 1};
      break;
    case Opcode::kConvert:
      affine = operand(0);
      break;
    case Opcode::kAdd:
    case Opcode::kSubtract: {
      affine = operand(0);
      std::optional<Affine> second = operand(1);
      if (!affine || !second) return std::nullopt;
      if (op->Is(Opcode::kSubtract)) *second = {second->index, -second->factor, -second->offset};
      if (affine->factor != 0 && second->factor != 0) return std::nullopt;
      if (affine->factor == 0) std::swap(affine->index, second->index);
      affine->factor += second->factor;
      affine->offset += second->offset;
      break;
    }
    default:
      return std::nullopt;
  }
  // What has overflowed is something else.
  if (!affine || !Fits(*affine, size, type)) return std::nullopt;
  return affine;
}

}  // namespace

std::string Because(std::string_view reason, const Op& op) {
  const std::string source = SourceLine(op.location());
  return source.empty() ? std::string(reason) : StrCat(reason, " (", source, ")");
}

Value& Itself(const Value& value) {
  return value.is_argument() ? *value.block()->argument(value.index())
                             : *value.defining_op()->result(value.index());
}

bool IsFloat(Type tensor) { return tensor.element_type().Is(TypeKind::kFloat); }
bool IsComplexTensor(Type tensor) { return tensor.element_type().Is(TypeKind::kComplex); }

bool HasUnsignedElements(Type tensor) {
  const Type element = tensor.element_type();
  return element.Is(TypeKind::kInteger) &&
         (element.signedness() == Signedness::kUnsigned || element.integer_width() == 1);
}

bool IsWidening(Type from, Type to) {
  const Type narrow = from.element_type();
  const Type wide = to.element_type();
  if (narrow == wide) return true;
  return narrow.Is(TypeKind::kFloat) && wide.Is(TypeKind::kFloat) &&
         llvm::APFloatBase::isRepresentableBy(FloatSemantics(narrow.float_kind()),
                                              FloatSemantics(wide.float_kind()));
}

bool IsNaN(const Value& value) {
  const std::optional<double> number = ConstantNumber(value);
  return number && std::isnan(*number);
}

IndexedValue OperandElement(const Op& op, size_t operand, const IndexedValue& element) {
  Value* value = op.operand(operand);
  // A predicate or a limit may be one number for all elements.
  if (value->type().rank() == 0) return {.value = value, .indices = {}};
  return {.value = value, .indices = element.indices};
}

IndexedValue Peel(IndexedValue element) {
  while (true) {
    element = SeeThrough(std::move(element));
    const Op* op = element.value->defining_op();
    Value* operand = op == nullptr ? nullptr : UnchangedOperand(*op, *element.value);
    if (operand == nullptr) return element;
    element.value = operand;
  }
}

bool IsSameAlong(Properties& properties, const IndexedValue& element, int index) {
  return llvm::all_of(llvm::enumerate(element.indices), [&](const auto& entry) {
    return entry.value() != index || properties.IsConstantAlong(*element.value, entry.index());
  });
}

std::optional<MatrixElement> MatrixOf(const Value& value) {
  const llvm::ArrayRef<int64_t> shape = value.type().shape();
  const size_t rank = shape.size();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2] || shape[rank - 1] == 1) return std::nullopt;
  return MatrixElement{.element = AllIndices(Itself(value)),
                       .row = static_cast<int>(rank) - 2,
                       .column = static_cast<int>(rank) - 1};
}

IndexedValue Exchange(IndexedValue element, int a, int b) {
  for (int& index : element.indices) {
    if (index == a) {
      index = b;
    } else if (index == b) {
      index = a;
    }
  }
  return element;
}

MatrixSource SourceOf(const Value& value) {
  const size_t rank = value.type().rank();
  if (rank < 2 || !value.type().has_static_shape()) return {};
  const Op* op = value.defining_op();
  if (op != nullptr && op->Is(Opcode::kReshape) && op->operand(0)->type().rank() >= 2 &&
      op->operand(0)->type().shape().take_back(2).equals(value.type().shape().take_back(2))) {
    return {.value = op->operand(0), .is_transposed = false};
  }
  const IndexedValue whole = AllIndices(Itself(value));
  const int row = whole.indices[rank - 2];
  const int column = whole.indices[rank - 1];
  if (row == kNoIndex || column == kNoIndex) return {};
  MatrixSource source;
  for (std::optional<IndexedValue> before = SeeThroughOne(whole); before;
       before = SeeThroughOne(*before)) {
    const size_t rank_before = before->indices.size();
    if (rank_before < 2) break;
    const int last_but_one = before->indices[rank_before - 2];
    const int last = before->indices[rank_before - 1];
    if (last_but_one == row && last == column) {
      source = {.value = before->value, .is_transposed = false};
    } else if (last_but_one == column && last == row) {
      source = {.value = before->value, .is_transposed = true};
    }
  }
  return source;
}

std::optional<std::vector<double>> ElementsOf(const Value& value) {
  const std::optional<int64_t> count = value.type().element_count();
  if (!count || *count > kMostElements) return std::nullopt;
  if (const std::optional<double> number = ConstantNumber(value)) {
    return std::vector<double>(*count, *number);
  }
  const Op* op = value.defining_op();
  if (op == nullptr || !op->Is(Opcode::kConstant)) return std::nullopt;
  const Attribute constant = op->Get("value");
  const Type element = value.type().element_type();
  const std::optional<int64_t> size = element.bytes_per_element();
  if (!constant.Is(AttributeKind::kDenseElements) || !size) return std::nullopt;
  const llvm::ArrayRef<char> bytes = constant.bytes();
  if (static_cast<int64_t>(bytes.size()) != *count * *size) return std::nullopt;
  std::vector<double> elements;
  for (int64_t i = 0; i < *count; ++i) {
    const std::optional<double> number = DecodeElement(element, bytes.slice(i * *size, *size));
    if (!number) return std::nullopt;
    elements.push_back(*number);
  }
  return elements;
}

llvm::SmallVector<Value*> MovedFrom(const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr) return {};
  switch (op->opcode()) {
    case Opcode::kBroadcastInDim:
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return {op->operand(0)};
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kPad:
      return {op->operand(0), op->operand(1)};
    case Opcode::kConcatenate:
      return llvm::to_vector(op->operands());
    case Opcode::kSelect: {
      llvm::SmallVector<Value*> branches = {op->operand(1), op->operand(2)};
      llvm::erase_if(branches, [](const Value* branch) { return IsNaN(*branch); });
      return branches;
    }
    case Opcode::kOptimizationBarrier:
    case Opcode::kSort:
      return {op->operand(value.index())};
    default:
      return {};
  }
}

bool IsPlainSum(const Op& op) {
  return op.Is(Opcode::kReduce) && op.result_count() == 1 && BodyOf(op) == Opcode::kAdd &&
         IsNumber(*op.operand(1), 0);
}

DotElements ElementsOfDot(const Op& dot, const IndexedValue& result, int& next_index) {
  const Attribute numbers = dot.Get("dot_dimension_numbers");
  const llvm::ArrayRef<int64_t> left_batch = numbers.Find("lhs_batching_dimensions").integers();
  const llvm::ArrayRef<int64_t> right_batch = numbers.Find("rhs_batching_dimensions").integers();
  const llvm::ArrayRef<int64_t> left_summed = numbers.Find("lhs_contracting_dimensions").integers();
  const llvm::ArrayRef<int64_t> right_summed =
      numbers.Find("rhs_contracting_dimensions").integers();
  DotElements elements = {.left = {.value = dot.operand(0), .indices = {}},
                          .right = {.value = dot.operand(1), .indices = {}},
                          .summed = {}};
  const llvm::ArrayRef<int64_t> left_shape = dot.operand(0)->type().shape();
  elements.left.indices.assign(left_shape.size(), kNoIndex);
  elements.right.indices.assign(dot.operand(1)->type().rank(), kNoIndex);
  size_t next = 0;
  for (const auto [left, right] : llvm::zip_equal(left_batch, right_batch)) {
    elements.left.indices[left] = result.indices[next];
    elements.right.indices[right] = result.indices[next++];
  }
  const auto fill_free = [&](IndexedValue& operand, llvm::ArrayRef<int64_t> batch,
                             llvm::ArrayRef<int64_t> summed) {
    for (size_t d = 0; d < operand.indices.size(); ++d) {
      const auto dimension = static_cast<int64_t>(d);
      if (llvm::is_contained(batch, dimension) || llvm::is_contained(summed, dimension)) continue;
      operand.indices[d] = result.indices[next++];
    }
  };
  fill_free(elements.left, left_batch, left_summed);
  fill_free(elements.right, right_batch, right_summed);
  for (const auto [left, right] : llvm::zip_equal(left_summed, right_summed)) {
    if (left_shape[left] == 1) continue;
    elements.left.indices[left] = next_index;
    elements.right.indices[right] = next_index;
    elements.summed.push_back(next_index++);
  }
  return elements;
}

IndexedValue ElementOfReduced(const Op& reduce, const IndexedValue& result, int& next_index,
                              llvm::SmallVectorImpl<int>& summed) {
  const llvm::ArrayRef<int64_t> dimensions = reduce.Get("dimensions").integers();
  IndexedValue element = {.value = reduce.operand(0), .indices = {}};
  size_t next = 0;
  for (const auto [d, size] : llvm::enumerate(element.value->type().shape())) {
    if (!llvm::is_contained(dimensions, static_cast<int64_t>(d))) {
      element.indices.push_back(result.indices[next++]);
    } else if (size == 1) {
      element.indices.push_back(kNoIndex);
    } else {
      element.indices.push_back(next_index);
      summed.push_back(next_index++);
    }
  }
  return element;
}

std::optional<MatrixProduct> MatrixProductOf(const Op& op) {
  if (!op.Is(Opcode::kDotGeneral)) return std::nullopt;
  const IndexedValue result = AllIndices(*op.result(0));
  const size_t rank = result.indices.size();
  int next_index = kFirstNewIndex;
  DotElements elements = ElementsOfDot(op, result, next_index);
  if (rank < 2 || elements.summed.size() != 1) return std::nullopt;
  return MatrixProduct{.left = std::move(elements.left),
                       .right = std::move(elements.right),
                       .row = result.indices[rank - 2],
                       .summed = elements.summed[0],
                       .column = result.indices[rank - 1]};
}

std::optional<Affine> AffineOf(const IndexedValue& element) { return AffineWithin(element, 0); }

}  // namespace plimsoll
