#include "stablehlo/text_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "stablehlo/attribute_reader.h"
#include "stablehlo/inherent_attributes.h"
#include "stablehlo/limits.h"
#include "stablehlo/text_budget.h"
#include "stablehlo/text_cursor.h"

namespace plimsoll {
namespace {

// The values that names stand for, with the changes of each region undone when it ends.
class NameScope {
 public:
  using Group = llvm::SmallVector<Value*, 1>;

  const Group* Find(std::string_view name) const {
    const auto found = groups_.find(name);
    return found == groups_.end() || found->second.empty() ? nullptr : &found->second;
  }
  void Define(std::string_view name, Group group) {
    Group& slot = groups_[name];
    undo_.emplace_back(name, std::move(slot));
    slot = std::move(group);
  }
  size_t Mark() const { return undo_.size(); }
  void Restore(size_t mark) {
    while (undo_.size() > mark) {
      groups_[undo_.back().first] = std::move(undo_.back().second);
      undo_.pop_back();
    }
  }

 private:
  llvm::StringMap<Group> groups_;
  std::vector<std::pair<std::string_view, Group>> undo_;
};

struct ResultName {
  std::string_view name;
  size_t count;
  size_t position;
};

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view name, std::shared_ptr<Context> context)
      : cursor_(text, name),
        context_(std::move(context)),
        attributes_(*context_, cursor_),
        budget_(text.size()) {}

  StatusOr<std::unique_ptr<Module>> Read();

 private:
  StatusOr<std::unique_ptr<Op>> ReadOp();
  StatusOr<std::vector<ResultName>> ReadResultNames();
  StatusOr<std::vector<Value*>> ReadOperands();
  StatusOr<std::unique_ptr<Region>> ReadRegion();
  Status ReadBlockHeader(Block& block);
  Status ReadOps(Block& block);
  Status CheckOperandTypes(llvm::ArrayRef<Value*> operands, Type signature, size_t position);
  Status DefineResults(llvm::ArrayRef<ResultName> names, Op& op, size_t position);
  Status ReadResources(Module& module);
  Status ReadResourceGroup(bool is_external, Module& module);

  TextCursor cursor_;
  std::shared_ptr<Context> context_;
  AttributeReader attributes_;
  WeightBudget budget_;
  NameScope* scope_ = nullptr;
  uint32_t depth_ = 0;
};

StatusOr<std::unique_ptr<Module>> TextReader::Read() {
  RETURN_IF_ERROR(attributes_.FindAliases());
  auto module = std::make_unique<Module>(context_);
  NameScope scope;
  scope_ = &scope;
  std::vector<std::unique_ptr<Op>> ops;
  while (!cursor_.AtEnd()) {
    const char c = cursor_.Peek();
    if (c == '#' || c == '!') {
      RETURN_IF_ERROR(attributes_.SkipAliasDefinition());
    } else if (cursor_.Consume("{-#")) {
      RETURN_IF_ERROR(ReadResources(*module));
    } else {
      ASSIGN_OR_RETURN(ops.emplace_back(), ReadOp());
    }
  }
  if (ops.empty()) return cursor_.Error("the text holds no program");
  if (ops.size() == 1 && ops[0]->Is(Opcode::kModule)) {
    if (ops[0]->region_count() != 1 || ops[0]->region(0).block_count() != 1) {
      return cursor_.ErrorAt(0, "builtin.module must have one region with one block");
    }
    module->set_op(std::move(ops[0]));
  } else {
    // As MLIR does: a text that is not one module is the body of one.
    for (std::unique_ptr<Op>& op : ops) module->body().Append(std::move(op));
  }
  return module;
}

StatusOr<std::vector<ResultName>> TextReader::ReadResultNames() {
  std::vector<ResultName> names;
  while (cursor_.Peek() == '%') {
    const size_t position = cursor_.position();
    RETURN_IF_ERROR(cursor_.Expect("%"));
    const std::string_view name = cursor_.TakeSuffix();
    if (name.empty()) return cursor_.Unexpected("a value's name");
    size_t count = 1;
    if (cursor_.Consume(":")) {
      ASSIGN_OR_RETURN(count, cursor_.TakeUnsigned());
    }
    names.push_back({name, count, position});
    if (!cursor_.Consume(",")) break;
  }
  if (!names.empty()) RETURN_IF_ERROR(cursor_.Expect("="));
  return names;
}

StatusOr<std::vector<Value*>> TextReader::ReadOperands() {
  RETURN_IF_ERROR(cursor_.Expect("("));
  std::vector<Value*> operands;
  while (!cursor_.Consume(")")) {
    if (!operands.empty()) RETURN_IF_ERROR(cursor_.Expect(","));
    const size_t position = cursor_.position();
    RETURN_IF_ERROR(cursor_.Expect("%"));
    const std::string_view name = cursor_.TakeSuffix();
    const NameScope::Group* group = scope_->Find(name);
    if (group == nullptr) {
      return cursor_.ErrorAt(position, StrCat("the value `%", name, "` is not defined here"));
    }
    size_t index = 0;
    if (cursor_.ConsumeHere("#")) {
      ASSIGN_OR_RETURN(index, cursor_.TakeUnsigned());
    }
    if (index >= group->size()) {
      return cursor_.ErrorAt(
          position, StrCat("`%", name, "` has ", group->size(), " values, not ", index + 1));
    }
    operands.push_back((*group)[index]);
  }
  return operands;
}

