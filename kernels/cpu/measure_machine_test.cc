#include "kernels/cpu/measure_machine.h"

#include <cmath>

#include "gtest/gtest.h"
#include "kernels/cpu/testing_disk.h"

namespace plimsoll {
namespace {

using testing::TemporaryFolder;

void ExpectPossible(double number) {
  // At the bounds nothing was measured.
  EXPECT_GT(number, 1.0 / 16);
  EXPECT_LT(number, 16);
  const double power = 2 * std::log2(number);
  EXPECT_NEAR(power, std::round(power), 1e-9);
}

TEST(MeasureMachine, GivesPowersOfTheRootOfTwo) {
  KernelStore store("");
  const StatusOr<MachineSpeed> speed = MeasureMachine(store);
  ASSERT_TRUE(speed.ok()) << speed.status().ToString();
  ExpectPossible(speed->products);
  ExpectPossible(speed->elementwise);
  ExpectPossible(speed->memory);
  ExpectPossible(speed->pages);
}

TEST(FindMachineSpeed, TakesWhatIsKept) {
  const TemporaryFolder folder;
  const MachineSpeed kept = {.products = 16, .elementwise = 0.0625, .memory = 8, .pages = 0.125};
  {
    KernelStore store(folder.path());
    store.PutText("speed of the machine", WriteSpeed(kept));
  }
  KernelStore store(folder.path());
  const StatusOr<MachineSpeed> found = FindMachineSpeed(store);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, kept);
}

TEST(FindMachineSpeed, MeasuresWhereNothingUsefulIsKept) {
  const TemporaryFolder folder;
  KernelStore store(folder.path());
  store.PutText("speed of the machine", "1 1 fast 1");
  const StatusOr<MachineSpeed> found = FindMachineSpeed(store);
  ASSERT_TRUE(found.ok());
  ExpectPossible(found->products);
  EXPECT_EQ(store.GetText("speed of the machine"), WriteSpeed(*found));
}

TEST(ReadSpeed, RefusesWhatNoMachineHas) {
  for (const char* text :
       {"", "1 1 1", "1 1 1 1 1", "1 1 1 0", "1 1 1 nan", "1 1 1 1e9", "1 -1 1 1"}) {
    EXPECT_FALSE(ReadSpeed(text).ok()) << text;
  }
  const MachineSpeed speed = {.products = 2, .elementwise = 0.5, .memory = 1, .pages = 4};
  EXPECT_EQ(*ReadSpeed(WriteSpeed(speed)), speed);
}

}  // namespace
}  // namespace plimsoll
