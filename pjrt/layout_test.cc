#include "pjrt/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace plimsoll {
namespace {

using ::testing::ElementsAre;

bool IsRowMajor(std::vector<int64_t> dimensions, std::vector<int64_t> minor_to_major) {
  return plimsoll::IsRowMajor(std::span<const int64_t>(dimensions),
                              std::span<const int64_t>(minor_to_major));
}

std::vector<uint8_t> ToRowMajor(std::vector<int64_t> dimensions,
                                std::vector<int64_t> minor_to_major,
                                const std::vector<uint8_t>& source) {
  std::vector<uint8_t> destination(source.size());
  plimsoll::ToRowMajor({ElementType::kU8, std::move(dimensions)}, minor_to_major,
                       std::as_bytes(std::span(source)),
                       std::as_writable_bytes(std::span(destination)));
  return destination;
}

TEST(LayoutTest, KnowsRowMajorOrders) {
  EXPECT_TRUE(IsRowMajor({}, {}));
  EXPECT_TRUE(IsRowMajor({5}, {0}));
  EXPECT_TRUE(IsRowMajor({2, 3, 4}, {2, 1, 0}));
  EXPECT_FALSE(IsRowMajor({2, 3}, {0, 1}));
  EXPECT_FALSE(IsRowMajor({2, 3, 4}, {2, 0, 1}));
}

TEST(LayoutTest, DimensionsOfSizeOneMayStandAnywhere) {
  EXPECT_TRUE(IsRowMajor({1, 3}, {0, 1}));
  EXPECT_TRUE(IsRowMajor({2, 1, 4}, {1, 2, 0}));
  EXPECT_FALSE(IsRowMajor({2, 1, 4}, {0, 1, 2}));
}

TEST(LayoutTest, TurnsColumnsIntoRows) {
  EXPECT_THAT(ToRowMajor({2, 3}, {0, 1}, {1, 4, 2, 5, 3, 6}), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(LayoutTest, TurnsAnyOrderIntoRows) {
  // Dimension 0 varies fastest, then 2, then 1.
  EXPECT_THAT(ToRowMajor({2, 2, 2}, {0, 2, 1}, {0, 4, 1, 5, 2, 6, 3, 7}),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(LayoutTest, MovesWholeElements) {
  const std::vector<float> source = {1, 3, 2, 4};
  std::vector<float> destination(4);
  const std::vector<int64_t> columns = {0, 1};
  plimsoll::ToRowMajor({ElementType::kF32, {2, 2}}, columns, std::as_bytes(std::span(source)),
                       std::as_writable_bytes(std::span(destination)));
  EXPECT_THAT(destination, ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace plimsoll
