#include "compile/compile.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "stablehlo/text_reader.h"
#include "stablehlo/text_writer.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kProgram = R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "stablehlo.add"(%arg0, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ())";

std::unique_ptr<Module> Read(std::string_view text) {
  StatusOr<std::unique_ptr<Module>> module = ReadText(text, "t.mlir");
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return *std::move(module);
}

TEST(CompileTest, StepsHaveDifferentNamesAndAReason) {
  std::set<std::string_view> names;
  for (const Step& step : PipelineSteps()) {
    EXPECT_TRUE(names.insert(step.name).second) << step.name;
    EXPECT_FALSE(step.why.empty()) << step.name;
  }
}

TEST(CompileTest, LeavesAProgramAlone) {
  const std::unique_ptr<Module> module = Read(kProgram);
  const std::string before = WriteText(*module);
  EXPECT_TRUE(Compile(*module, {}).ok());
  EXPECT_EQ(WriteText(*module), before);
}

TEST(CompileTest, RefusesAStepThatDoesNotExist) {
  EXPECT_THAT(Compile(*Read(kProgram), {.stop_after = "fly", .dump_directory = {}}).ToString(),
              HasSubstr("PL204: there is no step called `fly`; the steps are: verify"));
}

TEST(CompileTest, RefusesAProgramThatBreaksTheRules) {
  std::string text(kProgram);
  text.replace(text.find("-> tensor<2xf32>\n    \"func.return\"(%0) : (tensor<2xf32>)"), 16,
               "-> tensor<3xf32>");
  text.replace(text.rfind("(tensor<2xf32>) -> ()"), 15, "(tensor<3xf32>)");
  EXPECT_THAT(Compile(*Read(text), {}).ToString(), HasSubstr("PL105: "));
}

TEST(CompileTest, WritesTheGraphAfterEachStep) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "plimsoll_compile_test" / "deep";
  std::filesystem::remove_all(folder.parent_path());
  const std::unique_ptr<Module> module = Read(kProgram);
  ASSERT_TRUE(Compile(*module, {.stop_after = {}, .dump_directory = folder.native()}).ok());
  std::ifstream file(folder / "1-verify.mlir");
  const std::string written((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(written, WriteText(*module));
}

TEST(CompileTest, SaysIfADumpCannotBeWritten) {
  EXPECT_THAT(
      Compile(*Read(kProgram), {.stop_after = {}, .dump_directory = "/proc/nowhere"}).ToString(),
      HasSubstr("PL201: /proc/nowhere/1-verify.mlir: cannot be written"));
}

}  // namespace
}  // namespace plimsoll
