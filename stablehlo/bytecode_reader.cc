#include "stablehlo/bytecode_reader.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "stablehlo/byte_cursor.h"
#include "stablehlo/bytecode_tables.h"
#include "stablehlo/inherent_attributes.h"
#include "stablehlo/limits.h"
#include "stablehlo/text_budget.h"
#include "stablehlo/vhlo_ops.h"

namespace plimsoll {
namespace {

constexpr std::string_view kMagic = "ML\xEFR";

// The one version of the format that StableHLO 1.0 and all later ones write.
constexpr uint64_t kBytecodeVersion = 6;

enum SectionId : uint8_t {
  kStrings = 0,
  kDialects = 1,
  kAttributesAndTypes = 2,
  kAttributeOffsets = 3,
  kProgram = 4,
  kResources = 5,
  kResourceOffsets = 6,
  kDialectVersions = 7,
  kProperties = 8,
  kSectionCount = 9,
};

enum OpPart : uint8_t {
  kHasAttributes = 1,
  kHasResults = 2,
  kHasOperands = 4,
  kHasSuccessors = 8,
  kHasRegions = 16,
  kHasUseOrders = 32,
  kHasProperties = 64,
};

struct Section {
  uint8_t id;
  ByteCursor data;
};

StatusOr<Section> TakeSection(ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const uint8_t head, cursor.TakeByte());
  ASSIGN_OR_RETURN(const uint64_t length, cursor.TakeNumber());
  if ((head & 0x80) != 0) {
    ASSIGN_OR_RETURN(const uint64_t alignment, cursor.TakeNumber());
    RETURN_IF_ERROR(cursor.AlignTo(alignment));
  }
  ASSIGN_OR_RETURN(const ByteCursor data, cursor.TakePart(length));
  return Section{static_cast<uint8_t>(head & 0x7F), data};
}

// "StableHLO_v1.17.0" as {1, 17, 0}; nothing if the producer is another.
std::optional<std::vector<unsigned>> StablehloVersion(llvm::StringRef producer) {
  if (!producer.consume_front("StableHLO_v")) return std::nullopt;
  llvm::SmallVector<llvm::StringRef> parts;
  producer.split(parts, '.');
  std::vector<unsigned> version;
  for (const llvm::StringRef part : parts) {
    unsigned number = 0;
    if (part.getAsInteger(10, number)) return std::nullopt;
    version.push_back(number);
  }
  return version;
}

// The values that numbers stand for. Ops that see no values from outside start a scope of their
// own.
class ValueScope {
 public:
  // A region announces how many values it defines.
  void Enter(size_t value_count) {
    starts_.push_back(values_.size());
    next_.push_back(values_.size());
    values_.resize(values_.size() + value_count, nullptr);
  }
  void Leave() {
    values_.resize(starts_.back());
    starts_.pop_back();
    next_.pop_back();
  }
  // The number of the first of `count` values that are defined next; nothing if the region
  // announced fewer.
  std::optional<size_t> Reserve(size_t count) {
    if (count == 0) return values_.size();
    if (next_.empty() || count > values_.size() - next_.back()) return std::nullopt;
    return std::exchange(next_.back(), next_.back() + count);
  }
  void Set(size_t index, Value* value) { values_[index] = value; }
  Value* Find(uint64_t index) const { return index < values_.size() ? values_[index] : nullptr; }

 private:
  std::vector<Value*> values_;
  std::vector<size_t> starts_;
  std::vector<size_t> next_;
};

class BytecodeReader {
 public:
  BytecodeReader(std::string_view bytes, std::string_view name, std::shared_ptr<Context> context)
      : cursor_({bytes.data(), bytes.size()}, 0, name),
        context_(std::move(context)),
        budget_(bytes.size()),
        input_size_(bytes.size()) {}

  StatusOr<std::unique_ptr<Module>> Read();

