// XLA's optimized HLO as text, read into the few facts that an estimate needs: computations, their
// instructions, shapes, operands and attributes. The text is XLA's own output; what is not
// understood is left out, and no text is an error.

#ifndef PLIMSOLL_ANALYSIS_HLO_TEXT_H_
#define PLIMSOLL_ANALYSIS_HLO_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace plimsoll {

// More than any machine has, and few enough that sums and small multiples of it are numbers.
inline constexpr int64_t kMostBytes = int64_t{1} << 46;

// The sum and the product of two sizes, but no more than kMostBytes + 1.
int64_t AddSizes(int64_t a, int64_t b);
int64_t MultiplySizes(int64_t a, int64_t b);

struct HloShape {
  // Of an array; empty for a tuple.
  std::string_view element_type;
  llvm::SmallVector<int64_t, 4> dimensions;
  // From the fastest dimension to the slowest, as XLA writes it.
  llvm::SmallVector<int64_t, 4> minor_to_major;
  // Of a tuple: the sum over its arrays.
  int64_t bytes = 0;

  int64_t element_count() const;
};

struct HloInstruction {
  std::string_view name;
  std::string_view opcode;
  HloShape shape;
  // Numbers of instructions in the same computation.
  llvm::SmallVector<uint32_t, 4> operands;
  // What stands between the opcode's parentheses, and everything after them.
  std::string_view arguments;
  std::string_view attributes;

  // The text of the attribute `key`, such as "{1,0}" or "%fused_computation"; empty if there is
  // none.
  std::string_view Attribute(std::string_view key) const;
  // True if its result is another instruction's, seen in another way: it takes no memory.
  bool IsView() const;
  // The whole numbers in the attribute `key`, such as 1 and 0.
  llvm::SmallVector<int64_t, 4> Numbers(std::string_view key) const;
};

struct HloComputation {
  std::string_view name;
  std::vector<HloInstruction> instructions;
  size_t root = 0;
};

struct HloText {
  std::vector<HloComputation> computations;
  llvm::DenseMap<llvm::StringRef, uint32_t> computation_numbers;

  // The computation that is named after `key` in the instruction's attributes, or null.
  const HloComputation* Called(const HloInstruction& instruction, std::string_view key) const;
  // The computations that are the inside of a fusion: their instructions do not run on their own.
  llvm::DenseSet<const HloComputation*> Fused() const;
};

// Bytes of one element, 0 for a type without data (token, opaque).
int64_t ElementBytes(std::string_view element_type);

// Everything in the result points into `text`. Takes time in proportion to its length.
HloText ReadHloText(std::string_view text);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_HLO_TEXT_H_
