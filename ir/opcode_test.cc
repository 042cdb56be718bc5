#include "ir/opcode.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

// All opcodes of the table but kUnknown.
std::vector<Opcode> AllOpcodes() {
  return {
#define PLIMSOLL_OP(identifier, name, result_rule, attributes) Opcode::k##identifier,
#include "ir/ops.def"
#undef PLIMSOLL_OP
  };
}

TEST(OpcodeTest, NamesFindTheirOpcodes) {
  for (const Opcode opcode : AllOpcodes()) {
    EXPECT_EQ(FindOpcode(GetOpInfo(opcode).name), opcode) << GetOpInfo(opcode).name;
  }
}

TEST(OpcodeTest, OtherNamesAreUnknown) {
  EXPECT_EQ(FindOpcode("stablehlo.addition"), Opcode::kUnknown);
  EXPECT_EQ(FindOpcode("add"), Opcode::kUnknown);
  EXPECT_EQ(FindOpcode(""), Opcode::kUnknown);
}

TEST(OpcodeTest, NamesDiffer) {
  std::set<std::string_view> names;
  for (const Opcode opcode : AllOpcodes()) names.insert(GetOpInfo(opcode).name);
  EXPECT_EQ(names.size(), AllOpcodes().size());
}

TEST(OpcodeTest, AttributesAreSplitAndMarked) {
  const std::vector<InherentAttribute>& attributes = GetOpInfo(Opcode::kCompare).attributes;
  ASSERT_EQ(attributes.size(), 2);
  EXPECT_EQ(attributes[0].name, "compare_type");
  EXPECT_TRUE(attributes[0].optional);
  EXPECT_EQ(attributes[1].name, "comparison_direction");
  EXPECT_FALSE(attributes[1].optional);
  EXPECT_TRUE(GetOpInfo(Opcode::kAdd).attributes.empty());
  EXPECT_TRUE(GetOpInfo(Opcode::kChloTopK).attributes[0].is_new);
  EXPECT_EQ(GetOpInfo(Opcode::kChloScan).attributes.back().name, "resultSegmentSizes");
  EXPECT_EQ(GetOpInfo(Opcode::kChloScan).attributes.back().group_count, 2U);
}

TEST(OpcodeTest, AttributesAreInOrder) {
  for (const Opcode opcode : AllOpcodes()) {
    std::vector<std::string_view> names;
    // The lengths of groups stand behind all others.
    for (const InherentAttribute& attribute : GetOpInfo(opcode).attributes) {
      if (attribute.group_count == 0) names.push_back(attribute.name);
    }
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end())) << GetOpInfo(opcode).name;
  }
}

TEST(OpcodeTest, UnknownOpsSayTheirTypes) {
  EXPECT_EQ(GetOpInfo(Opcode::kUnknown).result_rule, ResultRule::kExplicit);
  EXPECT_EQ(GetOpInfo(Opcode::kUnknown).name, "");
}

}  // namespace
}  // namespace plimsoll