 private:
  StatusOr<std::string_view> ReadHeader();
  Status ReadTables(std::vector<Resource>& resources);
  Status ReadBlock(ByteCursor& cursor, Block& block);
  Status ReadBlockArguments(ByteCursor& cursor, Block& block);
  Status SkipUseOrders(ByteCursor& cursor, size_t value_count);
  StatusOr<size_t> Reserve(const ByteCursor& where, size_t value_count);
  Status ReadOp(ByteCursor& cursor, Block& block);
  StatusOr<Attribute> ReadProperties(ByteCursor& cursor, const BytecodeOpName& name);
  StatusOr<Attribute> DecodeVhloProperties(ByteCursor properties, const BytecodeOpName& name);
  StatusOr<Attribute> DecodeProperties(ByteCursor properties, const BytecodeOpName& name);
  // Whether the writer knew the attributes that the table marks as new.
  StatusOr<bool> KnowsNewAttributes(llvm::ArrayRef<InherentAttribute> known, ByteCursor properties,
                                    const BytecodeOpName& name) const;
  StatusOr<std::string_view> TodaysName(const ByteCursor& where, const BytecodeOpName& name,
                                        const Block& block) const;
  StatusOr<std::vector<Value*>> ReadOperands(ByteCursor& cursor);
  Status ReadRegions(ByteCursor& cursor, Op& op, size_t region_count, bool is_isolated);
  Status ReadRegion(ByteCursor& cursor, Region& region);

