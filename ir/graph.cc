#include "ir/graph.h"

#include <cassert>
#include <cstring>
#include <utility>

#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

size_t Operand::index() const { return this - owner_->operand_uses().data(); }

void Operand::Set(Value* value) {
  if (value_ != nullptr) {
    (previous_ != nullptr ? previous_->next_ : value_->first_use_) = next_;
    (next_ != nullptr ? next_->previous_ : value_->last_use_) = previous_;
  }
  value_ = value;
  previous_ = nullptr;
  next_ = nullptr;
  if (value == nullptr) return;
  previous_ = value->last_use_;
  (previous_ != nullptr ? previous_->next_ : value->first_use_) = this;
  value->last_use_ = this;
}

Block* Value::block() const { return op_ != nullptr ? op_->block() : block_; }

Location Value::location() const { return op_ != nullptr ? op_->location() : location_; }

size_t Value::use_count() const {
  size_t count = 0;
  for (const Operand* use = first_use_; use != nullptr; use = use->next_use()) ++count;
  return count;
}

std::vector<Op*> Value::users() const {
  std::vector<Op*> users;
  for (const Operand* use = first_use_; use != nullptr; use = use->next_use()) {
    users.push_back(use->owner());
  }
  return users;
}

void Value::ReplaceAllUsesWith(Value* other) {
  if (other == this) return;
  while (first_use_ != nullptr) first_use_->Set(other);
}

std::unique_ptr<Op> Op::Create(std::string_view name, Location location,
                               llvm::ArrayRef<Type> result_types, llvm::ArrayRef<Value*> operands,
                               Attribute properties, Attribute attributes, size_t region_count) {
  std::unique_ptr<Op> op(new Op());
  op->opcode_ = FindOpcode(name);
  op->name_ = name;
  op->location_ = location;
  op->properties_ = properties;
  op->attributes_ = attributes;
  op->set_operands(operands);
  op->result_count_ = result_types.size();
  op->results_ = std::make_unique<Value[]>(result_types.size());
  for (size_t i = 0; i < result_types.size(); ++i) {
    op->results_[i].type_ = result_types[i];
    op->results_[i].op_ = op.get();
    op->results_[i].index_ = i;
  }
  op->regions_.reserve(region_count);
  for (size_t i = 0; i < region_count; ++i) op->AddRegion();
  return op;
}

Op::~Op() {
  // Regions first: what is inside may use this op's operands but never its results.
  regions_.clear();
}

Attribute Op::Get(std::string_view name) const {
  if (properties_) {
    if (const Attribute found = properties_.Find(name)) return found;
  }
  return attributes_ ? attributes_.Find(name) : Attribute();
}

void Op::SetProperty(Context& context, std::string_view name, Attribute value) {
  llvm::SmallVector<NamedAttribute> entries;
  if (properties_) {
    for (size_t i = 0; i < properties_.items().size(); ++i) {
      if (properties_.names()[i] != name) {
        entries.emplace_back(properties_.names()[i], properties_.items()[i]);
      }
    }
  }
  entries.emplace_back(name, value);
  properties_ = context.Dictionary(entries);
}

std::vector<Value*> Op::operands() const {
  std::vector<Value*> operands;
  operands.reserve(operand_count_);
  for (size_t i = 0; i < operand_count_; ++i) operands.push_back(operand(i));
  return operands;
}

void Op::set_operands(llvm::ArrayRef<Value*> operands) {
  auto fresh = std::make_unique<Operand[]>(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    fresh[i].owner_ = this;
    fresh[i].Set(operands[i]);
  }
  operands_ = std::move(fresh);
  operand_count_ = operands.size();
}

std::vector<Value*> Op::results() const {
  std::vector<Value*> results;
  results.reserve(result_count_);
  for (size_t i = 0; i < result_count_; ++i) results.push_back(result(i));
  return results;
}

std::vector<Type> Op::result_types() const {
  std::vector<Type> types;
  types.reserve(result_count_);
  for (size_t i = 0; i < result_count_; ++i) types.push_back(result(i)->type());
  return types;
}

Block* Op::entry_block() const {
  return regions_.empty() || region(0).empty() ? nullptr : &region(0).front();
}

Region& Op::AddRegion() { return AddRegion(std::make_unique<Region>()); }

Region& Op::AddRegion(std::unique_ptr<Region> region) {
  regions_.push_back(std::move(region));
  regions_.back()->parent_ = this;
  return *regions_.back();
}

Op* Op::parent() const { return block_ != nullptr ? block_->parent() : nullptr; }

bool Op::IsBefore(const Op& other) const {
  for (const Op* op = other.previous(); op != nullptr; op = op->previous()) {
    if (op == this) return true;
  }
  return false;
}

std::unique_ptr<Op> Op::Remove() {
  assert(block_ != nullptr);
  (previous_ != nullptr ? previous_->next_ : block_->first_) = next_;
  (next_ != nullptr ? next_->previous_ : block_->last_) = previous_;
  block_ = nullptr;
  previous_ = nullptr;
  next_ = nullptr;
  return std::unique_ptr<Op>(this);
}

void Op::Erase() {
  for (size_t i = 0; i < result_count_; ++i) assert(!results_[i].has_uses());
  Remove().reset();
}

std::unique_ptr<Op> Op::Clone(ValueMap& values) const {
  llvm::SmallVector<Value*> operands;
  for (size_t i = 0; i < operand_count_; ++i) {
    const auto found = values.find(operand(i));
    operands.push_back(found != values.end() ? found->second : operand(i));
  }
  std::unique_ptr<Op> copy =
      Create(name_, location_, result_types(), operands, properties_, attributes_, regions_.size());
  for (size_t i = 0; i < result_count_; ++i) values[result(i)] = copy->result(i);
  for (size_t i = 0; i < regions_.size(); ++i) copy->region(i).CloneFrom(region(i), values);
  return copy;
}

