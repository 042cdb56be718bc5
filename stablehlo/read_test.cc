#include "stablehlo/read.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "stablehlo/testing.h"

namespace plimsoll {
namespace {

using ::testing::StartsWith;

TEST(ReadTest, TellsBytecodeFromText) {
  const std::string bytecode = testing::ReadTestData("program.mlirbc");
  const std::string text = testing::ReadTestData("program.mlir");
  EXPECT_TRUE(ReadModule(bytecode, "b").ok());
  EXPECT_TRUE(ReadModule(text, "t").ok());
}

TEST(ReadTest, SaysWhatIsNeither) {
  EXPECT_EQ(ReadModule("", "e").status().ToString(),
            "PL100: e: is empty, expected a StableHLO program");
  EXPECT_THAT(ReadModule(std::string_view("\0\1\2", 3), "n").status().ToString(),
              StartsWith("PL100: n: is neither MLIR bytecode"));
}

}  // namespace
}  // namespace plimsoll