  ByteCursor cursor_;
  std::shared_ptr<Context> context_;
  WeightBudget budget_;
  size_t input_size_;
  std::optional<BytecodeTables> tables_;
  ByteCursor program_;
  ValueScope* scope_ = nullptr;
  uint32_t depth_ = 0;
  // Equal ops share their encoded properties, so each is converted once.
  llvm::DenseMap<std::pair<uint64_t, const char*>, Attribute> properties_;
};

StatusOr<std::string_view> BytecodeReader::ReadHeader() {
  RETURN_IF_ERROR(cursor_.TakeBytes(kMagic.size()).status());
  ASSIGN_OR_RETURN(const uint64_t version, cursor_.TakeNumber());
  ASSIGN_OR_RETURN(const std::string_view producer, cursor_.TakeZeroTerminated());
  const std::optional<std::vector<unsigned>> stablehlo = StablehloVersion(producer);
  if (stablehlo && stablehlo->front() < 1) {
    return cursor_.Error(StrCat("not understood: an artifact of ", producer,
                                ", which is older than StableHLO_v1.0.0"),
                         ErrorCode::kNotUnderstood);
  }
  if (version != kBytecodeVersion) {
    return cursor_.Error(StrCat("not understood: MLIR bytecode of version ", version, ", expected ",
                                kBytecodeVersion, " (written by ", producer, ")"),
                         ErrorCode::kNotUnderstood);
  }
  return producer;
}

Status BytecodeReader::ReadTables(std::vector<Resource>& resources) {
  std::optional<ByteCursor> sections[kSectionCount];
  while (!cursor_.AtEnd()) {
    ASSIGN_OR_RETURN(const Section section, TakeSection(cursor_));
    if (section.id >= kSectionCount) {
      return tables_->NotUnderstood(section.data, StrCat("a section of kind ", section.id));
    }
    if (sections[section.id]) return section.data.Error("the same section comes twice");
    sections[section.id] = section.data;
  }
  for (const SectionId id :
       {kStrings, kDialects, kAttributesAndTypes, kAttributeOffsets, kProgram}) {
    if (!sections[id]) return cursor_.Error(StrCat("the section of kind ", int{id}, " is missing"));
  }
  RETURN_IF_ERROR(tables_->ReadStrings(*sections[kStrings]));
  RETURN_IF_ERROR(tables_->ReadDialects(*sections[kDialects]));
  RETURN_IF_ERROR(
      tables_->ReadAttributeOffsets(*sections[kAttributeOffsets], *sections[kAttributesAndTypes]));
  if (sections[kResourceOffsets]) {
    const ByteCursor empty({}, cursor_.offset(), cursor_.name());
    RETURN_IF_ERROR(tables_->ReadResources(*sections[kResourceOffsets],
                                           sections[kResources].value_or(empty), resources));
  }
  if (sections[kProperties]) RETURN_IF_ERROR(tables_->ReadProperties(*sections[kProperties]));
  program_ = *sections[kProgram];
  return OkStatus();
}

StatusOr<std::unique_ptr<Module>> BytecodeReader::Read() {
  ASSIGN_OR_RETURN(const std::string_view producer, ReadHeader());
  tables_.emplace(*context_, producer, input_size_);
  auto module = std::make_unique<Module>(context_);
  RETURN_IF_ERROR(ReadTables(module->resources()));

  ValueScope scope;
  scope_ = &scope;
  Block& body = module->body();
  RETURN_IF_ERROR(ReadBlock(program_, body));
  if (!program_.AtEnd()) return program_.Error("the program has bytes left over");
  if (body.first() == nullptr) return program_.Error("the program holds no op");
  if (body.first() == body.last() && body.first()->Is(Opcode::kModule)) {
    std::unique_ptr<Op> op = body.first()->Remove();
    if (op->region_count() != 1 || op->region(0).block_count() != 1) {
      return program_.Error("builtin.module must have one region with one block");
    }
    module->set_op(std::move(op));
  }
  return module;
}

Status BytecodeReader::ReadBlock(ByteCursor& cursor, Block& block) {
  ASSIGN_OR_RETURN(const auto header, cursor.TakeNumberWithFlag());
  const auto [op_count, has_arguments] = header;
  if (op_count > cursor.remaining())
    return cursor.Error("a block claims more ops than there is room for");
  if (has_arguments) RETURN_IF_ERROR(ReadBlockArguments(cursor, block));
  for (uint64_t i = 0; i < op_count; ++i) RETURN_IF_ERROR(ReadOp(cursor, block));
  return OkStatus();
}

Status BytecodeReader::ReadBlockArguments(ByteCursor& cursor, Block& block) {
  ASSIGN_OR_RETURN(const size_t count, cursor.TakeCount());
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const auto entry, cursor.TakeNumberWithFlag());
    ASSIGN_OR_RETURN(const Type type, tables_->TypeAt(entry.first, cursor));
    Location location = context_->UnknownLocation();
    if (entry.second) {
      ASSIGN_OR_RETURN(location, tables_->TakeLocation(cursor));
    }
    ASSIGN_OR_RETURN(const size_t number, Reserve(cursor, 1));
    scope_->Set(number, block.AddArgument(type, location));
  }
  ASSIGN_OR_RETURN(const uint8_t has_use_orders, cursor.TakeByte());
  return has_use_orders != 0 ? SkipUseOrders(cursor, count) : OkStatus();
}

StatusOr<size_t> BytecodeReader::Reserve(const ByteCursor& where, size_t value_count) {
  const std::optional<size_t> first = scope_->Reserve(value_count);
  if (!first) return where.Error("a region defines more values than it announced");
  return *first;
}

// In which order a value's uses were made says nothing about the program.
Status BytecodeReader::SkipUseOrders(ByteCursor& cursor, size_t value_count) {
  size_t order_count = 1;
  if (value_count > 1) {
    ASSIGN_OR_RETURN(order_count, cursor.TakeCount());
  }
  for (size_t i = 0; i < order_count; ++i) {
    if (value_count > 1) RETURN_IF_ERROR(cursor.TakeNumber().status());
    ASSIGN_OR_RETURN(const auto header, cursor.TakeNumberWithFlag());
    if (header.first > cursor.remaining()) return cursor.Error("an order of uses is too long");
    for (uint64_t j = 0; j < header.first; ++j) RETURN_IF_ERROR(cursor.TakeNumber().status());
  }
  return OkStatus();
}

