#include "kernels/cpu/kernel_shape.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "kernels/cpu/machine.h"
#include "kernels/tile_text.h"

namespace plimsoll {
namespace {

TileProgram Read(std::string_view text) {
  StatusOr<TileProgram> program = ReadTiles(text);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return program.ok() ? *program : TileProgram();
}

CpuMachine WideMachine() { return *MachineNamed("x86-64-v4"); }

// So many exponentials of each pair, one of the other.
std::string Exponentials(int count) {
  std::string text = "axes r c\noperand f32[r]\noperand f32[c]\n%0 = load 0\n%1 = load 1\n";
  text += "%2 = subtract %0, %1\n";
  for (int i = 3; i < count + 3; ++i) text += StrCat("%", i, " = exponential %", i - 1, "\n");
  return StrCat(text, "result f32[r] = add c %", count + 2, "\n");
}

// So many products of matrices, and their sum's exponential.
std::string Products(int count) {
  std::string text = "axes r c l0\n";
  for (int i = 0; i < count; ++i) text += "operand f32[r, l0]\noperand f32[c, l0]\n";
  for (int i = 0; i < count; ++i) {
    const int first = 4 * i;
    text += StrCat("%", first, " = load ", 2 * i, "\n%", first + 1, " = load ", 2 * i + 1, "\n%",
                   first + 2, " = multiply %", first, ", %", first + 1, "\n%", first + 3,
                   " = fold add l0 %", first + 2, "\n");
  }
  int last = 3;
  for (int i = 1; i < count; ++i) {
    const int next = 4 * count + i - 1;
    text += StrCat("%", next, " = add %", last, ", %", 4 * i + 3, "\n");
    last = next;
  }
  const int result = 4 * count + count - 1;
  text += StrCat("%", result, " = exponential %", last, "\n");
  return StrCat(text, "result f32[r] = add c %", result, "\n");
}

int SizeOf(std::string_view text) {
  const KernelShape shape = ChooseShape(Read(text), WideMachine());
  EXPECT_EQ(shape.block % (int64_t{shape.lanes} * shape.vectors), 0);
  return shape.rows * shape.vectors;
}

TEST(KernelShape, HasFewerRowsWhereTheBodyIsLarge) {
  EXPECT_EQ(SizeOf(Exponentials(1)), 8);
  EXPECT_LT(SizeOf(Exponentials(10)), 8);
  EXPECT_EQ(SizeOf(Exponentials(60)), 1);
}

TEST(KernelShape, HasFewerRowsForSeveralProducts) {
  EXPECT_EQ(SizeOf(Products(1)), 16);
  EXPECT_LT(SizeOf(Products(6)), 16);
}

TEST(KernelShape, RefusesWhatLlvmWouldTakeSecondsFor) {
  EXPECT_TRUE(ExpectMachine(Read(Exponentials(60)), WideMachine()).ok());
  EXPECT_FALSE(ExpectMachine(Read(Exponentials(1000)), WideMachine()).ok());
}

}  // namespace
}  // namespace plimsoll
