#include "stablehlo/text_writer.h"

#include <string_view>
#include <vector>

#include "ir/print.h"
#include "ir/print_parts.h"
#include "ir/status.h"
#include "llvm/ADT/DenseMap.h"

namespace plimsoll {
namespace {

class TextWriter {
 public:
  explicit TextWriter(Locations locations) : locations_(locations) {}

  std::string Write(const Module& module);
  std::string Write(const Op& op);

 private:
  void CollectLocation(Location location);
  void CollectLocations(const Op& op);
  void WriteAliases();
  void WriteOp(const Op& op, size_t indent);
  void WriteRegion(const Region& region, size_t indent);
  void WriteBlockHeader(const Block& block, size_t number, size_t indent);
  void WriteLocation(Location location);
  void WriteValue(const Value* value);
  void WriteResources(llvm::ArrayRef<Resource> resources);

  const Locations locations_;
  std::string out_;
  LocationAliases aliases_;
  std::vector<Location> aliased_;              // Each after those that it uses.
  llvm::DenseMap<const void*, size_t> names_;  // Of ops with results, and of block arguments.
  size_t next_result_ = 0;
  size_t next_argument_ = 0;
};

void TextWriter::CollectLocation(Location location) {
  if (location.Is(AttributeKind::kUnknownLocation)) return;
  if (aliases_.contains(location.data())) return;
  for (const Attribute nested : location.items()) CollectLocation(nested);
  aliases_[location.data()] = aliased_.size();
  aliased_.push_back(location);
}

void TextWriter::CollectLocations(const Op& op) {
  CollectLocation(op.location());
  for (size_t r = 0; r < op.region_count(); ++r) {
    for (size_t b = 0; b < op.region(r).block_count(); ++b) {
      const Block& block = op.region(r).block(b);
      for (size_t a = 0; a < block.argument_count(); ++a) {
        CollectLocation(block.argument(a)->location());
      }
      for (const Op& inner : block) CollectLocations(inner);
    }
  }
}

void TextWriter::WriteAliases() {
  for (const Location location : aliased_) {
    out_ += StrCat("#loc", aliases_[location.data()], " = loc(");
    PrintLocation(location, out_, &aliases_, /*expand=*/true);
    out_ += ")\n";
  }
}

void TextWriter::WriteLocation(Location location) {
  if (locations_ == Locations::kOmit) return;
  out_ += " loc(";
  PrintLocation(location, out_, &aliases_);
  out_ += ')';
}

void TextWriter::WriteValue(const Value* value) {
  const Op* op = value->defining_op();
  const void* key = op != nullptr ? static_cast<const void*>(op) : value;
  // Values from outside of what is written get their name at their first use.
  const auto [entry, is_new] =
      names_.try_emplace(key, op != nullptr ? next_result_ : next_argument_);
  if (is_new) ++(op != nullptr ? next_result_ : next_argument_);
  out_ += StrCat(op != nullptr ? "%" : "%arg", entry->second);
  if (op != nullptr && op->result_count() > 1) out_ += StrCat("#", value->index());
}

void TextWriter::WriteOp(const Op& op, size_t indent) {
  out_.append(indent, ' ');
  if (op.result_count() > 0) {
    names_[&op] = next_result_;
    out_ += StrCat("%", next_result_++);
    if (op.result_count() > 1) out_ += StrCat(":", op.result_count());
    out_ += " = ";
  }
  PrintString(op.name(), out_);
  out_ += '(';
  for (size_t i = 0; i < op.operand_count(); ++i) {
    if (i != 0) out_ += ", ";
    WriteValue(op.operand(i));
  }
  out_ += ')';
  if (op.properties()) {
    out_ += " <";
    PrintDictionary(op.properties(), out_, &aliases_);
    out_ += '>';
  }
  if (op.region_count() > 0) {
    // Names start anew where no value from outside is seen.
    const bool is_isolated = op.Is(Opcode::kFunc) || op.Is(Opcode::kModule);
    const size_t results_before = next_result_;
    const size_t arguments_before = next_argument_;
    if (is_isolated) next_result_ = next_argument_ = 0;
    out_ += " (";
    for (size_t i = 0; i < op.region_count(); ++i) {
      if (i != 0) out_ += ", ";
      WriteRegion(op.region(i), indent);
    }
    out_ += ')';
    if (is_isolated) {
      next_result_ = results_before;
      next_argument_ = arguments_before;
    }
  }
  if (op.attributes()) {
    out_ += ' ';
    PrintDictionary(op.attributes(), out_, &aliases_);
  }
  out_ += " : (";
  for (size_t i = 0; i < op.operand_count(); ++i) {
    if (i != 0) out_ += ", ";
    Print(op.operand(i)->type(), out_);
  }
  out_ += ") -> ";
  const bool bare = op.result_count() == 1 && !op.result(0)->type().Is(TypeKind::kFunction);
  if (!bare) out_ += '(';
  for (size_t i = 0; i < op.result_count(); ++i) {
    if (i != 0) out_ += ", ";
    Print(op.result(i)->type(), out_);
  }
  if (!bare) out_ += ')';
  WriteLocation(op.location());
  out_ += '\n';
}

void TextWriter::WriteBlockHeader(const Block& block, size_t number, size_t indent) {
  out_.append(indent, ' ');
  out_ += StrCat("^bb", number);
  if (block.argument_count() > 0) {
    out_ += '(';
    for (size_t i = 0; i < block.argument_count(); ++i) {
      if (i != 0) out_ += ", ";
      WriteValue(block.argument(i));
      out_ += ": ";
      Print(block.argument(i)->type(), out_);
      WriteLocation(block.argument(i)->location());
    }
    out_ += ')';
  }
  out_ += ":\n";
}

void TextWriter::WriteRegion(const Region& region, size_t indent) {
  out_ += "{\n";
  for (size_t i = 0; i < region.block_count(); ++i) {
    const Block& block = region.block(i);
    // The entry block needs a header only for its arguments, or to show that it is there at all.
    if (i > 0 || block.argument_count() > 0 || block.empty()) WriteBlockHeader(block, i, indent);
    for (const Op& op : block) WriteOp(op, indent + 2);
  }
  out_.append(indent, ' ');
  out_ += '}';
}

void TextWriter::WriteResources(llvm::ArrayRef<Resource> resources) {
  if (resources.empty()) return;
  out_ += "{-#\n";
  for (size_t i = 0; i < resources.size(); ++i) {
    const Resource& resource = resources[i];
    const bool new_section = i == 0 || resources[i - 1].is_external != resource.is_external;
    const bool new_group = new_section || resources[i - 1].group != resource.group;
    if (i != 0) out_ += new_section ? "}},\n" : new_group ? "},\n" : ",\n";
    if (new_section)
      out_ += resource.is_external ? "  external_resources: {\n" : "  dialect_resources: {\n";
    if (new_group) {
      out_ += "    ";
      PrintName(resource.group, out_);
      out_ += ": {\n";
    }
    out_ += "      ";
    PrintName(resource.key, out_);
    out_ += ": ";
    switch (resource.kind) {
      case Resource::Kind::kBool:
        out_ += resource.bytes[0] != 0 ? "true" : "false";
        break;
      case Resource::Kind::kString:
        PrintString({resource.bytes.data(), resource.bytes.size()}, out_);
        break;
      case Resource::Kind::kBlob:
        out_ += "\"0x";
        PrintHex({reinterpret_cast<const char*>(&resource.alignment), sizeof(resource.alignment)},
                 out_);
        PrintHex(resource.bytes, out_);
        out_ += '"';
        break;
    }
  }
  out_ += "}}\n#-}\n";
}

std::string TextWriter::Write(const Module& module) {
  if (locations_ == Locations::kWrite) {
    CollectLocations(module.op());
    WriteAliases();
  }
  WriteOp(module.op(), 0);
  WriteResources(module.resources());
  return std::move(out_);
}

std::string TextWriter::Write(const Op& op) {
  if (locations_ == Locations::kWrite) {
    CollectLocations(op);
    WriteAliases();
  }
  WriteOp(op, 0);
  return std::move(out_);
}

}  // namespace

std::string WriteText(const Module& module, Locations locations) {
  return TextWriter(locations).Write(module);
}

std::string WriteText(const Op& op, Locations locations) { return TextWriter(locations).Write(op); }

}  // namespace plimsoll