StatusOr<Attribute> BytecodeReader::DecodeVhloProperties(ByteCursor properties,
                                                         const BytecodeOpName& name) {
  const VhloOp* op = FindVhloOp(name.name);
  std::vector<Attribute> values(op->attributes.size());
  for (Attribute& value : values) {
    ASSIGN_OR_RETURN(value, tables_->TakeAttribute(properties));
  }
  if (!properties.AtEnd()) {
    return tables_->NotUnderstood(
        properties, StrCat("the op ", name.full_name, " has an attribute more than is known"));
  }
  StatusOr<Attribute> converted = ConvertVhloAttributes(*context_, *op, values);
  if (!converted.ok()) {
    return properties.Error(StrCat(name.full_name, ": ", converted.status().message()));
  }
  return converted;
}

// Lengths of groups of operands or results, as an array of i32: a list, or pairs of index and
// length if most are 0.
StatusOr<Attribute> TakeGroupSizes(BytecodeTables& tables, ByteCursor& cursor, unsigned count) {
  std::vector<int32_t> sizes(count, 0);
  ASSIGN_OR_RETURN(const auto header, cursor.TakeNumberWithFlag());
  const auto [written, is_sparse] = header;
  if (written > count) return cursor.Error("an op has more groups than it can have");
  uint64_t index_bits = 0;
  if (is_sparse && written > 0) {
    ASSIGN_OR_RETURN(index_bits, cursor.TakeNumber());
    if (index_bits > 8) return cursor.Error("a group's number is too wide");
  }
  for (uint64_t i = 0; i < written; ++i) {
    ASSIGN_OR_RETURN(const uint64_t value, cursor.TakeNumber());
    const uint64_t index = is_sparse ? value & ((uint64_t{1} << index_bits) - 1) : i;
    const uint64_t size = is_sparse ? value >> index_bits : value;
    if (index >= count || size > INT32_MAX) return cursor.Error("a group's size is wrong");
    sizes[index] = static_cast<int32_t>(size);
  }
  return tables.context().DenseArray(
      tables.context().IntegerType(32),
      {reinterpret_cast<const char*>(sizes.data()), sizes.size() * sizeof(int32_t)});
}

StatusOr<bool> BytecodeReader::KnowsNewAttributes(llvm::ArrayRef<InherentAttribute> known,
                                                  ByteCursor properties,
                                                  const BytecodeOpName& name) const {
  const size_t new_count =
      llvm::count_if(known, [](const InherentAttribute& attribute) { return attribute.is_new; });
  if (new_count == 0) return true;
  // One number an attribute, absent ones too: their count tells which attributes the writer knew.
  size_t count = 0;
  for (; !properties.AtEnd(); ++count) RETURN_IF_ERROR(properties.TakeNumber().status());
  if (count == known.size()) return true;
  if (count == known.size() - new_count) return false;
  return tables_->NotUnderstood(properties,
                                StrCat("the op ", name.full_name, " has ", count, " attributes"));
}

StatusOr<Attribute> BytecodeReader::DecodeProperties(ByteCursor properties,
                                                     const BytecodeOpName& name) {
  const Opcode opcode = FindOpcode(name.full_name);
  if (opcode == Opcode::kUnknown) {
    return tables_->NotUnderstood(properties, StrCat("the attributes of op ", name.full_name));
  }
  const std::vector<InherentAttribute>& known = GetOpInfo(opcode).attributes;
  ASSIGN_OR_RETURN(const bool knows_new, KnowsNewAttributes(known, properties, name));
  llvm::SmallVector<NamedAttribute> entries;
  for (const InherentAttribute& attribute : known) {
    if (attribute.is_new && !knows_new) continue;
    ASSIGN_OR_RETURN(const Attribute value,
                     attribute.group_count > 0
                         ? TakeGroupSizes(*tables_, properties, attribute.group_count)
                     : attribute.optional ? tables_->TakeOptionalAttribute(properties)
                                          : tables_->TakeAttribute(properties));
    if (value) entries.emplace_back(attribute.name, value);
  }
  if (!properties.AtEnd()) {
    return tables_->NotUnderstood(
        properties, StrCat("the op ", name.full_name, " has an attribute more than is known"));
  }
  return entries.empty() ? Attribute() : context_->Dictionary(entries);
}

