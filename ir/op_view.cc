#include "ir/op_view.h"

#include <algorithm>

#include "ir/dimensions.h"

namespace plimsoll {
namespace {

std::string Counted(size_t count, std::string_view noun) {
  return StrCat(count, " ", noun, count == 1 ? "" : "s");
}

bool IsIntegerList(Attribute attribute) {
  return attribute.Is(AttributeKind::kDenseArray) && attribute.type().IsInteger(64);
}

// Short, however long the attribute's text would be.
std::string Describe(Attribute attribute) {
  if (!attribute) return "nothing";
  switch (attribute.kind()) {
    case AttributeKind::kDenseElements:
    case AttributeKind::kDenseResource:
      return StrCat("a constant of type ", attribute.type().ToString());
    case AttributeKind::kStruct:
      return StrCat("#", attribute.text());
    case AttributeKind::kInteger:
    case AttributeKind::kFloat:
    case AttributeKind::kType:
    case AttributeKind::kEnum:
      return attribute.ToString();
    case AttributeKind::kString:
      return "a string";
    case AttributeKind::kArray:
      return StrCat("an array of ", Counted(attribute.items().size(), "attribute"));
    case AttributeKind::kDenseArray:
      return StrCat("a list of ", attribute.type().ToString());
    default:
      return "another kind of attribute";
  }
}

}  // namespace

Status OpView::ExpectOperands(size_t count) const {
  if (operands_.size() == count) return OkStatus();
  return Error("expected ", Counted(count, "operand"), ", found ", operands_.size());
}

Status OpView::ExpectOperandsAtLeast(size_t count) const {
  if (operands_.size() >= count) return OkStatus();
  return Error("expected at least ", Counted(count, "operand"), ", found ", operands_.size());
}

StatusOr<Type> OpView::Tensor(size_t index) const {
  if (index >= operands_.size()) {
    return Error("expected at least ", Counted(index + 1, "operand"), ", found ", operands_.size());
  }
  const Type type = operands_[index];
  if (type.Is(TypeKind::kTensor)) return type;
  return Error("operand ", index, " must be a ranked tensor, found ", type.ToString());
}

Status OpView::ExpectTensors(size_t first) const {
  for (size_t i = first; i < operands_.size(); ++i) {
    if (StatusOr<Type> tensor = Tensor(i); !tensor.ok()) return tensor.status();
  }
  return OkStatus();
}

Status OpView::ExpectIndices(size_t first) const {
  for (size_t i = first; i < operands_.size(); ++i) {
    ASSIGN_OR_RETURN(const Type index, Tensor(i));
    if (index.rank() != 0 || !index.element_type().Is(TypeKind::kInteger)) {
      return Error("operand ", i, " must be a scalar integer, found ", index.ToString());
    }
    if (index.element_type() != operands_[first].element_type()) {
      return Error("operands ", first, " and ", i, " must have the same element type, found ",
                   operands_[first].ToString(), " and ", index.ToString());
    }
  }
  return OkStatus();
}

Status OpView::ExpectCompatibleElements(size_t a, size_t b) const {
  ASSIGN_OR_RETURN(const Type first, Tensor(a));
  ASSIGN_OR_RETURN(const Type second, Tensor(b));
  if (AreCompatibleElements(first.element_type(), second.element_type())) return OkStatus();
  return Error("operands ", a, " and ", b, " must have the same element type, found ",
               first.ToString(), " and ", second.ToString());
}

Attribute OpView::Find(std::string_view name) const {
  return properties_.Is(AttributeKind::kDictionary) ? properties_.Find(name) : Attribute();
}

bool OpView::HasFlag(std::string_view name) const {
  const Attribute flag = Find(name);
  return flag && !(flag.Is(AttributeKind::kInteger) && flag.integer() == 0);
}

StatusOr<int64_t> OpView::Integer(std::string_view name) const {
  const Attribute attribute = Find(name);
  if (!attribute) return Error("attribute ", name, " is missing");
  if (attribute.Is(AttributeKind::kInteger)) return attribute.integer();
  return Error("attribute ", name, " must be an integer, found ", Describe(attribute));
}

StatusOr<int64_t> OpView::IntegerOr(std::string_view name, int64_t absent) const {
  return Find(name) ? Integer(name) : StatusOr<int64_t>(absent);
}

StatusOr<llvm::ArrayRef<int64_t>> OpView::Integers(std::string_view name) const {
  const Attribute attribute = Find(name);
  if (!attribute) return Error("attribute ", name, " is missing");
  if (IsIntegerList(attribute)) return attribute.integers();
  return Error("attribute ", name, " must be a list of i64, found ", Describe(attribute));
}

StatusOr<llvm::ArrayRef<int64_t>> OpView::IntegersOfRank(std::string_view name, size_t rank) const {
  ASSIGN_OR_RETURN(const llvm::ArrayRef<int64_t> numbers, Integers(name));
  if (numbers.size() == rank) return numbers;
  return Error(name, " must have ", Counted(rank, "number"), ", one for each dimension, found ",
               ListText(numbers));
}

StatusOr<llvm::ArrayRef<int64_t>> OpView::IntegersOrEmpty(std::string_view name) const {
  return Find(name) ? Integers(name) : StatusOr<llvm::ArrayRef<int64_t>>(llvm::ArrayRef<int64_t>());
}

StatusOr<size_t> OpView::DimensionNumber(std::string_view name, size_t rank) const {
  ASSIGN_OR_RETURN(const int64_t number, Integer(name));
  RETURN_IF_ERROR(ExpectDimensions(name, number, rank));
  return static_cast<size_t>(number);
}

StatusOr<std::string_view> OpView::Enumerator(std::string_view name,
                                              std::string_view mnemonic) const {
  const Attribute attribute = Find(name);
  if (!attribute) return Error("attribute ", name, " is missing");
  if (attribute.Is(AttributeKind::kEnum) && attribute.text() == mnemonic) {
    return attribute.enumerator();
  }
  return Error("attribute ", name, " must be one of ", mnemonic, ", found ", Describe(attribute));
}

StatusOr<Attribute> OpView::Struct(std::string_view name, std::string_view mnemonic) const {
  const Attribute attribute = Find(name);
  if (!attribute) return Error("attribute ", name, " is missing");
  if (attribute.Is(AttributeKind::kStruct) && attribute.text() == mnemonic) return attribute;
  return Error("attribute ", name, " must be #", mnemonic, ", found ", Describe(attribute));
}

StatusOr<llvm::ArrayRef<int64_t>> OpView::IntegersField(Attribute structure,
                                                        std::string_view field) const {
  const Attribute value = structure.Find(field);
  if (IsIntegerList(value)) return value.integers();
  return Error(field, " of #", structure.text(), " must be a list of i64, found ", Describe(value));
}

StatusOr<int64_t> OpView::IntegerField(Attribute structure, std::string_view field) const {
  const Attribute value = structure.Find(field);
  if (value.Is(AttributeKind::kInteger)) return value.integer();
  return Error(field, " of #", structure.text(), " must be an integer, found ", Describe(value));
}

Status OpView::ExpectDimensions(std::string_view what, llvm::ArrayRef<int64_t> numbers,
                                size_t rank) const {
  llvm::SmallVector<bool> is_named(rank, false);
  for (const int64_t number : numbers) {
    if (number < 0 || static_cast<uint64_t>(number) >= rank) {
      return Error(what, " names dimension ", number, " of a tensor with ",
                   Counted(rank, "dimension"));
    }
    if (is_named[number]) return Error(what, " names dimension ", number, " twice");
    is_named[number] = true;
  }
  return OkStatus();
}

Status OpView::ExpectSorted(std::string_view what, llvm::ArrayRef<int64_t> numbers) const {
  if (std::is_sorted(numbers.begin(), numbers.end())) return OkStatus();
  return Error(what, " must be sorted, found ", ListText(numbers));
}

Status OpView::ExpectRegions(size_t count) const {
  if (regions_.size() == count) return OkStatus();
  return Error("expected ", Counted(count, "region"), ", found ", regions_.size());
}

bool OpView::HasBody(size_t region) const {
  return region < regions_.size() && !regions_[region]->empty();
}

StatusOr<const Block*> OpView::BodyOf(size_t region) const {
  if (region >= regions_.size()) return Error("region ", region, " is missing");
  if (regions_[region]->empty()) return Error("region ", region, " is empty");
  return &regions_[region]->front();
}

StatusOr<std::vector<Type>> OpView::ArgumentTypes(size_t region) const {
  ASSIGN_OR_RETURN(const Block* body, BodyOf(region));
  std::vector<Type> types;
  for (size_t i = 0; i < body->argument_count(); ++i) types.push_back(body->argument(i)->type());
  return types;
}

StatusOr<std::vector<Type>> OpView::ReturnedTypes(size_t region) const {
  ASSIGN_OR_RETURN(const Block* body, BodyOf(region));
  const Op* last = body->last();
  if (last == nullptr) return Error("region ", region, " returns nothing: its block is empty");
  std::vector<Type> types;
  for (size_t i = 0; i < last->operand_count(); ++i) {
    if (last->operand(i) == nullptr) return Error("region ", region, " returns a null value");
    types.push_back(last->operand(i)->type());
  }
  return types;
}

}  // namespace plimsoll
