#include "pjrt/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "pjrt/engine.h"
#include "pjrt_c_api.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::Not;

std::string LoadingError(const std::string& path) {
  const auto plugin = Plugin::Load(path, /*verbose=*/false);
  EXPECT_FALSE(plugin.ok()) << path;
  EXPECT_EQ(plugin.status().code(), ErrorCode::kBadPlugin);
  return std::string(plugin.status().message());
}

std::string FakePluginError(const char* flaw) {
  setenv("PLIMSOLL_FAKE_PLUGIN", flaw, /*replace=*/1);
  return LoadingError(PLIMSOLL_FAKE_PLUGIN);
}

std::string MakeFile(const std::string& name, const std::string& content) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << content;
  return path;
}

TEST(PluginTest, LoadsTheEmbeddedPlugin) {
  const auto plugin = Plugin::Load(PLIMSOLL_TEST_PLUGIN, /*verbose=*/false);
  ASSERT_TRUE(plugin.ok()) << plugin.status().ToString();
  EXPECT_EQ((*plugin)->ApiVersion(), StrCat(PJRT_API_MAJOR, '.', PJRT_API_MINOR));
  EXPECT_EQ((*plugin)->path(), PLIMSOLL_TEST_PLUGIN);
}

TEST(PluginTest, LoadsAPluginOnceHoweverItIsNamed) {
  const std::filesystem::path path = PLIMSOLL_TEST_PLUGIN;
  const auto first = Plugin::Load(path.string(), /*verbose=*/false);
  const auto second =
      Plugin::Load((path.parent_path() / "." / path.filename()).string(), /*verbose=*/false);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(&(*first)->api(), &(*second)->api());
}

TEST(PluginTest, LoadsARelativePath) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path path = PLIMSOLL_TEST_PLUGIN;
  std::filesystem::current_path(path.parent_path());
  const auto plugin = Plugin::Load(path.filename().string(), /*verbose=*/false);
  std::filesystem::current_path(before);
  EXPECT_TRUE(plugin.ok()) << plugin.status().ToString();
}

TEST(PluginTest, RefusesAMissingFile) {
  EXPECT_EQ(LoadingError("/no/such/plugin.so"),
            "PJRT plugin /no/such/plugin.so: expected a shared library, found no such file");
}

TEST(PluginTest, DoesNotSearchTheLoadersPaths) {
  EXPECT_THAT(LoadingError("libc.so.6"), EndsWith("found no such file"));
}

TEST(PluginTest, RefusesADirectory) {
  EXPECT_THAT(LoadingError(testing::TempDir()), EndsWith("found a directory"));
}

TEST(PluginTest, RefusesAPathThroughAFile) {
  EXPECT_THAT(LoadingError(MakeFile("file", "") + "/plugin.so"),
              HasSubstr("expected a shared library"));
}

TEST(PluginTest, RefusesAFileThatIsNoLibrary) {
  const std::string path = MakeFile("text.so", std::string(1000, 'x'));
  EXPECT_EQ(
      LoadingError(path),
      StrCat("PJRT plugin ", path, ": cannot be loaded as a shared library: invalid ELF header"));
  EXPECT_THAT(LoadingError(MakeFile("empty.so", "")),
              HasSubstr("cannot be loaded as a shared library: file too short"));
}

TEST(PluginTest, RefusesALibraryThatIsNoPlugin) {
  EXPECT_THAT(LoadingError(PLIMSOLL_NOT_A_PLUGIN),
              EndsWith("is a shared library but no PJRT plugin: it has no function GetPjrtApi"));
}

TEST(PluginTest, RefusesAPluginThatGivesNothing) {
  EXPECT_THAT(FakePluginError("nothing"), EndsWith("its function GetPjrtApi returned nothing"));
}

TEST(PluginTest, RefusesATableWithoutAVersion) {
  EXPECT_THAT(FakePluginError("tiny"), HasSubstr("too small to hold a version"));
}

TEST(PluginTest, RefusesAnotherMajorVersion) {
  EXPECT_THAT(FakePluginError("version"),
              HasSubstr(StrCat("expected major version ", PJRT_API_MAJOR,
                               " of the PJRT interface, found ", PJRT_API_MAJOR + 1, '.')));
}

TEST(PluginTest, NamesTheFunctionThatAnOldPluginLacks) {
  EXPECT_THAT(FakePluginError("old"),
              EndsWith("no function PJRT_Executable_GetCompiledMemoryStats"));
  EXPECT_THAT(FakePluginError("hole"), EndsWith("no function PJRT_Client_Compile"));
}

TEST(PluginTest, PassesOnThatAPluginCannotStart) {
  EXPECT_THAT(
      FakePluginError("initialize"),
      EndsWith("the engine could not initialize itself (unavailable): no driver; install it"));
}

TEST(PluginTest, PassesOnThatAPluginHasNoClient) {
  setenv("PLIMSOLL_FAKE_PLUGIN", "client", /*replace=*/1);
  const auto engine = Engine::Create({PLIMSOLL_FAKE_PLUGIN, {}, false});
  EXPECT_EQ(engine.status().code(), ErrorCode::kBadPlugin);
  EXPECT_THAT(
      engine.status().message(),
      AllOf(HasSubstr(PLIMSOLL_FAKE_PLUGIN),
            EndsWith("the engine could not create a client (unavailable): no such device")));
}

TEST(PluginTest, LeavesTheEnvironmentAsItWas) {
  ASSERT_EQ(std::getenv("TF_CPP_MIN_LOG_LEVEL"), nullptr);
  ASSERT_TRUE(Plugin::Load(PLIMSOLL_TEST_PLUGIN, /*verbose=*/false).ok());
  EXPECT_EQ(std::getenv("TF_CPP_MIN_LOG_LEVEL"), nullptr);
}

// The plugin logs this option when it makes a client. Each case runs in a process of its own,
// because the first load of a plugin decides whether it logs.
void CreateEngineAndExit(bool verbose) {
  const auto engine =
      Engine::Create({PLIMSOLL_TEST_PLUGIN, {{"cpu_device_count", int64_t{1}}}, verbose});
  std::_Exit(engine.ok() ? 0 : 1);
}

TEST(PluginDeathTest, IsSilentUnlessAskedForItsLog) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(CreateEngineAndExit(/*verbose=*/false), ExitedWithCode(0),
              Not(HasSubstr("cpu_device_count")));
  EXPECT_EXIT(CreateEngineAndExit(/*verbose=*/true), ExitedWithCode(0),
              HasSubstr("cpu_device_count"));
}

TEST(PluginDeathTest, FollowsTheUsersLogLevel) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  setenv("TF_CPP_MIN_LOG_LEVEL", "0", /*replace=*/1);
  EXPECT_EXIT(CreateEngineAndExit(/*verbose=*/false), ExitedWithCode(0),
              HasSubstr("cpu_device_count"));
  unsetenv("TF_CPP_MIN_LOG_LEVEL");
}

}  // namespace
}  // namespace plimsoll
