#include "analysis/library_scratch.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace plimsoll {
namespace {

const HloShape* OperandShape(const HloComputation& computation, const HloInstruction& instruction,
                             size_t number) {
  if (number >= instruction.operands.size()) return nullptr;
  return &computation.instructions[instruction.operands[number]].shape;
}

// A comparator of one comparison, of a type that the processor compares, is known to the library.
bool ComparesDirectly(const HloText& hlo, const HloInstruction& sort) {
  const HloComputation* comparator = hlo.Called(sort, "to_apply");
  return comparator != nullptr && comparator->instructions.size() == 3 &&
         comparator->instructions[comparator->root].opcode == "compare";
}

// std::stable_sort moves through a copy of what it sorts. The general form keeps sixteen bytes for
// each value of any type.
int64_t SortScratch(const HloText& hlo, const HloComputation& computation,
                    const HloInstruction& sort, int64_t thread_count, PairSort pair_sort) {
  constexpr int64_t kPaddedBytes = 16;
  constexpr int64_t kLongestStridedPairs = 65536;
  if (sort.Attribute("is_stable") != "true") return 0;
  const HloShape* keys = OperandShape(computation, sort, 0);
  const llvm::SmallVector<int64_t, 4> dimensions = sort.Numbers("dimensions");
  if (keys == nullptr || dimensions.empty()) return 0;
  if (dimensions[0] >= static_cast<int64_t>(keys->dimensions.size())) return 0;
  const int64_t length = std::max<int64_t>(1, keys->dimensions[dimensions[0]]);
  const bool is_contiguous =
      keys->minor_to_major.empty() || keys->minor_to_major[0] == dimensions[0];
  const auto count = static_cast<int64_t>(sort.operands.size());
  int64_t bytes = kPaddedBytes * count;
  if (count == 1 && ComparesDirectly(hlo, sort)) bytes = ElementBytes(keys->element_type);
  if (count == 2 && pair_sort == PairSort::kPacked &&
      (is_contiguous || length <= kLongestStridedPairs)) {
    const HloShape* values = OperandShape(computation, sort, 1);
    bytes = 2 * std::max(ElementBytes(keys->element_type), ElementBytes(values->element_type));
  }
  const int64_t slices = keys->element_count() / length;
  return MultiplySizes(bytes * length, std::clamp<int64_t>(slices, 1, thread_count + 1));
}

int64_t LargestPrimeFactor(int64_t number) {
  int64_t largest = 1;
  for (int64_t factor = 2; factor * factor <= number; ++factor) {
    for (; number % factor == 0; number /= factor) largest = factor;
  }
  return std::max(largest, number);
}

// Each thread works on a line of its own, beside one table of roots. A length with a large prime
// factor is done as a convolution of more than twice the length.
int64_t FftScratch(const HloComputation& computation, const HloInstruction& fft,
                   int64_t thread_count) {
  constexpr int64_t kLinesOfConvolution = 8;
  // Longer than any memory holds: only a broken text has it, and its factors take long to find.
  constexpr int64_t kLongestLine = int64_t{1} << 40;
  const HloShape* operand = OperandShape(computation, fft, 0);
  if (operand == nullptr) return 0;
  const bool is_double = operand->element_type == "c128" || operand->element_type == "f64";
  const int64_t elements = std::max(operand->element_count(), fft.shape.element_count());
  int64_t most = 0;
  for (const int64_t length : fft.Numbers("fft_length")) {
    if (length <= 1 || length > elements || length > kLongestLine) continue;
    const int64_t prime = LargestPrimeFactor(length);
    const bool is_convolution = prime > length / prime;
    const int64_t line = length * (is_double ? 16 : 8) * (is_convolution ? kLinesOfConvolution : 1);
    const int64_t lines = std::clamp<int64_t>(elements / length, 1, thread_count + 1);
    most = std::max(most, MultiplySizes(line, lines));
  }
  return most;
}

// LAPACK's own formulas for the workspace of the routines that take more than a few columns.
int64_t LapackScratch(const HloComputation& computation, const HloInstruction& call,
                      std::string_view target) {
  const HloShape* matrix = OperandShape(computation, call, 0);
  if (matrix == nullptr || matrix->dimensions.size() < 2) return 0;
  const size_t rank = matrix->dimensions.size();
  const int64_t rows = matrix->dimensions[rank - 2];
  const int64_t columns = matrix->dimensions[rank - 1];
  const int64_t shorter = std::min(rows, columns);
  const int64_t longer = std::max(rows, columns);
  const int64_t bytes = ElementBytes(matrix->element_type);
  const llvm::StringRef name(target);
  constexpr int64_t kBlockColumns = 128;
  const int64_t blocks = longer * kBlockColumns * bytes;
  const int64_t column = shorter * bytes;
  const int64_t square = MultiplySizes(column, shorter);
  if (name.contains("geqrf") || name.contains("orgqr") || name.contains("ungqr")) {
    return columns * kBlockColumns * bytes;
  }
  if (name.contains("gesdd")) return blocks + 5 * square + 7 * column;
  if (name.contains("gesvd")) return blocks + 3 * square + 7 * column;
  if (name.contains("syevd") || name.contains("heevd")) {
    return blocks + 3 * square + 6 * column;
  }
  return blocks;
}

constexpr std::string_view kLapackPrefix = "lapack_";

std::string_view CustomCallTarget(const HloInstruction& call) {
  const std::string_view quoted = call.Attribute("custom_call_target");
  return quoted.size() < 2 ? quoted : quoted.substr(1, quoted.size() - 2);
}

int64_t CustomCallScratch(const HloComputation& computation, const HloInstruction& call) {
  const std::string_view target = CustomCallTarget(call);
  if (target == "TopK") {
    // The numbers of one row's elements.
    const HloShape* operand = OperandShape(computation, call, 0);
    if (operand == nullptr || operand->dimensions.empty()) return 0;
    return operand->dimensions.back() * 4;
  }
  if (target.starts_with(kLapackPrefix)) return LapackScratch(computation, call, target);
  return 0;
}

// Eigen packs slices of both operands, a few of them ahead.
int64_t DotScratch(const HloComputation& computation, const HloInstruction& dot) {
  constexpr int64_t kLongestSlice = 320;
  constexpr int64_t kMost = 32 << 20;
  const HloShape* left = OperandShape(computation, dot, 0);
  const HloShape* right = OperandShape(computation, dot, 1);
  if (left == nullptr || right == nullptr) return 0;
  const auto product = [&](std::string_view key) {
    int64_t elements = 1;
    for (const int64_t d : dot.Numbers(key)) {
      if (d >= static_cast<int64_t>(left->dimensions.size())) continue;
      elements = MultiplySizes(elements, std::max<int64_t>(1, left->dimensions[d]));
    }
    return elements;
  };
  const int64_t contracted = product("lhs_contracting_dims");
  const int64_t shared = MultiplySizes(contracted, product("lhs_batch_dims"));
  // A product with one vector is not packed.
  if (std::min(left->element_count(), right->element_count()) <= shared) return 0;
  const int64_t slice = std::min(contracted, kLongestSlice);
  const int64_t packed = MultiplySizes(2 * (left->bytes + right->bytes) / contracted, slice);
  return std::min(packed, kMost);
}

// Eigen's convolutions: one that inserts zeros into its input makes the product of each pixel with
// the whole kernel first, and one of volumes makes its result twice.
int64_t ConvolutionScratch(const HloComputation& computation, const HloInstruction& convolution) {
  constexpr int64_t kMostPacked = 8 << 20;
  const HloShape* input = OperandShape(computation, convolution, 0);
  const HloShape* kernel = OperandShape(computation, convolution, 1);
  if (input == nullptr || kernel == nullptr) return 0;
  // Pieces of the input, of the kernel and of the result.
  const int64_t packed = std::min(
      kMostPacked, AddSizes(AddSizes(input->bytes, kernel->bytes), convolution.shape.bytes));
  const std::string_view labels = convolution.Attribute("dim_labels");
  const size_t feature = labels.substr(0, labels.find('_')).find('f');
  if (feature >= input->dimensions.size()) return packed;
  const int64_t channels = std::max<int64_t>(1, input->dimensions[feature]);
  const bool inserts_zeros =
      convolution.Attribute("window").find("lhs_dilate") != std::string_view::npos;
  if (inserts_zeros && input->dimensions.size() <= 4) {
    // Eigen falls back to another way where this would be more than 8 GiB.
    constexpr int64_t kMost = int64_t{8} << 30;
    const int64_t pixels = std::max<int64_t>(1, input->element_count() / channels);
    const int64_t kernel_bytes = kernel->bytes / channels;
    return packed + (kernel_bytes > kMost / pixels ? 0 : pixels * kernel_bytes);
  }
  return packed + (input->dimensions.size() > 4 ? convolution.shape.bytes : 0);
}

}  // namespace

