#include "pjrt/element_types.h"

#include <gtest/gtest.h>

#include <limits>

namespace plimsoll {
namespace {

TEST(ElementTypesTest, EveryTypeIsFoundByEachOfItsNames) {
  for (const ElementTypeInfo& info : ElementTypes()) {
    EXPECT_EQ(&Info(info.type), &info) << info.mlir_name;
    EXPECT_EQ(ElementTypeFromMlirName(info.mlir_name), info.type);
    EXPECT_EQ(ElementTypeFromPjrtNumber(info.pjrt_number), info.type);
    EXPECT_EQ(ElementTypeFromHloNumber(info.hlo_number), info.type);
  }
}

TEST(ElementTypesTest, UnknownNamesAreNoType) {
  EXPECT_EQ(ElementTypeFromMlirName("f6E2M3FN"), std::nullopt);
  EXPECT_EQ(ElementTypeFromMlirName(""), std::nullopt);
  EXPECT_EQ(ElementTypeFromPjrtNumber(0), std::nullopt);
  EXPECT_EQ(ElementTypeFromHloNumber(13), std::nullopt);
  EXPECT_EQ(ElementTypeFromHloNumber(std::numeric_limits<int64_t>::max()), std::nullopt);
  EXPECT_EQ(ElementTypeFromHloNumber(-1), std::nullopt);
}

TEST(ArrayTypeTest, IsWrittenAsInMlir) {
  EXPECT_EQ((ArrayType{ElementType::kF32, {}}).ToString(), "tensor<f32>");
  EXPECT_EQ((ArrayType{ElementType::kC64, {2, 0}}).ToString(), "tensor<2x0xcomplex<f32>>");
}

TEST(ArrayTypeTest, CountsBytesOnTheHost) {
  EXPECT_EQ((ArrayType{ElementType::kF64, {}}).HostBytes(), 8);
  EXPECT_EQ((ArrayType{ElementType::kC128, {2, 3}}).HostBytes(), 96);
  EXPECT_EQ((ArrayType{ElementType::kS4, {3}}).HostBytes(), 3);
  EXPECT_EQ((ArrayType{ElementType::kF32, {5, 0, 7}}).HostBytes(), 0);
}

TEST(ArrayTypeTest, KnowsSizesThatCannotBe) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  EXPECT_EQ((ArrayType{ElementType::kF32, {kHuge, kHuge}}).HostBytes(), std::nullopt);
  EXPECT_EQ((ArrayType{ElementType::kF32, {kHuge, kHuge, 0}}).HostBytes(), 0);
  EXPECT_EQ((ArrayType{ElementType::kF32, {-1}}).HostBytes(), std::nullopt);
  EXPECT_EQ((ArrayType{ElementType::kF32, {0, -1}}).HostBytes(), std::nullopt);
}

}  // namespace
}  // namespace plimsoll
