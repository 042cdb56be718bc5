#include "analysis/constant_integers.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "analysis/op_class.h"
#include "ir/elements.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

namespace plimsoll {
namespace {

// Indices are few; more than this is data.
constexpr int64_t kMostIntegers = 4096;

std::optional<std::vector<int64_t>> IntegersOfConstant(const Op& op) {
  const Attribute constant = op.Get("value");
  const Type element = op.result(0)->type().element_type();
  const std::optional<int64_t> width = element.bytes_per_element();
  if (!constant.Is(AttributeKind::kDenseElements) || !width) return std::nullopt;
  const size_t count = constant.is_splat() ? 1 : constant.bytes().size() / *width;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<double> number =
        DecodeElement(element, constant.bytes().slice(i * *width, *width));
    if (!number) return std::nullopt;
    numbers.push_back(static_cast<int64_t>(*number));
  }
  if (constant.is_splat()) numbers.resize(*op.result(0)->type().element_count(), numbers.front());
  return numbers;
}

bool Compare(std::string_view direction, int64_t a, int64_t b) {
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  if (direction == "GE") return a >= b;
  return (direction == "EQ") == (a == b);
}

// What an elementwise op gives for one element; nothing for ops that indices are not made by.
std::optional<int64_t> Apply(const Op& op, llvm::ArrayRef<int64_t> numbers) {
  int64_t result = 0;
  switch (op.opcode()) {
    case Opcode::kAdd:
      if (llvm::AddOverflow(numbers[0], numbers[1], result)) return std::nullopt;
      return result;
    case Opcode::kSubtract:
      if (llvm::SubOverflow(numbers[0], numbers[1], result)) return std::nullopt;
      return result;
    case Opcode::kMultiply:
      if (llvm::MulOverflow(numbers[0], numbers[1], result)) return std::nullopt;
      return result;
    case Opcode::kSelect:
      return numbers[0] != 0 ? numbers[1] : numbers[2];
    case Opcode::kClamp:
      return std::min(std::max(numbers[1], numbers[0]), numbers[2]);
    case Opcode::kCompare:
      return Compare(op.Get("comparison_direction").enumerator(), numbers[0], numbers[1]) ? 1 : 0;
    case Opcode::kConvert:
      return numbers[0];
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<int64_t>> IntegersOfElementwise(const Op& op, size_t count) {
  std::vector<std::vector<int64_t>> operands;
  for (const Value* operand : op.operands()) {
    std::optional<std::vector<int64_t>> numbers = ConstantIntegers(*operand);
    if (!numbers) return std::nullopt;
    if (numbers->size() == 1) numbers->resize(count, numbers->front());
    operands.push_back(*std::move(numbers));
  }
  const Type element = op.result(0)->type().element_type();
  std::vector<int64_t> results;
  for (size_t i = 0; i < count; ++i) {
    llvm::SmallVector<int64_t> numbers;
    for (const std::vector<int64_t>& operand : operands) numbers.push_back(operand[i]);
    const std::optional<int64_t> result = Apply(op, numbers);
    // Where an integer would wrap around, nothing is known.
    if (!result || !EncodeElement(element, *result)) return std::nullopt;
    results.push_back(*result);
  }
  return results;
}

}  // namespace

std::optional<std::vector<int64_t>> ConstantIntegers(const Value& value) {
  const Op* op = value.defining_op();
  const Type type = value.type();
  if (op == nullptr || !type.Is(TypeKind::kTensor) || !type.has_static_shape() ||
      !type.element_type().Is(TypeKind::kInteger)) {
    return std::nullopt;
  }
  const int64_t count = type.element_count().value_or(0);
  if (count < 1 || count > kMostIntegers) return std::nullopt;
  if (op->Is(Opcode::kConstant)) return IntegersOfConstant(*op);
  if (op->Is(Opcode::kIota) && type.rank() == 1) {
    std::vector<int64_t> numbers(count);
    for (int64_t i = 0; i < count; ++i) numbers[i] = i;
    return numbers;
  }
  if (op->Is(Opcode::kSlice) && type.rank() == 1) {
    const std::optional<std::vector<int64_t>> all = ConstantIntegers(*op->operand(0));
    if (!all) return std::nullopt;
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < count; ++i) {
      numbers.push_back((*all)[static_cast<size_t>(op->Get("start_indices").integers()[0] +
                                                   i * op->Get("strides").integers()[0])]);
    }
    return numbers;
  }
  const bool is_broadcast_number =
      op->Is(Opcode::kBroadcastInDim) && op->operand(0)->type().element_count() == 1;
  if (IsReshape(*op) || is_broadcast_number) {
    std::optional<std::vector<int64_t>> numbers = ConstantIntegers(*op->operand(0));
    if (numbers && is_broadcast_number) numbers->resize(count, numbers->front());
    return numbers;
  }
  if (MapsElements(*op)) return IntegersOfElementwise(*op, count);
  return std::nullopt;
}

}  // namespace plimsoll