Status TextReader::CheckOperandTypes(llvm::ArrayRef<Value*> operands, Type signature,
                                     size_t position) {
  if (signature.inputs().size() != operands.size()) {
    return cursor_.ErrorAt(position,
                           StrCat("the op has ", operands.size(), " operands, but its type names ",
                                  signature.inputs().size()));
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]->type() != signature.inputs()[i]) {
      return cursor_.ErrorAt(position,
                             StrCat("operand ", i, " has type ", operands[i]->type().ToString(),
                                    ", but is used as ", signature.inputs()[i].ToString()));
    }
  }
  return OkStatus();
}

Status TextReader::DefineResults(llvm::ArrayRef<ResultName> names, Op& op, size_t position) {
  if (names.empty() && op.result_count() == 0) return OkStatus();
  size_t next = 0;
  for (const ResultName& result : names) {
    if (result.count == 0 || result.count > op.result_count() - next) {
      return cursor_.ErrorAt(position, StrCat("the op has ", op.result_count(),
                                              " results, which its names do not match"));
    }
    NameScope::Group group;
    for (size_t i = 0; i < result.count; ++i) group.push_back(op.result(next++));
    scope_->Define(result.name, std::move(group));
  }
  // An op whose results nobody uses may go without names.
  if (!names.empty() && next != op.result_count()) {
    return cursor_.ErrorAt(
        position, StrCat("the op has ", op.result_count(), " results, but ", next, " names"));
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<Op>> TextReader::ReadOp() {
  ASSIGN_OR_RETURN(const std::vector<ResultName> names, ReadResultNames());
  const size_t position = cursor_.position();
  if (cursor_.Peek() != '"') {
    return cursor_.Unexpected("an op in generic form, such as \"stablehlo.add\"(%0, %1)");
  }
  ASSIGN_OR_RETURN(const std::string written_name, cursor_.TakeString());
  if (written_name.empty()) return cursor_.ErrorAt(position, "an op's name is empty");
  const std::string_view name = context_->Intern(written_name);
  const Opcode opcode = FindOpcode(name);
  ASSIGN_OR_RETURN(const std::vector<Value*> operands, ReadOperands());
  if (cursor_.Peek() == '[') {
    return cursor_.ErrorAt(
        cursor_.position(),
        StrCat("not understood: ", name, " jumps to other blocks, which StableHLO does not have"),
        ErrorCode::kNotUnderstood);
  }
  Attribute properties;
  if (cursor_.Consume("<")) {
    ASSIGN_OR_RETURN(properties, attributes_.ReadDictionary());
    RETURN_IF_ERROR(cursor_.Expect(">"));
  }
  std::vector<std::unique_ptr<Region>> regions;
  if (cursor_.Consume("(")) {
    // What is inside these ops sees no values from outside.
    const bool is_isolated = opcode == Opcode::kFunc || opcode == Opcode::kModule;
    NameScope inner;
    NameScope* const outer = scope_;
    if (is_isolated) scope_ = &inner;
    do {
      ASSIGN_OR_RETURN(regions.emplace_back(), ReadRegion());
    } while (cursor_.Consume(","));
    scope_ = outer;
    RETURN_IF_ERROR(cursor_.Expect(")"));
  }
  Attribute attributes;
  if (cursor_.Peek() == '{') {
    ASSIGN_OR_RETURN(attributes, attributes_.ReadDictionary());
  }
  RETURN_IF_ERROR(cursor_.Expect(":"));
  ASSIGN_OR_RETURN(const Type signature, attributes_.ReadFunctionType());
  RETURN_IF_ERROR(CheckOperandTypes(operands, signature, position));
  ASSIGN_OR_RETURN(Location location, attributes_.ReadOptionalLocation());
  if (!location) location = context_->UnknownLocation();

  MoveInherentAttributes(*context_, opcode, properties, attributes);
  const bool has_properties = properties && !properties.items().empty();
  const bool has_attributes = attributes && !attributes.items().empty();
  std::unique_ptr<Op> op = Op::Create(name, location, signature.outputs(), operands,
                                      has_properties ? properties : Attribute(),
                                      has_attributes ? attributes : Attribute());
  for (std::unique_ptr<Region>& region : regions) op->AddRegion(std::move(region));
  if (!budget_.Spend(*op)) {
    return cursor_.ErrorAt(position, "the program's attributes stand for too much text",
                           ErrorCode::kTooLarge);
  }
  RETURN_IF_ERROR(DefineResults(names, *op, position));
  return op;
}

StatusOr<std::unique_ptr<Region>> TextReader::ReadRegion() {
  RETURN_IF_ERROR(cursor_.Expect("{"));
  if (++depth_ > kMaxRegionDepth) {
    return cursor_.ErrorAt(cursor_.position(),
                           StrCat("regions are nested more than ", kMaxRegionDepth, " levels deep"),
                           ErrorCode::kTooLarge);
  }
  const size_t mark = scope_->Mark();
  auto region = std::make_unique<Region>();
  if (cursor_.Peek() != '}' && cursor_.Peek() != '^') RETURN_IF_ERROR(ReadOps(region->AddBlock()));
  while (cursor_.Peek() == '^') {
    Block& block = region->AddBlock();
    RETURN_IF_ERROR(ReadBlockHeader(block));
    RETURN_IF_ERROR(ReadOps(block));
  }
  RETURN_IF_ERROR(cursor_.Expect("}"));
  scope_->Restore(mark);
  --depth_;
  return region;
}

Status TextReader::ReadBlockHeader(Block& block) {
  RETURN_IF_ERROR(cursor_.Expect("^"));
  cursor_.TakeSuffix();
  if (cursor_.Consume("(")) {
    while (!cursor_.Consume(")")) {
      if (block.argument_count() != 0) RETURN_IF_ERROR(cursor_.Expect(","));
      RETURN_IF_ERROR(cursor_.Expect("%"));
      const std::string_view name = cursor_.TakeSuffix();
      RETURN_IF_ERROR(cursor_.Expect(":"));
      ASSIGN_OR_RETURN(const Type type, attributes_.ReadType());
      ASSIGN_OR_RETURN(Location location, attributes_.ReadOptionalLocation());
      if (!location) location = context_->UnknownLocation();
      scope_->Define(name, {block.AddArgument(type, location)});
    }
  }
  return cursor_.Expect(":");
}

Status TextReader::ReadOps(Block& block) {
  while (cursor_.Peek() != '}' && cursor_.Peek() != '^') {
    ASSIGN_OR_RETURN(std::unique_ptr<Op> op, ReadOp());
    block.Append(std::move(op));
  }
  return OkStatus();
}

// {-# dialect_resources: { builtin: { key: "0x..." } }, external_resources: {...} #-}
Status TextReader::ReadResources(Module& module) {
  for (bool first = true; !cursor_.Consume("#-}"); first = false) {
    if (!first) RETURN_IF_ERROR(cursor_.Expect(","));
    const bool is_external = cursor_.ConsumeWord("external_resources");
    if (!is_external && !cursor_.ConsumeWord("dialect_resources")) {
      return cursor_.Unexpected("`dialect_resources` or `external_resources`");
    }
    RETURN_IF_ERROR(cursor_.Expect(":"));
    RETURN_IF_ERROR(cursor_.Expect("{"));
    for (bool first_group = true; !cursor_.Consume("}"); first_group = false) {
      if (!first_group) RETURN_IF_ERROR(cursor_.Expect(","));
      RETURN_IF_ERROR(ReadResourceGroup(is_external, module));
    }
  }
  return OkStatus();
}

Status TextReader::ReadResourceGroup(bool is_external, Module& module) {
  const auto read_key = [&]() -> StatusOr<std::string_view> {
    if (cursor_.Peek() == '"') {
      ASSIGN_OR_RETURN(const std::string text, cursor_.TakeString());
      return context_->Intern(text);
    }
    const std::string_view key = cursor_.TakeIdentifier();
    if (key.empty()) return cursor_.Unexpected("a resource's key");
    return context_->Intern(key);
  };
  ASSIGN_OR_RETURN(const std::string_view group, read_key());
  RETURN_IF_ERROR(cursor_.Expect(":"));
  RETURN_IF_ERROR(cursor_.Expect("{"));
  for (bool first = true; !cursor_.Consume("}"); first = false) {
    if (!first) RETURN_IF_ERROR(cursor_.Expect(","));
    Resource resource;
    resource.group = group;
    resource.is_external = is_external;
    ASSIGN_OR_RETURN(resource.key, read_key());
    RETURN_IF_ERROR(cursor_.Expect(":"));
    if (cursor_.ConsumeWord("true") || cursor_.ConsumeWord("false")) {
      resource.kind = Resource::Kind::kBool;
      const bool value = cursor_.text()[cursor_.position() - 2] == 'u';
      resource.bytes = {value ? "\1" : "\0", 1};
    } else {
      // Blobs are strings of hexadecimal digits here; nothing asks for their bytes, so they stay as
      // written.
      ASSIGN_OR_RETURN(const std::string text, cursor_.TakeString());
      resource.kind = Resource::Kind::kString;
      const std::string_view kept = context_->Intern(text);
      resource.bytes = {kept.data(), kept.size()};
    }
    module.resources().push_back(resource);
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<Module>> ReadText(std::string_view text, std::string_view name,
                                           std::shared_ptr<Context> context) {
  return TextReader(text, name, std::move(context)).Read();
}

}  // namespace plimsoll
