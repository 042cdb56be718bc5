#include "kernels/cpu/kernel_scratch.h"

#include <vector>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

constexpr ScratchNeed kNeed = {.worker_bytes = 128, .common_bytes = 64};

TEST(KernelScratch, IsEnoughForAllThatWereCounted) {
  std::vector<char> bytes(static_cast<size_t>(kNeed.BytesFor(3)) + 1);
  // Wherever it begins.
  for (const size_t offset : {0, 1}) {
    const llvm::MutableArrayRef<char> scratch(bytes.data() + offset, bytes.size() - 1);
    const StatusOr<KernelScratch> shared = ShareScratch(scratch, kNeed, 3);
    ASSERT_TRUE(shared.ok()) << shared.status().ToString();
    EXPECT_EQ(shared->worker_count, 3);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(shared->workers) % kScratchAlignment, 0U);
    EXPECT_GE(shared->workers, scratch.begin());
    EXPECT_EQ(shared->common, shared->workers + 3 * kNeed.worker_bytes);
    EXPECT_LE(shared->common + kNeed.common_bytes, scratch.end());
  }
}

TEST(KernelScratch, IsForFewerWhereThereIsLess) {
  std::vector<char> bytes(static_cast<size_t>(kNeed.BytesFor(2)));
  const StatusOr<KernelScratch> shared = ShareScratch(bytes, kNeed, 3);
  ASSERT_TRUE(shared.ok()) << shared.status().ToString();
  EXPECT_EQ(shared->worker_count, 2);
}

TEST(KernelScratch, FailsWithoutRoomForOne) {
  std::vector<char> bytes(static_cast<size_t>(kNeed.worker_bytes));
  EXPECT_FALSE(ShareScratch(bytes, kNeed, 3).ok());
  EXPECT_FALSE(ShareScratch({}, kNeed, 1).ok());
}

TEST(KernelScratch, MayBeNothing) {
  std::vector<char> bytes(static_cast<size_t>(ScratchNeed{}.BytesFor(5)));
  const StatusOr<KernelScratch> shared = ShareScratch(bytes, {}, 5);
  ASSERT_TRUE(shared.ok()) << shared.status().ToString();
  EXPECT_EQ(shared->worker_count, 5);
}

}  // namespace
}  // namespace plimsoll
