#include "pjrt/compile_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

// Bytes with zeros in them.
template <size_t size>
std::string Bytes(const char (&literal)[size]) {
  return std::string(literal, size - 1);
}

TEST(CompileOptionsTest, WritesReplicasAndPartitions) {
  // executable_build_options { device_ordinal: -1 num_replicas: 1 num_partitions: 1 process_count:
  // 1 }
  EXPECT_EQ(*Serialize({}), Bytes("\x1a\x12"
                                  "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                  "\x20\x01\x28\x01\xb8\x01\x01"));
  EXPECT_EQ(*Serialize({300, 2, {}}), Bytes("\x1a\x13"
                                            "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                            "\x20\xac\x02\x28\x02\xb8\x01\x01"));
}

TEST(CompileOptionsTest, WritesFlagsOfEveryType) {
  const std::string without_flags = *Serialize({});
  const auto with_flag = [&](OptionValue value) {
    return Serialize({1, 1, {{"xla_a", std::move(value)}}})->substr(without_flags.size());
  };
  // env_option_overrides { key: "xla_a" value { string_field: "no" } }, and so on.
  EXPECT_EQ(with_flag("no"), Bytes("\x3a\x0d\x0a\x05xla_a\x12\x04\x0a\x02no"));
  EXPECT_EQ(with_flag(true), Bytes("\x3a\x0b\x0a\x05xla_a\x12\x02\x10\x01"));
  EXPECT_EQ(with_flag(false), Bytes("\x3a\x0b\x0a\x05xla_a\x12\x02\x10\x00"));
  EXPECT_EQ(with_flag(int64_t{7}), Bytes("\x3a\x0b\x0a\x05xla_a\x12\x02\x18\x07"));
  EXPECT_EQ(with_flag(1.5),
            Bytes("\x3a\x12\x0a\x05xla_a\x12\x09\x21\x00\x00\x00\x00\x00\x00\xf8\x3f"));
}

TEST(CompileOptionsTest, RefusesLists) {
  const auto bytes = Serialize({1, 1, {{"xla_a", std::vector<int64_t>{1}}}});
  EXPECT_EQ(bytes.status().code(), ErrorCode::kBadArgument);
  EXPECT_THAT(bytes.status().message(), HasSubstr("XLA flag xla_a: expected text"));
}

}  // namespace
}  // namespace plimsoll
