// Opcodes and what the table of ops says of them.

#ifndef PLIMSOLL_IR_OPCODE_H_
#define PLIMSOLL_IR_OPCODE_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace plimsoll {

enum class Opcode : uint16_t {
  kUnknown,
#define PLIMSOLL_OP(identifier, name, result_rule, attributes) k##identifier,
#include "ir/ops.def"
#undef PLIMSOLL_OP
};

// How result types follow from operands, attributes and regions (ir/infer_types.h).
enum class ResultRule : uint8_t {
#define PLIMSOLL_RULE(identifier) k##identifier,
#include "ir/rules.def"
#undef PLIMSOLL_RULE
};

struct InherentAttribute {
  std::string_view name;
  bool optional;
  bool is_new;           // Writers before StableHLO 1.18 do not know it.
  unsigned group_count;  // Not 0: says how long each of so many groups of operands or results is.
};

struct OpInfo {
  std::string_view name;
  ResultRule result_rule;
  std::vector<InherentAttribute> attributes;
};

// kUnknown if the table has no op of that name.
Opcode FindOpcode(std::string_view name);

const OpInfo& GetOpInfo(Opcode opcode);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_OPCODE_H_
