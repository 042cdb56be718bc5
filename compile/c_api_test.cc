#include "compile/c_api.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using ::testing::HasSubstr;

constexpr char kProgram[] = R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 0>}> {note = "n"} : (tensor<2xf32>) -> tensor<2xf32> loc("a.py":7:1)
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ())";

std::string Take(PlimsollString* string) {
  std::string out(plimsoll_string_data(string), plimsoll_string_size(string));
  plimsoll_string_free(string);
  return out;
}

class CApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(plimsoll_module_parse(kProgram, sizeof(kProgram) - 1, "t", &module_), nullptr);
    const PlimsollOp* root = plimsoll_module_op(module_);
    function_ = plimsoll_block_first_op(plimsoll_op_block(root, 0, 0));
    block_ = plimsoll_op_block(function_, 0, 0);
    transpose_ = plimsoll_block_first_op(block_);
  }
  void TearDown() override { plimsoll_module_free(module_); }

  PlimsollModule* module_ = nullptr;
  const PlimsollOp* function_ = nullptr;
  const PlimsollBlock* block_ = nullptr;
  const PlimsollOp* transpose_ = nullptr;
};

TEST_F(CApiTest, WalksTheGraph) {
  EXPECT_STREQ(plimsoll_op_name(function_), "func.func");
  EXPECT_STREQ(plimsoll_op_name(transpose_), "stablehlo.transpose");
  EXPECT_EQ(plimsoll_op_parent(transpose_), block_);
  EXPECT_EQ(plimsoll_block_parent(block_), function_);
  const PlimsollOp* last = plimsoll_op_next(transpose_);
  EXPECT_EQ(plimsoll_op_operand(last, 0), plimsoll_op_result(transpose_, 0));
  EXPECT_EQ(plimsoll_op_next(last), nullptr);
}

TEST_F(CApiTest, FollowsUsesAndDefinitions) {
  const PlimsollValue* argument = plimsoll_block_argument(block_, 0);
  EXPECT_EQ(plimsoll_value_defining_op(argument), nullptr);
  EXPECT_EQ(plimsoll_value_block(argument), block_);
  EXPECT_EQ(plimsoll_value_use_count(argument), 1U);
  EXPECT_EQ(plimsoll_value_user(argument, 0), transpose_);
  EXPECT_EQ(plimsoll_value_user(argument, 1), nullptr);
  EXPECT_EQ(Take(plimsoll_value_type(argument)), "tensor<2xf32>");
}

TEST_F(CApiTest, GivesAttributesAndLocations) {
  EXPECT_EQ(Take(plimsoll_op_attributes(transpose_)), R"({"permutation":[0],"note":"n"})");
  EXPECT_EQ(Take(plimsoll_op_attribute_text(transpose_, "permutation")), "array<i64: 0>");
  EXPECT_EQ(plimsoll_op_attribute_text(transpose_, "absent"), nullptr);
  EXPECT_EQ(Take(plimsoll_op_source(transpose_)), "a.py:7");
  EXPECT_EQ(Take(plimsoll_op_location_text(transpose_)), "loc(\"a.py\":7:1)");
}

TEST_F(CApiTest, WritesVerifiesAndCompiles) {
  EXPECT_THAT(Take(plimsoll_module_text(module_, 1)), HasSubstr("loc(#loc0)"));
  EXPECT_THAT(Take(plimsoll_module_text(module_, 0)), ::testing::Not(HasSubstr("loc(")));
  EXPECT_THAT(Take(plimsoll_op_text(transpose_)), HasSubstr("stablehlo.transpose\"(%arg0)"));
  EXPECT_EQ(plimsoll_module_verify(module_), nullptr);
  EXPECT_EQ(plimsoll_module_compile(module_, nullptr, nullptr), nullptr);
  EXPECT_THAT(Take(plimsoll_pipeline_steps()), HasSubstr("\"verify\""));
}

TEST_F(CApiTest, EstimatesThePeak) {
  // What is returned is no temporary.
  EXPECT_EQ(Take(plimsoll_module_peak(module_)), R"({"bytes":0,"source":"","values":[]})");
}

TEST(CApiErrorTest, GivesCodeMessageAndFault) {
  PlimsollModule* module = nullptr;
  PlimsollError* error = plimsoll_module_parse("?", 1, "t", &module);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(module, nullptr);
  EXPECT_STREQ(plimsoll_error_code(error), "PL102");
  EXPECT_THAT(plimsoll_error_message(error), HasSubstr("t:1:1: "));
  EXPECT_EQ(plimsoll_error_is_user_mistake(error), 1);
  plimsoll_error_free(error);
}

TEST(HiddenMemoryTest, ComesAsJson) {
  const std::string text =
      "ENTRY %main () -> f32[] {\n  %c = f32[100]{0} constant({...})\n  ROOT %sort.1 = f32[100]{0} "
      "sort(%c), dimensions={0}, is_stable=true, to_apply=%less\n}\n";
  EXPECT_EQ(Take(plimsoll_hidden_memory(text.data(), text.size(), 2, 12)),
            R"({"values":928,"constants":400,"code":0,"scratch":1600,"instruction":"sort.1"})");
}

