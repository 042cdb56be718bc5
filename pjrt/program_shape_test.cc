#include "pjrt/program_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

// A field that holds bytes, shorter than 128.
std::string Field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

std::string Number(int number, char value) {
  return std::string{static_cast<char>(number << 3), value};
}

// An HloModuleProto whose entry computation takes the given ShapeProtos.
std::string Module(const std::vector<std::string>& shapes) {
  std::string program_shape;
  for (const std::string& shape : shapes) program_shape += Field(1, shape);
  const std::string result = Field(2, Number(2, 11));
  return Field(1, "name") + Number(5, 3) + Field(4, program_shape + result) + Field(3, "ignored");
}

// The ShapeProtos of tensor<2x3xf32> and tensor<i1>.
std::string Matrix() { return Number(2, 11) + Field(3, "\x02\x03"); }
std::string Bool() { return Number(2, 1); }

TEST(ProgramShapeTest, ReadsArguments) {
  EXPECT_THAT(ArgumentsOfHloModule(Module({Matrix(), Bool()})),
              Optional(ElementsAre(ProgramArgument{{ElementType::kF32, {2, 3}}},
                                   ProgramArgument{{ElementType::kPRED, {}}})));
  EXPECT_THAT(ArgumentsOfHloModule(Module({})), Optional(IsEmpty()));
}

TEST(ProgramShapeTest, ReadsAModuleWithItsConfiguration) {
  EXPECT_THAT(ArgumentsOfHloModuleWithConfig(Field(1, Module({Bool()})) + Field(2, "x")),
              Optional(ElementsAre(ProgramArgument{{ElementType::kPRED, {}}})));
}

TEST(ProgramShapeTest, ReadsDimensionsThatAreNotPacked) {
  const std::string shape = Number(2, 11) + Number(3, 2) + Number(3, 3);
  EXPECT_THAT(ArgumentsOfHloModule(Module({shape})),
              Optional(ElementsAre(ProgramArgument{{ElementType::kF32, {2, 3}}})));
}

TEST(ProgramShapeTest, ReadsLargeDimensions) {
  EXPECT_THAT(ArgumentsOfHloModule(Module({Number(2, 11) + Field(3, "\x80\x80\x80\x01")})),
              Optional(ElementsAre(ProgramArgument{{ElementType::kF32, {1 << 21}}})));
}

TEST(ProgramShapeTest, ReadsTheOrderOfDimensions) {
  const std::string rows = Matrix() + Field(5, Field(1, std::string("\1\0", 2)));
  const std::string columns = Matrix() + Field(5, Field(1, std::string("\0\1", 2)));
  EXPECT_THAT(ArgumentsOfHloModule(Module({rows, columns})),
              Optional(ElementsAre(ProgramArgument{{ElementType::kF32, {2, 3}}, true},
                                   ProgramArgument{{ElementType::kF32, {2, 3}}, false})));
}

TEST(ProgramShapeTest, SkipsFieldsOfFixedSize) {
  const std::string fixed = std::string("\x49") + "12345678" + "\x55" + "1234";
  EXPECT_THAT(ArgumentsOfHloModule(fixed + Module({Bool()})),
              Optional(ElementsAre(ProgramArgument{{ElementType::kPRED, {}}})));
}

TEST(ProgramShapeTest, KnowsNothingOfOtherArguments) {
  const std::string dynamic = Matrix() + Field(6, std::string("\0\1", 2));
  const std::string tuple = Number(2, 13) + Field(4, Matrix());
  EXPECT_EQ(ArgumentsOfHloModule(Module({dynamic})), std::nullopt);
  EXPECT_EQ(ArgumentsOfHloModule(Module({Matrix(), tuple})), std::nullopt);
}

TEST(ProgramShapeTest, KnowsNothingOfBrokenBytes) {
  EXPECT_EQ(ArgumentsOfHloModule(""), std::nullopt);
  EXPECT_EQ(ArgumentsOfHloModuleWithConfig(""), std::nullopt);
  // A varint without an end, one that is too long, a length past the end, an unknown wire type.
  EXPECT_EQ(ArgumentsOfHloModule("\xff"), std::nullopt);
  EXPECT_EQ(ArgumentsOfHloModule(std::string(20, '\xff')), std::nullopt);
  EXPECT_EQ(ArgumentsOfHloModule("\x22\x7f"), std::nullopt);
  EXPECT_EQ(ArgumentsOfHloModule("\x23"), std::nullopt);
  // An order of dimensions that are not there.
  EXPECT_EQ(ArgumentsOfHloModule(Module({Matrix() + Field(5, Field(1, "\2\1"))})), std::nullopt);
}

TEST(ProgramShapeTest, ReadsNoPrefixWrongly) {
  const std::string module = Field(4, Field(1, Matrix()));
  for (size_t size = 0; size < module.size(); ++size) {
    EXPECT_EQ(ArgumentsOfHloModule(module.substr(0, size)), std::nullopt) << size;
  }
}

}  // namespace
}  // namespace plimsoll
