#include "kernels/cpu/measure_machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/cpu/run_kernel.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace plimsoll {
namespace {

constexpr std::string_view kName = "speed of the machine";
// At least so many, and so many seconds of what is short: a core takes a while to be at its speed.
constexpr int kRuns = 5;
constexpr double kLeastSeconds = 2e-3;
constexpr int64_t kRows = 64;
constexpr int64_t kColumns = 384;
constexpr int64_t kLength = 64;
constexpr int64_t kBytes = 16 << 20;
constexpr int64_t kPageBytes = 4096;
// No machine is faster or slower by more.
constexpr double kMostRatio = 16;

constexpr std::string_view kProducts = R"(axes r c l0
operand f32[r, l0]
operand f32[c, l0]
%0 = load 0
%1 = load 1
%2 = multiply %0, %1
%3 = fold add l0 %2
result f32[r] = add c %3
)";
constexpr std::string_view kElementwise = R"(axes r c
operand f32[r]
operand f32[c]
%0 = load 0
%1 = load 1
%2 = subtract %0, %1
%3 = multiply %2, %2
%4 = negate %3
%5 = exponential %4
result f32[r] = add c %5
)";

// What these take on the machine that the estimates were fitted to, in seconds of one core.
constexpr double kProductsSeconds = 3.4e-5;
constexpr double kElementwiseSeconds = 5.8e-6;
constexpr double kMemorySeconds = 1.4e-3;
constexpr double kPagesSeconds = 6.9e-3;

double SecondsOfThread() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The least of several runs.
double SecondsOf(llvm::function_ref<void()> run) {
  double least = std::numeric_limits<double>::infinity();
  double all = 0;
  for (int i = 0; i < kRuns || all < kLeastSeconds; ++i) {
    const double start = SecondsOfThread();
    run();
    const double seconds = SecondsOfThread() - start;
    least = std::min(least, seconds);
    all += seconds;
  }
  return least;
}

// Of a kernel of two operands and one result.
StatusOr<double> SecondsOfKernel(KernelStore& store, std::string_view text,
                                 const std::vector<std::vector<int64_t>>& shapes) {
  ASSIGN_OR_RETURN(const CompiledKernel* kernel, store.Find(text));
  std::vector<std::vector<float>> numbers;
  std::vector<KernelArray> arrays;
  for (const std::vector<int64_t>& shape : shapes) {
    numbers.emplace_back(static_cast<size_t>(ElementCount(shape)), 0.5F);
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    arrays.push_back({.data = numbers[i].data(), .shape = shapes[i]});
  }
  std::vector<int64_t> lengths = {kRows, kColumns, kLength};
  lengths.resize(kernel->program.axes.size());
  std::vector<char> scratch(
      static_cast<size_t>(ScratchBytes(kernel->program, kernel->shape, lengths, 1)));
  const llvm::ArrayRef<KernelArray> all(arrays);
  Status status;
  const double seconds = SecondsOf([&] {
    status = RunKernel(*kernel, all.drop_back(), all.take_back(), scratch, 1,
                       [](int64_t count, int64_t, RunTask task) {
                         for (int64_t i = 0; i < count; ++i) task(i, 0);
                       });
  });
  RETURN_IF_ERROR(status);
  return seconds;
}

double SecondsToCopy() {
  std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  return SecondsOf([&] {
    std::memcpy(to.data(), from.data(), kBytes);
    // Or else nothing is copied, since nobody reads it.
    asm volatile("" : : "r"(to.data()) : "memory");
  });
}

// To take memory from the system and to touch it.
double SecondsToTake() {
  return SecondsOf([] {
    void* memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    for (int64_t i = 0; i < kBytes; i += kPageBytes) {
      static_cast<volatile char*>(memory)[i] = 1;
    }
    munmap(memory, kBytes);
  });
}

double Rounded(double seconds, double usual) {
  const double ratio = std::clamp(seconds / usual, 1 / kMostRatio, kMostRatio);
  return std::exp2(std::round(2 * std::log2(ratio)) / 2);
}

}  // namespace

StatusOr<MachineSpeed> MeasureMachine(KernelStore& store) {
  ASSIGN_OR_RETURN(
      const double products,
      SecondsOfKernel(store, kProducts, {{kRows, kLength}, {kColumns, kLength}, {kRows}}));
  ASSIGN_OR_RETURN(const double elementwise,
                   SecondsOfKernel(store, kElementwise, {{kRows}, {kColumns}, {kRows}}));
  return MachineSpeed{.products = Rounded(products, kProductsSeconds),
                      .elementwise = Rounded(elementwise, kElementwiseSeconds),
                      .memory = Rounded(SecondsToCopy(), kMemorySeconds),
                      .pages = Rounded(SecondsToTake(), kPagesSeconds)};
}

StatusOr<MachineSpeed> FindMachineSpeed(KernelStore& store) {
  if (const std::optional<std::string> kept = store.GetText(kName)) {
    StatusOr<MachineSpeed> speed = ReadSpeed(*kept);
    if (speed.ok()) return speed;
  }
  ASSIGN_OR_RETURN(const MachineSpeed speed, MeasureMachine(store));
  store.PutText(kName, WriteSpeed(speed));
  return speed;
}

std::string WriteSpeed(const MachineSpeed& speed) {
  return StrCat(speed.products, " ", speed.elementwise, " ", speed.memory, " ", speed.pages);
}

StatusOr<MachineSpeed> ReadSpeed(std::string_view text) {
  llvm::SmallVector<llvm::StringRef, 4> words;
  llvm::SplitString(text, words, " ");
  std::vector<double> numbers;
  for (const llvm::StringRef word : words) {
    double number = 0;
    const auto [end, error] = std::from_chars(word.begin(), word.end(), number);
    const bool is_possible = number >= 1 / kMostRatio && number <= kMostRatio;
    if (error == std::errc() && end == word.end() && is_possible) numbers.push_back(number);
  }
  if (numbers.size() != 4 || words.size() != 4) {
    return Status(ErrorCode::kBrokenText, StrCat("`", text, "` is no speed of a machine"));
  }
  return MachineSpeed{
      .products = numbers[0], .elementwise = numbers[1], .memory = numbers[2], .pages = numbers[3]};
}

}  // namespace plimsoll