StatusOr<Attribute> BytecodeReader::ReadProperties(ByteCursor& cursor, const BytecodeOpName& name) {
  ASSIGN_OR_RETURN(const uint64_t index, cursor.TakeNumber());
  const auto key = std::make_pair(index, name.full_name.data());
  const auto cached = properties_.find(key);
  if (cached != properties_.end()) return cached->second;
  ASSIGN_OR_RETURN(ByteCursor properties, tables_->Properties(index, cursor));
  // Of an op that the writer did not know itself it has one attribute that holds all.
  if (!name.is_registered) return tables_->TakeAttribute(properties);
  ASSIGN_OR_RETURN(const Attribute dictionary, name.dialect == "vhlo"
                                                   ? DecodeVhloProperties(properties, name)
                                                   : DecodeProperties(properties, name));
  properties_[key] = dictionary;
  return dictionary;
}

StatusOr<std::string_view> BytecodeReader::TodaysName(const ByteCursor& where,
                                                      const BytecodeOpName& name,
                                                      const Block& block) const {
  if (name.dialect != "vhlo") return name.full_name;
  const VhloOp* op = FindVhloOp(name.name);
  if (op == nullptr) return tables_->NotUnderstood(where, StrCat("the op ", name.full_name));
  // VHLO has one op for both kinds of return.
  const bool is_return = op->op == GetOpInfo(Opcode::kReturn).name;
  const Op* parent = block.parent();
  if (is_return && parent != nullptr && parent->Is(Opcode::kFunc)) {
    return GetOpInfo(Opcode::kFuncReturn).name;
  }
  return op->op;
}

StatusOr<std::vector<Value*>> BytecodeReader::ReadOperands(ByteCursor& cursor) {
  ASSIGN_OR_RETURN(const size_t count, cursor.TakeCount());
  std::vector<Value*> operands(count);
  for (Value*& operand : operands) {
    ASSIGN_OR_RETURN(const uint64_t index, cursor.TakeNumber());
    operand = scope_->Find(index);
    if (operand == nullptr) {
      return cursor.Error(StrCat("value ", index, " is used before it is defined"));
    }
  }
  return operands;
}

// Between dialects MLIR puts casts; once both sides are read as today's types there is nothing to
// cast.
bool IsNoOpCast(std::string_view name, llvm::ArrayRef<Value*> operands,
                llvm::ArrayRef<Type> result_types) {
  if (name != "builtin.unrealized_conversion_cast" || operands.size() != result_types.size()) {
    return false;
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]->type() != result_types[i]) return false;
  }
  return true;
}