TEST(LargestValuesTest, ComeAsJson) {
  const std::string text =
      "ENTRY %main () -> f32[] {\n  %c = f32[100]{0} constant({...})\n  ROOT %r = f32[9]{0} "
      "slice(%c), metadata={op_name=\"jit(f)/head\" source_file=\"a.py\" source_line=7}\n}\n";
  EXPECT_EQ(Take(plimsoll_largest_values(text.data(), text.size(), 5)),
            R"([{"bytes":400,"type":"f32[100]","op":"constant","source":""},)"
            R"({"bytes":36,"type":"f32[9]","op":"head","source":"a.py:7"}])");
}

TEST(HiddenMemoryTest, TakesAnyBytes) {
  const std::string bytes("\0\xff{%(\n}", 8);
  EXPECT_THAT(Take(plimsoll_hidden_memory(bytes.data(), bytes.size(), 0, 0)),
              HasSubstr("\"scratch\":0"));
}

// log(exp(x)), and x.
constexpr std::string_view kLogOfExp = R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "stablehlo.exponential"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.log"(%0) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ())";
constexpr std::string_view kSame = R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "func.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ())";

void AnswerSame(void* data, const char* types, PlimsollRuleAnswer* answer) {
  *static_cast<std::string*>(data) = types;
  plimsoll_rule_answer(answer, kLogOfExp.data(), kLogOfExp.size(), kSame.data(), kSame.size());
}

void Refuse(void* /*data*/, const char* /*types*/, PlimsollRuleAnswer* answer) {
  plimsoll_rule_refuse(answer, kLogOfExp.data(), kLogOfExp.size(), "not today");
}

void AnswerNonsense(void* /*data*/, const char* /*types*/, PlimsollRuleAnswer* answer) {
  plimsoll_rule_answer(answer, kLogOfExp.data(), kLogOfExp.size(), "?", 1);
}

PlimsollError* AddRule(const char* name, PlimsollRuleLower lower, void* data, PlimsollRule** rule) {
  const char* sample = kLogOfExp.data();
  const size_t size = kLogOfExp.size();
  return plimsoll_rule_add(name, &sample, &size, 1, lower, data, rule);
}

// The report on log(exp(x)).
std::string SimplifyLogOfExp() {
  PlimsollModule* module = nullptr;
  EXPECT_EQ(plimsoll_module_parse(kLogOfExp.data(), kLogOfExp.size(), "t", &module), nullptr);
  PlimsollModule* simplified = nullptr;
  PlimsollString* report = nullptr;
  EXPECT_EQ(plimsoll_module_simplify(module, "{}", &simplified, &report), nullptr);
  plimsoll_module_free(simplified);
  plimsoll_module_free(module);
  return Take(report);
}

TEST(RuleTest, IsUsedUntilItIsRemoved) {
  std::string types;
  PlimsollRule* rule = nullptr;
  ASSERT_EQ(AddRule("mine", AnswerSame, &types, &rule), nullptr);
  EXPECT_THAT(SimplifyLogOfExp(), HasSubstr(R"("rules":[{"rule":"mine")"));
  EXPECT_THAT(types, HasSubstr(R"("shape":[2],"element_type":"f32")"));
  EXPECT_THAT(Take(plimsoll_rules()), HasSubstr(R"({"name":"mine")"));
  plimsoll_rule_remove(rule);
  EXPECT_THAT(SimplifyLogOfExp(), HasSubstr(R"("rules":[])"));
}

TEST(RuleTest, TellsWhyItIsNotUsed) {
  PlimsollRule* rule = nullptr;
  ASSERT_EQ(AddRule("mine", Refuse, nullptr, &rule), nullptr);
  EXPECT_THAT(SimplifyLogOfExp(), HasSubstr(R"("reason":"not today")"));
  plimsoll_rule_remove(rule);
}

TEST(RuleTest, TellsWhatCannotBeRead) {
  PlimsollRule* rule = nullptr;
  ASSERT_EQ(AddRule("mine", AnswerNonsense, nullptr, &rule), nullptr);
  EXPECT_THAT(SimplifyLogOfExp(), HasSubstr(R"("reason":"PL102: a rule:1:1)"));
  plimsoll_rule_remove(rule);
}

TEST(RuleTest, HasANameOfItsOwn) {
  PlimsollRule* rule = nullptr;
  PlimsollRule* other = nullptr;
  ASSERT_EQ(AddRule("mine", Refuse, nullptr, &rule), nullptr);
  PlimsollError* error = AddRule("mine", Refuse, nullptr, &other);
  ASSERT_NE(error, nullptr);
  EXPECT_STREQ(plimsoll_error_code(error), "PL204");
  EXPECT_STREQ(plimsoll_error_message(error), "there is a rule called mine already");
  plimsoll_error_free(error);
  plimsoll_rule_remove(rule);
}

}  // namespace
