#include "ir/opcode.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace plimsoll {
namespace {

std::vector<InherentAttribute> SplitAttributes(std::string_view text) {
  std::vector<InherentAttribute> attributes;
  while (!text.empty()) {
    const size_t end = text.find(' ');
    auto [name, groups] = llvm::StringRef(text.substr(0, end)).split('#');
    unsigned group_count = 0;
    if (!groups.empty()) groups.getAsInteger(10, group_count);
    const bool is_new = name.consume_back("+");
    const bool optional = name.consume_back("?");
    attributes.push_back({name, optional, is_new, group_count});
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return attributes;
}

std::vector<OpInfo> MakeTable() {
  return {
      OpInfo{"", ResultRule::kExplicit, {}},
#define PLIMSOLL_OP(identifier, name, result_rule, attributes) \
  OpInfo{name, ResultRule::k##result_rule, SplitAttributes(attributes)},
#include "ir/ops.def"
#undef PLIMSOLL_OP
  };
}

const std::vector<OpInfo>& Table() {
  static const auto* const table = new std::vector<OpInfo>(MakeTable());
  return *table;
}

llvm::StringMap<Opcode>* MakeIndex() {
  auto* index = new llvm::StringMap<Opcode>();
  for (size_t i = 1; i < Table().size(); ++i) (*index)[Table()[i].name] = static_cast<Opcode>(i);
  return index;
}

}  // namespace

Opcode FindOpcode(std::string_view name) {
  static const llvm::StringMap<Opcode>* const index = MakeIndex();
  return index->lookup(name);
}

const OpInfo& GetOpInfo(Opcode opcode) { return Table()[static_cast<size_t>(opcode)]; }

}  // namespace plimsoll
