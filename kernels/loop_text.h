// Loop programs as text: what tests and people read, what a call of a kernel carries, and what the
// cache knows a kernel by.
//
//   loop
//   operand f32[b, 2]
//   %0 = load 0 0
//   %1 = load 0 1
//   %2 = constant i32 0
//   %3 = state f32[b] %0
//   %4 = state i32 %2
//   %5 = constant i32 500
//   %6 = compare lt %4, %5
//   %7 = multiply %3, %1
//   %8 = constant i32 1
//   %9 = add %4, %8
//   next %3 = %7
//   next %4 = %9
//   while %6
//   result f32[b] = %3
//   result f32[t, b] at %4 = %7

#ifndef PLIMSOLL_KERNELS_LOOP_TEXT_H_
#define PLIMSOLL_KERNELS_LOOP_TEXT_H_

#include <string>
#include <string_view>

#include "ir/status.h"
#include "kernels/loop_program.h"

namespace plimsoll {

std::string WriteLoop(const LoopProgram& program);

// True if the text is meant to be a loop program.
bool IsLoopText(std::string_view text);
// The program that the text stands for, verified.
StatusOr<LoopProgram> ReadLoop(std::string_view text);

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_LOOP_TEXT_H_
