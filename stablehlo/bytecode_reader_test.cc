#include "stablehlo/bytecode_reader.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "stablehlo/testing.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using testing::ReadTestData;
using testing::Rewrite;

std::string ReadAndWrite(std::string_view bytes) {
  const StatusOr<std::unique_ptr<Module>> module = ReadBytecode(bytes, "b");
  return module.ok() ? WriteText(**module) : module.status().ToString();
}

class FormTest : public ::testing::TestWithParam<const char*> {};
TEST_P(FormTest, IsTheSameProgramAsItsText) {
  const std::string name = GetParam();
  const std::string bytes = ReadTestData(name);
  const std::string text = ReadTestData(name.substr(0, name.find_first_of("-.")) + ".mlir");
  EXPECT_EQ(ReadAndWrite(bytes), Rewrite(text, Locations::kWrite));
}
INSTANTIATE_TEST_SUITE_P(All, FormTest,
                         ::testing::Values("program-1.0.0.artifact", "program-1.9.0.artifact",
                                           "program-1.22.0.artifact", "program.mlirbc",
                                           "mixed-1.22.0.artifact", "mixed.mlirbc"));

TEST(BytecodeReaderTest, RefusesArtifactsOlderThanOne) {
  EXPECT_THAT(ReadAndWrite(ReadTestData("program-0.9.0.artifact")),
              HasSubstr("PL103: b: at byte 22: not understood: an artifact of StableHLO_v0.9.0, "
                        "which is older than StableHLO_v1.0.0"));
}

TEST(BytecodeReaderTest, NamesAnOpFromTheFuture) {
  std::string bytes = ReadTestData("program-1.22.0.artifact");
  const size_t position = bytes.find("exponential_v2");
  ASSERT_NE(position, std::string::npos);
  bytes.replace(position, 14, "exponential_v9");
  EXPECT_THAT(
      ReadAndWrite(bytes),
      HasSubstr("not understood: the op vhlo.exponential_v9 (written by StableHLO_v1.22.0)"));
}

TEST(BytecodeReaderTest, RefusesAnotherVersionOfTheFormat) {
  std::string bytes = ReadTestData("program.mlirbc");
  bytes[4] = 0x0F;
  EXPECT_THAT(ReadAndWrite(bytes), HasSubstr("not understood: MLIR bytecode of version 7"));
}

TEST(BytecodeReaderTest, RefusesEveryTruncation) {
  for (const char* name : {"program-1.22.0.artifact", "mixed.mlirbc"}) {
    const std::string bytes = ReadTestData(name);
    for (size_t size = 4; size < bytes.size(); ++size) {
      const Status status = ReadBytecode(std::string_view(bytes).substr(0, size), "b").status();
      EXPECT_FALSE(status.ok()) << name << " cut to " << size;
      EXPECT_THAT(std::string(status.message()), HasSubstr("at byte "))
          << name << " cut to " << size;
    }
  }
}

TEST(BytecodeReaderTest, SurvivesEveryFlippedBit) {
  const std::string original = ReadTestData("program-1.22.0.artifact");
  for (size_t bit = 0; bit < 8 * original.size(); ++bit) {
    std::string bytes = original;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    (void)ReadAndWrite(bytes);
  }
}

TEST(BytecodeReaderTest, BorrowsConstants) {
  const std::string bytes = ReadTestData("program.mlirbc");
  const StatusOr<std::unique_ptr<Module>> module = ReadBytecode(bytes, "b");
  ASSERT_TRUE(module.ok());
  size_t borrowed = 0;
  Walk((*module)->op(), [&](Op& op) {
    if (!op.Is(Opcode::kConstant)) return;
    const char* data = op.Get("value").bytes().data();
    if (data >= bytes.data() && data < bytes.data() + bytes.size()) ++borrowed;
  });
  EXPECT_GE(borrowed, 1U);
}

}  // namespace
}  // namespace plimsoll
