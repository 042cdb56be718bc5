#include "stablehlo/vhlo_ops.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/opcode.h"
#include "ir/structs.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

struct Row {
  const char* name;
  const char* op;
};
constexpr Row kRows[] = {
#define VHLO_OP(name, op, attributes) {name, op},
#include "stablehlo/vhlo.def"
#undef VHLO_OP
};

TEST(VhloOpsTest, EveryRowIsAnOpOfTodayWithThoseAttributes) {
  for (const Row& row : kRows) {
    const VhloOp* vhlo = FindVhloOp(row.name);
    ASSERT_NE(vhlo, nullptr) << row.name;
    const Opcode opcode = FindOpcode(row.op);
    ASSERT_NE(opcode, Opcode::kUnknown) << row.op;
    const auto has = [&](std::string_view name) {
      for (const InherentAttribute& attribute : GetOpInfo(opcode).attributes) {
        if (attribute.name == name) return true;
      }
      return false;
    };
    for (const VhloAttribute& attribute : vhlo->attributes) {
      if (!attribute.part_of.empty()) continue;
      const bool is_channel = attribute.name == "channel_id" || attribute.name == "channel_type";
      EXPECT_TRUE(has(is_channel ? "channel_handle" : attribute.name))
          << row.name << " " << attribute.name;
    }
    for (const VhloStruct& group : vhlo->structs) {
      EXPECT_TRUE(has(group.name)) << row.name << " " << group.name;
      EXPECT_NE(FindStruct(group.mnemonic), nullptr) << group.mnemonic;
    }
  }
}

TEST(VhloOpsTest, KnowsNoOtherOps) {
  EXPECT_EQ(FindVhloOp("add_v2"), nullptr);
  EXPECT_EQ(FindVhloOp(""), nullptr);
}

TEST(VhloOpsTest, LeavesDefaultsOut) {
  Context context;
  const VhloOp& sort = *FindVhloOp("sort_v1");
  const Attribute defaults[] = {context.I64(-1), context.Bool(false)};
  EXPECT_FALSE(*ConvertVhloAttributes(context, sort, defaults));
  const Attribute others[] = {context.I64(0), context.Bool(true)};
  EXPECT_EQ(ConvertVhloAttributes(context, sort, others)->ToString(),
            "{dimension = 0 : i64, is_stable = true}");
}

TEST(VhloOpsTest, KeepsLayoutsIfOneOfThemIsThere) {
  Context context;
  const VhloOp& call = *FindVhloOp("custom_call_v1");
  std::vector<Attribute> values;
  for (const VhloAttribute& attribute : call.attributes) {
    values.push_back(attribute.name == "call_target_name" ? context.String("f")
                     : attribute.name == "api_version" ? context.Integer(context.IntegerType(32), 1)
                     : attribute.name == "has_side_effect" ? context.Bool(false)
                     : attribute.name == "result_layouts"  ? context.Array(context.Unit())
                                                           : context.Array({}));
  }
  EXPECT_EQ(ConvertVhloAttributes(context, call, values)->ToString(),
            "{call_target_name = \"f\", operand_layouts = [], result_layouts = [unit]}");
}

TEST(VhloOpsTest, NamesAnAttributeOfTheWrongKind) {
  Context context;
  const Attribute wrong[] = {context.String("x")};
  EXPECT_THAT(
      std::string(
          ConvertVhloAttributes(context, *FindVhloOp("transpose_v1"), wrong).status().message()),
      HasSubstr("the attribute `permutation` cannot be \"x\""));
}

}  // namespace
}  // namespace plimsoll
