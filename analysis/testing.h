// What tests of axes, cuts and ops on chunks share: small programs.

#ifndef PLIMSOLL_ANALYSIS_TESTING_H_
#define PLIMSOLL_ANALYSIS_TESTING_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/axis_rules.h"
#include "gtest/gtest.h"
#include "ir/graph.h"
#include "ir/status.h"
#include "ir/verify.h"
#include "stablehlo/text_reader.h"
#include "stablehlo/text_writer.h"

namespace plimsoll::testing {

// A value of a program and its type: {"%d", "8x8xf32"}.
using NamedType = std::pair<std::string_view, std::string_view>;

// A program whose arguments %0, %1, ... have these types, with ops in generic text. Null if it is
// not right.
inline std::unique_ptr<Module> Program(const std::vector<std::string_view>& arguments,
                                       std::string_view ops,
                                       const std::vector<NamedType>& results) {
  std::string types;
  std::string values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view separator = i == 0 ? "" : ", ";
    types += StrCat(separator, "tensor<", arguments[i], ">");
    values += StrCat(separator, "%", i, ": tensor<", arguments[i], ">");
  }
  std::string result_types;
  std::string returned;
  for (const auto& [name, type] : results) {
    const std::string_view separator = returned.empty() ? "" : ", ";
    result_types += StrCat(separator, "tensor<", type, ">");
    returned += StrCat(separator, name);
  }
  const std::string text = StrCat(
      "\"builtin.module\"() ({ \"func.func\"() <{function_type = (", types, ") -> (", result_types,
      "), sym_name = \"main\"}> ({ ^bb0(", values, "):\n", ops, "\n\"func.return\"(", returned,
      ") : (", result_types, ") -> () }) : () -> () }) : () -> ()");
  StatusOr<std::unique_ptr<Module>> module = ReadText(text, "test");
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  if (!module.ok()) return nullptr;
  EXPECT_TRUE(Verify(**module).ok()) << Verify(**module).ToString();
  return *std::move(module);
}

// The function without its frame.
inline std::string BodyText(const Module& module) {
  const std::string text = WriteText(*module.main());
  const size_t begin = text.find("^bb0(");
  return text.substr(begin, text.rfind("}) :") - begin);
}

// A program of one op, whose results nobody uses.
inline std::unique_ptr<Module> OneOp(const std::vector<std::string_view>& arguments,
                                     std::string_view op) {
  return Program(arguments, op, {});
}

// The axis rule of that one op, one factor a line.
inline std::string RuleOf(const std::vector<std::string_view>& arguments, std::string_view op) {
  const std::unique_ptr<Module> module = OneOp(arguments, op);
  return module == nullptr ? "" : ToString(AxisRuleOf(*module->main()->entry_block()->first()));
}

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_ANALYSIS_TESTING_H_