Block::~Block() {
  // From the end, so that uses go before what they use.
  while (last_ != nullptr) last_->Remove().reset();
}

Op* Block::parent() const { return region_ != nullptr ? region_->parent() : nullptr; }

Value* Block::AddArgument(Type type, Location location) {
  auto value = std::make_unique<Value>();
  value->type_ = type;
  value->block_ = this;
  value->index_ = arguments_.size();
  value->location_ = location;
  arguments_.push_back(std::move(value));
  return arguments_.back().get();
}

void Block::RemoveArgument(size_t index) {
  assert(!arguments_[index]->has_uses());
  arguments_.erase(arguments_.begin() + static_cast<std::ptrdiff_t>(index));
  for (size_t i = index; i < arguments_.size(); ++i) arguments_[i]->index_ = i;
}

Op* Block::InsertBefore(Op* position, std::unique_ptr<Op> op) {
  Op* inserted = op.release();
  assert(inserted->block_ == nullptr && (position == nullptr || position->block_ == this));
  inserted->block_ = this;
  inserted->next_ = position;
  inserted->previous_ = position != nullptr ? position->previous_ : last_;
  (inserted->previous_ != nullptr ? inserted->previous_->next_ : first_) = inserted;
  (position != nullptr ? position->previous_ : last_) = inserted;
  return inserted;
}

Region::~Region() {
  // A block may use values of an earlier one.
  while (!blocks_.empty()) blocks_.pop_back();
}

Block& Region::AddBlock() {
  blocks_.push_back(std::make_unique<Block>());
  blocks_.back()->region_ = this;
  return *blocks_.back();
}

void Region::TakeBlocks(Region& other) {
  for (std::unique_ptr<Block>& block : other.blocks_) {
    block->region_ = this;
    blocks_.push_back(std::move(block));
  }
  other.blocks_.clear();
}

void Region::CloneFrom(const Region& other, ValueMap& values) {
  for (size_t i = 0; i < other.block_count(); ++i) {
    const Block& from = other.block(i);
    Block& to = AddBlock();
    for (size_t a = 0; a < from.argument_count(); ++a) {
      values[from.argument(a)] =
          to.AddArgument(from.argument(a)->type(), from.argument(a)->location());
    }
    for (const Op& op : from) to.Append(op.Clone(values));
  }
}

Module::Module(std::shared_ptr<Context> context)
    : context_(std::move(context)),
      op_(Op::Create(GetOpInfo(Opcode::kModule).name, context_->UnknownLocation(), {}, {}, {}, {},
                     1)) {
  op_->region(0).AddBlock();
}

Module::~Module() = default;

std::unique_ptr<Module> Module::Clone() const {
  auto copy = std::make_unique<Module>(context_);
  ValueMap values;
  copy->op_ = op_->Clone(values);
  copy->resources_ = resources_;
  return copy;
}

std::vector<Op*> Module::functions() const {
  std::vector<Op*> functions;
  for (Op& op : body()) {
    if (op.Is(Opcode::kFunc)) functions.push_back(&op);
  }
  return functions;
}

Op* Module::FindFunction(std::string_view name) const {
  for (Op& op : body()) {
    if (op.Is(Opcode::kFunc) && SymbolName(op) == name) return &op;
  }
  return nullptr;
}

Op* Module::main() const {
  if (Op* named = FindFunction("main")) return named;
  const std::vector<Op*> all = functions();
  if (all.size() == 1) return all.front();
  Op* only_public = nullptr;
  for (Op* function : all) {
    const Attribute visibility = function->Get("sym_visibility");
    const bool is_private =
        visibility && visibility.Is(AttributeKind::kString) && visibility.text() == "private";
    if (is_private) continue;
    if (only_public != nullptr) return nullptr;
    only_public = function;
  }
  return only_public;
}

std::optional<int64_t> ConstantScalar(const Value& value) {
  const Op* op = value.defining_op();
  if (op == nullptr || !op->Is(Opcode::kConstant)) return std::nullopt;
  const Attribute constant = op->Get("value");
  const bool is_integer = constant.Is(AttributeKind::kDenseElements) &&
                          constant.type().rank() == 0 &&
                          constant.type().element_type().Is(TypeKind::kInteger);
  if (!is_integer) return std::nullopt;
  const llvm::ArrayRef<char> bytes = constant.bytes();
  if (bytes.size() == 1) return bytes[0];
  if (bytes.size() == sizeof(int64_t)) {
    int64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof(number));
    return number;
  }
  if (bytes.size() != sizeof(int32_t)) return std::nullopt;
  int32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

std::string_view SymbolName(const Op& op) {
  const Attribute name = op.Get("sym_name");
  return name && name.Is(AttributeKind::kString) ? name.text() : std::string_view();
}

std::string ArgumentName(const Value& argument) {
  const Location location = argument.location();
  if (location.Is(AttributeKind::kNameLocation)) return std::string(location.text());
  return StrCat("arg", argument.index());
}

void Walk(Op& op, llvm::function_ref<void(Op&)> visit) {
  visit(op);
  for (size_t r = 0; r < op.region_count(); ++r) {
    for (size_t b = 0; b < op.region(r).block_count(); ++b) {
      for (Op& inner : op.region(r).block(b)) Walk(inner, visit);
    }
  }
}

}  // namespace plimsoll
