#include "kernels/cpu/kernel_cost.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/machine.h"
#include "kernels/tile_text.h"

namespace plimsoll {
namespace {

constexpr std::string_view kSums = R"(axes r c
operand f32[r]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = exponential %2
result f32[r] = add c %3
)";

KernelCost CostFor(std::string_view text, const std::vector<int64_t>& lengths, int64_t threads,
                   int64_t most_scratch) {
  const StatusOr<TileProgram> program = ReadTiles(text);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  if (!program.ok()) return {};
  const StatusOr<KernelCost> cost = CostOnCpu(*program, lengths, threads, most_scratch);
  EXPECT_TRUE(cost.ok()) << cost.status().ToString();
  return cost.ok() ? *cost : KernelCost{};
}

double SecondsFor(std::string_view text, const std::vector<int64_t>& lengths) {
  return CostFor(text, lengths, /*threads=*/2, INT64_MAX).seconds - kSecondsPerCall;
}

// How fast a machine is, with its vectors, is measured; costs must not count them once more.
TEST(KernelCost, IsTheSameForAllVectors) {
  EXPECT_EQ(FittedLanes(HostMachine().vector_bytes / 4), 16);
  EXPECT_EQ(FittedLanes(HostMachine().vector_bytes / 8), 8);
}

TEST(KernelCost, GrowsWithWhatIsComputed) {
  const double few = SecondsFor(kSums, {1000, 1000});
  EXPECT_GT(few, 0);
  EXPECT_NEAR(SecondsFor(kSums, {1000, 4000}), 4 * few, 1e-9);
  EXPECT_NEAR(SecondsFor(kSums, {3000, 1000}), 3 * few, 1e-9);
}

TEST(KernelCost, HasFewerThreadsWhereScratchIsShort) {
  // Not the same points: there is one way to run it.
  const std::vector<int64_t> lengths = {10'000, 9'999};
  const KernelCost one = CostFor(kSums, lengths, 1, INT64_MAX);
  const KernelCost all = CostFor(kSums, lengths, 8, INT64_MAX);
  EXPECT_GT(all.scratch_bytes, 7 * one.scratch_bytes);
  const KernelCost half = CostFor(kSums, lengths, 8, all.scratch_bytes / 2 + 64);
  EXPECT_EQ(half.scratch_bytes, CostFor(kSums, lengths, 4, INT64_MAX).scratch_bytes);
  EXPECT_NEAR(half.seconds - kSecondsPerCall, 2 * (all.seconds - kSecondsPerCall), 1e-9);
  // There is always one.
  EXPECT_EQ(CostFor(kSums, lengths, 8, 0).scratch_bytes, one.scratch_bytes);
}

TEST(KernelCost, GrowsWithSegmentsOnlyAsTheirResultDoes) {
  constexpr std::string_view kSegments = R"(axes r c g0
operand f32[r]
operand f32[c]
operand i32[r]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = exponential %2
%4 = load 2
result f32[g0, c] = add r by %4 %3
)";
  const double one = SecondsFor(kSegments, {1000, 1000, 1});
  EXPECT_GT(one, SecondsFor(kSums, {1000, 1000}));
  EXPECT_LT(SecondsFor(kSegments, {1000, 1000, 16}), 2 * one);
  EXPECT_GT(SecondsFor(kSegments, {1000, 1000, 10000}), 10 * one);
}

}  // namespace
}  // namespace plimsoll