int64_t BlasScratch(const HloComputation& computation, const HloInstruction& instruction) {
  constexpr int64_t kAlways = 1 << 20;
  constexpr int64_t kMost = 16 << 20;
  if (instruction.opcode != "custom-call") return 0;
  if (!CustomCallTarget(instruction).starts_with(kLapackPrefix)) return 0;
  int64_t largest = 0;
  for (const auto operand : instruction.operands) {
    largest = std::max(largest, computation.instructions[operand].shape.bytes);
  }
  return std::min(kMost, AddSizes(kAlways, MultiplySizes(2, largest)));
}

int64_t LibraryScratch(const HloText& hlo, const HloComputation& computation,
                       const HloInstruction& instruction, int64_t thread_count,
                       PairSort pair_sort) {
  if (instruction.opcode == "sort") {
    return SortScratch(hlo, computation, instruction, thread_count, pair_sort);
  }
  if (instruction.opcode == "fft") return FftScratch(computation, instruction, thread_count);
  if (instruction.opcode == "custom-call") return CustomCallScratch(computation, instruction);
  if (instruction.opcode == "dot") return DotScratch(computation, instruction);
  if (instruction.opcode == "convolution") return ConvolutionScratch(computation, instruction);
  return 0;
}

}  // namespace plimsoll