Status BytecodeReader::ReadOp(ByteCursor& cursor, Block& block) {
  ASSIGN_OR_RETURN(const BytecodeOpName written_name, tables_->TakeOpName(cursor));
  ASSIGN_OR_RETURN(const std::string_view name, TodaysName(cursor, written_name, block));
  ASSIGN_OR_RETURN(const uint8_t parts, cursor.TakeByte());
  if ((parts & kHasSuccessors) != 0) {
    return tables_->NotUnderstood(
        cursor, StrCat("the op ", name, " jumps to other blocks, which StableHLO does not have"));
  }
  ASSIGN_OR_RETURN(const Location location, tables_->TakeLocation(cursor));
  Attribute attributes;
  if ((parts & kHasAttributes) != 0) {
    ASSIGN_OR_RETURN(attributes, tables_->TakeAttribute(cursor));
    if (!attributes.Is(AttributeKind::kDictionary)) return cursor.Error("expected a dictionary");
    if (attributes.items().empty()) attributes = {};
  }
  Attribute properties;
  if ((parts & kHasProperties) != 0) {
    ASSIGN_OR_RETURN(properties, ReadProperties(cursor, written_name));
    if (properties && !properties.Is(AttributeKind::kDictionary)) {
      return cursor.Error("expected a dictionary");
    }
    if (properties && properties.items().empty()) properties = {};
  }
  MoveInherentAttributes(tables_->context(), FindOpcode(name), properties, attributes);
  std::vector<Type> result_types;
  if ((parts & kHasResults) != 0) {
    ASSIGN_OR_RETURN(result_types, tables_->TakeTypes(cursor));
  }
  std::vector<Value*> operands;
  if ((parts & kHasOperands) != 0) {
    ASSIGN_OR_RETURN(operands, ReadOperands(cursor));
  }
  if ((parts & kHasUseOrders) != 0) RETURN_IF_ERROR(SkipUseOrders(cursor, result_types.size()));
  std::pair<uint64_t, bool> regions(0, false);
  if ((parts & kHasRegions) != 0) {
    ASSIGN_OR_RETURN(regions, cursor.TakeNumberWithFlag());
    if (regions.first > cursor.remaining()) {
      return cursor.Error("an op claims more regions than there is room for");
    }
  }
  ASSIGN_OR_RETURN(const size_t first_result, Reserve(cursor, result_types.size()));
  if (IsNoOpCast(name, operands, result_types)) {
    for (size_t i = 0; i < operands.size(); ++i) scope_->Set(first_result + i, operands[i]);
    return OkStatus();
  }
  Op* op = block.Append(
      Op::Create(name, location, result_types, operands, properties, attributes, regions.first));
  if (!budget_.Spend(*op)) {
    return cursor.Error("the program's attributes stand for too much text", ErrorCode::kTooLarge);
  }
  if (regions.first > 0) {
    RETURN_IF_ERROR(ReadRegions(cursor, *op, regions.first, regions.second));
  }
  // Only now: what is inside an op cannot use the op's own results.
  for (size_t i = 0; i < op->result_count(); ++i) scope_->Set(first_result + i, op->result(i));
  return OkStatus();
}

Status BytecodeReader::ReadRegions(ByteCursor& cursor, Op& op, size_t region_count,
                                   bool is_isolated) {
  if (depth_ >= kMaxRegionDepth) {
    return cursor.Error(StrCat("regions are nested more than ", kMaxRegionDepth, " levels deep"),
                        ErrorCode::kTooLarge);
  }
  ++depth_;
  if (is_isolated) {
    // Such regions stand in a section of their own, so that other readers can skip them.
    ASSIGN_OR_RETURN(Section section, TakeSection(cursor));
    if (section.id != kProgram) return cursor.Error("expected a section that holds regions");
    ValueScope scope;
    ValueScope* const outer = std::exchange(scope_, &scope);
    for (size_t i = 0; i < region_count; ++i)
      RETURN_IF_ERROR(ReadRegion(section.data, op.region(i)));
    scope_ = outer;
    if (!section.data.AtEnd()) return section.data.Error("a region has bytes left over");
  } else {
    for (size_t i = 0; i < region_count; ++i) RETURN_IF_ERROR(ReadRegion(cursor, op.region(i)));
  }
  --depth_;
  return OkStatus();
}

Status BytecodeReader::ReadRegion(ByteCursor& cursor, Region& region) {
  ASSIGN_OR_RETURN(const size_t block_count, cursor.TakeCount());
  if (block_count == 0) return OkStatus();
  ASSIGN_OR_RETURN(const size_t value_count, cursor.TakeCount());
  scope_->Enter(value_count);
  for (size_t i = 0; i < block_count; ++i) RETURN_IF_ERROR(ReadBlock(cursor, region.AddBlock()));
  scope_->Leave();
  return OkStatus();
}

}  // namespace

bool IsBytecode(std::string_view bytes) { return bytes.starts_with(kMagic); }

StatusOr<std::unique_ptr<Module>> ReadBytecode(std::string_view bytes, std::string_view name,
                                               std::shared_ptr<Context> context) {
  return BytecodeReader(bytes, name, std::move(context)).Read();
}

}  // namespace plimsoll
