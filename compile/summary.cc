#include "compile/summary.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/peak.h"
#include "compile/json.h"
#include "ir/status.h"

namespace plimsoll {
namespace {

struct SizedValue {
  const Value* value;
  int64_t bytes;
  size_t order;  // In the program, which decides between equal sizes.
};

Json BytesOrNull(std::optional<int64_t> bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

Json DescribeArguments(const Op& function) {
  Json out = Json::array();
  const Block* entry = function.entry_block();
  for (size_t i = 0; entry != nullptr && i < entry->argument_count(); ++i) {
    const Value& argument = *entry->argument(i);
    out.push_back({{"name", ToUtf8(ArgumentName(argument))},
                   {"type", ToUtf8(argument.type().ToString())},
                   {"bytes", BytesOrNull(argument.type().bytes())},
                   {"source", ToUtf8(SourceLine(argument.location()))}});
  }
  return out;
}

Json DescribeResults(const Op& function) {
  Json out = Json::array();
  const Attribute type = function.Get("function_type");
  if (!type || !type.Is(AttributeKind::kType) || !type.type().Is(TypeKind::kFunction)) return out;
  for (const Type result : type.type().outputs()) {
    out.push_back({{"type", ToUtf8(result.ToString())}, {"bytes", BytesOrNull(result.bytes())}});
  }
  return out;
}

// What made the value: an op's name, or that it is an argument.
std::string_view Maker(const Value& value) {
  return value.is_argument() ? "argument" : value.defining_op()->name();
}

}  // namespace

std::string SummarizeAsJson(const Module& module, size_t largest) {
  std::map<std::string_view, int64_t> ops_by_kind;
  std::vector<SizedValue> values;
  int64_t op_count = 0;
  int64_t total_bytes = 0;
  int64_t unknown_sizes = 0;
  const auto count_value = [&](const Value* value) {
    const std::optional<int64_t> bytes = value->type().bytes();
    if (!bytes) {
      ++unknown_sizes;
      return;
    }
    // Saturates: a program can claim more bytes than there are numbers for.
    total_bytes = total_bytes > INT64_MAX - *bytes ? INT64_MAX : total_bytes + *bytes;
    values.push_back({value, *bytes, values.size()});
  };
  const Op* main = module.main();
  Walk(module.op(), [&](Op& op) {
    if (op.Is(Opcode::kModule)) return;
    ++op_count;
    ++ops_by_kind[op.name()];
    for (size_t i = 0; i < op.result_count(); ++i) count_value(op.result(i));
    // The arguments of inner regions are other values seen from inside.
    const Block* entry = &op == main ? op.entry_block() : nullptr;
    for (size_t i = 0; entry != nullptr && i < entry->argument_count(); ++i) {
      count_value(entry->argument(i));
    }
  });
  std::sort(values.begin(), values.end(), [](const SizedValue& a, const SizedValue& b) {
    return std::tie(b.bytes, a.order) < std::tie(a.bytes, b.order);
  });
  if (values.size() > largest) values.resize(largest);

  Json kinds = Json::array();
  std::vector<std::pair<std::string_view, int64_t>> sorted(ops_by_kind.begin(), ops_by_kind.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  for (const auto& [name, count] : sorted) {
    kinds.push_back({{"op", ToUtf8(name)}, {"count", count}});
  }
  Json biggest = Json::array();
  for (const SizedValue& entry : values) {
    biggest.push_back({{"bytes", entry.bytes},
                       {"type", ToUtf8(entry.value->type().ToString())},
                       {"op", ToUtf8(Maker(*entry.value))},
                       {"source", ToUtf8(SourceLine(entry.value->location()))}});
  }
  const Json summary = {
      {"module", ToUtf8(SymbolName(module.op()))},
      {"main", main != nullptr ? Json(ToUtf8(SymbolName(*main))) : Json(nullptr)},
      {"functions", module.functions().size()},
      {"arguments", main != nullptr ? DescribeArguments(*main) : Json::array()},
      {"results", main != nullptr ? DescribeResults(*main) : Json::array()},
      {"ops", op_count},
      {"ops_by_kind", std::move(kinds)},
      {"largest", std::move(biggest)},
      {"total_bytes", total_bytes},
      {"unknown_sizes", unknown_sizes},
  };
  return summary.dump();
}

std::string DescribePeakAsJson(const Module& module) {
  const Op* main = module.main();
  const Block* entry = main != nullptr ? main->entry_block() : nullptr;
  const Peak peak = entry != nullptr ? PeakOf(*entry) : Peak();
  Json values = Json::array();
  for (const LiveValue& live : peak.alive) {
    values.push_back({{"bytes", live.bytes},
                      {"type", ToUtf8(live.value->type().ToString())},
                      {"source", ToUtf8(SourceLine(live.value->location()))}});
  }
  const Json json = {
      {"bytes", peak.bytes},
      {"source", peak.at != nullptr ? ToUtf8(SourceLine(peak.at->location())) : std::string()},
      {"values", std::move(values)},
  };
  return json.dump();
}

}  // namespace plimsoll
